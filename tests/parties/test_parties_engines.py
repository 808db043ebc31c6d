"""Parties on different engines: one release, hashes that agree, and text that has one form."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import date
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.sql import Statement
from kanon_sql.testing import Subject
from kanon_sql.testing.subject import as_text
from tests.conftest import Database
from tests.servers import SUBJECTS, subject_of
from tests.support.specs import QUIET

KINDS = {"id": "integer", "age": "integer", "town": "text", "seen": "date", "ill": "text"}
ROWS: list[tuple[Any, ...]] = [
    (
        n,
        None if n % 13 == 0 else 20 + n * 7 % 45,
        None if n % 11 == 0 else ("Ämter", "amter", "Ost'end", "oslo")[n % 4],
        date(2020 + n % 3, 1 + n % 12, 1 + n % 28),
        (None, "flu", "cold", "it's")[n % 4 if n % 5 else 0],
    )
    for n in range(90)
]
SPEC: dict[str, Any] = {
    "version": 1,
    "source": "people",
    "release": "released",
    "identifiers": ["id"],
    "quasi_identifiers": {
        "age": {"intervals": [10, 20, 40], "minimum_level": 2},
        "town": {"prefix": [2, 1], "minimum_level": 1},
        "seen": {"dates": ["month", "year"], "minimum_level": 2},
    },
    "sensitive": ["ill"],
    "privacy": [{"k_anonymity": 3}, {"l_diversity": {"attribute": "ill", "l": 2}}],
    "suppression": {"max_share": 0.2},
    "search": {"metric": "precision"},
    "warnings": QUIET,
}

SLOW = pytest.mark.slow
SETS = [
    ("duckdb", "postgres", "sqlite"),
    pytest.param(("mariadb", "clickhouse"), marks=SLOW),
    pytest.param(("spark", "duckdb"), marks=[SLOW, pytest.mark.campaign]),
]


@contextmanager
def subjects(names: Sequence[str]) -> Iterator[list[Subject]]:
    with ExitStack() as opened:
        made = [opened.enter_context(subject_of(name)) for name in names]
        for subject in made:
            subject.drop("released")
        yield made


def pooled(
    database: Database, spec: kanon_sql.Spec, rows: Sequence[Sequence[Any]]
) -> tuple[Any, Counter[tuple[Any, ...]]]:
    """The result and the released rows of the table in one place."""
    types = {"integer": "INTEGER", "text": "VARCHAR", "date": "DATE"}
    database.table("people", {name: types[kind] for name, kind in KINDS.items()}, rows)
    result = kanon_sql.anonymize(database.engine, spec)
    return result, Counter(database.rows("released"))


def released(subject: Subject) -> list[tuple[Any, ...]]:
    columns = ", ".join(subject.dialect.quote(name) for name in ("age", "town", "seen", "ill"))
    return [
        tuple(map(as_text, row)) for row in subject.fetch(f"SELECT {columns} FROM {subject.dialect.quote('released')}")
    ]


@pytest.mark.parametrize("names", SETS)
@pytest.mark.slow
def test_rows_at_parties_on_different_engines(database: Database, names: Sequence[str]) -> None:
    spec = kanon_sql.Spec.from_dict(SPEC)
    expected, rows = pooled(database, spec, ROWS)
    with subjects(names) as made, ExitStack() as opened:
        for number, subject in enumerate(made):
            subject.table("people", KINDS, [row for row in ROWS if row[0] % len(made) == number])
        engines = [opened.enter_context(subject.connect()) for subject in made]
        result = kanon_sql.anonymize_parties(engines, spec)
        assert result.node == expected.node
        assert result.rows["suppressed"] == expected.rows["suppressed"]
        assert result.rows["suppressed"] > 0
        assert result.classes == expected.classes
        assert result.achieved == expected.achieved
        assert Counter(row for subject in made for row in released(subject)) == rows


@pytest.mark.slow
@pytest.mark.parametrize("names", [("postgres", "sqlite", "duckdb"), *SETS[1:]])
def test_columns_at_parties_on_different_engines(database: Database, names: Sequence[str]) -> None:
    common = [row for row in ROWS if 5 <= row[0] < 85]
    spec = kanon_sql.Spec.from_dict(SPEC)
    expected, rows = pooled(database, spec, common)
    divided = [("id", "age"), ("town", "id"), ("id", "seen", "ill")]
    if len(names) == 2:
        divided = [("id", "age", "town"), ("seen", "id", "ill")]
    places = list(KINDS)
    with subjects(names) as made, ExitStack() as opened:
        for number, (subject, columns) in enumerate(zip(made, divided, strict=True)):
            own = [row for row in ROWS if (row[0] >= 5 if number == 0 else row[0] < 85)]
            own = own if number < 2 else ROWS
            kinds = {column: KINDS[column] for column in columns}
            subject.table("people", kinds, [[row[places.index(column)] for column in columns] for row in own])
        engines = [opened.enter_context(subject.connect()) for subject in made]
        for at in range(1, len(made) + 1):
            result = kanon_sql.anonymize_parties(engines, spec, split="vertical", key="id", at=at)
            assert result.node == expected.node
            assert result.rows == expected.rows
            assert Counter(released(made[at - 1])) == rows
            made[at - 1].drop("released")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "name", [name if name in ("duckdb", "postgres", "sqlite") else pytest.param(name, marks=SLOW) for name in SUBJECTS]
)
def test_keyed_hashes_agree(name: str) -> None:
    texts = ("", "a", "Ämter", "€\U0001f600", "it's", "back\\slash", "x" * 200)
    with subject_of(name) as subject, subject.connect() as engine:
        for key in (b"k", bytes(range(32)), b"\xff" * 64):
            for text in (*texts, *with_zero_bytes(key)):
                assert hashed(engine, text, key) == hmac.digest(key, text.encode(), "sha256").hex()


def with_zero_bytes(key: bytes) -> list[str]:
    """Texts whose hash, inner or outer, begins or ends with a zero byte, which some engines cut off."""
    inner = bytes(byte ^ 0x36 for byte in key.ljust(64, b"\0"))
    found = []
    for place in (0, -1):
        numbers = map(str, range(10_000))
        found.append(next(text for text in numbers if hashlib.sha256(inner + text.encode()).digest()[place] == 0))
        found.append(next(text for text in numbers if hmac.digest(key, text.encode(), "sha256")[place] == 0))
    return found


def hashed(engine: Engine, text: str, key: bytes) -> str:
    sql = engine.dialect.keyed_hash(engine.dialect.literal(text), key)
    ((found,),) = engine.fetch(Statement("hashes", f"SELECT {sql} AS found"), 1)
    return str(found)
