"""The register of privacy models: which there are, and the model that a requirement of a spec asks for.

Adding a model is one file: its requirement (the keys of a spec) and its declaration, which names a template of
``sql_templates/models/privacy/``. :func:`register` adds one of your own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from kanon_sql.errors import Obstacle, refuse
from kanon_sql.models.privacy.base import PrivacyModel
from kanon_sql.registers import PRIVACY_REQUIREMENTS
from kanon_sql.spec import (
    DifferentialPrivacyRequirement,
    MInvarianceRequirement,
    Requirement,
    Spec,
)

__all__ = ["forget", "label_of", "model_obstacles", "model_of", "models_of", "register", "registered"]

M = TypeVar("M", bound=PrivacyModel)

_MODELS: list[type[PrivacyModel]] = []
"""Those that were registered, by the modules of this package or from outside."""


def registered() -> tuple[type[PrivacyModel], ...]:
    """All privacy models."""
    PRIVACY_REQUIREMENTS.load()
    return tuple(_MODELS)


def register(model: type[M]) -> type[M]:
    """Add a privacy model, and its requirement if specs do not know it yet; a decorator of its class.

    Its template is ``models/privacy/<name>``, in the package or in a directory of
    :func:`kanon_sql.sql.add_template_directory`.

    Raises:
        ValueError: a model of another requirement, or another requirement, has the name.
    """
    requirement = model.requirement
    if not model.__module__.startswith(f"{__package__}."):
        PRIVACY_REQUIREMENTS.load()  # one of ours may have the name, and not be imported yet
    others = [known for known in _MODELS if known.requirement is not requirement]
    if any(known.name == model.name for known in others):
        raise ValueError(f"there is already a privacy model {model.name!r}; choose another name")
    PRIVACY_REQUIREMENTS.add(requirement.name, requirement, model.__module__)
    if model not in _MODELS:
        _MODELS.append(model)
    return model


def forget(model: type[PrivacyModel]) -> None:
    """Take a model back that :func:`register` added, and its requirement, if no other model has it."""
    _MODELS.remove(model)
    if all(known.requirement is not model.requirement for known in registered()):
        PRIVACY_REQUIREMENTS.forget(model.requirement.name)


def model_obstacles(spec: Spec) -> Iterator[Obstacle]:
    """Requirements that are no property of a table's classes."""
    for requirement in spec.privacy:
        yield from _model_obstacles(requirement)


def _model_obstacles(requirement: Requirement) -> Iterator[Obstacle]:
    """Differential privacy is a property of how a release is made, m-invariance one of a sequence of tables."""
    if isinstance(requirement, MInvarianceRequirement):
        yield Obstacle(
            "m_invariance is a property of a sequence of releases, and only anonymize supports it. To compare two "
            "internal versions, run check with a k_anonymity spec and --set earlier=TABLE,person=COLUMN,m=M"
        )
    if isinstance(requirement, DifferentialPrivacyRequirement):
        yield Obstacle(
            "differential_privacy is a property of the mechanism, which a table does not show, and only anonymize "
            "supports it. To check the k of the classes alone, give check a spec with k_anonymity and the k that "
            "anonymize printed"
        )


def model_of(requirement: Requirement) -> PrivacyModel:
    """The privacy model that a requirement of the spec names, over all quasi-identifiers.

    Raises:
        UnsupportedError: it asks for no property of a table's classes.
    """
    refuse(_model_obstacles(requirement))
    PRIVACY_REQUIREMENTS.load(requirement.name)
    if (model := _of(requirement)) is None:
        PRIVACY_REQUIREMENTS.load()  # it is one that has a file of its own beside the requirement's
        model = _of(requirement)
    if model is not None:
        return model
    raise LookupError(f"no privacy model is registered for {requirement.name}")


def _of(requirement: Requirement) -> PrivacyModel | None:
    """The model that a requirement names, of those that are imported."""
    for kind in _MODELS:
        if kind.requirement is type(requirement) and (model := kind.of(requirement)) is not None:
            return model
    return None


def label_of(requirement: Requirement) -> str:
    """A requirement in the field's notation, such as ``5-anonymity``."""
    if isinstance(requirement, DifferentialPrivacyRequirement | MInvarianceRequirement):
        return requirement.notation
    return model_of(requirement).label


def models_of(spec: Spec) -> list[PrivacyModel]:
    """The privacy models of a spec's requirements, with what their classes are made by."""
    found = []
    for requirement in spec.privacy:
        model = model_of(requirement).with_quasi_identifiers(tuple(spec.quasi_identifiers))
        if requirement.groups_by_others:
            others = [name for name in spec.sensitive if name != model.attribute]
            model = replace(model, quasi_identifiers=(*spec.quasi_identifiers, *others), others=True)
        elif requirement.grouped_by is not None:
            names = tuple(name for name in spec.quasi_identifiers if name in requirement.grouped_by)
            if len(names) < len(spec.quasi_identifiers):
                model = replace(model, quasi_identifiers=names)
        found.append(model)
    return found
