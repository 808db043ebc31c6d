"""Privacy models: one file each, with the keys of a spec that ask for it. A model declares, and runs nothing.

Each file registers what it declares, and all files are imported when a spec is read; none is listed anywhere.
"""

from __future__ import annotations

from kanon_sql.models.privacy.base import Background, Monotonicity, PrivacyModel, SetWindows, ShareBound
from kanon_sql.models.privacy.registry import (
    forget,
    label_of,
    model_obstacles,
    model_of,
    models_of,
    register,
    registered,
)
from kanon_sql.models.privacy.terms import figure
from kanon_sql.models.privacy.whole import Whole

__all__ = [
    "Background",
    "Monotonicity",
    "PrivacyModel",
    "SetWindows",
    "ShareBound",
    "Whole",
    "figure",
    "forget",
    "label_of",
    "model_obstacles",
    "model_of",
    "models_of",
    "register",
    "registered",
]
