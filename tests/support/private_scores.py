"""Scores of the exponential mechanism in plain Python: a small domain, tables over it, and what each score is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from kanon_sql.models import Measured
from kanon_sql.release.differential.scores import Score, score_for
from kanon_sql.spec import LevelSearch

SCORES = ("precision", "loss", "discernibility", "average_class_size", "entropy", "classification")

Row = tuple[int | None, ...]
Node = tuple[int, ...]

HEIGHTS, LISTED = (2, 2), (4, 4)
"""Two columns of the values 0 to 3, which are halved per level; level 2 is the top."""


def label(value: int | None, level: int, height: int = 2) -> Any:
    """The label of a value; NULL has one of its own below the top."""
    if level == height:
        return "*"
    return None if value is None else value >> level


def classes_of(rows: Sequence[Row], node: Node) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(label(value, level) for value, level in zip(row, node, strict=True)) for row in rows)


def expected(
    name: str,
    rows: Sequence[Row],
    node: Node,
    least: int,
    weights: Sequence[Fraction] = (Fraction(1), Fraction(1)),
    dropped: int = 0,
) -> Fraction:
    """The score, row by row as its definition has it; the target of classification is the second column.

    Args:
        name: of the score.
        rows: those that are in classes.
        node: the levels.
        least: the rows that a class needs to be kept.
        weights: of the columns.
        dropped: rows that are left out for a NULL.
    """
    total = len(rows) + dropped
    sizes = classes_of(rows, node)
    kept = [row for row in rows if sizes[labels(row, node)] >= least]
    suppressed = total - len(kept)
    shares = [Fraction(weight) / sum(weights) for weight in weights]
    if name == "average_class_size":
        return Fraction(len({labels(row, node) for row in kept}) + (suppressed > 0))
    if name == "discernibility":
        alike = sum(sizes[labels(row, node)] for row in kept)
        return -Fraction(alike, total) - suppressed
    if name == "classification":
        groups: dict[Any, Counter[Any]] = defaultdict(Counter)
        for row in kept:
            *others, told = labels(row, node)
            groups[tuple(others)][told] += 1
        right = sum(max(group.values()) for group in groups.values())
        return right * (1 - Fraction(node[-1], HEIGHTS[-1]))
    lost = Fraction(suppressed)
    for column, (share, level) in enumerate(zip(shares, node, strict=True)):
        top = level == HEIGHTS[column]
        counts = Counter(label(row[column], level) for row in kept)
        if name == "entropy":
            lost -= share * suppressed if top else 0
            lost += share * (total if top else Fraction(sum(counts[label(row[column], level)] for row in kept), total))
            continue
        for row in kept:
            if name == "precision":
                lost += share * Fraction(level, HEIGHTS[column])
            elif top:
                lost += share
            elif row[column] is not None:
                under = sum(label(value, level) == label(row[column], level) for value in range(LISTED[column]))
                lost += share * Fraction(under - 1, LISTED[column] - 1)
    return -lost


def labels(row: Row, node: Node) -> tuple[Any, ...]:
    return tuple(label(value, level) for value, level in zip(row, node, strict=True))


def score_of(name: str, weights: Sequence[float] = (1.0, 1.0), rows: int = 1) -> Score:
    """The score as a run has it."""
    lookups = [
        SimpleNamespace(name=column, height=height, listed=listed, quasi_identifier=SimpleNamespace(weight=weight))
        for column, height, listed, weight in zip("ab", HEIGHTS, LISTED, weights, strict=True)
    ]
    search: dict[str, Any] = {"epsilon": 1, "score": name}
    if name == "classification":
        search["classify"] = "b"
    sets: Any = SimpleNamespace(lookups=lookups, rows=rows)
    return score_for(LevelSearch.model_validate(search), sets)


def measured(score: Score, rows: Sequence[Row], node: Node, least: int, dropped: int = 0) -> Measured:
    """The aggregates of a node by plain Python: what the statements are to answer."""
    sizes = classes_of(rows, node)
    kept = {own: size for own, size in sizes.items() if size >= least}
    keyed = [index for index, level in enumerate(node) if level < HEIGHTS[index]]
    sized = [index for index in keyed if node[index] > 0]
    values: dict[str, Any] = {"kept_squares": sum(size**2 for size in kept.values())}
    for at, index in enumerate(sized):
        values[f"covered_{at}"] = sum(
            size * (1 if own[index] is None else 2 ** node[index]) for own, size in kept.items()
        )
    for at, index in enumerate(keyed):
        counts: Counter[Any] = Counter()
        for own, size in kept.items():
            counts[own[index]] += size
        values[f"squares_{at}"] = sum(count**2 for count in counts.values())
    largest: Counter[Any] = Counter()
    for own, size in kept.items():
        largest[own[:-1]] = max(largest[own[:-1]], size)
    values["target"] = sum(largest.values())
    return Measured(
        node=node,
        suppressed=len(rows) + dropped - sum(kept.values()),
        classes=len(sizes),
        kept_classes=len(kept),
        sized=sized,
        keyed=keyed,
        values=values,
    )


def scored(name: str, rows: Sequence[Row], node: Node, least: int, dropped: int = 0) -> Fraction:
    """What the run's score says of a table; 0 of one without rows, of which nothing can be said."""
    total = len(rows) + dropped
    score = score_of(name).at(node)
    return score.score(total, measured(score, rows, node, least, dropped)) if total else Fraction(0)
