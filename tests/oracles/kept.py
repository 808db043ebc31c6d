"""What applying a kept recoding promises, in plain Python over the new rows and the kept classes.

Nothing here shares a line with the package. What is promised:

- a class covers a row if each of its labels is, at its level, that of the row's value, and its text stands for no other
  values at a higher level;
- every row goes to the first class that covers it; classes that violate are given up, those first that no row of an
  earlier one may still join, and their rows go on;
- what no class covers at the end is suppressed.

Where cuts are kept:

- all rows begin as one class; in each step a class that has a cut is divided: values from the bound on, and NULL, go to
  the upper side, and all values to the lower one where the bound is NULL;
- where one side violates, all rows go where the other goes; where both do, the class is divided no more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.oracles.model import Hierarchy, frequencies, height_of, judge, model_of
from tests.oracles.recoding import domain_of
from tests.support.strategies import RandomProblem

ROUNDS = 32


@dataclass(frozen=True)
class KeptClass:
    """A row of the kept table."""

    number: int
    labels: Sequence[str | None]
    levels: Sequence[int]


def classes_in(names: Sequence[str], rows: Sequence[Sequence[object]]) -> list[KeptClass]:
    """The kept classes, of the columns ``class_number``, ``label0``, ``level0`` and so on."""
    named = [dict(zip(names, row, strict=True)) for row in rows]
    columns = range((len(names) - 1) // 2)
    return sorted(
        (
            KeptClass(row["class_number"], [row[f"label{i}"] for i in columns], [row[f"level{i}"] for i in columns])
            for row in named
        ),
        key=lambda item: item.number,
    )


def loss_of(problem: RandomProblem, item: KeptClass) -> float:
    """What a row of a class loses, by the rows that it was learned by."""
    lost = 0.0
    for column, label, level in zip(problem.hierarchies, item.labels, item.levels, strict=True):
        domain = domain_of(problem, column)
        under = {path[level:] for path in domain.values() if path[level] == label}
        size = min(sum(path[level:] == suffix for path in domain.values()) for suffix in under)
        lost += problem.weights.get(column, 1.0) * (size - 1) / max(1, len(domain) - 1)
    return lost


def is_clear(problem: RandomProblem, column: str, label: str | None, level: int, levels: Sequence[int]) -> bool:
    """Whether a label of a level stands for nothing else, of what rows of the source could have above it."""
    domain = domain_of(problem, column)
    own = {value for value, path in domain.items() if path[level] == label}
    there = [domain[row[column]] for row in problem.rows if row[column] in domain]
    for path in there:
        for above in levels:
            if above > level and label is not None and path[above] == label:
                suffix = path[above:]
                if {value for value, other in domain.items() if other[above:] == suffix} != own:
                    return False
    return True


def is_violated(problem: RandomProblem, numbers: Sequence[int]) -> bool:
    """Whether rows together violate a requirement, by the distribution of all new rows."""
    members = [problem.rows[number] for number in numbers]
    for requirement in problem.requirements:
        attribute = model_of(requirement)[1].get("attribute")
        original = None if attribute is None else frequencies(problem.rows, attribute, problem.unit)
        if not judge(requirement, members, original, problem.unit)[1]:
            return True
    return False


def groups_of(chosen: Mapping[int, object]) -> dict[object, list[int]]:
    found: dict[object, list[int]] = {}
    for number, group in chosen.items():
        found.setdefault(group, []).append(number)
    return found


def kept_rows(problem: RandomProblem) -> list[int]:
    """The rows that are not suppressed for a NULL."""
    return [
        number
        for number, row in enumerate(problem.rows)
        if problem.nulls == "value" or all(row[column] is not None for column in problem.hierarchies)
    ]


def by_classes(
    problem: RandomProblem, classes: Sequence[KeptClass], levels: Mapping[str, Sequence[int]]
) -> dict[int, Sequence[str | None]]:
    """The labels of every new row that is released.

    Args:
        problem: the new rows.
        classes: what was kept.
        levels: per column, those that its labels may have.
    """
    domains: dict[str, Hierarchy] = {column: domain_of(problem, column) for column in problem.hierarchies}
    usable = [
        item
        for item in classes
        if all(
            is_clear(problem, column, label, level, levels[column])
            for column, label, level in zip(domains, item.labels, item.levels, strict=True)
        )
    ]
    covers = {
        number: {
            item.number
            for item in usable
            if all(
                domain[problem.rows[number][column]][level] == label
                for (column, domain), label, level in zip(domains.items(), item.labels, item.levels, strict=True)
            )
        }
        for number in kept_rows(problem)
    }
    labels = {item.number: item.labels for item in classes}
    return {number: labels[chosen] for number, chosen in _settled(problem, covers).items()}


def _settled(problem: RandomProblem, covers: dict[int, set[int]]) -> dict[int, int]:
    for turn in range(ROUNDS + 1):
        chosen = {number: min(own) for number, own in covers.items() if own}
        violating = {group for group, numbers in groups_of(chosen).items() if is_violated(problem, numbers)}
        if not violating or turn == ROUNDS:
            return {number: group for number, group in chosen.items() if group not in violating}
        awaited = {
            other for number, group in chosen.items() if group in violating for other in covers[number] if other > group
        }
        covers = {number: own - (violating - awaited) for number, own in covers.items()}
    raise AssertionError("unreachable")


def by_levels(problem: RandomProblem, node: Sequence[int]) -> dict[int, Sequence[str | None]]:
    """The same where every column has one level."""
    paths = {
        number: tuple(
            domain_of(problem, column)[problem.rows[number][column]][level:]
            for column, level in zip(problem.hierarchies, node, strict=True)
        )
        for number in kept_rows(problem)
    }
    return {
        number: [own[0] for own in group]  # type: ignore[attr-defined]
        for group, numbers in groups_of(paths).items()
        if not is_violated(problem, numbers)
        for number in numbers
    }


def levels_of(problem: RandomProblem) -> dict[str, Sequence[int]]:
    """The levels that labels of local recoding may have."""
    found = {}
    for column, plain in problem.hierarchies.items():
        low, high = problem.levels.get(column, (0, height_of(plain)))
        found[column] = range(low, high + 1)
    return found


@dataclass(frozen=True)
class KeptCut:
    """A row of a table of cuts: a class, the column, the class of the upper side, and what that begins with."""

    step: int
    part: int
    attribute: int
    piece: int
    bound: Any


def cuts_in(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[tuple[int, int], KeptCut]:
    """The kept cuts by their step and class."""
    found = {}
    for row in rows:
        held = dict(zip(names, row, strict=True))
        cut = KeptCut(held["step"], held["part"], held["attribute"], held["piece"], held[f"bound{held['attribute']}"])
        assert (cut.step, cut.part) not in found
        assert [held[name] for name in names if name.startswith("bound")].count(None) >= len(names) - 5
        found[cut.step, cut.part] = cut
    return found


def divided(
    rows: Sequence[Sequence[Any]],
    cuts: Mapping[tuple[int, int], KeptCut],
    satisfies: Callable[[Sequence[int]], bool],
) -> list[list[int]]:
    """The classes that kept cuts divide rows into.

    Args:
        rows: per row, per column, its value as bounds are compared; None is NULL.
        cuts: from :func:`cuts_in`.
        satisfies: whether rows, by their numbers, satisfy together.
    """
    closed, waiting = [], [(0, 1, list(range(len(rows))))]
    while waiting:
        step, part, members = waiting.pop()
        cut = cuts.get((step, part))
        if cut is None:
            closed.append(members)
            continue
        low = [number for number in members if not _is_above(rows[number][cut.attribute], cut.bound)]
        high = [number for number in members if number not in low]
        low_holds, high_holds = bool(low) and satisfies(low), bool(high) and satisfies(high)
        if low_holds and high_holds:
            waiting += [(step + 1, part, low), (step + 1, cut.piece, high)]
        elif low_holds or high_holds:
            waiting.append((step + 1, part if low_holds else cut.piece, members))
        else:
            closed.append(members)
    return closed


def _is_above(value: Any, bound: Any) -> bool:
    return value is None or (bound is not None and value >= bound)
