"""Similarity: values that differ but mean nearly the same disclose what they have in common."""

from __future__ import annotations

from kanon_sql.disclosure.attacks.background import ruled_out
from kanon_sql.disclosure.attacks.base import Cases, Scene
from kanon_sql.disclosure.attacks.class_values import class_keys, held_labels
from kanon_sql.disclosure.attacks.vectors import lookups_of, vectors_of
from kanon_sql.hierarchies import highest_below_top
from kanon_sql.spec import QuasiIdentifier

__all__ = ["similarity"]


def similarity(scene: Scene, attribute: str, hierarchy: QuasiIdentifier) -> Cases:
    """Classes whose sensitive values all fall under one node below the hierarchy's top.

    The similarity attack of Li, Li, Venkatasubramanian (2007, section 3.1): three stomach diseases
    are three values, yet everybody in the class has a stomach disease. Since levels nest, the level
    below the top decides. Exposed are all rows of such a class; NULL protects nobody. No
    requirement allows it: what the hierarchy's author told apart is disclosed with certainty.

    The risk is the largest share of one node among the values of a class.

    Args:
        scene: the release.
        attribute: the sensitive attribute.
        hierarchy: of its values, as a spec gives those of quasi-identifiers.

    Raises:
        HierarchyError: it does not cover the values of the release.
    """
    values = vectors_of(scene, scene.release, "meanings", [attribute], [])
    (lookup,) = lookups_of(scene, values, scene.release.columns, {attribute: hierarchy}, partial=False)
    below = highest_below_top(scene.workspace, lookup.table, range(1, lookup.height), lookup.top)
    held = held_labels(scene, attribute, lookup.table, below)
    return Cases(
        name="similarity",
        about=attribute,
        query=ruled_out(scene, held, 0, 2),
        keys=class_keys(scene),
        measure="largest share of one node below the top in a class",
    )
