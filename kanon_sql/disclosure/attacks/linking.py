"""Linking: match the release with a table that names people, on the columns they share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal

from kanon_sql.disclosure.attacks.base import AuditInput, Cases, Scene, Target
from kanon_sql.disclosure.attacks.method import AN_EXTERNAL_TABLE, AttackMethod, Need, Threat
from kanon_sql.disclosure.attacks.registry import attack
from kanon_sql.disclosure.attacks.vectors import covered, covers_of, kinds_of, labels_of, lookups_of, vectors_of
from kanon_sql.errors import SpecError
from kanon_sql.sql import identifier, render

__all__ = ["Linking", "linked_on"]


@attack
class Linking(AttackMethod):
    """Sweeney's attack with the voter list (2002, section 1), in both directions.

    For each record of the external table: how many rows of the release match it on the shared
    columns. A released label matches a value if some level of the column's hierarchy maps the
    value to it; a column that is no quasi-identifier must be equal. A record with at least one
    match and fewer than k (k of the requirement; 2 if it has none) is exposed: its risk is one
    over its matches. Records that match nothing are examined, and safe from this attack; where no record matches
    anything, nothing is measured.

    Reversed, for each class of the release: how many records of the external table match it. That
    fewer than k do (k-map's k counts here too) exposes its rows only if the external table lists the whole
    population (k-map, Sweeney 2002, section 5), which cannot be checked here: so the second figure is an estimate.
    """

    name: ClassVar[str] = "linking"
    place: ClassVar[int] = 1
    attacker: ClassVar[str] = "has a table with names"
    exposes: ClassVar[str] = (
        "records with fewer than k matching rows; reversed, rows whose class matches fewer than k records (an "
        "estimate: the table may not list every person)"
    )
    asks_for: ClassVar[str] = "`--external`, `--on`"
    source: ClassVar[str] = "Sweeney 2002"
    threat: ClassVar[Threat] = "linkability"
    reads_labels: ClassVar[bool] = True
    results: ClassVar[tuple[str, ...]] = ("linking", "linking, reversed")
    needs: ClassVar[tuple[Need, ...]] = (AN_EXTERNAL_TABLE,)
    about_tables: ClassVar[bool] = True
    counts_external: ClassVar[str | None] = "linking"
    default_noted: ClassVar[Literal["k", "l"] | None] = "k"

    def columns(self, given: AuditInput) -> Iterable[tuple[Target, Sequence[str]]]:
        """What to link on.

        Raises:
            SpecError: the tables share nothing.
        """
        on, external = linked_on(given)
        return [(table, on) for table in (given.release, external)]

    def run(self, scene: Scene) -> list[Cases]:
        """Match the tables."""
        columns, external = linked_on(scene.given)
        generalized = [name for name in columns if name in scene.spec.quasi_identifiers]
        plain = [name for name in columns if name not in scene.spec.quasi_identifiers]
        people = vectors_of(scene, external, "external", generalized, plain, [scene.release])
        named = {f"q{index}": name for index, name in enumerate(generalized)}
        kinds = kinds_of(named, [external, scene.source, scene.release])
        labels = labels_of(scene, scene.release, "linked", named, plain, [external], kinds)
        hierarchies = {name: scene.spec.quasi_identifiers[name] for name in generalized}
        try:
            lookups = lookups_of(scene, people, external.columns, hierarchies) if generalized else []
        except SpecError as error:  # the hierarchy fits the source; the other table has other values
            why = [problem.message.removeprefix("quasi_identifiers.") for problem in error.problems]
            raise SpecError(
                f"{external.shown}: {'; '.join(why)}. Give a table whose column has the source's type, or leave the "
                "column out of --on"
            ) from None
        covers = covers_of(scene, lookups, labels, "linked", kinds)
        names = named | {f"p{index}": name for index, name in enumerate(plain)}
        matched = covered(
            scene, "linked", people, covers, labels, names=list(named), carried=[*names, "row_count"], plain=len(plain)
        )
        keys = [identifier(key) for key in names]
        least, fewest = scene.k_of(generalized), scene.population_k_of(generalized)
        shared = ", ".join(columns)
        forward = Cases(
            name="linking",
            about=external.shown,
            query=render("disclosure/attacks/linking", matched=matched, keys=keys, k=least, reverse=False),
            keys=names,
            measure="1 / the matching rows of the release",
            examined=render("disclosure/attacks/records", vectors=people),
            against=render("disclosure/attacks/records", vectors=labels),
            unmatched=f"nothing of {external.shown} matches a row",
            notes=[f"records of {external.shown} matched on {shared}; exposed by fewer than {least} matching rows"],
        )
        backward = Cases(
            name="linking, reversed",
            about=external.shown,
            query=render("disclosure/attacks/linking", matched=matched, keys=keys, k=fewest, reverse=True),
            keys=names,
            measure="1 / the matching records",
            examined=render("disclosure/attacks/records", vectors=labels),
            against=render("disclosure/attacks/records", vectors=people),
            unmatched=f"nothing of {external.shown} matches a row",
            estimate=True,
            notes=[
                f"rows whose class matches fewer than {fewest} records; true if {external.shown} lists every person"
            ],
        )
        return [forward, backward]


def linked_on(given: AuditInput) -> tuple[tuple[str, ...], Target]:
    """The columns to link on, and the table to link with."""
    release, external = given.release, given.external
    if external is None:
        raise ValueError("linking is run with an external table")
    shared = tuple(dict.fromkeys(given.on)) or tuple(name for name in release.columns if name in external.columns)
    if not shared:
        raise SpecError(
            f"{external.shown} has no column in common with {release.shown} to link on; give another one, or "
            "rename its columns in a view"
        )
    return shared, external
