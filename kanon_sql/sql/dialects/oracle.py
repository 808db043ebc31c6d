"""Oracle Database."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from kanon_sql.sql.dialects.base import Dialect, dialect, replaced
from kanon_sql.sql.dialects.rewrites import (
    bit_and,
    called,
    exact_int_division,
    is_text,
    quote_names,
    repeat_by_rpad,
    spell_out_null_safe,
    text_type,
)

__all__ = ["Oracle"]

_LONGEST_LITERAL = 1_000
"""Characters; a literal holds 4,000 bytes."""


@dialect
class Oracle(Dialect):
    """Oracle 12.2 and later. '' is NULL; bare names are folded to upper case, so every name is quoted.

    Args:
        extended: texts may have 32,767 bytes (``MAX_STRING_SIZE = EXTENDED``) and columns collations.
    """

    name = "oracle"
    sqlglot = "oracle"
    longest_name = (128, "bytes")

    def __init__(self, extended: bool = False) -> None:
        self._extended = extended
        self._text = exp.DataType.build(f"VARCHAR({32767 if extended else 4000})")

    def exact(self, text: exp.Expr) -> exp.Expr:
        """Byte by byte. A database whose texts are not extended has no collation but the session's, which is set."""
        return exp.Collate(this=text, expression=exp.Var(this="BINARY")) if self._extended else text

    def draw(self, text: exp.Expr) -> exp.Expr:
        """By digits of base 16; texts are hashed in the character set of the database, which should be UTF-8."""
        return called(
            "TO_NUMBER",
            called("SUBSTR", called("RAWTOHEX", called("STANDARD_HASH", text, "SHA256")), 1, 12),
            "XXXXXXXXXXXX",
        )

    def text(self, value: str | None) -> str:
        """A bare literal is a CHAR, which is compared with blanks added."""
        return f"CAST({self.literal(value)} AS {self._text.sql(self.sqlglot)})"

    def sql(self, tree: exp.Expr) -> str:
        """IF [NOT] EXISTS came with version 23: before, the error is caught."""
        if not tree.args.get("exists"):
            return super().sql(tree)
        caught = -955 if isinstance(tree, exp.Create) else -942
        tree.set("exists", False)
        # Without PURGE the rows would stay in the recycle bin.
        text = super().sql(tree) + (" PURGE" if isinstance(tree, exp.Drop) else "")
        return (
            f"BEGIN\n  EXECUTE IMMEDIATE {self.literal(text)};\n"
            f"EXCEPTION WHEN OTHERS THEN IF SQLCODE <> {caught} THEN RAISE; END IF;\nEND;"
        )

    def masked(self, number: str, mask: str) -> str:
        """There is no operator for it."""
        return f"BITAND({number}, {mask})"

    def rewrite(self, tree: exp.Expr) -> exp.Expr:
        """Text that can be grouped, dates without a time, numbers with their zeros, FROM DUAL."""
        tree = spell_out_null_safe(exact_int_division(quote_names(tree)))
        tree = replaced(repeat_by_rpad(tree), exp.Cast, _formatted)
        tree = text_type(tree, self._text)
        for column in tree.find_all(exp.ColumnDef):
            if column.name == "manifest":  # the one column that may be longer, and is never compared
                column.set("kind", exp.DataType.build("CLOB", dialect="oracle"))
        tree = replaced(replaced(tree, exp.BitwiseAnd, bit_and("BITAND")), exp.Literal, _long_literal)
        for select in tree.find_all(exp.Select):
            if not select.args.get("from_"):
                select.from_("DUAL", copy=False)
        return tree

    def create_as(self, table: str, query: str, temporary: bool) -> str:
        """Plain tables only: a temporary one would have to exist before, for all sessions."""
        return f"CREATE TABLE {table} AS {query}"

    def rows(self, columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> str:
        """Every SELECT has a FROM."""
        names = [self.quote(column) for column in columns]
        selects = [
            "SELECT " + ", ".join(f"{self.text(value)} AS {name}" for name, value in zip(names, row, strict=True))
            for row in rows
        ]
        return "\nUNION ALL\n".join(f"{select} FROM DUAL" for select in selects)

    def numbers(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[int]]) -> str:
        """Every SELECT has a FROM, and an alias no AS."""
        names = [self.quote(column) for column in columns]
        selects = [
            "SELECT " + ", ".join(f"{number} AS {column}" for column, number in zip(names, row, strict=True))
            for row in rows
        ]
        return f"({' UNION ALL '.join(f'{select} FROM DUAL' for select in selects)}) {self.quote(name)}"

    def insert(self, table: str, rows: Sequence[Sequence[str | None]]) -> str:
        """VALUES takes one row."""
        selects = ["SELECT " + ", ".join(map(self.text, row)) + " FROM DUAL" for row in rows]
        return f"INSERT INTO {table}\n" + "\nUNION ALL\n".join(selects)


def _formatted(node: exp.Expr) -> exp.Expr:
    """A decimal as text with all its digits, a date as text without the time that a DATE has here."""
    inner = node.this
    if not (is_text(node.args["to"]) and isinstance(inner, exp.Cast)):
        return node
    if inner.to.this == exp.DataType.Type.DATE:
        return exp.Anonymous(this="TO_CHAR", expressions=[inner.this.copy(), exp.Literal.string("YYYY-MM-DD")])
    if inner.to.this == exp.DataType.Type.DECIMAL and len(inner.to.expressions) == 2:
        digits = int(inner.to.expressions[1].name)
        shape = "FM" + "9" * 27 + "0" + ("." + "0" * digits if digits else "")
        return exp.Anonymous(this="TO_CHAR", expressions=[inner.copy(), exp.Literal.string(shape)])
    return node


def _long_literal(node: exp.Expr) -> exp.Expr:
    """Text that is too long for one literal, piece by piece."""
    text = node.name
    if not node.is_string or len(text) <= _LONGEST_LITERAL:
        return node
    pieces = [text[start : start + _LONGEST_LITERAL] for start in range(0, len(text), _LONGEST_LITERAL)]
    whole: exp.Expr | None = None
    for piece in pieces:
        part = exp.Anonymous(this="TO_CLOB", expressions=[exp.Literal.string(piece)])
        whole = part if whole is None else exp.DPipe(this=whole, expression=part, safe=True)
    assert whole is not None
    return whole
