"""Minimality: that a release is no more general than it must be tells that a finer one would have violated.

Wong, Fu, Wang, Pei (2007). An attacker who knows the requirement, and every person's quasi-identifiers, makes the
classes of each next finer release: one attribute a level lower. If they are large enough for the requirements, then it
was the sensitive values that kept it from being published.
:mod:`kanon_sql.disclosure.attacks.credibility` says how much that tells about each person.

The classes of a finer release are counted in the database; sizes and numbers of rows come back, no values, at most
:data:`MOST` of each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from kanon_sql.disclosure.attacks.base import Attack, AuditInput, Scene, Target
from kanon_sql.disclosure.attacks.credibility import LARGEST, Refined, credibilities
from kanon_sql.disclosure.attacks.method import COSTLY_ESTIMATE, AttributeAttack, Threat, roles_in_source
from kanon_sql.disclosure.attacks.promises import promised_k
from kanon_sql.disclosure.attacks.registry import attack
from kanon_sql.disclosure.attacks.vectors import kinds_of, label_texts, labels_of, level_of, lookups_of, vectors_of
from kanon_sql.errors import UnsupportedError
from kanon_sql.frequency import refuse_lost_rows
from kanon_sql.hierarchies import Lookup
from kanon_sql.models import TOLERANCE, ShareBound
from kanon_sql.sql import Relation, Sql, identifier, render

__all__ = ["MOST", "Minimality"]

MOST = 10_000
"""This many cells, and counts of values in classes, are looked at at most."""


@dataclass(frozen=True)
class _Finding:
    """Of one finer release: the people whose value is more credible than promised, and the highest credibility."""

    people: int
    highest: float


@attack
class Minimality(AttributeAttack):
    """How many people's values are more credible than promised, to who knows that the release is minimal."""

    name: ClassVar[str] = "minimality"
    place: ClassVar[int] = 14
    attacker: ClassVar[str] = "knows that no more detailed release was possible"
    exposes: ClassVar[str] = (
        "persons whose value an attacker infers with a probability above 1/l (an estimate; runs only if named)"
    )
    asks_for: ClassVar[str] = "the source; no suppression"
    source: ClassVar[str] = "Wong, Fu, Wang, Pei 2007"
    threat: ClassVar[Threat] = "inference"
    reads_labels: ClassVar[bool] = True
    on_request: ClassVar[str | None] = COSTLY_ESTIMATE

    def columns(self, given: AuditInput) -> Iterable[tuple[Target, Sequence[str]]]:
        """The source lists the people and their values."""
        return roles_in_source(given)

    def run(self, scene: Scene) -> list[Attack]:
        """Make the next finer releases.

        Returns:
            An estimate; exposed are the people with a credibility above 1 / l (or alpha), for the finer release that
            exposes most of them.

        Raises:
            UnsupportedError: what the release's minimality implies cannot be computed here: it is not full-domain,
                has suppressed rows, or does not satisfy the requirement.
        """
        attribute, source = scene.attribute, scene.source
        bound = _bound(scene, attribute)
        what = f"minimal{scene.spec.sensitive.index(attribute)}_"
        names = list(scene.spec.quasi_identifiers)
        people = vectors_of(scene, source, f"{what}people", names, [])
        lookups = lookups_of(scene, people, source.columns, scene.spec.quasi_identifiers)
        named = {f"q{index}": name for index, name in enumerate(names)}
        kinds = kinds_of(named, [source, scene.release])
        labels = labels_of(scene, scene.release, f"{what}labels", named, [attribute], kinds=kinds)
        refuse_lost_rows(scene.workspace, list(scene.sides.values()))
        written = [label_texts(lookup, kinds[lookup.column]) for lookup in lookups]
        levels = [_level(scene, lookup, labels, texts) for lookup, texts in zip(lookups, written, strict=True)]
        numbered = _numbered(scene, what, labels, names, bound)
        sizes, held = _held(scene, numbered)
        _refuse_violating(bound, sizes, held)
        least, findings = max(bound.least_size, promised_k(scene.spec, scene.models, ()) or 1), list[_Finding]()
        for position, lookup in enumerate(lookups):
            if levels[position] > lookup.quasi_identifier.minimum_level:
                cells = _cells(scene, people, lookups, levels, position, numbered, kinds)
                _refuse_other_rows(scene, sizes, cells)
                if min((size for found in cells.values() for size in found), default=0) >= least:
                    findings += _findings(bound, cells, held)
        worst = max(findings, key=lambda item: (item.people, item.highest), default=None)
        exposed = 0 if worst is None else worst.people
        notes = [
            "assumes that the attacker knows every person's quasi-identifiers, that the release is minimal, "
            f"that {bound.label} of one value prevented a more detailed one, and that all assignments of values "
            "are equally likely",
            f"exposed by a credibility above {bound.share:.4g}, by one more detailed release",
        ]
        if worst is None:
            notes.append("no finer release is known to violate by its values alone: minimality tells nothing")
        if any(size > LARGEST for size in sizes.values()):
            notes.append(f"classes of more than {LARGEST} rows are taken to satisfy in every finer release")
        return [
            Attack(
                name=self.name,
                about=attribute,
                examined=sum(sizes.values()),
                exposed=exposed,
                beyond=exposed,
                risk=None if worst is None else max(item.highest for item in findings),
                measure="credibility of one value of one person",
                estimate=True,
                notes=notes,
            )
        ]


def _bound(scene: Scene, attribute: str) -> ShareBound:
    """The requirement whose violation can be told value by value.

    Raises:
        UnsupportedError: there is none, or rows may be suppressed.
    """
    if scene.spec.suppression.allows_some:
        raise UnsupportedError(
            "attack minimality: the spec allows rows to be suppressed, so a more detailed release may contain "
            "some violations and still be published; minimality then allows no conclusion"
        )
    for model in scene.models:
        if model.attribute == attribute and model.share_bound is not None:
            return model.share_bound
    raise UnsupportedError(
        f"attack minimality: expected an alpha_k_anonymity or a distinct l_diversity with l = 2 of {attribute}, "
        "which can be checked value by value"
    )


def _level(scene: Scene, lookup: Lookup, labels: Relation, written: Sequence[Sql]) -> int:
    """The level that all labels of an attribute are of: the lowest such."""
    level = level_of(scene, lookup, labels, written)
    if level is not None:
        return level
    raise UnsupportedError(
        f"attack minimality: the labels of {lookup.name} are not all of one level of its hierarchy, so the "
        "release is not a full-domain generalization of this spec; audit it with the spec that it was made with"
    )


def _numbered(scene: Scene, what: str, labels: Relation, names: Sequence[str], bound: ShareBound) -> Relation:
    """The released vectors with a number for their class and for their value."""
    value = identifier("p0")
    target = scene.workspace.table(f"{what}numbered")
    scene.workspace.execute(
        "disclosure/attacks/numbered",
        target=target,
        labels=labels,
        names=[identifier(f"q{index}") for index, _ in enumerate(names)],
        value=value,
        protected=Sql("1") if bound.values is None else render("frequency/marked", label=value, values=bound.values),
    )
    return target


def _held(scene: Scene, numbered: Relation) -> tuple[dict[int, int], dict[int, dict[int, int]]]:
    """The size of each class, and per value how many rows of which class have it.

    Raises:
        UnsupportedError: rows without a value, or too many counts.
    """
    sizes: dict[int, int] = defaultdict(int)
    held: dict[int, dict[int, int]] = defaultdict(dict)
    for number, value, missing, protected, rows in _fetched(
        scene, "disclosure/attacks/numbered_counts", numbered=numbered
    ):
        if missing:
            raise UnsupportedError(
                "attack minimality: the release has rows without a sensitive value, which no requirement "
                "counts; the number of them in each cell is unknown"
            )
        sizes[number] += rows
        if protected:
            held[value][number] = rows
    return dict(sizes), dict(held)


def _cells(
    scene: Scene,
    people: Relation,
    lookups: Sequence[Lookup],
    levels: Sequence[int],
    lowered: int,
    numbered: Relation,
    kinds: Mapping[str, Iterable[str]],
) -> dict[int, list[int]]:
    """Per class of the release: the sizes of its cells when one attribute is a level lower. Number 0: of no class."""
    cells: dict[int, list[int]] = defaultdict(list)
    rows = _fetched(
        scene,
        "disclosure/attacks/cells",
        people=people,
        lookups=[lookup.table for lookup in lookups],
        names=[identifier(lookup.column) for lookup in lookups],
        written=[
            label_texts(lookup, kinds[lookup.column], f"lookup{index}")[level]
            for index, (lookup, level) in enumerate(zip(lookups, levels, strict=True))
        ],
        lowered=lowered,
        finer=levels[lowered] - 1,
        numbered=numbered,
    )
    for number, size in rows:
        cells[number].append(size)
    return dict(cells)


def _fetched(scene: Scene, template: str, **context: object) -> list[tuple[int, ...]]:
    rows = scene.workspace.fetch(template, MOST + 1, most=MOST + 1, **context)
    if len(rows) > MOST:
        raise UnsupportedError(
            f"attack minimality: more than {MOST:,} cells or counts to examine; with that many, a violation in "
            "one of them reveals next to nothing about any single cell"
        )
    return [tuple(int(number or 0) for number in row) for row in rows]


def _refuse_violating(bound: ShareBound, sizes: dict[int, int], held: dict[int, dict[int, int]]) -> None:
    if any(rows > bound.most(sizes[number]) for found in held.values() for number, rows in found.items()):
        raise UnsupportedError(
            f"attack minimality: the release does not satisfy {bound.label}, so it is not a minimal one; audit "
            "it with the spec that it was made with"
        )


def _refuse_other_rows(scene: Scene, sizes: dict[int, int], cells: dict[int, list[int]]) -> None:
    if {number: sum(found) for number, found in cells.items()} != sizes:
        raise UnsupportedError(
            f"attack minimality: the classes of {scene.release.shown} do not hold the rows that the source has "
            "there now, so the more detailed releases cannot be recomputed; restore the source as it was"
        )


def _findings(bound: ShareBound, cells: dict[int, list[int]], held: dict[int, dict[int, int]]) -> Iterator[_Finding]:
    """Per value: what a finer release tells of it."""
    for found in held.values():
        numbers = sorted(found)
        classes = [Refined(tuple(sorted(cells[number])), found[number]) for number in numbers]
        answers = credibilities(classes, bound.most)
        if answers is not None:
            pairs = [
                (size, credible)
                for item, answer in zip(classes, answers, strict=True)
                for size, credible in zip(item.cells, answer, strict=True)
            ]
            people = sum(size for size, credible in pairs if credible > bound.share + TOLERANCE)
            yield _Finding(people, max(credible for _, credible in pairs))
