"""Homogeneity: anyone who is in a class whose rows share one sensitive value has that value."""

from __future__ import annotations

from typing import ClassVar

from kanon_sql.disclosure.attacks.background import ruled_out
from kanon_sql.disclosure.attacks.base import Cases, Scene
from kanon_sql.disclosure.attacks.class_values import class_keys, class_values
from kanon_sql.disclosure.attacks.method import AttributeAttack, Threat
from kanon_sql.disclosure.attacks.registry import attack

__all__ = ["Homogeneity"]


@attack
class Homogeneity(AttributeAttack):
    """Classes with one sensitive value (Machanavajjhala et al. 2007, section 2.1).

    Exposed are all rows of a class whose values are the same; a NULL protects no person, so the
    class {flu, NULL} is homogeneous, and a class with nothing but NULL exposes no person. No
    requirement allows it, whether or not it asks for l-diversity: the spec calls the
    attribute sensitive, and here it is disclosed with certainty.

    The risk is the largest share of one value among the values of a class.
    """

    name: ClassVar[str] = "homogeneity"
    place: ClassVar[int] = 2
    attacker: ClassVar[str] = "knows in which class a person is"
    exposes: ClassVar[str] = "rows of classes with one sensitive value"
    asks_for: ClassVar[str] = ""
    source: ClassVar[str] = "Machanavajjhala et al. 2007"
    threat: ClassVar[Threat] = "inference"

    def run(self, scene: Scene) -> list[Cases]:
        """Look at the classes of the release."""
        attribute = scene.attribute
        return [
            Cases(
                name=self.name,
                about=attribute,
                query=ruled_out(scene, class_values(scene, attribute), 0, scene.l_of(attribute)),
                keys=class_keys(scene),
                whole=scene.release.relation,
                measure="largest share of one value in a class",
            )
        ]
