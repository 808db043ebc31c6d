"""A statement laid out in lines for who reads it: only the blanks between its words change.

Writing a statement's tree again would be shorter, and not safe: sqlglot reads some engines' own words as others that it
takes for equal, and forgets a COLLATE of Redshift. So the words stay as they were written, and where a new line may
stand is decided by the tokens and parentheses alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot.dialects.dialect import DialectType
from sqlglot.errors import SqlglotError

__all__ = ["laid_out"]

_WIDTH = 110
_STEP = 2

_JOINS = frozenset("LEFT RIGHT FULL INNER CROSS JOIN".split())
_CLAUSES = _JOINS | frozenset(
    "SELECT FROM WHERE GROUP HAVING QUALIFY WINDOW ORDER LIMIT UNION EXCEPT INTERSECT WITH VALUES SET ON".split()
)
_HEADS = frozenset("SELECT DISTINCT GROUP ORDER VALUES WITH SET".split())
_OPERATORS = frozenset("AND OR WHEN ELSE END".split())


@dataclass(frozen=True)
class _Part:
    """A word, or what stands in a pair of parentheses, with its place in the text.

    Attributes:
        start: of its first character.
        end: behind its last character.
        word: in capitals, the first of several; empty for parentheses.
        inner: what the parentheses enclose; None for a word.
    """

    start: int
    end: int
    word: str = ""
    inner: tuple[_Part, ...] | None = None


def laid_out(sql: str, dialect: DialectType) -> str:
    """The statement in lines of a readable length, where its words allow that.

    Args:
        sql: one statement or several.
        dialect: sqlglot's name of its dialect.

    Returns:
        The same words in the same order. A text with comments is returned as it is, and so is one whose words or
        parentheses are not understood.
    """
    parts = _parts(sql, dialect)
    return sql if parts is None else _Layout(sql).block(parts, 0)


def _parts(sql: str, dialect: DialectType) -> tuple[_Part, ...] | None:
    try:
        tokens = sqlglot.tokenize(sql, read=dialect)
    except SqlglotError:
        return None
    outer: list[list[_Part]] = []
    opened: list[int] = []
    parts: list[_Part] = []
    behind = 0
    for token in tokens:
        if sql[behind : token.start].strip():
            return None  # a comment
        behind = token.end + 1
        text = sql[token.start : behind]
        if text == "(":
            outer.append(parts)
            opened.append(token.start)
            parts = []
        elif text == ")":
            if not outer:
                return None
            group = _Part(opened.pop(), behind, inner=tuple(parts))
            parts = [*outer.pop(), group]
        else:
            parts.append(_Part(token.start, behind, text.upper().partition(" ")[0]))  # GROUP BY is one token
    return None if outer or sql[behind:].strip() else tuple(parts)


class _Layout:
    def __init__(self, sql: str) -> None:
        self.sql = sql

    def flat(self, parts: Sequence[_Part]) -> str:
        """The parts as they were written."""
        return self.sql[parts[0].start : parts[-1].end] if parts else ""

    def fits(self, parts: Sequence[_Part], column: int) -> bool:
        """Whether the parts, in one line from a column on, are short enough."""
        text = self.flat(parts)
        return column + len(text) <= _WIDTH and "\n" not in text

    def block(self, parts: Sequence[_Part], indent: int) -> str:
        """A statement or what is in parentheses: a line for each clause, if it is too long for one."""
        if self.fits(parts, indent):
            return self.flat(parts)
        clauses = list(_split(parts, _begins_clause))
        return _line(indent).join(self.clause(clause, indent) for clause in clauses)

    def clause(self, parts: Sequence[_Part], indent: int) -> str:
        """A clause: a line for each of what its commas separate, if it is too long for one."""
        if self.fits(parts, indent):
            return self.flat(parts)
        items = list(_split(parts, _follows_comma))
        if len(items) == 1:
            return self.expression(parts, indent)
        head = next((place for place, part in enumerate(parts) if part.word not in _HEADS), 0)
        if not head:
            return _line(indent).join(self.expression(item, indent) for item in items)
        items[0] = items[0][head:]
        deeper = indent + _STEP
        return self.flat(parts[:head]) + "".join(_line(deeper) + self.expression(item, deeper) for item in items)

    def expression(self, parts: Sequence[_Part], indent: int) -> str:
        """An expression: a line for each condition and each case, if it is too long for one."""
        if self.fits(parts, indent):
            return self.flat(parts)
        pieces = list(_split(parts, lambda before, part: part.word in _OPERATORS))
        deeper = indent + _STEP
        lines = [self.piece(pieces[0], indent)]
        for piece in pieces[1:]:
            column = indent if piece[0].word == "END" else deeper
            lines.append(_line(column) + self.piece(piece, column))
        return "".join(lines)

    def piece(self, parts: Sequence[_Part], indent: int) -> str:
        """What no word divides: parentheses in lines of their own, if they are too long for this one."""
        written = ""
        behind = parts[0].start
        for part in parts:
            written += self.sql[behind : part.start]
            behind = part.end
            column = indent + len(written) - (written.rfind("\n") + 1 + indent if "\n" in written else 0)
            if not part.inner or self.fits([part], column):
                written += self.flat([part])
            else:
                deeper = indent + _STEP
                written += "(" + _line(deeper) + self.block(part.inner, deeper) + _line(indent) + ")"
        return written


def _line(indent: int) -> str:
    return "\n" + " " * indent


def _split(parts: Sequence[_Part], begins: Callable[[_Part, _Part], bool]) -> Iterator[Sequence[_Part]]:
    """The parts, divided before each that begins something, as the part before it tells too."""
    start = 0
    for place in range(1, len(parts)):
        if begins(parts[place - 1], parts[place]):
            yield parts[start:place]
            start = place
    yield parts[start:]


def _follows_comma(before: _Part, part: _Part) -> bool:
    return before.word == ","


def _begins_clause(before: _Part, part: _Part) -> bool:
    """Whether a line may begin here; FROM and LEFT are other words than those of clauses in some places."""
    if part.word not in _CLAUSES or before.word == ".":
        return False
    if part.word == "FROM":
        return before.word != "DISTINCT"
    return not (part.word == "JOIN" and before.word in _JOINS | {"OUTER"})
