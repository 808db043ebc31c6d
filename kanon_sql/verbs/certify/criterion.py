"""Of which releases it is proven how good they are, and by which metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanon_sql.spec import Spec
from kanon_sql.verbs.certify.definitions import Definition, NotCertified
from kanon_sql.verbs.certify.verify_certificate import COUNTED, HOW

__all__ = ["METRICS", "criterion", "why_unproven"]

METRICS: Mapping[str, str | None] = {**HOW, **dict.fromkeys(COUNTED)}
"""The metrics that are written down again here, with how they aggregate columns."""


def why_unproven(
    spec: Spec, manifest: Mapping[str, Any], definitions: Sequence[Definition], left: Sequence[NotCertified]
) -> str | None:
    """Why nothing is proven of how good the release is, in words; None where that is tried."""
    search = manifest.get("search")
    if not spec.recoding.is_full_domain:
        method = (manifest.get("recoding") or {}).get("method", spec.recoding.method)
        return (
            f"the recoding {method} chooses labels by class or value and has no bound on its loss; plan --show bound "
            "computes one for hierarchy labels"
        )
    if manifest.get("intervals") is not None or spec.search.of_intervals:
        return "the search chose among partitions of the values, so there is no lattice of levels to prove over"
    if search is None or not search.get("proven"):
        return f"the search {spec.search.algorithm} does not claim that its node is the best"
    if left:
        return f"whether a node satisfies {left[0].what} is not certified, so neither is which nodes do"
    unfit = [item for item in definitions if not item.by_all or item.kind == "risk" or item.reference == "release"]
    if unfit:
        return f"{unfit[0].label} is not decided by each class of all quasi-identifiers alone"
    metric = criterion(spec)
    if metric not in METRICS or spec.search.aggregate == "rank":
        return f"the metric {spec.search.metric_label} is not supported in certificates"
    if metric != "height" and (spec.search.gs_factor != 0.5 or spec.search.monotone):
        return f"the metric {spec.search.metric_label} weighs suppression in a way that certificates do not support"
    if spec.ledger is not None:
        return (
            "with a ledger, the best node that is safe together with earlier releases is released, which need not be "
            "the best of all"
        )
    return None


def criterion(spec: Spec) -> str:
    """What the search optimizes: Samarati's the height of the node alone, before its preference."""
    return "height" if spec.search.algorithm == "samarati" else spec.search.metric
