"""What ``init`` says of dates and numbers that a few faults keep from being dates and numbers."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timedelta

import pytest

import kanon_sql
from kanon_sql.hierarchies.kinds.prefix import PrefixHierarchy
from tests.conftest import Database
from tests.servers import subject_of
from tests.support.drafts import metered

FAULTS = ["unknown", "31.12.1999", "2000-13-01", "20001231", "1999-12-"]
BORN = [str(date(1950, 1, 1) + timedelta(days=number * 7919 % 9000)) for number in range(1995)] + FAULTS

DATES = ["2000-12-31", "1999-01-01 10:30:00", "1999-01-01T10:30", "0001-01-01"]
NO_DATES = ["", "2000-00-10", "2000-1-1", "2000-10-32", "20-10-2000", "2000/10/10", "2000-10-10x", "abcd-10-10"]
NUMBERS = ["0", "7", "-7", "10", "123456", "0.5", "-0.5", "1.25"]
NO_NUMBERS = ["", "-", ".", "007", "1-2", "7-", "1.2.3", "1,5", "x1", "1e5", "--1"]


def is_date(text: str) -> bool:
    """As Python reads it, in the two forms that are dates here."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == 10 or text[10:11] in (" ", "T")


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return set(text) <= set("-.0123456789") and (not text.startswith("0") or text[:2] in ("0", "0."))


def test_these_are_what_python_takes_them_for() -> None:
    assert all(map(is_date, DATES))
    assert not any(map(is_date, NO_DATES))
    assert all(map(is_number, NUMBERS))
    assert not any(map(is_number, NO_NUMBERS))


@pytest.mark.slow
def test_a_date_with_a_few_faults_is_said_to_be_one_and_keeps_its_month(database: Database) -> None:
    database.table("t", {"born": "VARCHAR", "ward": "VARCHAR"}, [(x, f"w{n % 3}") for n, x in enumerate(BORN)])
    text, meter = metered(database.engine, "t", largest_combination=0)
    assert f"text that looks like dates but for {len(FAULTS)} of {len(BORN):,} values: correct these" in text
    assert not [fault for fault in FAULTS if fault in text], "no value"
    assert meter.source_scans == 1
    spec = kanon_sql.Spec.parse(text)
    assert spec.quasi_identifiers["born"].hierarchy == PrefixHierarchy(prefix=(7, 4))
    kanon_sql.anonymize(database.engine, spec).raise_for_failure()
    released = Counter(born for born, *_ in database.rows("t_release"))
    assert released.total() >= 0.98 * len(BORN)
    assert released["*"] <= 0.05 * len(BORN)
    assert not [label for label in released if label in FAULTS]


@pytest.mark.slow
def test_so_are_numbers_which_keep_their_first_digits(database: Database) -> None:
    ages = [str(18 + number * 7 % 70) for number in range(996)] + ["n/a", "about 40", "-", "1-2"]
    database.table("t", {"age": "VARCHAR", "zip": "VARCHAR"}, [(age, f"1000{n % 9}") for n, age in enumerate(ages)])
    text = kanon_sql.init(database.engine, "t", largest_combination=0)
    assert "text that looks like numbers but for 4 of 1,000 values: correct these, or make them NULL" in text
    assert text.count("looks like") == 1, "digits of a postal code are no numbers"
    assert not [fault for fault in ("n/a", "about 40") if fault in text]
    spec = kanon_sql.Spec.parse(text)
    assert spec.quasi_identifiers["age"].hierarchy == PrefixHierarchy(prefix=(2, 1))
    kanon_sql.anonymize(database.engine, spec).raise_for_failure()
    assert Counter(age for age, *_ in database.rows("t_release"))["*"] <= 0.05 * len(ages)


@pytest.mark.parametrize(("faults", "said"), [(0, True), (5, True), (6, False)])
def test_of_nearly_all_values(database: Database, faults: int, said: bool) -> None:
    """95 of 100; NULL is no value."""
    days = [str(date(2020, 1, 1) + timedelta(days=number)) for number in range(100 - faults)]
    database.table("t", {"seen": "VARCHAR"}, [(day,) for day in days + [f"x{n}" for n in range(faults)] + [None] * 50])
    text = kanon_sql.init(database.engine, "t", quasi_identifiers=["seen"], largest_combination=0)
    assert ("looks like dates" in text) == said
    assert (f"dates but for {faults} of 100 values" in text) == (said and faults > 0)


def test_safe_harbor_keeps_no_month_of_it(database: Database) -> None:
    database.table("t", {"seen": "VARCHAR", "ward": "VARCHAR"}, [(x, f"w{n % 3}") for n, x in enumerate(BORN)])
    text = kanon_sql.init(database.engine, "t", preset="hipaa-safe-harbor", largest_combination=0)
    spec = kanon_sql.Spec.parse(text)
    assert "seen" in spec.identifiers
    assert "seen" not in spec.quasi_identifiers


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xdist_group(name))
        for name in ("duckdb", "postgres", "sqlite", "mariadb", "clickhouse")
    ],
)
def test_forms_are_counted_alike(name: str) -> None:
    """On every engine; among so many that read as the type that those which do not are named."""
    with subject_of(name) as subject:
        kind = "VARCHAR(40)" if name == "mariadb" else "VARCHAR"
        try:
            subject.drop("forms")
            subject.execute(subject.create(subject.dialect.quote("forms"), f"moment_seen {kind}, amount {kind}"))
            moments, amounts = DATES * 50 + NO_DATES, NUMBERS * 50 + NO_NUMBERS
            rows = max(len(moments), len(amounts))
            for column in (moments, amounts):
                column += [column[0]] * (rows - len(column))
            lines = [
                f"({subject.dialect.literal(moment)}, {subject.dialect.literal(amount)})"
                for moment, amount in zip(moments, amounts, strict=True)
            ]
            subject.execute(f"INSERT INTO {subject.dialect.quote('forms')} VALUES {', '.join(lines)}")
            engine = subject.connect()
            try:
                text = kanon_sql.init(engine, "forms", largest_combination=0)
            finally:
                engine.close()
            assert f"dates but for {len(NO_DATES)} of {rows} values" in text
            assert f"numbers but for {len(NO_NUMBERS)} of {rows} values" in text
        finally:
            subject.drop("forms")
