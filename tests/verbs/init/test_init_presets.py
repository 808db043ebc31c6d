"""Presets of ``init``: each writes a spec that is valid, runs, and releases what its rule allows; by plain Python."""

from __future__ import annotations

import datetime
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines.base import Column, Engine, Kind
from kanon_sql.errors import SpecError
from kanon_sql.spec import Spec
from kanon_sql.testing import Subject
from kanon_sql.verbs.init.columns import ColumnProfile
from kanon_sql.verbs.init.presets import PRESETS, PresetKnowledge
from kanon_sql.verbs.init.suggest import suggest
from kanon_sql.verbs.init.user_columns import Roles, with_roles
from tests.servers import subject_of
from tests.support.drafts import metered

YEAR = datetime.date.today().year

COLUMNS = {
    "record": "integer",
    "patient_id": "integer",
    "name": "text",
    "zip": "text",
    "city": "text",
    "state": "text",
    "age": "integer",
    "birth_date": "date",
    "birth_year": "integer",
    "admission_date": "date",
    "admission_type": "text",
    "sex": "text",
    "diagnosis": "text",
}
CENSUS = {"zcta5": "text", "population": "integer"}


def census() -> list[tuple[Any, ...]]:
    """Areas of 0, 20,000, 20,001 and many people, in one code or in several."""
    return [
        ("10001", 20_000), ("10101", 20_001), ("10201", 15_000), ("10202", 5_001), ("10301", 15_000), ("10302", 5_000),
        ("10401", 900_000), ("00501", 50_000), ("99", 900_000), ("10501", None), (None, 900_000),
        ("1031", 900_000), ("1031-0001", 900_000), ("104", 1), ("10204-0001", 1),
    ]  # fmt: skip


def large() -> set[str]:
    people: dict[str, int] = defaultdict(int)
    for code, count in census():
        if code is not None and len(code.partition("-")[0]) in (3, 5):
            people[code[:3]] += count or 0
    return {area for area, count in people.items() if count > 20_000}


ZIPS = [
    "10001", "10101", "10202", "10302", "10401", "00544", "10501", "77777", "10", "10199-1234", "102991234",
    "10099-1234", "1019", "1019-1234", "10191234", None,
]  # fmt: skip
"""The last ones but NULL have lost a zero at the front, so that they are of the area 010."""


def patients(copies: int = 6) -> list[tuple[Any, ...]]:
    """Persons of all ages and places, each of whom has as many twins."""
    draw = random.Random(3)
    found: list[tuple[Any, ...]] = []
    for person in range(60):
        born = datetime.date(YEAR - 104 + person * 104 // 60, 1 + person % 12, 1 + person % 28)
        admitted = datetime.date(YEAR - 1 - person % 2, 1 + person % 12, 28 - person % 28)
        fixed = (
            ZIPS[person % len(ZIPS)], f"town {person % 4}", "NY" if person % 2 else "CA", YEAR - born.year, born,
            born.year, admitted, "ER" if person % 3 else "elective", "f" if person % 2 else "m",
        )  # fmt: skip
        found += [
            (100 * person + copy, 100 * person + copy, f"n{draw.random()}", *fixed, f"d{copy % 4}")
            for copy in range(copies)
        ]
    return found


def allowed(row: dict[str, Any]) -> dict[str, str | None]:
    """What Safe Harbor lets stay of a row, at the finest: 45 CFR 164.514(b)(2)(i)(B) and (C)."""
    digits = (row["zip"] or "").replace("-", "")
    area = digits[:3] if len(digits) in (5, 9) and "-" not in (row["zip"] or "")[:5] else "lost"
    oldest = f"{YEAR - 90} or before"
    born = row["birth_date"].year
    return {
        "zip": None if row["zip"] is None else area if area in large() else "000",
        "age": ">= 90" if row["age"] >= 90 else f"[{row['age']}, {row['age'] + 1})",
        "birth_date": oldest if born <= YEAR - 90 else str(born),
        "birth_year": oldest if born <= YEAR - 90 else str(born),
        "admission_date": str(row["admission_date"].year),
    }


def drafted(engine: Engine, **options: Any) -> tuple[str, Spec]:
    text = kanon_sql.init(engine, "patients", **options)
    return text, Spec.parse(text)


@pytest.fixture(
    scope="module",
    params=[
        "duckdb",
        *(pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in ("postgres", "sqlite", "mariadb")),
        pytest.param("clickhouse", marks=pytest.mark.xdist_group("clickhouse")),
        pytest.param("spark", marks=[pytest.mark.slow, pytest.mark.xdist_group("spark")]),
    ],
)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        made.table("patients", COLUMNS, patients())
        made.table("census", CENSUS, census())
        yield made


@pytest.fixture
def engine(subject: Subject) -> Iterator[Engine]:
    opened = subject.connect()
    yield opened
    opened.close()


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with subject_of("duckdb") as made, duckdb.connect() as opened:
        for name, columns, rows in (("patients", COLUMNS, patients()), ("census", CENSUS, census())):
            listed = ", ".join(f"{column} {made.types[kind]}" for column, kind in columns.items())
            opened.execute(f"CREATE TABLE {name} ({listed})")
            opened.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows)
        yield opened


SAFE = {"preset": "hipaa-safe-harbor", "population": "census"}


def released_by(subject: Subject, spec: Spec) -> list[dict[str, Any]]:
    names = [*spec.quasi_identifiers, *spec.sensitive, *spec.keep]
    listed = ", ".join(map(subject.dialect.quote, names))
    rows = subject.fetch(f"SELECT {listed} FROM {subject.dialect.relation(['patients_release'])}")
    return [dict(zip(names, row, strict=True)) for row in rows]


@pytest.mark.sampled(6)
@pytest.mark.slow
def test_every_engine_releases_what_safe_harbor_allows(subject: Subject, engine: Engine) -> None:
    """Row by row: nothing but the record's number is needed to say what may stay of it."""
    _, spec = drafted(engine, **SAFE, identifiers=["record"], quasi_identifiers=list(allowed(BLANK)))
    told = Spec.from_dict(
        {
            **spec.to_dict(),
            "identifiers": [name for name in spec.identifiers if name != "record"],
            "sensitive": [],
            "keep": ["record"],
            "privacy": [{"k_anonymity": 2}],
            "recoding": "full_domain",
        }
    )
    try:
        assert kanon_sql.anonymize(engine, told).passed
        rows = {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in patients()}
        written = released_by(subject, told)
        assert len(written) == len(rows)
        for row in written:
            expected = allowed(rows[int(row["record"])])
            assert {name: row[name] for name in expected} == expected
    finally:
        subject.drop("patients_release")


BLANK: dict[str, Any] = {
    "zip": None, "age": 0, "birth_date": datetime.date(2000, 1, 1), "admission_date": datetime.date(2000, 1, 1)
}  # fmt: skip


# --- Safe Harbor ------------------------------------------------------------------------------


def test_areas_by_plain_adding() -> None:
    assert large() == {"101", "102", "104", "005"}, "20,000 are too few, and one more is enough"


@pytest.mark.slow
def test_what_safe_harbor_makes_of_columns(connection: duckdb.DuckDBPyConnection) -> None:
    text, spec = drafted(kanon_sql.connect(connection), **SAFE)
    assert set(spec.identifiers) >= {"name", "city", "record"}
    assert "age" in spec.identifiers, "with the year of admission it tells a year of birth"
    assert all(spec.quasi_identifiers[name].minimum_level == 1 for name in allowed(BLANK) if name != "age")
    assert spec.quasi_identifiers["admission_type"].minimum_level == 0, "no date, whatever its name begins with"
    assert "state" in spec.quasi_identifiers
    assert "45 CFR 164.514(b)(2)(i)" in text
    assert "(b)(2)(ii)" in text
    assert "What this is not" in text


@pytest.mark.slow
def test_a_release_of_the_draft_as_it_stands(connection: duckdb.DuckDBPyConnection) -> None:
    """Recoded locally, labels differ from row to row; none says more than the rule allows."""
    engine = kanon_sql.connect(connection)
    _, spec = drafted(engine, **SAFE)
    assert kanon_sql.anonymize(engine, spec).passed
    told = {
        name: {row[0] for row in connection.execute(f"SELECT DISTINCT {name} FROM patients_release").fetchall()}
        for name in allowed(BLANK)
        if name != "age"
    }
    assert told["zip"] <= {*large(), "000", "*", None}
    assert not any(re.search(r"\d{4}-\d", label) for label in told["admission_date"] | told["birth_date"])
    for label in (told["birth_date"] | told["birth_year"]) - {"*", f"{YEAR - 90} or before"}:
        year = int(label.rstrip("s"))
        assert year > YEAR - 90 or (label.endswith("s") and year + 9 > YEAR - 90)


@pytest.mark.slow
def test_no_table_of_populations_no_digits(connection: duckdb.DuckDBPyConnection) -> None:
    text, spec = drafted(kanon_sql.connect(connection), preset="hipaa-safe-harbor")
    assert "zip" in spec.identifiers
    assert "--set population" in text
    assert kanon_sql.anonymize(kanon_sql.connect(connection), spec).passed


@pytest.mark.slow
def test_a_number_is_no_zip_code(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("ALTER TABLE patients ALTER zip TYPE INTEGER USING TRY_CAST(zip AS INTEGER)")
    text, spec = drafted(kanon_sql.connect(connection), **SAFE)
    assert "zip" in spec.identifiers
    assert "leading zeros" in text


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("CREATE TABLE census AS SELECT 10001 AS zip, 5 AS population", "no column of postal codes as text"),
        ("CREATE TABLE census AS SELECT '10001' AS zip, 'many' AS population", "no column of people as numbers"),
        ("CREATE TABLE other AS SELECT 1 AS x", "there is no table or view"),
    ],
)
def test_tables_that_are_none_of_populations(connection: duckdb.DuckDBPyConnection, table: str, problem: str) -> None:
    connection.execute(f"DROP TABLE census; {table}")
    with pytest.raises(SpecError, match=f"population: .*{problem}"):
        drafted(kanon_sql.connect(connection), **SAFE)


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "roles", [{"keep": ["birth_date"]}, {"sensitive": ["admission_date"]}, {"quasi_identifiers": ["age", "city"]}]
)
def test_what_the_rule_forbids_is_refused(connection: duckdb.DuckDBPyConnection, roles: dict[str, Any]) -> None:
    (key, names), *_ = roles.items()
    with pytest.raises(SpecError, match=f"{key}: hipaa-safe-harbor does not allow '{names[-1]}' as that"):
        drafted(kanon_sql.connect(connection), **SAFE, **roles)


@pytest.mark.slow
def test_who_lists_quasi_identifiers_gets_no_others(connection: duckdb.DuckDBPyConnection) -> None:
    _, spec = drafted(kanon_sql.connect(connection), **SAFE, quasi_identifiers=["age"], sensitive=["diagnosis"])
    assert list(spec.quasi_identifiers) == ["age"]
    assert spec.quasi_identifiers["age"].to_dict()["top"] == 90
    assert spec.keep == ()


BORN = (
    "{sql: [\"CASE WHEN x <= release_year - 90 THEN CAST(release_year - 90 AS VARCHAR) || ' or before' "
    'ELSE CAST(x AS VARCHAR) END", '
    "\"CASE WHEN x <= release_year - 90 THEN CAST(release_year - 90 AS VARCHAR) || ' or before' "
    "ELSE CAST(CAST(floor(x / 10) * 10 AS INTEGER) AS VARCHAR) || 's' END\"], minimum_level: 1}"
)
"""Born so long ago that somebody may be 90 in the year of the release."""


def profile(name: str, kind: Kind = "text", *, distinct: int = 500, **more: Any) -> ColumnProfile:
    return ColumnProfile(Column(name, kind.upper(), kind), 1000, 1000, distinct, **more)


@pytest.mark.parametrize(
    ("given", "role", "hierarchy"),
    [
        *((profile(name, distinct=1000), "identifier", "{}") for name in (
            "name", "street", "city", "county", "precinct", "phone", "fax", "email", "ssn", "mrn", "beneficiary_id",
            "account_no", "driver_license", "licensePlate", "vin", "device_serial", "url", "ip_address", "fingerprint",
            "photo", "uuid",
        )),
        (profile("seen", "moment"), "identifier", "{}"),
        (profile("birth_date", "text", shortest=10, longest=10), "identifier", "{}"),
        (profile("admission", "text", distinct=20, shortest=10, longest=10), "identifier", "{}"),
        (profile("admission", "text", distinct=20, shortest=2, longest=10), "quasi_identifier", "{}"),
        (profile("age", "text", distinct=20), "identifier", "{}"),
        (profile("age", "float"), "quasi_identifier", "{intervals: [1, 5, 10], top: 90, minimum_level: 1}"),
        (profile("yob", "integer"), "quasi_identifier", BORN),
        (profile("died", "boolean", distinct=2), "left_out", "{}"),
        (profile("died", "integer", distinct=2, longest=1), "left_out", "{}"),
        (profile("died", "integer", distinct=9, longest=4), "identifier", "{}"),
        (profile("diagnosis_date", "date"), "quasi_identifier", "{dates: [year, decade], minimum_level: 1}"),
        (profile("discharged", "timestamp"), "quasi_identifier", "{dates: [year, decade], minimum_level: 1}"),
        (profile("state", distinct=50), "quasi_identifier", "{}"),
        (profile("charge", "float"), "left_out", "{}"),
    ],
    ids=lambda value: value.name if isinstance(value, ColumnProfile) else None,
)  # fmt: skip
def test_the_eighteen_kinds(given: ColumnProfile, role: str, hierarchy: str) -> None:
    """45 CFR 164.514(b)(2)(i)(A) to (R), whatever was suggested."""
    (found,) = PRESETS["hipaa-safe-harbor"].adapt(suggest([given]), PresetKnowledge(None))
    if given.name == "died" and found.role == "quasi_identifier":
        role = "quasi_identifier"  # a category, and no date
    assert (found.role, found.hierarchy) == (role, hierarchy)


@pytest.mark.parametrize(
    ("names", "gone"),
    [
        (["age", "admission_date", "birth_date"], {"age"}),
        (["age", "admission_date", "yob"], {"age"}),
        (["age", "admission_date", "discharge_date"], {"admission_date", "discharge_date"}),
        (["age", "sex"], set()),
        (["admission_date", "birth_date"], set()),
    ],
)
def test_an_age_at_a_visit_and_the_year_of_the_visit_tell_a_year_of_birth(names: list[str], gone: set[str]) -> None:
    """85 in 2010 is 101 in 2026, though neither says so: one of them goes, and stays with a comment where asked for."""
    kinds: dict[str, Kind] = {"age": "integer", "yob": "integer", "sex": "text"}
    given = [profile(name, kinds.get(name, "date")) for name in names]
    found = PRESETS["hipaa-safe-harbor"].adapt(suggest(given), PresetKnowledge(None))
    assert {item.profile.name for item in found if item.role == "identifier"} == gone
    asked = with_roles(suggest(given), Roles(names, None, (), (), None))
    found = PRESETS["hipaa-safe-harbor"].adapt(asked, PresetKnowledge(None))
    assert {item.profile.name for item in found if "tell a year of birth" in item.reason} == gone
    assert {item.role for item in found} == {"quasi_identifier"}


# --- EMA 0070 and WP216 -------------------------------------------------------------------------


@pytest.mark.slow
def test_the_maximum_risk_of_0070(connection: duckdb.DuckDBPyConnection) -> None:
    """1 / 11 is above 0.09, and 1 / 12 is not; the release has neither a smaller class nor a larger risk."""
    assert 1 / 11 > 0.09 >= 1 / 12
    engine = kanon_sql.connect(connection)
    text, spec = drafted(engine, preset="ema-0070")
    assert spec.privacy[0].to_dict() == {"k_anonymity": {"k": 12}}
    assert "EMA/90915/2016" in text
    assert "What this is not" in text
    assert kanon_sql.anonymize(engine, spec).passed
    risk = kanon_sql.risk(engine, spec, "patients_release", threshold=0.09).prosecutor
    assert risk.highest <= 0.09
    assert drafted(engine, preset="ema-0070", k=20)[1].privacy[0].to_dict() == {"k_anonymity": {"k": 20}}


@pytest.mark.slow
def test_the_three_questions_of_wp216(connection: duckdb.DuckDBPyConnection) -> None:
    engine = kanon_sql.connect(connection)
    text, spec = drafted(engine, preset="gdpr-wp216")
    for words in ("0829/14/EN", "singling out", "linkability", "inference", "What this is not", "recital 26"):
        assert words in text
    assert [requirement.name for requirement in spec.privacy] == ["k_anonymity", "l_diversity"]
    assert kanon_sql.anonymize(engine, spec).passed
    lower = drafted(engine, preset="gdpr-wp216", k=3)[1]
    assert lower.privacy[0].to_dict() == {"k_anonymity": {"k": 3}}, "the opinion names no k"
    closer = text.replace("privacy:\n", "privacy:\n  - t_closeness: {attribute: diagnosis, t: 0.3}\n")
    assert kanon_sql.plan(engine, Spec.parse(closer)).passed, "the line that the comment proposes"


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_reads_no_value(preset: str, connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("UPDATE patients SET zip = '55555', city = 'Zanzibar' WHERE record = 0")
    more = {"population": "census"} if preset == "hipaa-safe-harbor" else {}
    text, meter = metered(kanon_sql.connect(connection), "patients", preset=preset, **more)
    assert "555" not in re.sub(r"left\(x, 3\) IN \([^)]*\)", "", text)
    assert "Zanzibar" not in text
    assert meter.rows_fetched < 100, "columns, counts, and areas of the census"
    assert all(len(line) < 118 for line in text.splitlines() if line.startswith("#"))
