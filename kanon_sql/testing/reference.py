"""What engines are compared with: DuckDB on the same tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from math import isclose
from typing import Any, TypeVar

import duckdb

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.sql import dialect_named
from kanon_sql.testing.subject import TYPES, Subject, as_text
from kanon_sql.verbs.result import Generalization, Release, Result

__all__ = ["Made", "Reference", "assert_equal", "made", "multiset", "same"]

T = TypeVar("T")


class Reference:
    """DuckDB with the same tables, whose answers the engine's must equal."""

    def __init__(self) -> None:
        self.connection = duckdb.connect(config={"threads": 1})
        self.engine = kanon_sql.connect(self.connection)
        self._dialect = dialect_named("duckdb")
        self._answers: dict[Hashable, Any] = {}

    def table(self, name: str, columns: Mapping[str, str], rows: Sequence[Sequence[Any]]) -> None:
        """Create the same table as the subject's."""
        listed = ", ".join(f"{self._dialect.quote(column)} {TYPES[kind]}" for column, kind in columns.items())
        self.connection.execute(f"CREATE OR REPLACE TABLE {self._dialect.quote(name)} ({listed})")
        marks = ", ".join("?" * len(columns))
        if rows:
            self.connection.executemany(f"INSERT INTO {self._dialect.quote(name)} VALUES ({marks})", rows)

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        """All rows of a table."""
        return self.connection.execute(f"SELECT * FROM {self._dialect.quote(name)}").fetchall()

    def drop(self, name: str) -> None:
        """Drop a table, if it is there."""
        self.connection.execute(f"DROP TABLE IF EXISTS {self._dialect.quote(name)}")

    def once(self, question: Hashable, answer: Callable[[], T]) -> T:
        """What is answered alike whichever engine is compared with it, worked out once."""
        if question not in self._answers:
            self._answers[question] = answer()
        return self._answers[question]  # type: ignore[no-any-return]


def multiset(rows: Sequence[Sequence[Any]]) -> Counter[tuple[str | None, ...]]:
    """Rows without order, every cell as text."""
    return Counter(tuple(map(as_text, row)) for row in rows)


Made = tuple[Release, Counter[tuple[str | None, ...]]]
"""What was said of a release, and its rows."""


def made(where: Reference | Subject, engine: Engine, spec: kanon_sql.Spec) -> Made:
    """Make a release, in the place of the last one."""
    where.drop("visits_release")
    result = kanon_sql.anonymize(engine, spec)
    assert result.passed, "the case must be one that can be released"
    return result, multiset(where.rows("visits_release"))


def same(ours: Result, theirs: Result) -> None:
    """Two engines said the same."""
    assert type(ours) is type(theirs)
    assert (ours.verdict, ours.rows, ours.classes) == (theirs.verdict, theirs.rows, theirs.classes)
    if isinstance(ours, Generalization) and isinstance(theirs, Generalization):
        assert ours.node == theirs.node
        assert ours.metrics.keys() == theirs.metrics.keys()
        for name, value in theirs.metrics.items():
            assert isclose(ours.metrics[name], value, rel_tol=1e-9, abs_tol=1e-9), name
    assert ours.achieved.keys() == theirs.achieved.keys()
    for label, achieved in theirs.achieved.items():
        for what, value in achieved.items():
            found = ours.achieved[label][what]
            if isinstance(value, float) and isinstance(found, float):
                assert isclose(found, value, rel_tol=1e-9, abs_tol=1e-9), (label, what)
            else:
                assert found == value, (label, what)


def assert_equal(ours: Any, theirs: Any) -> None:
    """Two engines' JSON is the same, but for the last digits of fractions."""
    if isinstance(theirs, float) and isinstance(ours, float):
        assert isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9)
    elif isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for key, value in theirs.items():
            assert_equal(ours[key], value)
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_equal(one, other)
    else:
        assert ours == theirs
