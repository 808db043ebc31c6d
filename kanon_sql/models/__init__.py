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
    SetWindows,
    ShareBound,
    Whole,
    figure,
    forget,
    label_of,
    model_obstacles,
    model_of,
    models_of,
    register,
    registered,
)
from kanon_sql.models.privacy.base import TOLERANCE
from kanon_sql.models.privacy.t_closeness import Distance, TCloseness, TClosenessRequirement, closeness_among
from kanon_sql.models.privacy.terms import WEIGHT_UNITS
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
    from kanon_sql.models.privacy.alpha_k_anonymity import AlphaKAnonymityRequirement
    from kanon_sql.models.privacy.beta_likeness import BetaLikenessRequirement
    from kanon_sql.models.privacy.delta_disclosure import DeltaDisclosureRequirement
    from kanon_sql.models.privacy.k_map_estimate import SIGNIFICANCE, critical_size, largest_k
    from kanon_sql.models.privacy.l_diversity import LDiversityRequirement
    from kanon_sql.models.privacy.p_sensitive_k_anonymity import PSensitiveRequirement
    from kanon_sql.models.privacy.risk import RiskRequirement

__all__ = [
    "METRICS",
    "SIGNIFICANCE",
    "TOLERANCE",
    "WEIGHT_UNITS",
    "AlphaKAnonymityRequirement",
    "Attribute",
    "Background",
    "BetaLikenessRequirement",
    "Bounds",
    "Counts",
    "DeltaDisclosureRequirement",
    "Distance",
    "LDiversityRequirement",
    "Loss",
    "Measured",
    "Metric",
    "Monotonicity",
    "PSensitiveRequirement",
    "PrivacyModel",
    "RiskRequirement",
    "SetWindows",
    "ShareBound",
    "TCloseness",
    "TClosenessRequirement",
    "Whole",
    "closeness_among",
    "critical_size",
    "figure",
    "forget",
    "geometric_mean",
    "label_of",
    "largest_k",
    "metric_for",
    "model_obstacles",
    "model_of",
    "models_of",
    "normalized_share",
    "register",
    "registered",
]

_HOME = dict.fromkeys(("SIGNIFICANCE", "critical_size", "largest_k"), "privacy.k_map_estimate") | {
    "AlphaKAnonymityRequirement": "privacy.alpha_k_anonymity",
    "BetaLikenessRequirement": "privacy.beta_likeness",
    "DeltaDisclosureRequirement": "privacy.delta_disclosure",
    "LDiversityRequirement": "privacy.l_diversity",
    "PSensitiveRequirement": "privacy.p_sensitive_k_anonymity",
    "RiskRequirement": "privacy.risk",
}
"""What only estimates of k-map and certificates take, which is imported when it is first asked for."""

__getattr__ = imported_from(__name__, _HOME)
