"""Quality metrics: one file each. A metric declares what it needs and runs nothing."""

from __future__ import annotations

from typing import Any

from kanon_sql.models.quality.aggregate import PerColumn
from kanon_sql.models.quality.ambiguity import Ambiguity
from kanon_sql.models.quality.average_class_size import AverageClassSize
from kanon_sql.models.quality.base import Attribute, Bounds, Counts, Measured, Metric, geometric_mean, normalized_share
from kanon_sql.models.quality.classification import Classification
from kanon_sql.models.quality.discernibility import Discernibility
from kanon_sql.models.quality.entropy import NonUniformEntropy
from kanon_sql.models.quality.height import Height
from kanon_sql.models.quality.loss import Loss
from kanon_sql.models.quality.precision import Precision
from kanon_sql.models.quality.publisher_payout import PublisherPayout
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

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Height(),
        Precision(),
        Loss(),
        Discernibility(),
        AverageClassSize(),
        NonUniformEntropy(),
        Ambiguity(),
    )
}
"""Every metric that needs no more than the quasi-identifiers, by the name the spec uses."""


def metric_for(spec: Spec) -> Metric:
    """The metric that a spec's search optimizes, in the form that its options ask for."""
    search = spec.search
    if search.classify is not None:
        return Classification(search.classify, search.monotone)
    if search.prices is not None:
        return PublisherPayout(search.prices)
    metric = METRICS[search.metric]
    changed: dict[str, Any] = {"monotone": True} if search.monotone else {}
    if isinstance(metric, PerColumn):
        changed |= {"gs_factor": search.gs_factor}
        changed |= {} if search.aggregate is None else {"aggregate": search.aggregate}
    return type(metric)(**changed)
