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
from kanon_sql.spec.load import label_text
from kanon_sql.spec.redact import sha256

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


def _hierarchy_faults(value: Grouping | Dimension) -> Iterator[Fault]:
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


class Grouping(Part):
    """One of several hierarchies of a dimension, and the levels of it that have cells.

    Attributes:
        hierarchy: how the values are grouped.
        levels: its levels that have cells; each is a subtotal of the values.
    """

    expected: ClassVar[str] = "{hierarchy: {tree: {North: [a, b]}}, levels: [1]}"

    hierarchy: QuasiIdentifier = Field(description="How to group the values.")
    levels: Annotated[tuple[int, ...], Check(_levels, _LEVELS)] = Field(
        default=(1,), description="The levels of the hierarchy to tabulate, above the values."
    )

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """Levels between the values and the top."""
        if value is not None:
            yield from _hierarchy_faults(value)
            if value.levels[0] == 0:
                yield Fault(("levels",), "level 0 is the values, which have cells by themselves; leave it out")


def _merge(value: object) -> tuple[str, ...]:
    if value == BY_VALUE:
        return ()
    if not isinstance(value, list | tuple):
        fail(f"expected {BY_VALUE}, or a list of all categories in their order, got {kind(value)}")
    if len(value) < 2:
        fail("expected two categories at least")
    if not all(isinstance(item, str | int) and not isinstance(item, bool) for item in value):
        fail("expected categories as texts or whole numbers; write others in quotes")
    found = tuple(str(item) for item in value)
    if len(set(found)) < len(found):
        fail("expected each category once")
    return found


BY_VALUE = "by_value"
_MERGE = {
    "anyOf": [
        {"const": BY_VALUE},
        {
            "type": "array",
            "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "minItems": 2,
            "uniqueItems": True,
        },
        {"type": "null"},
    ]
}


@Check
def _groupings(value: object) -> dict[str, Grouping]:
    if not isinstance(value, Mapping):
        fail(f"expected a mapping of names to hierarchies, got {kind(value)}")
    faults, found = Faults(), {}
    for name, written in value.items():
        if faults.attempt((name,), text("a name of a hierarchy"), name) is not None:
            found[name] = faults.attempt((name,), Grouping.model_validate, written)
    faults.finish()
    return {name: item for name, item in found.items() if item is not None}


def _label(value: object) -> str:
    found = label_text(value)
    if found is None:
        fail(f"expected a label, got {kind(value)}")
    return text("a label")(found)


@Check
def _values(value: object) -> tuple[str, ...]:
    found = items("labels", _label, least=1)(value)
    if len(set(found)) < len(found):
        fail("expected each label once")
    return found


_LABEL = {"anyOf": [{"type": "string", "minLength": 1}, {"type": "number"}, {"type": "boolean"}]}
_VALUES = {"type": "array", "items": _LABEL, "minItems": 1}


class Dimension(Part):
    """A column that the table is broken down by.

    Attributes:
        hierarchies: name -> one of several hierarchies of the same values; none where there is one.
        hierarchy: how its values are grouped, as for a quasi-identifier.
        levels: the levels of the hierarchy that have cells, the finest first; each but the first is a subtotal of the
            one before.
        merge: where categories collapse, the order in which neighbours are merged: none listed for that of the values;
            None where categories are not merged.
        total: whether the table has the total over all of its categories.
        values: for noise, the labels of the only level, whether they occur or not; None where a hierarchy in a file or
            a tree lists them, or only the rows say.
    """

    expected: ClassVar[str] = "nothing, or {hierarchy: {intervals: [10]}, levels: [1], total: true}"

    hierarchy: QuasiIdentifier = Field(
        default=QuasiIdentifier(), description="How to group the values; not at all by default."
    )
    levels: Annotated[tuple[int, ...], Check(_levels, _LEVELS)] = Field(
        default=(0,), description="The levels of the hierarchy to tabulate."
    )
    hierarchies: Annotated[dict[str, Grouping], _groupings] = Field(
        default={}, description="Several hierarchies of the same values, by name, each with its subtotals."
    )
    merge: Annotated[tuple[str, ...] | None, Check(_merge, _MERGE)] = Field(
        default=None, description="Merge neighbouring categories: by_value, or a list of all categories in order."
    )
    total: Flag = Field(default=True, description="Whether to include a total.")
    values: Annotated[tuple[str, ...] | None, Check(_values, _VALUES)] = Field(
        default=None, description="For noise: the labels of the level, whether they occur or not."
    )

    @classmethod
    def written(cls, value: Any) -> Any:
        """Nothing after the name means: its values, and a total."""
        return {} if value is None else value

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """Levels below the top, and nothing that only a search takes."""
        if value is None:
            return
        yield from _hierarchy_faults(value)
        if value.merge is not None:
            for name in ("hierarchy", "levels"):
                if name in given:
                    why = "neighbours are merged where there is no hierarchy; leave one of the two out"
                    yield Fault((name,), why, True)
        if value.hierarchies:
            for name in ("hierarchy", "levels"):
                if name in given:
                    yield Fault((name,), "each of the hierarchies has its own; write it there", True)
            if value.merge is not None:
                yield Fault(("merge",), "categories with hierarchies are not merged; leave one of the two out", True)
            if len(value.hierarchies) < 2:
                yield Fault(("hierarchies",), "expected two at least; write a single one as 'hierarchy'")
        if value.values is not None and (len(value.levels) > 1 or value.hierarchy.is_listed):
            why = (
                "the hierarchy lists its values already; leave 'values' out"
                if value.hierarchy.is_listed
                else "they are the labels of one level; for several, list them in a hierarchy file or tree"
            )
            yield Fault(("values",), why, True)

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = dict(handler.resolve_ref_schema(handler(core)))
        schema["properties"]["hierarchy"].pop("default", None)
        schema["properties"]["hierarchies"].pop("default", None)
        return {"anyOf": [schema, {"type": "null"}]}

    @property
    def declared(self) -> bool:
        """Whether its categories are known without the rows."""
        return self.values is not None or (self.hierarchy.is_listed and self.hierarchy.table is None)

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Every level of several hierarchies that has cells, and the name of its hierarchy."""
        return [(name, level) for name, item in self.hierarchies.items() for level in item.levels]

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as this dimension."""
        found = self._written({"": self.hierarchy.to_dict(), **{k: v.hierarchy.to_dict() for k, v in self._others}})
        return found if self.values is None else {**found, "values": list(self.values)}

    def redacted(self) -> dict[str, Any]:
        """:meth:`to_dict` for a manifest."""
        found = self._written({"": self.hierarchy.redacted(), **{k: v.hierarchy.redacted() for k, v in self._others}})
        if self.values is not None:
            return {**found, "values": {"sha256": sha256({"values": self.values}), "values": len(self.values)}}
        return {**found, "merge": f"{len(self.merge)} categories"} if self.merge else found

    @property
    def _others(self) -> list[tuple[str, Grouping]]:
        return list(self.hierarchies.items())

    def _written(self, hierarchies: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
        written = {name: _without_search(item) for name, item in hierarchies.items()}
        if self.hierarchies:
            several = {name: {"hierarchy": written[name], "levels": list(item.levels)} for name, item in self._others}
            return {"hierarchies": several, "total": self.total}
        if self.merge is not None:
            return {"merge": list(self.merge) or BY_VALUE, "total": self.total}
        return {"hierarchy": written[""], "levels": list(self.levels), "total": self.total}


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
