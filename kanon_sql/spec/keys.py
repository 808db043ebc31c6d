"""What is read of a spec key by key: its version, its quasi-identifiers, its lists of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import WithJsonSchema

from kanon_sql.spec.checks import Faults, checked, fail, items, kind, text
from kanon_sql.spec.hierarchy import QuasiIdentifier

__all__ = ["ColumnNames", "hierarchies_by_column", "only_version"]


def only_version(value: object) -> int:
    """Check the number of the format."""
    if not isinstance(value, int) or isinstance(value, bool):
        fail(f"expected version 1, got {kind(value)}")
    if value != 1:
        fail("this version of kanon_sql reads spec version 1 only; expected version: 1")
    return value


def hierarchies_by_column(value: object) -> dict[str, QuasiIdentifier]:
    """Check columns and their hierarchies, and find all faults at once."""
    if not isinstance(value, Mapping):
        fail(f"expected a mapping of column names to hierarchies, got {kind(value)}")
    if not value:
        fail("expected at least one quasi-identifier, got an empty mapping")
    faults = Faults()
    found = {}
    for name, written in value.items():
        if faults.attempt((name,), text("a column name"), name) is not None:
            found[name] = faults.attempt((name,), QuasiIdentifier.model_validate, written)
    faults.finish()
    return {name: checked for name, checked in found.items() if checked is not None}


ColumnNames = Annotated[
    tuple[str, ...],
    checked(items("column names", text("a column name"))),
    WithJsonSchema({"type": ["array", "null"], "items": {"type": "string", "minLength": 1}}),
]
