"""Oracle Database, by python-oracledb."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kanon_sql.engines.backends.base import Found, backend
from kanon_sql.engines.backends.warehouse import Warehouse, column_of
from kanon_sql.engines.base import Capabilities, Column
from kanon_sql.sql import Oracle, dialect_named

if TYPE_CHECKING:
    from kanon_sql.engines.relational import RelationalEngine

__all__ = ["OracleBackend"]


@backend
class OracleBackend(Warehouse):
    """Oracle 12.2 and later: a schema for scratch tables, releases renamed one after the other."""

    scheme = "oracle"
    driver = "oracledb"
    url = "oracle+oracledb"
    dialect = dialect_named("oracle")
    capabilities = Capabilities(
        transactional_ddl=False, atomic_replace=False, temp_tables=False, files=False, folds_names=False
    )
    extra = "oracle"
    effects = frozenset({"sys_guid"})
    codes = r"\b(ORA|DPY)-\d{4,5}"
    cancels = r"ORA-01013"

    def prepare(self, engine: RelationalEngine, *, read_only: bool) -> None:
        """Find out whether texts may be long and have collations of their own."""
        super().prepare(engine, read_only=read_only)
        from sqlalchemy.exc import DBAPIError

        try:
            engine._run("SELECT CAST('a' AS VARCHAR2(32767)) COLLATE BINARY AS probe FROM DUAL")
        except DBAPIError:
            return
        self.dialect = Oracle(extended=True)

    def settings(self) -> Sequence[str]:
        """Text compared byte by byte; numbers and dates in one form."""
        return (
            "ALTER SESSION SET NLS_COMP = BINARY NLS_SORT = BINARY NLS_NUMERIC_CHARACTERS = '.,' "
            "NLS_DATE_FORMAT = 'YYYY-MM-DD HH24:MI:SS' NLS_TIMESTAMP_FORMAT = 'YYYY-MM-DD HH24:MI:SS.FF'",
        )

    def columns(self, engine: RelationalEngine, relation: str) -> list[Column]:
        """From the driver's description of a query that returns nothing; AS may not stand before the alias."""
        description = engine.describe_cursor(f"SELECT * FROM {relation} kanon_relation WHERE 1 = 0")
        return [column_of(str(item[0]), self.type_name(item)) for item in description]

    def type_name(self, item: Sequence[Any]) -> str:
        """The name of the driver's type; a DATE has a time."""
        name = str(item[1].name).removeprefix("DB_TYPE_")
        if name == "NUMBER":
            return f"NUMBER({item[4]}, {item[5]})" if item[4] else "NUMBER"
        return {
            "DATE": "TIMESTAMP",
            "TIMESTAMP_TZ": "TIMESTAMP WITH TIME ZONE",
            "TIMESTAMP_LTZ": "TIMESTAMP WITH TIME ZONE",
        }.get(name, name)

    def find(self, engine: RelationalEngine, parts: tuple[str, ...]) -> Found | None:
        """By the objects that the user may see."""
        owner = self.dialect.literal(parts[-2]) if len(parts) > 1 else "SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')"
        rows = engine.scalars(
            "SELECT object_type, owner, object_name FROM ALL_OBJECTS WHERE object_type IN ('TABLE', 'VIEW') "
            f"AND object_name = {self.dialect.literal(parts[-1])} AND owner = {owner}",
            1,
        )
        if not rows:
            return None
        kind, *full = map(str, rows[0])
        return "table" if kind == "TABLE" else "view", tuple(full)

    def definition(self, engine: RelationalEngine, full: tuple[str, ...]) -> str | None:
        """As it was written, if it is not too long for a VARCHAR2."""
        owner, name = map(self.dialect.literal, full)
        return self.text(engine, f"SELECT text_vc FROM ALL_VIEWS WHERE owner = {owner} AND view_name = {name}")

    def comment(self, engine: RelationalEngine, parts: tuple[str, ...], full: tuple[str, ...]) -> str | None:
        """The comment on the table."""
        owner, name = map(self.dialect.literal, full)
        return self.text(engine, f"SELECT comments FROM ALL_TAB_COMMENTS WHERE owner = {owner} AND table_name = {name}")

    def cancel(self, engine: RelationalEngine) -> None:
        """By the driver's connection."""
        engine.driver_connection.cancel()
