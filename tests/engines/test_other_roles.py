"""A second role on the server: it reads nothing that is not published, and the anonymizing role runs nothing of it.

At each statement of a run, right before it is sent, the second role reads all that it may see and tries to get code of
its own run: triggers, rules, functions, operators, casts, tables that are there first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy.exc import DBAPIError

import kanon_sql
from kanon_sql.engines.backends.mysql import may_see_triggers
from kanon_sql.engines.base import Scratch
from kanon_sql.engines.clickhouse import ClickHouseEngine
from kanon_sql.engines.relational import RelationalEngine
from kanon_sql.engines.stage import Stage
from kanon_sql.errors import KanonError, SpecError, VerificationError
from kanon_sql.release import write
from kanon_sql.sql.statement import Statement
from tests.servers import subject_of

ROWS = [(f"{letter}{number % 2}", f"d{number % 3}") for letter in "ab" for number in range(6)] + [("c9", "rare")]
SHOWN = Counter({("a*", f"d{number}"): 2 for number in range(3)}) + Counter(
    {("b*", f"d{number}"): 2 for number in range(3)}
)
"""What a release may show: the one row of c is a class of one, and is suppressed."""

SPEC: dict[str, Any] = {
    "version": 1,
    "source": "secret.people",
    "release": "open.released",
    "quasi_identifiers": {"q": {"prefix": [1], "minimum_level": 1, "maximum_level": 1}},
    "sensitive": ["s"],
    "privacy": [{"k_anonymity": 3}],
    "suppression": {"max_rows": 1},
}


class Role:
    """A connection of one role, in autocommit mode."""

    def __init__(self, url: str) -> None:
        # A table that is another one under its name would not be read by a plan that was kept for it.
        options = {"prepare_threshold": None} if str(url).startswith("postgresql") else {}
        self._engine = sqlalchemy.create_engine(
            url, isolation_level="AUTOCOMMIT", poolclass=sqlalchemy.NullPool, connect_args=options
        )
        self._connection = self._engine.connect().execution_options(no_parameters=True)

    def execute(self, sql: str) -> None:
        self._connection.exec_driver_sql(sql).close()

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self._connection.exec_driver_sql(sql).fetchall()]

    def tries(self, *statements: str) -> None:
        for sql in statements:
            with suppress(DBAPIError):
                self.execute(sql)

    def close(self) -> None:
        self._connection.close()
        self._engine.dispose()


@dataclass
class Server:
    """A database with a source that the anonymizing role may read, and a schema in which both may create."""

    subject: Any
    url: str
    spy: Role
    tables: str
    """What lists the tables that the spy may see: schema and name."""
    seen: dict[tuple[str, str], Counter[tuple[Any, ...]]] = field(default_factory=dict)
    polls: int = 0
    found: int = 0

    @property
    def name(self) -> str:
        return str(self.subject.name)

    def look(self) -> None:
        """Read whatever may be read, and keep the fullest answer of each table."""
        self.polls += 1
        for schema, table in self.spy.fetch(self.tables):
            name = self.subject.dialect.relation((schema, table))
            with suppress(DBAPIError):
                rows = Counter(self.spy.fetch(f"SELECT * FROM {name}"))
                self.found += 1
                self.seen[schema, table] = self.seen.get((schema, table), Counter()) | rows

    def plant(self) -> None:
        """Try to have code run by whoever uses the tables that there are."""
        if self.name != "postgres":
            for schema, table in self.spy.fetch(self.tables):
                self.spy.tries(
                    f"CREATE TRIGGER {schema}.t_{table} BEFORE INSERT ON {schema}.{table} FOR EACH ROW "
                    "INSERT INTO open.loot SELECT s FROM secret.people"
                )
            return
        for schema, table in self.spy.fetch(self.tables):
            name = self.subject.dialect.relation((schema, table))
            self.spy.tries(
                f"CREATE TRIGGER steal BEFORE INSERT OR UPDATE OR DELETE ON {name} FOR EACH ROW EXECUTE FUNCTION "
                "open.steal()",
                f"CREATE RULE swallow AS ON INSERT TO {name} DO INSTEAD NOTHING",
                f"CREATE TABLE open.part () INHERITS ({name})",
                f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY",
                f"CREATE TABLE open.refers (run_id text REFERENCES {name})",
            )

    @property
    def stolen(self) -> list[tuple[Any, ...]]:
        return list(self.subject.fetch("SELECT * FROM open.loot"))

    def clear(self) -> None:
        """As it was before any run."""
        for kind, name in self.subject.fetch(
            "SELECT table_type, table_name FROM information_schema.tables WHERE table_schema = 'open' "
            "AND table_name <> 'loot'"
        ):
            what = "VIEW" if kind == "VIEW" else "TABLE"
            cascade = " CASCADE" if self.name == "postgres" else ""
            self.subject.execute(f"DROP {what} IF EXISTS open.{self.subject.dialect.quote(name)}{cascade}")
        self.subject.execute("DELETE FROM open.loot")
        self.seen.clear()
        self.polls = self.found = 0

    def run(self, spec: dict[str, Any] | None = None) -> kanon_sql.Result:
        with kanon_sql.connect(self.url) as engine:
            return kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(spec or SPEC))


def postgres_of(subject: Any) -> Server:
    for sql in (
        "CREATE SCHEMA secret", "CREATE SCHEMA open", "CREATE TABLE secret.people (q text, s text)",
        f"INSERT INTO secret.people VALUES {', '.join(map(str, ROWS))}",
        "CREATE TABLE open.loot (what text)", "GRANT INSERT ON open.loot TO PUBLIC",
        "CREATE ROLE anonymizer LOGIN PASSWORD 'own'", "CREATE ROLE spy LOGIN PASSWORD 'other'",
        "GRANT USAGE ON SCHEMA secret TO anonymizer", "GRANT SELECT ON secret.people TO anonymizer",
        "GRANT USAGE, CREATE ON SCHEMA open TO anonymizer, spy",
        "ALTER DEFAULT PRIVILEGES FOR ROLE anonymizer GRANT SELECT ON TABLES TO PUBLIC",
        "ALTER DEFAULT PRIVILEGES FOR ROLE anonymizer IN SCHEMA open GRANT ALL ON TABLES TO spy WITH GRANT OPTION",
    ):  # fmt: skip
        subject.execute(sql)
    url = sqlalchemy.make_url(subject.url)
    own, other = (
        url.set(username=role, password=password).render_as_string(hide_password=False)
        for role, password in (("anonymizer", "own"), ("spy", "other"))
    )
    spy = Role(other)
    spy.execute("SET lock_timeout = '20ms'")  # the run, whose thread this is, would never let go
    spy.execute(
        "CREATE FUNCTION open.steal() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "BEGIN INSERT INTO open.loot SELECT s FROM secret.people; EXCEPTION WHEN OTHERS THEN NULL; END; "
        "IF tg_op = 'DELETE' THEN RETURN old; END IF; RETURN new; END $$"
    )
    spy.execute("GRANT EXECUTE ON FUNCTION open.steal() TO PUBLIC")
    return Server(
        subject, own, spy,
        "SELECT n.nspname, c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        "WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema') "
        "AND c.relname <> 'loot'",
    )  # fmt: skip


def mariadb_of(subject: Any) -> Server:
    for sql in (
        "CREATE DATABASE secret", "CREATE DATABASE open", "CREATE TABLE secret.people (q VARCHAR(9), s VARCHAR(9))",
        f"INSERT INTO secret.people VALUES {', '.join(map(str, ROWS))}", "CREATE TABLE open.loot (what TEXT)",
        "CREATE USER anonymizer@localhost IDENTIFIED BY 'own'", "CREATE USER spy@localhost IDENTIFIED BY 'other'",
        "GRANT SELECT ON secret.people TO anonymizer@localhost", "GRANT ALL ON open.* TO anonymizer@localhost",
        "GRANT ALL ON open.* TO spy@localhost",
    ):  # fmt: skip
        subject.execute(sql)
    spy = Role(subject.server.url("spy", "other", "open"))
    spy.execute("SET lock_wait_timeout = 1")
    return Server(
        subject, subject.server.url("anonymizer", "own", "open"), spy,
        "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema IN ('open', 'secret') "
        "AND table_name <> 'loot'",
    )  # fmt: skip


MADE: dict[str, Callable[[Any], Server]] = {"postgres": postgres_of, "mariadb": mariadb_of}


@contextmanager
def server_of(name: str) -> Iterator[Server]:
    with subject_of(name) as subject:
        found = MADE[name](subject)
        try:
            yield found
        finally:
            found.spy.close()


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


def test_mariadb_refuses_a_scratch_schema_of_others() -> None:
    with (
        server_of("mariadb") as found,
        kanon_sql.connect(found.url, scratch="schema:open") as engine,
        pytest.raises(SpecError, match=r"scratch: this user cannot see who else may read `open`"),
    ):
        kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(SPEC))


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


AGES = [(number, 20 + number, "fg"[number % 2]) for number in range(12)]
"""Whose, how old, and what they have."""
CUTS: dict[str, Any] = {
    "version": 1, "source": "secret.ages", "release": "open.released", "quasi_identifiers": {"age": None},
    "recoding": {"method": "mondrian", "save_as": "learned"}, "privacy": [{"k_anonymity": 3}],
}  # fmt: skip
SEQUENCE: dict[str, Any] = {
    "version": 1, "source": "secret.ages", "release": "open.sequence", "unit": "who",
    "quasi_identifiers": {"age": {"intervals": [10]}}, "sensitive": ["s"],
    "privacy": [{"m_invariance": {"attribute": "s", "m": 2, "history": "past"}}],
}  # fmt: skip
KEPT = {"cuts": (CUTS, "learned", "values of the source"), "history": (SEQUENCE, "past", "persons and their values")}


def codes(result: kanon_sql.Result) -> list[str]:
    return [item.code for item in result.warnings]


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
                patch.setattr(Stage, "__call__", _ends)
            with kanon_sql.connect(server.url) as engine:
                if ends:
                    with pytest.raises(VerificationError, match="by the test"):
                        VERBS[verb](engine)
                    assert server.polls > 20
                    assert {table for (_, table), rows in server.seen.items() if rows} <= {"kanon_sql_scratch"}
                    return
                result = VERBS[verb](engine)
        assert result.verdict in ("pass", "untrue"), result.message
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


@pytest.mark.parametrize("what", KEPT)
@pytest.mark.xdist_group("clickhouse")
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
            assert warned.message.startswith(f"{table}: 2 other users or roles may read the schema that it stands in")


def test_what_holds_no_values_of_the_source_is_kept_without_a_warning(server: Server) -> None:
    """Levels, and the classes of a release."""
    server.clear()
    plain = {**SPEC, "recoding": {"save_as": "learned"}}
    for asked in (plain, {**SPEC, "recoding": {"method": "local", "save_as": "learned"}}):
        result = server.run(asked)
        assert result.passed
        assert "readable_by_others" not in codes(result)


OTHERS = {"others": "SELECT 2", "hidden": "SELECT count() FROM apart.nothing"}


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


COLUMNS = "release_name text NOT NULL, run_id text NOT NULL, published_at text NOT NULL, spec_hash text NOT NULL"
PLAIN = f"CREATE TABLE open.{{table}} ({COLUMNS}, manifest text NOT NULL)"
OPEN = "GRANT ALL ON open.{table} TO PUBLIC"
TRIGGER = "CREATE TRIGGER steal BEFORE INSERT ON open.{table} FOR EACH ROW EXECUTE FUNCTION open.steal()"
TO_ANONYMIZER = "ALTER TABLE open.{table} OWNER TO anonymizer"
REVOKED = "REVOKE ALL ON open.{table} FROM PUBLIC, spy"
PLANTED: dict[str, tuple[list[str], str]] = {
    "a trigger": ([PLAIN, TRIGGER, TO_ANONYMIZER], "has triggers"),
    "a rule": (
        [PLAIN, "CREATE RULE gone AS ON INSERT TO open.{table} DO INSTEAD NOTHING", TO_ANONYMIZER], "has rules"
    ),
    "a policy": ([PLAIN, "ALTER TABLE open.{table} ENABLE ROW LEVEL SECURITY", TO_ANONYMIZER], "row-level security"),
    "a view": (
        [PLAIN.replace("{table}", "{table}_below"), "CREATE VIEW open.{table} AS SELECT * FROM open.{table}_below"],
        "is no plain table",
    ),
    "a partitioned table": ([PLAIN + " PARTITION BY LIST (run_id)", TO_ANONYMIZER], "is no plain table"),
    "an heir": ([PLAIN, "CREATE TABLE open.heir () INHERITS (open.{table})", TO_ANONYMIZER], "inherited from"),
    "a default": (
        [PLAIN, "ALTER TABLE open.{table} ADD COLUMN more text DEFAULT open.said()", TO_ANONYMIZER], "defaults"
    ),
    "a check": ([PLAIN, "ALTER TABLE open.{table} ADD CHECK (open.said() = 'x')", TO_ANONYMIZER], "has check"),
    "an index": ([PLAIN, "CREATE INDEX ON open.{table} ((open.said()))", TO_ANONYMIZER], "index on an expression"),
    "a domain": (
        [PLAIN, "ALTER TABLE open.{table} ALTER COLUMN manifest TYPE open.checked", TO_ANONYMIZER], "type that is not"
    ),
    "a right to triggers": ([PLAIN, "GRANT TRIGGER ON open.{table} TO spy", TO_ANONYMIZER], "add triggers"),
    "another role's": ([PLAIN, "ALTER TABLE open.{table} OWNER TO spy", OPEN, "REVOKE TRIGGER, REFERENCES ON "
                        "open.{table} FROM PUBLIC"], 'belongs to the role "spy"'),
}  # fmt: skip


@pytest.mark.parametrize("what", PLANTED)
@pytest.mark.parametrize("table", ["kanon_sql_manifest", "kanon_sql_scratch", "book"])
@pytest.mark.xdist_group("postgres other roles")
@pytest.mark.sampled(12)
def test_a_table_that_is_found_by_its_name_is_refused(postgres: Server, what: str, table: str) -> None:
    """Made first by another role, with what would run with our rights, hide a row, or be that role's to change."""
    postgres.clear()
    postgres.subject.execute(
        "CREATE OR REPLACE FUNCTION open.noted() RETURNS text LANGUAGE plpgsql AS $$ BEGIN "
        "INSERT INTO open.loot VALUES ('called'); RETURN 'x'; END $$; "
        "CREATE OR REPLACE FUNCTION open.said() RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN "
        "RETURN open.noted(); END $$"
    )
    if not postgres.subject.fetch("SELECT 1 FROM pg_type WHERE typname = 'checked'"):
        postgres.subject.execute("CREATE DOMAIN open.checked AS text CHECK (open.said() = value OR value <> '')")
    statements, words = PLANTED[what]
    try:
        for sql in statements:
            postgres.subject.execute(sql.format(table=table))
        postgres.subject.execute("DELETE FROM open.loot")
        ledger = {"ledger": {"table": f"open.{table}"}} if table == "book" else {}
        with pytest.raises(SpecError, match=rf"{table}' has the name of a table of kanon_sql.*{words}"):
            postgres.run({**SPEC, **ledger})
        assert not postgres.stolen
        assert "released" not in [name for (name,) in postgres.subject.fetch("SELECT relname FROM pg_class")]
    finally:
        postgres.clear()


@pytest.mark.xdist_group("postgres other roles")
def test_tables_of_this_role_of_its_groups_and_of_superusers_are_used(postgres: Server) -> None:
    for owner in ("anonymizer", "team", "CURRENT_USER"):
        postgres.clear()
        with suppress(DBAPIError):
            postgres.subject.execute("CREATE ROLE team")
        postgres.subject.execute("GRANT team TO anonymizer")
        for table in ("kanon_sql_manifest",):
            postgres.subject.execute(PLAIN.format(table=table))
            postgres.subject.execute(f"ALTER TABLE open.{table} OWNER TO {owner}")
            postgres.subject.execute(f"GRANT SELECT, INSERT, DELETE ON open.{table} TO anonymizer")
        assert postgres.run().passed
        assert postgres.run().passed
    postgres.clear()


@pytest.mark.xdist_group("postgres other roles")
def test_a_temporary_schema_is_refused(postgres: Server) -> None:
    for schema in ("pg_temp", "PG_TEMP", "pg_temp_3"):
        with pytest.raises(SpecError, match="vanishes with the connection"):
            postgres.run({**SPEC, "release": f'"{schema}".released'})
    postgres.clear()
    url = sqlalchemy.make_url(postgres.url).update_query_dict({"options": "-csearch_path=pg_temp"})
    with kanon_sql.connect(url.render_as_string(hide_password=False)) as engine, pytest.raises(KanonError) as refused:
        kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict({**SPEC, "release": "released"}))
    assert "temporary table" in str(refused.value)


@pytest.mark.parametrize("name", ["sqlite", "clickhouse"])
def test_tables_with_triggers_or_views_behind_them_are_refused(name: str) -> None:
    """SQLite's triggers, and ClickHouse's views that take what is written and engines that forget it."""
    asked = {**SPEC, "source": "people", "release": "released"}
    with subject_of(name) as subject:
        subject.table("people", {"q": "text", "s": "text"}, ROWS)
        planted = {
            "sqlite": [
                ["CREATE TRIGGER gone BEFORE INSERT ON kanon_sql_manifest BEGIN SELECT RAISE(IGNORE); END"],
                ["DROP TABLE kanon_sql_manifest", "CREATE TABLE kanon_sql_manifest (release_name, run_id, "
                 "published_at, spec_hash, manifest CHECK (1) UNIQUE ON CONFLICT IGNORE)"],
            ],
            "clickhouse": [
                ["CREATE TABLE taken (run_id String) ENGINE = MergeTree ORDER BY tuple()",
                 "CREATE MATERIALIZED VIEW takes TO taken AS SELECT run_id FROM kanon_sql_manifest"],
                ["DROP TABLE takes", "DROP TABLE kanon_sql_manifest",
                 "CREATE TABLE kanon_sql_manifest (release_name String, run_id String, "
                 " published_at String, spec_hash String, manifest String) ENGINE = Null"],
            ],
        }[name]  # fmt: skip
        with subject.connect() as engine:
            assert kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(asked)).passed
        for statements in planted:
            for sql in statements:
                subject.execute(sql)
            with subject.connect() as engine, pytest.raises(SpecError, match="has the name of a table of kanon_sql"):
                kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(asked))


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
