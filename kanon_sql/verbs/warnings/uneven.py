"""The warning that suppression hits one group of rows much harder than the others."""

from __future__ import annotations

from kanon_sql.engines import refuse_incomplete
from kanon_sql.evaluate import Chosen, few
from kanon_sql.recode import Recoded
from kanon_sql.sql import PORTABLE, Sql
from kanon_sql.verbs.result import Warned
from kanon_sql.verbs.warnings.advice import or_local

__all__ = ["uneven"]

TIMES = 4
"""So many times the share of all rows is uneven."""

LEAST = 30
"""Groups of fewer rows are looked at as one: in a small group one row is a large share."""


def uneven(found: Chosen | Recoded) -> list[Warned]:
    """Columns with a group of rows that lost at least four times the share that all rows lost, the worst first.

    A column's groups are the rows under one label below the top of its hierarchy. Rows that were suppressed for a NULL
    are not among them.

    Args:
        found: what was chosen; it takes one statement over the frequency set where a row is suppressed.
    """
    sets = found.sets
    lost = found.rows()["suppressed"] - sets.null_rows
    if lost <= 0 or (isinstance(found, Recoded) and found.mapped.slices):
        return []
    fewest = few(found.models)
    groups = [lookup for lookup in sets.lookups if lookup.height]
    suppressed = classed = None
    keys: list[Sql] = []
    words: list[str] = []
    vectors, left_out = sets.base, Sql("suppressed.class_rows IS NOT NULL")
    if isinstance(found, Recoded):
        vectors, classed = found.mapped.vectors, found.mapped.classed
        words, left_out = list(found.mapped.names), Sql("classed.part IS NULL")
    else:
        suppressed = found.evaluator.suppressed_classes(found.node)
        # Both the classes that are suppressed and the labels below the top are told from this set.
        below = (min(level, max(0, item.height - 1)) for level, item in zip(found.node, sets.lookups, strict=True))
        vectors = found.evaluator.smallest_set(tuple(below))
        keys = [Sql(key) for key in sets.codes.keys(found.node, PORTABLE, "held")]
    answer = found.workspace.fetch(
        "verbs/warnings/suppressed",
        len(groups),
        groups=[{"code": Sql(sets.codes.code(lookup.index, lookup.height - 1, PORTABLE, "held"))} for lookup in groups],
        vectors=vectors,
        suppressed=suppressed,
        keys=keys,
        classed=classed,
        words=words,
        left_out=left_out,
        least=max(LEAST, fewest),
        few=fewest,
    )
    of_all = lost / sets.kept_rows
    hit: list[tuple[float, str]] = []
    told = {int(number): (share, judged) for number, share, judged in answer}
    for number, lookup in enumerate(groups):
        share, judged = told.get(number, (None, None))
        refuse_incomplete("verbs/warnings/suppressed", judged, sets.kept_rows)
        if share is not None and share >= TIMES * of_all:
            hit.append((float(share), lookup.name))
    if not hit:
        return []
    hit.sort(key=lambda item: -item[0])
    said = ", ".join(f"{name} ({100 * share:.1f} %)" for share, name in hit)
    message = (
        f"{100 * of_all:.1f} % of all rows are suppressed, and far more of one group by {said}: the release speaks "
        f"less of these. Coarsen other columns{or_local(found)}"
    )
    figures = {"largest_share": hit[0][0], "share_of_all": of_all}
    return [Warned("uneven_suppression", message, [name for _, name in hit], figures)]
