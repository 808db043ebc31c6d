"""A role that may only read: what still works, what is refused, and that nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from servers import subject_of

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.errors import DatabaseError
from kanon_sql.pipeline.doctor import doctor
from kanon_sql.sql.statement import Statement
from kanon_sql.testing import Subject

ROWS = [("a1", "x"), ("a1", "y"), ("a2", "x"), ("a3", "x"), ("b1", "y"), ("b1", "x")]
SPEC: dict[str, Any] = {
    "version": 1,
    "source": "people",
    "release": "released",
    "quasi_identifiers": {"q": {"prefix": [1]}},
    "sensitive": ["s"],
    "privacy": [{"k_anonymity": 2}],
}


def postgres_reader(subject: Any) -> str:
    """The URL of a role with SELECT on one table and nothing else, temporary tables included."""
    import sqlalchemy

    url = sqlalchemy.make_url(subject.url)
    subject.execute("CREATE ROLE reader LOGIN PASSWORD 'hidden'")
    subject.execute(f'REVOKE TEMPORARY ON DATABASE "{url.database}" FROM PUBLIC')
    subject.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    subject.execute("GRANT SELECT ON people TO reader")
    return url.set(username="reader", password="hidden").render_as_string(hide_password=False)


def mariadb_reader(subject: Any) -> str:
    """The URL of a user with SELECT on one table and nothing else, temporary tables included."""
    subject.execute("CREATE USER reader@localhost IDENTIFIED BY 'hidden'")
    subject.execute("GRANT SELECT ON people TO reader@localhost")
    return str(subject.server.url("reader", "hidden"))


READERS: dict[str, Callable[[Any], str]] = {"postgres": postgres_reader, "mariadb": mariadb_reader}


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=pytest.mark.xdist_group(f"{name} rights")) for name in READERS]
)
def server(request: pytest.FixtureRequest) -> Iterator[tuple[Subject, str]]:
    with subject_of(request.param) as subject:
        subject.table("people", {"q": "text", "s": "text"}, ROWS)
        yield subject, READERS[request.param](subject)


@contextmanager
def reading(url: str, **options: Any) -> Iterator[Engine]:
    engine = kanon_sql.connect(url, **options)
    try:
        yield engine
    finally:
        engine.close()


def test_check_and_plan_need_select_only_and_write_nothing(server: tuple[Subject, str]) -> None:
    subject, url = server
    spec = kanon_sql.Spec.from_dict(SPEC)
    with reading(url) as engine:
        assert engine.scratch.mode == "inline"
        assert "refused" in engine.scratch.reason
        checked = kanon_sql.check(engine, spec, "people")
        assert not checked.passed
        assert checked.classes["count"] == 4
        planned = kanon_sql.plan(engine, spec)
        assert planned.passed
        assert planned.node == {"q": 1}
        assert planned.classes["smallest"] == 2
    assert subject.tables() == ["people"]


def test_anonymize_is_refused(server: tuple[Subject, str]) -> None:
    subject, url = server
    with reading(url) as engine:
        with pytest.raises(DatabaseError, match="denied") as refused:
            kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(SPEC))
        assert "hidden" not in str(refused.value)
        assert "a1" not in str(refused.value)
        assert kanon_sql.check(engine, kanon_sql.Spec.from_dict(SPEC), "people").rows["source"] == 6, "still usable"
    assert subject.tables() == ["people"]


def test_asking_for_temporary_tables_is_refused_and_says_so(server: tuple[Subject, str]) -> None:
    subject, url = server
    with reading(url, scratch="temp") as engine, pytest.raises(DatabaseError, match="denied"):
        kanon_sql.plan(engine, kanon_sql.Spec.from_dict(SPEC))
    assert subject.tables() == ["people"]


def test_the_doctor_says_what_works(server: tuple[Subject, str]) -> None:
    _, url = server
    with reading(url) as engine:
        found = doctor(engine)
    assert found.works("check")
    assert found.works("plan")
    assert not found.works("anonymize")


def test_a_read_only_connection_of_one_who_may_write(server: tuple[Any, str]) -> None:
    """Inline, it cannot even make a temporary table; the server itself refuses."""
    subject, _ = server
    with reading(subject.url, read_only=True, scratch="inline") as engine:
        assert kanon_sql.plan(engine, kanon_sql.Spec.from_dict(SPEC)).passed
        with pytest.raises(DatabaseError, match=r"(?i)read.only"):
            engine.execute(Statement("write", "CREATE TABLE written (a INTEGER)"))
    assert subject.tables() == ["people"]
