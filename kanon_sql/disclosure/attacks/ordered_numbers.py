"""Refinement of micro-aggregated numbers: the classes of a single column lie one behind the other.

Its classes divide the rows in the order of the numbers (:mod:`kanon_sql.recode.microaggregation`), cut by cut or
optimally. A class that is released as M has a number of M or more and one of M or less: of whole units that holds of a
mean rounded half up, and of a median and a mode, which are numbers of rows. So no number of a class is below what is
released of the class before it, nor above what is released of the one behind. Classes with the same M are one; those
with a NULL are released as NULL, show nothing, and are passed over.

A mean says more. Its n numbers add up to S with n(2M - 1) <= 2S < n(2M + 1), so a number is possible only if n - 1
others between these ends make up the rest. With the lowest and the highest number that occur for ends, that holds of
every mean: what it leaves is what the number itself says, and only what the order rules out besides is counted.

Each conclusion is drawn from one class and those beside it, and that the sizes of an optimal division are between k and
2k - 1 and its squares least is not used; so more may be impossible. Of several quasi-identifiers a release does not say
in which one two classes were parted.
"""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.disclosure.attacks.base import Cases, Scene, Unmeasured
from kanon_sql.disclosure.attacks.vectors import vectors_of
from kanon_sql.recode import amount_of, unit_of
from kanon_sql.spec import Spec
from kanon_sql.sql import identifier, render

__all__ = ["refined_by_order", "why_not_ordered"]


def why_not_ordered(spec: Spec) -> str | None:
    """Why classes may not lie one behind the other; None if they do."""
    if len(spec.quasi_identifiers) > 1:
        return "in which of several quasi-identifiers two classes of microaggregation were parted, no release says"
    if spec.unit is not None:
        return "with unit, classes of microaggregation are put together where they violate, in no order"
    return None


def refined_by_order(scene: Scene, name: str) -> Sequence[Cases | Unmeasured]:
    """The rows for which numbers are impossible.

    Args:
        scene: the source, and a release of ``recoding: microaggregation`` with one quasi-identifier.
        name: of the attack.

    Returns:
        An estimate; or why the released numbers cannot be compared with the source's.
    """
    workspace = scene.workspace
    (column, asked), *_ = scene.spec.recoding.aggregates.items()
    given, shown = scene.source.columns[column], scene.release.columns[column]
    unit = unit_of(given, asked)
    if isinstance(unit, str):
        return [Unmeasured(name, f"{column}: {unit}")]
    if shown.kind != given.kind:
        return [Unmeasured(name, f"{column} is {given.type} in the source, but {shown.type} in the release")]
    people = vectors_of(scene, scene.source, "ordered_people", [column], [])
    released = vectors_of(scene, scene.release, "ordered_released", [column], [])
    classes, points, refined = (workspace.table(f"ordered_{what}") for what in ("classes", "points", "refined"))
    amount = amount_of(unit)
    workspace.execute("disclosure/attacks/ordered_classes", target=classes, released=released, amount=amount)
    workspace.execute(
        "disclosure/attacks/ordered_points",
        target=points, classes=classes, people=people, amount=amount, mean=asked.function == "mean",
    )  # fmt: skip
    workspace.execute("disclosure/attacks/ordered_refined", target=refined, classes=classes, points=points)
    generalized, shrunk, shares, certain, _, contradicted = (
        float(str(fact)) for fact in workspace.row("disclosure/attacks/refined_facts", classes=refined)
    )
    notes = [
        "assumes that the attacker knows which numbers occur, and that the release was made by microaggregation",
        f"{generalized:,.0f} rows, of which numbers are impossible for {shrunk:,.0f}"
        + (f" ({shares / shrunk:.1%} of the numbers on average)" if shrunk else "")
        + f", beyond what the released {asked.function} rules out by itself; one number is left for {certain:,.0f}",
        "a lower bound: that squares are the least possible is not used",
    ]
    if contradicted:
        notes.append(f"{contradicted:,.0f} classes contradict that: they were not made by this recoding")
    return [
        Cases(
            name=name,
            about=column,
            query=render("disclosure/attacks/refined_cases", classes=classes, refined=refined, keys=[identifier("q0")]),
            keys={"q0": column},
            measure="largest share of the numbers that are impossible, of those that the released one leaves open",
            whole=scene.release.relation,
            estimate=True,
            notes=notes,
        )
    ]
