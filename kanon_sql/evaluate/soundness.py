"""Whether pruning by the monotonicity of requirements is sound, with the suppression limit in force."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.models import Monotonicity, PrivacyModel

__all__ = ["all_sound", "is_sound"]


def is_sound(model: PrivacyModel, *, by_person: bool, may_suppress: bool) -> bool:
    """Whether pruning by a model's monotonicity is sound with the suppression limit in force."""
    when = model.monotonicity(by_person)
    return when is Monotonicity.ALWAYS or (when is Monotonicity.WITHOUT_SUPPRESSION and not may_suppress)


def all_sound(models: Sequence[PrivacyModel], *, by_person: bool, may_suppress: bool) -> list[bool]:
    """Whether pruning is sound, per model. Unions and whole tables count what others leave: no better than these."""
    sound = [is_sound(model, by_person=by_person, may_suppress=may_suppress) for model in models]
    others = all(flag for model, flag in zip(models, sound, strict=True) if not _counts_others(model))
    return [flag and (others or not _counts_others(model)) for model, flag in zip(models, sound, strict=True)]


def _counts_others(model: PrivacyModel) -> bool:
    """Whether what the other requirements leave decides what a model measures."""
    return model.on_coarser_classes or model.of_table
