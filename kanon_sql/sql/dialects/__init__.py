"""The dialects, by name. Each is imported when it is first asked for: what writes SQL for another engine is large."""

from __future__ import annotations

from collections.abc import Mapping

from kanon_sql.errors import UnsupportedError
from kanon_sql.registers import DIALECTS as DECLARED
from kanon_sql.sql.dialects.base import Dialect

__all__ = ["DIALECTS", "PORTABLE", "Dialect", "dialect_named"]

DIALECTS: Mapping[str, Dialect] = DECLARED
"""Every dialect that SQL can be rendered for."""

PORTABLE = DIALECTS["duckdb"]
"""What templates are written in."""


def dialect_named(name: str) -> Dialect:
    """The dialect of a name.

    Raises:
        UnsupportedError: there is none.
    """
    if name not in DIALECTS:
        raise UnsupportedError(f"dialect {name!r} is not rendered; expected one of {', '.join(DIALECTS)}")
    return DIALECTS[name]
