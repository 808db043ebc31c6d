"""How a dialect quotes names and texts, as sqlglot would write them, and how quoted parts are found again in SQL."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from sqlglot import exp
from sqlglot.dialects.dialect import DialectType

__all__ = ["QUOTED", "quoted_name", "text_literal"]

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
