"""The forms of a metric in plain Python: one loss per column, with factors, and what an aggregate makes of them.

Losses are made row by row, of exact fractions where there are no logarithms, as ARX 3.9 defines them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tests.oracles.lattice import METRICS, KeptRecoding, Oracle, label_for_entropy, leaf_counts, normalised_weights
from tests.oracles.model import Node, classes, generalize, judge


@dataclass(frozen=True)
class Form:
    """A metric with the options that a spec gives it."""

    metric: str
    aggregate: str | None = None
    gs_factor: float = 0.5
    monotone: bool = False

    @property
    def options(self) -> dict[str, Any]:
        given = {"aggregate": self.aggregate, "gs_factor": self.gs_factor, "monotone": self.monotone}
        return {"metric": self.metric, **{name: value for name, value in given.items() if value is not None}}


Value = float | tuple[float, ...]
"""What a form makes of a node: a number, or of ranks the losses in descending order."""


def kept_of(oracle: Oracle, node: Node) -> tuple[KeptRecoding, KeptRecoding]:
    """The classes of a node that are released, and all of those that no NULL suppresses."""
    found = classes(oracle.rows, oracle.hierarchies, node, oracle.nulls)

    def satisfies(members: Sequence[int]) -> bool:
        rows = [oracle.rows[index] for index in members]
        judged = zip(oracle.requirements, oracle.original, strict=True)
        return all(judge(requirement, rows, original, oracle.unit)[1] for requirement, original in judged)

    return {vector: members for vector, members in found.items() if satisfies(members)}, found


def value_of(form: Form, oracle: Oracle, node: Node) -> Value:
    """The value of a form at a node."""
    kept, found = kept_of(oracle, node)
    if form.monotone:
        kept = found
    if form.metric not in LOSSES:
        return METRICS[form.metric](oracle, node, kept)
    s, g = min(Fraction(1), 2 * exactly(form.gs_factor)), min(Fraction(1), 2 - 2 * exactly(form.gs_factor))
    losses = LOSSES[form.metric](oracle, node, kept, s, g)
    weighed = [w * float(loss) for w, loss in zip(normalised_weights(oracle), losses, strict=True)]
    return AGGREGATES[form.aggregate or DEFAULTS[form.metric]](weighed)


def exactly(number: float) -> Fraction:
    return Fraction(str(number))


# --- losses per column ---------------------------------------------------------------------------


def heights(oracle: Oracle, node: Node, kept: KeptRecoding, s: Fraction, g: Fraction) -> list[Any]:
    return list(node)


def precisions(oracle: Oracle, node: Node, kept: KeptRecoding, s: Fraction, g: Fraction) -> list[Any]:
    rows, released = len(oracle.rows), sum(map(len, kept.values()))
    ratios = [Fraction(level, top) if top else Fraction(0) for level, top in zip(node, oracle.heights, strict=True)]
    return [(released * ratio * g + (rows - released) * s) / rows if rows else 0 for ratio in ratios]


def detail_lost(oracle: Oracle, node: Node, kept: KeptRecoding, s: Fraction, g: Fraction) -> list[Any]:
    released = {index for members in kept.values() for index in members}
    labels = generalize(oracle.rows, oracle.hierarchies, node, oracle.nulls)
    losses = []
    for position, leaves in enumerate(leaf_counts(oracle, node)):
        domain, rows = sum(leaves.values()), len(oracle.rows)
        total = Fraction(0)
        for index, vector in enumerate(labels):
            if vector is None:  # a NULL suppresses the row
                total += 1
                continue
            share = Fraction(leaves[vector[position]], domain)
            total += g * share if index in released else (share + s * (1 - share) if s < 1 else 1)
        least = g * Fraction(rows, domain)
        loss = max(Fraction(0), (total - least) / (rows - least)) if rows != least else Fraction(0)
        losses.append(math.floor(loss * 10**10) / 10**10)
    return losses


def bits_lost(oracle: Oracle, node: Node, kept: KeptRecoding, s: Fraction, g: Fraction) -> list[Any]:
    released = {index for members in kept.values() for index in members}
    losses = []
    for column, level in zip(oracle.columns, node, strict=True):
        cells = [(row[column], label_for_entropy(oracle, column, level, row[column])) for row in oracle.rows]
        values, labels = Counter(value for value, _ in cells), Counter(label for _, label in cells)
        label_of = dict(cells)
        gone = Counter(label for index, (_, label) in enumerate(cells) if index not in released)
        generalizing = math.fsum(n * math.log2(labels[label_of[value]] / n) for value, n in values.items())
        suppressing = math.fsum(n * math.log2(gone.total() / n) for n in gone.values())
        losses.append(float(g) * generalizing + float(s) * suppressing)
    return losses


LOSSES: Mapping[str, Callable[[Oracle, Node, KeptRecoding, Fraction, Fraction], list[Any]]] = {
    "height": heights,
    "precision": precisions,
    "loss": detail_lost,
    "entropy": bits_lost,
}
DEFAULTS = {"height": "sum", "precision": "arithmetic_mean", "loss": "geometric_mean", "entropy": "sum"}
AGGREGATES: Mapping[str, Callable[[list[float]], Value]] = {
    "sum": math.fsum,
    "arithmetic_mean": lambda losses: math.fsum(losses) / len(losses),
    "geometric_mean": lambda losses: math.prod(loss + 1 for loss in losses) ** (1 / len(losses)) - 1,
    "maximum": max,
    "rank": lambda losses: tuple(sorted(losses, reverse=True)),
}


def without_nulls(oracle: Oracle) -> Oracle:
    """The oracle without the rows that a NULL suppresses: entropy leaves them out."""
    if oracle.nulls != "suppress":
        return oracle
    rows = [row for row in oracle.rows if all(row[column] is not None for column in oracle.columns)]
    left = replace(oracle, rows=rows)
    left.original = oracle.original
    return left
