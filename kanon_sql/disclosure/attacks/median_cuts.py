"""Refinement of Mondrian's classes: the release shows every cut at a median, and what each says of the values.

The rules are those of :mod:`kanon_sql.recode.mondrian`, for k rows per class. In ``strict`` no class lies across a cut,
and the ranges of a partition are known from its classes. If some place in a column has k rows on both sides and no
class across, the column had an allowable cut, so its median cut was allowable; and where it was made, it is the place
of this kind that is nearest to half of the rows. So the release alone says which partitions there were and where each
was cut, from the class of all rows down. And of the values:

- *ends*: the lowest and the highest value of a range, and NULL where a label includes it, are values of rows. So is
  every value that occurs and that no other class can have. Where these are all rows, no other value is possible.
- *nearest*: a cut at L of n rows had no place nearer to half of them. With L > n / 2, the last value below it has
  2L - n + 1 rows at least; with L < n / 2, the first above it n - 2L.
- *not cut*: where 2k rows or more stay together, or were cut in a column that comes later by its width, each column
  that comes before had no allowable cut: one value has at most k - 1 rows below it and k - 1 above it. Ends of ranges
  are some of these; where they are all, rows that are not known yet have no other value on this side.

In ``relaxed`` every partition of 2k rows or more is halved, so classes overlap, and only the ends are used: a class of
more than 2k - 1 rows is several partitions with the same ends, and each of them holds these.

Each conclusion is drawn from one partition and one column at a time; with several at once, more may be impossible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kanon_sql.disclosure.attacks.base import Cases, Scene, Unmeasured
from kanon_sql.disclosure.attacks.vectors import kinds_of, labels_of, lookups_of, range_readings, vectors_of
from kanon_sql.hierarchies import Lookup
from kanon_sql.sql import Relation, identifier, render

__all__ = ["RangedColumn", "read_as_ranges", "refined_by_medians"]


@dataclass(frozen=True)
class RangedColumn:
    """A column whose labels are ranges, as templates know it.

    Attributes:
        index: its number among the quasi-identifiers.
        name: what the classes call it.
        unit: what a step from one value of the domain to the next adds to the width of a partition.
        any_null: whether NULL occurs.
        places: the values that occur, in order.
        readings: the released labels, with the places they begin and end with.
    """

    index: int
    name: str
    unit: float
    any_null: bool
    places: Relation
    readings: Relation


@dataclass
class _Classes:
    """The classes of a release, and what is learned of their values.

    Attributes:
        scene: where.
        classes: the classes, numbered.
        columns: the columns that are cut.
        boxes: the classes by column, with the ends of their ranges.
        known: the values that rows of a class certainly have.
        spare: the classes by column, with the rows that are not known.
        effects: what each round of cuts says.
    """

    scene: Scene
    classes: Relation
    columns: Sequence[RangedColumn]
    boxes: Relation = field(init=False)
    known: Relation = field(init=False)
    spare: Relation = field(init=False)
    effects: list[Relation] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        workspace = self.scene.workspace
        self.boxes, self.known, self.spare = (workspace.table(f"cut_{what}") for what in ("boxes", "sure", "spare"))

    def contradiction(self, *, relaxed: bool) -> str | None:
        """Learn from the classes; says what contradicts the rules, None if nothing does."""
        workspace, k = self.scene.workspace, self.scene.k
        (unread,) = workspace.row("disclosure/attacks/cut_unread", items=self.columns)
        if unread:
            return f"{unread} labels are no ranges of values that occur"
        places, covered = workspace.table("cut_places"), workspace.table("cut_covered")
        workspace.execute("disclosure/attacks/cut_boxes", target=self.boxes, classes=self.classes, items=self.columns)
        workspace.execute("disclosure/attacks/cut_places", target=places, items=self.columns)
        workspace.execute("disclosure/attacks/cut_covered", target=covered, places=places, boxes=self.boxes)
        workspace.execute(
            "disclosure/attacks/cut_sure",
            target=self.known, boxes=self.boxes, covered=covered, largest=2 * k - 1 if relaxed else None,
        )  # fmt: skip
        workspace.execute("disclosure/attacks/cut_spare", target=self.spare, boxes=self.boxes, known=self.known)
        small, lost = workspace.row("disclosure/attacks/cut_impossible", spare=self.spare, covered=covered, k=k)
        if small or lost:
            return f"{small} classes are too small, and {lost} values that occur are under no label"
        return None if relaxed or self._cut() else "cuts at medians do not result in its classes"

    def _cut(self) -> bool:
        """Follow the cuts from the class of all rows down; False where a partition contradicts the rules."""
        workspace, k = self.scene.workspace, self.scene.k
        members = workspace.table("cut_members")
        workspace.execute("disclosure/attacks/cut_members", target=members, classes=self.classes)
        while True:
            steps, effects, moved = (
                workspace.table(f"cut_{what}{len(self.effects)}") for what in ("steps", "effects", "moved")
            )
            read = {"members": members, "spare": self.spare, "known": self.known, "boxes": self.boxes}
            workspace.execute("disclosure/attacks/cut_steps", target=steps, items=self.columns, k=k, **read)
            workspace.execute("disclosure/attacks/cut_effects", target=effects, steps=steps, k=k, **read)
            self.effects.append(effects)
            cuts, contradicted = workspace.row(
                "disclosure/attacks/cut_round", steps=steps, members=members, effects=effects
            )
            if contradicted or not cuts:
                return not contradicted
            workspace.execute("disclosure/attacks/cut_moved", target=moved, steps=steps, **read)
            members = moved

    def refined(self, index: int) -> Relation:
        """The values that are impossible, of one column."""
        refined = self.scene.workspace.table(f"refined{index}")
        self.scene.workspace.execute(
            "disclosure/attacks/cut_refined",
            target=refined, spare=self.spare, known=self.known, effects=self.effects, index=index,
        )  # fmt: skip
        return refined


def refined_by_medians(scene: Scene, name: str) -> Sequence[Cases | Unmeasured]:
    """The rows for which values are impossible, column by column.

    Args:
        scene: the source, and the release of ``recoding: mondrian``.
        name: of the attack.

    Returns:
        Estimates; or that the release was not made by these rules, or that they cannot be followed here.
    """
    workspace = scene.workspace
    if workspace.mode == "inline":
        return [Unmeasured(name, "cuts are followed one after the other, which takes temporary tables (scratch=temp)")]
    keys = {f"q{index}": column for index, column in enumerate(scene.spec.quasi_identifiers)}
    people = vectors_of(scene, scene.source, "cut_people", [*keys.values()], [])
    kinds = kinds_of(keys, [scene.source, scene.release])
    labels = labels_of(scene, scene.release, "cut_labels", keys, [], kinds=kinds)
    numbered = workspace.table("cut_classes")
    workspace.execute("disclosure/attacks/cut_classes", target=numbered, labels=labels, names=[*keys])
    classes = _Classes(scene, numbered, _columns(scene, people, labels))
    if not classes.columns:
        return [Unmeasured(name, "no column has values below the top, so none was cut")]
    why = classes.contradiction(relaxed=scene.spec.recoding.variant == "relaxed")
    if why is not None:
        return [Unmeasured(name, f"the release was not made by recoding: mondrian, run to its end: {why}")]
    return [_cases(name, classes, column, index, keys) for index, column in enumerate(keys.values())]


def _cases(name: str, classes: _Classes, column: str, index: int, keys: Mapping[str, str]) -> Cases:
    """The classes with the share of the values under their label that are impossible, of one column."""
    workspace, refined = classes.scene.workspace, classes.refined(index)
    facts = workspace.row("disclosure/attacks/refined_facts", classes=refined)
    return Cases(
        name=name,
        about=column,
        query=render(
            "disclosure/attacks/refined_cases",
            classes=classes.classes, refined=refined, keys=[identifier(key) for key in keys],
        ),
        keys=keys,
        measure="largest share of the values under a label that are impossible",
        whole=classes.scene.release.relation,
        estimate=True,
        notes=_notes(facts),
    )  # fmt: skip


def _notes(facts: Sequence[object]) -> list[str]:
    """What the figures rest on, how much they say, and what they do not say."""
    generalized, shrunk, shares, certain, bounded, _ = (float(str(fact)) for fact in facts)
    return [
        "assumes that the attacker knows the order and the weights of the columns and which values occur, and that the "
        "release was made by mondrian, run to its end",
        f"ranges of several values: {generalized:,.0f} rows, of which values are impossible for {shrunk:,.0f}"
        + (f" ({shares / shrunk:.1%} of the values on average)" if shrunk else "")
        + f"; that a row of the class has this value is certain for {certain:,.0f} rows, by cuts that were or were not "
        f"made in classes of {bounded:,.0f} rows",
        "a lower bound: not concluded from are several columns, or several partitions, at once",
    ]


def _columns(scene: Scene, people: Relation, labels: Relation) -> list[RangedColumn]:
    """The columns that have values below the top."""
    found = []
    for lookup in lookups_of(scene, people, scene.source.columns, scene.spec.quasi_identifiers):
        own = read_as_ranges(scene, lookup, labels)
        if own is not None:
            found.append(own)
    return found


def read_as_ranges(scene: Scene, lookup: Lookup, labels: Relation) -> RangedColumn | None:
    """A column whose labels are ranges of its values; None for others, and where it has no value below the top."""
    ranges = range_readings(scene, lookup, labels, "cut")
    if ranges is None:
        return None
    readings = scene.workspace.table(f"cut_readings{lookup.index}")
    scene.workspace.execute(
        "disclosure/attacks/cut_readings",
        target=readings, labels=labels, name=lookup.column, places=ranges["places"], ranges=ranges["table"],
        top=lookup.top, any_null=int(lookup.has_nulls), null_at=lookup.domain_rows - 1,
    )  # fmt: skip
    unit = lookup.quasi_identifier.weight / max(1, lookup.domain_rows - 1)
    return RangedColumn(lookup.index, lookup.column, unit, lookup.has_nulls, ranges["places"], readings)
