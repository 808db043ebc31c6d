"""What can be known before a search: that no generalization can satisfy, however much it suppresses."""

from __future__ import annotations

from math import isqrt

from kanon_sql.engines import Workspace
from kanon_sql.errors import counted
from kanon_sql.frequency import FrequencySets, Prepared
from kanon_sql.models import Whole

__all__ = ["out_of_reach", "rows_in_words", "too_many_nulls"]


def rows_in_words(count: int) -> str:
    """``1 row``, ``2,300 rows``."""
    return counted(count, "row")


def too_many_nulls(given: Prepared) -> str | None:
    """Why rows with a NULL alone are too many to suppress, in a sentence; None where they are not."""
    if given.sets.null_rows <= given.max_suppressed:
        return None
    return (
        f"{rows_in_words(given.sets.null_rows)} with a NULL quasi-identifier would go (nulls: suppress), "
        f"but the suppression limit is {rows_in_words(given.max_suppressed)}: raise the limit or use nulls: value"
    )


def out_of_reach(given: Prepared) -> str | None:
    """Why no generalization satisfies, in a sentence; None where one may.

    At most one small statement per sensitive attribute, over its values.
    """
    sets = given.sets
    by_person = sets.persons is not None
    protected = sets.rows if sets.persons is None else sets.persons
    largest_k = max((model.least_size for model in given.models if model.least_size is not None), default=1)
    if protected < largest_k:
        what = ("person" if by_person else "row") + ("" if protected == 1 else "s")
        return f"the source has {protected:,} {what}, fewer than k = {largest_k}: nothing can be released"
    nulls = too_many_nulls(given)
    if nulls is not None:
        return nulls
    wholes: dict[str, Whole] = {}
    for model in given.models:
        if not model.is_bounded or model.attribute is None:
            continue
        if model.attribute not in wholes:
            sizes = _sizes(given.workspace, sets, model.attribute)
            wholes[model.attribute] = Whole(sizes, None if by_person else given.max_suppressed)
        reason = model.out_of_reach(wholes[model.attribute])
        if reason is not None:
            return f"no generalization satisfies {model.label}: {reason}"
    return None


def _sizes(workspace: Workspace, sets: FrequencySets, attribute: str) -> dict[int, int]:
    """How many values of an attribute are held by how many rows or persons."""
    most = isqrt(2 * sets.rows) + 1  # this many different sizes add up to more rows than there are
    found = workspace.fetch("evaluate/source_counts", most, table=sets.references[attribute])
    return {int(size): int(count) for size, count in found}
