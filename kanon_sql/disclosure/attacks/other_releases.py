"""What an attacker who holds several releases knows of each person: shared by the attacks that join them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_sql.disclosure.attacks.base import Scene, Target
from kanon_sql.disclosure.attacks.vectors import covered, covers_of, kinds_of, labels_of, lookups_of, vectors_of
from kanon_sql.errors import SpecError
from kanon_sql.hierarchies import Lookup
from kanon_sql.sql import Relation, Sql, render

__all__ = ["Others", "other_releases"]


@dataclass(frozen=True)
class Others:
    """The source's people, and the rows of each release that may be theirs.

    Attributes:
        people: the source's vectors: ``q<i>``, ``p<j>``, ``row_count``.
        joined: per release, the FROM form of the people (``vectors``) with the rows that may be theirs (``released``).
        candidates: per release, per vector of quasi-identifiers and of plain columns: ``matches``.
        plain: the plain columns that every release has.
        quasi_identifiers: how many there are.
        lookups: the lookup table of each.
        notes: what to know about the tables.
        no_common_persons: the attacked release, or all others, have no rows.
        what: a word for scratch names.
    """

    people: Relation
    joined: Sequence[Sql]
    candidates: Sequence[Relation]
    plain: Sequence[str]
    quasi_identifiers: int
    lookups: Sequence[Lookup]
    notes: Sequence[str]
    no_common_persons: bool
    what: str

    @property
    def against(self) -> Sql | None:
        """The number of those who could be in several releases."""
        return None if self.no_common_persons else render("disclosure/attacks/records", vectors=self.people)

    def combined(self, scene: Scene, *, of_values: bool, least: int) -> Sql:
        """The cases: the source's people by what is left of them when the releases that they are in are combined.

        A person is taken to be in a release that has their own plain values in a row that may be theirs: who was
        suppressed there, or came later, is not protected by it.
        """
        marked = scene.workspace.table(f"{self.what}_told")
        scene.workspace.execute(
            "disclosure/attacks/marked_candidates", target=marked, candidates=self.candidates, plain=len(self.plain),
            marks=[2**number for number, _ in enumerate(self.candidates)],
            quasi_identifiers=self.quasi_identifiers, of_values=of_values,
        )  # fmt: skip
        return render(
            "disclosure/attacks/combined", people=self.people, marked=marked, plain=len(self.plain),
            quasi_identifiers=self.quasi_identifiers, of_values=of_values, least=least,
        )  # fmt: skip


def other_releases(scene: Scene, earlier: Sequence[Target], plain: Sequence[str], what: str) -> Others:
    """Find, for each person of the source and each release, the rows that may be that person's.

    A row may be a person's if its labels cover the person's values: each label is one that some
    level of the spec's hierarchies gives the value. An earlier release is joined on those of the
    quasi-identifiers that it has.

    Args:
        scene: the release that is attacked.
        earlier: the other releases.
        plain: columns that are released as they are and that every release has.
        what: a word for scratch names.

    Raises:
        SpecError: no row of a release has labels of the spec's hierarchies, so that nothing could be joined.
    """
    names, source = list(scene.spec.quasi_identifiers), scene.source
    releases = [scene.release, *earlier]
    people = vectors_of(scene, source, f"{what}_people", names, plain, releases)
    lookups = lookups_of(scene, people, source.columns, scene.spec.quasi_identifiers)
    keys, each = [f"q{index}" for index, _ in enumerate(names)], scene.workspace.table(f"{what}_each")
    scene.workspace.execute("disclosure/attacks/people", target=each, vectors=people, quasi_identifiers=len(names))
    candidates, together, notes, sizes = [], list[Sql](), list[str](), list[int]()
    for number, table in enumerate(releases):
        has = [index for index, name in enumerate(names) if name in table.columns]
        own = [lookups[index] for index in has]
        named = {f"q{index}": names[index] for index in has}
        kinds = kinds_of(named, [source, table])
        labels = labels_of(scene, table, f"{what}_labels{number}", named, plain, [source, *releases], kinds)
        covers = covers_of(scene, own, labels, f"{what}{number}", kinds)
        missed, rows = scene.workspace.row(
            "disclosure/attacks/unknown", labels=labels, covers=covers, names=[lookup.column for lookup in own]
        )
        sizes.append(int(rows or 0))
        if rows and missed == rows:
            raise SpecError(
                f"{table.shown}: none of its rows has labels that this spec's hierarchies give to the source's "
                "values, so it cannot be joined; check whether it was made with other hierarchies"
            )
        if missed:
            notes.append(
                f"{int(missed):,} of {int(rows):,} rows of {table.shown} have labels that no record of the source has "
                "now, and were not joined"
            )
        left_out = [name for name in names if name not in table.columns]
        if left_out:
            notes.append(f"{table.shown} has no {', '.join(left_out)}")
        target = scene.workspace.table(f"{what}_candidates{number}")
        joined = covered(scene, f"{what}{number}", each, covers, labels, names=list(named), carried=keys)
        scene.workspace.execute(
            "disclosure/attacks/candidates",
            target=target,
            joined=joined,
            quasi_identifiers=len(names),
            plain=len(plain),
        )
        candidates.append(target)
        together.append(joined)
    no_common_persons = not sizes[0] or not any(sizes[1:])
    return Others(people, together, candidates, plain, len(names), lookups, notes, no_common_persons, what)
