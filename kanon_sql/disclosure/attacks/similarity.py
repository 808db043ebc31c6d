"""Similarity: values that differ but mean nearly the same disclose what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from kanon_sql.disclosure.attacks.background import ruled_out
from kanon_sql.disclosure.attacks.base import AuditInput, Cases, Scene
from kanon_sql.disclosure.attacks.class_values import class_keys, class_labels
from kanon_sql.disclosure.attacks.method import A_HIERARCHY, AttackMethod, Need, Threat
from kanon_sql.disclosure.attacks.registry import attack
from kanon_sql.disclosure.attacks.vectors import lookups_of, vectors_of
from kanon_sql.hierarchies import highest_with_labels

__all__ = ["Similarity"]


@attack
class Similarity(AttackMethod):
    """Classes whose sensitive values all fall under one node that does not hold all values.

    The similarity attack of Li, Li, Venkatasubramanian (2007, section 3.1): three stomach diseases
    are three values, yet every person in the class has a stomach disease. Since levels nest, the highest
    level with several labels decides. Exposed are all rows of such a class; NULL protects no person. No
    requirement allows it: what the hierarchy's author distinguished is disclosed with certainty.

    The risk is the largest share of one node among the values of a class.
    """

    name: ClassVar[str] = "similarity"
    place: ClassVar[int] = 5
    attacker: ClassVar[str] = "knows which values have nearly the same meaning"
    exposes: ClassVar[str] = "rows of classes whose values all fall under one node of a hierarchy"
    asks_for: ClassVar[str] = "`--set hierarchy=COLUMN=FILE`"
    source: ClassVar[str] = "Li, Li, Venkatasubramanian 2007"
    threat: ClassVar[Threat] = "inference"
    needs: ClassVar[tuple[Need, ...]] = (A_HIERARCHY,)

    def subjects(self, given: AuditInput) -> Sequence[str | None]:
        """The sensitive attributes with a hierarchy."""
        return list(given.hierarchies)

    def run(self, scene: Scene) -> list[Cases]:
        """Look at the classes of the release.

        Raises:
            HierarchyError: the hierarchy does not cover the values of the release.
        """
        attribute = scene.attribute
        hierarchies = {attribute: scene.given.hierarchies[attribute]}
        values = vectors_of(scene, scene.release, "meanings", [attribute], [])
        (lookup,) = lookups_of(scene, values, scene.release.columns, hierarchies, partial=False)
        below = highest_with_labels(scene.workspace, lookup.table, range(1, lookup.height))
        return [
            Cases(
                name=self.name,
                about=attribute,
                query=ruled_out(scene, class_labels(scene, attribute, lookup.table, below), 0, 2),
                keys=class_keys(scene),
                whole=scene.release.relation,
                measure="largest share of one node below the top in a class",
            )
        ]
