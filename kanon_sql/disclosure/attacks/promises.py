"""What the requirements of a spec promise to a class: how many rows, persons of a population, sensitive values.

An attack exposes people *beyond the requirement* if they get less than that. Where no requirement
promises anything, attacks take 2: no person may be singled out, no value may be alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from kanon_sql.models import PrivacyModel
from kanon_sql.spec import Spec

__all__ = ["FEWEST", "default_notes", "promised_k", "promised_population_k", "promised_values"]

FEWEST = 2
"""What attacks take where no requirement says how many."""


def promised_k(spec: Spec, models: Sequence[PrivacyModel], known: Iterable[str] | None = None) -> int | None:
    """The most rows that a requirement promises to a class; None where none promises any.

    k-anonymity, (alpha, k)-anonymity and p-sensitive k-anonymity say k. Where k-anonymity is about some of the
    quasi-identifiers only, it promises nothing to classes by others too.

    Args:
        spec: names the quasi-identifiers.
        models: what is required.
        known: the quasi-identifiers that classes are made by; None for all of the spec.
    """
    found = [model.least_size for model in models if _covers(spec, model, known)]
    return max((size for size in found if size is not None), default=None)


def promised_population_k(spec: Spec, models: Sequence[PrivacyModel], known: Iterable[str] | None = None) -> int | None:
    """The most persons of a population that a row must stand for: k-map's k, or k of a class; None without either."""
    found = [*(model.least_population for model in models), promised_k(spec, models, known)]
    return max((count for count in found if count is not None), default=None)


def promised_values(spec: Spec, models: Sequence[PrivacyModel], attribute: str) -> int | None:
    """The most values of a sensitive attribute that a requirement promises to a class; None where none promises any.

    A model says itself how many follow from it; diversity of larger classes, by some of the quasi-identifiers, promises
    nothing to smaller ones.
    """
    found = [model.least_values for model in models if model.attribute == attribute and _covers(spec, model, None)]
    return max((values for values in found if values is not None), default=None)


def _covers(spec: Spec, model: PrivacyModel, known: Iterable[str] | None) -> bool:
    """Whether what is promised to a model's classes holds for classes by the quasi-identifiers that are known."""
    promised = model.quasi_identifiers
    return promised is None or set(spec.quasi_identifiers if known is None else known) <= set(promised)


def default_notes(spec: Spec, models: Sequence[PrivacyModel], noted: Collection[str | None]) -> list[str]:
    """What attacks took where no requirement says how much is enough.

    Args:
        spec: names the quasi-identifiers and the sensitive attributes.
        models: what is required.
        noted: which promises the attacks that ran compare with: ``k``, ``l``.
    """
    notes = []
    if "k" in noted and promised_k(spec, models) is None:
        notes.append(f"no requirement promises a k to every class: fewer than {FEWEST} rows expose a person here")
    unpromised = [name for name in spec.sensitive if promised_values(spec, models, name) is None]
    if "l" in noted and unpromised:
        notes.append(f"no requirement says how many values of {', '.join(unpromised)} a class has: {FEWEST} is taken")
    return notes
