"""What a search strategy is: a generator over the lattice.

A strategy yields a :class:`Batch` of nodes, receives their :class:`Verdict` by node, and
returns an :class:`Outcome`. It sees no SQL and no engine; the driver (``driver.py``)
answers it from the evaluator, or in tests from a dictionary.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, TypeVar

from kanon_sql.registers import SEARCH_ALGORITHMS
from kanon_sql.search.lattice import Lattice, Node

__all__ = ["MAX_NODES", "Algorithm", "Batch", "Outcome", "Question", "Strategy", "Verdict", "algorithm"]

MAX_NODES = 1_000_000
"""The most lattice nodes a strategy may hold in memory or ask about."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A question: the verdicts of these nodes, with the quality metric or without.

    A node may lie outside the lattice's level limits (Incognito asks about subsets of
    the quasi-identifiers; leaving one out is the same as its top level).

    Attributes:
        nodes: at most 64 different ones.
        metrics: whether the metric is asked for.
        left: how many nodes that were not asked about yet may still be, those of this batch
            included: never fewer than will be. None where the strategy does not know.
        prepare: nodes at which the evaluator has a frequency set before it answers, built in
            this order from the smallest one that covers the node. Each answers all its
            generalizations. Those of earlier batches that are not listed again are dropped.
            It changes what an answer costs, never the answer.
    """

    nodes: tuple[Node, ...]
    metrics: bool = False
    left: int | None = None
    prepare: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the evaluator knows about one node.

    Attributes:
        node: the vector of levels.
        satisfied: every requirement holds after suppressing at most MaxSup rows, and at
            least one row is released.
        prunable: the requirements that stay monotone under suppression already fail, so
            every specialization of the node fails too.
        suppressed: rows in violating equivalence classes.
        classes: equivalence classes before suppression; None where only rows were counted.
        kept_classes: equivalence classes that are released; None where only rows were counted.
        metric: the quality metric (lower is better); None unless the batch asked.
        floor: no generalization of this node has a metric below it; None unless asked.
        details: the raw aggregates of the metric, for reports.
    """

    node: Node
    satisfied: bool
    prunable: bool
    suppressed: int
    classes: int | None
    kept_classes: int | None
    metric: float | None = None
    floor: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class Question:
    """What a strategy may know about the problem before it asks anything.

    Attributes:
        lattice: the nodes that may be chosen.
        heights: per quasi-identifier, the level of its top value (leaving it out).
        monotone: a generalization of a satisfying node always satisfies. True for
            k-anonymity and distinct l-diversity, and for every model when nothing may
            be suppressed; otherwise only ``Verdict.prunable`` may prune.
        bound: node -> a value its metric cannot go below, without any query. It never
            decreases along the lattice.
        bounds: lattice -> the same for all its nodes, in lexicographic order.
        staged: asking for the metric costs more than asking for the verdict, and the floor says
            no more than the bound: ask for it where ``least`` leaves it open whether a node wins.
        least: verdict (without metric) -> a value that its metric cannot go below.
        expected: verdict (without metric) -> what its metric is if the suppressed rows are like the others.
            Nothing is decided by it; heuristics say by it where to go next.
        rank: verdict (with metric) -> sort key of the metric, ties broken by the
            preference criterion and the node itself.
        prefer: verdict (with metric) -> sort key of the preference criterion first
            (Samarati's choice among the lowest solutions), ties broken by the metric.
        labels: per quasi-identifier and level, how many generalized values occur.
        rows: N, the rows of the source.
        max_suppressed: MaxSup, in rows.
        widely: a question costs far more than a node in it: rather ask about many at once, some of them in vain, than
            once more.
    """

    lattice: Lattice
    heights: Node
    monotone: bool
    bound: Callable[[Node], float]
    bounds: Callable[[Lattice], Sequence[float]]
    staged: bool
    least: Callable[[Verdict], float]
    expected: Callable[[Verdict], float]
    rank: Callable[[Verdict], tuple[Any, ...]]
    prefer: Callable[[Verdict], tuple[Any, ...]]
    labels: Sequence[Sequence[int]]
    rows: int
    max_suppressed: int
    widely: bool = False


@dataclass(frozen=True)
class Outcome:
    """The answer of a search.

    Attributes:
        algorithm: the strategy's name.
        best: the chosen node with its metric, or None when no node satisfies.
        proven: whether ``best`` is proven optimal for ``criterion``. A None that is
            proven means: no node of the lattice satisfies.
        criterion: in words, what ``best`` optimizes.
        solutions: satisfying nodes whose metric is known, best first.
        minimal: all k-minimal generalizations (satisfying nodes with no satisfying
            specialization), or None when the algorithm does not determine them all.
        inferred: lattice nodes decided without asking; None where it was not counted.
        evaluated: lattice questions asked of the evaluator (filled in by the driver).
        stopped: why the search ended before the strategy did, in words; None if it did not.
    """

    algorithm: str
    best: Verdict | None
    proven: bool
    criterion: str
    solutions: tuple[Verdict, ...] = ()
    minimal: tuple[Node, ...] | None = None
    inferred: int | None = None
    evaluated: int = 0
    stopped: str | None = None


Strategy = Generator[Batch, Mapping[Node, Verdict], Outcome]


@dataclass(frozen=True)
class Algorithm:
    """A search algorithm: what a spec, a report and the docs must know of it. :func:`algorithm` declares one.

    Attributes:
        name: as specs write it; that of its function.
        run: question, options -> strategy.
        finds: what it finds and proves, in words.
        when: to use it, in words.
        source: the publication.
        takes: the options of ``search`` that it takes; those that its function has as parameters are handed to it.
        proves: whether what it finds is proven the best. Other algorithms find a good node, and prove nothing.
        of_intervals: it chooses intervals of the values, not levels of the hierarchies.
        by_labels: it goes by how many labels occur.
    """

    name: str
    run: Callable[..., Strategy]
    finds: str
    when: str
    source: str
    takes: tuple[str, ...] = ()
    proves: bool = True
    of_intervals: bool = False
    by_labels: bool = False

    @property
    def place(self) -> int:
        """Those that prove come first."""
        return 0 if self.proves else 1

    @property
    def parameters(self) -> list[str]:
        """The options of ``search`` that its function is handed."""
        own = signature(self.run).parameters
        return [name for name in self.takes if name in own]


F = TypeVar("F", bound=Callable[..., Strategy])


def algorithm(**about: Any) -> Callable[[F], F]:
    """Declare a function as the search algorithm of its name; ``about`` are the attributes of :class:`Algorithm`."""

    def declared(run: F) -> F:
        SEARCH_ALGORITHMS.add(run.__name__, Algorithm(run.__name__, run, **about), run.__module__)
        return run

    return declared
