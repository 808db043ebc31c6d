"""Privacy models: one file each. A model declares what it needs and runs nothing."""

from __future__ import annotations

from kanon_sql.privacy.base import Monotonicity, PrivacyModel
from kanon_sql.privacy.delta_presence import DeltaPresenceModel
from kanon_sql.privacy.k_anonymity import KAnonymityModel
from kanon_sql.privacy.k_map import KMapModel
from kanon_sql.privacy.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveCLDiversity
from kanon_sql.privacy.population import PopulationModel
from kanon_sql.privacy.t_closeness import TCloseness
from kanon_sql.spec import DeltaPresence, KAnonymity, KMap, LDiversity, Requirement

__all__ = [
    "DeltaPresenceModel",
    "DistinctLDiversity",
    "EntropyLDiversity",
    "KAnonymityModel",
    "KMapModel",
    "Monotonicity",
    "PopulationModel",
    "PrivacyModel",
    "RecursiveCLDiversity",
    "TCloseness",
    "model_of",
]


def model_of(requirement: Requirement) -> PrivacyModel:
    """The privacy model that a requirement of the spec names."""
    if isinstance(requirement, KAnonymity):
        return KAnonymityModel(k=requirement.k)
    if isinstance(requirement, LDiversity):
        if requirement.kind == "recursive":
            assert requirement.c is not None  # the spec refuses a recursive requirement without c
            return RecursiveCLDiversity(sensitive=requirement.attribute, c=requirement.c, l=int(requirement.l))
        if requirement.kind == "entropy":
            return EntropyLDiversity(sensitive=requirement.attribute, l=float(requirement.l))
        return DistinctLDiversity(sensitive=requirement.attribute, l=int(requirement.l))
    if isinstance(requirement, KMap):
        return KMapModel(requirement.population, k=requirement.k)
    if isinstance(requirement, DeltaPresence):
        return DeltaPresenceModel(requirement.population, requirement.delta_min, requirement.delta_max)
    return TCloseness(sensitive=requirement.attribute, t=requirement.t, reference=requirement.reference)
