"""Which requirements a spec may ask for, and how one is read. Privacy models of one's own bring theirs."""

from __future__ import annotations

from collections.abc import Mapping

from kanon_sql.spec.bayes_optimal import BayesOptimalRequirement
from kanon_sql.spec.checks import Faults, did_you_mean, fail, kind
from kanon_sql.spec.consistency import KKAnonymityRequirement
from kanon_sql.spec.differential_privacy import DifferentialPrivacyRequirement
from kanon_sql.spec.disclosure import (
    AlphaKAnonymityRequirement,
    BetaLikenessRequirement,
    DeltaDisclosureRequirement,
    PSensitiveRequirement,
)
from kanon_sql.spec.knowledge import CKSafetyRequirement, EpsilonPrivacyRequirement, PrivacySkylineRequirement
from kanon_sql.spec.m_invariance import MInvarianceRequirement
from kanon_sql.spec.population import DeltaPresenceRequirement, KMapRequirement
from kanon_sql.spec.prices import NoAttackRequirement, ProfitabilityRequirement
from kanon_sql.spec.requirement import Requirement
from kanon_sql.spec.requirements import KAnonymityRequirement, LDiversityRequirement, TClosenessRequirement
from kanon_sql.spec.risk import RiskRequirement
from kanon_sql.spec.uniqueness import PopulationUniquenessRequirement

__all__ = ["forget_requirement", "parse_requirement", "register_requirement", "requirements"]

_REQUIREMENTS: dict[str, type[Requirement]] = {
    requirement.name: requirement
    for requirement in (
        KAnonymityRequirement,
        LDiversityRequirement,
        TClosenessRequirement,
        AlphaKAnonymityRequirement,
        PSensitiveRequirement,
        BetaLikenessRequirement,
        DeltaDisclosureRequirement,
        CKSafetyRequirement,
        PrivacySkylineRequirement,
        EpsilonPrivacyRequirement,
        KMapRequirement,
        DeltaPresenceRequirement,
        BayesOptimalRequirement,
        RiskRequirement,
        KKAnonymityRequirement,
        PopulationUniquenessRequirement,
        NoAttackRequirement,
        ProfitabilityRequirement,
        DifferentialPrivacyRequirement,
        MInvarianceRequirement,
    )
}


def requirements() -> tuple[type[Requirement], ...]:
    """All requirements that a spec may ask for."""
    return tuple(_REQUIREMENTS.values())


def register_requirement(requirement: type[Requirement]) -> None:
    """Let specs ask for one more requirement by its name.

    Raises:
        ValueError: another requirement has the name.
    """
    if _REQUIREMENTS.setdefault(requirement.name, requirement) is not requirement:
        raise ValueError(f"there is a requirement {requirement.name!r} already; give this one another name")


def forget_requirement(requirement: type[Requirement]) -> None:
    """Take a requirement back that :func:`register_requirement` added."""
    _REQUIREMENTS.pop(requirement.name, None)


def parse_requirement(value: object) -> Requirement:
    """One item of ``privacy``: a mapping with the requirement's name as its only key.

    Raises:
        ValidationError: with every problem found.
    """
    if isinstance(value, Requirement):
        return value
    if not isinstance(value, Mapping):
        fail(f"expected a requirement such as {{k_anonymity: {{k: 5}}}}, got {kind(value)}")
    faults = Faults()
    found: list[Requirement | None] = []
    for name, body in value.items():
        known = _REQUIREMENTS.get(name)
        if known is None:
            faults.add((name,), f"unknown requirement{did_you_mean(name, _REQUIREMENTS)}", at_key=True)
        else:
            found.append(faults.attempt((name,), known.model_validate, body))
    if not faults and len(found) != 1:
        faults.add((), f"expected one requirement per list item, got {len(found)}; begin each with '-'")
    faults.finish()
    [requirement] = found
    assert requirement is not None
    return requirement
