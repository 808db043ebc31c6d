"""What verbs say of a recoding that has no node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kanon_sql.evaluate import Chosen, NothingFound, NothingToSearch
from kanon_sql.recode import RecodingResult
from kanon_sql.verbs.result import Plan

__all__ = ["mean_loss_of", "notes_of_local", "with_bound"]


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
