"""SQLite: a column takes values of any type, dates are text, and decimals are floating-point numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import sqlglot
from sqlglot import exp

from kanon_sql.errors import UnsupportedError
from kanon_sql.sql.dialects.base import Dialect, dialect, mark_text, replaced
from kanon_sql.sql.dialects.rewrites import called, equalities, numbers_in
from kanon_sql.sql.text import ANY_RUN

__all__ = ["WITHOUT_JSON", "SQLite"]

_FORMATS = {"YEAR": "%Y", "MONTH": "%m", "DAY": "%d", "HOUR": "%H", "MINUTE": "%M", "SECOND": "%S"}
_TEXTS = (exp.Substring, exp.Left, exp.Right, exp.Replace, exp.Repeat, exp.Trim, exp.Upper, exp.Lower, exp.DPipe)
_WHOLE = (exp.DType.BIGINT, exp.DType.INT)
_TEXT = (exp.DType.VARCHAR, exp.DType.TEXT)
_NUMBERS = (*_WHOLE, exp.DType.DOUBLE, exp.DType.DECIMAL)

_DEEPEST = 5
"""This many derived tables may lie in each other."""


@dialect
class SQLite(Dialect):
    """SQLite 3.35 and later."""

    name = "sqlite"
    of_session = re.compile(r"temp", re.IGNORECASE)
    sqlglot = "sqlite"
    typed = False
    keeps_queries = True
    reads_rows = True
    orders_sets = True  # it groups by sorting, which takes two thirds of the time where codes are nearly in order
    stores_types = False  # only what is selected from the column itself has its declared type
    schemas = "SELECT name, name FROM pragma_database_list"
    key_catalog = (
        "SELECT 'p', 'main', own.name, 'p', info.name, NULL, NULL, NULL, info.pk "
        "FROM sqlite_master AS own JOIN pragma_table_info(own.name) AS info "
        "WHERE own.type = 'table' AND info.pk > 0 UNION ALL "
        "SELECT 'f', 'main', own.name, refers.id, refers.\"from\", 'main', refers.\"table\", refers.\"to\", refers.seq "
        "FROM sqlite_master AS own JOIN pragma_foreign_key_list(own.name) AS refers WHERE own.type = 'table'"
    )
    moved = dict.fromkeys(
        ("date", "timestamp"), "(date(substr({date}, 1, 10), {days} || ' days') || substr({date}, 11))"
    )
    keyed = "LOWER(HEX(kanon_keyed(x'{key}', CAST({text} AS BLOB), 'sha256')))"
    # LIMIT keeps the order and the conditions of a reader where they belong.
    guard = ("CREATE VIEW", "AS", "LIMIT -1")
    has_rights = False

    def __init__(self, *, json: bool = True) -> None:
        self._json = json

    def exact(self, text: exp.Expr) -> exp.Expr:
        """The binary collation, whatever the column's is.

        A column of a source (templates name its table) stays as it is stored, so that a blob or a
        number among texts is seen, and refused, before labels are made of it.
        """
        text = text.unnest()
        cast = isinstance(text, exp.Cast) and text.is_type(*_TEXT)
        if cast and isinstance(text.this, exp.Column) and text.this.table:
            text = text.this
        elif not cast:
            text = exp.cast(text, exp.DType.TEXT)
        return exp.Collate(this=text.copy(), expression=exp.var("BINARY"))

    def fraction(self, text: exp.Expr) -> exp.Expr:
        """The fewest digits that read back as the number."""
        return _fraction(text.this)

    def scaled(self, number: exp.Expr) -> exp.Expr:
        """Interval arithmetic without decimals, and exact all the same."""
        product = number.find(exp.Mul)
        assert product is not None
        value = product.left.find(exp.Cast)
        assert value is not None
        return _scaled(value.this, product.right)

    def unscaled(self, text: exp.Expr) -> exp.Expr:
        """The exact number of interval arithmetic as text again."""
        decimal = text.this
        return _number_text(decimal.this.left.this, _decimals(decimal.to))

    def draw(self, text: exp.Expr) -> exp.Expr:
        """By a function that the connection is given, since SQLite has no digest."""
        return called("kanon_draw", text)

    def shown(self, text: exp.Expr) -> exp.Expr:
        """By a function that the connection is given: SQLite writes -0.0 as 0.0, and gives readers -0.0."""
        return called("kanon_shown", text.unnest().this)

    def unmark(self, table: Sequence[str], run_id: str) -> str:
        """The index that is the mark is dropped."""
        return f"DROP INDEX IF EXISTS {self.relation([*table[:-1], mark_text(run_id)])}"

    def create_schema(self, name: Sequence[str]) -> None:
        """A schema is a file that is attached, or ``main``."""

    def schemas_named(self, schema: Sequence[str]) -> str:
        """By what the connection has attached."""
        return f"SELECT COUNT(*) FROM pragma_database_list WHERE LOWER(name) = LOWER({self.literal(schema[-1])})"

    def readers(self, schema: Sequence[str]) -> None:
        """There are no rights inside of a file: anyone who may open it may read all of it."""

    def rewrite(self, tree: exp.Expr) -> exp.Expr:
        """What SQLite lacks, or would compute without a warning as something else."""
        tree = numbers_in(tree, "key")
        tree = replaced(tree, exp.Cast, _decimal_text)
        tree = replaced(tree, exp.Cast, _strict_cast)
        tree = replaced(tree, exp.Extract, _extract)
        tree = replaced(tree, exp.Least, _least)
        tree = replaced(tree, (exp.IntDiv, exp.Left, exp.Right, exp.Repeat), _function)
        if isinstance(tree, exp.Select):
            tree.set("expressions", [_with_type(item) for item in tree.expressions])
        for select in list(tree.find_all(exp.Select)):
            joins = select.args.get("joins") or []
            keyed = [_keyed(select, join) for join in joins]
            if any(keyed) and not any(isinstance(item, exp.Star) for item in select.expressions):
                joins.insert(0, _MANY.copy())  # an index is worth it whatever comes before
        if isinstance(tree, exp.Query):
            for number, table in enumerate(list(_nested_tables(tree, 0))):
                name = exp.to_identifier(f"{ANY_RUN}nested{number}", quoted=True)
                tree.with_(name, as_=table.this, append=True, copy=False)
                table.replace(exp.Table(this=name.copy(), alias=table.args["alias"]))
        return tree

    def rows(self, columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> str:
        """VALUES, whose length nothing limits; UNION ALL takes 500 terms."""
        names = ", ".join(f"column{position} AS {self.quote(name)}" for position, name in enumerate(columns, 1))
        listed = ",\n  ".join("(" + ", ".join(map(self.literal, row)) + ")" for row in rows)
        return f"SELECT {names} FROM (VALUES\n  {listed}\n)"

    def numbers(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[int]]) -> str:
        """VALUES, whose columns have names of their own."""
        names = ", ".join(f"column{position} AS {self.quote(column)}" for position, column in enumerate(columns, 1))
        listed = ", ".join("(" + ", ".join(map(str, row)) + ")" for row in rows)
        return f"(SELECT {names} FROM (VALUES {listed})) AS {self.quote(name)}"

    def numbers_to(self, count: str) -> str | None:
        """The places in an array of this many zeros, since no table of the library's own counts."""
        if not self._json:
            return None
        zeros = f"SUBSTR(REPLACE(HEX(ZEROBLOB({count})), '00', ',0'), 2)"
        return f"JSON_EACH('[' || {zeros} || ']') AS numbers"

    def mark(self, table: Sequence[str], run_id: str) -> str:
        """An index without entries, since tables have no comments: it is renamed and dropped with its table."""
        index = self.relation([*table[:-1], mark_text(run_id)])
        return f"CREATE INDEX {index} ON {self.quote(table[-1])} (1) WHERE 0"

    def comment_on_column(self, table: Sequence[str], column: str, text: str) -> str:
        """There are none."""
        raise UnsupportedError("--comment: SQLite has no comments of columns; write a file (-o FILE.md)")

    def stored_as(self, value: str) -> str:
        """``typeof``: 1 and 1.0 are equal."""
        return f"TYPEOF({value})"

    def form(self, value: str, kind: str, type_name: str) -> str:
        """``typeof``, and for dates and texts whether they are what they should be."""
        stored = f"NULLIF(TYPEOF({value}), 'null')"
        if kind == "integer":
            return stored
        if kind in ("decimal", "float"):
            return f"CASE WHEN TYPEOF({value}) IN ('integer', 'real') THEN '{kind}' ELSE {stored} END"
        # DATE gives 30 February back as it is; with a modifier it makes a real day of it.
        if kind == "date":
            return _form_of_text(
                value, f"{value} = DATE({value}, '+0 days') COLLATE BINARY", "'date'", "text that is no date"
            )
        if kind == "timestamp":
            start = f"SUBSTR({value}, 1, 19)"
            day_and_time = f"REPLACE({start}, 'T', ' ') = DATETIME({start}, '+0 days') COLLATE BINARY"
            fraction = f"SUBSTR({value}, 20) NOT GLOB '*[^.0-9]*'"
            notation = f"'timestamp of ' || LENGTH({value}) || ' characters with ' || QUOTE(SUBSTR({value}, 11, 1))"
            return _form_of_text(value, f"{day_and_time} AND {fraction}", notation, "text that is no timestamp")
        if kind == "other" and affinity(type_name) == "NUMERIC":  # 1.0 is stored as 1: no number has two forms
            stored = f"REPLACE(REPLACE({stored}, 'integer', 'number'), 'real', 'number')"
        cut = f"TYPEOF({value}) = 'text' AND INSTR({value}, CHAR(0)) > 0"
        return f"CASE WHEN {cut} THEN 'text with a zero byte' ELSE {stored} END"


WITHOUT_JSON = SQLite(json=False)
"""For libraries that were built without JSON, as those before 3.38 may be."""


def _least(least: exp.Expr) -> exp.Expr:
    """MIN of its arguments alone: none of them is NULL, which sqlglot would look for in all their orders."""
    least.set("ignore_nulls", False)
    return least


def affinity(type_name: str) -> str:
    """The affinity that SQLite derives from a declared type (https://sqlite.org/datatype3.html, section 3.1)."""
    name = type_name.upper()
    if "INT" in name:
        return "INTEGER"
    if any(part in name for part in ("CHAR", "CLOB", "TEXT")):
        return "TEXT"
    if not name or "BLOB" in name:
        return "BLOB"
    return "REAL" if any(part in name for part in ("REAL", "FLOA", "DOUB")) else "NUMERIC"


def _form_of_text(value: str, condition: str, form: str, otherwise: str) -> str:
    fits = f"CASE WHEN {condition} THEN {form} ELSE '{otherwise}' END"
    return f"CASE TYPEOF({value}) WHEN 'text' THEN {fits} WHEN 'null' THEN NULL ELSE TYPEOF({value}) END"


_MANY = exp.Join(
    this=exp.Subquery(
        this=sqlglot.parse_one("SELECT 1 AS one UNION ALL SELECT 1 FROM sqlite_master WHERE 0", read="sqlite"),
        alias=exp.TableAlias(this=exp.to_identifier("kanon_many")),
    ),
    kind="CROSS",
)
"""One row, of which the library expects as many as a table may have.

Of what is grouped inside of other queries it expects a row or two, and would read all of a table for each of thousands.
"""


def _keyed(select: exp.Select, join: exp.Join) -> bool:
    """Let the library make an index of what is joined, once, instead of reading all of it for each row before it.

    It makes one for a query that it computes first, and none for a table of the session, nor for a query that it merges
    into the other one: what is joined becomes a query that is not merged, of which it expects many rows. A number is
    only looked up among declared numbers, a text among declared texts. Joins keep their order (CROSS says so), or it
    would multiply small tables before it looks at what they are joined to.
    """
    condition = join.args.get("on")
    equal = equalities(condition)
    if not equal or not isinstance(join.this, exp.Table | exp.Subquery):
        return False
    if not join.side and join.kind in ("", "INNER"):
        join.set("kind", "CROSS")
    alias = join.this.alias_or_name
    columns: list[exp.Expr] = [exp.column(exp.Star(), "joined")]
    looked_up: list[exp.Expr] = []
    for same in equal:
        for own, other in ((same.left, same.right), (same.right, same.left)):
            if not isinstance(own, exp.Column) or own.table != alias:
                continue
            kind = _kind(select, other) or _kind(select, own)
            if kind is not None:
                name = f"kanon_key{len(looked_up)}"
                columns.append(exp.alias_(_declared(exp.column(own.this.copy(), "joined"), kind), name))
                looked_up.append(type(same)(this=other.copy(), expression=exp.column(name, alias)))
    rows = join.this
    rows.set("alias", exp.TableAlias(this=exp.to_identifier("joined")))
    # What is declared comes first: where another table of the query has a column of that name, it is the one meant.
    whole = exp.Select(expressions=[*columns[1:], columns[0]]).from_(rows, copy=False)
    whole.set("joins", [_MANY.copy()])
    join.set("this", whole.limit(-1, copy=False).subquery(exp.to_identifier(alias, quoted=True), copy=False))
    join.set("on", exp.and_(condition, *looked_up))
    return True


def _declared(value: exp.Expr, kind: str) -> exp.Expr:
    """A value as SQLite looks it up among others: as it is, and declared. Whole numbers of 64 bits stay as they are."""
    cast = exp.Cast(this=value, to=exp.DataType.build(kind, udt=True))
    return cast if kind == "NUM" else exp.Collate(this=cast, expression=exp.var("BINARY"))


_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.BitwiseAnd, exp.BitwiseOr, exp.Neg,
               exp.Count, exp.Sum, exp.RowNumber, exp.Rank, exp.DenseRank, exp.Floor, exp.Length)  # fmt: skip


def _kind(select: exp.Select, value: exp.Expr) -> str | None:
    """What a query says of a value, if that shows that it is a number or text; columns are looked up in its tables."""
    value = value.unnest().unalias()
    if isinstance(value, exp.Collate):  # of a column as it is stored, perhaps as a number: 1 and 1.0 are other texts
        value = value.this.unnest()
        return _kind(select, value) if isinstance(value, exp.Cast) else None
    if isinstance(value, exp.Cast):
        return "NUM" if value.is_type(*_NUMBERS) else "TEXT" if value.is_type(*_TEXT) else None
    if isinstance(value, exp.Window | exp.Min | exp.Max | exp.Coalesce):
        return _kind(select, value.this)
    if isinstance(value, exp.Case):
        return next(filter(None, (_kind(select, branch.args["true"]) for branch in value.args["ifs"])), None)
    if isinstance(value, exp.Literal):
        return "TEXT" if value.is_string else "NUM"
    if not isinstance(value, exp.Column):
        return "NUM" if isinstance(value, _ARITHMETIC) else None
    tables = [select.args["from_"].this] if select.args.get("from_") else []
    for table in (*tables, *(join.this for join in select.args.get("joins") or ())):
        inner = table.this if isinstance(table, exp.Subquery) else None
        if not isinstance(inner, exp.Select) or value.table not in ("", table.alias):
            continue
        for item in inner.expressions:
            if item.alias_or_name == value.name:
                return _kind(inner, item)
            if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and item.is_star):
                star = exp.column(value.name, item.table if isinstance(item, exp.Column) else None)
                if (kind := _kind(inner, star)) is not None:
                    return kind
    return None


def _nested_tables(query: exp.Expr, depth: int) -> Iterator[exp.Subquery]:
    """Derived tables that lie so deep that the parser's stack, of 100 symbols, would not hold what is in them.

    As common table expressions they are computed the same way. What is in a query with such expressions of its own
    stays where it is, since it may name them.
    """
    if isinstance(query, exp.SetOperation):
        yield from _nested_tables(query.left, depth)
        yield from _nested_tables(query.right, depth)
    elif isinstance(query, exp.Select) and (depth == 0 or not query.ctes):
        for joined in (query.args.get("from_"), *query.args.get("joins", ())):
            table = joined and joined.this
            if isinstance(table, exp.Subquery):
                yield from _nested_tables(table.this, depth + 1)
                if depth % _DEEPEST == _DEEPEST - 1:
                    yield table


def _built(text: str, **parts: exp.Expr) -> exp.Expr:
    """A piece of SQLite's SQL, with a subtree for each ``:name``."""
    copies = {}
    for name, part in parts.items():
        copies[name] = exp.paren(part.copy()) if isinstance(part, exp.Binary) else part.copy()
    (tree,) = sqlglot.parse_one(f"SELECT {text}", read="sqlite").expressions
    return exp.replace_placeholders(tree.pop(), **copies)


def _decimals(kind: exp.Expr | None) -> int:
    """The digits after the point of a DECIMAL type."""
    assert kind is not None
    parameters = [int(parameter.name) for parameter in kind.expressions]
    return parameters[1] if len(parameters) > 1 else 0 if parameters else 3  # DECIMAL alone is DECIMAL(18, 3)


def _is_decimal(node: exp.Expr | None) -> bool:
    return isinstance(node, exp.Cast) and node.is_type(exp.DType.DECIMAL)


def _decimal_text(cast: exp.Expr) -> exp.Expr:
    """A decimal as text has as many digits after the point as its type says."""
    inner = cast.this
    if cast.is_type(*_TEXT) and _is_decimal(inner):
        digits = _decimals(inner.to)
        return _built(f"CASE WHEN :v IS NOT NULL THEN PRINTF('%.{digits}f', :v + 0.0) END", v=inner.this)
    return cast


def _scaled(value: exp.Expr, unit: exp.Expr) -> exp.Expr:
    """FLOOR(value * unit), as if the value were the decimal that was written to the database.

    A decimal is stored as the nearest floating-point number, so value * unit may fall a little
    below the whole number that it is (10.01 * 100). The nearest whole number is right unless it
    is above the value when divided again. What 64 bits cannot hold is NULL: no label.
    """
    nearest = "CAST(ROUND(:v * :u) AS INTEGER)"
    return _built(
        "(CASE WHEN TYPEOF(:v * :u) = 'integer' THEN :v * :u WHEN ABS(:v * :u) < 9e18 "
        f"THEN {nearest} - CASE WHEN {nearest} * 1.0 / :u > :v THEN 1 ELSE 0 END END)",
        v=value,
        u=unit,
    )


def _number_text(scaled: exp.Expr, digits: int) -> exp.Expr:
    """A whole number of units as text, by whole numbers only."""
    unit = 10**digits
    return _built(
        f"CASE WHEN :s IS NOT NULL THEN PRINTF('%s%d.%0{digits}d', CASE WHEN :s < 0 THEN '-' ELSE '' END, "
        f"ABS(:s) / {unit}, ABS(:s) % {unit}) END",
        s=exp.paren(scaled.copy()),
    )


def _fraction(number: exp.Expr) -> exp.Expr:
    """The fewest digits that read back as the number: a cast has fifteen, and 0.1 + 0.2 would be 0.3."""
    shown = {digits: f"PRINTF('%!.{digits}g', :v)" for digits in (15, 16, 17)}
    whens = " ".join(f"WHEN CAST({shown[digits]} AS REAL) = :v THEN {shown[digits]}" for digits in (15, 16))
    # 1e+20 is 1.0e+20 otherwise.
    text = f"REPLACE(CASE {whens} ELSE {shown[17]} END, '.0e', 'e')"
    return _built(f"CASE WHEN TYPEOF(:v) = 'real' THEN {text} ELSE CAST(:v AS TEXT) END", v=number)


def _strict_cast(cast: exp.Expr) -> exp.Expr:
    """A cast of text that is no number is NULL, not 0; of a decimal it rounds; of a date it keeps the date."""
    assert isinstance(cast, exp.Cast)
    if cast.is_type(exp.DType.TIMESTAMP, exp.DType.DATETIME):
        return _built("DATETIME(:v)", v=cast.this)
    if not cast.is_type(*_NUMBERS):
        return cast
    number: exp.Expr = cast.copy()
    if _is_decimal(cast):
        number = _built(f"ROUND(:v, {_decimals(cast.to)})", v=cast.this)
    given = cast.this.unnest()
    of_user = isinstance(given, exp.Column) and given.name == "value" and not given.table
    if not of_user and not isinstance(given, _TEXTS):
        return number
    return _built(
        "CASE WHEN TYPEOF(:v) <> 'text' OR (LTRIM(:v, '+-') GLOB '[0-9]*' AND LTRIM(:v, '+-') NOT GLOB '*[^0-9.]*') "
        "THEN :n END",
        v=cast.this,
        n=number,
    )


def _extract(extract: exp.Expr) -> exp.Expr:
    part = extract.this.name.upper()
    if part not in _FORMATS:
        raise UnsupportedError(f"sqlite: EXTRACT({part} FROM ...) is not supported; expected {', '.join(_FORMATS)}")
    return _built(f"CAST(STRFTIME('{_FORMATS[part]}', :v) AS INTEGER)", v=extract.expression)


def _function(node: exp.Expr) -> exp.Expr:
    """What SQLite has under another name."""
    if isinstance(node, exp.IntDiv):
        return _built("CAST(:a / :b AS INTEGER)", a=node.this, b=node.expression)
    if isinstance(node, exp.Repeat):
        return _built("REPLACE(HEX(ZEROBLOB(:n)), '00', :t)", t=node.this, n=node.args["times"])
    count = node.expression
    if not (isinstance(count, exp.Literal) and count.is_int):
        raise UnsupportedError(f"sqlite: {type(node).__name__.upper()} needs a whole number; use SUBSTRING")
    if isinstance(node, exp.Left):
        return _built("SUBSTR(:t, 1, :n)", t=node.this, n=count)
    return _built("SUBSTR(:t, MAX(LENGTH(:t) - :n, 0) + 1)", t=node.this, n=count)


def _with_type(item: exp.Expr) -> exp.Expr:
    """A text made by CASE or a literal: CREATE TABLE AS gives a column a type only if it is a CAST."""
    value = item.unalias()
    results = [value]
    if isinstance(value, exp.Case):
        results = [branch.args["true"] for branch in value.args["ifs"]]
        results += [value.args["default"]] if value.args.get("default") is not None else []
    if any(isinstance(result, exp.Literal) and result.is_string for result in results):
        typed = exp.cast(value.copy(), exp.DType.TEXT)
        return exp.alias_(typed, item.args["alias"].copy()) if isinstance(item, exp.Alias) else typed
    return item
