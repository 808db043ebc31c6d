"""A recoding of one's own, declared outside of the package: a function, a template, and nothing else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanon_sql
from kanon_sql import Spec, SpecError
from kanon_sql.errors import UnsupportedError
from kanon_sql.evaluate import Budget
from kanon_sql.frequency import Prepared
from kanon_sql.recode.partitions import begin
from kanon_sql.recode.ranges import dimensions_of, labelled
from kanon_sql.recode.recoding_result import NoRecoding, RecodingResult, Tried, highest_levels
from kanon_sql.registers import RECODINGS
from kanon_sql.report.json import result_schema
from kanon_sql.spec import Fault, level_faults, recoding
from kanon_sql.sql import add_template_directory, remove_template_directory, slot
from tests.support.command_line import run

WIDTHS = {"pairs": 2, "triples": 3}

TEMPLATE = """\
{# Each vector in the bucket of its value of the first column; those of buckets that violate together in one. #}
CREATE TEMPORARY TABLE kanon_bucketed AS
SELECT
  opened.vector AS vector,
{% if step == "merged" %}
  CASE WHEN judged.satisfied = 1 THEN opened.part ELSE 0 END AS part,
{% elif step == "whole" %}
  0 AS part,
{% else %}
  1 + opened.place0 - opened.place0 % {{ width | literal }} AS part,
{% endif %}
  0 AS live,
{% for item in attributes %}
  opened.{{ column("place", item.index) }} AS {{ column("place", item.index) }},
{% endfor %}
  opened.row_count AS row_count
FROM {{ "open" | slot }} AS opened
{% if step == "merged" %}
JOIN {{ "judged" | slot }} AS judged ON opened.part = judged.part
{% endif %}
"""


def own_faults(spec: Spec) -> Iterator[Fault]:
    yield from level_faults(spec, "buckets releases ranges of the values, not levels", spec.quasi_identifiers)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[None]:
    @recoding(
        "buckets",
        title="Recoding by buckets",
        words="neighbouring values of the first column share a bucket",
        variants=tuple(WIDTHS),
        faults=own_faults,
        of_ranges=True,
        not_kept="makes buckets of the values of this source",
    )
    def by_buckets(prepared: Prepared, spec: Spec, budget: Budget) -> NoRecoding | RecodingResult:
        state = begin(prepared.workspace, prepared.sets, prepared.models, highest_levels(prepared.sets))
        if state.violating_rows:
            return NoRecoding(spec, prepared, "all rows together violate the requirements")
        dimensions, orders = dimensions_of(prepared, spec, state)
        ordered = tuple(item for item in dimensions if item.ordered)
        tables = {f"order_{index}": order.table for index, order in orders.items()}
        placed = {"vectors": state.vectors, **tables}
        state.open = state.make(
            "mondrian/places", "placed", placed, attributes=ordered, words=(), by_person=False, slices=False
        )
        width = WIDTHS[spec.recoding.variant or "pairs"]
        for step in ("bucketed", "merged", "whole"):
            judged = state.judge.judged(f"judged_{step}", slot("grouped"), ["part"], {"grouped": state.open})
            if step == "whole" and not state.row("verdict", {"judged": judged})[1]:
                break
            tables = {"open": state.open, **({"judged": judged} if step == "merged" else {})}
            state.advance(state.make("buckets", step, tables, attributes=ordered, step=step, width=width), 0)
        mapped = labelled(state, dimensions, orders)
        found = RecodingResult(spec, prepared, mapped, state.judge, state.rounds, 0, None, "top", 0)
        return replace(found, tried={"top": Tried(found.mean_loss, found.rounds, 0)})

    (tmp_path / "recode").mkdir()
    (tmp_path / "recode" / "buckets.sql.j2").write_text(TEMPLATE)
    add_template_directory(tmp_path)
    yield
    remove_template_directory(tmp_path)
    RECODINGS.forget("buckets")


def spec(k: int, recoding: Any = "buckets", **more: Any) -> Spec:
    return Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": {"age": {"intervals": [10]}, "size": {"intervals": [10]}},
            "privacy": [{"k_anonymity": {"k": k}}],
            "recoding": recoding,
            **more,
        }
    )


def by_hand(rows: list[tuple[int, int]], k: int, width: int) -> list[int]:
    """How many rows each released label has: buckets of so many neighbours, those with fewer than k rows in one."""
    ages = sorted({age for age, _ in rows})
    buckets: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for row in rows:
        buckets[ages.index(row[0]) // width].append(row)
    kept = [own for own in buckets.values() if len(own) >= k]
    rest = [row for own in buckets.values() if len(own) < k for row in own]
    if rest and len(rest) < k:
        kept, rest = [], rows
    found: dict[tuple[int, ...], int] = defaultdict(int)
    for own in [*kept, *([rest] if rest else [])]:
        found[tuple(bound for values in zip(*own, strict=True) for bound in (min(values), max(values)))] += len(own)
    return sorted(found.values())


@pytest.mark.slow
@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("variant", list(WIDTHS))
def test_it_makes_what_is_made_by_hand(variant: str) -> None:
    @settings(max_examples=6, deadline=None)
    @given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 3)), min_size=4, max_size=30), st.integers(2, 4))
    def compared(rows: list[tuple[int, int]], k: int) -> None:
        with duckdb.connect() as connection:
            connection.execute("CREATE TABLE people (age INTEGER, size INTEGER)")
            connection.executemany("INSERT INTO people VALUES (?, ?)", rows)
            result = kanon_sql.anonymize(connection, spec(k, {"method": "buckets", "variant": variant}))
            assert result.passed, result.message
            sizes = connection.execute("SELECT count(*) FROM people_release GROUP BY age, size").fetchall()
        assert sorted(size for (size,) in sizes) == by_hand(rows, k, WIDTHS[variant])

    compared()


@pytest.mark.slow
@pytest.mark.usefixtures("own")
def test_results_and_reports_say_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("people.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT i % 8 AS age, i % 3 AS size FROM range(40) AS t(i)")
    Path("spec.yml").write_text(
        "{version: 1, source: people, release: people_release, quasi_identifiers: {age: {intervals: [10]}, "
        "size: {intervals: [10]}}, privacy: [{k_anonymity: {k: 5}}], recoding: buckets}"
    )
    planned = run("plan", "spec.yml", "-d", "people.duckdb")
    assert planned.exit_code == 0, planned.output
    assert "Recoding by buckets" in planned.stdout
    compared = run("compare", "spec.yml", "-d", "people.duckdb", "--recoding", "mondrian,buckets:triples")
    assert compared.exit_code == 0, compared.output
    assert "buckets:triples" in compared.stdout
    published = run("anonymize", "spec.yml", "-d", "people.duckdb", "-o", "report.html")
    assert published.exit_code == 0, published.output
    assert "neighbouring values of the first column share a bucket" in Path("report.html").read_text()
    assert run("check", "spec.yml", "-d", "people.duckdb").exit_code == 0


@pytest.mark.usefixtures("own")
def test_what_lists_recodings_has_it() -> None:
    options = Spec.json_schema()["$defs"]["RecodingOptions"]["anyOf"][1]["properties"]
    assert "buckets" in options["method"]["enum"]
    assert set(WIDTHS) <= set(options["variant"]["anyOf"][0]["enum"])
    made = result_schema()["$defs"]["RecodingSummary"]["properties"]
    assert "buckets" in made["method"]["enum"]
    assert set(WIDTHS) <= set(made["variant"]["enum"])
    assert spec(2).recoding.label == "buckets:pairs"


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("recoding", "said"),
    [
        ("bucket", "did you mean 'buckets'"),
        ({"method": "buckets", "variant": "pair"}, "did you mean 'pairs'"),
        ({"method": "buckets", "variant": "fast"}, "buckets has the variants pairs and triples"),
        ({"method": "mondrian", "variant": "pairs"}, "mondrian has the variants strict and relaxed"),
        ({"method": "buckets", "start": "top"}, "only the methods local and kk take it"),
        ({"method": "buckets", "save_as": "kept"}, "buckets makes buckets of the values of this source"),
    ],
)
def test_what_it_cannot_be_asked_for(recoding: Any, said: str) -> None:
    with pytest.raises(SpecError) as refused:
        spec(2, recoding)
    assert said in str(refused.value)


@pytest.mark.usefixtures("own")
def test_refusals_name_it(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="buckets releases ranges of the values, not levels; leave maximum_level out"):
        spec(2, quasi_identifiers={"age": {"intervals": [10], "maximum_level": 1}})
    with pytest.raises(SpecError, match="recoding: buckets makes ranges that end at values of the data"):
        spec(2, quasi_identifiers={"age": {"intervals": [10], "as": "midpoint"}})
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people AS SELECT i % 8 AS age, i % 3 AS size FROM range(40) AS t(i)")
        with pytest.raises(UnsupportedError, match="the ranges of buckets are not hierarchy labels"):
            kanon_sql.plan(connection, spec(2), bound=True)


def test_it_is_gone_afterwards() -> None:
    assert "buckets" not in RECODINGS
    with pytest.raises(SpecError, match="unknown recoding"):
        spec(2)
