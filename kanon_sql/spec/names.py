"""Table names as a spec writes them: dotted, quoted with double quotes where needed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kanon_sql.errors import SpecError

__all__ = ["folded", "format_table_name", "parse_table_name"]

_PART = r'(?:[^".]+|"(?:[^"]|"")+")'
_DOTTED = re.compile(rf"{_PART}(?:\.{_PART}){{0,2}}", re.DOTALL)


def parse_table_name(text: str) -> tuple[str, ...]:
    """The parts of a table name: ``main.visits`` has two, ``"odd.name"`` has one.

    Args:
        text: one to three parts joined by dots, each plain or in double quotes as in SQL
            (a double quote inside is written twice). Anything that does not read like that
            is one literal name, so ``a"b`` needs no quoting.

    Returns:
        Catalog, schema and table, as many as are given, unquoted.

    Raises:
        SpecError: the name is empty or holds a zero byte.
    """
    if not text or "\x00" in text:
        raise SpecError(
            "a table name: expected text without a zero byte, such as visits or clinic.visits, got "
            f"{'empty text' if not text else 'one with a zero byte'}"
        )
    if not _DOTTED.fullmatch(text):
        return (text,)
    return tuple(part[1:-1].replace('""', '"') if part.startswith('"') else part for part in re.findall(_PART, text))


def format_table_name(parts: Sequence[str]) -> str:
    """The text that :func:`parse_table_name` reads back as ``parts``."""
    return ".".join('"' + part.replace('"', '""') + '"' if re.search(r'[".]', part) else part for part in parts)


def folded(parts: Sequence[str]) -> tuple[str, ...]:
    """The parts of a name, to compare without case."""
    return tuple(part.casefold() for part in parts)
