"""Dates of a person moved by one secret number of days in all tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

import pytest

import kanon_sql
from kanon_sql import RelationalSpec
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.testing import Subject
from tests.servers import subject_of

DAYS = 30
PERSONS = 80
FIRST = date(2024, 2, 20)
PUBLISHING = [
    "duckdb",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("postgres", "sqlite", "mariadb", "clickhouse", "spark")),
]
SCHEMAS = {
    "duckdb": "main", "postgres": "public", "sqlite": "main", "mariadb": "kanon", "clickhouse": "default",
    "spark": "default",
}  # fmt: skip
IN_STEPS = {"publish": "in_steps"}
"""Where tables are not renamed together."""


def make(subject: Subject) -> None:
    """Person n has n % 3 stays; the number of a stay is kept, so that rows can be compared."""
    born = [(i, i % 4, FIRST + timedelta(days=i)) for i in range(PERSONS)]
    subject.table("people", {"pid": "integer", "sex": "integer", "registered": "date"}, born)
    stays, notes = [], []
    for person in range(PERSONS):
        for place in range(person % 3):
            admitted = datetime(2024, 2, 27, 8, 15) + timedelta(days=person + 40 * place)
            discharged = None if person % 7 == 0 else admitted.date() + timedelta(days=person % 5)
            number = len(stays)
            stays.append((number, person, "w", admitted, discharged, number))
            notes.append((number, admitted.date()))
    columns = {"admitted": "timestamp", "discharged": "date", "number": "integer"}
    subject.table("stays", {"sid": "integer", "pid": "integer", "ward": "text", **columns}, stays)
    subject.table("notes", {"sid": "integer", "written": "date"}, notes)


def spec_of(schema: str, **more: Any) -> RelationalSpec:
    return RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {
                "table": "people", "name": "r_people", "key": "pid", "quasi_identifiers": {"sex": None},
                "shift": ["registered"],
            },
            "tables": {
                "r_stays": {
                    "table": "stays", "key": "sid", "person": "pid", "quasi_identifiers": {"ward": None},
                    "keep": ["number"], "shift": ["admitted", "discharged"],
                },
                "r_notes": {"table": "notes", "parent": "r_stays", "by": "sid", "shift": ["written"]},
            },
            "privacy": [{"km_anonymity": {"k": 2, "m": 0}}],
            "release": {"schema": schema, "shift_days": DAYS, **more},
        }
    )  # fmt: skip


def day(value: Any) -> date | None:
    if value is None:
        return None
    return date.fromisoformat(str(value)[:10])


def moves_of(subject: Subject, schema: str) -> Mapping[Any, set[int]]:
    """The days by which each person's dates were moved, all that can be told apart."""
    where = "" if subject.name == "sqlite" else f"{schema}."
    source = {row[5]: row for row in subject.fetch("SELECT sid, pid, ward, admitted, discharged, number FROM stays")}
    moves: dict[Any, set[int]] = defaultdict(set)
    person_of = {}
    keys = subject.fetch(f"SELECT sid, pid, admitted, discharged, number FROM {where}r_stays")
    for key, person, admitted, discharged, number in keys:
        before = source[number]
        person_of[key] = person, before[1]
        first, second = day(admitted), day(before[3])
        assert first is not None
        assert second is not None
        moves[before[1]].add((first - second).days)
        assert str(admitted)[10:19] == str(before[3])[10:19], "the time of day stays"
        assert (discharged is None) == (before[4] is None)
        last, known = day(discharged), day(before[4])
        if last is not None and known is not None:
            moves[before[1]].add((last - known).days)
    admissions = {key: day(admitted) for key, _, admitted, _, _ in keys}
    for key, written in subject.fetch(f"SELECT sid, written FROM {where}r_notes"):
        assert day(written) == admissions[key], "the note was written on the day of the admission"
    registered = dict(subject.fetch(f"SELECT pid, registered FROM {where}r_people"))
    for key, person in set(person_of.values()):
        found = day(registered[key])
        assert found is not None
        moves[person].add((found - FIRST - timedelta(days=person)).days)
    return moves


@pytest.mark.parametrize("keys", ["random", "secret"])
@pytest.mark.parametrize("name", PUBLISHING)
def test_all_dates_of_a_person_are_moved_by_one_number_of_days(
    name: str, keys: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYS_OF_DATES", "a secret of more than 32 characters, for tests")
    with subject_of(name) as subject:
        make(subject)
        more: dict[str, Any] = {} if keys == "random" else {"keys": {"secret": "env:KEYS_OF_DATES"}}
        more |= IN_STEPS if name in ("clickhouse", "spark") else {}
        engine, spec = subject.connect(), spec_of(SCHEMAS[name], **more)
        found = []
        for _ in range(2):
            result = kanon_sql.anonymize(engine, spec)
            assert result.passed, result.message
            (note,) = (item for item in result.notes if item.startswith("untrue on purpose: "))
            assert "person.registered, r_stays.admitted, r_stays.discharged, r_notes.written" in note
            moves = moves_of(subject, SCHEMAS[name])
            assert all(len(own) == 1 for own in moves.values()), "intervals stay as they are"
            days = {person: next(iter(own)) for person, own in moves.items()}
            assert len(days) == sum(1 for person in range(PERSONS) if person % 3)
            assert all(0 < abs(value) <= DAYS for value in days.values()), "no date is true"
            assert len(set(days.values())) > 20
            assert min(days.values()) < 0 < max(days.values())
            found.append(days)
        assert (found[0] == found[1]) == (keys == "secret")
        engine.close()


def test_the_days_do_not_follow_from_released_keys() -> None:
    """Neither from the key, which is a number of random order, nor from the order of rows."""
    with subject_of("duckdb") as subject:
        subject.execute(
            "CREATE TABLE people AS SELECT i AS pid, i % 2 AS sex, DATE '2024-01-01' AS registered, i AS number "
            "FROM range(3000) t(i)"
        )
        plain = spec_of("main").to_dict()
        plain["tables"] = {}
        plain["person"]["keep"] = ["number"]
        plain["release"]["shift_days"] = 100
        assert kanon_sql.anonymize(subject.connect(), RelationalSpec.from_dict(plain)).passed
        rows = subject.fetch("SELECT pid, registered - DATE '2024-01-01', number FROM r_people")
        mean = sum(days for _, days, _ in rows) / len(rows)
        for place in (0, 2):  # the standard deviation of a correlation by chance is 1 / sqrt(3000)
            middle = sum(row[place] for row in rows) / len(rows)
            covariance = sum((row[place] - middle) * (row[1] - mean) for row in rows)
            spread = sum((row[place] - middle) ** 2 for row in rows) * sum((row[1] - mean) ** 2 for row in rows)
            assert abs(covariance / spread**0.5) < 5 / len(rows) ** 0.5
        assert {days for _, days, _ in rows} == {*range(-100, 0), *range(1, 101)}


def test_a_moved_date_counts_as_a_kept_column() -> None:
    """It is measured as the date that it is, and what the note says of it is no protection."""
    with subject_of("duckdb") as subject:
        subject.execute(
            "CREATE TABLE people AS SELECT i AS pid, 1950 + i % 40 AS born, MAKE_DATE(1950 + i % 40, 1, 1) AS birthday "
            "FROM range(400) t(i)"
        )
        plain = spec_of("main").to_dict()
        plain["tables"] = {}
        fixed = {"intervals": [10], "minimum_level": 1, "maximum_level": 1}
        plain["person"].update(quasi_identifiers={"born": fixed}, shift=["birthday"])
        result = kanon_sql.anonymize(subject.connect(), RelationalSpec.from_dict(plain))
        assert not result.passed
        assert "kept_reveals_quasi_identifier is an error" in result.message
        (warned,) = (item for item in result.warnings if item.code == "kept_reveals_quasi_identifier")
        assert list(warned.columns) == ["person.birthday", "person.born"]


def test_other_values_are_refused() -> None:
    with subject_of("duckdb") as subject:
        make(subject)
        plain = spec_of("main").to_dict()
        plain["tables"]["r_stays"]["keep"], plain["tables"]["r_stays"]["shift"] = [], ["number"]
        with pytest.raises(SpecError, match="'number' is INTEGER, and only dates and timestamps are moved"):
            kanon_sql.plan(subject.connect(), RelationalSpec.from_dict(plain))
        plain["tables"]["r_stays"]["keep"] = ["number"]
        with pytest.raises(SpecError, match="the column is also kept; give each column one role"):
            RelationalSpec.from_dict(plain)


def test_engines_on_which_that_was_not_tried_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    with subject_of("duckdb") as subject:
        make(subject)
        engine = subject.connect()
        monkeypatch.setattr(type(engine.dialect), "moved", {})
        with pytest.raises(UnsupportedError, match="shift: moving dates was not tried on duckdb"):
            kanon_sql.anonymize(engine, spec_of("main"))
