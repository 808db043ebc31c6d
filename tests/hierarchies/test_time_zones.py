"""Points in time by the dates of a zone: against zoneinfo, on every engine that has them, in any session."""

from __future__ import annotations

import shutil
import subprocess
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql import Spec
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.testing import Subject
from kanon_sql.verbs.dbt import dbt
from tests.conftest import Database
from tests.servers import SUBJECTS, subject_of
from tests.support.specs import QUIET
from tests.support.strategies import examples

ENGINES = [name if name == "duckdb" else pytest.param(name, marks=pytest.mark.slow) for name in SUBJECTS]
UNITS = ["day", "month", "quarter", "year", "decade", "century"]
ZONES = ["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "UTC"]
SHOWN = [
    datetime(2019, 12, 31, 23, 30, tzinfo=UTC), datetime(2020, 1, 1, 4, 59, 59, 999_999, tzinfo=UTC),
    datetime(2020, 3, 29, 0, 59, tzinfo=UTC), datetime(2020, 3, 29, 22, 0, tzinfo=UTC),
    datetime(2020, 10, 25, 0, 30, tzinfo=UTC), datetime(2020, 10, 25, 1, 30, tzinfo=UTC),
    datetime(2020, 7, 1, 21, 59, tzinfo=UTC), datetime(2020, 7, 1, 22, 0, tzinfo=UTC),
    datetime(1999, 12, 31, 18, 20, tzinfo=UTC), datetime(1970, 1, 2, tzinfo=UTC),
    datetime(2037, 6, 30, 22, 1, tzinfo=UTC), None,
]  # fmt: skip


def spec_of(dates: Any, level: int | None = None, **more: Any) -> Spec:
    fixed = {} if level is None else {"minimum_level": level, "maximum_level": level}
    return Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "people_release", "keep": ["id"],
            "quasi_identifiers": {"seen": {"dates": dates, **fixed}}, "privacy": [{"k_anonymity": 1}],
            "warnings": QUIET, **more,
        }
    )  # fmt: skip


def label(moment: datetime | None, zone: str, unit: str) -> str | None:
    if moment is None:
        return None
    day = moment.astimezone(ZoneInfo(zone)).date()
    low = day.year - day.year % (10 if unit == "decade" else 100)
    return {
        "day": day.isoformat(),
        "month": day.isoformat()[:7],
        "quarter": f"{day.year}-Q{(day.month + 2) // 3}",
        "year": str(day.year),
        "decade": f"{low}-{low + 9}",
        "century": f"{low}-{low + 99}",
    }[unit]


def released(subject: Subject) -> dict[int, str | None]:
    return {int(number): found for number, found in subject.fetch("SELECT id, seen FROM people_release")}


def load_zones(subject: Any) -> None:
    """MariaDB's tables of zones, as its manual says."""
    if not (shutil.which("mariadb-tzinfo-to-sql") and shutil.which("mariadb")):
        pytest.skip("mariadb-tzinfo-to-sql is not here")
    for zone in ZONES[:-1]:
        made = subprocess.run(
            ["mariadb-tzinfo-to-sql", f"/usr/share/zoneinfo/{zone}", zone], capture_output=True, check=True
        )
        client = ["mariadb", "--no-defaults", "--user=root", f"--socket={subject.server.socket}", "mysql"]
        subprocess.run(client, input=made.stdout, check=True)


@pytest.mark.parametrize("name", ENGINES)
def test_dates_are_those_of_the_zone(name: str) -> None:
    with subject_of(name) as subject, subject.connect() as engine:
        if name == "sqlite":
            subject.table("people", {"id": "integer", "seen": "timestamp"}, [(1, datetime(2020, 1, 1))])
            with pytest.raises(SpecError, match="zone is for points in time"):
                kanon_sql.plan(engine, spec_of({"levels": ["day"], "zone": "UTC"}))
            return
        subject.table("people", {"id": "integer", "seen": "moment"}, list(enumerate(SHOWN)))
        if name == "mariadb":
            with pytest.raises(UnsupportedError, match="mariadb does not know the time zone Europe/Berlin"):
                kanon_sql.plan(engine, spec_of({"levels": ["day"], "zone": "Europe/Berlin"}))
            load_zones(subject)
        for zone, unit in zip(ZONES, ("day", "quarter", "day", "decade"), strict=True):
            dates = {"levels": UNITS, "zone": zone}
            result = kanon_sql.anonymize(engine, spec_of(dates, 1 + UNITS.index(unit)))
            assert result.passed, result.message
            expected = {number: label(moment, zone, unit) for number, moment in enumerate(SHOWN)}
            assert released(subject) == expected
            assert result.classes["count"] == len(set(expected.values()))
        with pytest.raises(SpecError, match="points in time, whose dates depend on a time zone; add one: dates: "):
            kanon_sql.plan(engine, spec_of(["day"]))


moments = st.datetimes(datetime(1800, 1, 1), datetime(2500, 1, 1), timezones=st.just(UTC))


@pytest.mark.slow
@given(st.lists(moments, min_size=20, max_size=40), st.sampled_from([*ZONES, "Australia/Lord_Howe", "Africa/Monrovia"]))
@examples(16)
def test_random_moments(shared_database: Database, values: list[datetime], zone: str) -> None:
    shared_database.table("people", {"id": "INTEGER", "seen": "TIMESTAMPTZ"}, list(enumerate(values)))
    assert kanon_sql.anonymize(shared_database.engine, spec_of({"levels": ["day"], "zone": zone}, 1)).passed
    found = dict(shared_database._run("SELECT id, seen FROM people_release").fetchall())
    assert found == {number: label(moment, zone, "day") for number, moment in enumerate(values)}


@pytest.mark.parametrize(
    "hierarchy",
    [{}, {"prefix": [10]}, {"sql": ["CAST(x AS DATE)"]}, {"dates": {"levels": ["day"], "zone": "Europe/Berlin"}}],
)
def test_the_zone_of_a_session_changes_no_class(database: Database, hierarchy: dict[str, Any]) -> None:
    """A program's connection has a zone of its own, which is in force again after a run."""
    database.table("people", {"id": "INTEGER", "seen": "TIMESTAMPTZ"}, list(enumerate(SHOWN)))
    level = 1 if hierarchy else 0
    limits = {"minimum_level": level, "maximum_level": level}
    spec = Spec.from_dict({**spec_of(["day"]).to_dict(), "quasi_identifiers": {"seen": {**hierarchy, **limits}}})
    found = []
    for zone in ("Asia/Kathmandu", "America/New_York"):
        database.connection.execute(f"SET TimeZone = '{zone}'")
        assert kanon_sql.anonymize(database.engine, spec).passed
        assert database.connection.execute("SELECT current_setting('TimeZone')").fetchall() == [(zone,)]
        found.append(sorted(database.connection.execute("SELECT id, seen FROM people_release").fetchall()))
    assert found[0] == found[1]
    if "dates" not in hierarchy:
        assert all(str(text).startswith(SHOWN[number].date().isoformat()) for number, text in found[0] if text)  # type: ignore[union-attr]


def test_bounds_are_days_of_the_zone(database: Database) -> None:
    database.table("people", {"id": "INTEGER", "seen": "TIMESTAMPTZ"}, [(1, SHOWN[0])])
    written = spec_of({"levels": ["month"], "zone": "Europe/Berlin"}, 1).to_dict()
    written["quasi_identifiers"]["seen"]["as"] = "bounds"
    assert kanon_sql.anonymize(database.engine, Spec.from_dict(written)).passed
    assert database.connection.execute("SELECT seen, seen_from, seen_to FROM people_release").fetchall() == [
        ("2020-01", date(2020, 1, 1), date(2020, 1, 1) + timedelta(days=31))
    ]


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (
            {"levels": ["day"], "zone": "Europe/Berlim"},
            "unknown time zone 'Europe/Berlim'; did you mean 'Europe/Berlin'",
        ),
        ({"levels": ["day"], "zone": "CET"}, "unknown time zone 'CET'; expected a name of the tz database"),
        ({"levels": ["day"], "zone": "+01:00"}, "unknown time zone '.01:00'; expected a name of the tz database"),
        ({"levels": ["day"], "zone": 1}, "expected a time zone, such as Europe/Berlin or UTC, got a whole number"),
        ({"levels": ["month", "day"]}, r"dates\.levels\[1\]: units must get coarser"),
        (["month", "day"], r"dates\[1\]: units must get coarser"),
        ({"zone": "UTC"}, "missing 'levels'"),
    ],
)
def test_zones_that_mean_different_things_are_refused(written: Any, why: str) -> None:
    with pytest.raises(SpecError, match=why):
        spec_of(written)


def test_scripts_and_dbt_projects_refuse_a_zone(database: Database, tmp_path: Any) -> None:
    database.table("people", {"id": "INTEGER", "seen": "TIMESTAMPTZ"}, [(1, SHOWN[0])])
    spec = spec_of({"levels": ["day"], "zone": "Europe/Berlin"})
    with pytest.raises(UnsupportedError, match=r"quasi_identifiers\.seen: a script cannot set the zone of its session"):
        kanon_sql.render(spec, dialect="postgres")
    with pytest.raises(UnsupportedError, match=r"quasi_identifiers\.seen: a dbt project cannot set the zone"):
        dbt(database.engine, spec, tmp_path)
    assert Spec.from_dict(spec.to_dict()) == spec
    assert kanon_sql.hierarchies.level_names(spec.quasi_identifiers["seen"], 2) == (
        "as in the source",
        "day",
        "withheld",
    )
