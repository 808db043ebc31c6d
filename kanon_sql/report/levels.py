"""Levels of generalization as text: never a number without its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import RenderableType
from rich.text import Text

from kanon_sql.report.layout import columns
from kanon_sql.report.words import number, shown

__all__ = [
    "Names",
    "intervals_table",
    "level_cells",
    "level_in_words",
    "levels_table",
    "names_cells",
    "names_table",
    "node_in_words",
]

Names = Mapping[str, Sequence[str]]
"""Quasi-identifier -> what each of its levels is called, as in a result; empty in results of earlier versions."""


def level_in_words(names: Names | None, column: str, level: int) -> str:
    """What a level is called; empty where that is not known."""
    own = (names or {}).get(column, ())
    return own[level] if 0 <= level < len(own) else ""


def level_cells(node: Mapping[str, int], names: Names | None) -> list[list[str]]:
    """A row per quasi-identifier: its name, its level, and what that is called."""
    return [[column, str(level), level_in_words(names, column, level)] for column, level in node.items()]


def names_cells(names: Names) -> list[list[str]]:
    """A row per level of every quasi-identifier: its name, the level, and what that is called."""
    return [[column, str(level), name] for column, own in names.items() for level, name in enumerate(own)]


def node_in_words(node: Mapping[str, int], names: Names | None) -> str:
    """The levels of some columns, each by its name, or by its number where it has none here."""
    return ", ".join(f"{column} {level_in_words(names, column, level) or level}" for column, level in node.items())


def levels_table(node: Mapping[str, int], names: Names | None) -> RenderableType:
    """The chosen levels."""
    table = columns([("quasi-identifier", False), ("level", True), ("", False)])
    for column, level, name in level_cells(node, names):
        table.add_row(Text(shown(column)), Text(level), Text(shown(name), "dim", overflow="fold"))
    return table


def names_table(names: Names) -> RenderableType:
    """What all levels are called, a line per quasi-identifier: the key to vectors of levels."""
    table = columns([("quasi-identifier", False), ("levels", False)])
    for column, own in names.items():
        sentence = "; ".join(f"{level} {shown(name)}" for level, name in enumerate(own))
        table.add_row(Text(shown(column)), Text(sentence, "dim", overflow="fold"))
    return table


def intervals_table(intervals: Mapping[str, int], node: Mapping[str, int], names: Names | None) -> RenderableType:
    """How many intervals each column is released in, where an algorithm chose them."""
    table = columns([("quasi-identifier", False), ("intervals", True), ("", False)])
    for column, level in node.items():
        count = number(intervals[column]) if column in intervals else ""
        sentence = "" if column in intervals else shown(level_in_words(names, column, level))
        table.add_row(Text(shown(column)), Text(count), Text(sentence, "dim"))
    return table
