"""The part that ``plan`` and ``anonymize`` share: source -> frequency sets -> search."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kanon_sql.engines.base import Column, Engine
from kanon_sql.errors import SearchTooLarge, UnsupportedError
from kanon_sql.evaluate import Evaluator, Work
from kanon_sql.frequency import FrequencySets, build_frequency_sets, source_columns
from kanon_sql.lattice import Node
from kanon_sql.matrix import DistanceMatrix
from kanon_sql.pipeline.budget import Budget
from kanon_sql.pipeline.result import SearchSummary
from kanon_sql.population import populations_of
from kanon_sql.privacy import KAnonymityModel, PrivacyModel, TCloseness, model_of
from kanon_sql.quality import METRICS
from kanon_sql.search import MAX_NODES, Batch, Explained, Outcome, Progress, Search, Stopped, explain, search
from kanon_sql.spec import Spec
from kanon_sql.workspace import Reporter, Workspace, open_workspace

__all__ = ["Searched", "searched", "source_of"]

RUNNERS_UP = 5


@dataclass(frozen=True)
class Searched:
    """Everything that is known once the search is over.

    Attributes:
        workspace: still open; its scratch tables exist.
        columns: the source's columns by name.
        models: the requirements.
        sets: the frequency sets.
        evaluator: None when the source has no row to search.
        search: every answer that led to the outcome; None when the source has no row to search.
        outcome: None when the source has no row to search.
        work: what the search took; None when the source has no row to search.
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
        if self.sets.null_rows:
            notes.append(
                f"{rows_in_words(self.sets.null_rows)} with a NULL quasi-identifier suppressed (nulls: suppress)"
            )
        return notes

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
            nodes_total=self.evaluator.question().lattice.size,
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
        largest_k = max((model.k for model in self.models if isinstance(model, KAnonymityModel)), default=1)
        protected = rows if self.sets.persons is None else self.sets.persons
        if protected < largest_k:
            what = "rows" if self.sets.persons is None else "persons"
            return f"the source has {protected:,} {what}, fewer than k = {largest_k}: nothing can be released"
        if self.sets.null_rows > limit:
            return (
                f"{rows_in_words(self.sets.null_rows)} with a NULL quasi-identifier would go (nulls: suppress), "
                f"but the suppression limit is {rows_in_words(limit)}: raise the limit or use nulls: value"
            )
        assert self.evaluator is not None
        assert self.outcome is not None
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


def rows_in_words(count: int) -> str:
    """``1 row``, ``2,300 rows``."""
    return f"{count:,} row{'' if count == 1 else 's'}"


def source_of(engine: Engine, spec: Spec) -> str:
    """The FROM form of the spec's source."""
    file = None if spec.source.file is None else str(spec.resolve(spec.source.file))
    return engine.relation(table=spec.source.table, query=spec.source.query, file=file)


@contextmanager
def searched(
    engine: Engine,
    spec: Spec,
    report: Reporter | None,
    budget: Budget | None = None,
    *,
    explain: bool = False,
    all_minimal: bool = False,
) -> Iterator[Searched]:
    """Build the frequency sets, run the search, and keep the workspace open for what follows.

    Args:
        engine: where the source is.
        spec: what to anonymize and how.
        report: called with each stage in plain words.
        budget: when to end the search early.
        explain: :meth:`Searched.explained` will be asked for: refuse what it cannot list before searching.
        all_minimal: the algorithm ``optimal`` also determines all k-minimal generalizations.

    Raises:
        UnsupportedError: the spec combines options that cannot hold together.
        SearchTooLarge: the lattice has too many nodes for the algorithm, or to explain them.
        KanonError: whatever the stages raise.
    """
    models = [model_of(requirement) for requirement in spec.privacy]
    for model in models:
        if isinstance(model, TCloseness) and model.reference == "release" and spec.suppression.limit != 0:
            raise UnsupportedError(
                "t_closeness: reference: release depends on which rows are suppressed, which depends on "
                "t_closeness; use reference: original, or a suppression limit of 0"
            )
    if spec.search.variant != "basic" and engine.scratch.mode == "inline":
        raise UnsupportedError(
            f"search.variant: {spec.search.variant} stores frequency sets, and the scratch mode 'inline' has no "
            "tables: use the variant basic, or allow scratch tables (temp or schema)"
        )
    relation = source_of(engine, spec)
    with open_workspace(engine, relation, report) as workspace:
        columns = source_columns(workspace, spec, relation)
        attributes = list(dict.fromkeys(model.attribute for model in models if model.attribute is not None))
        populations = populations_of(workspace, spec, models, columns)
        sets = build_frequency_sets(workspace, spec, columns, attributes, populations)
        if sets.rows == sets.null_rows:
            yield Searched(workspace, spec, columns, models, sets, None, None, None, None)
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
        question = evaluator.question()
        if explain and question.lattice.size > MAX_NODES:
            raise SearchTooLarge(
                f"this lattice has {question.lattice.size:,} nodes; at most {MAX_NODES:,} can be explained. Limit the "
                "levels (min / max per quasi-identifier), or do without --explain."
            )
        options = spec.search.options
        if all_minimal and spec.search.algorithm == "optimal":
            options = {**options, "minimal": True}
        run = search(spec.search.algorithm, question, evaluator.answers, **options)
        outcome = _outcome(run, workspace, spec, budget or Budget())
        yield Searched(workspace, spec, columns, models, sets, evaluator, run, outcome, evaluator.work)


def _matrix(workspace: Workspace, sets: FrequencySets, models: Sequence[PrivacyModel]) -> DistanceMatrix:
    """The distance matrix of a spec that asks for one, hence for k-anonymity alone."""
    workspace.report("computing the matrix of distance vectors", None)
    return DistanceMatrix(workspace, sets, max(model.k for model in models if isinstance(model, KAnonymityModel)))


def _outcome(run: Search, workspace: Workspace, spec: Spec, budget: Budget) -> Outcome:
    """Run a search to its end or to that of its budget, and say how it goes."""
    stage = f"searching the lattice ({spec.search.algorithm})"
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
