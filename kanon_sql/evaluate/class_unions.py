"""Several sets of quasi-identifiers at once: k-anonymous over all of them, and over some with a k of their own.

A set S of the quasi-identifiers Q makes classes that are unions of Q's classes, so a lattice node has them for one
window over its classes. What is suppressed is always a whole class of Q, and that makes a class of S smaller. So a
class of S counts its parts that are kept, and where these are fewer than k_S, all of them are suppressed.

Chains. Let S1 contain S2, and so on: the finest first. First the classes of Q that violate a requirement go. Then
every class of S1 counts what is left of it; one below k_1 goes as a whole, which changes no other class of S1. Then
the same with S2. A class of S2 that goes takes whole classes of S1 with it, and leaves those that stay as they were.
So one pass is enough, and no release made of classes of Q keeps more: by induction, what a step takes away is in no
release that satisfies. Of two sets neither of which contains the other, either step would change what the other
counted; there, nothing may be suppressed.

Generalizing. If every requirement over Q is such that a kept row stays kept (k-anonymity, distinct diversity by rows;
all that are monotone, if nothing is suppressed), so it is here: above a node the classes of S are larger, and count at
least the rows that they counted there. With a requirement over Q that suppression breaks, a class of S may count
fewer rows above, and nothing is inferred from it.

Persons who lie in several classes of Q count once in a class of S, which sizes of classes do not tell. That is refused.

The verification of a release knows nothing of all this: it groups the written table by S.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from kanon_sql.errors import Obstacle, UnsupportedError
from kanon_sql.frequency import Counting, FrequencySets
from kanon_sql.models import PrivacyModel
from kanon_sql.search import Node
from kanon_sql.spec import Spec
from kanon_sql.sql import Sql, slot

__all__ = [
    "Unions",
    "combination_obstacles",
    "judged_by_unions",
    "overlap_obstacles",
    "refuse_shared_persons",
    "union_fills",
    "union_nodes",
    "union_obstacles",
    "union_shape",
    "union_slots",
]

Unions = Mapping[tuple[str, ...], Sequence[str]]
"""Per set of quasi-identifiers with a requirement of its own: the SQL of its classes' packed keys."""


def judged_by_unions(models: Sequence[PrivacyModel]) -> list[PrivacyModel]:
    """The models as the search judges them.

    Those over some quasi-identifiers by unions of classes; those with other sensitive attributes known by their parts.
    """
    return [
        model.of_whole_classes()
        if model.others or model.quasi_identifiers is None
        else replace(model, on_coarser_classes=True)
        for model in models
    ]


def union_nodes(sets: FrequencySets, models: Sequence[PrivacyModel], node: Node) -> dict[tuple[str, ...], Node]:
    """Per set of quasi-identifiers with a requirement of its own, the node with all others at their top.

    Args:
        sets: the frequency sets.
        models: the requirements.
        node: the vector of levels.
    """
    names = dict.fromkeys(
        model.quasi_identifiers for model in models if model.on_coarser_classes and model.quasi_identifiers
    )
    names |= dict.fromkeys(own for model in models for own in model.sets)
    return {
        own: tuple(
            level if lookup.name in own else lookup.height for lookup, level in zip(sets.lookups, node, strict=True)
        )
        for own in names
    }


def union_shape(unions: Unions) -> list[int]:
    """What of some keys a statement's shape depends on."""
    return [len(keys) for keys in unions.values()]


def union_slots(unions: Unions) -> dict[tuple[str, ...], list[Sql]]:
    """A slot for every key."""
    return {
        names: [slot(f"union_{number}_{position}") for position, _ in enumerate(keys)]
        for number, (names, keys) in enumerate(unions.items())
    }


def union_fills(unions: Unions) -> dict[str, str]:
    """What fills these slots."""
    return {
        f"union_{number}_{position}": key
        for number, keys in enumerate(unions.values())
        for position, key in enumerate(keys)
    }


def union_obstacles(model: PrivacyModel, name: str) -> Iterator[Obstacle]:
    """A requirement over some quasi-identifiers that takes more than the size of a class."""
    if model.quasi_identifiers is not None and not model.others and not model.judges_size:
        yield Obstacle(
            f"{name}: quasi_identifiers: the search makes classes of all quasi-identifiers, and of fewer ones it knows "
            "the sizes alone, which decide k_anonymity; use this one with check, or leave quasi_identifiers out"
        )


def overlap_obstacles(spec: Spec, models: Sequence[PrivacyModel]) -> Iterator[Obstacle]:
    """Two sets neither of which contains the other, or a requirement that looks at many, where rows are suppressed."""
    if not spec.suppression.allows_some:
        return
    some = [model.quasi_identifiers for model in models if model.quasi_identifiers and not model.others]
    own = sorted(map(set, some), key=len, reverse=True)
    for larger, smaller in pairwise(own):
        if not smaller <= larger:
            larger_names, smaller_names = (
                ", ".join(name for name in spec.quasi_identifiers if name in names) for names in (larger, smaller)
            )
            yield Obstacle(
                f"k_anonymity: neither of the sets {larger_names} and {smaller_names} contains the other, and rows "
                "suppressed for one make classes of the other smaller; use sets of which each contains the next, or a "
                "suppression limit of 0"
            )
    for model in models:
        if model.sets and not model.to_fixpoint:
            yield Obstacle(
                f"{model.label}: rows suppressed for one set of quasi-identifiers make the classes of another smaller; "
                "use a suppression limit of 0"
            )


def combination_obstacles(spec: Spec, models: Sequence[PrivacyModel], *, rounds: bool) -> Iterator[Obstacle]:
    """What cannot be asked for beside combinations where rows are suppressed: see :mod:`.combinations`.

    Args:
        spec: what was asked.
        models: its requirements.
        rounds: whether scratch tables can be made, one for each round.
    """
    if not spec.suppression.allows_some or not any(model.to_fixpoint for model in models):
        return
    for model in models:
        if not model.to_fixpoint and (model.quasi_identifiers is not None or model.of_table or model.among_classes):
            yield Obstacle(
                f"{model.label}: it is about more than single classes, and rows suppressed for combinations change it; "
                "use a suppression limit of 0, or leave one of the two out"
            )
    if not rounds:
        yield Obstacle(
            "k_anonymity: combinations: which rows to suppress is found in rounds, which need scratch tables; use a "
            "suppression limit of 0, or allow scratch tables (temp or schema)"
        )


def refuse_shared_persons(models: Sequence[PrivacyModel], counting: Counting) -> None:
    """Refuse to add up persons who are in several classes.

    Raises:
        UnsupportedError: some person has several vectors of quasi-identifiers, or is counted as if.
    """
    if counting != "unit":
        return
    known = any(model.others for model in models)
    some, instead = "some persons", "it with check, or a source with one vector per person"
    if known:
        some, instead = "some persons may", "others_as_quasi_identifiers with check alone"
    for model in models:
        if model.quasi_identifiers is not None and not model.others:
            raise UnsupportedError(
                f"{model.label}: {some} have rows in several classes of all quasi-identifiers, and would count several "
                f"times in a class of fewer; use {instead}"
            )
