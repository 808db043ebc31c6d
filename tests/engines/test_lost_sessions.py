"""A session that the server ended: whatever is asked next, it is an error of ours that says so."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from kanon_sql.engines import Deadline
from kanon_sql.errors import DatabaseError
from tests.servers import subject_of

ENDING = {"postgres": "SELECT pg_terminate_backend({})", "mariadb": "KILL CONNECTION {}"}
OWN = {"postgres": "SELECT pg_backend_pid()", "mariadb": "SELECT CONNECTION_ID()"}
TABLE = ("people",)
SILENT = {"postgres": {"conceal"}, "mariadb": {"conceal", "default_rights", "rights", "run"}}
"""What may ask the server nothing, or take it for one that does not say who else may read."""


def run(engine: Any) -> None:
    with engine.run(Deadline(None)):
        pass


ASKED: dict[str, Callable[[Any], Any]] = {
    "exists": lambda engine: engine.exists(TABLE),
    "full_name": lambda engine: engine.full_name(TABLE),
    "shared": lambda engine: engine.shared(TABLE),
    "mark": lambda engine: engine.mark(TABLE),
    "view_mark": lambda engine: engine.view_mark(TABLE),
    "conceal": lambda engine: engine.conceal(TABLE),
    "default_rights": lambda engine: engine.default_rights(TABLE),
    "rights": lambda engine: engine.rights(TABLE),
    "run": run,
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in ENDING])
def test_what_is_asked_of_a_session_that_is_gone_is_an_error_of_ours(name: str, is_known: bool) -> None:
    """Also where a statement before it found out, after which the connection is refused by SQLAlchemy."""
    with subject_of(name) as subject:
        subject.table("people", {"q": "text"}, [("a",)])
        said: dict[str, str] = {}
        for asked, ask in ASKED.items():
            engine = subject.connect()
            ((session,),) = engine.scalars(OWN[name])  # type: ignore[attr-defined]
            subject.execute(ENDING[name].format(session))
            if is_known:
                with pytest.raises(DatabaseError):
                    engine.scalars("SELECT 1")  # type: ignore[attr-defined]
            try:
                ask(engine)
            except DatabaseError as error:
                said[asked] = str(error)
            engine.close()
        assert said
        assert all("was lost" in text for text in said.values())
        assert set(ASKED) - set(said) <= SILENT[name]


@pytest.mark.xdist_group("postgres")
def test_an_error_whose_session_ends_meanwhile_is_said_without_a_cause() -> None:
    """A missing table (42P01) makes us ask for the session's number, which then fails as well."""
    with subject_of("postgres") as subject:
        engine: Any = subject.connect()
        ((session,),) = engine.scalars(OWN["postgres"])
        subject.execute(ENDING["postgres"].format(session))
        assert engine.backend.grant(engine, SimpleNamespace(sqlstate="42P01"), "", "") == ""
        engine.close()
