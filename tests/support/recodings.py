"""Every recoding on one small table: what tests of faults, of kills and of Spark start from."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.base import Meter
from kanon_sql.errors import DatabaseError
from kanon_sql.testing import Subject

SOURCE, RELEASE = "visits", "visits_release"

COLUMNS = {
    "age": "integer", "days": "integer", "zip": "text",
    "smokes": "text", "drinks": "text", "drives": "text", "illness": "text",
}  # fmt: skip

_LABELS = {"age": {"intervals": [5, 20]}, "zip": {"prefix": [2, 1]}}
_OF_TWO_VALUES = dict.fromkeys(("smokes", "drinks", "drives"))

RECODINGS: Mapping[str, Mapping[str, Any]] = {
    "local": {"recoding": "local"},
    "local, best": {"recoding": {"method": "local", "variant": "best"}},
    "local, ranges": {"recoding": {"method": "local", "ranges": ["age"]}},
    "kk": {"recoding": "kk", "privacy": [{"kk_anonymity": 2}]},
    "kk, global": {"recoding": "kk", "privacy": [{"kk_anonymity": {"k": 2, "variant": "global_1k"}}]},
    "mondrian": {"recoding": "mondrian", "quasi_identifiers": {"age": None, "zip": None}},
    "mondrian, relaxed": {
        "recoding": {"method": "mondrian", "variant": "relaxed"},
        "quasi_identifiers": {"age": None, "zip": None},
    },
    "cells": {"recoding": "cells"},
    "subtree": {"recoding": "subtree"},
    "subtree, bottom up": {"recoding": {"method": "subtree", "variant": "bottom_up"}},
    "forest": {"recoding": "forest"},
    "cover": {"recoding": "cover"},
    "matching": {"recoding": "matching", "quasi_identifiers": _OF_TWO_VALUES},
    "microaggregation": {
        "recoding": {"method": "microaggregation", "columns": {"age": "mean", "days": "median"}},
        "quasi_identifiers": {"age": None, "days": None, "zip": {"prefix": [1]}},
    },
    "microaggregation of one column": {
        "recoding": {"method": "microaggregation", "columns": {"age": "mean"}},
        "quasi_identifiers": {"age": None, "zip": {"prefix": [1]}},
    },
}
"""Name -> what it changes in the spec: all methods, and all variants that have statements of their own."""


def spec(name: str, **changes: Any) -> kanon_sql.Spec:
    """A spec of a recoding."""
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": SOURCE,
            "release": RELEASE,
            "quasi_identifiers": _LABELS,
            "privacy": [{"k_anonymity": 2}],
            "keep": ["illness"],
            **RECODINGS[name],
            **changes,
        }
    )


def earlier() -> kanon_sql.Spec:
    """A spec of a full-domain release under the same name, for another k: no recoding makes its rows."""
    return spec("local", recoding="full_domain", privacy=[{"k_anonymity": 9}])


def fill(subject: Subject, rows: int = 24) -> None:
    """Make the table: two neighbours of everybody, more or less."""
    draw = random.Random(5)
    cells = [
        (draw.choice((20, 21, 24, 38, 39, 61)), draw.randrange(9), draw.choice(("101", "102", "110", "201")),
         *(draw.choice("yn") for _ in range(3)), draw.choice("xyz"))
        for _ in range(rows)
    ]  # fmt: skip
    subject.table(SOURCE, COLUMNS, cells)


def fail_at(patched: pytest.MonkeyPatch, name: str) -> None:
    """Make every statement of a template fail."""
    counted = Meter.count

    def count(self: Meter, statement: Any, *given: Any) -> Any:
        if statement.name == name:
            raise DatabaseError(f"{name} fails")
        return counted(self, statement, *given)

    patched.setattr(Meter, "count", count)
