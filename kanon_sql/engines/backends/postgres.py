"""PostgreSQL, by psycopg 3."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from kanon_sql.engines.backends import postgres_catalog as catalog
from kanon_sql.engines.backends import postgres_rights
from kanon_sql.engines.backends.base import Backend, Found, backend
from kanon_sql.engines.base import (
    NO_MEMORY,
    NO_SPACE,
    Capabilities,
    Column,
    Estimate,
    Kind,
    Row,
    Running,
    Spelled,
    Texts,
)
from kanon_sql.engines.error_redaction import without_values
from kanon_sql.engines.reads import Stored
from kanon_sql.errors import DatabaseError, SpecError
from kanon_sql.sql import Postgres, Statement, called_names, dialect_named, named_tables

if TYPE_CHECKING:
    from sqlalchemy.engine import URL, Connection

    from kanon_sql.engines.relational import RelationalEngine

__all__ = ["PLANS", "SETTINGS", "PostgresBackend"]

_KINDS: dict[int, Kind] = {
    **dict.fromkeys((20, 21, 23), "integer"),
    1700: "decimal",
    **dict.fromkeys((700, 701), "float"),
    **dict.fromkeys((18, 19, 25, 1042, 1043), "text"),
    1082: "date",
    1114: "timestamp",
    1184: "moment",
    16: "boolean",
    **dict.fromkeys((17, 26, 27, 28, 29, 5069, 3220, 829, 774, 869, 650, 790, 2950), "other"),
    **dict.fromkeys((1083, 1266, 1560, 1562), "other"),
    **dict.fromkeys((3904, 3926, 3912, 3908, 3910), "other"),
}
"""Types of which equal values have one text. Of no kind of their own: bytes, numbers of rows and transactions,
addresses, money, uuid; times and bits; ranges of integers, dates and timestamps."""

_ITEMS = frozenset("Acm")
"""Arrays, rows and multiranges."""

_LISTS = (114, 3802, 142, 3614, 22, 30)
"""json, jsonb, xml, tsvector and vectors of numbers: they hold several values."""

_PADDED = "BPCHAR"
"""Of no length: its values may end with blanks, which its own comparison and its casts do not see."""


SETTINGS = {
    "standard_conforming_strings": Postgres.settings["standard_conforming_strings"],  # the order that certificates have
    "client_encoding": "UTF8",
    **Postgres.settings,
    "client_min_messages": "warning",
    "jit": "off",  # compiling takes longer than most of these queries
}


PLANS = dict(Postgres.plans)
"""Joins by hash, in the order in which they are written.

PostgreSQL expects 200 groups of a GROUP BY of expressions, and guesses what a temporary table holds. Of a few rows that
it expects it looks at each beside each, and of three tables it multiplies the small ones first; of many rows it sorts
both sides, which takes a third longer for keys of several columns or that may be NULL. Templates write joins in the
order that servers shall follow. ANALYZE of each scratch table took a tenth of a run, and left such plans.
"""


ROOM = 128 * 1024
"""What a statement's groups may take before they are written to disk, in kB as PostgreSQL counts it (``work_mem``).

With the server's 4 MB, nine texts of a million rows were grouped by sorting them on disk, in seven times the work.
"""

_ROW = 40
"""Bytes of a row in a table beside its cells: header (23), pointer (4), and what aligns it and them."""

_OWN_ROOM = (
    "SELECT setting, pg_catalog.current_setting('enable_sort') FROM pg_catalog.pg_settings "
    "WHERE name = 'work_mem' AND source IN ('default', 'configuration file')"
)


_NOTICES_LOST_CLIENTS = (
    "SELECT pg_catalog.set_config(name, '10s', false) FROM pg_catalog.pg_settings "
    "WHERE name = 'client_connection_check_interval' AND setting = '0'"
)
"""Every ten seconds the server looks whether the client is still there, and ends its statement if not.

By default (and before version 14) it finds out when it sends the answer, which may be hours after the client died.
"""

_GRANTS = (
    (r"denied for schema (.+)", "run GRANT {on_schema} ON SCHEMA {name} TO {role}"),
    (r"denied for (?:table|relation|view|foreign table) (.+)", "run GRANT {on_table} ON {name} TO {role}"),
    (r'temporary tables in database "(.+)"', "run GRANT TEMPORARY ON DATABASE {name} TO {role}"),
    (
        r"must be owner of (?:table|relation) (.+)",
        "run it as the role that owns it, or let that role run ALTER TABLE {name} OWNER TO {role}",
    ),
)
"""What the server says is missing, and what its owner or a superuser can do about it."""

_MANY = 10_000
"""Rows of the catalog that are looked at; there are a few hundred functions of these names."""

_MADE = re.compile(r'CREATE TABLE (IF NOT EXISTS )?((?:"(?:[^"]|"")+"\.){0,2}"(?:[^"]|"")+")')
"""A table that is made and stays. One that all runs share is made IF NOT EXISTS."""

_NAME = re.compile(r'"((?:[^"]|"")+)"')

_SESSION = "SELECT pg_catalog.pg_backend_pid()"

_WRITING = "SET TRANSACTION READ WRITE; "
"""Sent in one message with a statement, it holds for that statement."""


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


_RESOURCES = {
    "53100": NO_SPACE,
    "53200": NO_MEMORY,
    "54001": "the statement is nested too deeply for its stack; check fewer requirements, or raise max_stack_depth",
}
"""What the server ran out of, by SQLSTATE."""


def _leaves(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The scans of a plan."""
    if "Plans" not in plan:
        yield plan
    for below in plan.get("Plans", []):
        yield from _leaves(below)


def _lock_of(run_id: str) -> int:
    """The key of a run's advisory lock, 64 bits with a sign."""
    return int.from_bytes(hashlib.sha256(f"kanon_sql {run_id}".encode()).digest()[:8], "big", signed=True)


def _in_transaction(driver: Any) -> bool:
    return int(driver.info.transaction_status) in (2, 3)  # open, or open and failed


@backend
class PostgresBackend(Backend):
    """PostgreSQL 12 and later, and servers that speak its protocol and its SQL."""

    scheme = "postgresql"
    driver = "psycopg"
    url = "postgresql+psycopg"
    dialect = dialect_named("postgres")
    capabilities = Capabilities(
        transactional_ddl=True, atomic_replace=True, temp_tables=True, files=False, folds_names=False, row_id="ctid"
    )
    extra = "postgres"
    shows_views = True
    repeatable_samples = "seeded"
    detects_ended_runs = True
    _writes = False
    _place = ""
    _session = 0
    """The number of the server's process that the connection had when it was prepared."""
    _own: tuple[int, str] | None = None
    """The server's work_mem and enable_sort; None where a user chose for the session, the role or the database."""
    _now: tuple[int, str] | None = None
    """Those that are set now."""
    _planned = True
    """Whether joins are planned as :data:`PLANS` says, which is so from :meth:`prepare` on."""
    _theirs_inside = False
    """Whether the last statement in a transaction was planned as the server would."""

    def __init__(self) -> None:
        self._by_default: dict[str, list[Row]] = {}
        """Schema, as an expression -> the rights that a new table there has at once; known for a run."""
        self._views: dict[str, re.Pattern[str]] = {}
        """Each view that was found, as statements name it, and where a statement reads it."""

    def options(self, url: URL, *, read_only: bool) -> dict[str, Any]:
        """No look for a type by its name, which comes before the search path can be looked at."""
        return {"use_native_hstore": False}

    def in_transaction(self, connection: Connection) -> bool:
        """The driver's own too, in which its connection cannot be told to commit every statement."""
        return connection.in_transaction() or _in_transaction(connection.connection.driver_connection)

    def transaction_open(self, engine: RelationalEngine) -> bool:
        """As the server said with its last answer; a second BEGIN would only warn, and COMMIT end the user's."""
        return _in_transaction(engine.driver_connection)

    def prepare(self, engine: RelationalEngine, *, read_only: bool) -> None:
        """Plain literals, dates and numbers in one form, and no query that the planner compiles for seconds."""
        from sqlalchemy.exc import DBAPIError

        self._before = [
            (name, str(self.first(engine, f"SHOW {name}")[0]))
            for name in (*SETTINGS, *PLANS, "default_transaction_read_only")
        ]
        (self._path,) = self.first(engine, "SHOW search_path")
        self._seek_own_first(engine)
        place = "SELECT pg_catalog.current_database(), pg_catalog.current_schemas(false)::pg_catalog.text"
        self._place = " ".join(map(str, self.first(engine, place)))
        ((self._session,),) = engine._rows(_SESSION, 1)
        self._prepare_threshold = engine.driver_connection.prepare_threshold
        for name, value in (SETTINGS | PLANS).items():
            engine._run(f"SET {name} = {self.dialect.literal(value)}")
        self._own = self._now = next(((int(room), str(sorts)) for room, sorts in engine.scalars(_OWN_ROOM, 1)), None)
        with suppress(DBAPIError):  # the server's operating system cannot tell
            self._before += [("client_connection_check_interval", "0") for _ in engine._rows(_NOTICES_LOST_CLIENTS, 1)]
        # A prepared statement would outlive a release that changes its columns.
        engine.driver_connection.prepare_threshold = None
        (encoding,) = self.first(engine, "SHOW server_encoding")
        if encoding != "UTF8":
            raise self.refuse(
                f"the database's encoding is {encoding}, and text is compared exactly in UTF8 "
                "only; copy the table into a database whose encoding is UTF8"
            )

    def _seek_own_first(self, engine: RelationalEngine) -> None:
        """Of two functions or operators with the same arguments, the first in the path is called.

        Raises:
            UnsupportedError: it is another session's path than the one that was set.
        """
        ((path, session),) = engine._rows(f"SELECT pg_catalog.current_schemas(false), ({_SESSION})", 1)
        if self._session not in (0, session):
            raise self.refuse(_MOVED)
        if "pg_catalog" in path:  # named nowhere, it is sought first
            schemas = ", ".join(self.dialect.quote(schema) for schema in path if schema != "pg_catalog")
            engine._run(f"SET search_path = {schemas or self.dialect.literal('')}")

    def refuse_shadowed_functions(self, engine: RelationalEngine) -> None:
        """Those of a schema in the path whose arguments would fit better than PostgreSQL's own, and added casts."""
        self._seek_own_first(engine)
        types = [str(name) for (name,) in engine._rows(catalog.TYPES_OF_THE_SESSION, _MANY)]
        if types:
            raise self.refuse(
                "this session has temporary tables or types with the names of PostgreSQL's own types "
                f"({_listed(types)}); drop them, or use another connection"
            )
        self._refuse_makers(engine)
        self._refuse_hiding(engine)
        casts = [str(name) for (name,) in engine._rows(catalog.ADDED_CASTS, _MANY)]
        if casts:
            raise self.refuse(
                f"this database has casts of its own between PostgreSQL's types ({_listed(casts)}), which change what "
                "is compared; drop them, or copy the table into a database without them"
            )

    def _refuse_makers(self, engine: RelationalEngine) -> None:
        """What another role makes in the path, and drops again, could run with this role's rights in between."""
        schemas = [self.dialect.quote(str(name)) for (name,) in engine._rows(catalog.MAKERS, _MANY)]
        if schemas:
            listed = _listed(schemas)
            raise self.refuse(
                f"the search path has {listed}, where another role may create functions and operators: a "
                "statement could call them with this role's rights. Connect with a search_path without it and "
                "write the schema of every table, or revoke the right (REVOKE CREATE ON SCHEMA "
                f"{', '.join(schemas)} FROM PUBLIC, or from the role that has it)"
            )

    def _refuse_hiding(self, engine: RelationalEngine) -> None:
        theirs = [catalog.Routine(*row) for row in engine._rows(catalog.routines(own=False), _MANY)]
        if not theirs:
            return
        rows = engine._rows(catalog.routines(own=True), _MANY)
        hiding = list(catalog.hiding(theirs, (catalog.Routine(*row) for row in rows)))
        if hiding:
            schemas = ", ".join(sorted({item.schema for item in hiding}))
            raise self.refuse(
                f"the search path has {_listed(list(map(str, hiding)))}, which would be called in place of "
                f"PostgreSQL's own; connect with a search_path without the schema {schemas} and write the schema "
                "of every table, or move it to another schema"
            )

    # --- Nothing is written but by statements that say so ---

    @contextmanager
    def reading(self, engine: RelationalEngine) -> Iterator[None]:
        """Every transaction of a run is read-only unless its statement says otherwise; see :meth:`steps`."""
        self._by_default.clear()
        ((now,),) = engine._rows("SHOW default_transaction_read_only", 1)
        if now == "on" or _in_transaction(engine.driver_connection):
            yield
            return
        engine._run("SET default_transaction_read_only = on")
        self._writes = True
        try:
            yield
        finally:
            self._writes = False
            with suppress(Exception):  # a connection that is lost has no settings
                engine._run("SET default_transaction_read_only = off")

    def steps(self, engine: RelationalEngine, statement: Statement) -> Sequence[str]:
        """What writes says so; a scratch table is filled from the user's query where nothing else may be written.

        A table that stays is its owner's alone until it is published: what default privileges give to others is taken
        back in the transaction that makes it.
        """
        lasting = _MADE.match(statement.sql)
        if lasting is not None:
            return self._made(engine, statement.sql, lasting[2], is_shared=lasting[1] is not None)
        if not self._writes or _in_transaction(engine.driver_connection):
            return [statement.sql]
        creates = statement.creates
        if creates is not None and creates.temporary and statement.users and engine.scratch.mode == "temp":
            made = self.dialect.create_as(creates.table, creates.query, True)
            return [f"{_WRITING}{made} WITH NO DATA", f"INSERT INTO {creates.table} {creates.query}"]
        return [f"{_WRITING}{statement.sql}"]

    def _made(self, engine: RelationalEngine, sql: str, table: str, *, is_shared: bool) -> Sequence[str]:
        """A table that all runs share keeps the rights to read and write it, but no other user adds to what it does."""
        rights = "TRIGGER, REFERENCES" if is_shared else "ALL"
        taken = postgres_rights.revoked(self._rights_by_default(engine, table), table, self.dialect, rights)
        if _in_transaction(engine.driver_connection):
            return [sql, *taken]
        return [f"{_WRITING if self._writes else ''}{'; '.join([sql, *taken])}"]  # one message is one transaction

    def _rights_by_default(self, engine: RelationalEngine, table: str) -> list[Row]:
        """The rights that others have on a new table as soon as it is made, by the table's quoted name."""
        *place, _ = _NAME.findall(table)
        schema = self.dialect.literal(place[-1].replace('""', '"')) if place else "pg_catalog.current_schema()"
        if schema not in self._by_default:
            self._by_default[schema] = engine.scalars(postgres_rights.rights_by_default(schema))
        return self._by_default[schema]

    def default_rights(self, engine: RelationalEngine, parts: tuple[str, ...]) -> list[str]:
        """What the default privileges say."""
        table = self.dialect.relation(parts)
        return postgres_rights.grants(self._rights_by_default(engine, table), table, self.dialect)

    def rights(self, engine: RelationalEngine, parts: tuple[str, ...]) -> list[str]:
        """Those on the view and on its columns, and no others."""
        table = self.dialect.relation(parts)
        rows = engine.scalars(postgres_rights.rights_on(self.dialect.literal(table)))
        by_default = postgres_rights.revoked(self._rights_by_default(engine, table), table, self.dialect)
        return [*by_default, *postgres_rights.grants(rows, table, self.dialect)]

    def faults(self, engine: RelationalEngine, parts: tuple[str, ...]) -> list[str] | None:
        """By one look at the catalog."""
        table = self.dialect.literal(self.dialect.relation(parts))
        rows = engine.scalars(postgres_rights.properties(table), 1)
        return postgres_rights.faults(rows[0], self.dialect) if rows else None

    def refuse_effects(self, engine: RelationalEngine, query: str) -> None:
        """Functions that PostgreSQL lists as volatile, in the query or in a view that it reads, however deep."""
        found = [str(name) for (name,) in self._volatile_in(engine, query)]
        if found:
            raise SpecError(
                f"source query: it calls {_listed(found)}, which PostgreSQL lists as VOLATILE: it may change "
                "data, or return other rows each time; remove it, store the query's result in a table, or "
                "declare a function of your own that does neither STABLE"
            )

    def _number(self, relation: str) -> str:
        return f"pg_catalog.to_regclass({self.dialect.literal(relation)})"

    def _volatile_in(self, engine: RelationalEngine, query: str) -> list[Any]:
        """By a view of the query that is rolled back; by the names in it where there can be none."""
        view = self.dialect.quote(f"kanon_{engine.run_id}_query")
        if not _in_transaction(engine.driver_connection):
            try:
                engine._run(f"BEGIN READ WRITE; CREATE TEMPORARY VIEW {view} AS (\n{query}\n)")
                return engine._rows(catalog.volatile_in([self._number(view)]), _MANY)
            except Exception as error:
                # No rights, or two columns of one name; what is wrong with the query itself is said when it is read.
                ours = engine._error(error, "source")
                if not isinstance(ours, DatabaseError) or not _in_transaction(engine.driver_connection):
                    raise
            finally:
                if _in_transaction(engine.driver_connection):
                    engine._run("ROLLBACK")
        tables = [self._number(self.dialect.relation(name)) for name in named_tables(query, self.dialect.sqlglot)]
        found = engine._rows(catalog.volatile_in(tables), _MANY) if tables else []
        names = called_names(query, self.dialect.sqlglot)
        return found + (engine._rows(catalog.volatile_by_name(names), _MANY) if names else [])

    def ahead(self, engine: RelationalEngine, statement: Statement) -> None:
        """Say how joins are planned, and divide the room among the branches of a statement, which keep their groups.

        A branch never has less than the server gives, and nothing is changed where a user chose: for the session,
        the role or the database. PostgreSQL knows little of what scratch tables hold: it would sort two million rows
        on disk for three hundred groups. So it groups by a hash wherever it can, which goes to disk, too, if it must.
        """
        ours = "(" not in statement.users and not self._reads_view(statement.sql)
        if _in_transaction(engine.driver_connection):  # what is set there may be rolled back
            self._plan_inside(engine, ours=ours)
            return
        self._plan(engine, ours=ours)
        if self._own is None:
            return
        (least, sorts), several = self._own, statement.sql.count("UNION ALL")
        self._set_room(engine, (max(least, ROOM >> several.bit_length()), "off" if ours or several else sorts))

    def _plan(self, engine: RelationalEngine, *, ours: bool) -> None:
        """Let the planner join as it likes where a statement reads a query or view of a user's: it may join by keys."""
        if ours is self._planned:
            return
        engine._run("; ".join(f"SET {name} = {value}" for name, value in self._plans(ours=ours)))
        self._planned = ours

    def _plan_inside(self, engine: RelationalEngine, *, ours: bool) -> None:
        """The same until a transaction ends.

        The one that the statement before was in may have ended since, so what holds for a user's is always sent.
        """
        if not ours or self._theirs_inside or not self._planned:
            engine._run("; ".join(f"SET LOCAL {name} = {value}" for name, value in self._plans(ours=ours)))
        self._theirs_inside = not ours

    def _plans(self, *, ours: bool) -> Iterable[tuple[str, str]]:
        return PLANS.items() if ours else [(name, value) for name, value in self._before if name in PLANS]

    def _note_view(self, is_view: bool, *names: tuple[str, ...]) -> None:
        for relation in map(self.dialect.relation, names):
            if is_view:
                self._views[relation] = re.compile(rf"\b(?:FROM|JOIN) {re.escape(relation)}(?![\w.])")
            else:
                self._views.pop(relation, None)

    def _reads_view(self, sql: str) -> bool:
        return any(place.search(sql) is not None for place in self._views.values())

    def _set_room(self, engine: RelationalEngine, room: tuple[int, str]) -> None:
        if room != self._now:
            engine._run("SET work_mem = {}; SET enable_sort = {}".format(*room))
            self._now = room

    def restore(self, engine: RelationalEngine) -> None:
        """Set the session back to what its owner had."""
        if self._own is not None:
            # A value that is set, even the server's own, would be taken for a choice by anyone who connects here next.
            engine._run(f"RESET work_mem; SET enable_sort = {self._own[1]}")
        for name, value in self._before:
            engine._run(f"SET {name} = {self.dialect.literal(value)}")
        engine._run(f"SET search_path = {self._path or self.dialect.literal('')}")
        engine.driver_connection.prepare_threshold = self._prepare_threshold

    def forbid_writes(self, engine: RelationalEngine) -> None:
        """Every transaction is read-only; PostgreSQL then refuses temporary tables too."""
        engine._run("SET default_transaction_read_only = on")

    def version(self, engine: RelationalEngine) -> str:
        """The server's version."""
        return str(self.first(engine, "SHOW server_version")[0]).split()[0]

    def columns(self, engine: RelationalEngine, relation: str) -> list[Column]:
        """From the driver's description of a query that reads nothing."""
        description = engine.describe_cursor(f"SELECT * FROM {relation} AS kanon_relation LIMIT 0")
        others = {item.type_code for item in description} - _KINDS.keys()
        rows = engine._rows(catalog.types_by_parts(others), _MANY) if others else []
        kinds = {int(number): _kind_and_texts(int(number), *rest) for number, *rest, _ in rows}
        labels = {int(number): tuple(json.loads(listed)) for number, *_, listed in rows if listed is not None}
        return [_column(item.name, item.type_display.upper(), item.type_code, kinds, labels) for item in description]

    def find(self, engine: RelationalEngine, parts: tuple[str, ...]) -> Found | None:
        """As PostgreSQL itself resolves the name: case counts, and the search path decides."""
        written = self.dialect.literal(self.dialect.relation(parts))
        rows = engine.scalars(
            "SELECT relation.relkind, space.nspname, relation.relname FROM pg_catalog.pg_class AS relation "
            "JOIN pg_catalog.pg_namespace AS space ON space.oid = relation.relnamespace "
            f"WHERE relation.oid = to_regclass({written})",
            1,
        )
        if not rows:
            return None
        kind, *full = (text.decode() if isinstance(text, bytes) else str(text) for text in rows[0])
        self._note_view(kind == "v", parts, tuple(full))
        return "table" if kind in ("r", "p", "f") else "view", tuple(full)

    def stored(self, engine: RelationalEngine, parts: tuple[str, ...]) -> Stored | None:
        """A materialized view is stored; a table may have others that inherit from it."""
        rows = engine._rows(catalog.stored(self._number(self.dialect.relation(parts))), 1)
        if not rows:
            return None
        kind, schema, name, text, children, more = rows[0]
        self._note_view(kind == "v", parts, (str(schema), str(name)))
        query = text if kind == "v" else None
        return Stored((str(schema), str(name)), query=query, inherits=(int(children), bool(more)))

    def changing_calls(self, engine: RelationalEngine, parts: tuple[str, ...], text: str) -> list[str]:
        """Those of PostgreSQL's own that it lists as volatile; of a view, its owner is believed about others."""
        number = self._number(self.dialect.relation(parts))
        found = [str(name) for (name,) in engine._rows(catalog.volatile_in([number], own=True), _MANY)]
        return [name for name in found if not name.startswith("pg_sleep")]  # which changes no row

    def comment(self, engine: RelationalEngine, parts: tuple[str, ...], full: tuple[str, ...]) -> str | None:
        """The comment on the table."""
        written = self.dialect.literal(self.dialect.relation(full))
        return self.text(engine, f"SELECT pg_catalog.obj_description(to_regclass({written})::oid, 'pg_class')")

    def definition(self, engine: RelationalEngine, full: tuple[str, ...]) -> str | None:
        """As the server writes it."""
        written = self.dialect.literal(self.dialect.relation(full))
        return self.text(engine, f"SELECT pg_catalog.pg_get_viewdef(to_regclass({written})::oid)")

    def estimate(self, engine: RelationalEngine, relation: str) -> Estimate | None:
        """EXPLAIN's rows, and rows times width as bytes; it guesses them of a table that was never analyzed."""
        (answer,) = self.first(engine, f"EXPLAIN (FORMAT JSON, VERBOSE) SELECT * FROM {relation} AS kanon_relation")
        plan: Any = (json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"]
        leaves = list(_leaves(plan))
        rows = sum(int(leaf["Plan Rows"]) for leaf in leaves)
        size = sum(int(leaf["Plan Rows"]) * int(leaf["Plan Width"]) for leaf in leaves)
        tables = {(str(leaf["Schema"]), str(leaf["Relation Name"])) for leaf in leaves if "Relation Name" in leaf}
        names = sorted(self.dialect.relation(name) for name in tables)
        guessed = [str(name) for (name,) in engine._rows(catalog.never_analyzed(names), _MANY)] if names else []
        origin = f"EXPLAIN, which guesses: {_listed(guessed)} was never analyzed; run ANALYZE" if guessed else "EXPLAIN"
        return Estimate(rows, size, origin, _ROW)

    def hold(self, engine: RelationalEngine, run_id: str) -> str | None:
        """An advisory lock of the session, in this database of this server, if others can see it."""
        key, server = _lock_of(run_id), self._server(engine)
        ((taken,),) = engine._rows(f"SELECT pg_catalog.pg_try_advisory_lock({key})", 1)
        if taken and not self._locked(engine, [key]):
            self.let_go(engine, run_id)
            return None
        return server if taken else None

    def let_go(self, engine: RelationalEngine, run_id: str) -> None:
        """Unlock."""
        engine._rows(f"SELECT pg_catalog.pg_advisory_unlock({_lock_of(run_id)})", 1)

    def ended(self, engine: RelationalEngine, held_by: Mapping[str, str]) -> Iterable[str]:
        """By the list of locks, which all roles see; a session that lost its client keeps its own until it ends."""
        server = self._server(engine)
        keys = {run_id: _lock_of(run_id) for run_id, holder in held_by.items() if holder == server}
        locked = self._locked(engine, keys.values()) if keys else set()
        return [run_id for run_id, key in keys.items() if key not in locked]

    def _locked(self, engine: RelationalEngine, keys: Collection[int]) -> set[int]:
        return {int(key) for (key,) in engine._rows(catalog.advisory_locks(keys), len(keys))}

    def _server(self, engine: RelationalEngine) -> str:
        """Another server that has the same tables, such as another node, has other locks."""
        ((number,),) = engine._rows("SELECT system_identifier FROM pg_catalog.pg_control_system()", 1)
        return f"postgres {number}"

    def running(self, engine: RelationalEngine) -> list[Running]:
        """From the list of sessions; only a superuser sees what other roles run."""
        return [
            Running(str(pid), str(run), float(seconds)) for pid, run, seconds in engine._rows(catalog.RUNNING, _MANY)
        ]

    def end(self, engine: RelationalEngine, statement: Running) -> None:
        """A cancel request, unless the session runs something else by now."""
        engine._rows(
            f"{catalog.CANCELLING} AND pid = {int(statement.handle)} AND {catalog.RUN} = "
            f"{self.dialect.literal(statement.run_id)}",
            1,
        )

    def cancel(self, engine: RelationalEngine) -> None:
        """A cancel request on a connection of its own."""
        engine.driver_connection.cancel()

    def cancelled(self, error: BaseException) -> bool:
        """SQLSTATE 57014, query_canceled."""
        return getattr(error, "sqlstate", None) == "57014"

    def lost(self, error: BaseException) -> bool:
        """SQLSTATE class 08, or a server that shut down."""
        state = getattr(error, "sqlstate", None)
        return (state is None and type(error).__name__ == "OperationalError") or str(state or "")[:2] in ("08", "57")

    def message(self, error: BaseException, statement: Statement | None = None) -> str:
        """Errors about names and rights keep their first line, if no word in it can be a value."""
        state = str(getattr(error, "sqlstate", None) or "")
        diagnosis = getattr(error, "diag", None)
        first, context = getattr(diagnosis, "message_primary", None), getattr(diagnosis, "context", None)
        if first and first.startswith("query would be affected by row-level security policy"):
            return _POLICY
        if state in _RESOURCES:
            return f"PostgreSQL reported error {state}: {_RESOURCES[state]}"
        shown_text = None
        # With a context it was raised in a function, which may have put anything into it.
        if first and not context and state[:2] in ("2B", "42", "3D", "3F", "25"):
            shown_text = without_values(first, statement, self._place)
        if shown_text is None:
            return f"PostgreSQL reported {type(error).__name__} {state} (its text may hold values and is not shown)"
        return shown_text

    def _has_moved(self, engine: RelationalEngine) -> bool:
        """Whether statements run in another session than the one that was prepared; a lost connection has none."""
        from sqlalchemy.exc import SQLAlchemyError

        try:
            return engine._rows(_SESSION, 1) != [(self._session,)]
        except SQLAlchemyError:
            return False

    def grant(self, engine: RelationalEngine, error: BaseException, shown_text: str, sql: str) -> str:
        """SQLSTATE 42501, insufficient_privilege: the server says of what, and the statement for what.

        Where a table of the session is missing, this is another session, and a right of another kind is.
        """
        state = getattr(error, "sqlstate", None)
        if state == "42P01" and not _in_transaction(engine.driver_connection):
            return _MOVED if self._has_moved(engine) else ""
        if state == "3F000":  # a table is made where there is no schema: the statement names it first
            found = re.search(r'((?:"(?:[^"]|"")+"))\."', sql)
            return "" if found is None else f"there is no schema {found[1]}; run CREATE SCHEMA {found[1]} first"
        if state != "42501":
            return ""
        role = self.dialect.quote(str(engine.driver_connection.info.user))
        words = sql.rpartition("*/")[2].split()
        primary = str(getattr(getattr(error, "diag", None), "message_primary", None) or "")
        schema = re.fullmatch(r"permission denied for schema (\w+)", primary)
        if schema is not None and re.search(rf"\b{schema[1]}\b", sql):  # a name that was sent
            shown_text = primary
        for pattern, what in _GRANTS:
            found = re.search(pattern, shown_text)
            if found is not None:
                name = _as_sent(self.dialect.quote(found.group(1)), sql)
                writes = words[:1] != ["SELECT"] or found.group(1).startswith("kanon_sql_")
                rights = ("SELECT, INSERT, DELETE" if writes else "SELECT", "USAGE, CREATE" if writes else "USAGE")
                return what.format(name=name, role=role, on_table=rights[0], on_schema=rights[1])
        return ""


def _as_sent(name: str, sql: str) -> str:
    """A quoted name with its schema, if the statement names it so: the server's message has the last part alone."""
    found = re.search(r'(?:"(?:[^"]|"")+"\.){1,2}' + re.escape(name), sql)
    return name if found is None else found.group()


def _kind_and_texts(number: int, what: str, made: int, unclear: int) -> tuple[Kind, Texts]:
    """The kind of a type of the catalog, and how its values are written; see :func:`catalog.types_by_parts`."""
    if made or unclear:
        return "ambiguous", "several"
    if what in _ITEMS or number in _LISTS:
        return "other", "items"
    return "other", "one" if what == "e" else "several"


def _column(
    name: str,
    shown: str,
    number: int,
    kinds: Mapping[int, tuple[Kind, Texts]],
    labels: Mapping[int, tuple[str, ...]],
) -> Column:
    """A column by its type's name and number."""
    if number in _KINDS:
        kind = _KINDS[number]
        # Without digits of its own, a numeric keeps those of each value.
        spelled: Spelled | None = "digits" if kind == "decimal" and "(" not in shown else None
        return Column(name, shown, kind, texts="several" if shown == _PADDED else "one", spelled=spelled)
    kind, texts = kinds.get(number, ("ambiguous", "several"))
    return Column(name, shown, kind, texts=texts, labels=labels.get(number))


_MOVED = (
    "statements of this connection are run in several sessions of the server, as a pooler in transaction mode does "
    "(PgBouncer's pool_mode = transaction), and settings, temporary tables and locks of a run stay in the session that "
    "made them; connect to the server itself, or to a pool in session mode"
)

_POLICY = (
    "row-level security would hide rows of a table that is read, and a verdict must be about all rows; read it "
    "as a role that sees every row (BYPASSRLS, or the owner unless row-level security is forced), or through a "
    "view that such a role owns, without security_invoker"
)
