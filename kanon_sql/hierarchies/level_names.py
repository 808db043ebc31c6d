"""What levels are called: a name beside each number, made of how the spec makes the labels, and of no value.

A level that a rule makes is named by the rule. A tree stands in the spec, and its first labels name its levels; a
hierarchy table names them by its columns. A file has no such names, and its labels may be the data's own (``hierarchy
--output`` writes those of a rule), so its levels are named by their columns.
"""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.spec import (
    DatesHierarchy,
    FileHierarchy,
    IntervalsHierarchy,
    PointHierarchy,
    PrefixHierarchy,
    QuasiIdentifier,
    SqlHierarchy,
    TableHierarchy,
    TreeHierarchy,
    redact_sql,
)

__all__ = ["AS_IN_SOURCE", "CHOSEN_INTERVALS", "RANGES", "WITHHELD", "level_names"]

AS_IN_SOURCE = "as in the source"
WITHHELD = "withheld"

CHOSEN_INTERVALS = (AS_IN_SOURCE, "intervals that the search chose", WITHHELD)
"""The levels of a column whose intervals an algorithm chose."""

RANGES = (AS_IN_SOURCE, "ranges of the classes", WITHHELD)
"""The levels of a column that is released as ranges of its values."""

LABELS = 3
"""This many labels of a tree name a level."""

LONGEST = 40
"""Characters of a label or an expression that are shown."""


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
    return (*(_name(hierarchy, level, columns) for level in range(height)), WITHHELD)


def _name(written: QuasiIdentifier, level: int, columns: Sequence[str]) -> str:
    rule = written.hierarchy
    if isinstance(rule, PointHierarchy):
        return f"cells of depth {rule.point.depths[level]}"
    if level == 0:
        return AS_IN_SOURCE
    if isinstance(rule, IntervalsHierarchy):
        return f"bands of {rule.widths[level - 1].normalize():f}"
    if isinstance(rule, PrefixHierarchy):
        kept = rule.keep[level - 1]
        return "first character" if kept == 1 else f"first {kept} characters"
    if isinstance(rule, DatesHierarchy):
        return rule.units[level - 1]
    if isinstance(rule, SqlHierarchy):
        return f"sql {level}: {_clipped(' '.join(redact_sql(rule.expressions[level - 1]).split()))}"
    if isinstance(rule, TreeHierarchy):
        return _first_labels(rule, level) or f"level {level} of the tree"
    if isinstance(rule, TableHierarchy):
        return columns[level] if level < len(columns) else f"column {level + 1} of the table"
    assert isinstance(rule, FileHierarchy)
    return f"column {level + 1} of the file"


def _first_labels(tree: TreeHierarchy, level: int) -> str:
    """The first labels of a level of a tree that are no values; empty where these are the same one level below."""
    rows = tree.rows()
    values = {row[0] for row in rows}
    labels, below = (dict.fromkeys(row[at] for row in rows if row[at] not in values) for at in (level, level - 1))
    if list(below)[:LABELS] == list(labels)[:LABELS]:
        return ""
    shown = ", ".join(map(_clipped, list(labels)[:LABELS]))
    return f"{shown}, ..." if len(labels) > LABELS else shown


def _clipped(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
