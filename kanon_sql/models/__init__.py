"""Privacy models and quality metrics: what each needs, and how a class is measured. Nothing runs here.

A privacy model names the counts that it looks at, its measure per equivalence class, the condition on it, and when
pruning by it is sound. A quality metric names its aggregates and its bounds along the lattice. Each is one file with
one template.
"""

from __future__ import annotations

from kanon_sql.models.privacy import (
    BayesOptimalModel,
    DeltaPresenceModel,
    KAnonymityModel,
    Monotonicity,
    PopulationModel,
    PrivacyModel,
    TCloseness,
    Whole,
    model_of,
    models_of,
)
from kanon_sql.models.privacy.base import TOLERANCE
from kanon_sql.models.privacy.t_closeness import Distance
from kanon_sql.models.quality import METRICS, Attribute, Bounds, Counts, Measured, Metric
from kanon_sql.models.quality.loss import Loss

__all__ = [
    "METRICS",
    "TOLERANCE",
    "Attribute",
    "BayesOptimalModel",
    "Bounds",
    "Counts",
    "DeltaPresenceModel",
    "Distance",
    "KAnonymityModel",
    "Loss",
    "Measured",
    "Metric",
    "Monotonicity",
    "PopulationModel",
    "PrivacyModel",
    "TCloseness",
    "Whole",
    "model_of",
    "models_of",
]
