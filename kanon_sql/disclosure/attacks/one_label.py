"""Refinement where a value has one label for all rows: no value under a label is impossible, and why.

Of ``subtree`` and ``full_domain``, for one k-anonymity of rows and where no row may be suppressed, every value that
occurs under a label may be that of any row with this label. For each of them there is a source that gives the release:

**Subtree** (``top_down``). Rounds specialize one label at a time. What one of them is worth, and whether it may be
specialized, follows from how many rows of each class of this round have each of the labels below it. Let a class C have
the label u, and v be a value under u, below its part w. If a row of C has a value of w, let it exchange its value in
this column with a row that has v: no count changes. Otherwise follow the rounds from the last one back to where a class
first holds all rows of C and, besides, rows of w. Let a row of C exchange its value with one of these. In this round
and before, both are in one class, and no count changes. After it, one row of C's class has w, so u is not specialized,
as it never was. Labels above the released ones are specialized as before, since their counts are those of the release.
Each value occurs as often as before, so a reader who knows that, too, rules nothing out.

**Full domain.** Where no row may be suppressed, a node satisfies if all its classes have k rows. Let each column whose
level is not the lowest one have a label w of the next level down with fewer than k values that occur, and another one
beside it under the released label. Let each of the values under w occur once, and let the other rows of this label have
other values. Then no node satisfies that is lower in any column, and the classes of all others are those of the
release. So the search for the lowest metric finds the same node. Each value stands in whichever row one likes.

Both hold in all columns at once, since what is exchanged in a column changes no count of another one. They do not hold
where rows may be suppressed (which of them were violating decides, and the release does not show it), where a class
label decides what a step is worth, of intervals, and of subtrees from the values up.
"""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.disclosure.attacks.base import Cases, Scene, Unmeasured
from kanon_sql.disclosure.attacks.downcoding import label_levels
from kanon_sql.disclosure.attacks.vectors import kinds_of, label_texts, labels_of, level_of, lookups_of, vectors_of
from kanon_sql.spec import Spec, why_not_parted
from kanon_sql.sql import identifier, render

__all__ = ["ONE_LABEL", "refined_by_one_label", "why_not_exchanged"]

ONE_LABEL = ("full_domain", "subtree")
"""The recodings with one label for a value."""

_SEARCHES = ("optimal", "exhaustive", "incognito", "samarati")
"""The algorithms that find the one node that all others that satisfy are above."""


def why_not_exchanged(spec: Spec) -> str | None:
    """Why it is not proven that every value under a label is possible; None if it is, as far as the spec says."""
    recoding, other = spec.recoding, next((key for key in ("steps", "ledger", "state") if getattr(spec, key)), None)
    if spec.suppression.allows_some:
        return "rows may be suppressed, and which ones violated decides, which the release does not show"
    if recoding.variant == "bottom_up":
        return "the steps of bottom_up depend on counts below the released labels, which exclude values or do not"
    if recoding.ranges:
        return "where an interval is split depends on counts of all values in it, which exclude values or do not"
    if recoding.classify is not None:
        return "with classify the rows of a class label below the released labels decide, which the release hides"
    if recoding.is_full_domain and spec.search.algorithm not in _SEARCHES:
        return f"which nodes {spec.search.algorithm} visits is not modelled"
    if other is not None:
        return f"what {other} changes is not modelled"
    why = why_not_parted(spec, single=True)
    return why and f"that no value is impossible is proven for one k_anonymity of rows over all columns, and {why}"


def refined_by_one_label(scene: Scene, name: str) -> Sequence[Cases | Unmeasured]:
    """That no value is impossible, column by column, where that is proven of this release.

    Args:
        scene: the source, and the release of one of :data:`ONE_LABEL`.
        name: of the attack.
    """
    spec, workspace, k = scene.spec, scene.workspace, scene.k
    keys = {f"q{index}": column for index, column in enumerate(spec.quasi_identifiers)}
    people = vectors_of(scene, scene.source, "kept_people", [*keys.values()], [])
    kinds = kinds_of(keys, [scene.source, scene.release])
    labels = labels_of(scene, scene.release, "kept_labels", keys, [], kinds=kinds)
    lookups = lookups_of(scene, people, scene.source.columns, spec.quasi_identifiers, numbered=True)
    levels = [
        label_levels(scene, f"kept{own.index}_", people, own, label_texts(own, kinds[own.column], "lookup"))
        for own in lookups
    ]
    if any(workspace.row("disclosure/attacks/unclear_labels", levels=levels)):
        return [Unmeasured(name, "a text is the label of different values on two levels of a hierarchy")]
    small, missing, *split = map(
        int,
        workspace.row(
            "disclosure/attacks/one_label_faults", labels=labels, people=people, levels=levels, names=[*keys], k=k
        ),
    )
    if small or missing or any(split):
        return [
            Unmeasured(
                name,
                f"the release was not made by recoding: {spec.recoding.method}, with nothing suppressed: {small} "
                f"classes are too small, it has {missing} rows more or fewer than the source, and {sum(split)} values "
                "have no label or several",
            )
        ]
    if spec.recoding.is_full_domain:
        for own, table in zip(lookups, levels, strict=True):
            level = level_of(scene, own, labels, label_texts(own, kinds[own.column]))
            if level is None:
                return [Unmeasured(name, f"the labels of {own.name} are not all of one level, as full_domain has them")]
            if level <= own.quasi_identifier.minimum_level:
                continue
            (fewest,) = workspace.row("disclosure/attacks/fewest_values", levels=table, level=level)
            if fewest is None or int(fewest) >= k:
                why = f"every label of {own.name} below a released one has {k} values or more, or none beside it"
                return [Unmeasured(name, f"that no value is impossible is not proven: {why}")]
    wide = workspace.row("disclosure/attacks/one_label_rows", labels=labels, levels=levels, names=[*keys])
    query = render("disclosure/attacks/one_label_cases", labels=labels, keys=[identifier(key) for key in keys])
    return [
        Cases(
            name=name,
            about=column,
            query=query,
            keys=keys,
            measure="largest share of the values under a label that are impossible",
            whole=scene.release.relation,
            estimate=True,
            notes=_notes(spec, int(rows)),
        )
        for column, rows in zip(keys.values(), wide, strict=True)
    ]


def _notes(spec: Spec, rows: int) -> list[str]:
    """What the figures rest on."""
    knows = "which values occur" if spec.recoding.is_full_domain else "how often each value of a column occurs"
    return [
        f"assumes that the attacker knows the hierarchies and {knows}, and that the release was made by recoding: "
        f"{spec.recoding.method}, run to its end",
        f"labels of several values: {rows:,} rows, of which no value is impossible: for each value that occurs under a "
        "label, and each row with this label, some source gives this release (proven)",
        "not measured: how likely values are",
    ]
