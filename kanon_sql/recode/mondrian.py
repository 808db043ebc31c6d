"""Mondrian: multidimensional recoding by median cuts of partitions (LeFevre, DeWitt, Ramakrishnan 2006).

No hierarchy is climbed: every column has an order of values, and a class is released as the ranges that its rows hold.
A round advances all partitions at once:

    medians  where each column of a partition would be cut: between two values, as near to half of the rows as can be
    judged   whether both sides satisfy, by the class query that verifies a release as well; not where rows decide
    cuts     of the allowable cuts of a partition, that in the column where it is widest, as a share of its values
    moved    partitions without one are closed; the vectors of the others go to their sides

In the variant ``strict`` all rows of one value are on one side of a cut. In ``relaxed`` a cut makes halves, and rows of
the median value, even alike ones, may go to both: a vector then has slices of its rows in several partitions. What is
asked must be class sizes in rows, so that it does not matter which of alike rows go where. As long as a partition has
2k rows and two different ones it can be halved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kanon_sql.errors import VerificationError
from kanon_sql.evaluate import Budget, out_of_reach
from kanon_sql.frequency import Prepared
from kanon_sql.recode.cuts import Recorder, bound_kind, columns_of_places, order_kind, orders_in
from kanon_sql.recode.partitions import Partitions, begin
from kanon_sql.recode.paths import Dimension
from kanon_sql.recode.ranges import dimensions_of, labelled
from kanon_sql.recode.recoding_result import NoRecoding, RecodingResult, Tried, highest_levels
from kanon_sql.search import Stopped
from kanon_sql.spec import Fault, Spec, level_faults, recoding, why_not_parted
from kanon_sql.sql import render

__all__ = ["STATEMENTS_A_ROUND", "recoded_by_medians"]

STATEMENTS_A_ROUND = 9
"""No round takes more statements, whatever the table, its columns or the requirements are; two more are to keep it."""

_TOP = "top"
"""Where it begins: with one partition of all rows."""


def _faults(spec: Spec) -> Iterator[Fault]:
    """Limits of levels; and what relaxed cannot promise: it divides alike rows, and says of none which way it goes."""
    yield from level_faults(spec, "mondrian releases ranges of the values, not levels", spec.quasi_identifiers)
    why = why_not_parted(spec)
    if spec.recoding.variant == "relaxed" and why is not None:
        message = f"relaxed divides equal rows, so it supports k_anonymity of rows only, and {why}; use strict"
        yield Fault(("recoding", "variant"), message, True)


@recoding(
    "mondrian",
    title="Multidimensional recoding (Mondrian)",
    words="the range of a value differs by class",
    variants=("strict", "relaxed"),
    faults=_faults,
    of_ranges=True,
)
def recoded_by_medians(given: Prepared, spec: Spec, budget: Budget) -> NoRecoding | RecodingResult:
    """Divide the table by median cuts until no partition has an allowable one.

    Args:
        given: the frequency sets.
        spec: what to anonymize and how.
        budget: when to end the rounds early; what is not divided by then is released as it is.

    Returns:
        The recoding; or nothing, where the class of all rows violates a requirement.

    Raises:
        UnsupportedError: a requirement, or a hierarchy, does not fit.
        HierarchyError: two ranges of a quasi-identifier would have the same label.
        VerificationError: the classes do not hold all rows.
    """
    sets = given.sets
    infeasible = out_of_reach(given)
    if infeasible is not None or sets.rows == sets.null_rows:
        return NoRecoding(spec, given, infeasible)
    given.workspace.report("recoding by median cuts", None)
    state = begin(given.workspace, sets, given.models, highest_levels(sets))
    if state.violating_rows:
        why = "all rows together violate the requirements, and a multidimensional recoding can only divide them"
        return NoRecoding(spec, given, why)
    dimensions, orders = dimensions_of(given, spec, state)
    ordered = tuple(item for item in dimensions if item.ordered)
    tables = {f"order_{index}": order.table for index, order in orders.items()}
    slices = spec.recoding.variant == "relaxed"
    state.open = state.make(
        "mondrian/places", "open0", {"vectors": state.vectors, **tables},
        attributes=ordered, words=(), by_person=state.judge.by_person, slices=slices,
    )  # fmt: skip
    state.last = 1
    recorder = Recorder(state, ordered) if spec.recoding.save_as is not None else None
    columns = {index: given.columns[state.paths[index].name] for index in orders}
    kinds = {} if recorder is None else {index: bound_kind(columns[index], own.open) for index, own in orders.items()}
    stopped = _divided(state, ordered, budget, recorder, slices=slices)
    mapped = labelled(state, dimensions, orders, slices=slices)
    if recorder is not None:
        items = columns_of_places(ordered, kinds, {item.index: item.index for item in ordered})
        shown = {columns[index].name: order_kind(columns[index], own.open) for index, own in orders.items()}
        mapped = replace(mapped, cuts=recorder.cuts(items, orders_in(orders, kinds), shown))
    if mapped.rows != state.kept_rows:
        raise VerificationError(
            f"the classes of the recoding hold {mapped.rows} rows of {state.kept_rows}; please report this with the "
            "engine's version"
        )
    found = RecodingResult(spec, given, mapped, state.judge, state.rounds, 0, stopped, _TOP, 0)
    return replace(found, tried={_TOP: Tried(found.mean_loss, found.rounds, 0)})


def _divided(
    state: Partitions, ordered: Sequence[Dimension], budget: Budget, recorder: Recorder | None, *, slices: bool
) -> str | None:
    """Divide the partitions until none has an allowable cut; returns why it ended early, None if it did not."""
    if not ordered:
        return None
    try:
        with budget.limits(state.workspace.engine):
            while _round(state, tuple(ordered), recorder, slices=slices):
                state.workspace.report(f"recoding by median cuts: round {state.rounds}", None)
    except Stopped as stopped:
        return str(stopped)
    return None


def _round(
    state: Partitions,
    ordered: tuple[Dimension, ...],
    recorder: Recorder | None,
    *,
    slices: bool,
) -> bool:
    """Cut every open partition that has an allowable cut; False if none has."""
    judge, number = state.judge, state.rounds
    medians = state.make(
        "mondrian/halves" if slices else "mondrian/medians", f"medians{number}",
        {"open": state.open},
        attributes=ordered, least=judge.least_size,
    )  # fmt: skip
    tables, judged = {"medians": medians}, not judge.by_rows_alone
    if judged:
        sides = render("recode/mondrian/sides", attributes=ordered, by_person=judge.by_person)
        read = {"open": state.open, "medians": medians}
        tables["judged"] = judge.judged(f"sides{number}", sides, ("part", "attribute", "side"), read)
    cuts = state.make(
        "mondrian/cuts", f"cuts{number}", tables, {"first": str(state.last)}, slices=slices, judged=judged
    )  # fmt: skip
    found, last = state.row("mondrian/cut_count", {"cuts": cuts})
    if found:
        if recorder is not None:
            recorder.note(cuts, state.open)
        moved = state.make(
            "mondrian/halved" if slices else "mondrian/moved", f"open{number + 1}",
            {"open": state.open, "cuts": cuts, **({"medians": medians} if slices else {})},
            attributes=ordered, by_person=judge.by_person,
        )  # fmt: skip
        state.advance(moved, last)
    for used in (cuts, *tables.values()):
        state.workspace.drop(used)
    return bool(found)
