"""What the backends of data warehouses share: kinds by type name, the catalog, and the running cursor."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from kanon_sql.engines.backends.base import Backend, Found
from kanon_sql.engines.base import Column, Kind, Scratch
from kanon_sql.engines.reads import Stored
from kanon_sql.sql import Statement

if TYPE_CHECKING:
    from kanon_sql.engines.relational import RelationalEngine

__all__ = ["Warehouse", "column_of"]

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "INT2", "INT4", "INT8", "INT64"), "integer"),
    **dict.fromkeys(("DECIMAL", "NUMERIC", "NUMBER", "BIGNUMERIC", "BIGDECIMAL", "MONEY", "SMALLMONEY"), "decimal"),
    **dict.fromkeys(("FLOAT", "REAL", "DOUBLE", "FLOAT4", "FLOAT8", "FLOAT64", "DOUBLE PRECISION"), "float"),
    **dict.fromkeys(("BINARY_FLOAT", "BINARY_DOUBLE"), "float"),
    **dict.fromkeys(("TEXT", "STRING", "VARCHAR", "CHAR", "NVARCHAR", "NCHAR", "LONG_VARCHAR", "BPCHAR"), "text"),
    "DATE": "date",
    **dict.fromkeys(("TIMESTAMP", "DATETIME", "DATETIME2", "SMALLDATETIME"), "timestamp"),
    **dict.fromkeys(("TIMESTAMP_NTZ", "TIMESTAMP WITHOUT TIME ZONE"), "timestamp"),
    **dict.fromkeys(("TIMESTAMPTZ", "TIMESTAMP_TZ", "TIMESTAMP_LTZ", "DATETIMEOFFSET"), "moment"),
    **dict.fromkeys(("TIMESTAMP WITH TIME ZONE", "TIMESTAMP WITH LOCAL TIME ZONE"), "moment"),
    **dict.fromkeys(("BOOLEAN", "BOOL", "BIT"), "boolean"),
}
"""Type name without its parameters -> kind."""

_ONE_TEXT = (
    "BINARY", "VARBINARY", "BYTES", "BYTEA", "BLOB", "RAW", "LONG_RAW", "VARBYTE", "IMAGE", "ROWVERSION",
    "UUID", "UNIQUEIDENTIFIER", "IPADDRESS", "ROWID", "UROWID", "CLOB", "NCLOB", "LONG", "NTEXT", "VOID",
    "TIME", "TIME WITHOUT TIME ZONE", "INTERVAL_DS", "INTERVAL_YM", "INTERVAL DAY TO SECOND", "INTERVAL YEAR TO MONTH",
    "INTERVAL_DAY_TIME", "INTERVAL_YEAR_MONTH",
)  # fmt: skip
"""Types of no kind of their own, of which equal values are written in one way."""

_AMBIGUOUS = r"(VARIANT|SQL_VARIANT|SUPER|JSON|ARRAY|MAP|STRUCT|ROW|RECORD|OBJECT)\b"
"""The number 1 and the text 1 look alike in them, or a text is not quoted."""


def column_of(name: str, type_name: str) -> Column:
    """A column by its type's name, such as ``decimal(12, 2)``; a decimal without decimals is an integer."""
    shown = type_name.upper()
    plain = re.sub(r"\(.*?\)", "", shown).strip()
    kind = "ambiguous" if re.match(_AMBIGUOUS, shown) else _KINDS.get(plain, "other")
    if kind == "decimal" and re.search(r"\(\s*\d+\s*,\s*0\s*\)", shown):
        kind = "integer"
    return Column(name, shown, kind, texts="one" if plain in _ONE_TEXT else None)


class Warehouse(Backend):
    """A data warehouse.

    Attributes:
        codes: matches the part of an error's text that says which error it is and holds no value.
        cancels: matches the text of the error that a cancelled statement ends with.
        current_schema: the expression for the schema in which bare names are sought.
    """

    codes: ClassVar[str] = r"(?!)"
    cancels: ClassVar[str]
    shows_views = True
    current_schema: ClassVar[str] = "CURRENT_SCHEMA()"

    def __init__(self) -> None:
        self._cursor: Any = None

    def prepare(self, engine: RelationalEngine, *, read_only: bool) -> None:
        """Keep the running cursor at hand: most drivers cancel by it."""
        from sqlalchemy import event

        def note(connection: object, cursor: object, *_: object) -> None:
            self._cursor = cursor

        event.listen(engine._connection, "before_cursor_execute", note)
        for statement in self.settings():
            engine._run(statement)

    def settings(self) -> Sequence[str]:
        """Statements that set the session up."""
        return ()

    def columns(self, engine: RelationalEngine, relation: str) -> list[Column]:
        """From the driver's description of a query that returns nothing."""
        description = engine.describe_cursor(f"SELECT * FROM {relation} AS kanon_relation WHERE 1 = 0")
        return [column_of(str(item[0]), self.type_name(item)) for item in description]

    def type_name(self, item: Sequence[Any]) -> str:
        """The type's name in an item of the driver's description."""
        return str(item[1])

    def find(self, engine: RelationalEngine, parts: tuple[str, ...]) -> Found | None:
        """By the information schema of the catalog that the name is in."""
        literal = self.dialect.literal
        *outer, name = parts
        schema = literal(outer[-1]) if outer else self.current_schema
        rows = engine.scalars(
            f"SELECT table_type, table_catalog, table_schema, table_name FROM {self.information_schema(outer)}.tables "
            f"WHERE {self.same_name('table_name', literal(name))} AND {self.same_name('table_schema', schema)}",
            1,
        )
        if not rows:
            return None
        kind, *full = map(str, rows[0])
        return "view" if "VIEW" in kind.upper() else "table", tuple(full)

    def comment(self, engine: RelationalEngine, parts: tuple[str, ...], full: tuple[str, ...]) -> str | None:
        """The column of that name, which some information schemas have."""
        return self._view_column(engine, full, "comment", "tables")

    def definition(self, engine: RelationalEngine, full: tuple[str, ...]) -> str | None:
        """By the information schema, which shows it to those who may see it."""
        return self._view_column(engine, full, "view_definition", "views")

    def _view_column(self, engine: RelationalEngine, full: tuple[str, ...], column: str, view: str) -> str | None:
        """What a view of the information schema says of a table."""
        *outer, schema, name = full
        literal = self.dialect.literal
        return self.text(
            engine,
            f"SELECT {column} FROM {self.information_schema([*outer, schema])}.{view} "
            f"WHERE table_schema = {literal(schema)} AND table_name = {literal(name)}",
        )

    def stored(self, engine: RelationalEngine, parts: tuple[str, ...]) -> Stored | None:
        """Of what the catalog does not tell, that it is not known: a share, say, has no information schema."""
        from sqlalchemy.exc import SQLAlchemyError

        try:
            return super().stored(engine, parts)
        except SQLAlchemyError:
            return Stored(parts, hidden=True)

    def information_schema(self, outer: Sequence[str]) -> str:
        """The information schema that describes a name with these parts before its last."""
        return f"{self.dialect.quote(outer[0])}.information_schema" if len(outer) == 2 else "information_schema"

    def same_name(self, column: str, name: str) -> str:
        """The condition that a name in the catalog is the one that is sought."""
        return f"LOWER({column}) = LOWER({name})" if self.capabilities.folds_names else f"{column} = {name}"

    def scratch(self, engine: RelationalEngine) -> Scratch:
        """Temporary tables where they serve; else nowhere, which reads the source with every statement."""
        if self.capabilities.temp_tables:
            return super().scratch(engine)
        less = "scratch schema:NAME would read the source less often"
        return Scratch("inline", (), f"{self.dialect.name} has no temporary tables that kanon_sql can use; {less}")

    def cancel(self, engine: RelationalEngine) -> None:
        """By the driver's own cursor."""
        self._cursor.cancel()

    def cancelled(self, error: BaseException) -> bool:
        """By the error's text, which differs with the driver."""
        return re.search(self.cancels, str(error), re.IGNORECASE) is not None

    def message(self, error: BaseException, statement: Statement | None = None) -> str:
        """The kind of the error and its code; the rest of its text may hold values."""
        code = re.search(self.codes, str(error))
        return f"{super().message(error, statement)}{f'; code {code.group()}' if code else ''}"
