"""Privacy models and quality metrics: what each needs, and how a class is measured. Nothing runs here.

A privacy model names the counts that it looks at, its measure per equivalence class, the condition on it, and when
pruning by it is sound. A quality metric names its aggregates and its bounds along the lattice. Each is one file with
one template.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanon_sql.lazy import imported_from
from kanon_sql.models.privacy import (
    Background,
    Monotonicity,
    PrivacyModel,
    ShareBound,
    TCloseness,
    Whole,
    forget,
    label_of,
    model_of,
    models_of,
    register,
    registered,
)
from kanon_sql.models.privacy.base import TOLERANCE
from kanon_sql.models.privacy.t_closeness import Distance, closeness_among
from kanon_sql.models.quality import (
    METRICS,
    Attribute,
    Bounds,
    Counts,
    Measured,
    Metric,
    geometric_mean,
    metric_for,
    normalized_share,
)
from kanon_sql.models.quality.loss import Loss

if TYPE_CHECKING:
    from kanon_sql.models.privacy.k_map_estimate import SIGNIFICANCE, critical_size, largest_k

__all__ = [
    "METRICS",
    "SIGNIFICANCE",
    "TOLERANCE",
    "Attribute",
    "Background",
    "Bounds",
    "Counts",
    "Distance",
    "Loss",
    "Measured",
    "Metric",
    "Monotonicity",
    "PrivacyModel",
    "ShareBound",
    "TCloseness",
    "Whole",
    "closeness_among",
    "critical_size",
    "forget",
    "geometric_mean",
    "label_of",
    "largest_k",
    "metric_for",
    "model_of",
    "models_of",
    "normalized_share",
    "register",
    "registered",
]
_ESTIMATES = ("SIGNIFICANCE", "critical_size", "largest_k")
"""What only estimates of k-map take, which is imported when it is first asked for."""

__getattr__ = imported_from(__name__, dict.fromkeys(_ESTIMATES, "privacy.k_map_estimate"))
