"""The part that ``plan`` and ``anonymize`` share: source -> frequency sets -> search."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from kanon_sql.engines import Column, Engine, Reporter, Workspace
from kanon_sql.errors import SearchTooLarge, UnsupportedError, VerificationError
from kanon_sql.evaluate.budget import Budget
from kanon_sql.evaluate.class_unions import refuse_overlaps, refuse_unknown_unions
from kanon_sql.evaluate.distance_vectors import DistanceMatrix
from kanon_sql.evaluate.evaluator import Evaluator, Work
from kanon_sql.evaluate.partitions.evaluator import Partitions, refuse_what_cuts_break
from kanon_sql.evaluate.partitions.hierarchy import Labelled, with_codes, with_labels
from kanon_sql.evaluate.partitions.order import order_domains
from kanon_sql.evaluate.reach import out_of_reach, rows_in_words
from kanon_sql.frequency import FrequencySets, KeptSets, population_notes, prepared, source_of
from kanon_sql.models import METRICS, PrivacyModel, models_of
from kanon_sql.search import (
    MAX_NODES,
    Batch,
    Explained,
    Node,
    Outcome,
    Progress,
    Search,
    Span,
    Stopped,
    Verdict,
    explain,
    hopeless,
    k_optimize,
    metric_of,
    search,
)
from kanon_sql.spec import Spec

__all__ = ["SearchSummary", "Searched", "searched", "source_of"]


@dataclass(frozen=True)
class SearchSummary:
    """What the search did.

    Attributes:
        algorithm: the strategy's name.
        proven: whether the chosen node is proven optimal for ``criterion``.
        criterion: in words, what the chosen node optimizes.
        nodes_total: the number of nodes in the lattice; None for algorithms that choose intervals.
        nodes_evaluated: the number of different nodes that the database was asked about.
        nodes_inferred: the number of nodes decided without asking; None where they are not counted.
        minimal: all k-minimal generalizations; None where the algorithm does not find them all.
        runners_up: the next best nodes that the search evaluated.
        stopped: why the search ended early, in words; None if it did not.
        frequency_sets: how many frequency sets were rolled up from others during the search.
        base_reads: how often its statements read the first frequency set.
        matrix: ``outliers``, ``vectors`` and ``rows`` of the distance matrix; None without one.
    """

    algorithm: str
    proven: bool
    criterion: str
    nodes_total: int | None
    nodes_evaluated: int
    nodes_inferred: int | None
    minimal: tuple[Node, ...] | None
    runners_up: Sequence[Mapping[str, Any]] = ()
    stopped: str | None = None
    frequency_sets: int = 0
    base_reads: int = 0
    matrix: Mapping[str, int] | None = None


RUNNERS_UP = 5


@dataclass(frozen=True)
class Searched:
    """Everything that is known once the search is over.

    Attributes:
        workspace: still open; its scratch tables exist.
        columns: the source's columns by name.
        models: the requirements.
        sets: the frequency sets; over the chosen intervals, if the algorithm chose some.
        evaluator: of these sets; None when the source has no row to search.
        search: every answer that led to the outcome; None when the source has no row to search.
        outcome: None when the source has no row to search.
        work: what the search took; None when the source has no row to search.
        labelled: the intervals, if the algorithm chose some.
        hopeless: why no generalization can satisfy, where that was known before the search.
    """

    workspace: Workspace
    spec: Spec
    columns: Mapping[str, Column]
    models: list[PrivacyModel]
    sets: FrequencySets
    evaluator: Evaluator | None
    search: Search | None
    outcome: Outcome | None
    work: Work | None
    labelled: Labelled | None = None
    hopeless: str | None = None

    @property
    def node(self) -> Node | None:
        """The chosen node."""
        if self.outcome is None or self.outcome.best is None:
            return None
        return self.outcome.best.node

    @property
    def notes(self) -> list[str]:
        """What the hierarchies and the source leave to say."""
        notes = [
            f"hierarchy of {lookup.name}: {rows_in_words(lookup.unused)} not used by the data"
            for lookup in self.sets.lookups
            if lookup.unused
        ]
        if self.labelled is not None:
            few, protected = _few(self.models), "rows" if self.sets.persons is None else "persons"
            notes += [
                f"{name}: {rare:,} of {self.labelled.counts[name]:,} interval labels end at a value that fewer than "
                f"{few} released {protected} have; round the values in a source query if no label may show such a one"
                for name, rare in self.labelled.rare.items()
            ]
        if self.sets.null_rows:
            notes.append(
                f"{rows_in_words(self.sets.null_rows)} with a NULL quasi-identifier suppressed (nulls: suppress)"
            )
        return [*notes, *population_notes(self.models)]

    @property
    def intervals(self) -> Mapping[str, int] | None:
        """Per quasi-identifier at the level of intervals, how many; None for algorithms that choose levels."""
        return None if self.labelled is None else self.labelled.counts

    def rows(self) -> dict[str, int]:
        """Rows of the source, released and suppressed."""
        best = None if self.outcome is None else self.outcome.best
        suppressed = self.sets.rows if best is None else best.suppressed
        rows = {"source": self.sets.rows, "released": self.sets.rows - suppressed, "suppressed": suppressed}
        if self.sets.persons is not None:
            rows["persons"] = self.sets.persons
        return rows

    def node_dict(self, node: Node) -> dict[str, int]:
        """A node as quasi-identifier -> level."""
        return dict(zip(self.spec.quasi_identifiers, node, strict=True))

    def summary(self) -> SearchSummary:
        """What the search did."""
        if self.outcome is None or self.evaluator is None or self.work is None:
            return SearchSummary(self.spec.search.algorithm, True, "no row to search", 0, 0, 0, ())
        runners_up: list[dict[str, Any]] = [
            {
                "node": self.node_dict(verdict.node),
                self.spec.search.metric: verdict.metric,
                "suppressed": verdict.suppressed,
                "classes": verdict.kept_classes,
            }
            for verdict in self.outcome.solutions
            if verdict.node != self.node
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
        )

    def explained(self) -> tuple[Explained, ...]:
        """What is known about every node of the lattice; nothing if the source has no row to search."""
        if self.outcome is None or self.evaluator is None or self.search is None:
            return ()
        return tuple(explain(self.evaluator.question(), self.search.verdicts, self.outcome))

    def failure(self) -> str:
        """Why no node satisfies, in a sentence."""
        rows, spec = self.sets.rows, self.spec
        limit = spec.suppression.max_rows(rows)
        if rows == 0:
            return "the source has no rows: there is nothing to release"
        if self.hopeless is not None:
            return self.hopeless
        if self.evaluator is None or self.outcome is None:
            return "every row has a NULL quasi-identifier and would go (nulls: suppress): use nulls: value"
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
        return (
            f"no generalization satisfies {wanted}: even at the highest "
            f"levels allowed {verdict.suppressed:,} of {rows_in_words(rows)} violate it, and at most {limit:,} may be "
            "suppressed"
        )


def _named(criterion: str, spec: Spec) -> str:
    """A strategy's criterion with the metric and the preference by their names."""
    prefer = spec.search.prefer.replace("_", " ")
    return (
        criterion.replace("lowest metric", f"lowest {spec.search.metric}")
        .replace("the metric", spec.search.metric)
        .replace("the preference", prefer)
    )


@contextmanager
def searched(
    engine: Engine,
    spec: Spec,
    report: Reporter | None,
    budget: Budget | None = None,
    *,
    explain: bool = False,
    all_minimal: bool = False,
    kept: KeptSets | None = None,
) -> Iterator[Searched]:
    """Build the frequency sets, run the search, and keep the workspace open for what follows.

    Args:
        engine: where the source is.
        spec: what to anonymize and how.
        report: called with each stage in plain words.
        budget: when to end the search early.
        explain: :meth:`Searched.explained` will be asked for: refuse what it cannot list before searching.
        all_minimal: the algorithm ``optimal`` also determines all k-minimal generalizations.
        kept: frequency sets of the search before, to be used if they are the same, and left for the next one.

    Raises:
        UnsupportedError: the spec combines options that cannot hold together.
        SearchTooLarge: the lattice has too many nodes for the algorithm, or to explain them.
        KanonError: whatever the stages raise.
    """
    models = models_of(spec)
    for requirement, model in zip(spec.privacy, models, strict=True):
        if model.reference == "release" and spec.suppression.limit != 0:
            raise UnsupportedError(
                f"{requirement.name}: reference: release depends on which rows are suppressed, which depends on "
                f"{requirement.name}; use reference: original, or a suppression limit of 0"
            )
        refuse_other_classes(model, requirement.name)
    refuse_overlaps(spec, models)
    if spec.search.variant != "basic" and engine.scratch.mode == "inline":
        raise UnsupportedError(
            f"search.variant: {spec.search.variant} stores frequency sets, and the scratch mode 'inline' has no "
            "tables; use the variant basic, or allow scratch tables (temp or schema)"
        )
    if spec.search.of_intervals:
        refuse_what_cuts_break(spec, models)
    with prepared(engine, spec, report) if kept is None else kept.prepared(spec, report) as given:
        workspace, columns, models, sets = given.workspace, given.columns, given.models, given.sets
        reason = out_of_reach(workspace, models, sets, spec.suppression.max_rows(sets.rows))
        if sets.rows == sets.null_rows:
            yield Searched(workspace, spec, columns, models, sets, None, None, None, None, hopeless=reason)
            return
        evaluator = Evaluator(
            workspace,
            sets,
            models,
            METRICS[spec.search.metric],
            spec.search.prefer,
            spec.suppression.max_rows(sets.rows),
            _matrix(workspace, sets, models) if spec.search.matrix else None,
        )
        budget = budget or Budget()
        if spec.search.of_intervals and reason is None:
            begun = Searched(workspace, spec, columns, models, sets, evaluator, None, None, None)
            yield _of_intervals(begun, budget)
            return
        question = evaluator.question()
        if explain and question.lattice.size > MAX_NODES:
            raise SearchTooLarge(
                f"this lattice has {question.lattice.size:,} nodes; at most {MAX_NODES:,} can be explained. Limit the "
                "levels (minimum_level, maximum_level), or do without --explain."
            )
        if reason is not None:
            ask = partial(_prunable, evaluator)
            run = Search(spec.search.algorithm, question, hopeless(question, spec.search.algorithm), ask)
            yield Searched(
                workspace, spec, columns, models, sets, evaluator, run, run.run(), evaluator.work, hopeless=reason
            )
            return
        options = spec.search.options
        if all_minimal and spec.search.algorithm == "optimal":
            options = {**options, "minimal": True}
        run = search(spec.search.algorithm, question, evaluator.answers, **options)
        outcome = _outcome(run, workspace, spec, budget)
        yield Searched(workspace, spec, columns, models, sets, evaluator, run, outcome, evaluator.work)


def _prunable(evaluator: Evaluator, batch: Batch) -> Iterator[Verdict]:
    """The verdicts of a problem that is known to be without hope: no specialization satisfies, either."""
    return (replace(verdict, prunable=True) for verdict in evaluator.answers(batch))


def refuse_other_classes(model: PrivacyModel, name: str) -> None:
    """Refuse a requirement whose classes the search does not count.

    Raises:
        UnsupportedError: they are made by other columns than quasi-identifiers, or take more than sizes of unions.
    """
    if model.search_obstacle is not None:
        raise UnsupportedError(f"{name}: {model.search_obstacle}")
    if model.others:
        raise UnsupportedError(
            f"{name}: others_as_quasi_identifiers: the search counts every sensitive attribute apart from the others, "
            "so it cannot split classes by them, and the others are released as they are; use it with check, "
            "which says whether a release satisfies it"
        )
    refuse_unknown_unions(model, name)


def _matrix(workspace: Workspace, sets: FrequencySets, models: Sequence[PrivacyModel]) -> DistanceMatrix:
    """The distance matrix of a spec that asks for one, hence for k-anonymity alone."""
    workspace.report("computing the matrix of distance vectors", None)
    return DistanceMatrix(workspace, sets, max(model.least_size or 1 for model in models))


def _of_intervals(given: Searched, budget: Budget) -> Searched:
    """Search the partitions of the ordered domains; what was chosen becomes the intervals of a hierarchy."""
    workspace, spec, sets, evaluator = given.workspace, given.spec, given.sets, given.evaluator
    assert evaluator is not None
    ordered = order_domains(workspace, spec, given.columns, sets, most=spec.search.cuts)
    partitions = Partitions(evaluator, ordered)
    question = partitions.question()
    run = Search("k_optimize", question, k_optimize(question, partitions.cuts), partitions.ask)
    outcome = _outcome(run, workspace, spec, budget)
    if ordered.limited:
        outcome = replace(outcome, criterion=f"{outcome.criterion}, at most {spec.search.cuts} candidate cuts each")
    if outcome.best is None:
        return replace(given, search=run, outcome=outcome, work=evaluator.work)
    coded = with_codes(workspace, sets, ordered, partitions.places(Span(*outcome.best.node).head))
    evaluator = Evaluator(
        workspace, coded.sets, given.models, evaluator.metric, spec.search.prefer, spec.suppression.max_rows(sets.rows)
    )
    (best,) = evaluator.verdicts([coded.node], evaluator.metric)
    if not _same(best, outcome.best):
        raise VerificationError(
            "the chosen intervals are not what the search measured; please report this with the engine's version"
        )
    suppressed = evaluator.suppressed_classes(coded.node) if best.suppressed > sets.null_rows else None
    labelled = with_labels(workspace, coded, suppressed, _few(given.models))
    return replace(
        given,
        sets=labelled.sets,
        evaluator=evaluator,
        search=run,
        work=evaluator.work,
        labelled=labelled,
        outcome=replace(outcome, best=best, solutions=()),
    )


def _few(models: Sequence[PrivacyModel]) -> int:
    """Fewer rows or persons than this are few: k, and 2 at least."""
    return max([2, *(model.least_size for model in models if model.least_size is not None)])


def _same(one: Verdict, other: Verdict) -> bool:
    """Whether two ways of measuring a partition agree."""
    counts = [(found.satisfied, found.suppressed, found.classes, found.kept_classes) for found in (one, other)]
    return counts[0] == counts[1] and math.isclose(metric_of(one), metric_of(other), rel_tol=1e-9, abs_tol=1e-9)


def _outcome(run: Search, workspace: Workspace, spec: Spec, budget: Budget) -> Outcome:
    """Run a search to its end or to that of its budget, and say how it goes."""
    what = "partitions" if spec.search.of_intervals else "the lattice"
    stage = f"searching {what} ({spec.search.algorithm})"
    workspace.report(stage, 0)
    started = time.monotonic()

    def progress(found: Progress) -> None:
        workspace.report(stage + _in_words(found, spec.search.metric, time.monotonic() - started), found.evaluated)

    try:
        with budget.limits(workspace.engine):
            return run.run(progress)
    except Stopped as stopped:
        workspace.report("measuring the best generalization so far", None)
        return run.best_so_far(str(stopped))


def _in_words(found: Progress, metric: str, seconds: float) -> str:
    """Such as ``: best loss 0.2931, at most 412 left (3 s)``."""
    parts = [] if found.best is None else [f"best {metric.replace('_', ' ')} {found.best:.4g}"]
    if found.left is not None:
        at_this_pace = seconds * found.left / max(1, found.evaluated)
        parts.append(f"at most {found.left:,} left ({at_this_pace:,.0f} s)")
    return f": {', '.join(parts)}" if parts else ""
