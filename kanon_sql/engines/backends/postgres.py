"""PostgreSQL, by psycopg 3."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kanon_sql.engines.backends.base import Backend, Found
from kanon_sql.engines.base import Capabilities, Column, Estimate, Kind
from kanon_sql.sql import dialect_named

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from kanon_sql.engines.relational import RelationalEngine

__all__ = ["PostgresBackend"]

_KINDS: dict[int, Kind] = {
    **dict.fromkeys((20, 21, 23), "integer"),
    1700: "decimal",
    **dict.fromkeys((700, 701), "float"),
    **dict.fromkeys((18, 19, 25, 1042, 1043), "text"),
    1082: "date",
    1114: "timestamp",
    1184: "moment",
    16: "boolean",
}


_SETTINGS = {
    "standard_conforming_strings": "on",
    "client_encoding": "UTF8",
    "DateStyle": "ISO, YMD",
    "TimeZone": "UTC",  # a date of a moment is the same for whoever asks
    "extra_float_digits": "1",
    "IntervalStyle": "postgres",  # labels of intervals and bytes
    "bytea_output": "hex",
    "row_security": "off",  # an error where a policy would hide rows: a part of a table says nothing of the rest
    "client_min_messages": "warning",
    "jit": "off",  # compiling takes longer than most of these queries
}


def _leaves(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The scans of a plan."""
    if "Plans" not in plan:
        yield plan
    for below in plan.get("Plans", []):
        yield from _leaves(below)


def _in_transaction(driver: Any) -> bool:
    return int(driver.info.transaction_status) in (2, 3)  # open, or open and failed


class PostgresBackend(Backend):
    """PostgreSQL 12 and later, and servers that speak its protocol and its SQL."""

    dialect = dialect_named("postgres")
    capabilities = Capabilities(
        transactional_ddl=True, atomic_replace=True, temp_tables=True, files=False, folds_names=False, row_id="ctid"
    )
    extra = "postgres"

    def in_transaction(self, connection: Connection) -> bool:
        """The driver's own too, in which its connection cannot be told to commit every statement."""
        return connection.in_transaction() or _in_transaction(connection.connection.driver_connection)

    def transaction_open(self, engine: RelationalEngine) -> bool:
        """As the server said with its last answer; a second BEGIN would only warn, and COMMIT end the user's."""
        return _in_transaction(engine.driver_connection)

    def prepare(self, engine: RelationalEngine, *, read_only: bool) -> None:
        """Plain literals, dates and numbers in one form, and no query that the planner compiles for seconds."""
        self._before = [
            (name, str(self.first(engine, f"SHOW {name}")[0])) for name in (*_SETTINGS, "default_transaction_read_only")
        ]
        (self._path,) = self.first(engine, "SHOW search_path")
        (path,) = self.first(engine, "SELECT pg_catalog.current_schemas(false)")
        if "pg_catalog" in path:
            # Named nowhere it is sought first, so that no function or operator of a user hides PostgreSQL's.
            schemas = ", ".join(self.dialect.quote(schema) for schema in path if schema != "pg_catalog")
            engine._run(f"SET search_path = {schemas or self.dialect.literal('')}")
        self._prepare_threshold = engine.driver_connection.prepare_threshold
        for name, value in _SETTINGS.items():
            engine._run(f"SET {name} = {self.dialect.literal(value)}")
        # A prepared statement would outlive a release that changes its columns.
        engine.driver_connection.prepare_threshold = None
        (encoding,) = self.first(engine, "SHOW server_encoding")
        if encoding != "UTF8":
            raise self.refuse(f"the database's encoding is {encoding}; text is compared exactly in UTF8 only")

    def restore(self, engine: RelationalEngine) -> None:
        """Set the session back to what its owner had."""
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
        return [
            Column(item.name, item.type_display.upper(), _KINDS.get(item.type_code, "other")) for item in description
        ]

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
        return "table" if kind in ("r", "p", "f") else "view", tuple(full)

    def comment(self, engine: RelationalEngine, parts: tuple[str, ...], full: tuple[str, ...]) -> str | None:
        """The comment on the table."""
        written = self.dialect.literal(self.dialect.relation(full))
        return self.text(engine, f"SELECT pg_catalog.obj_description(to_regclass({written})::oid, 'pg_class')")

    def estimate(self, engine: RelationalEngine, relation: str) -> Estimate | None:
        """EXPLAIN's rows, and rows times width as bytes."""
        (answer,) = self.first(engine, f"EXPLAIN (FORMAT JSON) SELECT * FROM {relation} AS kanon_relation")
        plan: Any = (json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"]
        leaves = list(_leaves(plan))
        rows = sum(int(leaf["Plan Rows"]) for leaf in leaves)
        size = sum(int(leaf["Plan Rows"]) * int(leaf["Plan Width"]) for leaf in leaves)
        return Estimate(rows, size, "EXPLAIN")

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

    def message(self, error: BaseException) -> str:
        """Errors about names and rights keep their first line; other texts may hold values."""
        state = str(getattr(error, "sqlstate", None) or "")
        if "row-level security" in str(error):
            return (
                f"{str(error).splitlines()[0]}: a part of the table says nothing of the rest; read it with a role that "
                "sees every row, or through a view of its owner's that says which rows are meant"
            )
        if state[:2] in ("2B", "42", "3D", "3F", "25") and state not in ("42804", "42846"):
            return str(error).splitlines()[0]
        return f"PostgreSQL reported {type(error).__name__} {state} (its text may hold values and is not shown)"
