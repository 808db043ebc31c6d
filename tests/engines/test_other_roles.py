"""A second role on the server: it reads nothing that is not published, and the anonymizing role runs nothing of it.

At each statement of a run, right before it is sent, the second role reads all that it may see and tries to get code of
its own run: triggers, rules, functions, operators, casts, tables that are there first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy.exc import DBAPIError

import kanon_sql
from kanon_sql.engines import StageReporter
from kanon_sql.engines.backends.mysql import may_see_triggers
from kanon_sql.engines.relational import RelationalEngine
from kanon_sql.errors import SpecError, VerificationError
from kanon_sql.release import write
from kanon_sql.sql.statement import Statement
from tests.support.other_roles import AGES, KEPT, MADE, SEQUENCE, SHOWN, SPEC, Role, Server, codes, server_of


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.xdist_group(f"{name} other roles")) for name in MADE],
)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with server_of(request.param) as found:
        yield found
        found.clear()


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    with server_of("postgres") as found:
        yield found


def before_each_statement(monkeypatch: pytest.MonkeyPatch, *acts: Callable[[], None]) -> None:
    """Let the second role act right before each text is sent."""
    sent = RelationalEngine._sent

    def watched(self: RelationalEngine, sql: str) -> Any:
        for act in acts:
            act()
        return sent(self, sql)

    monkeypatch.setattr(RelationalEngine, "_sent", watched)


def only_published(server: Server, *, passed: bool) -> None:
    """Nothing of a scratch table was read, and of the release only what it may show."""
    assert server.polls > 20
    assert server.found > 0
    assert not server.stolen
    of_ours = {"kanon_sql_manifest", "kanon_sql_scratch"}
    read = {table: rows for (_, table), rows in server.seen.items() if table not in of_ours and rows}
    assert set(read) <= ({"released"} | ({table for table in read if read[table] <= SHOWN} if passed else set()))
    for rows in read.values():
        assert passed
        assert rows <= SHOWN


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.sampled(2)
def test_a_second_role_reads_nothing_but_what_is_published(
    server: Server, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    server.clear()
    if again:
        assert server.run().passed
    before_each_statement(monkeypatch, server.look, *([server.plant] if server.name == "postgres" else []))
    assert server.run().passed
    only_published(server, passed=True)
    assert Counter(server.spy.fetch("SELECT * FROM open.released")) == SHOWN, "default privileges hold once it is out"


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.slow
def test_a_rendered_script_shows_a_second_role_nothing_but_what_is_published(server: Server, again: bool) -> None:
    server.clear()
    if again and server.name == "postgres":  # a script of MariaDB's does not know what stands under the name
        assert server.run().passed
    own = Role(server.url)
    try:
        for statement in kanon_sql.render(kanon_sql.Spec.from_dict(SPEC), server.name, {"q": 1}).statements:
            server.look()
            if statement.name == "release/manifest/create":  # it is verified
                shows = {table for _, table in server.seen} - {"kanon_sql_manifest", "kanon_sql_scratch"}
                assert shows == ({"released"} if again and server.name == "postgres" else set())
            own.execute(statement.sql)
    finally:
        own.close()
    only_published(server, passed=True)
    assert Counter(server.spy.fetch("SELECT * FROM open.released")) == SHOWN


def test_a_second_role_in_mariadb_may_add_triggers_and_stops_the_run(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trigger runs with its maker's rights there; but it could change what is recorded, or read it."""
    if server.name == "postgres":
        pytest.skip("a second role has no right to triggers there")
    server.clear()
    before_each_statement(monkeypatch, server.look, server.plant)
    with pytest.raises(SpecError, match="has triggers"):
        server.run()
    assert not server.stolen
    assert "released" not in {table for _, table in server.seen}


@pytest.mark.slow
@pytest.mark.xdist_group("mariadb other roles")
def test_mariadb_needs_the_right_to_see_triggers_on_tables_of_ours() -> None:
    """Its catalog may show none to an account that may make none, as the manual says, and another one may make some."""
    rights = "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, CREATE TEMPORARY TABLES"
    with server_of("mariadb") as found:
        execute = found.subject.execute
        execute("REVOKE ALL ON open.* FROM anonymizer@localhost")
        execute(f"GRANT {rights} ON open.* TO anonymizer@localhost")
        refused = r"may have triggers that the server does not show.*GRANT TRIGGER ON `open`\.\* TO this user"
        with pytest.raises(SpecError, match=refused):
            found.run()
        assert not found.subject.fetch("SELECT 1 FROM information_schema.tables WHERE table_name = 'released'")
        execute("CREATE ROLE seeing")
        execute("GRANT TRIGGER ON open.* TO seeing")
        execute("GRANT seeing TO anonymizer@localhost")
        with pytest.raises(SpecError, match=refused):
            found.run()
        execute("SET DEFAULT ROLE seeing FOR anonymizer@localhost")
        assert found.run().passed
        execute("SET DEFAULT ROLE NONE FOR anonymizer@localhost")
        execute("GRANT TRIGGER ON open.kanon_sql_manifest TO anonymizer@localhost")
        with pytest.raises(SpecError, match=r"kanon_sql_scratch.*may have triggers"):
            found.run()
        execute("GRANT TRIGGER ON open.kanon_sql_scratch TO anonymizer@localhost")
        assert found.run().passed


GRANTED: dict[str, tuple[list[str], bool]] = {
    "everything": (["GRANT ALL PRIVILEGES ON *.* TO `a`@`%` WITH GRANT OPTION"], True),
    "a listed right": (["GRANT SELECT, TRIGGER, DROP ON *.* TO `a`@`%`"], True),
    "a database": (["GRANT ALL PRIVILEGES ON `open`.* TO `a`@`%`"], True),
    "another database": (["GRANT ALL PRIVILEGES ON `opens`.* TO `a`@`%`"], False),
    "a pattern": (["GRANT TRIGGER ON `o_e%`.* TO `a`@`%`"], True),
    "no pattern": (["GRANT TRIGGER ON `o\\_en`.* TO `a`@`%`"], False),
    "the closer of two": (["GRANT SELECT ON `open`.* TO `a`@`%`", "GRANT ALL PRIVILEGES ON `o%`.* TO `a`@`%`"], False),
    "a role's": (["GRANT SELECT ON `open`.* TO `a`@`%`", "GRANT ALL PRIVILEGES ON `open`.* TO `r`"], True),
    "the table": (["GRANT SELECT, TRIGGER ON `open`.`ours` TO `a`@`%`"], True),
    "another table": (["GRANT SELECT, TRIGGER ON `open`.`other` TO `a`@`%`"], False),
    "a table of a pattern": (["GRANT TRIGGER ON `o_en`.`ours` TO `a`@`%`"], False),
    "taken back": (["GRANT TRIGGER ON *.* TO `a`@`%`", "REVOKE TRIGGER ON `open`.* FROM `a`@`%`"], False),
    "a column": (["GRANT SELECT (`TRIGGER`) ON `open`.`ours` TO `a`@`%`"], False),
    "a role alone": (["GRANT `trigger` TO `a`@`%`"], False),
    "nothing": (["GRANT USAGE ON *.* TO `a`@`%` IDENTIFIED BY PASSWORD '*55'"], False),
}


@pytest.mark.parametrize("what", GRANTED)
def test_who_sees_the_triggers_of_a_table_in_mariadb(what: str) -> None:
    lines, sees = GRANTED[what]
    assert may_see_triggers(lines, "open", "ours") == sees


def test_a_second_role_never_reads_a_release_that_failed(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.clear()

    def fails(*_: Any, **__: Any) -> Any:
        raise VerificationError("verification: this one fails")

    monkeypatch.setattr(write, "_verify", fails)
    before_each_statement(monkeypatch, server.look)
    with pytest.raises(VerificationError):
        server.run()
    only_published(server, passed=False)


@pytest.mark.xdist_group("postgres other roles")
@pytest.mark.slow
def test_scratch_tables_in_a_schema_are_their_owners_alone(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    postgres.clear()
    before_each_statement(monkeypatch, postgres.look, postgres.plant)
    with kanon_sql.connect(postgres.url, scratch="schema:open") as engine:
        assert kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(SPEC)).passed
    only_published(postgres, passed=True)
    assert not [table for _, table in postgres.seen if table.startswith("kanon_") and "_sql_" not in table]


@pytest.mark.slow
def test_mariadb_refuses_a_scratch_schema_of_others() -> None:
    with (
        server_of("mariadb") as found,
        kanon_sql.connect(found.url, scratch="schema:open") as engine,
        pytest.raises(SpecError, match=r"scratch: this user cannot see who else may read `open`"),
    ):
        kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(SPEC))


PEOPLE = [(i, "ab"[i % 2] + str(i % 3), f"d{i % 3}", 20 + i % 7, i % 4 + 0.5, i % 3 + 0.5) for i in range(48)]
PEOPLE += [(48, "c9", "rare", 99, 7.5, 7.5)]


MORE = {"version": 1, "source": "secret.more"}


LOCAL = {
    **MORE, "release": "open.released", "quasi_identifiers": {"q": {"prefix": [1]}, "n": {"intervals": [5, 10]}},
    "sensitive": ["s"], "privacy": [{"k_anonymity": 4}], "suppression": {"max_share": 0.2},
    "warnings": {"kept_reveals_quasi_identifier": "allow"},
}  # fmt: skip


GROWING = {**LOCAL, "state": "kanon_state", "recoding": "full_domain"}


def _grown(engine: Any) -> Any:
    assert kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(GROWING)).passed
    if engine.dialect.name == "postgres":  # else it is refused: the second role could plant triggers on the release
        engine.execute(Statement("test", "REVOKE TRIGGER, REFERENCES ON open.released FROM spy"))
    later = "SELECT who + 100 AS who, q, s, n, x, y FROM secret.more WHERE who < 24"
    return kanon_sql.refresh(engine, kanon_sql.Spec.from_dict(GROWING), inserted=later, batch="b")


def _of_parties(engine: Any) -> Any:
    """The other party is a database in memory, with the same rows."""
    asked = kanon_sql.Spec.from_dict(
        {**{key: item for key, item in LOCAL.items() if key != "warnings"}, "search": {"metric": "precision"}}
    )
    with kanon_sql.connect() as other:
        for sql in (
            "CREATE SCHEMA secret", "CREATE SCHEMA open",
            "CREATE TABLE secret.more (who INTEGER, q VARCHAR, s VARCHAR, n INTEGER, x DOUBLE, y DOUBLE)",
            f"INSERT INTO secret.more VALUES {', '.join(map(str, PEOPLE))}",
        ):  # fmt: skip
            other.execute(Statement("test", sql))
        return kanon_sql.anonymize_parties([engine, other], asked)


def _ends(stage: Any, told: str, *_: Any) -> None:
    """A run says that it publishes before it does anything for that."""
    if told == "publishing":
        raise VerificationError("ended by the test")


VERBS: dict[str, Callable[[Any], Any]] = {
    "parties": _of_parties,
    "local": lambda engine: kanon_sql.anonymize(
        engine, kanon_sql.Spec.from_dict({**LOCAL, "recoding": {"method": "local", "save_as": "learned"}})
    ),
    "mondrian": lambda engine: kanon_sql.anonymize(
        engine, kanon_sql.Spec.from_dict({**LOCAL, "recoding": "mondrian"})
    ),
    "persons": lambda engine: kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict({**LOCAL, "unit": "who"})),
    "sequence": lambda engine: kanon_sql.anonymize(
        engine, kanon_sql.Spec.from_dict({**SEQUENCE, "release": "open.released"})
    ),
    "refresh": _grown,
    "tabulate": lambda engine: kanon_sql.tabulate(
        engine,
        kanon_sql.TableSpec.from_dict(
            {
                **MORE,
                "kind": "table",
                "release": "open.released",
                "dimensions": {"q": None, "s": None},
                "rules": {"threshold": 5},
            }
        ),
    ),
    "perturb": lambda engine: kanon_sql.perturb(
        engine,
        kanon_sql.PerturbSpec.from_dict(
            {
                **MORE,
                "kind": "perturbed",
                "release": "open.released",
                "key": "who",
                "perturb": {"n": {"noise": 0.5}},
                "keep": ["s"],
            }
        ),
    ),
    "cloak": lambda engine: kanon_sql.cloak(
        engine,
        kanon_sql.CloakSpec.from_dict(
            {
                **MORE, "kind": "positions",
                "release": "open.released", "unit": "who", "k": 3, "suppression": {"max_share": 0.2},
                "position": {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 3},
            }
        ),
    ),
}  # fmt: skip


ENDED = ("local", "sequence", "tabulate", "perturb", "cloak")


@pytest.mark.slow
@pytest.mark.parametrize("verb", [*VERBS, *(f"{verb}, not published" for verb in ENDED)])
def test_a_second_role_reads_nothing_that_a_verb_does_not_publish(
    server: Server, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """Right before each statement, and afterwards: rows of the release as it is published, of no other table.

    Where a run ends right before it publishes, nothing at all: all of it was written by then.
    """
    server.clear()
    verb, _, ends = verb.partition(", ")
    words, number = ("text", "double precision") if server.name == "postgres" else ("VARCHAR(9)", "DOUBLE")
    grantee = "anonymizer" if server.name == "postgres" else "anonymizer@localhost"
    for table, columns, rows in (
        ("more", f"who INTEGER, q {words}, s {words}, n INTEGER, x {number}, y {number}", PEOPLE),
        ("ages", f"who INTEGER, age INTEGER, s {words}", AGES),
    ):
        server.subject.execute(f"DROP TABLE IF EXISTS secret.{table}")
        server.subject.execute(f"CREATE TABLE secret.{table} ({columns})")
        server.subject.execute(f"INSERT INTO secret.{table} VALUES {', '.join(map(str, rows))}")
        server.subject.execute(f"GRANT SELECT ON secret.{table} TO {grantee}")
    if verb == "refresh":
        place = "SCHEMA kanon_state AUTHORIZATION anonymizer" if server.name == "postgres" else "DATABASE kanon_state"
        server.subject.execute(f"CREATE {place}")
        if server.name == "mariadb":
            server.subject.execute(f"GRANT ALL ON kanon_state.* TO {grantee}")
            for name in ("db", "tables_priv", "columns_priv"):
                server.subject.execute(f"GRANT SELECT ON mysql.{name} TO {grantee}")
    try:
        with monkeypatch.context() as patch:
            before_each_statement(patch, server.look)
            if ends:
                patch.setattr(StageReporter, "__call__", _ends)
            with kanon_sql.connect(server.url) as engine:
                if ends:
                    with pytest.raises(VerificationError, match="by the test"):
                        VERBS[verb](engine)
                    assert server.polls > 20
                    assert {table for (_, table), rows in server.seen.items() if rows} <= {"kanon_sql_scratch"}
                    return
                result = VERBS[verb](engine)
        assert result.verdict in ("pass", "perturbed"), result.message
        server.look()
        assert server.polls > 20
        published = Counter(server.spy.fetch("SELECT * FROM open.released"))
        assert published
        ours = {"kanon_sql_manifest", "kanon_sql_scratch", "kanon_sql_ledger"}
        # What is kept is readable in MariaDB: labels alone, or else a warning says so.
        kept = r"learned|past|kanon_[0-9a-f]{8}0[12]_release" if server.name == "mariadb" else "no table"
        for (schema, table), rows in server.seen.items():
            if table in ours or re.fullmatch(kept, table) or not rows:
                continue
            assert schema == "open"
            assert not any(99 in row for row in rows if verb != "perturb"), table
            if verb != "refresh":  # of which the first release is seen as well
                assert rows <= published, (table, rows - published)
    finally:
        if verb == "refresh":
            server.subject.execute(
                "DROP SCHEMA kanon_state CASCADE" if server.name == "postgres" else "DROP DATABASE kanon_state"
            )
            if server.name == "mariadb":
                for name in ("db", "tables_priv", "columns_priv"):
                    server.subject.execute(f"REVOKE SELECT ON mysql.{name} FROM {grantee}")


@pytest.mark.slow
@pytest.mark.parametrize("what", KEPT)
def test_mariadb_says_that_others_may_read_what_is_kept(server: Server, what: str) -> None:
    """In PostgreSQL they may not; there the second role tries in vain, and nothing is said."""
    asked, table, holds = KEPT[what]
    server.clear()
    words = "text" if server.name == "postgres" else "VARCHAR(9)"
    server.subject.execute("DROP TABLE IF EXISTS secret.ages")
    server.subject.execute(f"CREATE TABLE secret.ages (who INTEGER, age INTEGER, s {words})")
    server.subject.execute(f"INSERT INTO secret.ages VALUES {', '.join(map(str, AGES))}")
    grantee = "anonymizer" if server.name == "postgres" else "anonymizer@localhost"
    server.subject.execute(f"GRANT SELECT ON secret.ages TO {grantee}")
    result = server.run(asked)
    assert result.passed
    if server.name == "postgres":
        assert codes(result) == []
        with pytest.raises(DBAPIError, match="permission denied"):
            server.spy.fetch(f"SELECT * FROM open.{table}")
        return
    (warned,) = result.warnings
    assert (warned.code, warned.columns) == ("readable_by_others", [])
    assert f"{table}: this user cannot see who else may read the schema 'open'" in warned.message
    assert holds in warned.message
    assert server.spy.fetch(f"SELECT * FROM open.{table}"), "it is so"
    assert result.manifest is not None
    assert [item["code"] for item in result.manifest["warnings"]] == ["readable_by_others"]
    seen = [f"GRANT SELECT ON mysql.{name} TO {grantee}" for name in ("db", "tables_priv", "columns_priv")]
    try:
        for sql in seen:
            server.subject.execute(sql)
        server.clear()
        fatal = server.run({**asked, "warnings": {"readable_by_others": "error"}})
        assert (fatal.verdict, codes(fatal)) == ("fail", ["readable_by_others"])
        assert "1 other accounts have rights in the schema 'open'" in fatal.warnings[0].message
        made = {name for _, name in server.spy.fetch(server.tables)}
        assert made <= {"kanon_sql_scratch", "kanon_sql_manifest"}, "nothing was published or kept"
        with kanon_sql.connect(server.url) as engine:
            strict = kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(asked), fail_on_warning=True)
        assert "readable_by_others is an error with --fail-on-warning" in strict.message
        assert codes(server.run({**asked, "warnings": {"readable_by_others": "allow"}})) == []
        server.subject.execute("REVOKE ALL ON open.* FROM spy@localhost")
        assert codes(server.run(asked)) == []
    finally:
        for sql in seen:
            server.subject.execute(sql.replace("GRANT", "REVOKE").replace(" TO ", " FROM "))
        server.subject.execute("GRANT ALL ON open.* TO spy@localhost")


def test_what_holds_no_values_of_the_source_is_kept_without_a_warning(server: Server) -> None:
    """Levels, and the classes of a release."""
    server.clear()
    plain = {**SPEC, "recoding": {"save_as": "learned"}}
    for asked in (plain, {**SPEC, "recoding": {"method": "local", "save_as": "learned"}}):
        result = server.run(asked)
        assert result.passed
        assert "readable_by_others" not in codes(result)


@pytest.mark.parametrize("name", list(MADE))
def test_a_guarded_view_keeps_its_rights(name: str) -> None:
    """Those that were given for it and its columns, with and without the right to pass them on; and no more."""
    asked = {**SPEC, "source": "secret.people", "release": {"view": "open.shown", "accept_sequence_risk": True}}
    with server_of(name) as found:
        assert found.run(asked).passed
        shown = Counter(found.subject.fetch("SELECT * FROM open.shown"))
        if name == "postgres":
            kept = (
                "SELECT relacl::text, (SELECT attacl::text FROM pg_attribute WHERE attrelid = c.oid AND attname = 's') "
                "FROM pg_class AS c WHERE relname = 'shown'"
            )
            for sql in (
                'CREATE ROLE "Odd ""role"""', "REVOKE ALL ON open.shown FROM PUBLIC, spy",
                'GRANT SELECT ON open.shown TO "Odd ""role""" WITH GRANT OPTION',
                "GRANT SELECT (s) ON open.shown TO spy",
            ):  # fmt: skip
                found.subject.execute(sql)
        else:
            kept = "SELECT Db, Table_name, User, Table_priv FROM mysql.tables_priv WHERE Table_name = 'shown'"
            found.subject.execute("CREATE USER reader@localhost")
            found.subject.execute("GRANT SELECT ON open.shown TO reader@localhost")
        before = found.subject.fetch(kept)
        assert "reader" in str(before) or ("Odd" in str(before) and "spy=r/" in str(before))
        assert found.run(asked).passed
        assert found.subject.fetch(kept) == before
        assert Counter(found.subject.fetch("SELECT * FROM open.shown")) == shown
