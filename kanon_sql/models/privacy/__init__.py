"""Privacy models: one file each. A model declares what it needs and runs nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kanon_sql.models.privacy.alpha_k_anonymity import AlphaKAnonymityModel
from kanon_sql.models.privacy.base import Monotonicity, PrivacyModel
from kanon_sql.models.privacy.bayes_optimal import BayesOptimalModel
from kanon_sql.models.privacy.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from kanon_sql.models.privacy.delta_disclosure import DeltaDisclosureModel
from kanon_sql.models.privacy.delta_presence import DeltaPresenceModel
from kanon_sql.models.privacy.k_anonymity import KAnonymityModel
from kanon_sql.models.privacy.k_map import KMapModel
from kanon_sql.models.privacy.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveCLDiversity
from kanon_sql.models.privacy.npd_diversity import NpdRecursiveDiversity
from kanon_sql.models.privacy.p_sensitive import PSensitiveModel
from kanon_sql.models.privacy.population import PopulationModel
from kanon_sql.models.privacy.t_closeness import HierarchicalTCloseness, OrderedTCloseness, TCloseness
from kanon_sql.models.privacy.whole import Whole
from kanon_sql.spec import (
    AlphaKAnonymity,
    BayesOptimal,
    BetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    KAnonymity,
    KMap,
    LDiversity,
    PSensitive,
    Requirement,
    Spec,
)
from kanon_sql.spec import TCloseness as TClosenessRequirement

__all__ = [
    "AlphaKAnonymityModel",
    "BasicBetaLikeness",
    "BayesOptimalModel",
    "DeltaDisclosureModel",
    "DeltaPresenceModel",
    "DistinctLDiversity",
    "EnhancedBetaLikeness",
    "EntropyLDiversity",
    "HierarchicalTCloseness",
    "KAnonymityModel",
    "KMapModel",
    "Monotonicity",
    "NpdRecursiveDiversity",
    "OrderedTCloseness",
    "PSensitiveModel",
    "PopulationModel",
    "PrivacyModel",
    "RecursiveCLDiversity",
    "TCloseness",
    "Whole",
    "model_of",
    "models_of",
]


def models_of(spec: Spec) -> list[PrivacyModel]:
    """The privacy models of a spec's requirements, with what their classes are made by."""
    found = []
    for requirement in spec.privacy:
        model = model_of(requirement)
        if getattr(requirement, "others_as_quasi_identifiers", False):
            others = [name for name in spec.sensitive if name != model.attribute]
            model = replace(model, quasi_identifiers=(*spec.quasi_identifiers, *others), others=True)
        elif (wanted := getattr(requirement, "quasi_identifiers", None)) is not None:
            names = tuple(name for name in spec.quasi_identifiers if name in wanted)
            if len(names) < len(spec.quasi_identifiers):
                model = replace(model, quasi_identifiers=names)
        found.append(model)
    return found


def model_of(requirement: Requirement) -> PrivacyModel:
    """The privacy model that a requirement of the spec names, over all quasi-identifiers."""
    if isinstance(requirement, KAnonymity):
        return KAnonymityModel(k=requirement.k)
    if isinstance(requirement, LDiversity):
        return _diversity(requirement)
    if isinstance(requirement, AlphaKAnonymity):
        return AlphaKAnonymityModel(requirement.attribute, requirement.alpha, requirement.k, requirement.values)
    if isinstance(requirement, PSensitive):
        return PSensitiveModel(requirement.attribute, requirement.p, requirement.k)
    if isinstance(requirement, KMap):
        return KMapModel(requirement.population, k=requirement.k)
    if isinstance(requirement, DeltaPresence):
        return DeltaPresenceModel(requirement.population, requirement.delta_min, requirement.delta_max)
    if isinstance(requirement, BayesOptimal):
        asked = {name: getattr(requirement, name) for name in ("background", "weight", "delta", "epsilon", "theta")}
        return BayesOptimalModel(requirement.attribute, **asked)
    compared: dict[str, Any] = {"sensitive": requirement.attribute, "reference": requirement.reference}
    if isinstance(requirement, BetaLikeness):
        kind = BasicBetaLikeness if requirement.kind == "basic" else EnhancedBetaLikeness
        return kind(beta=requirement.beta, **compared)
    if isinstance(requirement, DeltaDisclosure):
        return DeltaDisclosureModel(delta=requirement.delta, **compared)
    return _closeness(requirement, compared)


def _diversity(requirement: LDiversity) -> PrivacyModel:
    attribute, c = requirement.attribute, requirement.c
    if requirement.kind == "entropy":
        return EntropyLDiversity(sensitive=attribute, l=float(requirement.l))
    if requirement.kind == "distinct":
        return DistinctLDiversity(sensitive=attribute, l=int(requirement.l))
    assert c is not None  # the spec refuses a recursive requirement without c
    if requirement.kind == "recursive":
        return RecursiveCLDiversity(sensitive=attribute, c=c, l=int(requirement.l))
    return NpdRecursiveDiversity(
        sensitive=attribute,
        c=c,
        l=int(requirement.l),
        c2=requirement.c2,
        allow_positive=requirement.allow_positive or (),
        forbid_negative=requirement.forbid_negative or (),
    )


def _closeness(requirement: TClosenessRequirement, compared: dict[str, Any]) -> PrivacyModel:
    if requirement.distance == "ordered":
        return OrderedTCloseness(t=requirement.t, **compared)
    if requirement.distance == "hierarchical":
        assert requirement.hierarchy is not None  # the spec refuses the distance without one
        return HierarchicalTCloseness(t=requirement.t, tree=requirement.hierarchy, **compared)
    return TCloseness(t=requirement.t, **compared)
