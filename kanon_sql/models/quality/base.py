"""What a quality metric declares: the aggregates it needs, its value, and its lower bounds.

All metrics are losses: lower is better. N is the number of rows of the source. A
suppressed row (of a violating class, or suppressed for a NULL) costs what each metric
says; generalization costs by level. Definitions follow ARX where it has the metric
(generalization and suppression factors 1), so that losses can be compared with its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import floor, prod
from typing import Any, ClassVar, Literal, Self

from kanon_sql.models.privacy.base import PrivacyModel
from kanon_sql.search import Lattice, Node
from kanon_sql.spec import SearchOptions
from kanon_sql.sql import Sql

__all__ = ["Attribute", "Bounds", "Counts", "Measured", "Metric", "geometric_mean", "normalized_share"]


@dataclass(frozen=True)
class Attribute:
    """What metrics know about one quasi-identifier.

    Attributes:
        height: the top level.
        weight: divided by the largest weight (1 each when all are 0), as in ARX.
        domain_rows: values of its domain: rows of its hierarchy.
        labels: per level, how many generalized values occur in the frequency set.
        covered: per level, the sum over rows of the domain values under the row's
            generalized value.
        largest: per level, the most domain values under one generalized value.
        row_log: per level, the sum over generalized values of n ln n, n in rows.
    """

    height: int
    weight: float
    domain_rows: int
    labels: Sequence[int]
    covered: Sequence[int]
    largest: Sequence[int]
    row_log: Sequence[float]


@dataclass(frozen=True)
class Counts:
    """What metrics know about the table.

    Attributes:
        rows: N, the rows of the source.
        null_rows: rows always suppressed because ``nulls: suppress``.
        attributes: one per quasi-identifier.
    """

    rows: int
    null_rows: int
    attributes: Sequence[Attribute]

    @cached_property
    def weights(self) -> list[float]:
        """The attributes' weights."""
        return [attribute.weight for attribute in self.attributes]


@dataclass(frozen=True)
class Measured:
    """The aggregates of one node.

    Attributes:
        node: the vector of levels.
        suppressed: rows suppressed, those for NULL included.
        classes: classes before suppression.
        kept_classes: classes released.
        sized: the quasi-identifiers strictly between level 0 and the top, in order.
        keyed: the quasi-identifiers below the top, in order.
        values: the metric's own aggregates by name.
    """

    node: Node
    suppressed: int
    classes: int
    kept_classes: int
    sized: Sequence[int]
    keyed: Sequence[int]
    values: Mapping[str, Any]


class Metric(ABC):
    """A quality metric over nodes of the lattice.

    Attributes:
        name: as in the spec.
        words: what it says, for reports and the docs; lower is better.
        formula: how it is computed, for the docs.
        source: the publication.
        place: where lists have it: those that ask for more come later.
        takes: the options of ``search`` that it alone takes, and must be given -> what to write there.
        weighs: it weighs what generalization costs against what suppression costs.
        bounds_cuts: :meth:`least_costs` says what rows cost at least, however intervals are cut.
        from_levels: its bound follows from the levels alone.
        from_counts: so does its value, but for rows that are suppressed and the number of classes.
        never_monotone: why what suppression costs cannot be left out; None where it can.
        largest: the largest value there is; None for no such one.
        multiplies: the parts of its bound are multiplied, not added, where it does not join them otherwise.
        monotone: what suppression costs is left out.
        carries: what the classes must carry along for it: the domain values under their generalized
            values (of the quasi-identifiers strictly between level 0 and the top), the codes of these
            values (of all below the top), or nothing.
        staged: it costs more than the verdict, and its floor says no more than its bound: it is
            asked for only where the verdict leaves it open whether a node wins.
    """

    name: ClassVar[str]
    words: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    place: ClassVar[int] = 9
    takes: ClassVar[Mapping[str, str]] = {}
    weighs: ClassVar[bool] = False
    bounds_cuts: ClassVar[bool] = False
    from_levels: ClassVar[bool] = False
    from_counts: ClassVar[bool] = False
    never_monotone: ClassVar[str | None] = None
    largest: ClassVar[int | None] = None
    multiplies: ClassVar[bool] = False
    monotone: bool = False
    carries: Literal["sizes", "codes"] | None = None
    staged: bool = False

    @classmethod
    def of(cls, search: SearchOptions) -> Self:
        """The metric in the form that the options of a search ask for."""
        return cls(**({"monotone": True} if search.monotone else {}))

    @property
    def shape(self) -> str:
        """What tells the statements that it takes from those of other metrics."""
        return f"{self.name}, monotone" if self.monotone else self.name

    @property
    def measures(self) -> Sequence[PrivacyModel]:
        """What it measures of each class by the values of a column: its aggregates get their columns after the others.

        They judge nothing.
        """
        return ()

    def windows(self, carried: Sequence[str]) -> dict[str, Sql]:
        """Window columns over the flagged classes: name -> SQL.

        Args:
            carried: the names of the columns that the classes carry along.
        """
        return {}

    def aggregates(self, kept: Sql, carried: Sequence[str]) -> dict[str, Sql]:
        """Aggregates over the classes: name -> SQL.

        Args:
            kept: the condition that holds for classes that are not suppressed.
            carried: the names of the columns that the classes carry along.
        """
        return {}

    def least_costs(self, k: int, carried: Sequence[str]) -> dict[str, Sql]:
        """What a vector's rows add at least to the aggregates, however classes are merged, unless suppressed.

        The names that :meth:`value` needs -> SQL over ``row_count`` and, in the finest partition
        possible, ``finest_rows`` (of the vector's class) and what is carried along. Empty where
        nothing is known.

        Args:
            k: a released class has at least this many rows.
            carried: as in :meth:`aggregates`.
        """
        return {}

    def added(self, counts: Counts) -> Callable[[Measured], int] | None:
        """Aggregates -> a whole number that is a sum over all classes, which the metric never falls by rising with.

        A suppressed class adds as much for each row. None where the metric is no such sum.
        """
        return None

    @abstractmethod
    def value(self, counts: Counts, measured: Measured) -> float:
        """The metric of a node with its suppression."""

    def join(self, one: Any, other: Any) -> Any:
        """Two columns' parts of :meth:`bound` together; never less for more."""
        return one * other if self.multiplies else one + other

    @property
    def joiner(self) -> Callable[[Any, Any], Any]:
        """What joins two parts as :meth:`join` does, for many of them: it may be quicker to call."""
        return self.join

    def parts(self, counts: Counts) -> Sequence[Sequence[Any]]:
        """Per quasi-identifier and level, what it contributes to :meth:`bound`; never less at a higher level."""
        return [[1.0 if self.multiplies else 0.0] * (attribute.height + 1) for attribute in counts.attributes]

    def whole(self, counts: Counts, combined: Any) -> float:
        """The bound, from a node's parts joined; never less for more."""
        return float(combined)

    def wholes(self, counts: Counts, combined: Sequence[Any]) -> list[float]:
        """:meth:`whole` of many."""
        return [self.whole(counts, value) for value in combined]

    def bound(self, counts: Counts, node: Node) -> float:
        """A value the metric cannot go below at this node or any generalization of it."""
        return Bounds(self, counts).of(node)

    def least(self, counts: Counts, node: Node, suppressed: int) -> float:
        """A value the metric cannot go below at this node, of which ``suppressed`` rows go: at least :meth:`bound`."""
        return self.bound(counts, node)

    def expected(self, counts: Counts, node: Node, suppressed: int) -> float:
        """What the metric is if the ``suppressed`` rows are like the others: a guess, at least :meth:`least`."""
        return self.least(counts, node, suppressed)

    def floor(self, counts: Counts, measured: Measured) -> float:
        """A value the metric cannot go below, once the node's aggregates are known: at least :meth:`bound`."""
        return self.bound(counts, measured.node)


class Bounds:
    """The bounds of a metric over one table: one part per attribute, joined (mostly a sum or a product).

    Args:
        metric: the metric.
        counts: of the table.
    """

    def __init__(self, metric: Metric, counts: Counts) -> None:
        self._metric = metric
        self._counts = counts
        self._parts = metric.parts(counts)

    def of(self, node: Node) -> float:
        """The bound of a node."""
        return self._metric.whole(
            self._counts,
            reduce(self._metric.join, (levels[level] for levels, level in zip(self._parts, node, strict=True))),
        )

    def over(self, lattice: Lattice) -> list[float]:
        """The bounds of all nodes of a lattice, in lexicographic order; much quicker than one by one."""
        found: list[Any] = []
        join = self._metric.joiner
        for levels, low, high in zip(self._parts, lattice.bottom, lattice.top, strict=True):
            own = levels[low : high + 1]
            found = [join(value, part) for value in found for part in own] if found else list(own)
        return self._metric.wholes(self._counts, found)


def geometric_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """ARX's geometric mean of losses in [0, 1]: prod(w v + 1) ** (1/n) - 1."""
    return prod(weight * value + 1.0 for value, weight in zip(values, weights, strict=True)) ** (1 / len(values)) - 1.0


def normalized_share(covered_share: float, rows: int, domain_rows: int, factor: float = 1.0) -> float:
    """Scale a sum of domain shares to [0, 1], floored to 10 decimals as ARX does.

    0 is every row at its own value, 1 every row at the top. A domain of one value (or a
    table without rows) has nothing to lose: 0.

    Args:
        covered_share: the sum over rows.
        rows: how many.
        domain_rows: values of the domain.
        factor: what the share of a released row was multiplied by.
    """
    least = factor * rows / domain_rows
    if rows - least <= 0:
        return 0.0
    return floor(max(0.0, (covered_share - least) / (rows - least)) * 1e10) / 1e10
