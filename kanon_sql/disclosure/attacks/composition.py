"""Composition: intersect what each release says of a person's sensitive value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal

from kanon_sql.disclosure.attacks.base import AuditInput, Cases, Scene, Target
from kanon_sql.disclosure.attacks.method import (
    A_SENSITIVE_ATTRIBUTE,
    AN_EARLIER_RELEASE,
    AttributeAttack,
    Need,
    Threat,
    refuse_without,
    roles_in_source,
)
from kanon_sql.disclosure.attacks.other_releases import other_releases
from kanon_sql.disclosure.attacks.registry import attack

__all__ = ["Composition"]


@attack
class Composition(AttributeAttack):
    """People of the source with fewer values left than the requirement leaves to a class.

    The intersection attack of Ganta, Kasiviswanathan, Smith (2008, section 2): each release leaves a
    person the values of the class that the person is in, and a person who is in all of them has a
    value that is in each. Candidates are found as in :mod:`kanon_sql.disclosure.attacks.other_releases`; no row
    identity is needed, so the releases may be of different sources with people in common. Intersected are
    the releases that have the person's own value in such a row: the attacked one, and at least one other. Exposed
    are the people whose intersection has fewer than l
    values (l of the attribute's l-diversity; 2 if it has none), at a risk of one over its size. A NULL
    is no value. Where no person is in two of them, nothing is measured. Those of the source count whose value is in the
    release and in another one.
    """

    name: ClassVar[str] = "composition"
    place: ClassVar[int] = 7
    attacker: ClassVar[str] = "has another release of the same persons, and looks for a sensitive value"
    exposes: ClassVar[str] = "persons whose classes have fewer than l values in common"
    asks_for: ClassVar[str] = "`--earlier`"
    source: ClassVar[str] = "Ganta, Kasiviswanathan, Smith 2008"
    threat: ClassVar[Threat] = "inference"
    reads_labels: ClassVar[bool] = True
    needs: ClassVar[tuple[Need, ...]] = (A_SENSITIVE_ATTRIBUTE, AN_EARLIER_RELEASE)
    default_noted: ClassVar[Literal["k", "l"] | None] = "l"

    def columns(self, given: AuditInput) -> Iterable[tuple[Target, Sequence[str]]]:
        """The source lists the people and their values."""
        return roles_in_source(given)

    def run(self, scene: Scene) -> list[Cases]:
        """Intersect all releases.

        Raises:
            SpecError: an earlier release does not have the attribute.
        """
        attribute, earlier = scene.attribute, scene.given.earlier
        for table in earlier:
            refuse_without(table, [attribute])
        others = other_releases(scene, earlier, [attribute], f"values_{scene.spec.sensitive.index(attribute)}_")
        return [
            Cases(
                name=self.name,
                about=attribute,
                query=others.combined(scene, of_values=True, least=scene.l_of(attribute)),
                keys={f"q{index}": name for index, name in enumerate(scene.spec.quasi_identifiers)},
                measure="1 / the values that all releases leave",
                against=others.against,
                unmatched=f"no person of the source is in {scene.release.shown} and another release with the same "
                f"{attribute}",
                notes=[f"people of the source; with {', '.join(table.shown for table in earlier)}", *others.notes],
            )
        ]
