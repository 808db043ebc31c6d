"""A process killed before any statement that publishes a guarded view: readers see the earlier view, or the new one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.base import Meter
from kanon_sql.testing import Subject
from kanon_sql.verbs.clean import clean
from tests.release.test_guarded_view import COLUMNS, SPEC, people, shown
from tests.servers import subject_of
from tests.servers.base import UrlSubject
from tests.servers.embedded import DuckDBSubject

NODES = {"old": {"age": 2, "zip": 1, "city": 1}, "new": {"age": 1, "zip": 2, "city": 2}}
"""The levels of the two views: no row of one is shown by the other."""

ENGINES = ("duckdb", "postgres", "sqlite", "mariadb", "spark")
SPREAD = {"duckdb": 3, "postgres": 5, "sqlite": 5, "mariadb": 4, "spark": 60}
"""Every so many statements in the slow tests; all of them with ``-m campaign``."""

EACH = [
    pytest.param("duckdb", "old", 11),
    *(
        pytest.param(name, before, step, marks=[mark, pytest.mark.xdist_group(f"{name} views")])
        for name in ENGINES
        for before in ("none", "old")
        for step, mark in ((SPREAD[name], pytest.mark.slow), (1, pytest.mark.campaign))
    ),
]


PRIVACY: list[dict[str, Any]] = [{"k_anonymity": {"k": 3}}]


class Killed(BaseException):
    """No handler of a killed process runs; one that does here cannot reach the database any more."""


def spec(which: str) -> kanon_sql.Spec:
    asked = {
        name: {**SPEC["quasi_identifiers"][name], "minimum_level": level, "maximum_level": level}
        for name, level in NODES[which].items()
    }
    return kanon_sql.Spec.from_dict(
        {**SPEC, "quasi_identifiers": asked, "privacy": PRIVACY, "suppression": {"max_share": 1.0}}
    )


def published(subject: Subject, patched: pytest.MonkeyPatch, which: str, at: int = 0) -> list[str]:
    """Publish until the process is killed before its n-th statement, 0 for never; the names of all that it got to."""
    counted, names = Meter.count, []

    def count(self: Meter, statement: Any, *given: Any) -> Any:
        names.append(statement.name)
        if at and len(names) >= at:
            raise Killed
        return counted(self, statement, *given)

    own = subject.connection.cursor() if isinstance(subject, DuckDBSubject) else None  # what dies with a process
    url = subject.url if isinstance(subject, UrlSubject) else None
    engine = subject.connect() if own is None and url is None else kanon_sql.connect(own or url)
    with patched.context() as patching:
        patching.setattr(Meter, "count", count)
        try:
            assert kanon_sql.anonymize(engine, spec(which)).passed
        except Killed:
            pass
        finally:
            engine.close()
            if own is not None:
                own.close()
    return names


def standing(subject: Subject, rows: list[tuple[Any, ...]]) -> str:
    """Which of the views a reader sees; nothing else may stand under the name."""
    if "shown" not in subject.tables():
        return "none"
    seen = Counter(subject.rows("shown"))
    expected = {name: shown(rows, node, PRIVACY) for name, node in NODES.items()}
    (found,) = [name for name, those in expected.items() if those == seen]
    return found


@pytest.fixture
def rows() -> list[tuple[Any, ...]]:
    made = people(3, 80)
    assert all(shown(made, node, PRIVACY) for node in NODES.values())
    return made


@pytest.mark.campaign_on("spark", "none")
@pytest.mark.slow
@pytest.mark.parametrize(("engine", "before", "step"), EACH)
@pytest.mark.sampled(4)
def test_a_kill_leaves_the_earlier_view_or_the_new_one(
    engine: str, before: str, step: int, rows: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with subject_of(engine) as subject:
        subject.table("people", COLUMNS, rows)

        def begin() -> None:
            if standing(subject, rows) == before:
                return
            subject.drop("shown", "VIEW")
            if before == "old":
                published(subject, monkeypatch, "old")

        begin()
        names = published(subject, monkeypatch, "new")
        assert standing(subject, rows) == "new"
        found = []
        created = len(names) - names[::-1].index("release/guarded")
        for at in sorted({*range(1, len(names) + 1, step), *range(created - 1, created + 3)}):
            begin()
            assert len(published(subject, monkeypatch, "new", at)) >= at
            found.append(standing(subject, rows))
            assert found[-1] in (before, "new"), f"before statement {at}, {names[at - 1]}"
            if found[-1] == "new":  # it was cut off after that: what it left is settled, and replaced
                published(subject, monkeypatch, "old")
                assert standing(subject, rows) == "old"
        assert found[0] == before
        assert found == sorted(found, key=lambda seen: seen == "new"), "once it stands, it stays"
        published(subject, monkeypatch, "new")
        with subject.connect() as opened:
            clean(opened, drop=True)
            assert not clean(opened, drop=False).objects
            assert kanon_sql.check(opened, spec("new")).passed
