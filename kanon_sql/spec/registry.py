"""Which requirements a spec may ask for, and how one is read. Privacy models bring theirs."""

from __future__ import annotations

from collections.abc import Mapping

from kanon_sql.registers import PRIVACY_REQUIREMENTS
from kanon_sql.spec.checks import Check, Faults, did_you_mean, fail, kind
from kanon_sql.spec.differential_privacy import DifferentialPrivacyRequirement
from kanon_sql.spec.k_anonymity import KAnonymityRequirement
from kanon_sql.spec.m_invariance import MInvarianceRequirement
from kanon_sql.spec.requirement import Requirement

__all__ = ["parse_requirement", "requirements"]

for _asked_by_the_spec in (KAnonymityRequirement, DifferentialPrivacyRequirement, MInvarianceRequirement):
    PRIVACY_REQUIREMENTS.add(_asked_by_the_spec.name, _asked_by_the_spec, PRIVACY_REQUIREMENTS.package + ".")


def requirements() -> tuple[type[Requirement], ...]:
    """All requirements that a spec may ask for, by their names."""
    return tuple(PRIVACY_REQUIREMENTS.values())


@Check
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
        known = PRIVACY_REQUIREMENTS.get(name)
        if known is None:
            faults.add((name,), f"unknown requirement{did_you_mean(name, PRIVACY_REQUIREMENTS)}", at_key=True)
        else:
            found.append(faults.attempt((name,), known.model_validate, body))
    if not faults and len(found) != 1:
        faults.add((), f"expected one requirement per list item, got {len(found)}; begin each with '-'")
    faults.finish()
    [requirement] = found
    assert requirement is not None
    return requirement
