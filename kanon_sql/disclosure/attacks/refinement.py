"""Refinement: what the choices of local recoding rule out, for a reader who knows its rules and not the source.

Combinatorial refinement attacks (Chhillar, Righi, Sutter, Kornaropoulos 2025) need no other data: labels were chosen by
rules that are public, and values under a label for which the rules would have chosen otherwise are impossible. Theirs
are the rules of ARX; these are the ones of local recoding (``fast``), begun at the top, for k rows per class:

- *lowest*: the label of a class is the lowest one that its rows have in common. So not all rows are in one of the
  parts that it is divided into on the next level down: at most n - 1 of n rows.
- *not cut*: a class that stays whole had no allowable cut. With 2k rows or more no child reached k, or one alone did,
  whose largest vector had more than n - 2k rows. Vectors of k rows or more were released by themselves, so that ends
  at 3k - 2 rows: from 3k - 1 rows on, no part has k.
- *left over*: let a class be covered by another, and have the same labels in all columns but one. Both were separated
  by a cut of that column: what the finer class covers went there, and the other class is what was left over. None of
  its rows has a value under the finer label. Similar vectors are given to a pool that is too small, but then it ends
  with 2k - 2 rows at most; so this holds from 2k - 1 rows on.
- *whole vectors*: alike rows are never parted. If all labels of the finer class are of the lowest levels, it holds
  every row of its vector, and the other class has none, whatever its size.

The second and third need vectors of k rows to have been released by themselves, which does not happen where 1 to k - 1
rows would stay behind. Then fewer than k rows are in vectors of fewer than k rows; every class of fewer than 2k rows
that has two different ones holds such a row, so k such classes refute it. Where fewer do, only the first rule is used.

Those two are also the rules of :mod:`kanon_sql.recode.specialize` alone. Of few vectors, dear classes are swept again
(:mod:`kanon_sql.recode.sweep`): their rows claim classes of several nodes of the lattice, and classes that become alike
are one. So a class may have had an allowable cut, and hold rows that a finer class would have covered. A release does
not say which classes were swept. Then only *lowest* and *whole vectors* are used, which hold however classes are made
of vectors; also where levels above the values are the lowest, since vectors are then fewer than values tell. These two
are likewise what holds of the best of several recodings, of one that begins with the full-domain optimum or at levels
below the top, and where requirements besides k-anonymity of rows allow cuts: which of them a class was made by remains
open, and the vectors that are suppressed have no row in the release.

**Ranges.** The parts of a range are its values. Its ends are values of rows, so that two rows have no other value
(three, where NULL is in it; this is not used where rows may be suppressed, with which an end may go). Both sides of a
cut are ranges that share no value, so the second and the third rule say nothing; *whole vectors* and *lowest* hold.

**Cells.** A column has one level, and single cells are released as its top. What is whole are the vectors of that
level, and a class is of one of them where it has no suppressed cell. Its level is that of the labels that are not the
top's; where a column has none, it is open whether any cell was suppressed, so such columns are not concluded from. Nor
are others of the full-domain optimum, which may be released instead: its classes are whole, too.

Where the recoding resists (:mod:`kanon_sql.recode.resist`), only the first rule holds. What the cuts of Mondrian say is
in :mod:`kanon_sql.disclosure.attacks.median_cuts`, and micro-aggregated numbers in
:mod:`kanon_sql.disclosure.attacks.ordered_numbers`.

**ARX.** Its local recoding (``optimizeIterative`` and ``optimizeIterativeFast``) takes one node of the lattice after
another: rows in classes of k are released with its labels, and the others go on. So a class that was released has all
rows that had its labels and were there. Let a class of k rows have labels that are not above those of another class. If
the other one had been released first, the rows of the first one, which look alike by its labels, too, would have been
released with it. So they were released earlier, or in the same iteration, and the other class has no row with these
labels; nor have the rows that were suppressed in the end. That holds whichever nodes were chosen.

Not concluded from: which column was preferred, ties, and classes that differ in several columns. So more may be ruled
out than is counted, and nothing that is counted is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from kanon_sql.disclosure.attacks.base import AuditInput, Cases, Scene, Target, Unmeasured
from kanon_sql.disclosure.attacks.downcoding import label_levels
from kanon_sql.disclosure.attacks.median_cuts import RangedColumn, read_as_ranges, refined_by_medians
from kanon_sql.disclosure.attacks.method import COSTLY_ESTIMATE, AttackMethod, Option, Threat
from kanon_sql.disclosure.attacks.one_label import ONE_LABEL, refined_by_one_label, why_not_exchanged
from kanon_sql.disclosure.attacks.ordered_numbers import refined_by_order, why_not_ordered
from kanon_sql.disclosure.attacks.registry import attack
from kanon_sql.disclosure.attacks.vectors import covered, kinds_of, label_texts, labels_of, lookups_of, vectors_of
from kanon_sql.hierarchies import Lookup
from kanon_sql.models import PrivacyModel
from kanon_sql.recode import sweeps_dear_classes
from kanon_sql.spec import Spec, why_not_parted
from kanon_sql.sql import Relation, identifier, render

__all__ = ["Refinement"]

_DIVIDED = ("local", "cells")
"""The recodings whose classes are made of whole vectors."""


@attack
class Refinement(AttackMethod):
    """Of which cells some values under the label are impossible, by the rules of the recoding."""

    name: ClassVar[str] = "refinement"
    place: ClassVar[int] = 16
    attacker: ClassVar[str] = "knows the recoding's rules, the hierarchies, k and which values occur"
    exposes: ClassVar[str] = (
        "rows for which some values under their label are impossible, per column (an estimate; runs only if named)"
    )
    asks_for: ClassVar[str] = (
        "the source; `local`, `cells`, `microaggregation` of a single column; for one k-anonymity of rows `mondrian`, "
        "and without suppression `subtree` and `full_domain`"
    )
    source: ClassVar[str] = "Chhillar et al. 2025"
    threat: ClassVar[Threat] = "inference"
    reads_labels: ClassVar[bool] = True
    reads_numbers: ClassVar[bool] = True
    on_request: ClassVar[str | None] = COSTLY_ESTIMATE
    uses: ClassVar[tuple[Option, ...]] = (Option.MADE_BY,)

    def columns(self, given: AuditInput) -> Iterable[tuple[Target, Sequence[str]]]:
        """The source says which values occur."""
        return [(given.source, [*given.spec.quasi_identifiers])]

    def run(self, scene: Scene) -> Sequence[Cases | Unmeasured]:
        """Rule out values under the labels of each column.

        Returns:
            An estimate: that the release was made by the rules, only its maker knows. ``exposed`` are the rows that
            have fewer candidates for their value in this column than there are values under its label; and the persons
            that have fewer possible values of a sensitive attribute than the classes that match them.
        """
        why = why_not_modelled(scene.spec, scene.models, scene.given.made_by)
        if why is not None:
            return [Unmeasured(self.name, why)]
        method = scene.spec.recoding.method
        if scene.given.made_by is None and method in ONE_LABEL:
            return refined_by_one_label(scene, self.name)
        refined = {"mondrian": refined_by_medians, "microaggregation": refined_by_order}.get(method, _cases)
        return refined(scene, self.name)


def why_not_modelled(spec: Spec, models: Sequence[PrivacyModel], made_by: str | None = None) -> str | None:
    """Why the rules by which labels were chosen are not those that this attack knows; None if they are.

    Args:
        spec: what was asked for.
        models: its requirements.
        made_by: the program that made the release, if not this one.
    """
    recoding = spec.recoding
    if made_by is not None and not recoding.is_full_domain:
        return f"made_by says that {made_by} made the release, and the spec recoding: {recoding.method}; leave one out"
    if made_by is None and recoding.method not in (*_DIVIDED, *ONE_LABEL, "mondrian", "microaggregation"):
        return f"the rules by which {recoding.method} chooses labels are not modelled"
    if recoding.ranges and recoding.method == "local" and not _begins_at_top(spec):
        return "the full-domain optimum may be released instead of ranges; fast is modelled with them, from the top"
    if spec.count is not None or spec.missing is not None:
        return "rows that stand for several persons, and codes that are read as NULL, are not modelled"
    if spec.nulls != "value":
        return "rows with NULL are suppressed, and may be released like a class of their own; use nulls: value"
    if recoding.method == "microaggregation":
        return why_not_ordered(spec)
    if made_by is None and recoding.method in ONE_LABEL:
        return why_not_exchanged(spec)
    if made_by is None and recoding.method in _DIVIDED:
        return None if _why_no_cuts(spec) is None else _why_not_divided(spec, models)
    why = why_not_parted(spec, single=True)
    return why and f"only the rules for one k_anonymity of rows over all quasi-identifiers are modelled, and {why}"


def _why_not_divided(spec: Spec, models: Sequence[PrivacyModel]) -> str | None:
    """Why classes may not consist of whole vectors, with the lowest labels that these have in common; None if so."""
    for model in models:
        if model.among_classes or model.of_table or model.population is not None or model.to_fixpoint:
            return f"{model.label} is not about the rows of single classes, and its rules are not modelled"
        if model.quasi_identifiers is not None or model.others:
            return f"with {model.label}, the full-domain optimum may be released instead, whose rules are not modelled"
    if spec.m_invariance is not None:
        return "m_invariance publishes rows that stand for no person"
    if spec.suppression.style == "mask" and spec.suppression.allows_some:
        return "masked rows look like a class of their own; use style: drop"
    return None


def _why_no_cuts(spec: Spec) -> str | None:
    """Why cuts that were not made say nothing of a class; None where they may."""
    recoding = spec.recoding
    if recoding.method != "local":
        return "cells are suppressed by whichever of several ways loses least"
    if not _begins_at_top(spec):
        return "the release is the best of several recodings, or begins with the full-domain optimum"
    if recoding.ranges:
        return "ranges of a cut share no value, so no class of them is what another one left over"
    why = why_not_parted(spec, single=True)
    if why is not None:
        return f"more than the sizes of classes allows cuts, since {why}"
    if any(column.maximum_level is not None for column in spec.quasi_identifiers.values()):
        return "with a maximum_level the recoding may begin with several classes"
    return None


def _begins_at_top(spec: Spec) -> bool:
    """Whether the release is of cuts from the highest levels down, and nothing else."""
    return spec.recoding.variant == "fast" and spec.recoding.begins == "top"


@dataclass(frozen=True)
class _Rules:
    """What is concluded from.

    Attributes:
        iterated: one node after another was taken, as ARX does.
        whole: vectors were not parted.
        peeled: large vectors were released by themselves, and cuts made wherever they were allowed.
        note: why some rules are not used; None if all are.
    """

    iterated: bool
    whole: bool
    peeled: bool
    note: str | None

    @classmethod
    def of(cls, scene: Scene, light: int, vectors: int) -> _Rules:
        """The rules of a release.

        Args:
            scene: what was asked for.
            light: classes that prove that vectors of k rows were released by themselves, if there are k.
            vectors: how many the source has.
        """
        spec, k = scene.spec, scene.k
        if scene.given.made_by is not None:
            return cls(iterated=True, whole=True, peeled=False, note=None)
        if spec.recoding.resist is not None:
            note = (
                "with resist: refinement no value under a label is impossible: only that labels are the lowest was "
                "used; how likely values are is not measured"
            )
            return cls(iterated=False, whole=False, peeled=False, note=note)
        used, why = "only that labels are the lowest, and vectors whole, was used", _why_no_cuts(spec)
        swept = any(column.minimum_level for column in spec.quasi_identifiers.values()) or sweeps_dear_classes(vectors)
        if why is not None:
            note = f"{why}: {used}"
        elif swept:
            note = (
                "where vectors are as few as here, dear classes are swept again, so that cuts rule nothing out: " + used
            )
        elif light < k:
            note = f"fewer than {k} classes prove that vectors of {k} rows were released by themselves: {used}"
        else:
            return cls(iterated=False, whole=True, peeled=True, note=None)
        return cls(iterated=False, whole=True, peeled=False, note=note)


@dataclass(frozen=True)
class _Column:
    """The labels that a column may have.

    Attributes:
        every: the values that occur with their labels.
        levels: the same, of the levels that the release may have.
        lowest: the lowest level of these.
        known: the release shows that this is the lowest level that was released.
        misread: no level below the top has all labels that are not the top's; or some are no ranges.
        ranges: what its labels are read as that are ranges of its values; None of others.
    """

    every: Relation
    levels: Relation
    lowest: int
    known: bool = True
    misread: bool = False
    ranges: RangedColumn | None = None


def _column(scene: Scene, people: Relation, labels: Relation, lookup: Lookup, kinds: Iterable[str]) -> _Column:
    """What labels a column may have: of cells, those of one level and the top; of ranges, its values and the ranges."""
    ranged = read_as_ranges(scene, lookup, labels)
    if ranged is not None:
        (unread,) = scene.workspace.row("disclosure/attacks/cut_unread", items=[ranged])
        levels = scene.workspace.table(f"refined{lookup.index}_ranges")
        scene.workspace.execute("disclosure/attacks/range_levels", target=levels, column=ranged, lookup=lookup.table)
        return _Column(levels, levels, 0, misread=bool(unread), ranges=ranged)
    workspace, what, written = scene.workspace, f"refined{lookup.index}_", label_texts(lookup, kinds, "lookup")
    every = label_levels(scene, what, people, lookup, written)
    lowest, top = lookup.quasi_identifier.minimum_level, lookup.height
    below = range(lowest, min(lookup.highest + 1, top))
    if scene.spec.recoding.method != "cells" or not below:
        return _Column(every, every, lowest)
    *missed, others = workspace.row(
        "disclosure/attacks/level_of_cells",
        labels=labels, levels=every, name=lookup.column, below=below, top=lookup.top,
    )  # fmt: skip
    fitting = [level for level, count in zip(below, missed, strict=True) if not count]
    own = fitting[0] if fitting and others else lowest
    levels = label_levels(scene, f"{what}cell_", people, lookup, written, (own, top))
    return _Column(every, levels, own, known=bool(others), misread=not fitting)


def _cases(scene: Scene, name: str) -> Sequence[Cases | Unmeasured]:
    """The rows for which values are impossible, column by column."""
    source, workspace, k = scene.source, scene.workspace, scene.k
    keys = {f"q{index}": column for index, column in enumerate(scene.spec.quasi_identifiers)}
    names = [*keys]
    people = vectors_of(scene, source, "refined_people", [*keys.values()], [])
    kinds = kinds_of(keys, [source, scene.release])
    labels = labels_of(scene, scene.release, "refined_labels", keys, [], kinds=kinds)
    lookups = lookups_of(scene, people, source.columns, scene.spec.quasi_identifiers, numbered=True)
    columns = [_column(scene, people, labels, lookup, kinds[lookup.column]) for lookup in lookups]
    misread = next((item for item in columns if item.misread), None)
    if misread is not None:
        why = "are on several levels, and cells has one and the top" if misread.ranges is None else "are no ranges"
        return [Unmeasured(name, f"the labels of a column {why}")]
    levels = [column.levels for column in columns]
    if any(workspace.row("disclosure/attacks/unclear_labels", levels=[column.every for column in columns])):
        return [Unmeasured(name, "a text is the label of different values on two levels of a hierarchy")]
    classes = workspace.table("refined_classes")
    workspace.execute(
        "disclosure/attacks/numbered_classes",
        target=classes, labels=labels, levels=levels, names=names,
        lowest=[column.lowest for column in columns],
    )  # fmt: skip
    light, vectors = map(int, workspace.row("disclosure/attacks/light_classes", classes=classes, people=people, k=k))
    rules = _Rules.of(scene, light, vectors)
    found, ruled, ends_open = [], [], rules.iterated or scene.spec.suppression.allows_some
    for index, (own, column) in enumerate(keys.items()):
        parts, below, peers, pairs, refined = (
            workspace.table(f"refined{index}_{what}") for what in ("parts", "below", "peers", "pairs", "refined")
        )
        of_column = {"labels": labels, "levels": levels[index], "name": own}
        workspace.execute("disclosure/attacks/label_parts", target=parts, **of_column)
        workspace.execute("disclosure/attacks/labels_below", target=below, parts=parts, **of_column)
        others = [key for key in names if key != own]
        workspace.execute("disclosure/attacks/agree_elsewhere", target=peers, classes=classes, name=own, others=others)
        workspace.execute(
            "disclosure/attacks/finer_classes",
            target=pairs, peers=peers, below=below, k=k, peeled=rules.peeled, whole=rules.whole,
            iterated=rules.iterated, parts=parts, ranges=None if ends_open else columns[index].ranges,
        )  # fmt: skip
        workspace.execute(
            "disclosure/attacks/refined",
            target=refined, classes=classes, parts=parts, below=below, pairs=pairs, name=own, k=k,
            peeled=rules.peeled, lowest=not rules.iterated and columns[index].known,
        )  # fmt: skip
        ruled.append(workspace.table(f"refined{index}_values"))
        workspace.execute("disclosure/attacks/refined_values", target=ruled[-1], pairs=pairs, levels=levels[index])
        query = render(
            "disclosure/attacks/refined_cases",
            classes=classes, refined=refined, keys=[identifier(key) for key in names],
        )  # fmt: skip
        found.append(
            Cases(
                name=name,
                about=column,
                query=query,
                keys=keys,
                measure="largest share of the values under a label that are impossible",
                whole=scene.release.relation,
                estimate=True,
                notes=_notes(scene, rules, workspace.row("disclosure/attacks/refined_facts", classes=refined)),
            )
        )
    if not scene.spec.sensitive:
        return found
    matched = covered(scene, "refined", people, levels, classes, names=names, carried=[*names, "row_count"])
    persons = workspace.table("refined_persons")
    workspace.execute("disclosure/attacks/refined_persons", target=persons, matched=matched, ruled=ruled, names=names)
    return [*found, *(_of_persons(scene, name, column, keys, classes, persons) for column in scene.spec.sensitive)]


def _of_persons(
    scene: Scene, name: str, attribute: str, keys: Mapping[str, str], classes: Relation, persons: Relation
) -> Cases:
    """The persons with fewer possible sensitive values, since some of the classes that match them are not."""
    workspace, place = scene.workspace, list(scene.spec.sensitive).index(attribute)
    kinds = kinds_of(keys, [scene.source, scene.release])
    held = labels_of(scene, scene.release, f"refined_held{place}", keys, [attribute], kinds=kinds)
    counted = workspace.table(f"refined_persons{place}")
    workspace.execute(
        "disclosure/attacks/refined_sensitive",
        target=counted, persons=persons, classes=classes, held=held, names=[*keys],
    )  # fmt: skip
    matched, shares, alone, contradicted = (
        float(str(fact)) for fact in workspace.row("disclosure/attacks/refined_person_facts", persons=counted)
    )
    notes = [
        "assumes besides that the attacker knows all quasi-identifiers of a person who is in the release",
        f"of {matched:,.0f} persons some values in classes that match them are impossible"
        + (f" ({shares / matched:.1%} of the values on average)" if matched else "")
        + f"; one value is left for {alone:,.0f} of them",
    ]
    if contradicted:
        notes.append(f"for {contradicted:,.0f} persons no value is left: the release was not made by these rules")
    return Cases(
        name=name,
        about=attribute,
        query=render("disclosure/attacks/refined_person_cases", persons=counted, names=[*keys]),
        keys=keys,
        measure="largest share of the values in classes that match a person that are impossible",
        estimate=True,
        notes=notes,
    )


def _notes(scene: Scene, rules: _Rules, facts: Sequence[object]) -> list[str]:
    """What the figures rest on, how much they say, and what they do not say."""
    generalized, shrunk, shares, certain, bounded, contradicted = (float(str(fact)) for fact in facts)
    made = "ARX's local recoding, for k-anonymity alone" if rules.iterated else _made_by(scene.spec)
    notes = [
        "assumes that the attacker knows the hierarchies and which values occur, and that the release was made by "
        + made,
        f"labels of several values: {generalized:,.0f} rows, of which values are impossible for {shrunk:,.0f}"
        + (f" ({shares / shrunk:.1%} of the values on average)" if shrunk else "")
        + f"; the part of the label one level down is certain for {certain:,.0f}, and the cuts bound how many rows can "
        f"be in a part in classes of {bounded:,.0f} rows",
        *([] if rules.note is None else [rules.note]),
    ]
    if contradicted:
        notes.append(
            f"{contradicted:,.0f} classes contradict that: they were not made by this recoding, and the figures of the "
            "others rest on an assumption that is false"
        )
    unused = "which column was preferred, ties" if rules.peeled else "which node or column was preferred"
    return [*notes, f"a lower bound: not concluded from are {unused}, and classes that differ in several columns"]


def _made_by(spec: Spec) -> str:
    """The recoding in words."""
    return f"recoding: {spec.recoding.label}, run to its end"
