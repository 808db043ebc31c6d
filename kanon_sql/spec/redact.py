"""The user's SQL and file names without what may be personal or secret in them."""

from __future__ import annotations

import hashlib
import json
import re

__all__ = ["redact_location", "redact_sql", "sha256"]

_TOKEN = re.compile(
    r"""
    (?P<comment> --[^\n]* | /\*.*?\*/ )
  | (?P<string>  [^\W\d]{0,2}&?'(?:[^']|'')*' | "(?:[^"]|"")*" )
  | (?P<name>    `[^`]*` | [^\W\d]\w* )
  | (?P<number>  \.?\d (?: [eE][+-]?(?=\d) | [\w.] )* )
  | (?P<other>   [^'"`] )
    """,
    re.VERBOSE | re.DOTALL,
)

# Where a literal ends depends on the dialect when these occur.
_UNCERTAIN = re.compile(
    r"""[\\$#] | \b[nN]?[qQ]' | /\*(?:(?!\*/).)*/\* | \'\'\' | \"\"\" """,
    re.VERBOSE | re.DOTALL,
)


def _splits_quotes(bracketed: str) -> bool:
    """Whether ``[...]``, a name or an array by dialect, holds half of a quoted text."""
    return any(bracketed.count(mark) % 2 for mark in "'\"`")


def redact_sql(sql: str) -> str:
    """SQL with every string and number literal replaced by ``?`` and comments dropped.

    The dialect is unknown here, so doubt is resolved by hiding more: a text in double
    quotes, which is a string in some dialects, is hidden too, and SQL whose literals cannot
    be distinguished for certain (backslashes, dollar quotes, nested comments) becomes one ``?``.
    """
    # Each of these reads a character once, whatever the user wrote: a bracket that is not closed goes on to the end.
    if _UNCERTAIN.search(sql) or any(map(_splits_quotes, re.findall(r"\[[^\]]*\]?", sql))):
        return "?"
    if any(re.search(r"['\"`]", line.partition("//")[2]) for line in sql.split("\n")):  # a comment in some dialects
        return "?"
    shown: list[str] = []
    position = 0
    while position < len(sql):
        token = _TOKEN.match(sql, position)
        if token is None:  # a quote that does not end
            return "?"
        what, piece = token.lastgroup, token.group()
        position = token.end()
        if what == "comment":
            if re.search(r"['\"`]", piece):
                return "?"
            shown.append(" ")
        else:
            shown.append("?" if what in ("string", "number") else piece)
    redacted = "".join(shown)
    return "?" if "/*" in redacted else redacted  # a comment that does not end


def redact_location(location: str) -> str:
    """A path as it is; an address without its user, password and query string."""
    found = re.match(r"([A-Za-z][\w+.-]*://)([^/?#]*@)?([^?#]*)", location)
    return location if found is None else found[1] + found[3]


def sha256(data: object) -> str:
    """The digest (hex) of JSON-compatible data; the order of keys does not matter."""
    canonical = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()
