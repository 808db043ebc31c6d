"""Mapping: which persons the rows of a release could be, and which of them are of no person, or not who they seem."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from kanon_sql.disclosure.attacks.base import AuditInput, Cases, Scene, Target, Unmeasured
from kanon_sql.disclosure.attacks.linking import linked_on
from kanon_sql.disclosure.attacks.method import AN_EXTERNAL_TABLE, AttackMethod, Need, Threat
from kanon_sql.disclosure.attacks.registry import attack
from kanon_sql.disclosure.attacks.vectors import covered, covers_of, kinds_of, labels_of, lookups_of, vectors_of
from kanon_sql.frequency import refuse_lost
from kanon_sql.sql import Sql, identifier, render

__all__ = ["Mapping"]


@attack
class Mapping(AttackMethod):
    """What protects the rows of a release from being matched with persons: null-map, wrong-map or k-map (Sweeney 2002).

    A row of a release maps to the records of a table of persons whose values its labels cover. It is protected by a
    *null-map* if there are none; by a *wrong-map* if there are some, and the row is about none of them; and by a
    *k-map* if there are at least k. Which person a row is about is not in a release. So what is counted is a lower
    bound: of the rows with the same labels, no more are about a person who fits than the source has records that fit.

    Rows that fit fewer than k persons, and may be about one of them, are exposed, at the risk of one over these. That
    assumes that the external table lists every person, which cannot be checked here, so it is an estimate and decides
    nothing. Releases of this project are true, so none of their rows is a wrong-map; rows that were perturbed, swapped
    or made up are.

    The three terms are the paper's; the bound is derived here, from what a release does not say.
    """

    name: ClassVar[str] = "mapping"
    place: ClassVar[int] = 13
    attacker: ClassVar[str] = "has a table of persons, and looks for those that each row could be about"
    exposes: ClassVar[str] = (
        "rows that match fewer than k persons and may be about one of them (an estimate; runs only if named)"
    )
    asks_for: ClassVar[str] = "`--external`, `--on`; the source"
    source: ClassVar[str] = "Sweeney 2002, section 3.1"
    threat: ClassVar[Threat] = "singling_out"
    on_request: ClassVar[str | None] = (
        "it measures what protects rows from linking, and also reads the source; name it with --attack"
    )
    reads_labels: ClassVar[bool] = True
    needs: ClassVar[tuple[Need, ...]] = (AN_EXTERNAL_TABLE,)
    about_tables: ClassVar[bool] = True
    default_noted: ClassVar[Literal["k", "l"] | None] = "k"

    def columns(self, given: AuditInput) -> Iterable[tuple[Target, Sequence[str]]]:
        """What rows are matched on, which the source must have as well."""
        on, external = linked_on(given)
        return [(table, on) for table in (given.release, external, given.source)]

    def run(self, scene: Scene) -> Sequence[Cases | Unmeasured]:
        """Match the rows with the external table, and with the source."""
        columns, external = linked_on(scene.given)
        generalized = [name for name in columns if name in scene.spec.quasi_identifiers]
        plain = [name for name in columns if name not in scene.spec.quasi_identifiers]
        named = {f"q{index}": name for index, name in enumerate(generalized)}
        tables = [external, scene.source, scene.release]
        kinds = kinds_of(named, tables)
        labels = labels_of(scene, scene.release, "mapped", named, plain, [external, scene.source], kinds)
        names = named | {f"p{index}": name for index, name in enumerate(plain)}

        def matched(table: Target, what: str) -> Sql:
            """The FROM form of a table's vectors and the labels that cover them."""
            own = replace(scene, workspace=scene.workspace.apart(f"{what}_"))
            vectors = vectors_of(
                own, table, "vectors", generalized, plain, [other for other in tables if other != table]
            )
            hierarchies = {name: scene.spec.quasi_identifiers[name] for name in generalized}
            lookups = lookups_of(own, vectors, table.columns, hierarchies) if generalized else []
            covers = covers_of(own, lookups, labels, "mapped", kinds)
            return covered(
                own, "mapped", vectors, covers, labels, names=list(named), carried=[*names, "row_count"],
                plain=len(plain),
            )  # fmt: skip

        keys = [identifier(key) for key in names]
        k = scene.population_k_of(generalized)
        mapped = render(
            "disclosure/attacks/mapped", labels=labels, keys=keys, persons=matched(external, "persons"),
            records=matched(scene.source, "records"),
        )  # fmt: skip
        null, wrong, many, all_rows = self._kinds(scene, mapped, k)
        if null == all_rows:
            why = f"nothing of {external.shown} matches a row"
            return [
                Unmeasured(
                    self.name, f"{why}, which protects no person if the columns are only written in another form"
                )
            ]
        note = (
            f"rows matched with {external.shown} on {', '.join(columns)}: {null:,} match no person (null-map), "
            f"at least {wrong:,} match persons but are about none of them (wrong-map), {many:,} match {k} or "
            "more (k-map)"
        )
        return [
            Cases(
                name=self.name,
                about=external.shown,
                query=render("disclosure/attacks/mapping", mapped=mapped, keys=keys, k=k),
                keys=names,
                measure="1 / the persons that a row matches",
                examined=render("disclosure/attacks/records", vectors=labels),
                estimate=True,
                notes=[note],
            )
        ]

    def _kinds(self, scene: Scene, mapped: Sql, k: int) -> tuple[int, ...]:
        """How many rows are protected by a null-map, a wrong-map and a k-map, and how many there are.

        The statement looks up whether all rows of all three tables were found again.
        """
        row = scene.workspace.row(
            "disclosure/attacks/mapped_kinds", mapped=mapped, k=k, sides=list(scene.sides.values())
        )
        refuse_lost(f"the attack {self.name}", row[4:])
        return tuple(int(count or 0) for count in row[:4])
