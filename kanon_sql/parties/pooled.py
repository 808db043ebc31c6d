"""The mediator of a horizontally split table: pools the parties' tokens, and answers the search about nodes.

After Zhong, Yang, Wright, "Privacy-enhancing k-anonymization of customer data", 2005. In their first formulation a
miner gets ciphertexts, and reads what at least k customers share and nothing else. Here the miner never reads a class:
for each node every party sends its classes as keyed hashes under a key that is new for each node, with their rows.
Equal classes have equal hashes, so the mediator adds up their rows, and that is all it does with them.

A party tells of a class min(rows, k) rows. The sum over the parties is below k if and only if the true sum is: if one
of them has k rows, both are at least k; if none has, both are the same. A class below k has all its rows told, so the
rows to suppress are exact as well. Hence the verdict is the pooled table's.

Distinct l-diversity is a count of different values, at most l of them told by each party: if one has l, so has the
union; if none has, all are told. A class can violate it whatever its size is, so all its rows are told then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.errors import VerificationError
from kanon_sql.models import Attribute, Bounds, Counts, Measured, Metric
from kanon_sql.search import (
    Batch,
    Lattice,
    Node,
    Question,
    Verdict,
    all_lowered,
    lowered,
    metric_of,
    preference,
    rounded,
)
from kanon_sql.spec import QuasiIdentifier, Spec

__all__ = ["Classes", "Columns", "Demands", "PooledEvaluator", "Sizes"]

Sizes = Counter[object]
"""Class -> rows."""


@dataclass(frozen=True)
class Columns:
    """The quasi-identifiers of the pooled table.

    Attributes:
        limits: the level limits and the weight of each.
        heights: the top level of each.
    """

    limits: Sequence[QuasiIdentifier]
    heights: Node


@dataclass(frozen=True)
class Demands:
    """What a class has to have.

    Attributes:
        k: rows.
        diversity: sensitive attribute -> different values, NULL not counted.
    """

    k: int
    diversity: Mapping[str, int]


@dataclass(frozen=True)
class Classes:
    """The classes of a node, by tokens.

    Attributes:
        sizes: class -> rows; of classes that satisfy at least as many as they need.
        values: sensitive attribute -> class -> different values, at least as many as they need.
    """

    sizes: Sizes
    values: Mapping[str, Sizes]

    def kept(self, demands: Demands) -> Sizes:
        """Those that satisfy all demands."""
        return Counter({name: rows for name, rows in self.sizes.items() if self.satisfies(name, demands)})

    def satisfies(self, name: object, demands: Demands) -> bool:
        """Whether one class does."""
        return self.sizes[name] >= demands.k and all(
            self.values[attribute][name] >= least for attribute, least in demands.diversity.items()
        )

    def violating_rows(self, demands: Demands) -> int:
        """The rows in classes that do not; exact although larger classes may be told as k."""
        return sum(rows for name, rows in self.sizes.items() if not self.satisfies(name, demands))

    def fewest_values(self, attribute: str, demands: Demands) -> int | None:
        """The fewest different values of an attribute in a class that satisfies all demands; None without a class."""
        return min((self.values[attribute][name] for name in self.kept(demands)), default=None)


class PooledEvaluator:
    """Answers a search from what parties send.

    Args:
        spec: what to anonymize and how.
        metric: what to optimize; one that follows from counts.
        columns: the quasi-identifiers.
        demands: what a class has to have.
        rows: of all parties.
        null_rows: those that are suppressed for a NULL.
        pooled: node -> its classes.
    """

    def __init__(
        self,
        spec: Spec,
        metric: Metric,
        columns: Columns,
        demands: Demands,
        rows: int,
        null_rows: int,
        pooled: Callable[[Node], Classes],
    ) -> None:
        self.metric = metric
        self.demands = demands
        self.rows = rows
        self.null_rows = null_rows
        self.max_suppressed = spec.suppression.most(rows)
        self._prefer = spec.search.prefer
        self._columns = columns
        self._pooled = pooled
        self.counts = _counts(columns, rows, null_rows)

    @property
    def lattice(self) -> Lattice:
        """The nodes that may be chosen."""
        limits = self._columns.limits
        top = tuple(
            height if limit.maximum_level is None else limit.maximum_level
            for limit, height in zip(limits, self._columns.heights, strict=True)
        )
        return Lattice(tuple(limit.minimum_level for limit in limits), top)

    def question(self) -> Question:
        """What a strategy may know before it asks; how many labels occur is known to no party."""
        bounds = Bounds(self.metric, self.counts)
        return Question(
            lattice=self.lattice,
            heights=self._columns.heights,
            monotone=True,  # both requirements are, whatever may be suppressed
            bound=lambda node: lowered(bounds.of(node)),
            bounds=lambda lattice: all_lowered(bounds.over(lattice)),
            staged=False,
            least=lambda verdict: lowered(self.metric.least(self.counts, verdict.node, verdict.suppressed)),
            expected=lambda verdict: self.metric.expected(self.counts, verdict.node, verdict.suppressed),
            rank=lambda verdict: (rounded(metric_of(verdict)), self._preference(verdict), verdict.node),
            prefer=lambda verdict: (self._preference(verdict), rounded(metric_of(verdict)), verdict.node),
            labels=[attribute.labels for attribute in self.counts.attributes],
            rows=self.rows,
            max_suppressed=self.max_suppressed,
        )

    def answers(self, batch: Batch) -> Iterator[Verdict]:
        """The verdicts of a batch, node by node."""
        for node in batch.nodes:
            yield self.verdict(node, self._pooled(node))

    def verdict(self, node: Node, found: Classes) -> Verdict:
        """The verdict on a node, from its classes; with the metric, which costs nothing more."""
        suppressed = found.violating_rows(self.demands) + self.null_rows
        kept, classes = len(found.kept(self.demands)), len(found.sizes)
        measured = Measured(
            node=node, suppressed=suppressed, classes=classes, kept_classes=kept, sized=(), keyed=(), values={}
        )
        return Verdict(
            node=node,
            satisfied=suppressed <= self.max_suppressed and suppressed < self.rows,
            prunable=suppressed > self.max_suppressed or suppressed >= self.rows,
            suppressed=suppressed,
            classes=classes,
            kept_classes=kept,
            metric=self.metric.value(self.counts, measured),
            floor=lowered(self.metric.floor(self.counts, measured)),
        )

    def refuse_other(self, verdict: Verdict, found: Classes) -> None:
        """See that the chosen node is what it was when it was asked about.

        Raises:
            VerificationError: it is not: a party's table has changed.
        """
        if self.verdict(verdict.node, found) != verdict:
            raise VerificationError(
                "the figures of the chosen generalization differ from those of the search; run again when no "
                "party's table changes"
            )

    def _preference(self, verdict: Verdict) -> float:
        """The preference criterion of a node; lower is better (Samarati 2001, section 3.2)."""
        return preference(self._prefer, verdict, self._columns.heights)


def _counts(columns: Columns, rows: int, null_rows: int) -> Counts:
    """What metrics may know of the pooled table: its rows and the heights. Each label may be in a row of its own."""
    heaviest = max(limit.weight for limit in columns.limits)
    attributes = [
        Attribute(
            height=height,
            weight=limit.weight / heaviest if heaviest else 1.0,
            domain_rows=1,
            labels=[*[max(1, rows)] * height, 1],
            covered=[rows] * (height + 1),
            largest=[1] * (height + 1),
            row_log=[0.0] * (height + 1),
        )
        for limit, height in zip(columns.limits, columns.heights, strict=True)
    ]
    return Counts(rows=rows, null_rows=null_rows, attributes=attributes)
