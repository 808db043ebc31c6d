"""What levels are called: a name beside each number, made of how the spec makes the labels, and of no value.

A level that a rule makes is named by the rule. A tree stands in the spec, and its first labels name its levels; a
hierarchy table names them by its columns. A file has no such names, and its labels may be the data's own (``hierarchy
--output`` writes those of a rule), so its levels are named by their columns.
"""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.hierarchies.kind import AS_IN_SOURCE, kind_of
from kanon_sql.spec import QuasiIdentifier

__all__ = ["CHOSEN_INTERVALS", "RANGES", "WITHHELD", "level_names"]

WITHHELD = "withheld"

CHOSEN_INTERVALS = (AS_IN_SOURCE, "intervals that the search chose", WITHHELD)
"""The levels of a column whose intervals an algorithm chose."""

RANGES = (AS_IN_SOURCE, "ranges of the classes", WITHHELD)
"""The levels of a column that is released as ranges of its values."""


def level_names(hierarchy: QuasiIdentifier, height: int, columns: Sequence[str] = ()) -> tuple[str, ...]:
    """The name of every level, level 0 first and the top, which is ``withheld``, last.

    Args:
        hierarchy: as the spec writes it.
        height: the level of the top.
        columns: of a hierarchy table, that of the values first; none where they are not known.

    Examples:
        >>> level_names(QuasiIdentifier(intervals=(5, 10)), 3)
        ('as in the source', 'bands of 5', 'bands of 10', 'withheld')
    """
    rule = kind_of(hierarchy)
    names = (rule.level_name(level, columns) if level else rule.value_name for level in range(height))
    return (*names, WITHHELD)
