"""DuckDB: the dialect that the templates are written in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from sqlglot import exp

from kanon_sql.sql.dialects.base import Dialect, dialect, mark_text
from kanon_sql.sql.dialects.rewrites import called

__all__ = ["DuckDB"]

_CSV = """quote = '"', escape = '"', nullstr = '', header = true"""
"""RFC 4180, with NULL as nothing at all and an empty text as a pair of quotes: one can be told from the other."""

_LINE_END = "\n"
_MANY = 500
"""From this many rows on they are inserted column by column."""


@dialect
class DuckDB(Dialect):
    """DuckDB."""

    name = "duckdb"
    item = "UNNEST({})"
    listed = "COALESCE(LIST({0} ORDER BY {0} ASC) FILTER (WHERE {0} IS NOT NULL), CAST([] AS VARCHAR[]))"
    sorted_list = "LIST_SORT({}, 'ASC', 'NULLS LAST')"
    of_session = re.compile(r"temp", re.IGNORECASE)
    sqlglot = "duckdb"
    exact_type = "VARCHAR"
    keeps_queries = True
    numbers_classes = True
    reads_columns = True
    schemas = "SELECT database_name, schema_name FROM system.main.duckdb_schemas()"
    key_catalog = (
        "SELECT CASE constraint_type WHEN 'PRIMARY KEY' THEN 'p' ELSE 'f' END, schema_name, table_name, "
        "constraint_index, UNNEST(constraint_column_names), schema_name, referenced_table, "
        "UNNEST(referenced_column_names), UNNEST(RANGE(LEN(constraint_column_names))) "
        "FROM system.main.duckdb_constraints() WHERE constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')"
    )
    moved: ClassVar[Mapping[str, str]] = {
        "date": "({date} + CAST({days} AS INTEGER))",
        "timestamp": "({date} + to_days(CAST({days} AS INTEGER)))",
        "moment": "({date} + to_hours(24 * CAST({days} AS INTEGER)))",
    }
    zones = True
    keyed = "SHA256(UNHEX('{outer}') || UNHEX(SHA256(UNHEX('{inner}') || ENCODE({text}))))"
    guard = ("CREATE VIEW", "AS", "")
    column_types = "SELECT column_name, column_type FROM (DESCRIBE {table})"
    has_rights = False

    def exact(self, text: exp.Expr) -> exp.Expr:
        """The binary collation, whatever ``default_collation`` says."""
        return exp.Collate(this=text, expression=exp.to_identifier("binary", quoted=True))

    def draw(self, text: exp.Expr) -> exp.Expr:
        """By digits of base 16, which a cast reads."""
        return exp.cast(
            exp.DPipe(this=exp.Literal.string("0x"), expression=called("SUBSTR", called("SHA256", text), 1, 12)),
            "BIGINT",
        )

    def rewrite(self, tree: exp.Expr) -> exp.Expr:
        """Every direction of an order is written out, whatever ``default_order`` says."""
        for ordered in tree.find_all(exp.Ordered):
            ordered.set("desc", bool(ordered.args.get("desc")))
        return tree

    def table_function(self, function: str, columns: Mapping[str, str], query: str) -> str:
        """A table macro. It runs with the caller's settings."""
        return f"CREATE OR REPLACE MACRO {function}() AS TABLE\n{query};"

    def readers(self, schema: Sequence[str]) -> None:
        """There are no rights inside of a file: anyone who may open it may read all of it."""

    def rows(self, columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> str:
        """VALUES: each branch of a UNION ALL is planned on its own."""
        listed = ",\n  ".join("(" + ", ".join(map(self.text, row)) + ")" for row in rows)
        return f"SELECT * FROM (VALUES\n  {listed}\n) AS given ({', '.join(map(self.quote, columns))})"

    def insert(self, table: str, rows: Sequence[Sequence[str | None]]) -> str:
        """Many rows as a text per column, split at line ends: planning a literal per cell takes 20 times as long."""
        columns = [[value for value in column if value is not None] for column in zip(*rows, strict=True)]
        plain = all(len(column) == len(rows) and not any(_LINE_END in value for value in column) for column in columns)
        if len(rows) < _MANY or not plain:
            return super().insert(table, rows)
        at = self.literal(_LINE_END)
        lists = [f"UNNEST(string_split({self.literal(_LINE_END.join(column))}, {at}))" for column in columns]
        return f"INSERT INTO {table} SELECT {', '.join(lists)}"

    def create_as(self, table: str, query: str, temporary: bool) -> str:
        """What is made in the session's own database has to be called temporary."""
        return super().create_as(table, query, temporary or table.startswith('"temp".'))

    def numbers_to(self, count: str) -> str:
        """A list of them, unnested."""
        return f"UNNEST(RANGE({count}))"

    def to_file(self, table: Sequence[str], path: str, run_id: str) -> str:
        """COPY, with every option that the defaults of a version could change."""
        if path.lower().endswith(".parquet"):
            options = f"FORMAT parquet, KV_METADATA {{kanon_sql: {self.literal(mark_text(run_id))}}}"
        else:
            options = "FORMAT csv, delim ',', " + _CSV.replace(" = ", " ")
        return f"COPY {self.relation(table)} TO {self.literal(path)} ({options})"

    def from_file(self, table: Sequence[str], path: str, types: Mapping[str, str], delimiter: str = ",") -> str:
        """Nothing is guessed: the text 05 stays what it is, and a line that begins with # is no comment."""
        reader = f"read_parquet({self.literal(path)})"
        if not path.lower().endswith(".parquet"):
            columns = ", ".join(f"{self.literal(name)}: {self.literal(kind)}" for name, kind in types.items())
            options = f"allow_quoted_nulls = false, auto_detect = false, columns = {{{columns}}}"
            reader = f"read_csv({self.literal(path)}, delim = {self.literal(delimiter)}, {_CSV}, {options})"
        return self.create_as(self.relation(table), f"SELECT * FROM {reader} AS kanon_file", True)
