"""Micro-aggregation: classes of similar rows, each number replaced by the mean, the median or the mode of its class.

Quasi-identifiers whose numbers are not replaced are recoded first, by the labels of their hierarchies from the top
down. The classes of that are divided by the numbers then, as a k-d tree is: a round advances all partitions at once:

    ordered  every partition in the order of each column, with the sums before each vector
    splits   where it would be cut: of the cuts that leave a multiple of k rows on one side, the one that takes most
             away from the squares of the distances from the mean, as a share of all squares of the column
    judged   whether both sides satisfy, by the class query that verifies a release as well
    cuts     of the allowable cuts of a partition the one that gains most
    moved    partitions without one are closed; the vectors of the others go to their sides

Where k-anonymity of rows is all that is asked, a cut may come between rows that are alike: a vector then has slices of
its rows in several partitions, and nothing has to be judged. MDAV (Domingo-Ferrer, Torra 2005), which this stands for,
is quadratic. Sums are of whole numbers and exact, so every engine makes the same classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kanon_sql.errors import VerificationError
from kanon_sql.evaluate import Budget, out_of_reach
from kanon_sql.frequency import Prepared
from kanon_sql.models import model_of
from kanon_sql.recode.cuts import Recorder, columns_of_numbers
from kanon_sql.recode.judge import Judge
from kanon_sql.recode.numbers import Item, Numbers, amount_of, numbers_of, released_of, squares_lost, units_of
from kanon_sql.recode.optimal import can_be_optimal, divide_optimally
from kanon_sql.recode.partitions import Partitions, begin, peel
from kanon_sql.recode.paths import Path
from kanon_sql.recode.recoding_result import NoRecoding, RecodingResult, RecodingSummary, highest_levels
from kanon_sql.recode.release import Aggregated, Mapped, described, raised_of
from kanon_sql.recode.specialize import specialize
from kanon_sql.search import Stopped
from kanon_sql.spec import Fault, KAnonymityRequirement, Spec, level_faults, quote, recoding
from kanon_sql.sql import Relation, render, slot

__all__ = [
    "STATEMENTS_A_ROUND",
    "Microaggregated",
    "aggregated",
    "open_numbers",
    "recoded_by_aggregates",
    "tables_of",
]

STATEMENTS_A_ROUND = 11
"""No round takes more statements, whatever the table, its columns or the requirements are; two more are to keep it."""


@dataclass(frozen=True)
class Microaggregated(RecodingResult):
    """Numbers that were replaced, and what that loses.

    Attributes:
        squares_lost: per column whose numbers are replaced, the squares within the classes over all squares.
        optimal: no other division of what has the same labels has smaller squares within the classes.
    """

    squares_lost: Mapping[str, float] = field(default_factory=dict)
    optimal: bool = False

    def metrics(self) -> dict[str, float]:
        """The metrics that look at sizes alone: a mean covers no values of a domain."""
        return {name: value for name, value in super().metrics().items() if name != "loss"}

    @property
    def losses(self) -> dict[str, float]:
        """The losses of the columns that have labels."""
        return {name: loss for name, loss in super().losses.items() if name not in self.squares_lost}

    @property
    def level_names(self) -> dict[str, tuple[str, ...]]:
        """What levels are called; a column of numbers has none, and each is what takes their place."""
        asked = self.spec.recoding.aggregates
        return {
            name: (f"the {asked[name].function} of the class",) * len(names) if name in self.squares_lost else names
            for name, names in super().level_names.items()
        }

    def to_dict(self) -> RecodingSummary:
        """The recoding as it stands in results and manifests; what columns of numbers lose is distinguished."""
        found, asked = super().to_dict(), self.spec.recoding.aggregates
        weights = {lookup.name: lookup.quasi_identifier.weight for lookup in self.sets.lookups}
        weights = weights if any(weights[name] for name in self.squares_lost) else dict.fromkeys(weights, 1.0)
        total = sum(weights[name] for name in self.squares_lost)
        lost = sum(weights[name] * share for name, share in self.squares_lost.items()) / total
        return {
            **found,
            "optimal": self.optimal,
            "squares_lost": float(f"{lost:.9g}"),
            "columns": {
                name: {
                    **column,
                    "aggregate": None if name not in asked else asked[name].function,
                    "squares_lost": self.squares_lost.get(name),
                }
                for name, column in found["columns"].items()
            },
        }


def _faults(spec: Spec) -> Iterator[Fault]:
    """Aggregates of other columns, levels of those that are numbers, and masks where there are numbers."""
    named = spec.recoding.columns or {}
    for name in named:
        if name not in spec.quasi_identifiers:
            why = (
                f"{quote(name)} is not a quasi-identifier; only values of quasi-identifiers are replaced by "
                "those of their class"
            )
            yield Fault(("recoding", "columns", name), why, True)
    yield from level_faults(spec, "microaggregation releases a number, not a level", named)
    if spec.suppression.style == "mask":
        why = "a masked row has the text * in every quasi-identifier, and microaggregation releases numbers; use drop"
        yield Fault(("suppression", "style"), why, True)


@recoding(
    "microaggregation",
    title="Micro-aggregation",
    words="numbers are replaced by the mean, the median or the mode of their class",
    takes=("columns",),
    needs={"columns": "such as {income: mean, age: median}"},
    faults=_faults,
    of_numbers=True,
)
def recoded_by_aggregates(given: Prepared, spec: Spec, budget: Budget) -> NoRecoding | Microaggregated:
    """Recode the columns that have labels, then divide the classes by their numbers.

    Args:
        given: the frequency sets.
        spec: what to anonymize and how.
        budget: when to end the rounds early; what is not divided by then is released as it stands.

    Returns:
        The recoding; or nothing, where more rows would have to be suppressed than the spec allows.

    Raises:
        UnsupportedError: a requirement, a hierarchy or a column does not fit.
        VerificationError: the classes do not hold all rows, or do not satisfy.
    """
    sets, most = given.sets, given.max_suppressed
    infeasible = out_of_reach(given)
    if infeasible is not None or sets.rows == sets.null_rows:
        return NoRecoding(spec, given, infeasible)
    given.workspace.report("micro-aggregating", None)
    units = units_of(given, spec)
    state = begin(given.workspace, sets, given.models, highest_levels(sets))
    if state.violating_rows + sets.null_rows > most:
        why = (
            f"{state.violating_rows + sets.null_rows} rows would have to be suppressed at the highest levels allowed, "
            f"and {most} may be"
        )
        return NoRecoding(spec, given, why)
    if not state.kept_rows:
        return NoRecoding(spec, given, "every row violates the requirements at the highest levels allowed")
    numbers = numbers_of(state, spec, units)
    slices = _may_slice(spec)
    recorder = Recorder(state) if spec.recoding.save_as is not None else None
    stopped = _divided(state, numbers, budget, recorder, slices=slices)
    mapped = aggregated(state, numbers, slices=slices)
    if recorder is not None:
        items = columns_of_numbers(numbers, {own.index: own.index for own in numbers})
        shown = {own.name: own.whole.shown for own in numbers}
        mapped = replace(mapped, cuts=recorder.cuts(items, tables_of(numbers), shown))
    if mapped.rows != state.kept_rows:
        raise VerificationError(
            f"the classes of the recoding hold {mapped.rows} rows of {state.kept_rows}; please report this with the "
            "engine's version"
        )
    return Microaggregated(
        spec, given, mapped, state.judge, state.rounds, state.violating_rows, stopped, "top", 0,
        squares_lost=squares_lost(state, mapped, numbers),
        optimal=stopped is None and _is_optimal(state, numbers, slices=slices),
    )  # fmt: skip


def _may_slice(spec: Spec) -> bool:
    """Whether it does not matter which of alike rows go where: k-anonymity of rows is all that is asked.

    A cut that is kept says of every value where it goes, and alike rows may have a different k.
    """
    return spec.recoding.save_as is None and spec.needs_class_size_only


def _items(numbers: Sequence[Numbers]) -> tuple[Item, ...]:
    return tuple(own.item for own in numbers)


def tables_of(numbers: Sequence[Numbers]) -> dict[str, Relation]:
    """The tables of the columns' numbers, as templates call them."""
    return {f"amounts_{own.index}": own.table for own in numbers}


# --- the rounds --------------------------------------------------------------------------------


def _divided(
    state: Partitions, numbers: Sequence[Numbers], budget: Budget, recorder: Recorder | None, *, slices: bool
) -> str | None:
    """Divide the partitions until none has an allowable cut; returns why it ended early, None if it did not."""
    stopped = None
    labelled = _labelled(state, numbers)
    try:
        with budget.limits(state.workspace.engine):
            if labelled.cuttable:
                labelled.judge = _roomy(state, numbers)
                peel(labelled)
                specialize(labelled)
    except Stopped as early:
        stopped = str(early)
    (count,) = state.row("count", {"table": state.vectors})
    state.open, state.last, state.rounds = labelled.open, max(labelled.last, count), labelled.rounds
    open_numbers(state, numbers, slices=slices)
    if stopped is not None:
        return stopped
    try:
        with budget.limits(state.workspace.engine):
            if _is_optimal(state, numbers, slices=slices):
                _divide_optimally(state, numbers)
            else:
                _divide(state, numbers, recorder, slices=slices)
    except Stopped as early:
        return str(early)
    return None


def open_numbers(state: Partitions, numbers: Sequence[Numbers], *, slices: bool) -> None:
    """Begin: the vectors of the partitions, with their numbers as distances."""
    state.open = state.make(
        "microaggregation/opened", "opened",
        {"open": state.open, "vectors": state.vectors, "roots": state.roots, **tables_of(numbers)},
        attributes=_items(numbers), by_person=state.judge.by_person, slices=slices,
    )  # fmt: skip


def _is_optimal(state: Partitions, numbers: Sequence[Numbers], *, slices: bool) -> bool:
    """Whether the classes of one column are made as no others have smaller squares."""
    fits = can_be_optimal(state.kept_rows, state.judge.least_size)
    return slices and fits and len(numbers) == 1 and not state.sets.lookups[numbers[0].index].null_rows


def _divide_optimally(state: Partitions, numbers: Sequence[Numbers]) -> None:
    """Divide the partitions by their one column."""
    dimensions = _dimensions(state, numbers)
    ordered = state.make(
        "microaggregation/ordered", "ordered", {"open": state.open, "dimensions": dimensions}, {},
        attributes=_items(numbers), by_person=False, slices=True, least=state.judge.least_size,
    )  # fmt: skip
    divide_optimally(state, ordered, numbers[0].index)


def _divide(state: Partitions, numbers: Sequence[Numbers], recorder: Recorder | None, *, slices: bool) -> None:
    """Cut the partitions, one column at a time."""
    dimensions = _dimensions(state, numbers)
    while _round(state, _items(numbers), dimensions, recorder, slices=slices):
        state.workspace.report(f"micro-aggregating: round {state.rounds}", None)


def _dimensions(state: Partitions, numbers: Sequence[Numbers]) -> Relation:
    units = tuple((own.index, own.unit) for own in numbers)
    return state.make("microaggregation/dimensions", "dimensions", {}, units=units)


def _labelled(state: Partitions, numbers: Sequence[Numbers]) -> Partitions:
    """The same partitions, of which the columns of numbers have their top alone."""
    paths = _labelled_paths(state, numbers)
    found = replace(state.apart("labelled_"), paths=paths)
    depth = max(len(path.levels) - 1 for path in paths)
    cuttable = found.cuttable
    found.steps = found.make("steps", "steps", {}, {}, attributes=cuttable, depth=depth) if cuttable else None
    return found


def _roomy(state: Partitions, numbers: Sequence[Numbers]) -> Judge:
    """The requirements, and as large a class that labels leave to the numbers their share of the cuts.

    From all rows to k it takes the logarithm of their quotient in cuts; labels and numbers share these by weight.
    """
    least, chosen = state.judge.least_size, {own.index for own in numbers}
    weights = [lookup.quasi_identifier.weight for lookup in state.sets.lookups]
    of_numbers = sum(weight for index, weight in enumerate(weights) if index in chosen)
    share = of_numbers / sum(weights) if of_numbers else 0.0
    room = model_of(KAnonymityRequirement(k=int(least * max(1, state.kept_rows // least) ** share)))
    return replace(state.judge, models=[*state.judge.models, room])


def _labelled_paths(state: Partitions, numbers: Sequence[Numbers]) -> list[Path]:
    fixed = {item.index for item in numbers}
    return [replace(path, levels=(path.height,)) if path.index in fixed else path for path in state.paths]


def _round(
    state: Partitions, items: tuple[Item, ...], dimensions: Relation, recorder: Recorder | None, *, slices: bool
) -> bool:
    """Cut every open partition that has an allowable cut; False if none has."""
    judge, number = state.judge, state.rounds
    made: list[Relation] = []

    def make(name: str, tables: Mapping[str, Relation], fills: Mapping[str, str], **context: Any) -> Relation:
        table = state.make(f"microaggregation/{name}", f"{name}{number}", tables, fills, slices=slices, **context)
        made.append(table)
        return table

    context = {"attributes": items, "by_person": judge.by_person}
    least = judge.least_size
    ordered = make("ordered", {"open": state.open, "dimensions": dimensions}, {}, least=least, **context)
    splits = make("splits", {"ordered": ordered}, {}, least=least, by_value=recorder is not None)
    tables = {"splits": splits}
    if not slices:
        cells = render("recode/microaggregation/sides", by_person=judge.by_person)
        keys = ("part", "attribute", "low_rows", "side")
        tables["judged"] = judge.judged(f"sides{number}", cells, keys, {"ordered": ordered, "splits": splits})
        made.append(tables["judged"])
    cuts = make("cuts", tables, {"first": str(state.last)}, judged=not slices)
    found, last = state.row("mondrian/cut_count", {"cuts": cuts})
    if found:
        if recorder is not None:
            recorder.note(cuts, ordered)
        moved = state.make(
            "microaggregation/moved", f"open{number + 1}", {"open": state.open, "cuts": cuts, "ordered": ordered},
            slices=slices, **context,
        )  # fmt: skip
        state.advance(moved, last)
    for used in reversed(made):
        state.workspace.drop(used)
    return bool(found)


# --- the release -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Classes:
    """Partitions by their labels and numbers, their vectors, and how many rows violate."""

    joined: Relation
    classed: Relation
    judged: Relation
    violating: int


def aggregated(state: Partitions, numbers: Sequence[Numbers], *, slices: bool) -> Mapped:
    """The classes that the partitions become: those with the same labels and the same numbers are one.

    Raises:
        VerificationError: one does not satisfy, although its parts did and the whole does.
    """
    context = {"words": state.names, "by_person": state.judge.by_person}
    paths, raised = raised_of(replace(state, paths=_labelled_paths(state, numbers)))
    assigned = state.make(
        "microaggregation/assigned", "assigned", {"open": state.open, "vectors": state.vectors},
        slices=slices, **context,
    )  # fmt: skip
    found = _classes(state, paths, raised, numbers, assigned, "", slices=slices)
    if found.violating:  # of persons with several rows, classes that satisfy may not do so together
        tables = {"assigned": assigned, "classed": found.classed, "judged": found.judged, "vectors": state.vectors}
        assigned = state.make("restored", "restored", tables, **context)
        found = _classes(state, paths, raised, numbers, assigned, "_restored", slices=slices)
    if found.violating:
        raise VerificationError(
            "the classes of the recoding do not satisfy; please report this with the engine's version"
        )
    others = tuple(path for path in paths if path.index not in {item.index for item in numbers})
    tables = {"joined": found.joined, "labels": state.labels}
    tables |= {f"released_{own.index}": released_of(state, own, found.joined) for own in numbers}
    classes = state.make(
        "microaggregation/class_labels", "classes", tables, attributes=_items(numbers), others=others,
    )  # fmt: skip
    count, rows, squares = state.row("summary", {"classes": classes})
    return Mapped(
        classed=found.classed,
        classes=classes,
        vectors=state.vectors,
        names=state.names,
        paths=state.paths,
        count=count,
        rows=rows,
        squares=squares,
        columns=described(state.workspace, classes, state.paths, sum(path.height + 1 for path in state.paths)),
        slices=slices,
        aggregated={own.index: Aggregated(own.function, amount_of(own.whole)) for own in numbers},
    )


def _classes(
    state: Partitions,
    paths: Sequence[Path],
    raised: Relation | None,
    numbers: Sequence[Numbers],
    assigned: Relation,
    suffix: str,
    *,
    slices: bool,
) -> _Classes:
    """The classes of some partitions."""
    tight = state.make(
        "tight", f"tight{suffix}", {"assigned": assigned, **({} if raised is None else {"raised": raised})},
        attributes=tuple(paths), ranged=(),
    )  # fmt: skip
    tables = {
        f"aggregate_{own.index}": state.make(
            "microaggregation/aggregate", f"aggregate{own.index}{suffix}",
            {"assigned": assigned, "amounts": own.table},
            function=own.function, word=f"code{own.item.word}", mask=own.item.mask,
        )
        for own in numbers
    }  # fmt: skip
    fixed = {item.index for item in numbers}
    joined = state.make(
        "microaggregation/joined", f"joined{suffix}", {"tight": tight, **tables},
        attributes=_items(numbers), others=tuple(path.index for path in paths if path.index not in fixed),
    )  # fmt: skip
    classed = state.make(
        "microaggregation/classed", f"classed{suffix}", {"assigned": assigned, "joined": joined},
        words=state.names, by_person=state.judge.by_person, slices=slices,
    )  # fmt: skip
    judged = state.judge.judged(f"judged{suffix}", slot("grouped"), ["part"], {"grouped": classed})
    _, violating = state.row("verdict", {"judged": judged})
    return _Classes(joined, classed, judged, violating)
