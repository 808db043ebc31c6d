"""What a dialect is: how the portable syntax tree becomes one engine's own SQL."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import ClassVar, Literal, TypeVar

from sqlglot import exp
from sqlglot.dialects.dialect import DialectType

from kanon_sql.errors import UnsupportedError
from kanon_sql.registers import DIALECTS
from kanon_sql.sql.python_deadline import checkpoint

__all__ = ["WORD", "Dialect", "dialect", "mark_text", "marked_run", "replaced"]

QUOTED: dict[bool | Literal["in literals"], re.Pattern[str]] = {
    False: re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[(?:[^\]]|\]\])*\])""", re.DOTALL),
    True: re.compile(r"""('(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`\\]|\\.|``)*`)""", re.DOTALL),
    "in literals": re.compile(r"""('(?:[^'\\]|\\.|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`)""", re.DOTALL),
}
"""By where a backslash escapes: one group, a text literal or a quoted name."""

_CHARACTERS = [chr(code) for code in range(256)]
"""All that some dialect escapes are among them."""

_BETWEEN = "\ue000"
"""A character that no dialect escapes."""


@lru_cache(maxsize=5_000)
def quoted_name(name: str, dialect: DialectType) -> str:
    """A name in quotes."""
    return exp.to_identifier(name, quoted=True).sql(dialect)


def text_literal(text: str, dialect: DialectType) -> str:
    """A text as a literal."""
    return f"'{text.translate(_escapes(dialect))}'"


@lru_cache(maxsize=100)
def _escapes(dialect: DialectType) -> dict[int, str]:
    """What sqlglot writes in a text literal instead of a character; to ask it for each literal takes far longer."""
    literal = exp.Literal.string(_BETWEEN.join(_CHARACTERS)).sql(dialect)
    written = literal[1:-1].split(_BETWEEN)
    return {ord(one): other for one, other in zip(_CHARACTERS, written, strict=True) if one != other}


WORD = 62
"""The bits of a word, so that no engine's signed 64-bit integer overflows."""

_BLOCK = 64
"""Bytes of a block of SHA-256, to which HMAC pads its key."""

_OPERANDS = ("scaled", "unscaled")
"""Marks on what stands among operators, in parentheses."""


class Dialect(ABC):
    """The SQL of one engine: DuckDB's, unless a subclass says otherwise.

    Attributes:
        name: what users and the manifest call it.
        sqlglot: sqlglot's name for it; its class where others register their own under that name.
        backslash: a backslash escapes inside text literals and quoted names, in literals alone, or nowhere.
        pads: comparing texts ignores blanks at their end, so that texts which end with one are refused.
        longest_name: the longest name, in bytes or in characters; None when there is no limit that matters.
        sized_text: text columns of a stated length are faster than those of any length.
        inserts: rows can be inserted into a scratch table of the session.
        deletes: rows can be deleted; else a row is added that takes another one back.
        typed: a column holds values of its type and no others.
        selects_values: VALUES can be selected from, with a name for every column.
        stores_types: a table that is made of another's values has the types of that one's columns.
        exact_type: the type of a text as it is compared, where a column of that type is nothing else.
        few_groups: what ends a query whose groups are few, to have the engine not divide them.
        narrow_sums: sums of integers of 32 bits are cheaper than of 64, and cannot overflow.
        orders_sets: frequency sets are stored in the order of their codes: grouping them takes longer in the order that
            GROUP BY, or the source's values, gave them.
        keeps_queries: a WITH clause that is read twice is computed once.
        numbers_classes: numbering the classes of a table pays, where such a clause is read for it.
        reads_columns: who groups a WITH clause by one of its columns reads that column of the table alone.
        reads_rows: who looks at one column of a table reads all of it, so that looking at each by itself takes as many
            passes.
        keyed: HMAC-SHA256 (RFC 2104) of ``{text}`` as lower-case hex, by the engine's own SHA-256 from the key in hex,
            padded for the inner and the outer hash (``{inner}``, ``{outer}``), or as it is (``{key}``); None where
            that was not tried.
        zones: points in time become local times of any zone of the tz database, whatever the session says.
        moved: kind of value -> ``{date}`` moved by ``{days}`` days, which may be negative; a point in time by as many
            times 24 hours, whatever the session's zone is. Empty where that was not tried.
        years: the first and the last year in which dates are moved: beyond them, some are shown as others.
        guard: what creates a view that is read with its owner's rights, around its name and its query: what comes
            before and after each. None where that was not tried, or is not safe.
        guard_obstacle: why there is none.
        schemas: the query of the databases and their schemas that a table's name may begin with; None where it was not
            tried.
        key_catalog: the query of all primary and foreign keys, a row for each column: ``p`` or ``f``, schema, table,
            constraint, column, the schema, table and column that it refers to, and its position. None where it was not
            tried.
        sorts_prefixes: a setting of a reader's session says how many bytes of a text are sorted by, in windows too.
        guard_session: a condition on settings of a reader's session by which texts of numbers and times would be
            others than when the view was made: an error says which to set. None where a view is not changed by them.
        of_session: the schemas of temporary tables, which vanish with the session; None where no name is theirs.
        renames_apart: why several tables are not renamed all or none of them, where DDL cannot be rolled back.
        item: an item of a list, as an expression that makes a row of each; None where there are no lists.
        listed: a sorted list of texts, empty where all are NULL, as an aggregate.
        sorted_list: a list in the order of ``listed``.
        function_call: how a table function without arguments is called, by its name.
        functions_have_path: a function says where what it calls is looked up, which is not in the caller's schemas.
        folds_upper: a bare name is one in capitals.
        column_types: the query of ``column_name`` and ``column_type`` of a ``{table}``, whose name as a literal is
            ``{name}``; None where it was not tried.
        has_rights: such a view hides its source from who may read the view alone.
    """

    name: ClassVar[str]
    sqlglot: ClassVar[DialectType]
    backslash: ClassVar[bool | Literal["in literals"]] = False
    pads: ClassVar[bool] = False
    longest_name: ClassVar[tuple[int, Literal["bytes", "characters"]] | None] = None
    sized_text: ClassVar[bool] = False
    inserts: ClassVar[bool] = True
    deletes: ClassVar[bool] = True
    typed: ClassVar[bool] = True
    selects_values: ClassVar[bool] = True
    stores_types: ClassVar[bool] = True
    exact_type: ClassVar[str | None] = None
    few_groups: ClassVar[str] = ""
    narrow_sums: ClassVar[bool] = False
    orders_sets: ClassVar[bool] = False
    keeps_queries: ClassVar[bool] = False
    numbers_classes: ClassVar[bool] = False
    reads_columns: ClassVar[bool] = False
    reads_rows: ClassVar[bool] = False
    keyed: ClassVar[str | None] = None
    zones: ClassVar[bool] = False
    moved: ClassVar[Mapping[str, str]] = {}
    years: ClassVar[tuple[int, int]] = (1, 9999)
    guard: ClassVar[tuple[str, str, str] | None] = None
    guard_obstacle: ClassVar[str] = "its views were not tried as guards"
    sorts_prefixes: ClassVar[bool] = False
    schemas: ClassVar[str | None] = None
    key_catalog: ClassVar[str | None] = None
    guard_session: ClassVar[str | None] = None
    has_rights: ClassVar[bool] = True
    item: ClassVar[str | None] = None
    listed: ClassVar[str | None] = None
    sorted_list: ClassVar[str | None] = None
    renames_apart: ClassVar[str] = "it renames one table after the other"
    of_session: ClassVar[re.Pattern[str] | None] = None
    function_call: ClassVar[str] = "{}()"
    functions_have_path: ClassVar[bool] = False
    folds_upper: ClassVar[bool] = False
    column_types: ClassVar[str | None] = None

    @abstractmethod
    def exact(self, text: exp.Expr) -> exp.Expr:
        """Text that is compared character by character, whatever its column's collation is."""

    def exact_float(self, number: exp.Expr) -> exp.Expr:
        """A binary fraction that is compared as a number, so that 0 and -0 are one."""
        return number

    def exact_time(self, time: exp.Expr, *, day: bool) -> exp.Expr:
        """A point in time, or a day, that is equal to itself wherever it is stored and however it is looked up."""
        return time

    def fraction(self, text: exp.Expr) -> exp.Expr:
        """A number with a fraction as text (a CAST in DuckDB), in digits that read back as the number."""
        return text

    def scaled(self, number: exp.Expr) -> exp.Expr:
        """A number in units of a power of ten, rounded down, as ``hierarchy/levels/scaled`` has it."""
        return number

    def unscaled(self, text: exp.Expr) -> exp.Expr:
        """A whole number of units as the text of the number, as ``hierarchy/levels/number`` has it."""
        return text

    def draw(self, text: exp.Expr) -> exp.Expr:
        """A whole number below 2^48 made of a text: the first 48 bits of the SHA-256 of its UTF-8.

        With a secret at its beginning the text gives a number that looks random to anyone who does not know the secret,
        and is the same on every engine.
        """
        raise UnsupportedError(f"{self.name}: a number cannot be drawn from a text here; use another engine")

    def sort_key(self, text: exp.Expr) -> exp.Expr:
        """Text by which windows sort and compare, equal where the text is, whatever a session says of sorting."""
        return self.exact(text)

    def shown(self, text: exp.Expr) -> exp.Expr:
        """A number as text (a CAST in DuckDB) in which a reader would tell 0 from -0."""
        return text

    def exact_padded(self, text: exp.Expr) -> exp.Expr:
        """Text of a type whose values may end with blanks that casts take off, with these blanks."""
        return self.exact(text)

    def _unmarked(self, collate: exp.Expr) -> exp.Expr:
        """What a template marked by a collation of ours, in this dialect; text is compared exactly."""
        by = {
            "number": self.exact_float,
            "time": lambda time: self.exact_time(time, day=False),
            "day": lambda day: self.exact_time(day, day=True),
            "fraction": self.fraction,
            "scaled": self.scaled,
            "unscaled": self.unscaled,
            "draw": self.draw,
            "sorted": self.sort_key,
            "padded": self.exact_padded,
            "shown": self.shown,
        }
        return by.get(collate.expression.name, self.exact)(collate.this.copy())

    def rewrite(self, tree: exp.Expr) -> exp.Expr:
        """Replace what sqlglot would pass through or change without a warning."""
        return tree

    def sql(self, tree: exp.Expr) -> str:
        """A checked tree as text. The tree is used up."""
        for mark in tree.find_all(exp.Collate):
            if mark.expression.name in _OPERANDS and isinstance(mark.parent, exp.Paren):
                mark.parent.replace(mark)  # they kept operators away from the mark, not from what it is on
        tree = self.rewrite(replaced(tree, exp.Collate, self._unmarked))
        checkpoint()
        return tree.sql(self.sqlglot, copy=False)

    def quote(self, name: str) -> str:
        """A quoted name."""
        return quoted_name(name, self.sqlglot)

    def relation(self, parts: Sequence[str]) -> str:
        """A quoted table name of one to three parts."""
        return ".".join(self.quote(part) for part in parts)

    def masked(self, number: str, mask: str) -> str:
        """The bits of a whole number that are in a mask, both in this dialect."""
        return f"({number} & {mask})"

    def literal(self, value: str | None) -> str:
        """Text as a literal, or NULL."""
        return "NULL" if value is None else text_literal(value, self.sqlglot)

    def text(self, value: str | None) -> str:
        """Text as a column of a query: a literal, cast and collated where a bare one would not do."""
        return self.literal(value)

    def keyed_hash(self, text: str, key: bytes) -> str:
        """HMAC-SHA256 of a text in UTF-8 as 64 hexadecimal digits, the same on every engine; not of NULL.

        Args:
            text: in this dialect.
            key: at most 64 bytes.

        Raises:
            UnsupportedError: the engine's SHA-256 was not tried, or it has none.
        """
        if self.keyed is None:
            raise UnsupportedError(
                f"{self.name}: keyed hashes were not tried on it, and tokens of parties are nothing else; move this "
                "party's table to DuckDB, PostgreSQL, SQLite, MariaDB, ClickHouse or Spark"
            )
        padded = key.ljust(_BLOCK, b"\0")
        inner, outer = (bytes(byte ^ pad for byte in padded).hex() for pad in (0x36, 0x5C))
        return self.keyed.format(text=text, inner=inner, outer=outer, key=key.hex())

    def create_as(self, table: str, query: str, temporary: bool) -> str:
        """Create a table from a query.

        Args:
            table: its quoted name.
            query: in this dialect.
            temporary: it belongs to the session.
        """
        return f"CREATE {'TEMPORARY ' if temporary else ''}TABLE {table} AS {query}"

    def of_the_session(self, table: tuple[str, ...]) -> tuple[str, ...]:
        """The name of a temporary table that is to be copied to a name of a schema."""
        return table

    def copied(self, made: Sequence[str], table: Sequence[str]) -> list[str]:
        """Copy a temporary table to where it is to be, and drop it; of two tables of one name, the session's is read.

        Args:
            made: the name of the temporary one.
            table: the other one's.
        """
        own = self.relation(made)
        made_of_it = self.create_as(self.relation(table), f"SELECT * FROM {own}", False)
        return [made_of_it, f"DROP TEMPORARY TABLE {own}"]

    def term(self, query: str) -> str:
        """A query as a term of a union, which common table expressions may not begin."""
        return f"SELECT * FROM ({query}) AS term" if query.startswith("WITH ") else query

    def rows(self, columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> str:
        """A query of the rows given as text."""
        names = [self.quote(column) for column in columns]
        selects = [
            "SELECT " + ", ".join(f"{self.text(value)} AS {name}" for name, value in zip(names, row, strict=True))
            for row in rows
        ]
        return "\nUNION ALL\n".join(selects)

    def numbers(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[int]]) -> str:
        """The FROM form of a table of integers."""
        if not self.selects_values:
            names = [self.quote(column) for column in columns]
            selects = [
                "SELECT " + ", ".join(f"{number} AS {column}" for column, number in zip(names, row, strict=True))
                for row in rows
            ]
            return f"({' UNION ALL '.join(selects)}) AS {self.quote(name)}"
        listed = ", ".join("(" + ", ".join(map(str, row)) + ")" for row in rows)
        return f"(VALUES {listed}) AS {self.quote(name)} ({', '.join(map(self.quote, columns))})"

    def numbers_to(self, count: str) -> str | None:
        """The FROM form of the numbers from 0 on, this many as a column of the tables before it says.

        Args:
            count: the column in this dialect.

        Returns:
            None where the engine has no such relation.
        """
        return None

    def insert(self, table: str, rows: Sequence[Sequence[str | None]]) -> str:
        """Insert rows of text into a table, whose name is quoted."""
        return f"INSERT INTO {table} VALUES\n  " + ",\n  ".join(
            "(" + ", ".join(map(self.literal, row)) + ")" for row in rows
        )

    def rename(self, table: Sequence[str], name: str) -> str:
        """Give a table another name in its schema."""
        return f"ALTER TABLE {self.relation(table)} RENAME TO {self.quote(name)}"

    def rename_all(self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> str:
        """Give several tables other names in their schemas, in this order; all of them, or none."""
        raise UnsupportedError(
            f"{self.name}: several tables cannot be renamed at once: {self.renames_apart}; rename one at a time"
        )

    def mark(self, table: Sequence[str], run_id: str) -> str:
        """Let a table say which run wrote it, for as long as it is this table: whatever its name is, and no other one.

        Args:
            table: the verified table.
            run_id: of the run.
        """
        return f"COMMENT ON TABLE {self.relation(table)} IS {self.literal(mark_text(run_id))}"

    def comment_on_column(self, table: Sequence[str], column: str, text: str) -> str:
        """Let the database say of a column what it is.

        Args:
            table: the published table.
            column: of it.
            text: what to say.

        Raises:
            UnsupportedError: the engine has no such comments.
        """
        return f"COMMENT ON COLUMN {self.relation(table)}.{self.quote(column)} IS {self.literal(text)}"

    def differs_by_session(self, kind: str, declared: str) -> str | None:
        """Why the text of a column may be another one in another session, so that a view makes no labels of it.

        Args:
            kind: of the column.
            declared: its type.
        """
        return None

    def guarded_view(self, view: Sequence[str], query: str) -> str:
        """Create a view that shows what its query selects, in the query's order, and lets nothing of a reader below it.

        Args:
            view: its name.
            query: in this dialect; it ends with ORDER BY.
        """
        if self.guard is None:
            raise UnsupportedError(f"release.view: {self.name}: {self.guard_obstacle}; publish a table")
        before, between, after = self.guard
        return f"{before} {self.relation(view)} {between} {query} {after}".rstrip()

    def table_function(self, function: str, columns: Mapping[str, str], query: str) -> str:
        """Create, or replace, a function without arguments whose rows are those of a query.

        Args:
            function: its name in this dialect.
            columns: those of the query, with their types in DuckDB.
            query: in this dialect; it names each table in full.
        """
        raise UnsupportedError(f"{self.name} has no functions that return the rows of a query; use kanon-sql check")

    def declared(self, columns: Mapping[str, str]) -> str:
        """Columns with their types.

        Args:
            columns: their names, which need no quotes, with the types in DuckDB.
        """
        return ", ".join(f"{name} {self.type(kind)}" for name, kind in columns.items())

    def type(self, kind: str) -> str:
        """A type of DuckDB's in this dialect."""
        return exp.DataType.build(kind, dialect="duckdb").sql(self.sqlglot)

    def unmark(self, table: Sequence[str], run_id: str) -> str | None:
        """Take a mark off a table, where the next one would stand beside it; None where it takes its place."""
        return None

    def hold(self, tables: Sequence[Sequence[str]]) -> str | None:
        """Keep others from changing what tables do (triggers, rules, names) until a transaction ends, but not from use.

        Args:
            tables: their names.

        Returns:
            None where there is no such statement.
        """
        return None

    def create_schema(self, name: Sequence[str]) -> str | None:
        """Make a schema unless it is there, which no other user may use; None where schemas are not made by SQL."""
        return f"CREATE SCHEMA IF NOT EXISTS {self.relation(name)}"

    def schemas_named(self, schema: Sequence[str]) -> str | None:
        """A query that counts the schemas of a name, where schemas are not made by SQL; None elsewhere."""
        return None

    def schemas_created_by_us(self, schema: Sequence[str]) -> str | None:
        """A query that counts the schemas of a name that :meth:`create_schema` has made; None where none says so."""
        return None

    def readers(self, schema: Sequence[str]) -> str | None:
        """A query that counts who else may read what is made in a schema; superusers and their like may anyway.

        Args:
            schema: its name parts.

        Returns:
            None where the engine knows no rights: anyone who may read the source may read all else.

        Raises:
            UnsupportedError: who may read a schema was not tried on this engine.
        """
        raise UnsupportedError(
            f"state: who may read a schema cannot be told on {self.name}, and a state is as sensitive as the source; "
            "use DuckDB, PostgreSQL, SQLite, MariaDB, ClickHouse or Spark, or release without a state"
        )

    def typed_value(self, text: str, kind: str, type_name: str) -> str:
        """A value of a column's type from its text, to compare that column with.

        Args:
            text: the value as the engine has written it.
            kind: the kind of the column's values.
            type_name: the engine's name of its type.
        """
        return f"CAST({self.literal(text)} AS {type_name})"

    def to_file(self, table: Sequence[str], path: str, run_id: str) -> str:
        """Write a table into a Parquet or CSV file.

        Args:
            table: it.
            path: the file, whose ending tells which of the two.
            run_id: the run, which a Parquet file can name.
        """
        raise UnsupportedError(f"{self.name} writes no files; publish a table there, or read its table with DuckDB")

    def from_file(self, table: Sequence[str], path: str, types: Mapping[str, str], delimiter: str = ",") -> str:
        """Make a table of the session of what :meth:`to_file` wrote, with the rows in their order.

        Args:
            table: its name.
            path: the file.
            types: the columns of a CSV file, and what they are. A Parquet file knows its own.
            delimiter: what stands between the cells of a CSV file.
        """
        raise UnsupportedError(f"{self.name} reads no files; name a table instead")

    def copy_of(self, table: Sequence[str], form: str) -> str:
        """Make a table of the session of what a FROM form has now.

        Args:
            table: its name.
            form: of a file.
        """
        return self.create_as(self.relation(table), f"SELECT * FROM {form} AS kanon_file", True)

    def replace(self, table: Sequence[str], release: Sequence[str], aside: Sequence[str]) -> list[str]:
        """Put a table in the place of the release, where DDL cannot be rolled back.

        Args:
            table: the verified table.
            release: the name of the release, under which the old one stands.
            aside: a free name, under which the old one may be left; it is dropped afterwards.
        """
        return [self.rename(release, aside[-1]), self.rename(table, release[-1])]

    def form(self, value: str, kind: str, type_name: str) -> str:
        """The form of a stored value in words, which begins with ``kind`` if it fits; where columns are typed, it does.

        Args:
            value: a column in this dialect.
            kind: the kind that its declared type promises; ``other`` promises one form, whichever.
            type_name: that type.
        """
        return self.literal(kind)

    def stored_as(self, value: str) -> str:
        """What distinguishes how equal values are stored; where columns are typed, they are stored alike.

        Args:
            value: a column in this dialect.
        """
        return self.literal("")

    @property
    def quoted(self) -> re.Pattern[str]:
        """One group: a text literal or a quoted name, whose content is no SQL."""
        return QUOTED[self.backslash]


def replaced(
    tree: exp.Expr, kind: type[exp.Expr] | tuple[type[exp.Expr], ...], by: Callable[[exp.Expr], exp.Expr]
) -> exp.Expr:
    """The tree with every node of a kind replaced, innermost first."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    for node in reversed(list(tree.find_all(*kinds))):
        new = by(node)
        if new is not node:
            if node is tree:
                tree = new
            else:
                node.replace(new)
    return tree


D = TypeVar("D", bound=type[Dialect])


def dialect(kind: D) -> D:
    """Declare a dialect of this package; a decorator of its class."""
    DIALECTS.add(kind.name, kind(), kind.__module__)
    return kind


_MARK = "anonymized by kanon_sql, run "


def mark_text(run_id: str) -> str:
    """What a table says of itself that a run has written and verified."""
    return f"{_MARK}{run_id}"


def marked_run(text: str | None) -> str | None:
    """The run whose mark is in a text, which may say more than that; None when there is no mark."""
    found = re.search(rf"{_MARK}([0-9a-z]{{1,64}})\b", text or "")
    return None if found is None else found.group(1)
