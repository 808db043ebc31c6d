"""How the losses of the columns become one value: the aggregate functions of a metric."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add, mul
from typing import Any, Self

from kanon_sql.models.quality.base import Counts, Measured, Metric
from kanon_sql.search import Node, Ranked
from kanon_sql.spec import SearchOptions

__all__ = ["AGGREGATES", "Aggregate", "PerColumn", "generalization_factor", "suppression_factor"]


@dataclass(frozen=True)
class Aggregate:
    """An aggregate function over the weighted losses of the columns, monotone in each of them (ARX 3.9).

    Attributes:
        part: weight, loss -> what a column contributes.
        join: of two contributions.
        whole: all contributions joined, number of columns -> the value.
    """

    part: Callable[[float, float], Any]
    join: Callable[[Any, Any], Any]
    whole: Callable[[Any, int], float]

    def of(self, losses: Sequence[float], weights: Sequence[float]) -> float:
        """The value of some losses."""
        parts = (self.part(weight, loss) for loss, weight in zip(losses, weights, strict=True))
        return self.whole(reduce(self.join, parts), len(losses))


def _weighted(weight: float, loss: float) -> float:
    return weight * loss


def _power(combined: float, columns: int) -> float:
    return float(combined ** (1 / columns)) - 1.0


AGGREGATES = {
    "sum": Aggregate(_weighted, add, lambda combined, _: float(combined)),
    "arithmetic_mean": Aggregate(_weighted, add, lambda combined, columns: float(combined / columns)),
    "geometric_mean": Aggregate(lambda weight, loss: weight * loss + 1.0, mul, _power),
    "maximum": Aggregate(_weighted, max, lambda combined, _: float(combined)),
    "rank": Aggregate(lambda weight, loss: (weight * loss,), add, lambda combined, _: Ranked(combined)),
}
"""By the names that a spec uses. A rank is compared by its largest loss first, then by the next."""


def suppression_factor(gs_factor: float) -> float:
    """What the suppression of a row counts, from 0 to 1."""
    return min(1.0, 2.0 * gs_factor)


def generalization_factor(gs_factor: float) -> float:
    """What the generalization of a row counts, from 0 to 1."""
    return 1.0 if gs_factor <= 0.5 else 1.0 - 2.0 * (gs_factor - 0.5)


@dataclass(frozen=True)
class PerColumn(Metric, ABC):
    """A metric that is an aggregate of one loss per column.

    Attributes:
        aggregate: how they become one value.
        gs_factor: what generalization and suppression count: below 0.5 suppression counts less, above it
            generalization does; at 0.5 both count whole.
        monotone: leave out what suppression costs.
    """

    aggregate: str
    gs_factor: float = 0.5
    monotone: bool = False

    @classmethod
    def of(cls, search: SearchOptions) -> Self:
        """With the aggregate and the factor that the search asks for."""
        aggregate = {} if search.aggregate is None else {"aggregate": search.aggregate}
        return cls(gs_factor=search.gs_factor, monotone=search.monotone, **aggregate)

    def __post_init__(self) -> None:
        """Without what suppression costs, the levels say all."""
        if self.monotone:
            object.__setattr__(self, "carries", None)
            object.__setattr__(self, "staged", False)

    @property
    def suppression(self) -> float:
        """The suppression factor."""
        return suppression_factor(self.gs_factor)

    @property
    def generalization(self) -> float:
        """The generalization factor."""
        return generalization_factor(self.gs_factor)

    @abstractmethod
    def unsuppressed(self, counts: Counts) -> Sequence[Sequence[float]]:
        """Per column and level, the loss if no class had to be suppressed; never less at a higher level."""

    def lowest(self, counts: Counts) -> Sequence[Sequence[float]]:
        """Per column and level, what its loss cannot go below, however many are suppressed, there or above."""
        return self.unsuppressed(counts)

    @abstractmethod
    def by_attribute(self, counts: Counts, measured: Measured) -> Sequence[float]:
        """Per column, its loss with what suppression costs."""

    def value(self, counts: Counts, measured: Measured) -> float:
        """The aggregate of the columns' losses."""
        if self.monotone:
            return self.bound(counts, measured.node)
        return self._aggregate.of(self.by_attribute(counts, measured), counts.weights)

    @property
    def _aggregate(self) -> Aggregate:
        return AGGREGATES[self.aggregate]

    def join(self, one: Any, other: Any) -> Any:
        """As the aggregate joins the contributions of columns."""
        return self._aggregate.join(one, other)

    @property
    def joiner(self) -> Callable[[Any, Any], Any]:
        """The aggregate's own."""
        return self._aggregate.join

    def parts(self, counts: Counts) -> Sequence[Sequence[Any]]:
        """What each column contributes at least."""
        least = self.unsuppressed(counts) if self.monotone else self.lowest(counts)
        return [
            [self._aggregate.part(attribute.weight, loss) for loss in losses]
            for attribute, losses in zip(counts.attributes, least, strict=True)
        ]

    def whole(self, counts: Counts, combined: Any) -> float:
        """Their aggregate."""
        return self._aggregate.whole(combined, len(counts.attributes))

    def wholes(self, counts: Counts, combined: Sequence[Any]) -> list[float]:
        """Their aggregate, of many nodes."""
        whole, columns = self._aggregate.whole, len(counts.attributes)
        return [whole(value, columns) for value in combined]

    def of_losses(self, counts: Counts, node: Node, losses: Sequence[float]) -> float:
        """The aggregate of some losses of a node, or the bound where suppression does not count."""
        return self.bound(counts, node) if self.monotone else self._aggregate.of(losses, counts.weights)
