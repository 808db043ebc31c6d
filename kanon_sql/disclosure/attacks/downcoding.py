"""Downcoding: that no label could be more detailed tells more detailed labels.

Cohen, Attacks on Deidentification's Defenses, USENIX Security 2022. A release Y *generalizes* a table X if every
label covers its value, row by row in some order. A *downcoding* of Y is a strictly more detailed table Z that
generalizes X all the same, made by a person who has Y and not X. The paper's releases are hierarchical and *minimal*:
no strictly more detailed hierarchical release of X is k-anonymous. What it infers with high probability from a known
distribution of X is not measured here; what follows with certainty is, column by column.

The rows of a class look alike, so what can be certain is how many of them have which label. Let a class have s rows,
and a label whose values fall into parts: on the next level down on which there are several. If at most m(v) rows are in
part v, then at least s less the sum of m(w) over the other parts w are in v: an attacker gives this many of the class's
rows the label v, and is right. Two assumptions bound m:

- *lowest*: each label is the lowest that all rows of the class have in common, as local recoding releases them. So not
  all rows are in one part: m = s - 1.
- *minimal*: no refinement is k-anonymous. Besides, in a class of 2k rows or more no part has k rows, else k of them
  could have its label: m = k - 1. Where another class has the part's label and all other labels of this one, a row
  could go there without leaving fewer than k: m = 0 in a class of more than k rows.

The second takes conditions on one column and one step at a time; those on several at once could only tell more. A part
whose text stands for other values too bounds nothing: its rows may have been released under the label above.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from kanon_sql.disclosure.attacks.base import AuditInput, Cases, Scene, Target, Unmeasured
from kanon_sql.disclosure.attacks.method import COSTLY_ESTIMATE, AttackMethod, Threat
from kanon_sql.disclosure.attacks.registry import attack
from kanon_sql.disclosure.attacks.vectors import (
    covered,
    covers_of,
    kinds_of,
    label_texts,
    labels_of,
    lookups_of,
    vectors_of,
)
from kanon_sql.hierarchies import Lookup
from kanon_sql.sql import Relation, Sql, identifier, render

__all__ = ["Downcoding", "label_levels"]

MINIMAL = "downcoding, minimal"
"""The result under the assumption that no refinement is k-anonymous."""


@dataclass(frozen=True)
class _Column:
    """One quasi-identifier of the release, and the tables that tell its parts.

    Attributes:
        name: what templates call it.
        levels: its values with their labels.
        parts: its labels with their parts.
        labels: the classes of the release.
        records: source rows per class and part.
        keys: the columns of a class.
    """

    name: str
    levels: Relation
    parts: Relation
    labels: Relation
    records: Relation
    keys: dict[str, str]


@attack
class Downcoding(AttackMethod):
    """Of how many rows a more detailed label is certain, per quasi-identifier (Cohen 2022)."""

    name: ClassVar[str] = "downcoding"
    place: ClassVar[int] = 15
    attacker: ClassVar[str] = (
        "knows how labels were chosen: that each is the lowest that its class has in common (local recoding), or "
        "that nothing more detailed is k-anonymous"
    )
    exposes: ClassVar[str] = (
        "rows of which a more detailed label is certain, per column (an estimate; runs only if named)"
    )
    asks_for: ClassVar[str] = "the source; local recoding, or k-anonymity alone"
    source: ClassVar[str] = "Cohen 2022"
    threat: ClassVar[Threat] = "singling_out"
    reads_labels: ClassVar[bool] = True
    results: ClassVar[tuple[str, ...]] = ("downcoding", MINIMAL)
    on_request: ClassVar[str | None] = COSTLY_ESTIMATE

    def columns(self, given: AuditInput) -> Iterable[tuple[Target, Sequence[str]]]:
        """The source says which values occur."""
        return [(given.source, [*given.spec.quasi_identifiers])]

    def subjects(self, given: AuditInput) -> Sequence[str | None]:
        """The quasi-identifiers."""
        return [*given.spec.quasi_identifiers]

    def run(self, scene: Scene) -> Sequence[Cases | Unmeasured]:
        """Divide the labels of one column into parts, and count the rows that have to be in each.

        Returns:
            Estimates: that the release is what it is assumed to be, only its maker knows. ``exposed`` are the rows of
            which a more detailed label is certain under the assumption, as far as the source has them.
        """
        if scene.spec.recoding.releases_ranges:
            why = "some labels are ranges of values, and only a hierarchy defines the labels below a label"
            return [Unmeasured(self.name, why)]
        lowest, k = scene.spec.recoding.labels_are_lowest, _k_of(scene)
        unknown = (
            "what a more detailed release would violate is known only for k-anonymity of rows, over all "
            "quasi-identifiers"
        )
        if not lowest and k is None:
            return [Unmeasured(self.name, f"the recoding does not promise the lowest labels, and {unknown}")]
        column, found = _column(scene), list[Cases]()
        if lowest:
            others = [f"not measured: what a minimal release reveals, since {unknown}"] if k is None else []
            found.append(_cases(scene, column, self.name, None, others))
        return found if k is None else [*found, _cases(scene, column, MINIMAL, k, [])]


def _k_of(scene: Scene) -> int | None:
    """The k of k-anonymity, where nothing else is required; None where something is."""
    if scene.spec.unit is not None:
        return None
    if not all(model.judges_size and model.quasi_identifiers is None for model in scene.models):
        return None
    return scene.k


def _column(scene: Scene) -> _Column:
    """The classes of the release, the parts of their labels in one column, and the source's rows behind these."""
    names, source = list(scene.spec.quasi_identifiers), scene.source
    place = names.index(scene.attribute)
    what, keys = f"downcoded{place}_", {f"q{index}": name for index, name in enumerate(names)}
    own = [*keys][place]
    people = vectors_of(scene, source, f"{what}people", names, [])
    kinds = kinds_of(keys, [source, scene.release])
    labels = labels_of(scene, scene.release, f"{what}classes", keys, [], kinds=kinds)
    lookups = lookups_of(scene, people, source.columns, scene.spec.quasi_identifiers, numbered=True)
    covers = covers_of(scene, lookups, labels, what.rstrip("_"), kinds)
    matched = covered(scene, what, people, covers, labels, names=list(keys), carried=[*keys, "row_count"])
    levels = label_levels(scene, what, people, lookups[place], label_texts(lookups[place], kinds[own], "lookup"))
    workspace = scene.workspace
    parts, records = workspace.table(f"{what}parts"), workspace.table(f"{what}records")
    workspace.execute("disclosure/attacks/label_parts", target=parts, levels=levels, labels=labels, name=own)
    workspace.execute(
        "disclosure/attacks/part_records", target=records, matched=matched, parts=parts, name=own, names=list(keys)
    )
    return _Column(own, levels, parts, labels, records, keys)


def label_levels(
    scene: Scene,
    what: str,
    people: Relation,
    lookup: Lookup,
    written: Sequence[Sql],
    levels: Iterable[int] | None = None,
) -> Relation:
    """A table of the values that occur, with their labels on some levels: by default those that may be released."""
    lowest, target = lookup.quasi_identifier.minimum_level, scene.workspace.table(f"{what}levels")
    scene.workspace.execute(
        "disclosure/attacks/label_levels",
        target=target, lookup=lookup.table, people=people, name=lookup.column, height=lookup.height,
        levels=list(range(lowest, lookup.highest + 1) if levels is None else levels), written=written,
    )  # fmt: skip
    return target


def _cases(scene: Scene, column: _Column, name: str, k: int | None, notes: Sequence[str]) -> Cases:
    """How many rows are known under one assumption."""
    keys, own = list(column.keys), column.name
    place = keys.index(own)
    classes = scene.workspace.table(f"downcoded{place}_{'lowest' if k is None else 'minimal'}")
    scene.workspace.execute(
        "disclosure/attacks/downcoded",
        target=classes, labels=column.labels, parts=column.parts, records=column.records, names=keys, name=own,
        before=keys[:place], after=keys[place + 1 :], k=k,
    )  # fmt: skip
    facts = scene.workspace.row(
        "disclosure/attacks/downcoded_facts",
        classes=classes, labels=column.labels, levels=column.levels, name=own,
    )  # fmt: skip
    return Cases(
        name=name,
        about=scene.attribute,
        query=render("disclosure/attacks/downcoded_cases", classes=classes, keys=[identifier(key) for key in keys]),
        keys=column.keys,
        measure="largest share of a class's rows of which a more detailed label is certain",
        whole=scene.release.relation,
        estimate=True,
        notes=[*_notes(k, *(int(fact) for fact in facts)), *notes],
    )


def _notes(k: int | None, classes: int, contradicted: int, refuted: int, unread: int) -> list[str]:
    """What the figures rest on, and what they do not say."""
    knows = "assumes that the attacker knows the hierarchies and which values occur, and that"
    if k is None:
        notes = [
            f"{knows} every label is the lowest that the rows of its class have in common, as local recoding does it"
        ]
    else:
        notes = [f"{knows} no strictly more detailed hierarchical release is {k}-anonymous"]
    if contradicted:
        notes.append(
            f"{contradicted:,} of {classes:,} classes contradict that: some of their rows could have a more detailed "
            "label; what is concluded from the others rests on an assumption that is false"
        )
    if refuted:
        notes.append(f"of {refuted:,} more rows the conclusion is wrong: the source has no such rows")
    if unread:
        notes.append(f"{unread:,} rows have a label here that no value of the source has: they were not looked at")
    return [
        *notes,
        "counts certain conclusions from one column at a time; not measured: likely conclusions, by a known "
        "distribution of the values, and certain ones by several columns or by the lattice of a full-domain "
        "search",
    ]
