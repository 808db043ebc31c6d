"""What a spec cannot have whose quasi-identifiers are points: two columns that no row may show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kanon_sql.spec.checks import Fault, Loc, quote
from kanon_sql.spec.positions import Point

if TYPE_CHECKING:
    from kanon_sql.spec.model import Spec

__all__ = ["point_faults"]


def point_faults(spec: Spec) -> Iterator[Fault]:
    """Coordinates that would be released, labels that are no cells, and rows that are left out of one column alone."""
    for name, point in spec.points.items():
        loc: Loc = ("quasi_identifiers", name, "point")
        yield from _role_faults(spec, name, point)
        yield from _label_faults(spec, name)
        if point.outside == "suppress" and spec.nulls != "suppress":
            why = (
                "a row without a point inside the bounds becomes NULL here, so outside: suppress needs nulls: "
                "suppress; add it, or filter the rows in a source query"
            )
            yield Fault((*loc, "outside"), why)
        if point.outside == "refuse" and spec.differential_privacy is not None:
            why = (
                "with differential_privacy a run that stops at a point outside the bounds reveals that there is one; "
                "use outside: suppress"
            )
            yield Fault((*loc, "outside"), why)


def _role_faults(spec: Spec, name: str, point: Point) -> Iterator[Fault]:
    """Coordinates have no other role: anyone who sees them needs no cell."""
    taken = {column.casefold(): f"under {role}" for role in _ROLES for column in getattr(spec, role)}
    if spec.unit is not None:
        taken.setdefault(spec.unit.casefold(), "the unit")
    for other, item in spec.points.items():
        if other != name:
            taken |= dict.fromkeys(map(str.casefold, item.columns), f"a coordinate of {quote(other)}")
    for index, column in enumerate(point.columns):
        if column.casefold() in taken:
            why = (
                f"column {quote(column)} is also {taken[column.casefold()]}; a coordinate must have no other role, "
                "since its value would narrow the cell"
            )
            if column.casefold() == name.casefold():
                why = f"{quote(name)} is the name of the column of cells; give the quasi-identifier another name"
            yield Fault(("quasi_identifiers", name, "point", "columns", index), why)


_ROLES = ("identifiers", "quasi_identifiers", "sensitive", "keep")


def _label_faults(spec: Spec, name: str) -> Iterator[Fault]:
    """Labels that are ranges of values, or numbers: cells of a plane have no order."""
    faults: Sequence[tuple[bool, Loc, str]] = (
        (spec.search.of_intervals, ("search", "algorithm"), f"{spec.search.algorithm} cuts columns between values"),
        (spec.recoding.declared.of_ranges, ("recoding", "method"), f"{spec.recoding.method} releases ranges of values"),
        (name in (spec.recoding.ranges or ()), ("recoding", "ranges"), "ranges need ordered values"),
        (name in (spec.recoding.columns or {}), ("recoding", "columns"), "aggregates need numbers"),
    )
    for applies, loc, what in faults:
        if applies:
            why = f"{what}, but the cells of {quote(name)} have no order"
            yield Fault(loc, f"{why}; use a recoding that releases labels: full_domain, local or subtree")
