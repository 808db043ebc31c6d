"""Numbers and names as people read them, in every form of a result."""

from __future__ import annotations

import re
from math import floor, isfinite, log10

from kanon_sql.errors import counted

__all__ = ["metric", "number", "percent", "plain", "plural", "shown"]


def number(value: int) -> str:
    """A count with thousands separators."""
    return f"{value:,}"


def metric(value: float) -> str:
    """A measure with four significant digits, and thousands separators."""
    if not isfinite(value):
        return str(value)
    if value == 0:
        return "0"
    digits = 3 - floor(log10(abs(value)))
    rounded = round(value, digits)
    if abs(rounded) >= 1e12 or abs(rounded) < 1e-4:
        return f"{value:.3e}"
    text = f"{rounded:,.{max(digits, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(part: int, whole: int) -> str:
    """A share in percent; never 0 or 100 % unless it is exactly that."""
    if not whole:
        return "none"
    share = 100 * part / whole
    if 0 < share < 0.01:
        return "< 0.01 %"
    if 99.99 < share < 100:
        return "> 99.99 %"
    return f"{metric(share)} %"


def shown(text: str) -> str:
    """A name or message with control characters written out, so that none reaches a terminal."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def plural(count: int, word: str) -> str:
    """``1 class``, ``2 classes``."""
    return counted(count, word)


def plain(text: str) -> str:
    """Text that Markdown and HTML leave as it is."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&!@])", r"\\\1", shown(text))
