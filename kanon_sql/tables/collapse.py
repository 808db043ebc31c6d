"""Which table to publish: the one asked for, or one whose categories are combined until no cell is sensitive.

Both are decided from how many cells of each margin violate a rule; the database counts these. So of a table that is
collapsed only cells that no rule objects to are fetched. All rules but one are of the kind that the union of cells that
are not sensitive is not sensitive either (Cox 1981), so what can be added up or subtracted from the published cells is
no more sensitive than they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kanon_sql.engines import Workspace
from kanon_sql.sql import Relation
from kanon_sql.tables.shape import Shape, Step

__all__ = ["chosen"]


def chosen(
    workspace: Workspace, shape: Shape, cells: Relation, kept: Sequence[Sequence[str]]
) -> tuple[Step | None, str | None]:
    """Choose the levels that the table has.

    Args:
        workspace: where.
        shape: the margins.
        cells: the table of all cells.
        kept: per margin, the labels that its cells have.

    Returns:
        The finest level per dimension, or None and why nothing may be published. Where categories are collapsed it is
        the table of the fewest steps without sensitive cells, of these the one of the most cells, and then the first.
    """
    crowded = _crowded(workspace, shape, cells, kept)
    if not shape.spec.protection.collapses:
        found = sum(crowded[shape.number[margin]] for margin in shape.shown(shape.first))
        if not found:
            return shape.first, None
        return None, (
            f"{found:,} times nearly all contributors of a margin are in one of its cells, and only collapsing "
            "hides that, since cells that are left out are known to be empty; use protection: collapsing"
        )
    workspace.report("choosing how far to collapse categories", None)
    counted = workspace.fetch("tables/sensitive", len(shape.margins), cells=cells, differences=_differences(shape))
    sensitive = Counter({int(branch): int(found) for branch, _, found in counted}) + crowded
    size = {int(branch): int(count) for branch, count, _ in counted}
    safe = []
    for step in shape.steps():
        shown = [shape.number[margin] for margin in shape.shown(step)]
        if not any(sensitive[branch] for branch in shown):
            safe.append((shape.taken(step), -sum(size.get(branch, 0) for branch in shown), step))
    if not safe:
        return None, "every table has a sensitive cell, however far its categories are collapsed"
    return min(safe)[2], None


def _differences(shape: Shape) -> int:
    """How many rules of differences there are columns for; one column stands for none."""
    return max(1, len([rule for rule in (shape.spec.rules.p_percent, shape.spec.rules.pq) if rule is not None]))


def _crowded(workspace: Workspace, shape: Shape, cells: Relation, kept: Sequence[Sequence[str]]) -> Counter[int]:
    """Margin -> how many of its cells leave too few contributors of the next margin outside of them."""
    found: Counter[int] = Counter()
    if shape.spec.rules.margin_difference is None:
        return found
    workspace.report("comparing cells with their margins", None)
    for dimension in range(len(shape.dimensions)):
        pairs = []
        for number, margin in enumerate(shape.margins):
            above = shape.above(margin, dimension)
            if above is not None:
                whole = shape.number[above]
                pairs.append({"part": number, "whole": whole, "kept": list(kept[whole])})
        counted = workspace.fetch(
            "tables/crowded", len(pairs), cells=cells, pairs=pairs, difference=shape.spec.rules.margin_difference
        )
        found += Counter({int(branch): int(count) for branch, count in counted})
    return found
