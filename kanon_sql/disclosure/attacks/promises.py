"""What the requirements of a spec promise to a class: how many rows, persons of a population, sensitive values.

An attack exposes people *beyond the requirement* if they get less than that. Where no requirement
promises anything, attacks take 2: nobody may be singled out, no value may be alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import ceil

from kanon_sql.spec import AlphaKAnonymity, KAnonymity, KMap, LDiversity, PSensitive, Spec

__all__ = ["FEWEST", "asked_k", "asked_l", "asked_population_k", "defaults_taken", "values_within"]

FEWEST = 2
"""What attacks take where no requirement says how many."""


def asked_k(spec: Spec, known: Iterable[str] | None = None) -> int | None:
    """The most rows that a requirement promises to a class; None where none promises any.

    k-anonymity, (alpha, k)-anonymity and p-sensitive k-anonymity say k. Where k-anonymity is about some of the
    quasi-identifiers only, it promises nothing to classes by others too.

    Args:
        spec: what is required.
        known: the quasi-identifiers that classes are made by; None for all of the spec.
    """
    found = [
        item.k
        for item in spec.privacy
        if isinstance(item, AlphaKAnonymity | PSensitive)
        or (isinstance(item, KAnonymity) and _covers(spec, item.quasi_identifiers, known))
    ]
    return max(found, default=None)


def asked_population_k(spec: Spec, known: Iterable[str] | None = None) -> int | None:
    """The most persons of a population that a row must stand for: k-map's k, or k of a class; None without either."""
    found = [item.k for item in spec.privacy if isinstance(item, KMap)]
    return max([*found, *([] if (k := asked_k(spec, known)) is None else [k])], default=None)


def _covers(spec: Spec, promised: Iterable[str] | None, known: Iterable[str] | None) -> bool:
    """Whether what is promised to classes by some quasi-identifiers holds for classes by those that are known."""
    return promised is None or set(spec.quasi_identifiers if known is None else known) <= set(promised)


def asked_l(spec: Spec, attribute: str) -> int | None:
    """The most values of a sensitive attribute that a requirement promises to a class; None where none promises any.

    Distinct and recursive l-diversity say l; entropy l-diversity needs at least l values, since m of
    them have entropy ln m at most; p-sensitive k-anonymity says p; an alpha that holds for every value needs 1 / alpha
    of them. An alpha for some values alone leaves a class that may hold one other, and so does npd-recursive
    diversity with values that may be disclosed, or diversity of larger classes, by some of the quasi-identifiers.
    """
    found = []
    for item in spec.privacy:
        if isinstance(item, LDiversity) and item.attribute == attribute:
            if not item.allow_positive and _covers(spec, item.quasi_identifiers, None):
                found.append(ceil(item.l))
        elif isinstance(item, PSensitive) and item.attribute == attribute:
            found.append(item.p)
        elif isinstance(item, AlphaKAnonymity) and item.attribute == attribute and item.values is None:
            found.append(values_within(item.alpha))
    return max(found, default=None)


def values_within(alpha: float) -> int:
    """The fewest values of which none needs a larger share, compared as the requirement compares: 1 / m <= alpha."""
    fewest = max(1, ceil(1 / alpha) - 1)
    while 1 / fewest > alpha:
        fewest += 1
    return fewest


def defaults_taken(spec: Spec, noted: Collection[str | None]) -> list[str]:
    """What attacks took where no requirement says how much is enough.

    Args:
        spec: what is required.
        noted: which promises the attacks that ran compare with: ``k``, ``l``.
    """
    notes = []
    if "k" in noted and asked_k(spec) is None:
        notes.append(f"no requirement promises a k to every class: fewer than {FEWEST} rows expose a person here")
    unsaid = [name for name in spec.sensitive if asked_l(spec, name) is None]
    if "l" in noted and unsaid:
        notes.append(f"no requirement says how many values of {', '.join(unsaid)} a class has: {FEWEST} is taken")
    return notes
