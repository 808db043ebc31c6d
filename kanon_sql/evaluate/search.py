"""The part that ``plan`` and ``anonymize`` share: source -> frequency sets -> search -> its outcome."""

from __future__ import annotations

import math
import time
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from kanon_sql.engines import Engine, Workspace
from kanon_sql.errors import Obstacle, SearchTooLarge, VerificationError, refuse
from kanon_sql.evaluate.budget import Budget
from kanon_sql.evaluate.class_unions import combination_obstacles, overlap_obstacles, union_obstacles
from kanon_sql.evaluate.distance_vectors import DistanceMatrix
from kanon_sql.evaluate.evaluator import Evaluator
from kanon_sql.evaluate.outcome import Chosen, NothingFound, NothingToSearch, few
from kanon_sql.evaluate.partitions.evaluator import Partitions, cut_obstacles
from kanon_sql.evaluate.partitions.hierarchy import with_codes, with_labels
from kanon_sql.evaluate.partitions.order import order_domains
from kanon_sql.evaluate.reach import out_of_reach
from kanon_sql.frequency import FrequencySets, Prepared, SetCache, prepared
from kanon_sql.models import PrivacyModel, metric_for, models_of
from kanon_sql.search import (
    MAX_NODES,
    Batch,
    Node,
    Outcome,
    Progress,
    Search,
    Span,
    Stopped,
    Verdict,
    infeasible,
    k_optimize,
    metric_of,
    search,
)
from kanon_sql.spec import Spec

__all__ = ["class_obstacles", "search_in", "search_obstacles", "searched", "searched_again"]


@contextmanager
def searched(
    engine: Engine,
    spec: Spec,
    budget: Budget | None = None,
    *,
    explain: bool = False,
    all_minimal: bool = False,
    kept: SetCache | None = None,
) -> Iterator[NothingToSearch | NothingFound | Chosen]:
    """Build the frequency sets, run the search, and keep the workspace open for what follows.

    Args:
        engine: where the source is.
        spec: what to anonymize and how.
        budget: when to end the search early.
        explain: the outcome's ``explained`` will be asked for: refuse what it cannot list before searching.
        all_minimal: the algorithm ``optimal`` also determines all k-minimal generalizations.
        kept: frequency sets of the search before, to be used if they are the same, and left for the next one.

    Raises:
        UnsupportedError: the spec combines options that cannot hold together.
        SearchTooLarge: the lattice has too many nodes for the algorithm, or to explain them.
        KanonError: whatever the stages raise.
    """
    models = models_of(spec)
    refuse(search_obstacles(engine, spec, models))
    made = prepared(engine, spec, models) if kept is None else kept.prepared(spec, models)
    with made as given:
        yield search_in(given, spec, budget or Budget(), explain=explain, all_minimal=all_minimal)


def search_in(
    given: Prepared, spec: Spec, budget: Budget, *, explain: bool = False, all_minimal: bool = False
) -> NothingToSearch | NothingFound | Chosen:
    """Search frequency sets that are built; what is raised is as in :func:`searched`.

    Args:
        given: the frequency sets.
        spec: what to anonymize and how.
        budget: when to end the search early.
        explain: the outcome's ``explained`` will be asked for.
        all_minimal: the algorithm ``optimal`` also determines all k-minimal generalizations.
    """
    reason = out_of_reach(given)
    if given.sets.rows == given.sets.null_rows:
        return NothingToSearch(spec, given, reason)
    evaluator = _evaluator(given, given.sets, spec)
    if spec.search.of_intervals and reason is None:
        return _of_intervals(spec, given, evaluator, budget)
    question = evaluator.question()
    if explain and question.lattice.size > MAX_NODES:
        raise SearchTooLarge(
            f"this lattice has {question.lattice.size:,} nodes; at most {MAX_NODES:,} can be explained. Limit the "
            "levels (minimum_level, maximum_level), or do without --show nodes."
        )
    if reason is not None:
        ask = partial(_prunable, evaluator)
        run = Search(spec.search.algorithm, question, infeasible(question, spec.search.algorithm), ask)
        return NothingFound(spec, given, evaluator, run, run.run(), evaluator.work, reason)
    options = spec.search.options
    if all_minimal and spec.search.algorithm == "optimal":
        options = {**options, "minimal": True}
    run = search(spec.search.algorithm, question, evaluator.answers, **options)
    outcome = _outcome(run, given.workspace, spec, budget)
    answered = (spec, given, evaluator, run, outcome, evaluator.work)
    if outcome.best is None:
        return NothingFound(*answered, lists_minimal=all_minimal)
    return Chosen(*answered, outcome.best, lists_minimal=all_minimal)


def searched_again(
    found: Chosen, refused: Container[Node], criterion: str, budget: Budget | None = None
) -> NothingFound | Chosen:
    """The best node but for those that turned out not to do, by what was asked already and what is missing.

    The strategy is ``optimal``, whatever the first one was: it proves its answer without taking the generalizations of
    a node that does for nodes that do.

    Args:
        found: the search before, in whose workspace this one runs.
        refused: the nodes that will not do although they satisfy the requirements.
        criterion: what the others have in common, to be added to what the outcome says.
        budget: when to end this search early.

    Raises:
        SearchTooLarge: the lattice has too many nodes for ``optimal``.
    """
    evaluator, known = found.evaluator, found.search.verdicts

    def ask(batch: Batch) -> Iterator[Verdict]:
        cached = [node for node in batch.nodes if node in known and not (batch.metrics and known[node].metric is None)]
        missing = tuple(node for node in batch.nodes if node not in set(cached))
        answers = evaluator.answers(replace(batch, nodes=missing)) if missing else ()
        for verdict in (*(known[node] for node in cached), *answers):
            yield replace(verdict, satisfied=False) if verdict.node in refused else verdict

    run = search("optimal", replace(evaluator.question(), monotone=False), ask)
    outcome = _outcome(run, found.workspace, found.spec, budget or Budget())
    outcome = replace(outcome, criterion=f"{outcome.criterion}, {criterion}")
    answered = (found.spec, found.prepared, evaluator, run, outcome, evaluator.work)
    return NothingFound(*answered) if outcome.best is None else Chosen(*answered, outcome.best)


def search_obstacles(engine: Engine, spec: Spec, models: Sequence[PrivacyModel]) -> Iterator[Obstacle]:
    """What cannot hold together in a search, or in a recoding.

    Args:
        engine: where the source is.
        spec: what was asked.
        models: its requirements.
    """
    for requirement, model in zip(spec.privacy, models, strict=True):
        if model.reference == "release" and spec.suppression.allows_some:
            yield Obstacle(
                f"{requirement.name}: reference: release depends on which rows are suppressed, which depends on "
                f"{requirement.name}; use reference: original, or a suppression limit of 0"
            )
        yield from class_obstacles(model, requirement.name)
        if model.is_estimate and spec.recoding.method != "full_domain":
            yield Obstacle(
                f"{model.label}: recoding: {spec.recoding.method} makes classes that satisfy it in the source, so that "
                "they say little of what is estimated; use recoding: full_domain"
            )
    yield from overlap_obstacles(spec, models)
    yield from combination_obstacles(spec, models, rounds=engine.scratch.mode != "inline")
    if spec.search.variant != "basic" and engine.scratch.mode == "inline":
        yield Obstacle(
            f"search.variant: {spec.search.variant} stores frequency sets, and the scratch mode 'inline' has no "
            "tables; use the variant basic, or allow scratch tables (temp or schema)"
        )
    if spec.search.distance_vectors and engine.scratch.mode == "inline":
        yield Obstacle(
            "search.distance_vectors needs a scratch table, and the scratch mode 'inline' has none: every question "
            "would compute the matrix again; remove search.distance_vectors, or allow scratch tables (temp or schema)"
        )
    if spec.search.of_intervals:
        yield from cut_obstacles(spec, models)


def _evaluator(given: Prepared, sets: FrequencySets, spec: Spec, *, matrix: bool = True) -> Evaluator:
    """The evaluator of some frequency sets under a spec's metric, preference and limit."""
    found = None
    if matrix and spec.search.distance_vectors:  # hence for k-anonymity alone
        given.workspace.report("computing the matrix of distance vectors", None)
        found = DistanceMatrix(given.workspace, sets, max(model.least_size or 1 for model in given.models))
    limit, metric = given.max_suppressed, metric_for(spec)
    remembered = given.remembered.under(given.models, may_suppress=limit > 0) if sets is given.sets else None
    return Evaluator(given.workspace, sets, given.models, metric, spec.search.prefer, limit, found, remembered)


def _prunable(evaluator: Evaluator, batch: Batch) -> Iterator[Verdict]:
    """The verdicts where it is known that no node satisfies: no specialization does, either."""
    return (replace(verdict, prunable=True) for verdict in evaluator.answers(batch))


def class_obstacles(model: PrivacyModel, name: str) -> Iterator[Obstacle]:
    """A requirement that the search cannot judge: on unions of classes by more than size, or on parts of all."""
    if model.search_obstacle is not None:
        yield Obstacle(f"{name}: {model.search_obstacle}")
    if model.others and (model.attribute is None or model.among_classes or model.of_table or model.uses_label_width):
        yield Obstacle(
            f"{name}: others_as_quasi_identifiers: a search judges each part of a class by the values of one sensitive "
            "attribute alone; use it with check"
        )
    yield from union_obstacles(model, name)


def _of_intervals(spec: Spec, given: Prepared, asked: Evaluator, budget: Budget) -> NothingFound | Chosen:
    """Search the partitions of the ordered domains; what was chosen becomes the intervals of a hierarchy."""
    workspace, sets = given.workspace, given.sets
    ordered = order_domains(workspace, spec, given.columns, sets, most=spec.search.cuts)
    partitions = Partitions(asked, ordered)
    question = partitions.question()
    run = Search("k_optimize", question, k_optimize(question, partitions.cuts, partitions.cost), partitions.ask)
    outcome = _outcome(run, workspace, spec, budget)
    if ordered.limited:
        outcome = replace(outcome, criterion=f"{outcome.criterion}, at most {spec.search.cuts} candidate cuts each")
    if outcome.best is None:
        return NothingFound(spec, given, asked, run, outcome, asked.work)
    coded = with_codes(workspace, sets, ordered, partitions.places(Span(*outcome.best.node).head))
    evaluator = _evaluator(given, coded.sets, spec, matrix=False)
    (best,) = evaluator.verdicts([coded.node], evaluator.metric)
    if not _same(best, outcome.best):
        raise VerificationError(
            "the chosen intervals are not what the search measured; please report this with the engine's version"
        )
    suppressed = evaluator.suppressed_classes(coded.node) if best.suppressed > sets.null_rows else None
    labelled = with_labels(workspace, coded, suppressed, few(given.models))
    outcome = replace(outcome, best=best, solutions=())
    return Chosen(spec, given, evaluator, run, outcome, evaluator.work, best, labelled)


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
        words = _in_words(found, spec.search.metric_label, time.monotonic() - started)
        workspace.report(stage + words, found.evaluated)

    try:
        with budget.limits(workspace.engine):
            found = run.run(progress)
    except Stopped as stopped:
        workspace.report("measuring the best generalization so far", None)
        found = run.best_so_far(str(stopped))
    chosen = [name for name, column in spec.quasi_identifiers.items() if column.parents == "several"]
    if not chosen:
        return found
    return replace(found, criterion=f"{found.criterion}, with the parents chosen for {', '.join(chosen)}")


def _in_words(found: Progress, metric: str, seconds: float) -> str:
    """Such as ``: best loss 0.2931, at most 412 left (3 s)``."""
    parts = [] if found.best is None else [f"best {metric.replace('_', ' ')} {found.best:.4g}"]
    if found.left is not None:
        at_this_pace = seconds * found.left / max(1, found.evaluated)
        parts.append(f"at most {found.left:,} left ({at_this_pace:,.0f} s)")
    return f": {', '.join(parts)}" if parts else ""
