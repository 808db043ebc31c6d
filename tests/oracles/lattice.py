"""What every lattice node must answer, in plain Python over a list of rows: for reading, not for speed.

A node's classes are judged by model_oracle, which also says what the literature leaves open.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

# --- a node ------------------------------------------------------------------------------
from tests.oracles.model import (
    Hierarchy,
    Node,
    Requirement,
    Row,
    Vector,
    classes,
    exact,
    frequencies,
    height_of,
    judge,
    model_of,
    name_of,
    with_null,
    worst,
)


@dataclass(frozen=True)
class NodeResult:
    """One node's answer. Rows are rows of the source, also when a unit is protected."""

    node: Node
    suppressed: int
    classes: int
    kept_classes: int
    satisfied: bool
    prunable: bool
    """No node below this one can be satisfied (decided by the requirements that are monotone)."""
    achieved: dict[str, float | None]
    """Per requirement (see `name_of`) the weakest kept class."""
    metrics: dict[str, float]


@dataclass
class Oracle:
    """A whole question: the table, the hierarchies, the requirements and the suppression limit.

    `limit` is a number of rows when it is an int, a share of the rows otherwise. `levels` holds the (lowest,
    highest) level allowed for a quasi-identifier. `sensitive` are the attributes that an attacker may know the others
    of: where a requirement says so, it holds of every part of a class whose rows have the same values of these.
    """

    rows: Sequence[Row]
    hierarchies: Mapping[str, Hierarchy]
    requirements: Sequence[Requirement] = ()
    limit: float | int | Decimal = 0
    nulls: str = "value"
    unit: str | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    levels: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    sensitive: Sequence[str] = ()

    # The lattice

    @property
    def columns(self) -> list[str]:
        return list(self.hierarchies)

    @property
    def heights(self) -> list[int]:
        return [height_of(hierarchy) for hierarchy in self.hierarchies.values()]

    def over(self, columns: Sequence[str]) -> Oracle:
        """The same question over some of the quasi-identifiers: one graph of Incognito's walk."""
        levels = {column: limits for column, limits in self.levels.items() if column in columns}
        return replace(self, hierarchies={c: self.hierarchies[c] for c in columns}, levels=levels)

    def all_nodes(self) -> list[Node]:
        """Every node within the level limits."""
        limits = [self.levels.get(column, (0, top)) for column, top in zip(self.columns, self.heights, strict=True)]
        return list(product(*(range(low, high + 1) for low, high in limits)))

    # Suppression

    @property
    def max_rows(self) -> int:
        """MaxSup in rows: the floor of the share, computed exactly."""
        if isinstance(self.limit, int):
            return self.limit
        return math.floor(exact(self.limit) * len(self.rows))

    def monotone(self) -> list[Requirement]:
        """The requirements that no specialization of a violating node can meet.

        Under suppression these are k-anonymity and distinct l-diversity: a satisfied class merged with a
        violating one is satisfied, so generalizing never suppresses more. Without suppression every model is
        monotone. With units, only k-anonymity is taken to be.
        """

        def is_monotone(requirement: Requirement) -> bool:
            model, parameters = model_of(requirement)
            if model == "k_anonymity" and "column" in parameters:
                return self.max_rows == 0
            if model == "k_anonymity":
                return True
            always = model == "p_sensitive_k_anonymity" or parameters.get("variant") == "distinct"
            always = always and not parameters.get("others_as_quasi_identifiers")
            return self.unit is None and (self.max_rows == 0 or always)

        return [requirement for requirement in self.requirements if is_monotone(requirement)]

    def satisfied_with(self, suppressed: int) -> bool:
        return suppressed <= self.max_rows and suppressed < len(self.rows)

    # Judging a node

    @cached_property
    def original(self) -> list[Counter[Any] | None]:
        """Per requirement: the frequencies of its sensitive attribute in the whole table."""
        attributes = [model_of(requirement)[1].get("attribute") for requirement in self.requirements]
        return [None if a is None else frequencies(self.rows, a, self.unit) for a in attributes]

    def judged(self, requirement: Requirement, members: Sequence[Row], original: Any) -> tuple[float, bool]:
        """(measure, whether it is enough) of a class: of its worst part, if other sensitive attributes are known."""
        parameters = model_of(requirement)[1]
        if not parameters.get("others_as_quasi_identifiers"):
            return judge(requirement, members, original, self.unit)
        known = [name for name in self.sensitive if name != parameters["attribute"]]
        parts: dict[tuple[Any, ...], list[Row]] = {}
        for row in members:
            parts.setdefault(tuple(row[name] for name in known), []).append(row)
        found = [judge(requirement, part, original, self.unit) for part in parts.values()]
        measure = worst(requirement, [measure for measure, _ in found])
        return math.inf if measure is None else measure, all(enough for _, enough in found)

    def evaluate(self, node: Node) -> NodeResult:
        found = classes(self.rows, self.hierarchies, node, self.nulls)
        verdicts = {
            vector: [
                self.judged(requirement, [self.rows[i] for i in members], original)
                for requirement, original in zip(self.requirements, self.original, strict=True)
            ]
            for vector, members in found.items()
        }
        kept = {vector: found[vector] for vector in found if all(ok for _, ok in verdicts[vector])}
        monotone = [requirement in self.monotone() for requirement in self.requirements]
        kept_by_monotone = sum(
            len(found[vector])
            for vector in found
            if all(ok for (_, ok), counts in zip(verdicts[vector], monotone, strict=True) if counts)
        )
        suppressed = len(self.rows) - sum(len(members) for members in kept.values())
        return NodeResult(
            node=node,
            suppressed=suppressed,
            classes=len(found),
            kept_classes=len(kept),
            satisfied=self.satisfied_with(suppressed),
            prunable=not self.satisfied_with(len(self.rows) - kept_by_monotone),
            achieved={
                name_of(requirement): worst(requirement, [verdicts[vector][position][0] for vector in kept])
                for position, requirement in enumerate(self.requirements)
            },
            metrics={name: metric(self, node, kept) for name, metric in METRICS.items()},
        )

    # Searching: look at every node

    @cached_property
    def results(self) -> dict[Node, NodeResult]:
        return {node: self.evaluate(node) for node in self.all_nodes()}

    def satisfying(self) -> list[NodeResult]:
        return [result for result in self.results.values() if result.satisfied]

    def satisfying_nodes(self) -> set[Node]:
        return {result.node for result in self.satisfying()}

    def minimal_nodes(self) -> set[Node]:
        """The satisfying nodes with no other satisfying node below them."""
        nodes = self.satisfying_nodes()
        return {node for node in nodes if not any(other != node and below(other, node) for other in nodes)}

    def lowest_height_solutions(self) -> set[Node]:
        """What Samarati's binary search may choose from."""
        nodes = self.satisfying_nodes()
        lowest = min((sum(node) for node in nodes), default=0)
        return {node for node in nodes if sum(node) == lowest}

    def best(self, metric: str) -> tuple[float | None, set[Node]]:
        """The lowest value of a metric and every satisfying node that has it (within rounding)."""
        values = {result.node: result.metrics[metric] for result in self.satisfying()}
        if not values:
            return None, set()
        lowest = min(values.values())
        return lowest, {node for node, value in values.items() if math.isclose(value, lowest, rel_tol=1e-9)}

    def preferred(self, criterion: str, among: Iterable[Node] | None = None) -> set[Node]:
        """Every node that a preference criterion of Samarati puts first, of the minimal nodes by default."""
        nodes = self.minimal_nodes() if among is None else among
        ranked = {node: PREFERENCES[criterion](self, node) for node in nodes}
        return {node for node, rank in ranked.items() if rank == min(ranked.values())}


def below(lower: Node, upper: Node) -> bool:
    """Whether every level of `lower` is at most that of `upper`."""
    return all(a <= b for a, b in zip(lower, upper, strict=True))


# --- preference criteria -----------------------------------------------------------------
# Samarati: Protecting respondents' identities in microdata release (TKDE 2001). The lowest rank wins.


def relative_distance(oracle: Oracle, node: Node) -> Fraction:
    steps = zip(node, oracle.heights, strict=True)
    return sum((Fraction(level, height) for level, height in steps if height), Fraction(0))


PREFERENCES: dict[str, Callable[[Oracle, Node], Fraction | int]] = {
    "minimum_absolute_distance": lambda oracle, node: sum(node),
    "minimum_relative_distance": relative_distance,
    "maximum_distribution": lambda oracle, node: -oracle.results[node].kept_classes,
    "minimum_suppression": lambda oracle, node: oracle.results[node].suppressed,
}


# --- quality metrics ---------------------------------------------------------------------
# As ARX 3.9 defines them with generalization and suppression factor 1. Lower is better. In precision and loss
# a suppressed row costs as much as a fully generalized one. Rows are counted, also when a unit is protected.

KeptRecoding = Mapping[Vector, list[int]]


def normalised_weights(oracle: Oracle) -> list[float]:
    """Divided by the largest; all 1 when all are 0."""
    weights = [oracle.weights.get(column, 1) for column in oracle.columns]
    return [weight / max(weights) for weight in weights] if any(weights) else [1.0 for _ in weights]


def kept_rows(kept: KeptRecoding) -> int:
    return sum(len(members) for members in kept.values())


def suppressed_rows(oracle: Oracle, kept: KeptRecoding) -> int:
    return len(oracle.rows) - kept_rows(kept)


def lookup_tables(oracle: Oracle) -> list[Hierarchy]:
    """The hierarchies as the metrics see them: with a row for NULL where NULL occurs as a value."""

    def needs_null(column: str) -> bool:
        return oracle.nulls == "value" and any(row[column] is None for row in oracle.rows)

    return [with_null(h) if needs_null(column) else h for column, h in oracle.hierarchies.items()]


def leaf_counts(oracle: Oracle, node: Node) -> list[Counter[str | None]]:
    """Per quasi-identifier: how many rows of the hierarchy a label of the node's level stands for."""
    tables = zip(lookup_tables(oracle), node, strict=True)
    return [Counter(labels[level] for labels in table.values()) for table, level in tables]


def height(oracle: Oracle, node: Node, kept: KeptRecoding) -> float:
    """The weighted sum of the levels; suppression is ignored."""
    return math.fsum(w * level for w, level in zip(normalised_weights(oracle), node, strict=True))


def precision(oracle: Oracle, node: Node, kept: KeptRecoding) -> float:
    """1 - Prec of Sweeney (2002), a mean over attributes: level / height per kept cell, 1 per suppressed."""
    n = len(oracle.rows)
    if n == 0:
        return 0.0
    ratios = [level / top if top else 0.0 for level, top in zip(node, oracle.heights, strict=True)]
    costs = [(kept_rows(kept) * ratio + suppressed_rows(oracle, kept)) / n for ratio in ratios]
    return math.fsum(w * cost for w, cost in zip(normalised_weights(oracle), costs, strict=True)) / len(node)


def loss(oracle: Oracle, node: Node, kept: KeptRecoding) -> float:
    """ARX's default: the share of the domain that a cell stands for (Iyengar 2002), geometric mean."""
    n, suppressed = len(oracle.rows), suppressed_rows(oracle, kept)
    factors = []
    for position, leaves in enumerate(leaf_counts(oracle, node)):
        domain = sum(leaves.values())
        shares = sum(Fraction(leaves[vector[position]], domain) * len(rows) for vector, rows in kept.items())
        least = Fraction(n, domain)
        value = max(Fraction(0), (shares + suppressed - least) / (n - least)) if n != least else Fraction(0)
        factors.append(math.floor(value * 10**10) / 10**10)
    weighted = [w * factor + 1 for w, factor in zip(normalised_weights(oracle), factors, strict=True)]
    return float(math.prod(weighted) ** (1 / len(node)) - 1)


def discernibility(oracle: Oracle, node: Node, kept: KeptRecoding) -> float:
    """Bayardo, Agrawal (2005): a kept row costs the size of its class, a suppressed one that of the table."""
    return sum(len(rows) ** 2 for rows in kept.values()) + suppressed_rows(oracle, kept) * len(oracle.rows)


def average_class_size(oracle: Oracle, node: Node, kept: KeptRecoding) -> float:
    """C_AVG of LeFevre et al. (2006), not divided by k; all suppressed rows form one; 0 without rows."""
    groups = len(kept) + (1 if suppressed_rows(oracle, kept) else 0)
    return len(oracle.rows) / groups if groups else 0.0


def entropy(oracle: Oracle, node: Node, kept: KeptRecoding) -> float:
    """Non-uniform entropy (Gionis, Tassa 2009) in bits, plus the cost of suppressing generalized values."""
    kept_indexes = {index for rows in kept.values() for index in rows}
    total = []
    for weight, column, level in zip(normalised_weights(oracle), oracle.columns, node, strict=True):
        cells = [(row[column], label_for_entropy(oracle, column, level, row[column])) for row in oracle.rows]
        values, labels = Counter(value for value, _ in cells), Counter(label for _, label in cells)
        label_of = dict(cells)
        suppressed = Counter(label for index, (_, label) in enumerate(cells) if index not in kept_indexes)
        generalizing = [n * math.log2(labels[label_of[value]] / n) for value, n in values.items()]
        suppressing = [n * math.log2(suppressed.total() / n) for n in suppressed.values()]
        total.append(weight * math.fsum(generalizing + suppressing))
    return math.fsum(total)


def label_for_entropy(oracle: Oracle, column: str, level: int, value: Any) -> object:
    """The generalized value; a NULL that suppresses its row stays apart at every level."""
    if value is None and oracle.nulls == "suppress":
        return ("suppressed NULL",)
    return with_null(oracle.hierarchies[column])[value][level]


def ambiguity(oracle: Oracle, node: Node, kept: KeptRecoding) -> float:
    """Nergiz, Clifton (2007): how many combinations of values each released row may stand for, summed."""
    leaves = leaf_counts(oracle, node)
    everything = math.prod(sum(counts.values()) for counts in leaves)
    combinations = sum(
        len(rows) * math.prod(counts[label] for counts, label in zip(leaves, vector, strict=True))
        for vector, rows in kept.items()
    )
    return combinations + suppressed_rows(oracle, kept) * everything


METRICS: dict[str, Callable[[Oracle, Node, KeptRecoding], float]] = {
    "height": height,
    "precision": precision,
    "loss": loss,
    "discernibility": discernibility,
    "average_class_size": average_class_size,
    "entropy": entropy,
    "ambiguity": ambiguity,
}
