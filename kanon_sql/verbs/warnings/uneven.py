"""The warning that suppression hits one group of rows much harder than the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanon_sql.engines import refuse_incomplete
from kanon_sql.evaluate import Chosen, few
from kanon_sql.recode import RecodingResult
from kanon_sql.sql import PORTABLE, Sql
from kanon_sql.verbs.result import Warned
from kanon_sql.verbs.warnings.handling import or_local

__all__ = ["uneven"]

TIMES = 4
"""This many times the share of all rows is uneven."""

LEAST = 30
"""Groups of fewer rows are looked at as one: in a small group one row is a large share."""


def uneven(found: Chosen | RecodingResult) -> list[Warned]:
    """Columns with a group of rows that lost at least four times the share that all rows lost, the worst first.

    A column's groups are the rows under one label, at the highest level of its hierarchy at which its values have
    several. Rows that were suppressed for a NULL are not among them.

    Args:
        found: what was chosen; it takes one statement over the frequency set where a row is suppressed, and one more
            for each level below which all values of a column still have one label.
    """
    sets = found.sets
    lost = found.rows()["suppressed"] - sets.null_rows
    if lost <= 0 or (isinstance(found, RecodingResult) and found.mapped.slices):
        return []
    of_all = lost / sets.kept_rows
    hit: list[tuple[float, str]] = []
    asked = {lookup.index: lookup.height - 1 for lookup in sets.lookups if lookup.height}
    while asked:
        deeper = {}
        for index, (share, labels) in _shares(found, asked).items():
            lookup = sets.lookups[index]
            if labels <= 1 + lookup.has_nulls < lookup.domain_rows and asked[index]:
                deeper[index] = asked[index] - 1
            elif share is not None and share >= TIMES * of_all:
                hit.append((share, lookup.name))
        asked = deeper
    if not hit:
        return []
    hit.sort(key=lambda item: -item[0])
    text = ", ".join(f"{name} ({100 * share:.1f} %)" for share, name in hit)
    message = (
        f"{100 * of_all:.1f} % of all rows are suppressed, but far more of one group by {text}, which is "
        f"under-represented in the release. Coarsen other columns{or_local(found)}"
    )
    figures = {"largest_share": hit[0][0], "share_of_all": of_all}
    return [Warned("uneven_suppression", message, [name for _, name in hit], figures)]


def _shares(found: Chosen | RecodingResult, levels: Mapping[int, int]) -> dict[int, tuple[float | None, int]]:
    """Per column, the largest share that a group of rows lost, None where too few, and how many labels there are.

    Args:
        found: what was chosen.
        levels: a column's number -> the level whose labels make its groups.
    """
    sets, fewest = found.sets, few(found.models)
    shared: dict[str, Any] = {"suppressed": None, "classed": None, "keys": [], "words": []}
    if isinstance(found, RecodingResult):
        vectors, left_out = found.mapped.vectors, Sql("classed.part IS NULL")
        shared |= {"classed": found.mapped.classed, "words": list(found.mapped.names)}
    else:
        # Both the classes that are suppressed and the labels of the levels are read from this set.
        below = (min(level, levels.get(index, level)) for index, level in enumerate(found.node))
        vectors, left_out = found.evaluator.smallest_set(tuple(below)), Sql("suppressed.class_rows IS NOT NULL")
        keys = [Sql(key) for key in sets.codes.keys(found.node, PORTABLE, "held")]
        shared |= {"suppressed": found.evaluator.suppressed_classes(found.node), "keys": keys}
    answer = found.workspace.fetch(
        "verbs/warnings/suppressed",
        len(levels),
        groups=[{"code": Sql(sets.codes.code(index, level, PORTABLE, "held"))} for index, level in levels.items()],
        vectors=vectors,
        left_out=left_out,
        least=max(LEAST, fewest),
        few=fewest,
        **shared,
    )
    counts = {int(number): row for number, *row in answer}
    figures = {}
    for number, index in enumerate(levels):
        share, judged, labels = counts.get(number, (None, None, 0))
        refuse_incomplete("verbs/warnings/suppressed", judged, sets.kept_rows)
        figures[index] = (None if share is None else float(share), int(labels))
    return figures
