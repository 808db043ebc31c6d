"""Columns of numbers whose values are replaced: whole units of their last digit, and what squares they lose.

Sums are of whole numbers, so they are exact and alike on every engine; numbers for which they would not be are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from kanon_sql.engines import Column
from kanon_sql.errors import UnsupportedError
from kanon_sql.frequency import Prepared
from kanon_sql.hierarchies import Lookup
from kanon_sql.recode.partitions import Partitions
from kanon_sql.recode.release import Mapped
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation, Sql, render

__all__ = ["Item", "Numbers", "amount_of", "digits_of", "numbers_of", "squares_lost"]

MOST_DIGITS = 10
"""Digits after the point that a number may have."""

LARGEST = 2.0**58
"""What all rows' numbers may add up to, in units of their last digit."""

GAINS = 1e12
"""How many different gains of cuts are told apart."""

_SCALE = re.compile(r"\(\s*\d+\s*,\s*(\d+)\s*\)")


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


def digits_of(given: Prepared, spec: Spec) -> dict[str, int]:
    """How many digits after the point the columns have whose numbers are replaced, by name.

    Raises:
        UnsupportedError: a column holds no numbers that add up exactly.
    """
    problems, found = [], {}
    chosen = [lookup for lookup in given.sets.lookups if lookup.name in (spec.recoding.columns or {})]
    for lookup in chosen:
        column = given.columns[lookup.name]
        digits = _scale_of(column)
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


def _scale_of(column: Column) -> int | None:
    """How many digits after the point a type has; None where it does not say."""
    if column.kind == "integer":
        return 0
    said = _SCALE.search(column.type)
    return None if said is None else int(said.group(1))


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


def numbers_of(state: Partitions, spec: Spec, digits: Mapping[str, int]) -> list[Numbers]:
    """The columns whose numbers are replaced.

    Args:
        state: the partitions that they divide.
        spec: names them.
        digits: how many each has after the point, by name.
    """
    functions = spec.recoding.columns or {}
    chosen = [lookup for lookup in state.sets.lookups if lookup.name in functions]
    return _weighed(state, [_numbers(state, own, functions[own.name], digits[own.name]) for own in chosen])


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
