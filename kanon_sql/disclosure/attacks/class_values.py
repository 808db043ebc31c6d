"""The frame that attacks on one class look at: how often each class holds each sensitive value."""

from __future__ import annotations

from kanon_sql.disclosure.attacks.base import Scene
from kanon_sql.hierarchies import exact_value, shown_keys
from kanon_sql.sql import Relation, Sql, identifier, render

__all__ = ["class_keys", "class_labels", "class_values"]


def class_keys(scene: Scene) -> dict[str, str]:
    """Our columns of a class's key -> the quasi-identifiers they stand for.

    First come their values. A quasi-identifier whose equal numbers may look different has one more column behind these:
    a class is of rows that a reader cannot tell from each other.
    """
    names = list(scene.spec.quasi_identifiers)
    names += [name for name in names if scene.release.columns[name].varies is not None]
    return {f"q{index}": name for index, name in enumerate(names)}


def class_values(scene: Scene, attribute: str, reference: Sql | None = None) -> Sql:
    """A FROM form: per class and value of a sensitive attribute (NULL included) ``held``, its rows.

    Args:
        scene: the release.
        attribute: the sensitive attribute.
        reference: its reference distribution, for ``reference_share``; without one that is 0.
    """
    return _counted(scene, attribute, reference, None, None)


def class_labels(scene: Scene, attribute: str, lookup: Relation, level: int) -> Sql:
    """How often each class holds each label of the values, at a level of the attribute's own hierarchy.

    Args:
        scene: the release.
        attribute: the sensitive attribute.
        lookup: its lookup table: ``value``, ``l0``, ``l1``, ...
        level: of the labels.
    """
    return _counted(scene, attribute, None, lookup, level)


def _counted(scene: Scene, attribute: str, reference: Sql | None, lookup: Relation | None, level: int | None) -> Sql:
    release = scene.release
    names = list(scene.spec.quasi_identifiers)
    scene.look_at(release, [*names, attribute])
    frequency = render(
        "evaluate/examine/rows",
        table=release.relation,
        keys=shown_keys([release.columns[name] for name in names], "checked"),
        key_names=list(class_keys(scene)),
        value=exact_value(release.columns[attribute], "checked"),
        compared=False,
        facts=[],
        unit=None,
        where=None,
        counted=False,
    )
    keys = [identifier(key) for key in class_keys(scene)]
    return render(
        "disclosure/attacks/class_values",
        frequency=frequency, keys=keys, reference=reference, lookup=lookup, level=level,
        written=release.columns[attribute].kind == "text",
    )  # fmt: skip
