"""Names of levels: what a level's number stands for, in words.

A name is made of the rule that the spec gives, or of the hierarchy's own labels and columns; of no value of the data.
A label that is a value as well is left out of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.spec import (
    DatesHierarchy,
    FileHierarchy,
    Hierarchy,
    IntervalsHierarchy,
    PointHierarchy,
    PrefixHierarchy,
    QuasiIdentifier,
    SqlHierarchy,
    TableHierarchy,
    TreeHierarchy,
)

__all__ = ["AS_IN_SOURCE", "WITHHELD", "group_labels", "level_names", "made_by", "plain_names"]

AS_IN_SOURCE = "as in the source"
"""The name of level 0."""

WITHHELD = "withheld"
"""The name of the top: one label for all values."""

_SHOWN = 3
"""So many labels of a level name it."""

_LONGEST = 24
"""A label with more characters is cut in a name."""


def made_by(rule: Hierarchy, level: int) -> str:
    """How the spec makes the labels of a level below the top, in words."""
    if isinstance(rule, PointHierarchy):
        return f"cells of depth {rule.point.depths[level]}"
    if level == 0:
        return "the value"
    if isinstance(rule, IntervalsHierarchy):
        return f"intervals of {rule.widths[level - 1].normalize():f}"
    if isinstance(rule, PrefixHierarchy):
        kept = rule.keep[level - 1]
        return "first character" if kept == 1 else f"first {kept} characters"
    if isinstance(rule, DatesHierarchy):
        return rule.units[level - 1]
    if isinstance(rule, SqlHierarchy):
        return rule.expressions[level - 1]
    if isinstance(rule, FileHierarchy):
        return f"column {level + 1} of the file"
    if isinstance(rule, TableHierarchy):
        return f"column {level + 1} of the table"
    return f"level {level} of the tree"


def group_labels(rows: Sequence[Sequence[str]], level: int, most: int) -> tuple[str, ...]:
    """The first labels that a level of a file or tree has above its values.

    Args:
        rows: each value first and its generalizations after it.
        level: of the hierarchy.
        most: so many labels at most.
    """
    if level == 0:
        return ()
    values = {row[0] for row in rows}
    found: dict[str, None] = {}
    for row in rows:
        if len(found) == most:
            break
        if row[level] not in values:
            found[row[level]] = None
    return tuple(found)


def level_names(
    item: QuasiIdentifier,
    height: int,
    *,
    rows: Sequence[Sequence[str]] | None = None,
    columns: Sequence[str] | None = None,
) -> tuple[str, ...]:
    """The name of every level, the top's last.

    Args:
        item: the hierarchy, as in a spec.
        height: its top level.
        rows: of a file or tree, each value first; None where they are not at hand.
        columns: the column names of a hierarchy table, the value's first; None where they are not at hand.
    """
    return (*(_name(item.hierarchy, level, rows, columns) for level in range(height)), WITHHELD)


def plain_names(item: QuasiIdentifier, names: Sequence[str]) -> tuple[str, ...]:
    """The same without the labels of a file or tree, for what is kept where a spec's labels are not.

    Args:
        item: the hierarchy, as in a spec.
        names: of every level.
    """
    rule = item.hierarchy
    if not isinstance(rule, FileHierarchy | TreeHierarchy):
        return tuple(names)
    return (names[0], *(made_by(rule, level) for level in range(1, len(names) - 1)), names[-1])


def _name(rule: Hierarchy, level: int, rows: Sequence[Sequence[str]] | None, columns: Sequence[str] | None) -> str:
    if isinstance(rule, PointHierarchy):
        return made_by(rule, level)
    if level == 0:
        return AS_IN_SOURCE
    if isinstance(rule, IntervalsHierarchy):
        return f"bands of {rule.widths[level - 1].normalize():f}"
    if isinstance(rule, SqlHierarchy):
        return "by an SQL expression" if len(rule.expressions) == 1 else f"by SQL expression {level}"
    if isinstance(rule, TreeHierarchy):
        rows = rule.rows()
    if isinstance(rule, TableHierarchy) and columns is not None:
        return _cut(columns[level])
    if rows is not None and (labels := group_labels(rows, level, _SHOWN + 1)):
        more = ", ..." if len(labels) > _SHOWN else ""
        return ", ".join(map(_cut, labels[:_SHOWN])) + more
    return made_by(rule, level)


def _cut(label: str) -> str:
    return label if len(label) <= _LONGEST else label[: _LONGEST - 3] + "..."
