"""``anonymize`` for ``differential_privacy``: spend the budget, choose levels, draw, write, verify, publish."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql.engines import open_workspace
from kanon_sql.errors import SpecError
from kanon_sql.evaluate import Evaluator, Rows, SearchSummary, rows_in_words
from kanon_sql.frequency import Prepared, prepared, source_of
from kanon_sql.models import metric_for, models_of
from kanon_sql.release import (
    Choice,
    Entry,
    Sampling,
    Score,
    WrittenTable,
    addition_of_rows,
    budgets,
    choose_levels,
    draw,
    expected_size,
    lattice_to_choose_from,
    operating_system,
    publish,
    refuse_exceeded_budget,
    refuse_other_release,
    sampling_for,
    score_for,
    spend,
    staged_release,
)
from kanon_sql.search import Node
from kanon_sql.spec import DifferentialPrivacyRequirement, KAnonymityRequirement, Spec, Suppression
from kanon_sql.verbs.manifest_builder import manifest_frame
from kanon_sql.verbs.preflight import Options
from kanon_sql.verbs.result import DifferentialPrivacySummary, Release, names_for_manifest
from kanon_sql.verbs.run import Run
from kanon_sql.verbs.steps import notes_of_steps, steps_dict

__all__ = ["privately_released"]

_NOT_COVERED = (
    "the guarantee covers only the published table, not the figures of this result, such as the number of rows of the "
    "source and of dropped rows; pass on the manifest or the ledger, which do not hold them, and not this result"
)


@dataclass(frozen=True)
class _Run:
    """One release under way.

    Attributes:
        spec: what was asked for.
        requirement: its only requirement.
        sampling: the probability and k.
        entries: what its ledger held.
        given: the frequency sets, and where they are.
        run: the run of the engine.
    """

    spec: Spec
    requirement: DifferentialPrivacyRequirement
    sampling: Sampling
    entries: tuple[Entry, ...]
    given: Prepared
    run: Run

    def facts(self) -> DifferentialPrivacySummary:
        """What results and manifests say of the guarantee; none of it depends on the rows."""
        assert self.spec.ledger is not None
        spent, total = budgets(self.entries, self.requirement)
        return {
            "epsilon": self.requirement.epsilon,
            "delta": self.requirement.delta,
            "epsilon_of_search": float(self.requirement.of_search),
            "score": None if self.requirement.search is None else self.requirement.search.score,
            "sampling": float(self.sampling.probability),
            "k": self.sampling.k,
            "protects": "rows",
            "randomness": "operating system",
            "ledger": ".".join(self.spec.ledger.table),
            "spent": {"epsilon": float(spent[0]), "delta": float(spent[1])},
            "total": {"epsilon": float(total[0]), "delta": float(total[1])},
        }


def privately_released(opened: Run, spec: Spec, options: Options) -> Release:
    """Publish a differentially private release, or publish nothing.

    Args:
        opened: the run.
        spec: what to anonymize and how.
        options: nothing of it goes with such a release.

    Raises:
        SpecError: the ledger's budget is spent, or the sampling probability is too large.
        KanonError: whatever the stages raise.
    """
    requirement = spec.differential_privacy
    assert requirement is not None
    sampling = sampling_for(
        requirement.spends[0] - requirement.of_search, requirement.spends[1], requirement.asked_sampling
    )
    engine = opened.engine
    with open_workspace(engine, source_of(engine, spec)) as workspace, engine.transaction():
        refuse_other_release(workspace, spec)
        entries = refuse_exceeded_budget(workspace, spec, requirement)
    least = sampling.k if requirement.search is None else expected_size(sampling)
    counted = _with_classes_of(spec, least)
    with prepared(engine, counted, models_of(counted)) as given:
        if not given.sets.rows:
            raise SpecError("the source has no rows; give a table that has some")
        evaluator = Evaluator(
            given.workspace, given.sets, given.models, metric_for(counted), counted.search.prefer, given.sets.rows
        )
        levels = _fixed(requirement, given)
        score = None if requirement.search is None else score_for(requirement.search, given.sets)
        lattice = None if levels is not None else lattice_to_choose_from(evaluator)
        run = _Run(spec, requirement, sampling, entries, given, opened)
        spend(given.workspace, addition_of_rows(given.workspace, spec, requirement, given.sets, entries))
        search = None
        if lattice is not None and score is not None:
            levels = choose_levels(evaluator, lattice, score, requirement.of_search, sampling, operating_system)
            search = _summary(evaluator, score, lattice.size)
        assert levels is not None
        return _released(run, evaluator, levels, search)


def _with_classes_of(spec: Spec, least: int) -> Spec:
    """The spec of a table in which classes of this many rows are kept, however many others there are."""
    return spec.model_copy(
        update={
            "privacy": (KAnonymityRequirement(k=least),),
            "suppression": Suppression(max_share=1.0),
            "ledger": None,
        }
    )


def _fixed(requirement: DifferentialPrivacyRequirement, given: Prepared) -> Node | None:
    """The levels that the spec fixes; None where they are searched.

    Raises:
        SpecError: one is above its hierarchy's top, which only the hierarchy's file tells.
    """
    if requirement.generalization is None:
        return None
    for lookup in given.sets.lookups:
        if requirement.generalization[lookup.name] > lookup.height:
            raise SpecError(
                f"privacy: differential_privacy: generalization.{lookup.name}: the top of the hierarchy is level "
                f"{lookup.height}; lower the level"
            )
    return tuple(requirement.generalization[lookup.name] for lookup in given.sets.lookups)


def _summary(evaluator: Evaluator, score: Score, nodes: int) -> SearchSummary:
    """What the search did."""
    return SearchSummary(
        algorithm="exponential_mechanism",
        proven=False,
        criterion=score.says,
        nodes_total=nodes,
        nodes_evaluated=nodes,
        nodes_inferred=0,
        minimal=None,
        frequency_sets=evaluator.work.frequency_sets,
        base_reads=evaluator.work.base_reads,
    )


def _released(run: _Run, evaluator: Evaluator, levels: Node, search: SearchSummary | None) -> Release:
    """Draw, write, verify and publish."""
    given = run.given
    drawn = draw(given.workspace, evaluator, levels, run.sampling, operating_system)
    rows: Rows = {"source": given.sets.rows, "released": drawn.rows, "suppressed": given.sets.rows - drawn.rows}
    node = dict(zip(run.spec.quasi_identifiers, levels, strict=True))
    if not drawn.rows:
        message = (
            f"nothing was published: no class has {run.sampling.k} drawn rows, which {run.requirement.notation} takes; "
            "the privacy budget of the run stays spent. Choose higher levels, or a larger epsilon or delta"
        )
        return _result(run, "fail", message, rows, node, search)
    kept = _with_classes_of(run.spec, run.sampling.k)
    choice = Choice(
        spec=kept,
        columns=given.columns,
        sets=given.sets,
        models=models_of(kept),
        node=levels,
        suppressed=None,
        suppressed_rows=rows["suppressed"],
        vectors=None,
        drawn=drawn,
    )
    with staged_release(given.workspace, choice) as written:
        message = (
            f"published {rows_in_words(drawn.rows)}, a random sample in classes of {run.sampling.k} or more: "
            f"the mechanism satisfies {run.requirement.notation}"
        )
        result = _result(run, "pass", message, rows, node, search, written)
        manifest = _manifest(run, result)
        publish(given.workspace, run.spec, written.table, manifest)
    return replace(result, manifest=manifest)


def _result(
    run: _Run,
    verdict: Any,
    message: str,
    rows: Rows,
    node: Mapping[str, int],
    search: SearchSummary | None,
    written: WrittenTable | None = None,
) -> Release:
    """The result; what it says of classes is of the written table."""
    assert run.spec.release is not None
    steps = steps_dict(run.given.workspace.engine, run.spec, rows["source"])  # without a sample: none of the rows
    examined = None if written is None else written.examination
    return Release(
        verdict=verdict,
        message=message,
        release=".".join(run.spec.release),
        node=node,
        rows=rows,
        classes={} if examined is None else examined.classes_dict(),
        class_sizes=[] if examined is None else examined.sizes,
        achieved={} if examined is None else examined.achieved_dict(),
        metrics={},
        search=search,
        cost=run.run.cost,
        notes=[*run.given.workspace.engine.read_notes, _NOT_COVERED, *notes_of_steps(steps)],
        steps=steps,
        differential_privacy=run.facts(),
        level_names={lookup.name: lookup.level_names for lookup in run.given.sets.lookups},
    )


def _manifest(run: _Run, result: Release) -> dict[str, Any]:
    """What was published and how: the spec, and what can be read from the published table itself.

    No figure of the source is in it: not its rows, nor the time and the statements of the run.
    """
    steps = result.to_dict()["steps"]
    return manifest_frame(
        run.spec,
        run.given.workspace,
        result,
        level_names=names_for_manifest(run.spec, result.level_names or {}),
        rows={"released": result.rows["released"]},
        steps=steps,
        notes=notes_of_steps(steps),
        differential_privacy=run.facts(),
    )
