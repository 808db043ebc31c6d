"""Columns of numbers whose values are replaced: whole units of their last digit, and what squares they lose.

Sums are of whole numbers, so they are exact and alike on every engine; numbers for which they would not be are refused.
A day is a number of days, a time one of seconds, and a floating-point number one of units of the digit that the spec
says. What is released goes back to the type of the column.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from kanon_sql.engines import Column
from kanon_sql.errors import UnsupportedError
from kanon_sql.frequency import Prepared
from kanon_sql.hierarchies import Lookup
from kanon_sql.recode.partitions import Partitions
from kanon_sql.recode.release import Mapped
from kanon_sql.spec import MOST_DIGITS, Aggregate, Spec
from kanon_sql.sql import Relation, Sql, render

__all__ = ["Item", "Numbers", "Unit", "amount_of", "numbers_of", "released_of", "squares_lost", "unit_of", "units_of"]

LARGEST = 2.0**58
"""What all rows' numbers may add up to, in units of their last digit."""

LARGEST_FLOAT = 2.0**50
"""What a floating-point number may be in these units, so that it reads back as the same whole number."""

GAINS = 1e12
"""How many different gains of cuts are distinguished."""

FIRST_DAY, DAYS_AFTER = -719_162, 2_932_897
"""The first day of the year 1, and the one after the last of 9999, from the first of 1970: what all calendars write."""

SECONDS = 86_400
"""Of a day."""

_SCALE = re.compile(r"\(\s*(\d+)\s*,\s*(\d+)\s*\)")


@dataclass(frozen=True)
class Unit:
    """How the values of a column are whole numbers.

    Attributes:
        kind: ``integer``, ``decimal``, ``float``, ``date`` or ``timestamp``.
        digits: how many digits after the point there are.
        type: the engine's name of the column's type.
    """

    kind: str
    digits: int
    type: str

    @property
    def shown(self) -> str:
        """The kind and the digits in words."""
        return f"{self.kind} with {self.digits} digits" if self.digits else self.kind


@dataclass(frozen=True)
class Item:
    """What templates know of a quasi-identifier whose numbers are replaced.

    Attributes:
        index: its number among them.
        word: the word of a vector that holds its code.
        mask: the bits of that code.
    """

    index: int
    word: int
    mask: int


@dataclass(frozen=True)
class Numbers:
    """A quasi-identifier whose numbers are replaced.

    Attributes:
        item: its place.
        name: the column.
        function: ``mean``, ``median`` or ``mode``.
        table: its numbers, by code.
        whole: how its values are whole numbers.
        unit: what a square of a distance in units is worth: the weight over all squares.
        spread: all squares.
    """

    item: Item
    name: str
    function: str
    table: Relation
    whole: Unit
    unit: float = 0.0
    spread: float = 0.0

    @property
    def index(self) -> int:
        """Its number among the quasi-identifiers."""
        return self.item.index


def units_of(given: Prepared, spec: Spec) -> dict[str, Unit]:
    """How the columns are whole numbers whose numbers are replaced, by name.

    Raises:
        UnsupportedError: a column holds no numbers that add up exactly.
    """
    problems: list[str] = []
    found: dict[str, Unit] = {}
    asked = spec.recoding.aggregates
    chosen = [lookup for lookup in given.sets.lookups if lookup.name in asked]
    for lookup in chosen:
        column = given.columns[lookup.name]
        unit = unit_of(column, asked[lookup.name])
        if isinstance(unit, str):
            problems.append(f"{lookup.name}: {unit}")
        elif not lookup.height:
            problems.append(f"{lookup.name}: its hierarchy has no value below the top; leave it out of the columns")
        else:
            found[lookup.name] = unit
    if problems:
        raise UnsupportedError("\n".join(problems))
    _refuse_large(given, chosen, found)
    return found


def unit_of(column: Column, asked: Aggregate) -> Unit | str:
    """How the values of a column are whole numbers; or why they are none."""
    digits = _digits_of(column, asked)
    return digits if isinstance(digits, str) else Unit(column.kind, digits, column.type)


def _digits_of(column: Column, asked: Aggregate) -> int | str:
    """How many digits after the point a column is released with; or why it cannot be."""
    if column.kind == "float":
        if asked.digits is not None:
            return asked.digits
        return (
            f"the column is {column.type}, whose sums depend on the order of the rows; write to how many digits "
            f"after the point it is rounded, as in recoding.columns: {{{column.name}: {{aggregate: "
            f"{asked.function}, digits: 2}}}}"
        )
    if asked.digits is not None:
        return (
            f"recoding.columns says how many digits after the point to release, which is for floating-point numbers; "
            f"the column is {column.type}, so leave digits out"
        )
    if column.kind == "moment":
        return (
            f"micro-aggregation needs numbers, dates or times without a zone, but the column is {column.type}; cast it "
            "to a time without one in a source query"
        )
    if column.kind not in ("integer", "decimal", "date", "timestamp"):
        return (
            f"micro-aggregation needs numbers, dates or times, but the column is {column.type}; cast it to DECIMAL(p, "
            "s) in a source query"
        )
    scale = _SCALE.search(column.type)
    if column.kind == "decimal" and (scale is None or int(scale.group(2)) > MOST_DIGITS):
        return (
            f"the type {column.type} does not say how many digits there are after the point, or more than "
            f"{MOST_DIGITS}; cast it to DECIMAL(p, s) in a source query"
        )
    return int(scale.group(2)) if column.kind == "decimal" and scale is not None else 0


def _refuse_large(given: Prepared, chosen: Sequence[Lookup], units: Mapping[str, Unit]) -> None:
    """Refuse numbers whose sums would not be exact.

    Raises:
        UnsupportedError: there are some.
    """
    workspace, compiler = given.workspace, given.workspace.compiler
    most = LARGEST / max(1, given.sets.rows)
    branches = []
    for lookup in chosen:
        unit = units[lookup.name]
        day = SECONDS if unit.kind == "timestamp" else 1
        own = min(most, LARGEST_FLOAT) if unit.kind == "float" else most
        branches.append(
            compiler.filled(
                "recode/microaggregation/too_large",
                {
                    "attribute": str(lookup.index),
                    "lookup": workspace.quoted(lookup.table),
                    "most": f"{own / 10**unit.digits:.6e}",
                },
                kind=unit.kind, units=amount_of(unit), first=FIRST_DAY * day, after=DAYS_AFTER * day,
            )
        )  # fmt: skip
    large = {index for index, found in workspace.query(compiler.union(branches), len(branches)) if found}
    for lookup in chosen:
        if lookup.index in large:
            raise UnsupportedError(f"{lookup.name}: {_too_large(units[lookup.name], given.sets.rows)}")
    if not compiler.dialect.typed:
        for lookup in chosen:
            _refuse_broken(given, lookup, units[lookup.name])


def _too_large(unit: Unit, rows: int) -> str:
    """What is wrong with numbers that are too large."""
    if unit.kind in ("date", "timestamp"):
        return (
            f"some of its values are outside of the years 1 to 9999, or too late for {rows:,} rows to be added up "
            "exactly; leave them out in a source query"
        )
    return (
        f"its numbers are too large for {rows:,} rows to be added up exactly, or are no numbers; give them fewer "
        "digits in a source query" + (", or write fewer under digits" if unit.kind == "float" else "")
    )


def _refuse_broken(given: Prepared, lookup: Lookup, unit: Unit) -> None:
    """Refuse decimals with more digits than their type says, which some engines store.

    Raises:
        UnsupportedError: there are some.
    """
    workspace, compiler = given.workspace, given.workspace.compiler
    if unit.kind != "decimal" or not unit.digits:
        return
    statement = compiler.filled(
        "recode/microaggregation/broken", {"lookup": workspace.quoted(lookup.table)}, amount=amount_of(unit),
        digits=unit.digits,
    )  # fmt: skip
    ((count,),) = workspace.query(statement, 1)
    if count:
        raise UnsupportedError(
            f"{lookup.name}: {count} different values have more than {unit.digits} digits after the point, which is "
            "what the column's type says; round them in a source query"
        )


def amount_of(unit: Unit) -> Sql:
    """A number of a column ``value`` as a whole one."""
    return render("recode/microaggregation/units", kind=unit.kind, digits=unit.digits)


def numbers_of(state: Partitions, spec: Spec, units: Mapping[str, Unit]) -> list[Numbers]:
    """The columns whose numbers are replaced.

    Args:
        state: the partitions that they divide.
        spec: names them.
        units: how each is a whole number, by name.
    """
    asked = spec.recoding.aggregates
    chosen = [lookup for lookup in state.sets.lookups if lookup.name in asked]
    return _weighed(state, [_numbers(state, own, asked[own.name].function, units[own.name]) for own in chosen])


def _numbers(state: Partitions, lookup: Lookup, function: str, unit: Unit) -> Numbers:
    """The numbers of a column, as a scratch table."""
    path = state.paths[lookup.index]
    table = state.make(
        "microaggregation/amounts", f"amounts{lookup.index}", {"lookup": lookup.table, "vectors": state.vectors},
        {"of_lookup": _of_lookup(state, lookup.index)},
        amount=amount_of(unit), word=f"code{path.word}", mask=path.masks[0],
    )  # fmt: skip
    return Numbers(Item(lookup.index, path.word, path.masks[0]), lookup.name, function, table, unit)


def released_of(state: Partitions, own: Numbers, joined: Relation) -> Relation:
    """What a column is released with, as a scratch table: the distances of the classes, each with its ``value``.

    Args:
        state: the partitions.
        own: the column.
        joined: the partitions' distances.

    Raises:
        UnsupportedError: the type of the column does not hold the digits that were asked for.
    """
    unit, workspace = own.whole, state.workspace
    context: dict[str, Hashable] = {
        "index": own.index, "kind": unit.kind, "digits": unit.digits, "step": Decimal(1).scaleb(-unit.digits),
    }  # fmt: skip
    tables = {"joined": joined, "amounts": own.table}
    what = f"released{own.index}"
    if workspace.dialect.inserts:
        released = state.make("microaggregation/typed", what, {"lookup": state.sets.lookups[own.index].table})
        quoted = {name: workspace.quoted(table) for name, table in {**tables, "released": released}.items()}
        workspace.run(
            workspace.compiler.filled("recode/microaggregation/insert_released", quoted, target=None, **context)
        )
    else:
        scale = _SCALE.search(unit.type)
        name, precision = unit.type.partition("(")[0], 28 if scale is None else int(scale.group(1))
        context |= {"type": {"INT": "INTEGER"}.get(name, name), "precision": precision}
        released = state.make("microaggregation/released", what, tables, {}, **context)
    if unit.kind == "float":
        tables = {"released": released, "amounts": own.table}
        (changed,) = state.row("microaggregation/changed", tables, units=amount_of(unit))
        if changed:
            raise UnsupportedError(
                f"{own.name}: the type {unit.type} does not hold its numbers with {unit.digits} digits after the "
                "point; write fewer under digits, or cast the column to DOUBLE in a source query"
            )
    return released


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


def squares_lost(state: Partitions, mapped: Mapped, numbers: Sequence[Numbers]) -> dict[str, float]:
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
