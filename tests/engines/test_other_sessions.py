"""A pooler in front of PostgreSQL that hands each transaction of a connection to another session of the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.relational import RelationalEngine
from kanon_sql.errors import KanonError
from tests.servers import subject_of

SPEC = kanon_sql.Spec.from_dict(
    {
        "version": 1,
        "source": "people",
        "release": "released",
        "quasi_identifiers": {"q": {"prefix": [1]}},
        "privacy": [{"k_anonymity": 2}],
    }
)
SAID = "run in several sessions of the server, .*connect to the server itself, or to a pool in session mode"


@pytest.fixture(scope="module")
def subject() -> Iterator[Any]:
    with subject_of("postgres") as made:
        made.table("people", {"q": "text"}, [["a1"], ["a2"], ["b1"], ["b2"]])
        yield made


@contextmanager
def pooled(subject: Any, monkeypatch: pytest.MonkeyPatch, elsewhere: Callable[[int], bool]) -> Iterator[Any]:
    """An engine of which each statement outside of a transaction goes to the session that a pooler would choose.

    Args:
        subject: the server.
        monkeypatch: of the test.
        elsewhere: whether a statement, by its number since connecting, goes to the other session.
    """
    sent, number = RelationalEngine._sent, 0
    with subject.connect() as engine, subject.connect() as other:
        own = engine._connection, other._connection

        def chosen(self: RelationalEngine, sql: str) -> Any:
            nonlocal number
            if self is engine and not self._open_transaction():
                number += 1
                self._connection = own[elsewhere(number)]
            return sent(self, sql)

        with monkeypatch.context() as patch:
            patch.setattr(RelationalEngine, "_sent", chosen)
            yield engine
            patch.undo()
        engine._connection = own[0]


POOLS: dict[str, Callable[[int], bool]] = {
    "by turns": lambda number: number % 2 == 1,
    "for good, after a while": lambda number: number > 12,
}


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("verb", ["anonymize", "check"])
def test_a_run_in_several_sessions_says_what_to_do(
    subject: Any, monkeypatch: pytest.MonkeyPatch, pool: str, verb: str
) -> None:
    run: dict[str, Callable[..., Any]] = {"anonymize": kanon_sql.anonymize, "check": kanon_sql.check}
    with pooled(subject, monkeypatch, POOLS[pool]) as engine, pytest.raises(KanonError, match=SAID):
        run[verb](engine, SPEC, **({"table": "people"} if verb == "check" else {}))
    assert "released" not in subject.tables()


@pytest.mark.slow
def test_from_whichever_statement_on_nothing_is_published_by_another_session(
    subject: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a run does not publish the release that was verified, its error says why."""
    said: list[str] = []
    for first in range(1, 200, 6):
        with pooled(subject, monkeypatch, lambda number, first=first: number >= first) as engine:
            try:
                kanon_sql.anonymize(engine, SPEC)
                break  # the last statements of all come after the release
            except KanonError as error:
                said.append(str(error))
    assert len(said) > 3
    assert all("several sessions" in text for text in said), said
    assert sorted(subject.fetch("SELECT q FROM released")) == [("a*",), ("a*",), ("b*",), ("b*",)]
