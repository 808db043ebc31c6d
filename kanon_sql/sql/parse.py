"""Parsing SQL, and how large and deeply nested the user's own may be, which is decided on its tokens before.

A parser goes down some calls for each level. Python ends that with a RecursionError; compiled to machine code, the same
parser goes on until the thread's stack is used up, and the process dies. So a loop counts the levels first.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.dialects.dialect import DialectType
from sqlglot.errors import ParseError

from kanon_sql.errors import SpecError
from kanon_sql.sql.python_deadline import checkpoint

__all__ = ["MAX_LEVELS", "MAX_LINKS", "parsed", "refuse_deep_tree", "spared_stack", "tokens_within"]

MAX_LEVELS = 32
"""Brackets, CASE and NOT inside each other. Python takes some 22 calls of its 1,000 for a level."""

MAX_LINKS = 400
"""Tokens between two commas, connectors or keywords of a clause: operators in a row are nested, as brackets are."""

MAX_TREE = 150
"""Levels of a parsed expression. A level of brackets makes up to four of them."""

_OPENING = {
    TokenType.L_PAREN: TokenType.R_PAREN,
    TokenType.L_BRACKET: TokenType.R_BRACKET,
    TokenType.L_BRACE: TokenType.R_BRACE,
    TokenType.CASE: TokenType.END,
}
_OF_TYPES = frozenset({TokenType.ARRAY, TokenType.LIST, TokenType.MAP, TokenType.STRUCT, TokenType.NULLABLE})
"""Before ``<``, which then opens the parameters of a type."""

_SEPARATORS = frozenset(
    {
        TokenType.COMMA, TokenType.AND, TokenType.OR, TokenType.WHEN, TokenType.THEN, TokenType.ELSE,
        TokenType.SELECT, TokenType.FROM, TokenType.WHERE, TokenType.HAVING, TokenType.ON, TokenType.JOIN,
        TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT,
    }
)  # fmt: skip
"""What stands before and behind one of these is parsed one after the other."""


@dataclass(slots=True)
class _Frame:
    """What is open: a bracket, a CASE, or the whole text. A frame of a type's ``<`` is a number only."""

    closes: TokenType | None
    nots: int = 0
    angles: int = 0
    links: int = 0


@dataclass(slots=True)
class _Depth:
    """Walks along the tokens and knows how deep the parser is."""

    frames: list[_Frame] = field(default_factory=lambda: [_Frame(None)])
    levels: int = 0
    before: TokenType | None = None

    def step(self, kind: TokenType) -> None:
        """Count the next token."""
        top = self.frames[-1]
        top.links += 1
        if kind in _SEPARATORS:
            self.levels -= top.nots
            top.nots = top.links = 0
        elif kind == TokenType.NOT:
            top.nots += 1
            self.levels += 1
        elif kind == TokenType.LT and self.before in _OF_TYPES:
            top.angles += 1
            self.levels += 1
        elif kind == TokenType.GT and top.angles:
            top.angles -= 1
            self.levels -= 1
        elif kind in _OPENING:
            self.frames.append(_Frame(_OPENING[kind]))
            self.levels += 1
        else:
            self._close(kind)
        self.before = kind

    def _close(self, kind: TokenType) -> None:
        """End what a token ends. A bracket ends a CASE inside it too, which was only a name then."""
        end = len(self.frames) - 1
        while kind != TokenType.END and self.frames[end].closes == TokenType.END:
            end -= 1
        if self.frames[end].closes == kind:
            self.levels -= sum(1 + frame.nots + frame.angles for frame in self.frames[end:])
            del self.frames[end:]


def parsed(text: str, dialect: DialectType) -> list[exp.Expr | None]:
    """The syntax trees of the statements in a text.

    Args:
        text: the SQL.
        dialect: sqlglot's name of its dialect.

    Raises:
        SqlglotError: it does not parse, in whichever way the parser says so.
    """
    checkpoint()
    try:
        with _unlogged():
            return sqlglot.parse(text, read=dialect)
    except (AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
        # A part that the parser takes for granted is missing, as behind an operator at the end of the text.
        raise ParseError(f"the parser stopped with {type(error).__name__}") from error


_OURS = threading.local()


class _NotOurs(logging.Filter):
    """Drops what sqlglot logs of our own parsing: it quotes the SQL, whose literals may be values."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not getattr(_OURS, "parsing", False)


@contextmanager
def _unlogged() -> Iterator[None]:
    logger = logging.getLogger("sqlglot")
    if not any(isinstance(item, _NotOurs) for item in logger.filters):
        logger.addFilter(_NotOurs())
    _OURS.parsing = True
    try:
        yield
    finally:
        _OURS.parsing = False


def tokens_within(text: str, dialect: DialectType, where: str, most: int) -> list[Token]:
    """The tokens of the user's SQL, which are few enough, and nested flatly enough, to be parsed.

    Args:
        text: the SQL.
        dialect: sqlglot's name of its dialect.
        where: what to call it in messages.
        most: the most characters that it may have.

    Raises:
        SpecError: it is too long or nested too deeply; the message has the line and column inside the text.
        SqlglotError: it has no tokens, such as a text in quotes that does not end.
    """
    if len(text) > most:
        raise SpecError(f"{where}: it is longer than {most:,} characters; put the rest into a view or a table")
    tokens = sqlglot.tokenize(text, read=dialect)
    depth = _Depth()
    for token in tokens:
        depth.step(token.token_type)
        if depth.levels > MAX_LEVELS:
            why = f"brackets, CASE and NOT are nested more than {MAX_LEVELS} levels deep"
        elif depth.frames[-1].links > MAX_LINKS:
            why = f"more than {MAX_LINKS} words and signs stand in a row without a comma, AND or OR between them"
        else:
            continue
        raise SpecError(f"{where}: {why} at {_place(text, token)}; write it flatter, or put a part into a view")
    return tokens


def _place(text: str, token: Token) -> str:
    before = text[: token.start]
    return f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))} of the SQL"


def refuse_deep_tree(tree: exp.Expr, where: str) -> None:
    """Refuse an expression that could not be written again: writing goes down some calls for each level of the tree.

    A chain of one operator is one level, since it is written by a loop.

    Args:
        tree: the expression.
        where: what to call it in messages.

    Raises:
        SpecError: it is too deep.
    """
    waiting = [(tree, 1)]
    while waiting:
        node, level = waiting.pop()
        if level > MAX_TREE:
            raise SpecError(
                f"{where}: operators are chained more than {MAX_TREE} levels deep; write it flatter, or use a "
                "hierarchy file"
            )
        chained = isinstance(node, exp.Binary)
        waiting += [
            (child, level + (not chained or type(child) is not type(node))) for child in node.iter_expressions()
        ]


@contextmanager
def spared_stack(where: str) -> Iterator[None]:
    """A second line behind the limits, for callers whose own stack is nearly used up.

    Args:
        where: what to call the SQL in messages.

    Raises:
        SpecError: the stack was used up inside.
    """
    try:
        yield
    except RecursionError:
        raise SpecError(
            f"{where}: it is nested too deeply for what is left of the stack; write it flatter, or put a part into a "
            "view"
        ) from None
