"""Each column's untrue values, made in the database.

Everything random is a number below 2^48 that is drawn for a row, a column and a purpose. Arithmetic is of whole numbers
and of binary fractions that every engine rounds alike, so that engines agree to the last digit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import fsum, sqrt
from statistics import NormalDist
from typing import Any

from kanon_sql.engines import Column, Workspace, refuse_incomplete
from kanon_sql.errors import Problem, SpecError, UnsupportedError, counted
from kanon_sql.frequency import DRAWN_FROM, draw_of, open_table, unknown_columns
from kanon_sql.hierarchies import exact_texts, exact_value, refuse_blank_ends, refuse_mixed_forms
from kanon_sql.perturbation.dates import SHIFT, days_of, moved_dates
from kanon_sql.perturbation.matrix import by_bayes, thresholds
from kanon_sql.spec import Masking, Noise, PerturbSpec, Pram, Shift
from kanon_sql.sql import Relation, Sql, exact_text, render, source_relation

__all__ = ["NUMBERS", "MaskedColumn", "MaskedTable", "masked", "moments_of"]

NUMBERS = ("integer", "decimal", "float")

QUANTILES = 4096
"""Equally likely values of the noise: the middles of this many slices of a normal distribution."""

LARGEST = 10**15
"""Numbers are masked exactly up to here, in units of their last digit."""

FEWEST = 10
"""Noise is made for columns with this many values; of fewer, a standard deviation says nothing."""


@dataclass(frozen=True)
class MaskedColumn:
    """A released column.

    Attributes:
        name: its name.
        column: as the source has it.
        masking: how it is made untrue; None where it is kept.
        known: rows with a value.
        masked: the column of the table with untrue values.
        source: the column of the same table with true ones.
    """

    name: str
    column: Column
    masking: Masking | None
    known: int
    masked: str
    source: str

    @property
    def is_number(self) -> bool:
        """Whether it has a mean."""
        return self.column.kind in NUMBERS


@dataclass(frozen=True)
class MaskedTable:
    """Every row twice, true and untrue; a scratch table.

    Attributes:
        table: ``row_key``, ``s0``, ``m0``, ...
        columns: the released columns.
        rows: how many.
    """

    table: Relation
    columns: Sequence[MaskedColumn]
    rows: int


def masked(workspace: Workspace, spec: PerturbSpec) -> MaskedTable:
    """The source's rows with their untrue values beside the true ones.

    Raises:
        SpecError: columns are not there or do not fit their method, the key does not distinguish rows, or a value is in
            no row of a matrix.
        UnsupportedError: values are too large.
    """
    columns = _columns(workspace, spec)
    workspace.report("reading the source", None)
    base = workspace.table("true")
    strata = {name: f"w{number}" for number, name in enumerate(_strata(spec))}
    workspace.execute(
        "perturbation/true",
        target=base,
        source=source_relation(),
        unit=None if spec.unit is None else _text(columns[spec.unit]),
        row_key=_text(columns[spec.key]),
        columns=[
            *({"name": f"s{number}", "value": _plain(columns[name])} for number, name in enumerate(spec.released)),
            *({"name": own, "value": exact_value(columns[name], "kanon_source")} for name, own in strata.items()),
        ],
    )
    listed = [f"s{number}" for number, _ in enumerate(spec.released)]
    listed += [] if spec.unit is None else ["unit_key"]
    rows, keys, *known = (int(item or 0) for item in workspace.row("perturbation/counts", base=base, columns=listed))
    if rows != keys:
        raise SpecError(
            f"key: {spec.key!r} has {keys:,} different values in {rows:,} rows; name a column without NULL that "
            "identifies rows"
        )
    if spec.unit is not None and (of_none := rows - known.pop()):
        raise SpecError(
            f"unit: {spec.unit!r} is NULL in {counted(of_none, 'row')}, so whose dates these are is not known; leave "
            "such rows out in a source query"
        )
    if not rows:
        raise SpecError("the source has no rows, so there is nothing to mask; name a table that has some")
    found = [
        MaskedColumn(name, columns[name], spec.perturb.get(name), known[number], f"m{number}", f"s{number}")
        for number, name in enumerate(spec.released)
    ]
    masks = {item.masked: _mask(workspace, spec, base, item, strata) for item in found if item.masking is not None}
    table = workspace.table("masked")
    workspace.execute(
        "perturbation/masked",
        target=table,
        base=base,
        columns=[{"source": item.source, "masked": item.masked, "table": masks.get(item.masked)} for item in found],
    )
    (there,) = workspace.row("release/count", table=table, mark=None, unit=None)
    refuse_incomplete("perturbation/masked", int(there), rows, "rows")
    return MaskedTable(table, found, rows)


def _columns(workspace: Workspace, spec: PerturbSpec) -> Mapping[str, Column]:
    opened = open_table(workspace.engine, spec, None)
    columns = opened.columns
    named = [spec.key, *spec.released, *_strata(spec), *(() if spec.unit is None else (spec.unit,))]
    problems = unknown_columns(opened.shown, columns, dict.fromkeys(named), "which the spec names")
    for name, item in spec.perturb.items():
        column = columns.get(name)
        if column is None:
            continue
        if item.noise is not None and column.kind not in NUMBERS:
            problems.append(
                Problem(f"perturb.{name}: noise is for numbers, and the column is {column.type}; use swap or pram")
            )
        if item.rank_swap is not None and column.kind not in (*NUMBERS, "date", "timestamp"):
            problems.append(
                Problem(f"perturb.{name}: ranks need an order, and the column is {column.type}; use swap or pram")
            )
        if item.shift is not None and column.kind not in workspace.dialect.moved:
            problems.append(_not_moved(workspace, name, column))
        if item.pram is not None and item.pram.matrix is not None and column.kind != "text":
            problems.append(
                Problem(
                    f"perturb.{name}: a matrix names categories by their text, and the column is {column.type}; cast "
                    "it in a source query"
                )
            )
    if problems:
        raise SpecError(problems)
    used = {name: columns[name] for name in dict.fromkeys(named)}
    draw_of(columns[spec.key], "", "key")
    if spec.unit is not None:
        draw_of(columns[spec.unit], "", "unit")
    refuse_blank_ends(workspace, source_relation(), exact_texts(list(used.values()), "checked"), "the source")
    refuse_mixed_forms(workspace, source_relation(), used)
    return columns


def _not_moved(workspace: Workspace, name: str, column: Column) -> Problem:
    dialect = workspace.dialect
    if not dialect.moved:
        return Problem(f"perturb.{name}: moving dates was not tried on {dialect.name}; move them in a source query")
    return Problem(f"perturb.{name}: shift moves dates and times, and the column is {column.type}; cast it to one")


def _strata(spec: PerturbSpec) -> list[str]:
    """The columns within which values are exchanged."""
    return list(
        dict.fromkeys(name for item in spec.perturb.values() if item.swap is not None for name in item.swap.within)
    )


def _plain(column: Column) -> Sql:
    """A column as it is released where it is kept, and compared where it is not."""
    return exact_value(column, "kanon_source")


def _text(column: Column) -> Sql:
    """A key as text, the same on every engine."""
    return exact_text(Sql(f"CAST({exact_value(column, 'kanon_source')} AS VARCHAR)"))


def _draw(spec: PerturbSpec, name: str, purpose: str) -> Sql:
    """A number for each row of the table of true values, which is then called ``base``."""
    return render("frequency/draw", key=spec.key_for(f"{purpose} {name}"), text=Sql("base.row_key"))


# --- The methods -----------------------------------------------------------------------------


def _mask(
    workspace: Workspace, spec: PerturbSpec, base: Relation, item: MaskedColumn, strata: Mapping[str, str]
) -> Relation:
    """The rows that have a value, each with its untrue one: ``row_key`` and ``value``."""
    assert item.masking is not None
    workspace.report(f"masking {item.name!r}: {item.masking.method.replace('_', ' ')}", None)
    target = workspace.table(f"mask_{item.masked}")
    given: dict[str, Any] = {
        "target": target,
        "base": base,
        "source": item.source,
        "first": _draw(spec, item.name, "first"),
        "second": _draw(spec, item.name, "second"),
    }
    if item.masking.shift is not None:
        _shift(workspace, spec, item, item.masking.shift, given)
    elif item.masking.noise is not None:
        _noise(workspace, item, item.masking.noise, given)
    elif item.masking.pram is not None:
        _pram(workspace, item, item.masking.pram, given)
    elif item.masking.rank_swap is not None:
        width = max(2, int(Fraction(repr(item.masking.rank_swap.share)) * item.known) + 1)
        start = int(spec.key_for(f"start {item.name}"), 16) % width
        workspace.execute("perturbation/rank_swap", width=width, start=start, **given)
    else:
        assert item.masking.swap is not None
        within = [strata[name] for name in item.masking.swap.within]
        share = int(Fraction(repr(item.masking.swap.share)) * DRAWN_FROM)
        workspace.execute("perturbation/swap", share=share, within=within, **given)
    return target


def _shift(workspace: Workspace, spec: PerturbSpec, item: MaskedColumn, shift: Shift, given: dict[str, Any]) -> None:
    """Dates moved by the days of their person, which the person's key alone decides: alike in every column."""
    dated, moved = workspace.table(f"dated_{item.masked}"), workspace.table(f"moved_{item.masked}")
    days = days_of(render("frequency/draw", key=spec.key_for(SHIFT), text=Sql("base.unit_key")), shift.days, shift.step)
    workspace.execute("perturbation/dated", target=dated, base=given["base"], source=item.source, days=days)
    moved_dates(workspace, f"perturb.{item.name}", dated, moved, [item.column], shift.days)
    workspace.execute("perturbation/shifted_dates", target=given["target"], moved=moved)


def _noise(workspace: Workspace, item: MaskedColumn, noise: Noise, given: dict[str, Any]) -> None:
    """Noise in whole units of the last digit, one of :data:`QUANTILES` for each row."""
    if item.known < FEWEST:
        raise SpecError(
            f"perturb.{item.name}: noise needs a column with {FEWEST} values or more, and it has fewer; use swap "
            "or rank_swap"
        )
    decimals = noise.decimals if noise.decimals is not None else 0 if item.column.kind == "integer" else 2
    unit = 10**decimals
    _, deviation, largest = moments_of(workspace, given["base"], item)
    if largest * unit * 2 > LARGEST:
        raise UnsupportedError(
            f"perturb.{item.name}: the column has numbers of more than 15 digits; use larger units in a source query"
        )
    scale = unit * noise.share * deviation if noise.variant == "additive" else noise.share * _PARTS
    scale = float(f"{scale:.6g}")  # sums differ in their last digits between engines, and noise must not
    if scale < 1:
        raise SpecError(
            f"perturb.{item.name}: the noise is smaller than the last digit that is released; give more decimals, or a "
            "larger share"
        )
    amounts = workspace.table(f"noise_{item.masked}")
    listed = [(str(number), str(round(scale * normal))) for number, normal in enumerate(standard_normal())]
    workspace.load(amounts, ["l0", "l1"], listed)
    workspace.execute(
        "perturbation/noise",
        amounts=amounts,
        slice=DRAWN_FROM // QUANTILES,
        unit=unit,
        parts=None if noise.variant == "additive" else _PARTS,
        **{name: given[name] for name in ("target", "base", "source", "first")},
    )


_PARTS = 10**6
"""A factor is a whole number of these parts of 1."""


@cache
def standard_normal() -> tuple[float, ...]:
    """The middles of equally likely slices of a normal distribution, with mean 0 and variance 1."""
    normal = NormalDist()
    half = [normal.inv_cdf((2 * number + 1) / (2 * QUANTILES)) for number in range(QUANTILES // 2)]
    size = sqrt(fsum(value * value for value in half) / len(half))
    return (*(value / size for value in half), *(-value / size for value in reversed(half)))


def moments_of(workspace: Workspace, table: Relation, item: MaskedColumn) -> tuple[float, float, float]:
    """The mean, the standard deviation and the largest absolute value of a column with values."""
    mean, largest = workspace.row("perturbation/mean", table=table, column=item.source)
    (square,) = workspace.row("perturbation/spread", table=table, column=item.source, mean=float(mean))
    return float(mean), sqrt(float(square)), float(largest)


def _pram(workspace: Workspace, item: MaskedColumn, pram: Pram, given: dict[str, Any]) -> None:
    if pram.matrix is None:
        assert pram.retain is not None
        categories = workspace.table(f"categories_{item.masked}")
        workspace.execute("perturbation/categories", target=categories, base=given["base"], source=item.source)
        count = workspace.size([categories])
        if count < 2 and not pram.invariant:
            raise SpecError(
                f"perturb.{item.name}: the column has one category only, so it cannot be perturbed; keep it"
            )
        workspace.execute(
            "perturbation/pram",
            categories=categories,
            keep=int(Fraction(repr(pram.retain)) * DRAWN_FROM),
            known=float(item.known),
            others=None if pram.invariant else count - 1,
            drawn_from=float(DRAWN_FROM),
            **given,
        )
        return
    matrix = pram.transitions
    labels = list(matrix)
    listed = workspace.table(f"labels_{item.masked}")
    workspace.load(listed, ["l0", "l1"], [(label, str(number)) for number, label in enumerate(labels)])
    found = workspace.fetch(
        "perturbation/frequencies", len(labels) + 1, base=given["base"], source=item.source, labels=listed
    )
    counts = {None if number is None else int(number): int(rows) for number, rows in found}
    if counts.get(None):
        raise SpecError(
            f"perturb.{item.name}.pram.matrix: {counts[None]:,} rows hold a category that has no row in the "
            "matrix; add it"
        )
    if pram.invariant:
        matrix = by_bayes(matrix, {label: counts.get(number, 0) for number, label in enumerate(labels)})
    transitions = workspace.table(f"transitions_{item.masked}")
    workspace.load(transitions, ["l0", "l1", "l2", "l3"], thresholds(matrix, DRAWN_FROM))
    workspace.execute(
        "perturbation/transitions",
        transitions=transitions,
        **{name: given[name] for name in ("target", "base", "source", "first")},
    )
