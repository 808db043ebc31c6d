"""The clinic that the suite tries, what it is anonymized by, and texts and names that engines stumble over."""

from __future__ import annotations

import random
from datetime import date
from decimal import Decimal
from typing import Any

__all__ = ["FEW", "NAMES", "NASTY", "SPEC", "VISITS", "visits"]

NASTY = [
    "a", "A", "a ", " a", "á", "a\u0301", "ä", "ß", "ss", "", " ", "'", '"', "''", "\\", "\\'", "\\n", "%", "%s", "%%",
    "_", ":x", ":1", "?", "$1", "{0}", "{{ x }}", "#", "--", "/* x */", ";", "\n", "\r\n", "\t", "`", "[a]", "NULL",
    "null", "*", "0", "00", "0.0", "1e3", "-0", "İ", "ı", "i", "I", "🙂", "🙂🙂", "ﬁ", "fi", "Ａ", "\u200b", "\u00a0",
    "x" * 10_000, "x" * 9_999 + "y", None,
]  # fmt: skip
"""Texts that engines like to merge, to cut, to unquote, or to take for SQL. All are different."""

NAMES = [
    "Select", "order", "marital-status", 'a"b', "a`b", "a b", "x; drop table y", "naïve", "名", "100%", "a:b", "a'b",
    "value", "row_count", "q0", "kanon_source", "CamelCase",
]  # fmt: skip
"""Names that need quoting, or that our own SQL uses."""

VISITS = {
    "person": "integer",
    "name": "text",
    "age": "integer",
    "zip": "text",
    "born": "date",
    "sex": "text",
    "weight": "decimal",
    "illness": "text",
    "charge": "integer",
}


def visits(seed: int = 7, persons: int = 90) -> list[tuple[Any, ...]]:
    """A small clinic: one or two visits per person, with NULLs."""
    draw = random.Random(seed)
    rows = []
    for person in range(persons):
        of_person = (
            f"n{person}",
            draw.randint(-5, 90),
            draw.choice(["94130", "94131", "9423", "94230", "x"]),
            date(draw.randint(1940, 1999), draw.randint(1, 12), draw.randint(1, 28)),
            draw.choice(["M", "F", "m"]),
            Decimal(draw.randint(300, 990)) / 10,
        )
        for _ in range(draw.randint(1, 2)):
            rows.append((person, *of_person, draw.choice(["flu", "Flu", "ulcer", "asthma", None]), draw.randint(1, 99)))
    return rows


SPEC: dict[str, Any] = {
    "version": 1,
    "source": "visits",
    "release": "visits_release",
    "identifiers": ["name"],
    "quasi_identifiers": {
        "age": {"intervals": [20], "bottom": 0, "top": 80},
        "zip": {"prefix": [3]},
        "born": {"dates": ["quarter", "decade"]},
        "sex": {"tree": {"x": ["M", "m"], "y": ["F"]}},
    },
    "sensitive": ["illness"],
    "keep": ["charge"],
    "privacy": [{"k_anonymity": 3}],
    "suppression": {"max_share": 0.2},
}

FEW = {name: SPEC["quasi_identifiers"][name] for name in ("age", "sex")}
"""Where the lattice is not what is tried, a small one will do."""
