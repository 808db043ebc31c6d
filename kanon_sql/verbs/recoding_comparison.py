"""What a recoding loses: in notes, against a bound, and compared with another of the same frequency sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kanon_sql.engines import Engine
from kanon_sql.errors import UnsupportedError
from kanon_sql.evaluate import Budget, Chosen, NothingFound, NothingToSearch, searched
from kanon_sql.frequency import SetCache
from kanon_sql.models import models_of
from kanon_sql.recode import RecodingResult, recoded
from kanon_sql.spec import RecodingOptions, Spec, parse_recoding, recoding_faults
from kanon_sql.verbs.result import OtherRecoding, Plan

__all__ = ["QUICK", "is_quick", "may_be_quick", "mean_loss_of", "notes_of_local", "with_another", "with_bound"]

QUICK = "quick"
"""Asked for with a full-domain plan: local recoding where that takes about a second, and nothing where it may not."""


def may_be_quick(engine: Engine, spec: Spec) -> bool:
    """Whether local recoding beside a full-domain plan is possible, and quick if there are few vectors.

    Args:
        engine: where the source is.
        spec: what is planned.
    """
    local = spec.model_copy(update={"recoding": parse_recoding("local")})
    return (
        spec.recoding.is_full_domain
        and engine.capabilities.quick_vectors > 0
        and engine.scratch.mode != "inline"
        and all(model.judges_size for model in models_of(spec))
        and not list(recoding_faults(local))
    )


def is_quick(engine: Engine, found: Chosen) -> bool:
    """Whether local recoding takes about a second, given what a plan found.

    Args:
        engine: where the frequency sets are.
        found: the node that was chosen.
    """
    return found.outcome.stopped is None and found.evaluator.vectors <= engine.capabilities.quick_vectors


def with_another(
    engine: Engine,
    spec: Spec,
    other: RecodingOptions,
    result: Plan,
    budget: Budget | None,
    kept: SetCache | None,
) -> Plan:
    """The result of a plan, and what another recoding loses; its verdict and its figures stay as they are.

    Args:
        engine: where the source is.
        spec: what was planned.
        other: the recoding to put in place of the spec's.
        result: of the plan; one that failed has nothing to be compared with, and is returned as it is.
        budget: when to end the other recoding early.
        kept: the frequency sets of the plan.
    """
    if result.mean_loss is None:
        if result.recoding is None:
            return result
        why = "the loss of aggregated numbers is a share of squares, which is not comparable"
        return replace(result, notes=[*result.notes, f"{other.label} was not tried: {why}"])
    before = engine.meter.statements
    figures = _found(engine, spec, other, budget, kept)
    found: OtherRecoding = {
        "recoding": other.label,
        "mean_loss": figures.get("mean_loss"),
        "suppressed": figures.get("suppressed"),
        "reason": figures.get("reason"),
        "stopped": figures.get("stopped"),
        "statements": engine.meter.statements - before,
    }
    return replace(result, other_recoding=found, notes=[*result.notes, _in_words(found, result)])


def _found(
    engine: Engine,
    spec: Spec,
    other: RecodingOptions,
    budget: Budget | None,
    kept: SetCache | None,
) -> dict[str, Any]:
    """The figures of the other recoding, or the reason why there are none."""
    changed = spec.model_copy(update={"recoding": other})
    faults = [str(fault) for fault in recoding_faults(changed)]
    if faults:
        return {"reason": "; ".join(faults)}
    make = searched if other.is_full_domain else recoded
    try:
        with make(engine, changed, budget, kept=kept) as made:
            if not isinstance(made, Chosen | RecodingResult):
                return {"reason": "it found no satisfying release"}
            made.metrics()  # where a node was chosen, its loss is one of them
            stopped = made.stopped if isinstance(made, RecodingResult) else made.outcome.stopped
            if mean_loss_of(made) is None:
                return {"reason": "the loss of its aggregated numbers is a share of squares, which is not comparable"}
            return {"mean_loss": made.mean_loss, "suppressed": made.rows()["suppressed"], "stopped": stopped}
    except UnsupportedError as error:
        return {"reason": "; ".join(str(error).splitlines())}


def _in_words(found: OtherRecoding, result: Plan) -> str:
    """One line: what the other recoding loses and suppresses, beside the plan; or why it is not possible."""
    if found["reason"] is not None:
        return f"{found['recoding']} instead is not possible: {found['reason']}"
    assert found["mean_loss"] is not None, "it is possible"
    assert result.mean_loss is not None, "the plan found no satisfying release to compare with"
    lost, own = (f"{100 * value:.3g} %" for value in (found["mean_loss"], result.mean_loss))
    if (lost, found["suppressed"]) == (own, result.rows["suppressed"]):
        return f"{found['recoding']} would lose as much: {lost} of a cell's detail on average"
    early = "" if found["stopped"] is None else f" (ended early: {found['stopped']})"
    return (
        f"{found['recoding']} instead would lose {lost} of a cell's detail on average, not {own}, and suppress "
        f"{found['suppressed']:,} rows, not {result.rows['suppressed']:,}{early}"
    )


def mean_loss_of(found: Chosen | RecodingResult) -> float | None:
    """The mean loss of a cell, where all columns have labels; None where numbers are replaced by others."""
    return None if found.spec.recoding.declared.of_numbers else found.mean_loss


def notes_of_local(found: Chosen | RecodingResult) -> Sequence[str]:
    """What the user should know of a local recoding, or of the node that was taken instead."""
    if isinstance(found, RecodingResult):
        return () if found.stopped is None else [f"the recoding ended early: {found.stopped}"]
    if found.spec.recoding.is_full_domain:
        return ()
    declared = found.spec.recoding.declared
    if declared.optimum_instead is not None:
        return [f"recoding: {declared.name} {declared.optimum_instead}"]
    worse = "would have to suppress more rows than the full-domain optimum"
    if found.spec.recoding.begins != "top":
        worse += ", or would lose more"
    return [f"recoding: local starts from satisfying classes and {worse}, so the optimum is released"]


def with_bound(result: Plan, found: NothingToSearch | NothingFound | Chosen | RecodingResult) -> Plan:
    """The result with what no recoding loses less than, or with the reason why that is not known."""
    if not isinstance(found, RecodingResult):
        return replace(result, notes=[*result.notes, "no lower bound: there is no local recoding to compare it with"])
    bound = found.bound()
    if bound is None:
        why = "no requirement is monotone under merging classes"
        return replace(result, notes=[*result.notes, f"no lower bound: {why}"])
    assert result.recoding is not None
    return replace(result, recoding={**result.recoding, "bound": bound.to_dict()})
