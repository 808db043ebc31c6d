"""The part that ``plan`` and ``anonymize`` share: source -> frequency sets -> search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kanon_sql.engines.base import Column, Engine
from kanon_sql.errors import UnsupportedError
from kanon_sql.evaluate import Evaluator
from kanon_sql.frequency import FrequencySets, build_frequency_sets, source_columns
from kanon_sql.lattice import Node
from kanon_sql.pipeline.result import SearchSummary
from kanon_sql.privacy import KAnonymityModel, PrivacyModel, TCloseness, model_of
from kanon_sql.quality import METRICS
from kanon_sql.search import STRATEGIES, Batch, Outcome, run
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
        outcome: None when the source has no row to search.
    """

    workspace: Workspace
    spec: Spec
    columns: Mapping[str, Column]
    models: list[PrivacyModel]
    sets: FrequencySets
    evaluator: Evaluator | None
    outcome: Outcome | None

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
        if self.outcome is None or self.evaluator is None:
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
        )

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
        top = self.evaluator.question().lattice.top
        (verdict,) = self.evaluator.ask(Batch((top,)))
        return (
            f"no generalization satisfies {', '.join(model.label for model in self.models)}: even at the highest "
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
def searched(engine: Engine, spec: Spec, report: Reporter | None) -> Iterator[Searched]:
    """Build the frequency sets, run the search, and keep the workspace open for what follows.

    Raises:
        UnsupportedError: the spec combines options that cannot hold together.
        KanonError: whatever the stages raise.
    """
    models = [model_of(requirement) for requirement in spec.privacy]
    for model in models:
        if isinstance(model, TCloseness) and model.reference == "release" and spec.suppression.limit != 0:
            raise UnsupportedError(
                "t_closeness: reference: release depends on which rows are suppressed, which depends on "
                "t_closeness; use reference: original, or a suppression limit of 0"
            )
    relation = source_of(engine, spec)
    with open_workspace(engine, relation, report) as workspace:
        columns = source_columns(workspace, spec, relation)
        attributes = list(dict.fromkeys(model.attribute for model in models if model.attribute is not None))
        sets = build_frequency_sets(workspace, spec, columns, attributes)
        if sets.rows == sets.null_rows:
            yield Searched(workspace, spec, columns, models, sets, None, None)
            return
        evaluator = Evaluator(
            workspace,
            sets,
            models,
            METRICS[spec.search.metric],
            spec.search.prefer,
            spec.suppression.max_rows(sets.rows),
        )
        stage = f"searching the lattice ({spec.search.algorithm})"
        workspace.report(stage, 0)
        strategy = STRATEGIES[spec.search.algorithm](evaluator.question())
        outcome = run(strategy, evaluator.ask, lambda nodes: workspace.report(stage, nodes))
        yield Searched(workspace, spec, columns, models, sets, evaluator, outcome)
