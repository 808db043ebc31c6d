"""Quality metrics: one file each. A metric declares what it needs and runs nothing."""

from __future__ import annotations

from kanon_sql.models.quality.ambiguity import Ambiguity
from kanon_sql.models.quality.average_class_size import AverageClassSize
from kanon_sql.models.quality.base import Attribute, Bounds, Counts, Measured, Metric, geometric_mean, normalized_share
from kanon_sql.models.quality.discernibility import Discernibility
from kanon_sql.models.quality.entropy import NonUniformEntropy
from kanon_sql.models.quality.height import Height
from kanon_sql.models.quality.loss import Loss
from kanon_sql.models.quality.precision import Precision

__all__ = ["METRICS", "Attribute", "Bounds", "Counts", "Measured", "Metric", "geometric_mean", "normalized_share"]

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
"""Every metric by the name the spec uses."""
