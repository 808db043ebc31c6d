"""Tables and specs for the wrong results that published anonymizers give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import kanon_sql
from tests.conftest import Database

STYLES = ["drop", "mask"]


def spec_of(quasi_identifiers: Any, privacy: list[dict[str, Any]], **more: Any) -> kanon_sql.Spec:
    """A spec over the table `people`; requirements are given as {name: parameters}."""
    if not isinstance(quasi_identifiers, Mapping):
        quasi_identifiers = dict.fromkeys(quasi_identifiers)
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": quasi_identifiers,
            "privacy": privacy,
            **more,
        }
    )


def k(value: int) -> dict[str, Any]:
    return {"k_anonymity": {"k": value}}


def l(value: float, kind: str = "distinct", **more: Any) -> dict[str, Any]:  # noqa: E743
    return {"l_diversity": {"attribute": "s", "l": value, "variant": kind, **more}}


def t(value: float, **more: Any) -> dict[str, Any]:
    return {"t_closeness": {"attribute": "s", "t": value, **more}}


def classes(database: Database, *counts: Sequence[int] | Mapping[Any, int], kind: str = "VARCHAR") -> None:
    """One class per argument, as counts of its sensitive values."""
    rows = []
    for number, given in enumerate(counts):
        named = given if isinstance(given, Mapping) else {f"v{index}": count for index, count in enumerate(given)}
        rows += [(f"class {number}", value) for value, count in named.items() for _ in range(count)]
    database.table("people", {"q": "VARCHAR", "s": kind}, rows)


def checked(
    database: Database, *privacy: dict[str, Any], table: str = "people", **more: Any
) -> kanon_sql.results.Check:
    spec = spec_of(["q"], list(privacy), sensitive=["s"], **more)
    return kanon_sql.check(database.engine, spec, table)


def reached(database: Database, requirement: dict[str, Any], name: str) -> Any:
    (values,) = checked(database, requirement).achieved.values()
    return values[name]
