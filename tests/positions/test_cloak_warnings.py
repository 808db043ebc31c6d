"""What a kept column of a cloaked release says of whose rows are whose: against plain counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import SpecError
from kanon_sql.report.json import cloak_schema
from tests.conftest import Database
from tests.servers import subject_of
from tests.support.command_line import run
from tests.support.strategies import examples

COLUMNS = {"who": "integer", "x": "double", "y": "double", "device": "text", "kind": "text", "n": "integer"}
TYPES = {"who": "INTEGER", "x": "DOUBLE", "y": "DOUBLE", "device": "VARCHAR", "kind": "VARCHAR", "n": "INTEGER"}

Row = tuple[int, float, float, Any, Any, int]


def spec_of(keep: Sequence[str], **changes: Any) -> kanon_sql.CloakSpec:
    given: dict[str, Any] = {
        "version": 1, "kind": "positions",
        "source": "rows", "release": "cloaked", "unit": "who", "keep": list(keep), "k": 3,
        "position": {"columns": ["x", "y"], "bounds": [0, 0, 4, 4], "depth": 2},
        "suppression": {"max_share": 1.0},
    }  # fmt: skip
    return kanon_sql.CloakSpec.from_dict({**given, **changes})


def linked(rows: Sequence[Row], places: Sequence[int], k: int) -> int:
    """Rows with a value that fewer than k people have, one of whom has several of these rows."""
    owners = [(tuple(row[place] for place in places), row[0]) for row in rows]
    found = 0
    for value, _ in Counter(value for value, _ in owners).items():
        people = [who for own, who in owners if own == value]
        if len(set(people)) < k and len(people) > len(set(people)):
            found += len(people)
    return found


values = st.sampled_from(["a", "A", "b", "c", "d", None])


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 8), values, values), min_size=3, max_size=30), st.integers(2, 4))
@examples(25)
def test_against_plain_counting(people: list[tuple[int, Any, Any]], k: int) -> None:
    rows: list[Row] = [(who, 0.5, 0.5, device, kind, n) for n, (who, device, kind) in enumerate(people)]
    with kanon_sql.connect() as engine:
        database = Database(engine._connection)  # type: ignore[attr-defined]
        database.table("rows", TYPES, rows)
        result = kanon_sql.cloak(engine, spec_of(["device", "kind"], k=k))
        if not result.passed:
            return
        assert result.rows["released"] == len(rows)
        expected = [(["device"], linked(rows, [3], k)), (["kind"], linked(rows, [4], k))]
        expected = [(names, count) for names, count in expected if count >= 0.05 * len(rows)]
        if not expected and (count := linked(rows, [3, 4], k)) >= 0.05 * len(rows):
            expected = [(["device", "kind"], count)]
        found = [(list(item.columns), item.figures["linked"]) for item in result.warnings]
        assert found == [(names, count / len(rows)) for names, count in expected]
        jsonschema.validate(result.to_dict(), cloak_schema())


def trips(people: int = 20, each: int = 5) -> list[Row]:
    """Everybody near everybody, each with a device of their own, and one of two kinds of it."""
    return [
        (who, 0.5, 0.5, f"device-{who}", "ab"[who % 2], who * each + trip)
        for who in range(people)
        for trip in range(each)
    ]


@pytest.mark.slow
def test_a_pseudonym_is_named_and_others_are_not(database: Database) -> None:
    database.table("rows", TYPES, trips())
    result = kanon_sql.cloak(database.engine, spec_of(["device", "kind", "n"]))
    (warned,) = result.warnings
    assert (warned.code, list(warned.columns)) == ("kept_links_rows", ["device"])
    assert warned.message.startswith("device: 100.0 % of the released rows have a value that fewer than 3 people have")
    assert result.passed
    assert "device-3" not in str(result.to_dict())
    for keep in ([], ["kind"], ["n"], ["kind", "n"]):
        assert kanon_sql.cloak(database.engine, spec_of(keep)).warnings == []


def test_rows_that_are_left_out_link_nothing(database: Database) -> None:
    far = [(90, 3.5, 3.5, "far", "z", 1000 + n) for n in range(30)]
    rows = [(row[0], *row[1:3], f"of {row[5]}", *row[4:]) for row in trips()]
    database.table("rows", TYPES, [*rows, *far])
    result = kanon_sql.cloak(database.engine, spec_of(["device"], position={
        "columns": ["x", "y"], "bounds": [0, 0, 4, 4], "depth": 2, "coarsest": 1,
    }))  # fmt: skip
    assert result.rows["suppressed"] == 30
    assert result.warnings == []


def test_wishes_take_one_person_for_few(database: Database) -> None:
    """A value of two people is of few where k is 3, and not where rows have wishes of their own."""
    rows = [(row[0], *row[1:3], f"home of {row[0] // 2}", *row[4:]) for row in trips()]
    database.table("rows", TYPES, rows)
    assert len(kanon_sql.cloak(database.engine, spec_of(["device"])).warnings) == 1
    wishes = spec_of(["device"], k={"column": "wish", "default": 3}, source={"query": "SELECT *, 3 AS wish FROM rows"})
    assert kanon_sql.cloak(database.engine, wishes).warnings == []


def test_what_a_spec_makes_of_it(database: Database) -> None:
    database.table("rows", TYPES, trips())
    failed = kanon_sql.cloak(database.engine, spec_of(["device"], warnings={"kept_links_rows": "error"}))
    assert (failed.passed, failed.release) == (False, None)
    assert failed.message == "nothing was published: kept_links_rows is an error because the spec says so"
    assert "cloaked" not in database.tables()
    strict = kanon_sql.cloak(database.engine, spec_of(["device"]), fail_on_warning=True)
    assert strict.message == "nothing was published: kept_links_rows is an error with --fail-on-warning"
    allowed = spec_of(["device"], warnings={"kept_links_rows": "allow"})
    quiet = kanon_sql.cloak(database.engine, allowed, fail_on_warning=True)
    assert quiet.passed
    assert quiet.warnings == []
    assert not any("linked" in statement for statement in quiet.sql)
    assert kanon_sql.CloakSpec.from_dict(allowed.to_dict()) == allowed
    checked = kanon_sql.cloak(database.engine, spec_of(["device"], warnings={"kept_links_rows": "error"}), check=True)
    assert not checked.passed
    assert checked.message.startswith("cloaked cannot stand: kept_links_rows is an error")
    with pytest.raises(SpecError, match="unknown key"):
        spec_of(["device"], warnings={"nearly_unique_kept": "warn"})


@pytest.mark.slow
def test_the_command_line_says_it(tmp_path: Any) -> None:
    import duckdb

    with duckdb.connect(tmp_path / "c.duckdb") as connection:
        Database(connection).table("rows", TYPES, trips())
    (tmp_path / "c.yml").write_text(
        "version: 1\nkind: positions\nsource: rows\nrelease: cloaked\nunit: who\nkeep: [device]\nk: 3\n"
        "position: {columns: [x, y], bounds: [0, 0, 4, 4], depth: 2}\n"
    )
    arguments = ["publish", "positions", tmp_path / "c.yml", "-d", tmp_path / "c.duckdb", "-q"]
    shown = run(*arguments)
    assert shown.exit_code == 0
    assert "Warnings\n  kept_links_rows  device: 100.0 % of the released rows" in shown.stdout
    assert "warnings.md#kept_links_rows" in shown.stdout.replace("\n", "").replace(" ", "")
    assert run(*arguments, "--fail-on-warning").exit_code == 1


def test_zeros_that_look_different_link_rows(database: Database) -> None:
    """Person 0 has -0 where all others have 0, which are equal numbers: a reader sees whose rows these are."""
    rows = [(*row[:3], -0.0 if row[0] == 0 else 0.0, *row[4:]) for row in trips()]
    database.table("rows", {**TYPES, "device": "DOUBLE"}, rows)
    (warned,) = kanon_sql.cloak(database.engine, spec_of(["device"])).warnings
    assert (warned.code, warned.figures["linked"]) == ("kept_links_rows", 5 / 100)


@pytest.mark.slow
def test_numbers_that_look_different_link_rows() -> None:
    """Each person writes 1.5 with digits of their own."""
    with subject_of("postgres") as subject, subject.connect() as engine:
        subject.table(
            "rows", {**COLUMNS, "device": "text"}, [(*row[:3], f"1.5{'0' * row[0]}", *row[4:]) for row in trips()]
        )
        subject.execute("ALTER TABLE rows ALTER device TYPE numeric USING device::numeric")
        (warned,) = kanon_sql.cloak(engine, spec_of(["device"])).warnings
        assert (warned.code, warned.figures["linked"]) == ("kept_links_rows", 1.0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "name",
    ["sqlite", "postgres", *(pytest.param(n, marks=pytest.mark.slow) for n in ("mariadb", "clickhouse"))],
)
def test_every_engine_counts_the_same(name: str) -> None:
    rows = [(row[0], *row[1:3], [row[3], "A", "a", None][row[5] % 4], *row[4:]) for row in trips()]
    with subject_of(name) as subject:
        subject.table("rows", COLUMNS, rows)
        subject.drop("cloaked")
        engine = subject.connect()
        try:
            (warned,) = kanon_sql.cloak(engine, spec_of(["device", "kind"]), preview=True).warnings
            assert list(warned.columns) == ["device"]
            assert warned.figures["linked"] == linked(rows, [3], 3) / len(rows)
        finally:
            engine.close()
            subject.drop("rows")
