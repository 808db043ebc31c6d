"""Quality metrics: one file each. A metric declares what it needs and runs nothing; no file lists them."""

from __future__ import annotations

from kanon_sql.models.quality.base import Attribute, Bounds, Counts, Measured, Metric, geometric_mean, normalized_share
from kanon_sql.registers import QUALITY_METRICS
from kanon_sql.spec import Spec

__all__ = [
    "METRICS",
    "Attribute",
    "Bounds",
    "Counts",
    "Measured",
    "Metric",
    "geometric_mean",
    "metric_for",
    "normalized_share",
]

METRICS: dict[str, Metric] = {name: metric() for name, metric in QUALITY_METRICS.items() if not metric.takes}
"""Every metric of ours that needs no more than the quasi-identifiers, by the name the spec uses."""


def metric_for(spec: Spec) -> Metric:
    """The metric that a spec's search optimizes, in the form that its options ask for."""
    found: Metric = QUALITY_METRICS[spec.search.metric].of(spec.search)
    return found
