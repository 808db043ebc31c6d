"""``tabulate`` with noise: bound what each person contributes, spend the budget, draw, add up, write, publish."""

from __future__ import annotations

from dataclasses import replace

from kanon_sql.engines import Engine, Reporter, open_workspace
from kanon_sql.errors import counted
from kanon_sql.frequency import source_of
from kanon_sql.release import (
    Entry,
    NoisePlan,
    SpentOnNoise,
    addition_of_table,
    budgets,
    is_perturbed,
    refuse_exceeded_budget,
    refuse_foreign_release,
    spend,
)
from kanon_sql.spec import TableSpec
from kanon_sql.tables import ProtectedTable, bounded_cells, noisy, plan_of, publish_table
from kanon_sql.verbs.result import Cost
from kanon_sql.verbs.run import running
from kanon_sql.verbs.tabulate import (
    PERTURBED_SOURCE,
    NoiseSummary,
    Tabulation,
    manifest_summary,
    names_of_levels,
    published_cells,
)
from kanon_sql.verbs.warnings import failed_by, named_like_identifiers

__all__ = ["noisy_tabulation"]

_NOT_COVERED = (
    "the guarantee covers the table, its manifest and the ledger, not the cost of this run: how many cells were "
    "fetched, and how long that took, depends on the rows"
)


def noisy_tabulation(
    engine: Engine, spec: TableSpec, *, timeout: float | None, report: Reporter | None, fail_on_warning: bool
) -> Tabulation:
    """Publish a table with noise, or publish nothing.

    Whatever stops the run because of the rows comes before the budget is spent, and the draw after it.

    Args:
        engine: with the right to write.
        spec: what to tabulate, and the budget.
        timeout: seconds for the whole run; None for no limit.
        report: called with each stage in plain words.
        fail_on_warning: the verdict is ``fail``, and nothing is published, where there is a warning.

    Raises:
        SpecError: the ledger's budget is spent, or whatever ``tabulate`` refuses.
        KanonError: whatever the stages raise.
    """
    assert spec.protection.noise is not None
    plan = plan_of(spec)
    spent = SpentOnNoise((plan.epsilon, plan.delta), spec.protection.noise.may_spend)
    warned = named_like_identifiers(spec, list(spec.dimensions))
    with running(engine, timeout, report, publishes=spec) as run:
        with open_workspace(engine, source_of(engine, spec)) as workspace:
            with engine.transaction():
                refuse_foreign_release(workspace, spec)
                entries = refuse_exceeded_budget(workspace, spec, spent)
            truthful = spec.source.table is None or not is_perturbed(engine, spec.source.table)
            facts = _facts(spec, plan, spent, entries)
            why = failed_by(spec, warned, on_any=fail_on_warning)
            if why is not None:
                return run.closed(replace(_result(spec, None, why, facts), warnings=warned))
            cells = bounded_cells(workspace, spec)
            spend(workspace, addition_of_table(workspace, spec, spent, entries))
            workspace.report("drawing the noise", None)
            found = noisy(spec, cells, plan)
            notes = [*engine.read_notes, *_notes(spec, plan), _NOT_COVERED]
            result = replace(_result(spec, found, _failure(found), facts), notes=notes, warnings=warned)
            if not truthful:
                result = replace(result, truthful=False, message=result.message + PERTURBED_SOURCE)
            if result.passed:
                publish_table(workspace, spec, spec, found, manifest_summary(result), truthful=truthful)
        return run.closed(result)


def _facts(spec: TableSpec, plan: NoisePlan, spent: SpentOnNoise, entries: tuple[Entry, ...]) -> NoiseSummary:
    """What results and manifests say of the noise."""
    noise = spec.protection.noise
    assert noise is not None
    assert spec.ledger is not None
    used, total = budgets(entries, spent)
    scale = float(plan.values.parameter)
    return {
        "epsilon": float(plan.epsilon),
        "delta": float(plan.delta),
        "protects": spec.unit,
        "contributions": noise.contributions,
        "bounds": noise.bounds,
        "distribution": plan.values.name,
        "scale": scale**0.5 if plan.values.gaussian else scale,
        "standard_deviation": plan.values.deviation(1),
        "error": plan.values.within(1),
        "cells": "declared" if plan.threshold is None else "threshold",
        "threshold": plan.threshold,
        "nonnegative": noise.nonnegative,
        "randomness": "operating system",
        "ledger": ".".join(spec.ledger.table),
        "spent": {"epsilon": float(used[0]), "delta": float(used[1])},
        "total": {"epsilon": float(total[0]), "delta": float(total[1])},
    }


def _failure(found: ProtectedTable) -> str | None:
    """Why a table is not published whose budget is spent; None if it is."""
    return None if found.failure is None else f"{found.failure}; the privacy budget of the run stays spent"


def _result(spec: TableSpec, found: ProtectedTable | None, failure: str | None, facts: NoiseSummary) -> Tabulation:
    assert spec.release is not None
    passed = failure is None
    total = 0 if found is None else len(found.values)
    guarantee = f"({facts['epsilon']:g}, {facts['delta']:g})-differential privacy"
    message = f"published {counted(total, 'cell')} with noise: the mechanism satisfies {guarantee}"
    if not passed:
        message = f"nothing was published: {failure}"
    return Tabulation(
        verdict="pass" if passed else "fail",
        message=message,
        release=".".join(spec.release) if passed else None,
        measured=spec.measured,
        method="noise",
        dimensions=list(spec.dimensions),
        levels=[item.levels for item in spec.dimensions.values()],
        level_names=[names_of_levels(item) for item in spec.dimensions.values()],
        hierarchies=[[] for _ in spec.dimensions],
        rows=None,
        noise=facts,
        cells={"total": total, "sensitive": 0, "suppressed": 0},
        table=published_cells(spec, found) if found is not None and passed else (),
        cost=Cost(),
    )


def _notes(spec: TableSpec, plan: NoisePlan) -> list[str]:
    """What a reader of the table must know; the same whatever the rows are."""
    noise = spec.protection.noise
    assert noise is not None
    notes = []
    if spec.unit is not None:
        notes.append(
            f"rows without a {spec.unit} are left out, and each one counts in {counted(noise.contributions, 'cell')} "
            "at most, or with as many rows where rows are counted, and in margins once for each of these; the error "
            "does not cover what that leaves out"
        )
    if any(item.declared for item in spec.dimensions.values()):
        notes.append("rows with a value that is not declared, NULL among them, are in no cell")
    if plan.threshold is not None:
        notes.append(
            f"cells of fewer than {plan.threshold} noisy contributions are not published, and their rows are in no "
            "margin"
        )
    if noise.nonnegative:
        notes.append("negative values are published as 0, which makes margins too large")
    return notes
