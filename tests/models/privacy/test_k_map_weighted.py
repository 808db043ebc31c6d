"""k-map by sampling weights: sums of weights in exact arithmetic, against fractions, on every engine."""

from __future__ import annotations

from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import KanonError, SpecError, UnsupportedError
from kanon_sql.verbs.dbt import dbt
from kanon_sql.verbs.sqlmesh import audits
from tests.conftest import Database
from tests.oracles.class_weights import Judged, judged
from tests.servers import subject_of
from tests.support.specs import refusals
from tests.support.strategies import examples

TYPES = {"age": "INTEGER", "sex": "VARCHAR", "ill": "VARCHAR"}
WARNINGS = dict.fromkeys(
    ("nearly_unique_kept", "kept_reveals_quasi_identifier", "kept_links_rows", "rows_not_persons"), "allow"
)
LEVELS = {"age": (1, 2, 4, None), "sex": (1, None)}
"""The widths of intervals that each level of the hierarchies has; None for all values."""


def asked(k: int = 5, **changes: Any) -> dict[str, Any]:
    return {
        "version": 1, "source": "people", "release": "people_release",
        "quasi_identifiers": {"age": {"intervals": [2, 4]}, "sex": None}, "sensitive": ["ill"], "keep": ["w"],
        "privacy": [{"k_map": {"weight": "w", "k": k}}], "suppression": {"max_rows": 0}, "warnings": WARNINGS,
        **changes,
    }  # fmt: skip


def spec_of(k: int = 5, **changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(asked(k, **changes))


def reached(result: Any) -> Judged:
    found = result.achieved["k_map_weighted(w)"]
    least = found["persons_estimated"]
    exact = None if least is None else Decimal(repr(least)).quantize(Decimal("0.000001"))
    return Judged(None if exact is None else judged([("", str(exact))], 1).least, found["violating_classes"],
                  found["violating_rows"])  # fmt: skip


def table(database: Database, kind: str, *rows: tuple[int, Any]) -> None:
    database.table("people", {**TYPES, "w": kind}, [(age, "f", "flu", weight) for age, weight in rows])


def test_weights_are_added_up_and_not_counted(database: Database) -> None:
    """One row that stands for 9 persons, and four rows that stand for one each."""
    table(database, "INTEGER", (1, 9), (2, 1), (2, 1), (2, 1), (2, 1))
    result = kanon_sql.check(database.engine, spec_of(), "people")
    assert result.achieved["k_map_weighted(w)"] == {
        "requirement": "5-map by the weights w", "persons_estimated": 4.0, "violating_classes": 1, "violating_rows": 4,
    }  # fmt: skip
    assert any("5-map is an estimate and not proven" in note for note in result.notes)
    assert kanon_sql.check(database.engine, spec_of(4), "people").passed


@pytest.mark.parametrize("kind", ["DOUBLE", "DECIMAL(18, 6)"])
def test_no_binary_fraction_decides_at_the_threshold(database: Database, kind: str) -> None:
    """Ten times 1.1 is 11, which doubles miss; and a millionth of a person less is less."""
    assert sum([1.1] * 10) < 11
    table(database, kind, *[(1, "1.1")] * 10)
    assert kanon_sql.check(database.engine, spec_of(11), "people").passed
    table(database, kind, (1, "1.000001"), (1, "3.999998"))
    assert reached(kanon_sql.check(database.engine, spec_of(5), "people")) == judged([(1, "4.999999")] * 1, 5)._replace(
        rows=2
    )
    table(database, kind, (1, "999999999.999999"), (1, "1.000001"))
    assert kanon_sql.check(database.engine, spec_of(1_000_000_001), "people").passed
    assert not kanon_sql.check(database.engine, spec_of(1_000_000_002), "people").passed


weights = st.one_of(
    st.integers(1, 6).map(str),
    st.integers(1_000_000, 4_000_000).map(lambda units: str(Decimal(units) / 10**6)),
    st.sampled_from(["1.1", "1.9", "2.3", "2.7", "1.000001", "1.999999", "3.3"]),
)
rows_of = st.lists(
    st.tuples(st.integers(0, 7), st.sampled_from(["f", "m"]), st.sampled_from(["flu", "hiv"]), weights),
    min_size=1,
    max_size=9,
)


def labelled(rows: Any, node: tuple[int, int]) -> list[tuple[Any, str]]:
    """The labels that a node gives each row, with its weight."""
    age, sex = (LEVELS[name][level] for name, level in zip(("age", "sex"), node, strict=True))
    return [((None if age is None else row[0] // age, None if sex is None else row[1]), row[3]) for row in rows]


@pytest.mark.slow
@examples(40)
@given(rows_of, st.integers(1, 12), st.integers(0, 3), st.sampled_from(["DOUBLE", "DECIMAL(18, 6)", "DECIMAL(38, 20)"]))
def test_searches_and_releases_against_fractions(
    shared_database: Database, rows: Any, k: int, most: int, kind: str
) -> None:
    """Every node in fractions: what is found, what is left out, that no node with less loss is missed, and checks."""
    shared_database._connection.execute("DROP TABLE IF EXISTS people_release")
    shared_database.table("people", {**TYPES, "w": kind}, rows)
    assert reached(kanon_sql.check(shared_database.engine, spec_of(k), "people")) == judged(labelled(rows, (0, 0)), k)
    nodes = {node: judged(labelled(rows, node), k).rows for node in product(range(4), range(2))}
    for low, high in product(nodes, nodes):  # what prunes: it is monotone, also while rows are suppressed
        if all(one <= other for one, other in zip(low, high, strict=True)):
            assert nodes[low] >= nodes[high]
    fits = {node for node, lost in nodes.items() if lost <= most and lost < len(rows)}
    spec = spec_of(k, suppression={"max_rows": most}, search={"algorithm": "optimal"})
    result = kanon_sql.anonymize(shared_database.engine, spec)
    all_spec = spec_of(k, suppression={"max_rows": most}, search={"algorithm": "exhaustive"})
    assert result.node == kanon_sql.plan(shared_database.engine, all_spec).node
    assert (result.node is not None) == bool(fits)
    if result.node is None or not result.passed:
        return
    node = (result.node["age"], result.node["sex"])
    assert node in fits
    assert result.rows["suppressed"] == nodes[node]
    written = shared_database.rows("people_release")
    assert len(written) == len(rows) - nodes[node]
    shown = judged([(row[:2], str(Decimal(str(row[-1])))) for row in written], k)
    assert shown.classes == 0
    checked = kanon_sql.check(shared_database.engine, spec)
    assert checked.passed
    assert reached(checked) == shown


@pytest.mark.slow
def test_beside_another_requirement_and_masked_rows(database: Database) -> None:
    """Masked rows are a class of their own, whose weights count too."""
    rows = [(1, "4"), (1, "4"), (2, "9"), (7, "2"), (7, "1")]
    table(database, "DOUBLE", *rows)
    spec = spec_of(
        5,
        privacy=[{"k_map": {"weight": "w", "k": 5}}, {"l_diversity": {"attribute": "ill", "l": 1}}],
        suppression={"max_rows": 2, "style": "mask"},
        quasi_identifiers={"age": None, "sex": None},
    )
    result = kanon_sql.anonymize(database.engine, spec)
    classes: dict[Any, list[str]] = {}
    for row in database.rows("people_release"):
        classes.setdefault(row[:2], []).append(str(row[-1]))
    assert result.passed == kanon_sql.check(database.engine, spec).passed
    assert judged([(own, weight) for own, all_weights in classes.items() for weight in all_weights], 5).classes == 0


@pytest.mark.parametrize(
    ("kind", "bad", "message"),
    [
        ("DOUBLE", [None, None], "2 rows have NULL as 'w'"),
        ("DOUBLE", [0.5, -3, 0], "3 rows have a weight below 1 as 'w'"),
        ("DOUBLE", [float("inf"), float("nan"), 1e10], r"3 rows have a weight above 1,000,000,000, infinite or no num"),
        ("DOUBLE", [float("-inf")], "1 row has a weight below 1 as 'w'"),
        ("DOUBLE", [1.0000001, 1 / 0.3], "2 rows have a weight of more than 6 digits after the point as 'w'"),
        ("DECIMAL(38, 20)", ["4.99999999999999999999"], "1 row has a weight of more than 6 digits after the point"),
        ("DECIMAL(38, 2)", ["1" + "0" * 30], "1 row has a weight above 1,000,000,000"),
        ("HUGEINT", [10**10], "1 row has a weight above 1,000,000,000"),
        ("VARCHAR", ["5"], "'w' is VARCHAR, and a weight is a number"),
    ],
)
def test_what_is_no_weight_is_refused_with_its_rows(
    database: Database, kind: str, bad: list[Any], message: str
) -> None:
    table(database, kind, (1, 5), *((1, weight) for weight in bad))
    for verb in (kanon_sql.plan, kanon_sql.anonymize):
        with pytest.raises(SpecError, match=f"k_map: weight: .*{message}"):
            verb(database.engine, spec_of())
    with pytest.raises(SpecError, match=f"k_map: weight: .*{message}"):
        kanon_sql.check(database.engine, spec_of(), "people")


def test_a_release_without_its_weights_cannot_be_checked(database: Database) -> None:
    table(database, "DOUBLE", (1, 5))
    database._connection.execute("CREATE TABLE bare AS SELECT age, sex, ill FROM people")
    with pytest.raises(SpecError, match="bare: there is no column 'w', which the spec needs"):
        kanon_sql.check(database.engine, spec_of(), "bare")


@pytest.mark.slow
def test_weights_that_reveal_are_warned_of(database: Database) -> None:
    table(database, "DOUBLE", *((1, 5 + number) for number in range(40)))
    result = kanon_sql.anonymize(database.engine, spec_of(warnings={"rows_not_persons": "allow"}))
    assert "nearly_unique_kept" in {item.code for item in result.warnings}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"keep": []}, "'w' is not listed under keep: the weights are released, so that a check"),
        ({"keep": ["v"]}, "'w' is not listed under keep"),
        ({"unit": "who"}, "weights are of rows, and with 'unit' a person may have several"),
        ({"count": "n", "keep": ["n", "w"]}, "with 'count', classes have persons and no rows for them, which k_map"),
        ({"ledger": "book"}, "counts no weights in these"),
        ({"state": "held"}, "whose weights were made for the rows that it had"),
        ({"steps": {"sample": {"fraction": 0.5}}}, "a sample of the rows has other weights"),
        ({"steps": {"columns": {"w": {"round": 5}}}}, "weights that are changed stand for other persons"),
        ({"privacy": [{"k_map": {"weight": "w"}}]}, "missing 'k'"),
        ({"privacy": [{"k_map": {"k": 5}}]}, "or 'weight', a column of sampling weights"),
        ({"privacy": [{"k_map": {"k": 5, "weight": "w", "population": "c"}}]}, "'population' has no part in"),
        ({"privacy": [{"k_map": {"k": 5, "weight": "w", "sampling_fraction": 0.1}}]}, "'sampling_fraction' has no"),
        ({"privacy": [{"k_map": {"k": 5, "weight": "w", "significance": 0.1}}]}, "'significance' has no part in"),
    ],
)
def test_what_a_spec_may_not_say(changes: dict[str, Any], message: str) -> None:
    given = {key: value for key, value in asked(**changes).items() if key != "version"}
    problems = refusals(**given)
    assert any(message in problem for problem in problems), problems


def test_recodings_that_choose_classes_refuse_an_estimate(database: Database) -> None:
    table(database, "DOUBLE", (1, 5), (2, 9))
    for recoding in ("local", "mondrian", "subtree", "cells"):
        with pytest.raises(KanonError, match="so that they say little of what is estimated"):
            kanon_sql.anonymize(database.engine, spec_of(recoding=recoding))
    with pytest.raises(KanonError, match="k_optimize cannot search"):
        kanon_sql.plan(database.engine, spec_of(search={"algorithm": "k_optimize"}))


def test_views_and_tests_of_pipelines_refuse_it(database: Database, tmp_path: Path) -> None:
    table(database, "DOUBLE", (1, 5), (2, 9))
    view = spec_of(release={"view": "people_view", "accept_sequence_risk": True})
    with pytest.raises(UnsupportedError, match="its weights are examined before they are added up"):
        kanon_sql.anonymize(database.engine, view)
    with pytest.raises(SpecError, match="the dbt package cannot test k_map"):
        dbt(database.engine, spec_of(), tmp_path)
    with pytest.raises(SpecError, match="5-map by the weights w needs more than one query"):
        audits(database.engine, spec_of(), "people")


ROWS = [
    (0, "f", "flu", "1.1"), (0, "f", "flu", "1.1"), (0, "f", "hiv", "1.1"), (1, "f", "flu", "2.2"),
    (1, "f", "flu", "5.500000"), (4, "m", "flu", "3.999999"), (5, "m", "hiv", "1.000001"), (7, "m", "hiv", "1"),
    (6, "m", "hiv", "10"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["postgres", "sqlite", "mariadb", "clickhouse", pytest.param("spark", marks=pytest.mark.campaign)]
)
def test_on_every_engine(name: str) -> None:
    """Sums that meet the threshold exactly, one that misses it by a millionth, and what is refused."""
    with subject_of(name) as subject:
        fine = "Nullable(Decimal(18, 8))" if name == "clickhouse" else "DECIMAL(18, 8)"
        subject.types = {**subject.types, "decimal": fine}  # type: ignore[misc]
        engine = subject.connect()
        for kind, k, most in (("decimal", 11, 0), ("double", 11, 1)):
            number = Decimal if kind == "decimal" else float
            types = {"age": "integer", "sex": "text", "ill": "text", "w": kind}
            subject.drop("people_release")
            subject.table("people", types, [(*row[:3], number(row[3])) for row in ROWS])
            spec = spec_of(k, suppression={"max_rows": most})
            assert reached(kanon_sql.check(engine, spec, "people")) == judged(labelled(ROWS, (0, 0)), k)
            nodes = {node: judged(labelled(ROWS, node), k) for node in product(range(4), range(2))}
            result = kanon_sql.anonymize(engine, spec)
            assert result.passed == any(item.rows <= most for item in nodes.values())
            if result.passed:
                assert result.node is not None
                assert result.rows["suppressed"] == nodes[result.node["age"], result.node["sex"]].rows
                written = subject.fetch("SELECT age, sex, w FROM people_release")
                shown = judged([(row[:2], str(Decimal(str(row[2])))) for row in written], k)
                assert shown.classes == 0
                assert reached(kanon_sql.check(engine, spec)) == shown
        for kind in ("decimal", "double"):
            bad = [None if weight is None else Decimal(weight) for weight in ("0.5", "1.0000001", "1000000001", None)]
            types = {"age": "integer", "sex": "text", "ill": "text", "w": kind}
            subject.table("people", types, [(0, "f", "flu", weight) for weight in bad])
            with pytest.raises(SpecError) as raised:
                kanon_sql.check(engine, spec_of(), "people")
            for words in ("NULL", "a weight below 1", "a weight above 1,000,000,000", "a weight of more than 6 digits"):
                assert f"1 row has {words}" in str(raised.value)
        engine.close()
