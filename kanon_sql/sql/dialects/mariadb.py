"""MariaDB."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from sqlglot import exp

from kanon_sql.errors import UnsupportedError
from kanon_sql.sql.dialects.base import Dialect, dialect, mark_text, replaced
from kanon_sql.sql.dialects.rewrites import called, equalities, first_bits_by_conv, floating_division, numbers_in

__all__ = ["SEQUENCE", "WITHOUT_SEQUENCES", "MariaDB"]

_DIGEST = "kanon_digest"
_ALL_ROWS = 2**64 - 1
SEQUENCE = "seq_0_to_9223372036854775807"
"""All numbers that a BIGINT counts by, as the storage engine SEQUENCE has them: it makes those that are asked for."""
_SHORT = 255
"""Columns of this many characters are kept in the row, and joined in a quarter of the time; all of a row's
columns together may have 65,535 bytes."""


@dialect
class MariaDB(Dialect):
    """MariaDB 10.5 and later.

    Attributes:
        collation: compares characters by their code points and pads nothing with spaces.
        longest_text: characters of the longest text that sorting sees whole, see :meth:`exact`.
    """

    name = "mariadb"
    sqlglot = "mysql"
    backslash = "in literals"
    longest_name = (64, "characters")
    sized_text = True
    selects_values = False
    reads_rows = True
    stores_types = False  # a text that was grouped exactly has another collation than its column
    schemas = "SELECT SCHEMA_NAME, SCHEMA_NAME FROM information_schema.SCHEMATA"
    key_catalog = (
        "SELECT CASE WHEN REFERENCED_TABLE_NAME IS NULL THEN 'p' ELSE 'f' END, TABLE_SCHEMA, TABLE_NAME, "
        "CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME, "
        "ORDINAL_POSITION FROM information_schema.KEY_COLUMN_USAGE "
        "WHERE CONSTRAINT_NAME = 'PRIMARY' OR REFERENCED_TABLE_NAME IS NOT NULL"
    )
    zones = True
    moved: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("date", "timestamp", "moment"), "DATE_ADD({date}, INTERVAL {days} DAY)"
    )
    keyed = (
        "SHA2(CONCAT(UNHEX('{outer}'), "
        "UNHEX(SHA2(CONCAT(UNHEX('{inner}'), CAST(CONVERT({text} USING utf8mb4) AS BINARY)), 256))), 256)"
    )
    collation: ClassVar[str] = "utf8mb4_nopad_bin"
    longest_text: ClassVar[int] = 16_383  # what VARCHAR holds in utf8mb4
    # LIMIT keeps the order, and conditions of a reader above the view: below it, the session's counters of rows that
    # were read would tell of single classes.
    guard: ClassVar[tuple[str, str, str] | None] = (
        "CREATE OR REPLACE SQL SECURITY DEFINER VIEW",
        "AS",
        "LIMIT 18446744073709551615",
    )
    sorts_prefixes: ClassVar[bool] = True
    rescans_extremes: ClassVar[bool] = True
    """MIN and MAX over a window look through all of it for each of its rows, FIRST_VALUE does not."""

    def __init__(self, *, sequences: bool = True) -> None:
        self._sequences = sequences

    def exact(self, text: exp.Expr) -> exp.Expr:
        """The text in a collation that merges nothing; an error where sorting would not see all of it.

        Sorting (windows sort too) sees only the first ``max_sort_length`` bytes and takes
        texts that differ later for equal, without a word. It also takes texts that differ in zero
        characters at their ends for equal, so that one of them may stay between two equal others, and
        grouping makes three groups of two texts: a value more than there is. So a longer text, and one
        that ends with a zero character, is a division by zero: an error in a statement that writes, a
        warning in one that reads, which the session turns into an error. A limit in the CAST would do
        the same, but would give every column the type of the longest text.
        """
        plain = text.unnest()
        if isinstance(plain, exp.Cast) and plain.is_type(exp.DType.VARCHAR, exp.DType.TEXT):
            plain = plain.this
        whole = exp.cast(plain.copy(), exp.DType.VARCHAR)
        longest = exp.Literal.number(self.longest_text)
        short = exp.LTE(this=exp.Length(this=plain.copy()), expression=longest.copy())
        last = exp.Hex(this=exp.Right(this=whole.copy(), expression=exp.Literal.number(1)))
        seen = exp.paren(exp.and_(short, exp.NEQ(this=last, expression=exp.Literal.string("00"))))
        held = exp.Left(this=whole, expression=exp.IntDiv(this=longest, expression=seen))
        return exp.Collate(this=held, expression=exp.var(self.collation))

    def sort_key(self, text: exp.Expr) -> exp.Expr:
        """32 bytes: no session sorts by fewer than 64, and windows of a longer text would see groups that are none."""
        return called("UNHEX", called("SHA2", self.exact(text), 256))

    def differs_by_session(self, kind: str, declared: str) -> str | None:
        """A reader chooses the zone in which moments are read, and whether a CHAR ends with spaces."""
        if kind == "moment":
            return (
                "a reader chooses by time_zone on which day a moment is, and could compare the classes that this "
                "makes; store it as DATETIME or DATE"
            )
        if declared.lower().startswith("char"):
            return (
                "a reader chooses by sql_mode whether a CHAR ends with spaces, and could compare the classes that this "
                "makes; store it as VARCHAR"
            )
        return None

    def exact_time(self, time: exp.Expr, *, day: bool) -> exp.Expr:
        """Of one type in every table that a statement makes, so that an index finds what it holds.

        A key is stored once more before it is looked up. Where the one column is the user's and the other is the
        server's own, that changes some values: a TIMESTAMP in the first second of 1970 is 0000-00-00 then, and its
        class is lost in the join.
        """
        return exp.cast(time, "DATE" if day else "DATETIME(6)", dialect="mysql")

    def fraction(self, text: exp.Expr) -> exp.Expr:
        """All digits, and no power of ten where a decimal can hold the number."""
        return _fraction(text.this)

    def draw(self, text: exp.Expr) -> exp.Expr:
        """By digits of base 16; the session speaks UTF-8."""
        return first_bits_by_conv(text)

    def rewrite(self, tree: exp.Expr) -> exp.Expr:
        """Division as DuckDB divides, joins by key, and text columns that hold any text exactly."""
        tree = floating_division(tree)
        tree = replaced(tree, exp.Cast, _moment)
        tree = numbers_in(tree, "seq")
        if self.rescans_extremes:
            tree = replaced(tree, exp.Window, _sorted_extreme)
        for select in tree.find_all(exp.Select):
            if select.args.get("joins"):
                select.set("operation_modifiers", ["STRAIGHT_JOIN"])
                for join in select.args["joins"]:
                    _keyed(join, _read_columns(select, join.alias_or_name))
                _kept_whole(select)
        for column in tree.find_all(exp.ColumnDef):
            if column.kind is not None and column.kind.this in exp.DataType.TEXT_TYPES:
                characters = _characters(column.kind)
                short = 0 < characters <= _SHORT
                kind = f"VARCHAR({characters})" if short else "LONGTEXT"
                column.set("kind", exp.DataType.build(kind, dialect="mysql"))
                column.set(
                    "constraints",
                    [
                        exp.ColumnConstraint(kind=exp.CharacterSetColumnConstraint(this=exp.var("utf8mb4"))),
                        exp.ColumnConstraint(kind=exp.CollateColumnConstraint(this=exp.var(self.collation))),
                        *column.args.get("constraints", []),
                    ],
                )
        return tree

    def numbers_to(self, count: str) -> str | None:
        """A range of a sequence, which the server looks up by its key for each row before it."""
        return f"{SEQUENCE} AS numbers ON numbers.seq < {count}" if self._sequences else None

    def rename(self, table: Sequence[str], name: str) -> str:
        """The new name is qualified too: a plain one would move the table to the session's database."""
        return f"ALTER TABLE {self.relation(table)} RENAME TO {self.relation((*table[:-1], name))}"

    def mark(self, table: Sequence[str], run_id: str) -> str:
        """The table's comment, an option of the table."""
        return f"ALTER TABLE {self.relation(table)} COMMENT = {self.literal(mark_text(run_id))}"

    def comment_on_column(self, table: Sequence[str], column: str, text: str) -> str:
        """A comment is part of a column's type here, which nothing is to change."""
        raise UnsupportedError(
            f"--comment: {self.name} takes a comment of a column only with its type; write a file (-o FILE.md)"
        )

    def replace(self, table: Sequence[str], release: Sequence[str], aside: Sequence[str]) -> list[str]:
        """One statement, which readers wait for: they see the old release or the new one."""
        return [self.rename_all([(release, aside), (table, release)])]

    def rename_all(self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> str:
        """One statement that undoes its first renames where a later one fails; from 10.6 on at the next start, too."""
        renamed = (f"{self.relation(table)} TO {self.relation(name)}" for table, name in pairs)
        return f"RENAME TABLE {', '.join(renamed)}"

    def typed_value(self, text: str, kind: str, type_name: str) -> str:
        """A cast knows few types, and takes the fraction of a second away unless it is asked for."""
        if kind in ("integer", "decimal") and re.fullmatch(r"-?\d+(\.\d+)?", text):
            return text
        return f"CAST({self.literal(text)} AS {'DATE' if kind == 'date' else 'DATETIME(6)'})"

    def readers(self, schema: Sequence[str]) -> str | None:
        """Rights in the schema of any other account or role, by a pattern of names among them.

        Any right counts: who may alter a table may move it to where it can be read. An account is a name and a host, as
        in CURRENT_USER; a row of one name and several hosts counts as another's. Who was given all schemas may read the
        source too. Only who may read these tables of the server sees it; no other user is told who has rights.
        """
        name = f"LOWER({self.literal(schema[-1])})"
        given = " UNION ".join(
            f"SELECT User AS grantee, Host AS host FROM mysql.{table} WHERE {condition}"
            for table, condition in (
                ("db", f"{name} LIKE LOWER(Db)"),
                ("tables_priv", f"LOWER(Db) = {name}"),
                ("columns_priv", f"LOWER(Db) = {name}"),
            )
        )
        return f"SELECT COUNT(*) FROM ({given}) AS given WHERE CONCAT(grantee, '@', host) <> CURRENT_USER()"


WITHOUT_SEQUENCES = MariaDB(sequences=False)
"""For servers without the storage engine SEQUENCE, and sessions that may not read from it."""


def _characters(kind: exp.DataType) -> int:
    """How long a type says its texts are at most; 0 when it does not say."""
    return int(kind.expressions[0].name) if kind.expressions else 0


def _fraction(number: exp.Expr) -> exp.Expr:
    """A cast makes 22 characters of a DOUBLE and rounds it to fit; as a decimal it keeps all its digits.

    Of a FLOAT it makes six digits. Where they do not read back as the number, it is written as a DOUBLE.
    """
    text, size = exp.cast(number.copy(), exp.DType.VARCHAR), exp.Abs(this=number.copy())
    digits = exp.cast(exp.cast(number.copy(), "DECIMAL(60, 38)", dialect="mysql"), exp.DType.VARCHAR)
    cut = exp.and_(
        exp.Length(this=text.copy()) > exp.Literal.number(20),
        size > exp.Literal.number("1e-20"),
        size.copy() < exp.Literal.number("1e16"),
    )
    trimmed = exp.Trim(this=digits, expression=exp.Literal.string("0"), position="TRAILING")
    kept = exp.or_(*(exp.cast(text.copy(), kind).eq(number.copy()) for kind in (exp.DType.DOUBLE, exp.DType.FLOAT)))
    whens = [exp.If(this=cut, true=trimmed), exp.If(this=kept, true=text.copy())]
    wide = exp.cast(exp.cast(number.copy(), exp.DType.DOUBLE), exp.DType.VARCHAR)
    return exp.Case(ifs=whens, default=wide)


def _moment(cast: exp.Expr) -> exp.Expr:
    """A TIMESTAMP is shown in the session's zone, which is UTC; a cast would drop its fraction."""
    if not isinstance(cast.this, exp.AtTimeZone):
        return cast
    shown, zone = cast.this.this.copy(), cast.this.args["zone"]
    # NULL where the server's tables of zones do not have it.
    return shown if zone.name == "UTC" else called("CONVERT_TZ", shown, "+00:00", zone.name)


def _sorted_extreme(window: exp.Expr) -> exp.Expr:
    """The least or largest value of a partition as the first in order; NULL comes last, as if it was not there.

    Not where an ORDER BY would take a column's name for an alias of the SELECT.
    """
    extreme, select = window.this, window.find_ancestor(exp.Select)
    if not isinstance(extreme, exp.Min | exp.Max) or window.args.get("order") is not None:
        return window
    aliases = {item.alias for item in select.selects if isinstance(item, exp.Alias)} if select is not None else set()
    if any(not column.table and column.name in aliases for column in extreme.find_all(exp.Column)):
        return window
    value, largest = extreme.this, isinstance(extreme, exp.Max)
    by_value = exp.Ordered(this=value.copy(), desc=largest, nulls_first=False)
    found = window.copy()
    found.set("this", exp.FirstValue(this=value.copy()))
    found.set("order", exp.Order(expressions=[by_value]))
    return found


def _read_columns(select: exp.Select, table: str) -> list[exp.Expr]:
    """The columns of a table that a query reads; all, where it does not say of each column of which table it is."""
    asked = [select.args.get(name) for name in ("where", "group", "having", "order", "qualify")]
    asked += [*select.expressions, *(join.args.get("on") for join in select.args["joins"])]
    columns = [column for part in asked if part is not None for column in part.find_all(exp.Column)]
    own = {column.name.lower(): column.this for column in columns if column.table == table}
    everything = "*" in own or any(isinstance(item, exp.Star) for item in select.expressions)
    if everything or not own or not all(column.table for column in columns):
        return [exp.Star()]
    return [exp.column(exp.to_identifier(name.name, quoted=True)) for name in own.values()]


def _keyed(join: exp.Expr, read: Sequence[exp.Expr]) -> None:
    """Let the server find the rows to join by a key: the joined table as a derived one, which gets it.

    Scratch tables have no index. A derived table is given one on the columns it is joined by
    (LIMIT keeps it from being merged into the query), if these are short enough; so each exact
    text, which may be long, is looked up by a digest first. It has no other columns than are read,
    or it might not fit into memory, and a key takes ten times as long to make on disk. Joins keep
    their order, or the server might multiply small tables before it looks at the large one.
    """
    joined, condition = join.this, join.args.get("on")
    if condition is None:
        return
    alias = joined.alias_or_name
    columns = [*read]
    for same in equalities(condition):
        text, own = same.left, same.right
        if isinstance(text.unnest(), exp.Collate) and {column.table for column in own.find_all(exp.Column)} == {alias}:
            number = len(columns) - len(read)
            name = f"{_DIGEST}{number}" if number else _DIGEST
            columns.append(exp.alias_(_digest(_unqualified(own)), name))
            looked_up = type(same)(this=_digest(text), expression=exp.column(name, alias))
            join.set("on", exp.and_(join.args["on"], looked_up))
    if isinstance(joined, exp.Subquery) and len(columns) == len(read):
        if _is_merged(joined.this):
            joined.set("this", joined.this.limit(_ALL_ROWS))
        return
    rows = joined.copy()
    if isinstance(rows, exp.Table):
        rows.set("alias", None)
    derived = exp.Select(expressions=columns).from_(rows).limit(_ALL_ROWS)
    join.set("this", derived.subquery(exp.to_identifier(alias, quoted=True)))


def _is_merged(inner: exp.Expr | None) -> bool:
    """Whether the server takes a query for a part of the one that it is in: not what is grouped or numbered."""
    if not isinstance(inner, exp.Select) or any(inner.args.get(part) for part in ("group", "distinct", "limit")):
        return False
    own = (node for item in inner.selects for node in item.walk(prune=lambda node: isinstance(node, exp.Subquery)))
    return not any(isinstance(node, exp.Window | exp.AggFunc) for node in own)


def _kept_whole(select: exp.Select) -> None:
    """Keep a join that others are joined to by columns of several of its tables from being merged into the query.

    The server makes a key for each table, or set of tables, whose columns a derived table is joined by, and uses one of
    them. Of several it would look at all rows that have a part of the key.
    """
    first = select.args["from_"].this
    inner = first.this if isinstance(first, exp.Subquery) else None
    if not isinstance(inner, exp.Select) or not inner.args.get("joins") or not _is_merged(inner):
        return
    tables = {item.alias_or_name: {column.table for column in item.find_all(exp.Column)} for item in inner.selects}
    for join in select.args["joins"]:
        equal = list((join.args.get("on") or exp.true()).find_all(exp.EQ, exp.NullSafeEQ))
        used = [
            tables.get(column.name, set())
            for same in equal
            for column in same.find_all(exp.Column)
            if column.table == first.alias
        ]
        if len({frozenset(each) for each in used if each}) > 1:
            first.set("this", inner.limit(_ALL_ROWS))
            return


def _unqualified(text: exp.Expr) -> exp.Expr:
    """Of columns of one table, as that table has them alone."""
    return replaced(text.copy(), exp.Column, lambda column: exp.column(column.this.copy()))


def _digest(text: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="CRC32", expressions=[text.copy()])
