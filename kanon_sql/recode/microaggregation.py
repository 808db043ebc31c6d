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

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from kanon_sql.engines import Column
from kanon_sql.errors import UnsupportedError, VerificationError
from kanon_sql.evaluate import Budget, out_of_reach
from kanon_sql.frequency import Prepared
from kanon_sql.hierarchies import Lookup
from kanon_sql.recode.partitions import Partitions, begin, peel
from kanon_sql.recode.paths import Path
from kanon_sql.recode.recoded import NothingRecoded, Recoded, highest_levels
from kanon_sql.recode.release import Aggregated, Mapped, described, raised_of
from kanon_sql.recode.specialize import specialize
from kanon_sql.search import Stopped
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation, Sql, render, slot

__all__ = ["STATEMENTS_A_ROUND", "Microaggregated", "recoded_by_aggregates"]

STATEMENTS_A_ROUND = 11
"""No round takes more statements, whatever the table, its columns or the requirements are."""

MOST_DIGITS = 10
"""Digits after the point that a number may have."""

LARGEST = 2.0**58
"""What all rows' numbers may add up to, in units of their last digit."""

GAINS = 1e12
"""How many different gains of cuts are told apart."""

_SCALE = re.compile(r"\(\s*(?:\d+\s*,\s*)?(\d+)\s*\)")


@dataclass(frozen=True)
class Item:
    """What templates know of a quasi-identifier whose numbers are replaced.

    Attributes:
        index: its number among them.
        word: the word of a vector that holds its code.
        mask: the bits of that code.
        digits: how many it has after the point.
        step: a unit of the last of them.
    """

    index: int
    word: int
    mask: int
    digits: int
    step: Decimal


@dataclass(frozen=True)
class Numbers:
    """A quasi-identifier whose numbers are replaced.

    Attributes:
        item: its place.
        name: the column.
        function: ``mean``, ``median`` or ``mode``.
        table: its numbers, by code.
        unit: what a square of a distance in units is worth: the weight over all squares.
        spread: all squares.
    """

    item: Item
    name: str
    function: str
    table: Relation
    unit: float = 0.0
    spread: float = 0.0

    @property
    def index(self) -> int:
        """Its number among the quasi-identifiers."""
        return self.item.index


def _items(numbers: Sequence[Numbers]) -> tuple[Item, ...]:
    return tuple(own.item for own in numbers)


def _tables(numbers: Sequence[Numbers]) -> dict[str, Relation]:
    return {f"amounts_{own.index}": own.table for own in numbers}


@dataclass(frozen=True)
class Microaggregated(Recoded):
    """Numbers that were replaced, and what that loses.

    Attributes:
        squares_lost: per column whose numbers are replaced, the squares within the classes over all squares.
    """

    squares_lost: Mapping[str, float] = field(default_factory=dict)

    def metrics(self) -> dict[str, float]:
        """The metrics that look at sizes alone: a mean covers no values of a domain."""
        return {name: value for name, value in super().metrics().items() if name != "loss"}

    @property
    def losses(self) -> dict[str, float]:
        """The losses of the columns that have labels."""
        return {name: loss for name, loss in super().losses.items() if name not in self.squares_lost}

    def to_dict(self) -> dict[str, Any]:
        """The recoding as it stands in results and manifests; what columns of numbers lose is told apart."""
        found = super().to_dict()
        weights = {lookup.name: lookup.quasi_identifier.weight for lookup in self.sets.lookups}
        total = sum(weights[name] for name in self.squares_lost)
        lost = sum(weights[name] * share for name, share in self.squares_lost.items()) / total
        return {
            **found,
            "squares_lost": float(f"{lost:.9g}"),
            "columns": {
                name: {
                    **column,
                    "aggregate": (self.spec.recoding.columns or {}).get(name),
                    "squares_lost": self.squares_lost.get(name),
                }
                for name, column in found["columns"].items()
            },
        }


def recoded_by_aggregates(given: Prepared, spec: Spec, budget: Budget) -> NothingRecoded | Microaggregated:
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
    sets, most = given.sets, spec.suppression.max_rows(given.sets.rows)
    hopeless = out_of_reach(given.workspace, given.models, sets, most)
    if hopeless is not None or sets.rows == sets.null_rows:
        return NothingRecoded(spec, given, hopeless)
    given.workspace.report("micro-aggregating", None)
    functions = spec.recoding.columns or {}
    chosen = [lookup for lookup in sets.lookups if lookup.name in functions]
    digits = _digits(given, chosen)
    state = begin(given.workspace, sets, given.models, highest_levels(sets))
    if state.violating_rows + sets.null_rows > most:
        why = (
            f"{state.violating_rows + sets.null_rows} rows would have to be suppressed at the highest levels allowed, "
            f"and {most} may be"
        )
        return NothingRecoded(spec, given, why)
    numbers = [_numbers(state, lookup, functions[lookup.name], digits[lookup.name]) for lookup in chosen]
    numbers = _weighed(state, numbers)
    slices = _may_slice(spec)
    stopped = _divided(state, numbers, budget, slices=slices)
    mapped = _mapped(state, numbers, slices=slices)
    if mapped.rows != state.kept_rows:
        raise VerificationError(
            f"the classes of the recoding hold {mapped.rows} rows of {state.kept_rows}; please report this with the "
            "engine's version"
        )
    return Microaggregated(
        spec, given, mapped, state.judge, state.rounds, state.violating_rows, stopped, "top", 0,
        squares_lost=_squares_lost(state, mapped, numbers),
    )  # fmt: skip


def _may_slice(spec: Spec) -> bool:
    """Whether it does not matter which of alike rows go where: k-anonymity of rows is all that is asked."""
    return spec.unit is None and all(item.name == "k_anonymity" for item in spec.privacy)


# --- the numbers -------------------------------------------------------------------------------


def _digits(given: Prepared, chosen: Sequence[Lookup]) -> dict[str, int]:
    """How many digits after the point the chosen columns have.

    Raises:
        UnsupportedError: a column holds no numbers that add up exactly.
    """
    problems, found = [], {}
    for lookup in chosen:
        column = given.columns[lookup.name]
        digits = _digits_of(column)
        if column.kind not in ("integer", "decimal"):
            more = "their sums depend on the order of the rows; " if column.kind == "float" else ""
            problems.append(
                f"{lookup.name}: micro-aggregation needs whole numbers or decimals, but the column is {column.type}; "
                f"{more}cast it to DECIMAL(p, s) in a source query"
            )
        elif digits is None or digits > MOST_DIGITS:
            problems.append(
                f"{lookup.name}: the type {column.type} does not say how many digits there are after the point, or "
                f"more than {MOST_DIGITS}; cast it to DECIMAL(p, s) in a source query"
            )
        elif not lookup.height:
            problems.append(f"{lookup.name}: its hierarchy has no value below the top; leave it out of the columns")
        else:
            found[lookup.name] = digits
    if problems:
        raise UnsupportedError("\n".join(problems))
    _refuse_large(given, chosen, found)
    return found


def _digits_of(column: Column) -> int | None:
    """How many digits after the point a type has; None where it does not say."""
    if column.kind == "integer":
        return 0
    said = _SCALE.search(column.type)
    return None if said is None or ("," not in said.group()) else int(said.group(1))


def _refuse_large(given: Prepared, chosen: Sequence[Lookup], digits: Mapping[str, int]) -> None:
    """Refuse numbers whose sums would not be exact.

    Raises:
        UnsupportedError: there are some.
    """
    workspace, compiler = given.workspace, given.workspace.compiler
    most = LARGEST / max(1, given.sets.rows)
    branches = [
        compiler.filled(
            "recode/microaggregation/too_large",
            {
                "attribute": str(lookup.index),
                "lookup": workspace.quoted(lookup.table),
                "most": f"{most / 10 ** digits[lookup.name]:.6e}",
            },
        )
        for lookup in chosen
    ]
    large = {index for index, found in workspace.query(compiler.union(branches), len(branches)) if found}
    for lookup in chosen:
        if lookup.index in large:
            raise UnsupportedError(
                f"{lookup.name}: its numbers are too large for {given.sets.rows:,} rows to be added up exactly, or are "
                "no numbers; give them fewer digits in a source query"
            )
    if not compiler.dialect.typed:
        for lookup in chosen:
            _refuse_broken(given, lookup, digits[lookup.name])


def _refuse_broken(given: Prepared, lookup: Lookup, digits: int) -> None:
    """Refuse numbers with more digits than their type says, which some engines store.

    Raises:
        UnsupportedError: there are some.
    """
    workspace, compiler = given.workspace, given.workspace.compiler
    if not digits:
        return
    statement = compiler.filled(
        "recode/microaggregation/broken", {"lookup": workspace.quoted(lookup.table)}, amount=amount_of(digits),
        digits=digits,
    )  # fmt: skip
    ((count,),) = workspace.query(statement, 1)
    if count:
        raise UnsupportedError(
            f"{lookup.name}: {count} different values have more than {digits} digits after the point, which is what "
            "the column's type says; round them in a source query"
        )


def amount_of(digits: int) -> Sql:
    """A number of a column ``value`` in whole units of its last digit."""
    return render("recode/microaggregation/units", digits=digits)


def _numbers(state: Partitions, lookup: Lookup, function: str, digits: int) -> Numbers:
    """The numbers of a column, as a scratch table."""
    path = state.paths[lookup.index]
    table = state.make(
        "microaggregation/amounts", f"amounts{lookup.index}", {"lookup": lookup.table, "vectors": state.vectors},
        {"of_lookup": _of_lookup(state, lookup.index)},
        amount=amount_of(digits), word=f"code{path.word}", mask=path.masks[0],
    )  # fmt: skip
    item = Item(lookup.index, path.word, path.masks[0], digits, Decimal(1).scaleb(-digits))
    return Numbers(item, lookup.name, function, table)


def _of_lookup(state: Partitions, index: int) -> str:
    return state.sets.codes.from_lookup(index, 0, state.workspace.dialect)


def _weighed(state: Partitions, numbers: Sequence[Numbers]) -> list[Numbers]:
    """The columns with what a square of each is worth. Six digits of it, so that engines agree."""
    tables = {item.index: {"amounts": item.table} for item in numbers}
    found = state.workspace.each("recode/microaggregation/spread", len(tables), tables)
    spreads = {int(index): float(spread) for index, spread in found}
    weights = {lookup.index: lookup.quasi_identifier.weight for lookup in state.sets.lookups}
    most = max((weights[item.index] for item in numbers), default=0) or 1
    return [
        replace(
            item,
            spread=spreads[item.index],
            unit=float(f"{weights[item.index] / most * GAINS / (spreads[item.index] or 1):.6g}"),
        )
        for item in numbers
    ]


# --- the rounds --------------------------------------------------------------------------------


def _divided(state: Partitions, numbers: Sequence[Numbers], budget: Budget, *, slices: bool) -> str | None:
    """Divide the partitions until none has an allowable cut; returns why it ended early, None if it did not."""
    stopped = None
    labelled = _labelled(state, numbers)
    try:
        with budget.limits(state.workspace.engine):
            if labelled.cuttable:
                peel(labelled)
                state.last, state.open = labelled.last, labelled.open
                specialize(labelled)
    except Stopped as early:
        stopped = str(early)
    state.open, state.last, state.rounds = labelled.open, max(labelled.last, state.count, 1), labelled.rounds
    items = _items(numbers)
    state.open = state.make(
        "microaggregation/opened", "opened",
        {"open": state.open, "vectors": state.vectors, "roots": state.roots, **_tables(numbers)},
        attributes=items, by_person=state.judge.by_person, slices=slices,
    )  # fmt: skip
    if stopped is not None:
        return stopped
    units = tuple((own.index, own.unit) for own in numbers)
    dimensions = state.make("microaggregation/dimensions", "dimensions", {}, units=units)
    try:
        with budget.limits(state.workspace.engine):
            while _round(state, items, dimensions, slices=slices):
                state.workspace.report(f"micro-aggregating: round {state.rounds}", None)
    except Stopped as early:
        return str(early)
    return None


def _labelled(state: Partitions, numbers: Sequence[Numbers]) -> Partitions:
    """The same partitions, of which the columns of numbers have their top alone."""
    paths = _labelled_paths(state, numbers)
    found = replace(state.apart("labelled_"), paths=paths)
    depth = max(len(path.levels) - 1 for path in paths)
    cuttable = found.cuttable
    found.steps = found.make("steps", "steps", {}, {}, attributes=cuttable, depth=depth) if cuttable else None
    return found


def _labelled_paths(state: Partitions, numbers: Sequence[Numbers]) -> list[Path]:
    fixed = {item.index for item in numbers}
    return [replace(path, levels=(path.height,)) if path.index in fixed else path for path in state.paths]


def _round(state: Partitions, items: tuple[Item, ...], dimensions: Relation, *, slices: bool) -> bool:
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
    splits = make("splits", {"ordered": ordered}, {}, least=least)
    tables = {"splits": splits}
    if not slices:
        cells = render("recode/microaggregation/sides", by_person=judge.by_person)
        keys = ("part", "attribute", "low_rows", "side")
        tables["judged"] = judge.judged(f"sides{number}", cells, keys, {"ordered": ordered, "splits": splits})
        made.append(tables["judged"])
    cuts = make("cuts", tables, {"first": str(state.last)}, judged=not slices)
    found, last = state.row("mondrian/cut_count", {"cuts": cuts})
    if found:
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


def _mapped(state: Partitions, numbers: Sequence[Numbers], *, slices: bool) -> Mapped:
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
    classes = state.make(
        "microaggregation/class_labels", "classes", {**tables, **_tables(numbers)},
        attributes=_items(numbers), others=others,
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
        aggregated={own.index: Aggregated(own.function, amount_of(own.item.digits)) for own in numbers},
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
        attributes=tuple(paths),
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


def _squares_lost(state: Partitions, mapped: Mapped, numbers: Sequence[Numbers]) -> dict[str, float]:
    """Per column the squares within the classes over all squares; of what has no number, those from the mean."""
    compiler, workspace = state.workspace.compiler, state.workspace
    branches = [
        compiler.filled(
            "recode/microaggregation/kept",
            {
                "attribute": str(item.index),
                "own": compiler.quote(f"amount{item.index}"),
                "classed": workspace.quoted(mapped.classed),
                "classes": workspace.quoted(mapped.classes),
                "amounts": workspace.quoted(item.table),
                "code": state.sets.codes.code(item.index, 0, workspace.dialect, "classed"),
            },
        )
        for item in numbers
    ]
    kept = {int(index): float(squares) for index, squares in workspace.query(compiler.union(branches), len(branches))}
    return {
        item.name: max(0.0, float(f"{1 - kept[item.index] / item.spread:.9g}")) if item.spread else 0.0
        for item in numbers
    }
