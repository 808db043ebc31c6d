"""The dimensions of a table: the columns that it is broken down by, and the levels that have cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from kanon_sql.spec.checks import Check, Fault, Faults, Part, fail, integer, items, kind, text
from kanon_sql.spec.fields import Flag
from kanon_sql.spec.hierarchy import QuasiIdentifier

__all__ = ["Dimension", "parse_dimensions"]

MOST_DIMENSIONS = 8
"""Every dimension with a total doubles the margins."""

_OF_SEARCHES = ("minimum_level", "maximum_level", "weight", "parents", "as_")
"""Options of a hierarchy that only a search or a recoding takes."""

VALUE_COLUMNS = ("value", "suppressed", "count", "mean", "percent")
"""What a published table has beside its dimensions."""


@Check
def _levels(value: object) -> tuple[int, ...]:
    if isinstance(value, int) and not isinstance(value, bool):
        value = [value]
    found = items("levels", integer("a level", 0), least=1)(value)
    if any(low >= high for low, high in pairwise(found)):
        fail("expected levels in ascending order, each once")
    return found


_LEVELS = {
    "anyOf": [
        {"type": "integer", "minimum": 0},
        {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1},
    ]
}


class Dimension(Part):
    """A column that the table is broken down by.

    Attributes:
        hierarchy: how its values are grouped, as for a quasi-identifier.
        levels: the levels of the hierarchy that have cells, the finest first; each but the first is a subtotal of the
            one before.
        total: whether the table has the total over all of its categories.
    """

    expected: ClassVar[str] = "nothing, or {hierarchy: {intervals: [10]}, levels: [1], total: true}"

    hierarchy: QuasiIdentifier = Field(
        default=QuasiIdentifier(), description="How to group the values; not at all by default."
    )
    levels: Annotated[tuple[int, ...], Check(_levels, _LEVELS)] = Field(
        default=(0,), description="The levels of the hierarchy to tabulate."
    )
    total: Flag = Field(default=True, description="Whether to include a total.")

    @classmethod
    def written(cls, value: Any) -> Any:
        """Nothing after the name means: its values, and a total."""
        return {} if value is None else value

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """Levels below the top, and nothing that only a search takes."""
        if value is None:
            return
        kind = value.hierarchy.hierarchy
        if kind.never_dimension is not None:
            yield Fault(("hierarchy", kind.name), kind.never_dimension, True)
            return
        top = value.hierarchy.height_hint
        if top is not None and value.levels[-1] >= top:
            why = f"level {value.levels[-1]} is not below the top, level {top}; use total: true for the total"
            yield Fault(("levels",), why)
        for field in _OF_SEARCHES:
            if getattr(value.hierarchy, field) != QuasiIdentifier.model_fields[field].default:
                why = "this option is for a search, and a table has none; set 'levels' instead"
                yield Fault(("hierarchy", field.rstrip("_")), why, True)

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = dict(handler.resolve_ref_schema(handler(core)))
        schema["properties"]["hierarchy"].pop("default", None)
        return {"anyOf": [schema, {"type": "null"}]}

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as this dimension."""
        return {
            "hierarchy": _without_search(self.hierarchy.to_dict()),
            "levels": list(self.levels),
            "total": self.total,
        }

    def redacted(self) -> dict[str, Any]:
        """:meth:`to_dict` for a manifest."""
        return {**self.to_dict(), "hierarchy": _without_search(self.hierarchy.redacted())}


def _without_search(written: dict[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in written.items() if key not in _OF_SEARCHES}


@Check
def parse_dimensions(value: object) -> dict[str, Dimension]:
    """A check for the dimensions of a table, by their columns."""
    if not isinstance(value, Mapping):
        fail(f"expected a mapping of column names to dimensions, got {kind(value)}")
    if not 1 <= len(value) <= MOST_DIMENSIONS:
        fail(f"expected 1 to {MOST_DIMENSIONS} dimensions, got {len(value)}")
    faults = Faults()
    found = {}
    for name, written in value.items():
        if faults.attempt((name,), text("a column name"), name) is None:
            continue
        if name.casefold() in VALUE_COLUMNS:
            faults.add((name,), f"the table adds a column {name!r}; rename yours in a source query", True)
        found[name] = faults.attempt((name,), Dimension.model_validate, written)
    faults.finish()
    return {name: item for name, item in found.items() if item is not None}
