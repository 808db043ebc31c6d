"""Composition: intersect what each release says of a person's sensitive value."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.disclosure.attacks.base import Cases, Scene, Target
from kanon_sql.disclosure.attacks.other_releases import other_releases

__all__ = ["composition"]


def composition(scene: Scene, source: Target, earlier: Sequence[Target], attribute: str) -> Cases:
    """People of the source of whom fewer values are left than the requirement leaves to a class.

    The intersection attack of Ganta, Kasiviswanathan, Smith (2008, section 2): each release leaves a
    person the values of the class that the person is in, and a person who is in all of them has a
    value that is in each. Candidates are found as in :mod:`kanon_sql.disclosure.attacks.other_releases`; no row
    identity is needed, so the releases may be of different sources with people in common. Intersected are
    the releases that have the person's own value in such a row: the attacked one, and at least one other. Exposed
    are the people whose intersection has fewer than l
    values (l of the attribute's l-diversity; 2 if it has none), at a risk of one over its size. A NULL
    is no value. Where nobody is in two of them, nothing is measured.

    Args:
        scene: the release.
        source: lists the people; those whose value is in the release and in another one count.
        earlier: the other releases with the attribute, at least one.
        attribute: the sensitive attribute.
    """
    others = other_releases(scene, source, earlier, [attribute], f"values_{scene.spec.sensitive.index(attribute)}_")
    return Cases(
        name="composition",
        about=attribute,
        query=others.combined(scene, of_values=True, least=scene.l_of(attribute)),
        keys={f"q{index}": name for index, name in enumerate(scene.spec.quasi_identifiers)},
        measure="one over the values that all releases leave",
        against=others.against,
        unmatched=f"nobody of the source is in {scene.release.shown} and another release with the same {attribute}",
        notes=[f"people of the source; with {', '.join(table.shown for table in earlier)}", *others.notes],
    )
