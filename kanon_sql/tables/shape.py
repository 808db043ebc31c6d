"""Which margins a table has: its levels as asked for, or coarser ones where categories are collapsed.

A margin is said by a number per dimension: how many of its offered levels, from the finest on, are summed over. All of
them are for the total. Categories are collapsed one level of one dimension at a time, and after the last level by the
dimension's total alone (WP 22, chapter II, calls it to combine rows or columns).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from kanon_sql.spec import Dimension, TableSpec

__all__ = ["Margin", "Shape", "Step"]

Margin = tuple[int, ...]
"""Per dimension, how many offered levels are summed over; all of them for the total, and more for a level of one of
several hierarchies (:attr:`Dimension.groups`), by its number."""

Step = tuple[int, ...]
"""Per dimension, the finest level that the table has; the top of the hierarchy where only the total is left."""


@dataclass(frozen=True)
class Shape:
    """The margins of a table, or of several that are linked, and of all tables that it may be collapsed to.

    Attributes:
        spec: what to tabulate.
        heights: the top level of each dimension's hierarchy.
    """

    spec: TableSpec
    heights: Sequence[int]

    @property
    def dimensions(self) -> Sequence[Dimension]:
        """Those of the spec, in order."""
        return list(self.spec.dimensions.values())

    @cached_property
    def offered(self) -> Sequence[Sequence[int]]:
        """Per dimension, the levels that some table has: those above the finest too where categories may collapse."""
        if not self.spec.protection.collapses or self.spec.merges:
            return [item.levels for item in self.dimensions]
        return [range(item.levels[0], top) for item, top in zip(self.dimensions, self.heights, strict=True)]

    @cached_property
    def margins(self) -> Sequence[Margin]:
        """All margins that are added up; totals that no table shows are among them where a rule compares with them."""
        compared = self.spec.protection.collapses or self.spec.rules.margin_difference is not None
        ends = [
            [*range(len(levels) + (item.total or compared)), *_groups(item, levels)]
            for item, levels in zip(self.dimensions, self.offered, strict=True)
        ]
        return [margin for margin in product(*ends) if self._in_a_table(margin)]

    def _in_a_table(self, margin: Margin) -> bool:
        """Whether a table shows it: one that has every dimension of which it is not the total."""
        if self.spec.tables is None:
            return True
        open_ones = {
            name
            for name, end, levels in zip(self.spec.dimensions, margin, self.offered, strict=True)
            if end != len(levels)
        }
        return any(open_ones <= set(table) for table in self.spec.tables)

    @cached_property
    def number(self) -> Mapping[Margin, int]:
        """Margin -> its number among all."""
        return {margin: number for number, margin in enumerate(self.margins)}

    def levels(self, step: Step) -> Sequence[Sequence[int]]:
        """Per dimension, the levels that a collapsed table has: the finest one left, and those asked for above it."""
        return [
            () if finest >= top else (finest, *(level for level in item.levels if level > finest))
            for finest, item, top in zip(step, self.dimensions, self.heights, strict=True)
        ]

    @property
    def first(self) -> Step:
        """The table as asked for."""
        return tuple(item.levels[0] for item in self.dimensions)

    def steps(self) -> Iterator[Step]:
        """Every table that it may be collapsed to, itself among them."""
        ends = [range(item.levels[0], top + 1) for item, top in zip(self.dimensions, self.heights, strict=True)]
        yield from product(*ends)

    def taken(self, step: Step) -> int:
        """How often something was collapsed."""
        return sum(step) - sum(self.first)

    def shown(self, step: Step) -> Sequence[Margin]:
        """The margins that a table shows."""
        ends = []
        for item, levels, offered in zip(self.dimensions, self.levels(step), self.offered, strict=True):
            total = [len(offered)] if item.total or not levels else []
            ends.append([*(list(offered).index(level) for level in levels), *total, *_groups(item, offered)])
        return [margin for margin in product(*ends) if margin in self.number]

    def above(self, margin: Margin, dimension: int) -> Margin | None:
        """The next margin that sums a margin's cells over a dimension; None if it is the total over it already.

        It is the same in every table that shows the margin: levels above the finest one are those asked for.
        """
        offered = self.offered[dimension]
        if margin[dimension] == len(offered):
            return None
        level = offered[margin[dimension]]
        higher = [place for place, other in enumerate(offered) if other > level
                  and other in self.dimensions[dimension].levels]  # fmt: skip
        return (*margin[:dimension], min(higher, default=len(offered)), *margin[dimension + 1 :])


def _groups(item: Dimension, offered: Sequence[int]) -> range:
    """The margins of a dimension that are levels of one of its several hierarchies."""
    return range(len(offered) + 1, len(offered) + 1 + len(item.groups))
