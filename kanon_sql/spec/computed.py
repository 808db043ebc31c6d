"""Released columns that can be computed with: what they are called, and where labels have no numbers to give.

A quasi-identifier is released as a label, which is text. With ``as: bounds`` or ``as: midpoint`` the label has columns
beside it that say the same as numbers or dates. They are made from the label's text and from nothing else, so rows that
have one label have one value of them: the label stays what classes are made by.

With ``as: number`` the column itself is what it is in the source. There is no label then, and so no other level.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kanon_sql.registers import HIERARCHIES
from kanon_sql.spec.checks import Fault, Loc, quote

if TYPE_CHECKING:
    from kanon_sql.spec.hierarchy import QuasiIdentifier
    from kanon_sql.spec.model import Spec

__all__ = ["FORMS", "ComputedColumn", "columns_by_name", "computed_columns", "computed_faults"]

FORMS = ("text", "bounds", "midpoint", "number")
"""What a quasi-identifier may be released as."""

_PARTS: Mapping[str, tuple[Literal["from", "to", "mid"], ...]] = {"bounds": ("from", "to"), "midpoint": ("mid",)}

_READS: Mapping[str, tuple[str, ...]] = {"bounds": ("numbers", "dates"), "midpoint": ("numbers",)}
"""Form -> what the labels of a kind of hierarchy must be bounded by."""


@dataclass(frozen=True)
class ComputedColumn:
    """A released column that says in numbers or dates what a label says.

    Attributes:
        name: of the column.
        of: the quasi-identifier whose label it is made from.
        part: where the label begins, where it ends, or its middle.
        dates: it holds dates, else numbers.
    """

    name: str
    of: str
    part: Literal["from", "to", "mid"]
    dates: bool


def computed_columns(quasi_identifiers: Mapping[str, QuasiIdentifier]) -> tuple[ComputedColumn, ...]:
    """The columns that are released beside the labels of quasi-identifiers, such as ``age_from`` and ``age_to``."""
    return tuple(
        ComputedColumn(f"{name}_{part}", name, part, item.hierarchy.bounds == "dates")
        for name, item in quasi_identifiers.items()
        for part in _PARTS.get(item.as_, ())
    )


def columns_by_name(labels: Iterable[str], names: Collection[str]) -> tuple[ComputedColumn, ...]:
    """Columns of a table that are called as what stands beside labels, where no spec says what they are.

    Args:
        labels: the quasi-identifiers.
        names: the table's other columns.
    """
    return tuple(
        ComputedColumn(f"{label}_{part}", label, part, dates=False)
        for label in labels
        for parts in _PARTS.values()
        for part in parts
        if f"{label}_{part}" in names
    )


def computed_faults(spec: Spec) -> Iterator[Fault]:
    """What a quasi-identifier cannot be released as."""
    for name, item in spec.quasi_identifiers.items():
        loc: Loc = ("quasi_identifiers", name, "as")
        if item.as_ in _PARTS:
            yield from (Fault(loc, why) for why in _without_bounds(spec, name, item))
        if item.as_ == "number":
            yield from (Fault(loc, why) for why in _without_numbers(spec, item))
        if item.hierarchy.sortable:
            yield from (Fault(("quasi_identifiers", name, "labels"), why) for why in _of_values(spec, name))
    yield from _taken(spec)


def _without_bounds(spec: Spec, name: str, item: QuasiIdentifier) -> Iterator[str]:
    """Why labels have no ends, or no middle."""
    known = [name for name, kind in HIERARCHIES.items() if kind.bounds in _READS[item.as_]]
    if item.hierarchy.bounds is None:
        yield (
            f"as: {item.as_} needs the bounds of intervals, which this hierarchy does not have; it works for "
            f"{' and '.join(map(repr, known))}"
        )
    elif item.hierarchy.bounds not in _READS[item.as_]:
        yield "a month or a year has no exact middle day; use as: bounds"
    yield from _of_values(spec, name)
    if spec.m_invariance is not None:
        yield f"as: {item.as_} cannot be combined with m_invariance; leave it out"


def _of_values(spec: Spec, name: str) -> Iterator[str]:
    """Why labels are not those of the hierarchy."""
    what: str | None = None
    if spec.search.of_intervals:
        what = spec.search.algorithm
    elif spec.recoding.declared.of_ranges:
        what = f"recoding: {spec.recoding.method}"
    elif name in (spec.recoding.ranges or ()):
        what = "recoding.ranges"
    if what is not None:
        yield (
            f"{what} makes ranges that end at values of the data, not at the bounds of the hierarchy's intervals; "
            "leave it out"
        )
    elif name in (spec.recoding.columns or {}):
        yield "recoding.columns already releases this column as a number; leave it out"


def _without_numbers(spec: Spec, item: QuasiIdentifier) -> Iterator[str]:
    """Why a column cannot keep its type."""
    if item.maximum_level != 0:
        yield (
            "as: number keeps the type of the value, which only level 0 has, since labels of higher levels are text; "
            "add maximum_level: 0, or use as: bounds or midpoint"
        )
    others = {
        "suppression.style: mask": spec.suppression.style == "mask",
        f"recoding: {spec.recoding.method}": not spec.recoding.is_full_domain,
        "differential_privacy": spec.differential_privacy is not None,
        "m_invariance": spec.m_invariance is not None,
    }
    for what, asked in others.items():
        if asked:
            yield f"as: number needs a number in every row, but {what} releases labels, such as *; use as: text"
    if item.hierarchy.never_number is not None:
        yield item.hierarchy.never_number


def _taken(spec: Spec) -> Iterator[Fault]:
    """Columns whose name another released column has."""
    roles: Iterable[str] = (*spec.quasi_identifiers, *spec.identifiers, *spec.sensitive, *spec.keep)
    taken = {name.casefold() for name in (*roles, *([] if spec.unit is None else [spec.unit]))}
    for column in spec.computed:
        if column.name.casefold() in taken:
            why = f"the release would have two columns {quote(column.name)}; rename one of them in a source query"
            yield Fault(("quasi_identifiers", column.of, "as"), why)
        taken.add(column.name.casefold())
