"""What a search ends with: nothing to search, nothing that satisfies, or a chosen node. A type for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NotRequired, TypedDict

from kanon_sql.engines import Column, Workspace
from kanon_sql.evaluate.distance_vectors import MatrixSizes
from kanon_sql.evaluate.distances import Distances, ShownDistances
from kanon_sql.evaluate.evaluator import Evaluator, Work
from kanon_sql.evaluate.examination import Examination
from kanon_sql.evaluate.partitions.hierarchy import Labelled
from kanon_sql.evaluate.reach import rows_in_words
from kanon_sql.frequency import FrequencySets, Prepared, notes_on_models
from kanon_sql.hierarchies import CHOSEN_INTERVALS
from kanon_sql.models import METRICS, PrivacyModel
from kanon_sql.search import Batch, Explained, Node, Outcome, Search, Verdict, explain, locally_minimal
from kanon_sql.spec import LISTED, ON_REQUEST, Count, Document, Keywords, LevelVector, Like, Spec, plain

__all__ = ["Answered", "Chosen", "NothingFound", "NothingToSearch", "Rows", "SearchSummary", "Searched", "few"]

RUNNERS_UP = 5


class Rows(TypedDict):
    """Rows of a table; ``source`` is ``released`` and ``suppressed`` together.

    Attributes:
        source: rows of the source, or of the checked table.
        released: rows released with generalized values.
        suppressed: rows left out, or masked.
        masked: suppressed rows that are in the release, masked.
        persons: distinct persons in the source, where the spec names a unit.
    """

    source: Count
    released: Count
    suppressed: Count
    masked: NotRequired[Count]
    persons: NotRequired[Count]


RunnerUp = Annotated[
    Mapping[str, Any],
    Keywords(
        required=["node", "suppressed", "classes"],
        properties={
            "node": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}, "minProperties": 1},
            "suppressed": {"type": "integer", "minimum": 0},
            "classes": {"type": "integer", "minimum": 0},
        },
        additionalProperties={"type": ["number", "null"]},
    ),
]
"""A node that satisfies: its levels, the rows that are suppressed, its classes, and the metric under its own name."""


@dataclass(frozen=True)
class SearchSummary(Document):
    """What the search did.

    Attributes:
        algorithm: the strategy's name.
        proven: whether the chosen node is proven optimal for ``criterion`` (or proven not to exist).
        criterion: in words, what the chosen node optimizes.
        nodes_total: the number of nodes in the lattice; None for algorithms that choose intervals, which search
            partitions.
        nodes_evaluated: the number of different nodes (for ``k_optimize``, of spans of partitions) that the database
            was asked about.
        nodes_inferred: the number of nodes decided without asking; None where they are not counted.
        minimal_nodes: how many k-minimal generalizations there are; None where the algorithm does not find them all.
        minimal: all k-minimal generalizations, levels in the order of the spec's quasi-identifiers; None where the
            algorithm does not find them all. JSON has them with ``--show minimal``.
        runners_up: the next best nodes that the search evaluated, best first, with the metric that was searched for.
        stopped: why the search ended early, at its best node so far, in words; None if it did not.
        frequency_sets: how many frequency sets were rolled up from others during the search.
        base_reads: how often its statements read the first frequency set.
        matrix: the size of the matrix of distance vectors; None without one.
        lattice: with ``--show nodes``, every node of the lattice, and how it was decided; None unless asked for.
        distances: with ``--show matrix``, the distance vectors between outliers and all vectors of values; None unless
            asked for.
        locally_minimal: all locally minimal generalizations, the first that satisfy on some path from the values up
            (Samarati 2001, section 4), the k-minimal ones among them; None unless asked for, and where it is not known
            of every node whether it satisfies.
    """

    algorithm: str
    proven: bool
    criterion: str
    nodes_total: Count | None
    nodes_evaluated: Count
    nodes_inferred: Count | None
    minimal_nodes: Count | None = field(init=False)
    minimal: Annotated[tuple[LevelVector, ...] | None, Keywords(type="array")] = field(metadata=LISTED)
    runners_up: Sequence[RunnerUp] = ()
    stopped: str | None = None
    frequency_sets: Count = 0
    base_reads: Count = 0
    matrix: MatrixSizes | None = None
    lattice: Sequence[Explained] | None = field(default=None, metadata=ON_REQUEST, repr=False)
    distances: Annotated[Distances, Like(ShownDistances)] | None = field(default=None, metadata=ON_REQUEST, repr=False)
    locally_minimal: tuple[LevelVector, ...] | None = field(default=None, metadata=LISTED)

    def __post_init__(self) -> None:
        object.__setattr__(self, "minimal_nodes", None if self.minimal is None else len(self.minimal))

    def listed(self) -> dict[str, Any]:
        """The keys of its JSON that list the minimal generalizations; none where they are not all known."""
        if self.minimal is None:
            return {}
        return {"minimal": plain(self.minimal), "locally_minimal": plain(self.locally_minimal)}


@dataclass(frozen=True)
class Searched:
    """A search that is over. Its workspace is still open, and its scratch tables exist.

    Attributes:
        spec: what was asked for.
        prepared: the frequency sets that it was given, and the requirements.
    """

    spec: Spec
    prepared: Prepared

    @property
    def workspace(self) -> Workspace:
        """Where its statements ran."""
        return self.prepared.workspace

    @property
    def columns(self) -> Mapping[str, Column]:
        """The source's columns by name."""
        return self.prepared.columns

    @property
    def models(self) -> Sequence[PrivacyModel]:
        """The requirements."""
        return self.prepared.models

    @property
    def sets(self) -> FrequencySets:
        """The frequency sets; over the chosen intervals, if the algorithm chose some."""
        return self.prepared.sets

    @property
    def level_names(self) -> dict[str, tuple[str, ...]]:
        """Quasi-identifier -> what each of its levels is called, level 0 first."""
        if self.spec.search.of_intervals:
            return dict.fromkeys(self.spec.quasi_identifiers, CHOSEN_INTERVALS)
        return {lookup.name: tuple(lookup.level_names) for lookup in self.prepared.sets.lookups}

    @property
    def notes(self) -> list[str]:
        """What the hierarchies and the source leave to say."""
        notes = [
            f"hierarchy of {lookup.name}: {rows_in_words(lookup.unused)} not used by the data"
            for lookup in self.sets.lookups
            if lookup.unused
        ]
        if self.spec.count is not None:
            notes.append(f"rows are persons: a row stands for as many as {self.spec.count} says")
        notes += self._notes_on_labels()
        if self.sets.null_rows:
            notes.append(
                f"{rows_in_words(self.sets.null_rows)} with a NULL quasi-identifier suppressed (nulls: suppress)"
            )
        return [*notes, *notes_on_models(self.models)]

    def _notes_on_labels(self) -> list[str]:
        return []

    def rows(self) -> Rows:
        """Rows of the source, released and suppressed."""
        rows: Rows = {"source": self.sets.rows, "released": 0, "suppressed": self.sets.rows}
        if self.sets.persons is not None:
            rows["persons"] = self.sets.persons
        return rows

    def node_dict(self, node: Node) -> dict[str, int]:
        """A node as quasi-identifier -> level."""
        return dict(zip(self.spec.quasi_identifiers, node, strict=True))

    def summary(self) -> SearchSummary | None:
        """What the search did; None if there was none."""
        return SearchSummary(self.spec.search.algorithm, True, "no row to search", 0, 0, 0, ())

    def explained(self) -> tuple[Explained, ...]:
        """What is known about every node of the lattice."""
        return ()


@dataclass(frozen=True)
class NothingToSearch(Searched):
    """The source has no row, or none that may be released.

    Attributes:
        infeasible: why no generalization could satisfy anyhow, where that is known.
    """

    infeasible: str | None

    def failure(self) -> str:
        """Why there is nothing to release, in a sentence."""
        if self.sets.rows == 0:
            return "the source has no rows: there is nothing to release"
        return (
            self.infeasible or "every row has a NULL quasi-identifier and would go (nulls: suppress): use nulls: value"
        )


@dataclass(frozen=True)
class Answered(Searched):
    """A search that asked about nodes.

    Attributes:
        evaluator: of the frequency sets.
        search: every answer that led to the outcome.
        outcome: what the strategy returned.
        work: what the search took.
        lists_minimal: the summary lists the locally minimal generalizations, too.
    """

    evaluator: Evaluator
    search: Search
    outcome: Outcome
    work: Work
    lists_minimal: bool = field(default=False, kw_only=True)

    def summary(self) -> SearchSummary:
        """What the search did."""
        best = self.outcome.best
        runners_up: list[dict[str, Any]] = [
            {
                "node": self.node_dict(verdict.node),
                self.spec.search.metric_label: verdict.metric,
                "suppressed": verdict.suppressed,
                "classes": verdict.kept_classes,
            }
            for verdict in self.outcome.solutions
            if best is None or verdict.node != best.node
        ][:RUNNERS_UP]
        return SearchSummary(
            algorithm=self.outcome.algorithm,
            proven=self.outcome.proven,
            criterion=_named(self.outcome.criterion, self.spec),
            nodes_total=None if self.spec.search.of_intervals else self.evaluator.question().lattice.size,
            nodes_evaluated=self.outcome.evaluated,
            nodes_inferred=self.outcome.inferred,
            minimal=self.outcome.minimal,
            runners_up=runners_up,
            stopped=self.outcome.stopped,
            frequency_sets=self.work.frequency_sets,
            base_reads=self.work.base_reads,
            matrix=None if self.evaluator.matrix is None else self.evaluator.matrix.sizes,
            locally_minimal=locally_minimal(self.evaluator.question(), self.outcome) if self.lists_minimal else None,
        )

    def explained(self) -> tuple[Explained, ...]:
        """What is known about every node of the lattice."""
        return tuple(explain(self.evaluator.question(), self.search.verdicts, self.outcome))


@dataclass(frozen=True)
class NothingFound(Answered):
    """No node was found that satisfies.

    Attributes:
        infeasible: why none can, where that was known before the search.
    """

    infeasible: str | None = None

    def failure(self) -> str:
        """Why no node satisfies, in a sentence."""
        if self.infeasible is not None:
            return self.infeasible
        wanted = ", ".join(model.label for model in self.models)
        if self.outcome.stopped is not None:
            return (
                f"{self.outcome.stopped} before it found a generalization that satisfies {wanted}; whether there is "
                "one is not known"
            )
        if not self.outcome.proven:
            return f"the search found no generalization that satisfies {wanted}; that there is none is not proven"
        top = self.evaluator.question().lattice.top
        (verdict,) = self.evaluator.ask(Batch((top,)))
        limit = self.prepared.max_suppressed
        least = f"no generalization satisfies {wanted}: even at the highest levels allowed"
        if verdict.suppressed == self.sets.rows <= limit:
            return f"{least} all {rows_in_words(self.sets.rows)} violate it, and a release without them is empty"
        return (
            f"{least} {verdict.suppressed:,} of {rows_in_words(self.sets.rows)} violate it, and at most "
            f"{limit:,} may be suppressed"
        )


@dataclass(frozen=True)
class Chosen(Answered):
    """A node that satisfies.

    Attributes:
        best: its verdict.
        labelled: the intervals, if the algorithm chose some.
    """

    best: Verdict
    labelled: Labelled | None = None

    @property
    def sets(self) -> FrequencySets:
        """The frequency sets; over the chosen intervals, if the algorithm chose some."""
        return self.prepared.sets if self.labelled is None else self.labelled.sets

    @property
    def node(self) -> Node:
        """The chosen node."""
        return self.best.node

    def achieved(self) -> Examination:
        """What the node's kept classes achieve, from the frequency sets."""
        return self.evaluator.achieved(self.node)

    def metrics(self, *, brief: bool = False) -> dict[str, float]:
        """Every quality metric of the node, and the one that was optimized, if it is another form of one of them.

        Args:
            brief: the one that was optimized, and the loss, alone: the search has mostly asked for these.
        """
        asked = {self.spec.search.metric_label: self.evaluator.metric}
        others = {"loss": METRICS["loss"]} if brief else METRICS
        return self.evaluator.metrics(self.node, {**others, **asked})

    @property
    def mean_loss(self) -> float:
        """The mean loss of a cell, columns weighted as the spec says; a suppressed cell has lost everything.

        It takes no statement once the metrics are known.
        """
        weights = [column.weight for column in self.spec.quasi_identifiers.values()]
        lost = sum(weight * loss for weight, loss in zip(weights, self.evaluator.cell_losses(self.node), strict=True))
        return float(f"{lost / sum(weights):.12g}")

    @property
    def intervals(self) -> Mapping[str, int] | None:
        """Per quasi-identifier at the level of intervals, how many; None for algorithms that choose levels."""
        return None if self.labelled is None else self.labelled.counts

    def rows(self) -> Rows:
        """Rows of the source, released and suppressed."""
        suppressed = self.best.suppressed
        return {**super().rows(), "released": self.sets.rows - suppressed, "suppressed": suppressed}

    def _notes_on_labels(self) -> list[str]:
        if self.labelled is None:
            return []
        protected = "rows" if self.sets.persons is None else "persons"
        return [
            f"{name}: {rare:,} of {self.labelled.counts[name]:,} interval labels end at a value that fewer than "
            f"{few(self.models)} released {protected} have; round the values in a source query if no label may show "
            "such a one"
            for name, rare in self.labelled.rare.items()
        ]


def few(models: Sequence[PrivacyModel]) -> int:
    """Small-count threshold: fewer rows or persons than this are few. It is max(k, 2)."""
    return max([2, *(model.least_size for model in models if model.least_size is not None)])


def _named(criterion: str, spec: Spec) -> str:
    """A strategy's criterion with the metric and the preference by their names."""
    prefer = spec.search.prefer.replace("_", " ")
    return (
        criterion.replace("lowest metric", f"lowest {spec.search.metric_label}")
        .replace("the metric", spec.search.metric_label)
        .replace("the preference", prefer)
    )
