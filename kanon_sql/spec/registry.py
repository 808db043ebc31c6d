"""Which requirements a spec may ask for, and how one is read. Privacy models bring theirs."""

from __future__ import annotations

from collections.abc import Mapping

from kanon_sql.lazy import import_all, import_one
from kanon_sql.spec.checks import Faults, did_you_mean, fail, kind
from kanon_sql.spec.differential_privacy import DifferentialPrivacyRequirement
from kanon_sql.spec.k_anonymity import KAnonymityRequirement
from kanon_sql.spec.m_invariance import MInvarianceRequirement
from kanon_sql.spec.requirement import Requirement

__all__ = ["forget_requirement", "parse_requirement", "register_requirement", "requirements"]

DECLARED_IN = "kanon_sql.models.privacy"
"""The package whose modules declare all other requirements, each beside its privacy model and in a file of its name."""

_REQUIREMENTS: dict[str, type[Requirement]] = {
    requirement.name: requirement
    for requirement in (KAnonymityRequirement, DifferentialPrivacyRequirement, MInvarianceRequirement)
}
"""Those that the spec itself asks about, and those that were registered."""


def _all() -> Mapping[str, type[Requirement]]:
    import_all(DECLARED_IN)
    return _REQUIREMENTS


def _known(name: object) -> type[Requirement] | None:
    """The requirement of a name; only the file of that name is imported, which takes less time than all."""
    if name not in _REQUIREMENTS and isinstance(name, str):
        import_one(DECLARED_IN, name)
    return _REQUIREMENTS.get(name) if isinstance(name, str) else None


def requirements() -> tuple[type[Requirement], ...]:
    """All requirements that a spec may ask for, by their names."""
    return tuple(found for _, found in sorted(_all().items()))


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
        known = _known(name)
        if known is None:
            faults.add((name,), f"unknown requirement{did_you_mean(name, _all())}", at_key=True)
        else:
            found.append(faults.attempt((name,), known.model_validate, body))
    if not faults and len(found) != 1:
        faults.add((), f"expected one requirement per list item, got {len(found)}; begin each with '-'")
    faults.finish()
    [requirement] = found
    assert requirement is not None
    return requirement
