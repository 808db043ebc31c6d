"""What Spark's plans say of a temporary view, whose text no catalog has: whether it gives the same rows each time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

__all__ = ["analyzed", "seeded_parts", "unstable_parts_of"]

_NODE = re.compile(r"^[\s:+-]*(\w+)\b")
_SEEDED = re.compile(r"\bSample \S+, \S+, (?:true|false), -?\d+")
_UNSEEDED = re.compile(r"\bSample \S+, \S+, (?:true|false)(?!, -?\d)")

_PICKS = ("GlobalLimit", "Offset", "Tail")
_PASSED = ("LocalLimit", "GlobalLimit", "Offset", "Project")
"""What may stand between rows that are picked by their places and what sorts them."""


def analyzed(explained: str) -> str:
    """The analyzed plan among those that EXPLAIN EXTENDED shows, without the numbers of its columns."""
    _, _, after = explained.partition("== Analyzed Logical Plan ==")
    plan, _, _ = after.partition("== Optimized Logical Plan ==")
    return re.sub(r"#\d+L?\b", "", plan)


def unstable_parts_of(plan: str, again: str, effects: Set[str]) -> list[str]:
    """What in a view gives other rows each time that it is read, in words.

    A view that was made by SQL is parsed at each reading, so that what it draws has another seed each time.

    Args:
        plan: the analyzed plan.
        again: the same, analyzed once more.
        effects: functions that give another answer each time.
    """
    redrawn = plan != again
    found = [f"calls {name}" for name in _called(plan, effects) if redrawn or name not in _BY_SEED]
    nodes = _nodes(plan)
    if _UNSEEDED.search(plan) or (redrawn and _SEEDED.search(plan)):
        found.append("has a sample of a table")
    if any(name in _PICKS and not _is_sorted(nodes[place:]) for place, name in enumerate(nodes)):
        found.append("has LIMIT without ORDER BY")
    return found


def seeded_parts(plan: str, effects: Set[str]) -> bool:
    """Whether a view draws rows or numbers by a seed of its own."""
    return _SEEDED.search(plan) is not None or any(name in _BY_SEED for name in _called(plan, effects))


_BY_SEED = frozenset({"rand", "randn", "random", "randstr", "shuffle", "uniform", "uuid"})


def _called(plan: str, effects: Set[str]) -> list[str]:
    """The functions in a plan; one that draws has its seed in it, by which it is told from the same word in a text."""
    drawn = set(re.findall(r"\b(\w+)\((?:[^()]*, )?(?:some\()?-?\d+\)", plan.lower())) & _BY_SEED
    others = set(re.findall(r"\b(\w+)\(", plan.lower())) - _BY_SEED
    return sorted((drawn | others) & effects)


def _nodes(plan: str) -> list[str]:
    """The names of the plan's nodes, from the top; a branch comes after the one above it."""
    return [found[1] for line in plan.splitlines() if (found := _NODE.match(line)) is not None]


def _is_sorted(nodes: list[str]) -> bool:
    below: Iterator[str] = (name for name in nodes[1:] if name not in _PASSED)
    return next(below, None) == "Sort"
