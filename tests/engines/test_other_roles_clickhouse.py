"""A second role on ClickHouse: it reads nothing that is not published."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.base import Scratch
from kanon_sql.engines.clickhouse import ClickHouseEngine
from kanon_sql.errors import SpecError, VerificationError
from kanon_sql.release import write
from tests.servers import subject_of
from tests.support.other_roles import AGES, KEPT, ROWS, SHOWN, SPEC, codes


@pytest.mark.xdist_group("clickhouse")
@pytest.mark.parametrize("release", ["released", "apart.released"])
@pytest.mark.slow
def test_a_rendered_script_for_clickhouse_shows_nothing_but_what_is_published(release: str) -> None:
    """What another user with SELECT on the databases would see before each statement; chDB has one user."""
    with subject_of("clickhouse") as subject:
        subject.table("people", {"q": "text", "s": "text"}, ROWS)
        subject.execute("CREATE DATABASE apart")
        spec = kanon_sql.Spec.from_dict({**SPEC, "source": "people", "release": release})
        seen: list[Counter[Any]] = []
        with subject.connect() as engine:
            for statement in kanon_sql.render(spec, "clickhouse", {"q": 1}).statements:
                if statement.name == "release/manifest/create":
                    assert not seen, "it is verified, and stood nowhere until now"
                engine.execute(statement)
                seen += [
                    Counter(subject.fetch(f"SELECT * FROM {database}.{name}"))
                    for database, name in subject.fetch(
                        "SELECT database, name FROM system.tables WHERE database IN ('default', 'apart') "
                        "AND name <> 'people' AND NOT startsWith(name, 'kanon_sql_') AND NOT is_temporary"
                    )
                ]
        assert seen
        assert all(rows == SHOWN for rows in seen)
        assert Counter(subject.fetch(f"SELECT q, s FROM {release}")) == SHOWN


@pytest.mark.xdist_group("clickhouse")
def test_clickhouse_refuses_a_scratch_database_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """chDB has one user, so what a server's catalog would say of others is put in."""
    with subject_of("clickhouse") as subject:
        subject.table("people", {"q": "text", "s": "text"}, ROWS)
        subject.execute("CREATE DATABASE apart")
        asked = kanon_sql.Spec.from_dict({**SPEC, "source": "people", "release": "released"})
        with subject.connect(scratch="schema:apart") as engine:
            engine._has_users = True  # type: ignore[attr-defined]
            for says, words in (
                ("SELECT 2", "2 other users or roles may read"),
                ("SELECT count() FROM apart.nothing", "this user cannot see who else may read"),
            ):
                monkeypatch.setattr(type(engine.dialect), "readers", lambda *_, says=says: says)
                with pytest.raises(SpecError, match=rf"scratch: {words} .*apart.*GRANT SHOW ACCESS"):
                    kanon_sql.anonymize(engine, asked)
                assert not subject.fetch("SELECT name FROM system.tables WHERE database = 'apart'")
            monkeypatch.setattr(type(engine.dialect), "readers", lambda *_: "SELECT 0")
            assert kanon_sql.anonymize(engine, asked).passed


@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", KEPT)
@pytest.mark.xdist_group("clickhouse")
@pytest.mark.slow
def test_clickhouse_says_that_others_may_read_what_is_kept(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """chDB has one user, so what a server's catalog would say of others is put in."""
    asked, table, _ = KEPT[what]
    with subject_of("clickhouse") as subject:
        subject.table("ages", {"who": "integer", "age": "integer", "s": "text"}, AGES)
        spec = kanon_sql.Spec.from_dict({**asked, "source": "ages", "release": "released"})
        with subject.connect() as engine:
            assert codes(kanon_sql.anonymize(engine, spec)) == [], "there are no users"
            engine._has_users = True  # type: ignore[attr-defined]
            monkeypatch.setattr(type(engine.dialect), "readers", lambda *_: "SELECT 2")
            (warned,) = kanon_sql.anonymize(engine, spec).warnings
            assert warned.code == "readable_by_others"
            assert warned.message.startswith(f"{table}: 2 other users or roles may read the schema of this table")


OTHERS = {"others": "SELECT 2", "hidden": "SELECT count() FROM apart.nothing"}


@pytest.mark.sampled(2)
@pytest.mark.xdist_group("clickhouse")
@pytest.mark.parametrize(("release", "says"), [("released", "hidden"), ("apart.released", "others")])
def test_clickhouse_shows_no_table_of_a_release_before_it_is_verified(
    monkeypatch: pytest.MonkeyPatch, release: str, says: str
) -> None:
    """What another user with SELECT on the databases would see before each statement; chDB has one user."""
    with subject_of("clickhouse") as subject:
        subject.table("people", {"q": "text", "s": "text"}, ROWS)
        subject.execute("CREATE DATABASE apart")
        (sent, fetched), seen = (ClickHouseEngine._run, ClickHouseEngine._rows), dict[str, Counter[Any]]()
        fails, statements = False, 0

        def look() -> None:
            nonlocal statements
            statements += 1
            for database, name in subject.fetch(
                "SELECT database, name FROM system.tables WHERE database IN ('default', 'apart') AND name <> 'people' "
                "AND NOT startsWith(name, 'kanon_sql_') AND NOT is_temporary"
            ):
                seen[name] = seen.get(name, Counter()) | Counter(subject.fetch(f"SELECT * FROM {database}.{name}"))

        def run(self: Any, sql: str) -> None:
            look()
            sent(self, sql)

        def rows(self: Any, sql: str, limit: int) -> Any:
            look()
            return fetched(self, sql, limit)

        verify = write._verify

        def verified(*given: Any, **named: Any) -> Any:
            assert not any(ours(name) for name in seen), "nothing was there until now"
            if fails:
                raise VerificationError("verification: this one fails")
            return verify(*given, **named)

        def ours(name: str) -> bool:
            return name.endswith("_release")

        asked = kanon_sql.Spec.from_dict({**SPEC, "source": "people", "release": release})
        with subject.connect() as engine:
            engine._has_users = True  # type: ignore[attr-defined]
            monkeypatch.setattr(type(engine.dialect), "readers", lambda *_: OTHERS[says])
            monkeypatch.setattr(ClickHouseEngine, "_run", run)
            monkeypatch.setattr(ClickHouseEngine, "_rows", rows)
            monkeypatch.setattr(write, "_verify", verified)
            for fails in (True, False, False):
                seen.clear()
                statements = 0
                if fails:
                    with pytest.raises(VerificationError, match="this one fails"):
                        kanon_sql.anonymize(engine, asked)
                    assert not any(ours(name) for name in seen)
                else:
                    assert kanon_sql.anonymize(engine, asked).passed
                    assert Counter(subject.fetch(f"SELECT q, s FROM {release}")) == SHOWN
                assert statements > 20
                assert all(found <= SHOWN for found in seen.values())
                left = subject.fetch("SELECT name FROM system.tables WHERE name LIKE 'kanon\\_%\\_release'")
                assert left == [] == list(subject.fetch("SELECT * FROM kanon_sql_scratch" if release == "released" else
                                                        "SELECT * FROM apart.kanon_sql_scratch"))  # fmt: skip


@pytest.mark.slow
@pytest.mark.xdist_group("clickhouse")
def test_clickhouse_without_a_session_refuses_a_database_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client of a user's that has no session keeps no temporary table."""
    with subject_of("clickhouse") as subject:
        subject.table("people", {"q": "text", "s": "text"}, ROWS)
        asked = kanon_sql.Spec.from_dict({**SPEC, "source": "people", "release": "released"})
        with subject.connect() as engine:
            engine._has_users = True  # type: ignore[attr-defined]
            monkeypatch.setattr(type(engine.dialect), "readers", lambda *_: "SELECT 1")
            monkeypatch.setattr(type(engine), "_find_scratch", lambda _: Scratch("inline", (), "no session"))
            with pytest.raises(SpecError, match=r"release: 1 other users or roles may read .default.*session_id"):
                kanon_sql.anonymize(engine, asked)
            made = subject.fetch("SELECT name FROM system.tables WHERE database = 'default' ORDER BY name")
            assert made == [("kanon_sql_scratch",), ("people",)]
            monkeypatch.setattr(type(engine.dialect), "readers", lambda *_: "SELECT 0")
            assert kanon_sql.anonymize(engine, asked).passed
