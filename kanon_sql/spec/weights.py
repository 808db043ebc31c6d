"""Sampling weights that a requirement adds up: the column that holds them, and what cannot be had of weighted rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kanon_sql.spec.checks import Fault, did_you_mean, quote

if TYPE_CHECKING:
    from kanon_sql.spec.model import Spec

__all__ = ["weight_faults"]


def weight_faults(spec: Spec) -> Iterator[Fault]:
    """Weights are released as they are, for a check of the release to add up, and belong to the rows that there are."""
    for position, requirement in enumerate(spec.privacy):
        weight = getattr(requirement, "weight", None) if requirement.name == "k_map" else None
        if weight is None:
            continue
        loc = ("privacy", position, requirement.name, "weight")
        if weight not in spec.keep:
            why = (
                f"{quote(weight)} is not listed under keep: the weights are released, so that a check of the release "
                "can add them up"
            )
            yield Fault(loc, why + (did_you_mean(weight, spec.keep) if spec.keep else ""))
        if spec.unit is not None:
            why = "weights are of rows, and with 'unit' a person may have several; leave one of the two out"
            yield Fault(loc, why, True)
        if spec.ledger is not None:
            why = "a ledger judges releases by their joint classes, and counts no weights in these; use another"
            yield Fault(loc, f"{why} requirement", True)
        if spec.steps is not None and spec.steps.sample is not None:
            why = "a sample of the rows has other weights; draw it in a source query that weighs it"
            yield Fault(("steps", "sample"), why, True)
        if spec.steps is not None and weight in spec.steps.columns:
            why = "weights that are changed stand for other persons; leave it out"
            yield Fault(("steps", "columns", weight), why, True)
