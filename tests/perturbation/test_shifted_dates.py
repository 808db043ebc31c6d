"""Dates of a person that are shifted together: against hmac and timedelta, on every engine."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, date, datetime, timedelta
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import SpecError
from kanon_sql.testing import Subject
from tests.conftest import Database
from tests.oracles import masking as oracle
from tests.servers import SUBJECTS, subject_of
from tests.support.strategies import examples

ENGINES = [name if name == "duckdb" else pytest.param(name, marks=pytest.mark.slow) for name in SUBJECTS]
DATES = {"born": "date", "came": "timestamp", "seen": "moment"}


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANON_TESTED", oracle.SECRET)


def spec_of(shift: Any, columns: list[str], **more: Any) -> kanon_sql.PerturbSpec:
    return kanon_sql.PerturbSpec.from_dict(
        {
            "version": 1, "kind": "perturbed", "source": "people", "release": "shifted", "key": "id",
            "key_variable": "KANON_TESTED", "unit": "person", "perturb": {name: {"shift": shift} for name in columns},
            "keep": ["number"], "linkage": {"rows": 1}, **more,
        }
    )  # fmt: skip


def people(columns: dict[str, str]) -> list[list[Any]]:
    rows: list[list[Any]] = []
    for n in range(24):
        moment = datetime(2020, 3, 28, 23, 30, tzinfo=UTC) + timedelta(days=11 * n, microseconds=n)
        cells = {"date": moment.date(), "timestamp": moment.replace(tzinfo=None), "moment": moment}
        rows.append([n, n, n * n % 7, *(None if n % 5 == 4 else cells[kind] for kind in columns.values())])
    return rows


def read(value: Any, kind: str) -> Any:
    """A released cell as it was given."""
    if value is None or kind == "date":
        return value if not isinstance(value, str) else date.fromisoformat(value)
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    return found if kind == "timestamp" or found.tzinfo is None else found.astimezone(UTC)


@pytest.mark.parametrize("name", ENGINES)
def test_every_date_of_a_person_is_moved_by_the_days_that_its_key_draws(name: str) -> None:
    columns = {key: kind for key, kind in DATES.items() if name != "sqlite" or kind != "moment"}
    with subject_of(name) as subject, subject.connect() as engine:
        types = {"id": "integer", "number": "integer", "person": "integer", **columns}
        rows = people(columns)
        subject.table("people", types, rows)
        for shift, days, step in ((40, 40, 1), ({"days": 30, "step": 7}, 30, 7)):
            subject.drop("shifted")
            result = kanon_sql.perturb(engine, spec_of(shift, list(columns)))
            assert result.verdict == "perturbed"
            assert result.columns["born"] == {"method": "shift", "changed": sum(row[3] is not None for row in rows)}
            expected = {
                row[0]: [
                    None if cell is None else cell + timedelta(days=oracle.days_moved(row[2], days, step))
                    for cell in row[3:]
                ]
                for row in rows
            }
            assert released(subject, columns, expected) == expected


def released(subject: Subject, columns: dict[str, str], expected: dict[int, list[Any]]) -> dict[int, list[Any]]:
    """By number; points in time as the engine's driver gives them, with a zone or in UTC."""
    found = {}
    for number, *cells in subject.fetch(f"SELECT number, {', '.join(columns)} FROM shifted"):
        made = [read(cell, kind) for cell, kind in zip(cells, columns.values(), strict=True)]
        wanted = expected[int(number)]
        found[int(number)] = [
            one.replace(tzinfo=UTC) if isinstance(other, datetime) and other.tzinfo and not one.tzinfo else one
            for one, other in zip(made, wanted, strict=True)
        ]
    return found


@given(
    st.lists(
        st.tuples(st.text("ab1 é", max_size=3), *[st.none() | st.dates(date(1000, 1, 1), date(8000, 1, 1))] * 2),
        min_size=1,
        max_size=20,
    ),
    st.integers(1, 400),
    st.sampled_from([1, 7, 30]),
)
@examples(16)
def test_intervals_are_kept(
    shared_database: Database, rows: list[tuple[str, date | None, date | None]], days: int, step: int
) -> None:
    days = max(days, step)
    table = [(n, n, *row) for n, row in enumerate(rows)]
    types = {"id": "INTEGER", "number": "INTEGER", "person": "VARCHAR", "a": "DATE", "b": "DATE"}
    shared_database.table("people", types, table)
    kanon_sql.perturb(shared_database.engine, spec_of({"days": days, "step": step}, ["a", "b"]))
    offsets = defaultdict(set)
    for number, a, b in shared_database._run("SELECT number, a, b FROM shifted").fetchall():
        person, *before = rows[number]
        assert [a is None, b is None] == [cell is None for cell in before]
        offsets[person] |= {(after - cell).days for after, cell in zip((a, b), before, strict=True) if cell is not None}
    for person, found in offsets.items():
        assert found <= {oracle.days_moved(person, days, step)}
        assert all(0 < abs(offset) <= days and offset % step == 0 for offset in found)


def test_a_secret_decides_and_without_one_each_run_draws(database: Database) -> None:
    types = {"id": "INTEGER", "number": "INTEGER", "person": "INTEGER", "born": "DATE"}
    database.table("people", types, [(n, n, n, date(2020, 1, 1)) for n in range(60)])
    found = []
    for variable in ("KANON_TESTED", "KANON_TESTED", None, None):
        result = kanon_sql.perturb(database.engine, spec_of(100, ["born"], key_variable=variable))
        found.append(sorted(database.rows("shifted")))
        key = oracle.key_for("days that dates of persons are moved by")
        assert not any(oracle.SECRET in sql or key in sql for sql in result.sql)
    assert found[0] == found[1] != found[2] != found[3]
    assert any("untrue on purpose: born; all dates of a person are moved" in note for note in result.notes)


def test_times_are_moved_by_whole_days_in_any_session() -> None:
    """Where clocks change, a day of a session's zone has 23 hours: intervals would not be kept."""
    moments = [datetime(2020, 3, 28, 12, tzinfo=UTC), datetime(2020, 3, 30, 12, tzinfo=UTC)]
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'Europe/Berlin'")
        connection.execute("CREATE TABLE people (id INT, number INT, person INT, seen TIMESTAMPTZ)")
        connection.executemany("INSERT INTO people VALUES (?, ?, 1, ?)", [(n, n, m) for n, m in enumerate(moments)])
        kanon_sql.perturb(kanon_sql.connect(connection), spec_of({"days": 3, "step": 1}, ["seen"]))
        seen = [s for _, s in sorted(connection.execute("SELECT number, seen FROM shifted").fetchall())]
        assert seen[1] - seen[0] == moments[1] - moments[0]
        assert (seen[0] - moments[0]) % timedelta(days=1) == timedelta(0)


@pytest.mark.parametrize("value", ["9999-12-31", "0001-01-01", "infinity", "-infinity", "4000-01-01 (BC)"])
def test_dates_that_would_leave_the_calendar_are_refused(database: Database, value: str) -> None:
    types = {"id": "INTEGER", "number": "INTEGER", "person": "INTEGER", "born": "DATE"}
    database.table("people", types, [(n, n, n, None) for n in range(20)])
    database.connection.execute(f"UPDATE people SET born = DATE '{value}' WHERE id < 3")
    with pytest.raises(SpecError, match=r"perturb\.born: 3 rows have ") as refused:
        kanon_sql.perturb(database.engine, spec_of(30, ["born"]))
    assert value not in str(refused.value)
    assert "shifted" not in database.tables()


@pytest.mark.slow
@pytest.mark.parametrize(("first", "last"), [("1970-01-01", "2149-06-06"), ("1900-01-01", "2299-12-31")])
def test_dates_at_the_ends_of_a_type_are_refused(first: str, last: str) -> None:
    """ClickHouse goes round there, or stays where it is."""
    kind = "Date" if first.startswith("197") else "Date32"
    with subject_of("clickhouse") as subject, subject.connect() as engine:
        for day in (first, last):
            subject.execute("DROP TABLE IF EXISTS people")
            columns = f"id Int32, number Int32, person Int32, born {kind}"
            subject.execute(subject.create("people", columns))
            listed = ", ".join(f"({n}, {n}, {n}, '{day}')" for n in range(20))
            subject.execute(f"INSERT INTO people VALUES {listed}")
            with pytest.raises(SpecError, match=r"would be moved out of the range of their type|years 1900 and 2299"):
                kanon_sql.perturb(engine, spec_of(30, ["born"]))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"unit": None}, "missing 'unit': the column that identifies persons"),
        ({"perturb": {"number": {"pram": 0.5}}, "keep": []}, "unit: unit says whose dates shift moves together"),
        (
            {"perturb": {"born": {"shift": {"days": 3, "step": 7}}}},
            r"born\.shift\.step: no multiple of 7 days is within 3",
        ),
        (
            {"perturb": {"born": {"shift": 3}, "came": {"shift": 4}}},
            r"came\.shift: all dates of a person are moved alike",
        ),
        ({"perturb": {"born": {"shift": 0}}}, r"born\.shift\.days: expected a number of days"),
        ({"perturb": {"born": {"shift": 3}, "person": {"swap": 0.1}}}, "unit: the column is under perturb"),
        ({"perturb": {"born": {"shift": 3, "noise": 1}}}, "one method per column"),
    ],
)
def test_what_a_spec_cannot_say(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(SpecError, match=why):
        spec_of(30, ["born"], **changes)


def test_what_the_data_must_be(database: Database) -> None:
    types = {"id": "INTEGER", "number": "INTEGER", "person": "INTEGER", "born": "DATE", "pay": "DOUBLE"}
    database.table("people", types, [(1, 1, None, date(2020, 1, 1), 1.0), (2, 2, 2, None, 2.0)])
    with pytest.raises(SpecError, match="unit: 'person' is NULL in 1 row, so whose dates these are is not known"):
        kanon_sql.perturb(database.engine, spec_of(30, ["born"]))
    with pytest.raises(SpecError, match=r"perturb\.pay: shift moves dates and times, and the column is DOUBLE"):
        kanon_sql.perturb(database.engine, spec_of(30, ["pay"]))
    database.connection.execute("UPDATE people SET person = 1")
    result = kanon_sql.perturb(database.engine, spec_of(30, ["born"]))
    assert result.to_dict()["truthful"] is False
