"""Rows that stand for several persons each: the column that says for how many, and what cannot be had of such rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kanon_sql.spec.checks import Fault

if TYPE_CHECKING:
    from kanon_sql.spec.model import Spec

__all__ = ["count_faults"]

_COUNTED = (
    "k_anonymity",
    "l_diversity",
    "t_closeness",
    "alpha_k_anonymity",
    "p_sensitive_k_anonymity",
    "beta_likeness",
    "delta_disclosure",
    "lkc_privacy",
)
"""Requirements that are judged by how many persons a class has, and each value in it."""


def count_faults(spec: Spec) -> Iterator[Fault]:
    """What needs a row for each person, and what would release a count as something else."""
    if spec.count is None:
        return
    if spec.count not in spec.keep:
        why = (
            "a released row says for how many persons it stands, so the column of counts is released: list it under "
            "keep too"
        )
        yield Fault(("count",), why)
    needs_rows = {
        "unit": (spec.unit is not None, "a row of counts stands for persons who have no other row"),
        "ledger": (spec.ledger is not None, "releases are compared row by row"),
        "state": (spec.state is not None, "what waits are rows, and persons of one row may not be released apart"),
        "utility": (spec.utility is not None, "a classifier is trained on rows"),
    }
    for key, (asked, why) in needs_rows.items():
        if asked:
            yield Fault((key,), f"with 'count', {why}; leave one of the two out{_EXPAND}", True)
    if spec.release_view is not None:
        yield Fault(("release",), f"with 'count', a guarded view counts the rows of a class; publish a table{_EXPAND}")
    if spec.steps is not None and spec.steps.sample is not None:
        yield Fault(("steps", "sample"), f"with 'count', persons of one row are not drawn apart{_EXPAND}", True)
    if spec.steps is not None and spec.count in spec.steps.columns:
        yield Fault(("steps", "columns", spec.count), "counts that are changed count other persons; leave it out", True)
    if spec.recoding.parts_rows:
        why = "this recoding puts rows that are alike into several classes, and the persons of one row stay together"
        yield Fault(("recoding",), f"with 'count', {why}{_EXPAND}")
    if spec.recoding.method == "kk":
        yield Fault(("recoding",), f"with 'count', kk matches a row with each record, and a row is several{_EXPAND}")
    if spec.recoding.save_as is not None:
        yield Fault(("recoding", "save_as"), f"with 'count', recodings are kept for rows; leave it out{_EXPAND}")
    for position, requirement in enumerate(spec.privacy):
        loc = ("privacy", position, requirement.name)
        if requirement.name not in _COUNTED:
            why = f"with 'count', classes have persons and no rows for them, which {requirement.name} needs"
            yield Fault(loc, f"{why}; expected one of {', '.join(_COUNTED)}{_EXPAND}", True)
        if getattr(requirement, "combinations", None) is not None:
            yield Fault((*loc, "combinations"), f"with 'count', combinations are counted in rows{_EXPAND}", True)


_EXPAND = ", or make a row for each person in a source query"
