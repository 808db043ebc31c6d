"""SQL Server and Azure SQL, by pyodbc."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kanon_sql.engines.backends.base import Found, backend
from kanon_sql.engines.backends.warehouse import Warehouse, column_of
from kanon_sql.engines.base import Capabilities, Column
from kanon_sql.sql import MARK_PROPERTY, dialect_named

if TYPE_CHECKING:
    from kanon_sql.engines.relational import RelationalEngine

__all__ = ["SQLServerBackend"]


@backend
class SQLServerBackend(Warehouse):
    """SQL Server 2016 and later: a schema for scratch tables, and DDL that can be rolled back."""

    scheme = "mssql"
    driver = "pyodbc"
    url = "mssql+pyodbc"
    dialect = dialect_named("tsql")
    capabilities = Capabilities(
        transactional_ddl=True, atomic_replace=True, temp_tables=False, files=False, folds_names=True
    )
    extra = "mssql"
    begin = "BEGIN TRANSACTION"
    effects = frozenset({"crypt_gen_random", "newid", "newsequentialid", "rand"})
    codes = r"\(\d{3,5}\)(?= \(SQL)"
    cancels = r"HY008"

    def settings(self) -> Sequence[str]:
        """No row counts between results, standard NULLs and quotes, and a failed transaction is rolled back."""
        return ("SET NOCOUNT, ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, QUOTED_IDENTIFIER, XACT_ABORT ON",)

    def version(self, engine: RelationalEngine) -> str:
        """The product's version."""
        return str(self.first(engine, "SELECT CAST(SERVERPROPERTY('ProductVersion') AS NVARCHAR(128))")[0])

    def columns(self, engine: RelationalEngine, relation: str) -> list[Column]:
        """As the server describes the query without running it; a WITH clause could not stand in a subquery."""
        query = relation[1:-1].strip() if relation.startswith("(") else f"SELECT * FROM {relation}"
        rows = engine.scalars(f"EXEC sp_describe_first_result_set {self.dialect.literal(query)}")
        shown = {"datetimeoffset": "timestamp with time zone"}
        return [column_of(str(row[2]), shown.get(str(row[5]).split("(")[0], str(row[5]))) for row in rows]

    def find(self, engine: RelationalEngine, parts: tuple[str, ...]) -> Found | None:
        """As SQL Server itself resolves the name."""
        database = f"{self.dialect.quote(parts[0])}." if len(parts) == 3 else ""
        name = self.dialect.literal(self.dialect.relation(parts))
        rows = engine.scalars(
            f"SELECT o.type, s.name, o.name FROM {database}sys.objects AS o "
            f"JOIN {database}sys.schemas AS s ON s.schema_id = o.schema_id WHERE o.object_id = OBJECT_ID({name})",
            1,
        )
        if not rows:
            return None
        kind, *full = map(str, rows[0])
        return "table" if kind.strip() == "U" else "view", (*parts[:-2], *full)

    def definition(self, engine: RelationalEngine, full: tuple[str, ...]) -> str | None:
        """As it was written, unless it is encrypted."""
        database = f"{self.dialect.quote(full[0])}." if len(full) == 3 else ""
        name = self.dialect.literal(self.dialect.relation(full))
        return self.text(
            engine, f"SELECT definition FROM {database}sys.sql_modules WHERE object_id = OBJECT_ID({name})"
        )

    def comment(self, engine: RelationalEngine, parts: tuple[str, ...], full: tuple[str, ...]) -> str | None:
        """The extended property that is ours."""
        database = f"{self.dialect.quote(parts[0])}." if len(parts) == 3 else ""
        name = self.dialect.literal(self.dialect.relation(parts))
        return self.text(
            engine,
            f"SELECT CAST(value AS NVARCHAR(400)) FROM {database}sys.extended_properties "
            f"WHERE class = 1 AND minor_id = 0 AND major_id = OBJECT_ID({name}) "
            f"AND name = {self.dialect.literal(MARK_PROPERTY)}",
        )
