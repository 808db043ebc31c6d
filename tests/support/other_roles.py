"""A second role on a server, and what it may see of a release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy
from sqlalchemy.exc import DBAPIError

import kanon_sql
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
    readable: str = ""
    """What lists those that it has read, all in one statement, where the server can."""
    planted: str = ""
    """What tries to have code run by whoever uses the tables that there are, in one statement too."""
    seen: dict[tuple[str, str], Counter[tuple[Any, ...]]] = field(default_factory=dict)
    polls: int = 0
    found: int = 0

    @property
    def name(self) -> str:
        return str(self.subject.name)

    def look(self) -> None:
        """Read whatever may be read, and keep the fullest answer of each table."""
        self.polls += 1
        for schema, table in self.spy.fetch(self.readable or self.tables):
            name = self.subject.dialect.relation((schema, table))
            with suppress(DBAPIError):
                rows = Counter(self.spy.fetch(f"SELECT * FROM {name}"))
                self.found += 1
                self.seen[schema, table] = self.seen.get((schema, table), Counter()) | rows

    def plant(self) -> None:
        """Try to have code run by whoever uses the tables that there are."""
        if self.planted:
            self.spy.execute(self.planted)
            return
        for schema, table in self.spy.fetch(self.tables):
            self.spy.tries(
                f"CREATE TRIGGER {schema}.t_{table} BEFORE INSERT ON {schema}.{table} FOR EACH ROW "
                "INSERT INTO open.loot SELECT s FROM secret.people"
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

    def run(self, spec: dict[str, Any] | None = None) -> kanon_sql.results.Release:
        with kanon_sql.connect(self.url) as engine:
            return kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(spec or SPEC))


TABLES = (
    "SELECT n.nspname, c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
    "WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema') "
    "AND c.relname <> 'loot'"
)


READABLE = f"""
CREATE OR REPLACE FUNCTION pg_temp.readable() RETURNS TABLE (place name, called name) LANGUAGE plpgsql AS $$
BEGIN
    FOR place, called IN {TABLES} LOOP
        BEGIN
            EXECUTE format('SELECT * FROM %I.%I', place, called);
            RETURN NEXT;
        EXCEPTION WHEN OTHERS THEN NULL;
        END;
    END LOOP;
END $$"""
"""Most reads are refused, and a statement for each would take most of the time of a test."""


PLANTED = f"""
DO $$
DECLARE
    place name;
    called name;
    tried text;
BEGIN
    FOR place, called IN {TABLES} LOOP
        FOREACH tried IN ARRAY ARRAY[
            'CREATE TRIGGER steal BEFORE INSERT OR UPDATE OR DELETE ON %I.%I FOR EACH ROW EXECUTE FUNCTION '
                'open.steal()',
            'CREATE RULE swallow AS ON INSERT TO %I.%I DO INSTEAD NOTHING',
            'CREATE TABLE open.part () INHERITS (%I.%I)',
            'ALTER TABLE %I.%I ENABLE ROW LEVEL SECURITY',
            'CREATE TABLE open.refers (run_id text REFERENCES %I.%I)'
        ] LOOP
            BEGIN
                EXECUTE format(tried, place, called);
            EXCEPTION WHEN OTHERS THEN NULL;
            END;
        END LOOP;
    END LOOP;
END $$"""


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
    spy.execute(READABLE)
    return Server(subject, own, spy, TABLES, "SELECT place, called FROM pg_temp.readable()", PLANTED)


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
    spy.execute("SET lock_wait_timeout = 0")
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


def codes(result: kanon_sql.results.Result) -> list[str]:
    return [item.code for item in result.warnings]
