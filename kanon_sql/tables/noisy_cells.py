"""Tables with noise: cells of bounded contributions, random numbers on the finest, and margins that add these up.

What leaves the database are the finest cells alone. All that is published is computed from their noisy values, so that
margins add up, and no margin spends budget. Which cells there are is said by the spec, or by a threshold that noisy
numbers of contributions reach; what is not published of cells takes no part in their margins either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import HierarchyError, InternalError, Problem, SpecError, UnsupportedError
from kanon_sql.frequency import drawn_number
from kanon_sql.hierarchies import (
    Lookup,
    Site,
    exact_texts,
    exact_value,
    kind_of,
    refuse_blank_ends,
    refuse_mixed_forms,
    survey,
    with_top,
)
from kanon_sql.release import NoisePlan, Sensitivity, noise_for, operating_system
from kanon_sql.spec import TableSpec, derived_key, new_secret
from kanon_sql.sql import Relation, Sql, exact_text, source_relation
from kanon_sql.tables.audit import Audit
from kanon_sql.tables.cells import MOST_MARGINS, opened_table
from kanon_sql.tables.protect import ProtectedTable
from kanon_sql.tables.shape import Shape
from kanon_sql.tables.structure import Cell, CellTable, Key, Path, in_order

__all__ = ["MOST_NOISY_CELLS", "BoundedCells", "bounded_cells", "noisy", "plan_of"]

MOST_NOISY_CELLS = 100_000
"""More cells, margins included, are refused."""

WIDE = 10**12
"""Amounts are cut here before those of a person in a cell are added up, so that every engine can."""


@dataclass(frozen=True)
class BoundedCells:
    """The finest cells, to which a person contributes no more than the spec says.

    Attributes:
        shape: the margins of the table.
        cells: key -> value and number of contributions; where all cells are declared, those that are empty too. In an
            order that no engine decides.
    """

    shape: Shape
    cells: Mapping[Key, tuple[int, int]]


def plan_of(spec: TableSpec) -> NoisePlan:
    """The noise of a table, which no row decides."""
    noise = spec.protection.noise
    assert noise is not None
    rows_together = spec.unit is not None and spec.measure is None and spec.counts == "rows"
    sensitivity = Sensitivity(noise.contributions, noise.bound, rows_together)
    return noise_for(*noise.spends, sensitivity, declared=spec.declared, sums=spec.measure is not None)


# --- What leaves the database ----------------------------------------------------------------


def bounded_cells(workspace: Workspace, spec: TableSpec) -> BoundedCells:
    """The finest cells of a table with noise.

    Args:
        workspace: where.
        spec: what to tabulate, and what bounds each person's part.

    Raises:
        SpecError: columns that are not there or do not fit, or too many cells.
        HierarchyError: levels that are not there, or do not nest.
    """
    columns = opened_table(workspace, spec).columns
    raw = _raw(workspace, spec, columns)
    workspace.report("labelling the categories", None)
    lookups = _lookups(workspace, spec, columns, raw)
    shape = Shape(spec, [lookup.height for lookup in lookups])
    domains = _domains(spec)
    _refuse_too_many(shape, domains)
    workspace.report("bounding the contributions of each person", None)
    names = [[f"c{index}_{level}" for level in levels] for index, levels in enumerate(shape.offered)]
    contributions = _contributions(workspace, spec, columns, lookups, shape, names, domains, raw)
    found = workspace.fetch(
        "tables/noise/cells",
        MOST_NOISY_CELLS + 1,
        contributions=contributions,
        names=[name for own in names for name in own],
        measure=spec.measure is not None,
        of_rows=spec.unit is None,
    )
    if len(found) > MOST_NOISY_CELLS:
        raise SpecError(
            f"dimensions: the table has more than {MOST_NOISY_CELLS:,} cells; group values by a hierarchy, or leave "
            "out a dimension"
        )
    cells: dict[Key, tuple[int, int]] = {}
    if spec.declared:
        cells = dict.fromkeys(product(*(domains[index] for index, _ in enumerate(lookups))), (0, 0))
    for row in found:
        labels = iter(None if label is None else str(label) for label in row[:-2])
        key = tuple(tuple(reversed([next(labels) for _ in own])) for own in names)
        if cells.get(key, (0, 0))[1] or (spec.declared and key not in cells):
            raise InternalError("internal error in tables/noise/cells: a cell that is not declared, or is there twice")
        cells[key] = int(row[-2]), int(row[-1])
    return BoundedCells(shape, {key: cells[key] for key in sorted(cells, key=in_order)})


def _raw(workspace: Workspace, spec: TableSpec, columns: Mapping[str, Column]) -> Relation:
    workspace.report("reading the source: one GROUP BY over the dimensions", None)
    noise, source, raw = spec.protection.noise, "kanon_source", workspace.table("raw")
    assert noise is not None
    grouped = [*spec.dimensions, *([] if spec.unit is None else [spec.unit])]
    refuse_blank_ends(
        workspace, source_relation(), exact_texts([columns[name] for name in grouped], "checked"), "the source"
    )
    if spec.measure is not None:  # where columns are not typed, a text would be added up as 0
        refuse_mixed_forms(workspace, source_relation(), {spec.measure: columns[spec.measure]})
    workspace.execute(
        "tables/noise/raw",
        target=raw,
        source=source_relation(),
        values=[exact_value(columns[name], source) for name in spec.dimensions],
        unit=None if spec.unit is None else exact_value(columns[spec.unit], source),
        measure=None if spec.measure is None else exact_value(columns[spec.measure], source),
        bounds=noise.bounds if spec.unit is None else (-WIDE, WIDE),
    )
    labelled = [f"q{index}" for index in range(len(spec.dimensions))]
    stored = dict(zip([*labelled, "unit"], [columns[name] for name in grouped], strict=False))
    refuse_mixed_forms(workspace, raw, stored, labelled=labelled, weighted=True)
    return raw


def _lookups(workspace: Workspace, spec: TableSpec, columns: Mapping[str, Column], raw: Relation) -> list[Lookup]:
    """The lookup tables. Values that a declared hierarchy does not list have no label, and are in no cell."""
    sites = [
        Site(index, f"dimensions.{name}", columns[name], f"q{index}", f"{index}", dimension.hierarchy)
        for index, (name, dimension) in enumerate(spec.dimensions.items())
    ]
    found = survey(workspace, spec, sites, raw)
    problems = []
    for item, (name, dimension) in zip(found, spec.dimensions.items(), strict=True):
        problems += [*item.nesting_problems(), *item.coverage_problems("value", partial=dimension.declared)]
        if dimension.levels[-1] >= item.table.height:
            problems.append(
                Problem(
                    f"dimensions.{name}.levels: expected levels below {item.table.height}, the hierarchy's top, which "
                    "is the total and shown by itself; leave it out"
                )
            )
    if problems:
        raise HierarchyError(problems)
    return [item.lookup("value") for item in found]


def _domains(spec: TableSpec) -> dict[int, list[Path]]:
    """Declared dimension -> the paths of its finest categories."""
    found: dict[int, list[Path]] = {}
    for index, dimension in enumerate(spec.dimensions.values()):
        listed = kind_of(dimension.hierarchy).listed_rows(spec)
        if dimension.values is not None:
            found[index] = [(label,) for label in dimension.values]
        elif listed is not None:
            paths = {tuple(row[level] for level in reversed(dimension.levels)) for row in with_top(listed)}
            found[index] = [*sorted(paths)]
    return found


def _refuse_too_many(shape: Shape, domains: Mapping[int, Sequence[Path]]) -> None:
    """Refuse more margins, or where all categories are declared more cells, than are computed."""
    if len(shape.margins) > MOST_MARGINS:
        raise SpecError(
            f"dimensions: the levels and totals make {len(shape.margins):,} combinations, and at most {MOST_MARGINS} "
            "are tabulated; leave out a dimension, a level or a total"
        )
    if len(domains) < len(shape.dimensions):
        return
    labels = [len({path[: len(path) - end] for path in domains[index] for end in range(len(path))}) + item.total
              for index, item in enumerate(shape.dimensions)]  # fmt: skip
    if prod(labels) > MOST_NOISY_CELLS:
        raise SpecError(
            f"dimensions: the declared values make {prod(labels):,} cells with their margins, and at most "
            f"{MOST_NOISY_CELLS:,} are published; leave out a dimension, a level or a total"
        )


def _contributions(
    workspace: Workspace,
    spec: TableSpec,
    columns: Mapping[str, Column],
    lookups: Sequence[Lookup],
    shape: Shape,
    names: Sequence[Sequence[str]],
    domains: Mapping[int, Sequence[Path]],
    raw: Relation,
) -> Relation:
    """What each person contributes to each cell, bounded."""
    noise, found = spec.protection.noise, workspace.table("contributions")
    assert noise is not None
    labels = [
        {"name": name, "sql": _label(lookup, level)}
        for lookup, levels, own in zip(lookups, shape.offered, names, strict=True)
        for name, level in zip(own, levels, strict=True)
    ]
    loaded = []
    for index, paths in domains.items():
        table = workspace.table(f"declared{index}")
        workspace.load(table, ["l0"], [(label,) for label in sorted({path[-1] or "" for path in paths})])
        loaded.append({"table": table, "label": _label(lookups[index], shape.offered[index][0])})
    workspace.execute(
        "tables/noise/contributions",
        target=found,
        raw=raw,
        labels=labels,
        lookups=[
            {"index": item.index, "table": item.table, "column": item.column, "has_nulls": item.has_nulls}
            for item in lookups
        ],
        domains=loaded,
        unit=spec.unit is not None,
        measure=spec.measure is not None,
    )
    if spec.unit is None:
        return found
    flat = [str(label["name"]) for label in labels]
    texts = ["CAST(unit AS VARCHAR)", *(f"COALESCE({name}, '')" for name in flat)]
    bounded = workspace.table("bounded")
    workspace.execute(
        "tables/noise/bounded",
        target=bounded,
        contributions=found,
        names=flat,
        counts=spec.counts if spec.measure is None else "sums",
        most=noise.contributions,
        bounds=noise.bounds,
        # The numbers of one person have nothing to do with those of another: who else is there changes no choice.
        draw=drawn_number(Sql(" || '|' || ".join(texts)), derived_key(new_secret(), "contributions")),
    )
    return bounded


def _label(lookup: Lookup, level: int) -> Sql:
    return exact_text(Sql(f"CAST(lookup{lookup.index}.l{level} AS VARCHAR)"))


# --- What is published ----------------------------------------------------------------------------


def noisy(spec: TableSpec, found: BoundedCells, plan: NoisePlan) -> ProtectedTable:
    """Draw the noise, choose the cells, and add them up.

    Raises:
        SpecError: a category would be taken for a total.
        UnsupportedError: the chosen cells have too many margins.
    """
    noise = spec.protection.noise
    assert noise is not None
    finest: dict[Key, int] = {}
    for key, (value, contributions) in found.cells.items():
        drawn = value + plan.values.draw(operating_system)
        if plan.threshold is not None:
            counted = drawn if plan.keys is None else contributions + plan.keys.draw(operating_system)
            if counted < plan.threshold:
                continue
        finest[key] = max(0, drawn) if noise.nonnegative else drawn
    _refuse_starred(spec, finest)
    values: dict[Key, int] = {}
    summed: dict[Key, int] = {}
    for margin in found.shape.margins:
        for key, value in finest.items():
            above = tuple(path[: len(path) - end] for path, end in zip(key, margin, strict=True))
            values[above] = values.get(above, 0) + value
            summed[above] = summed.get(above, 0) + 1
        if len(values) > MOST_NOISY_CELLS:
            raise UnsupportedError(
                f"dimensions: the table has more than {MOST_NOISY_CELLS:,} cells with its margins; leave out a "
                "dimension, a level or a total"
            )
    table = CellTable.of([Cell(key, value, False, 0, 0) for key, value in values.items()], sums=True)
    published = [cell.value for cell in table.cells]
    failure = None if published else f"no cell reached the threshold of {plan.threshold} noisy contributions"
    # Negative values that became 0 make margins too large, and cells below the threshold are missing there, by what is
    # not known: of such margins no error is stated.
    unsure = noise.nonnegative or plan.threshold is not None
    errors = [
        None if unsure and cell.key not in finest else plan.values.within(summed[cell.key]) for cell in table.cells
    ]
    return ProtectedTable(table, published, Audit(table, published, published), {}, {}, failure, errors=errors)


def _refuse_starred(spec: TableSpec, keys: Iterable[Key]) -> None:
    """Refuse a label that would be taken for a total; of cells that are published, whose keys are no secret."""
    total = spec.total_label.casefold()
    for key in keys:
        for name, path in zip(spec.dimensions, key, strict=True):
            if any(label is not None and label.casefold() == total for label in path):
                raise SpecError(
                    f"dimensions.{name}: a category is called {spec.total_label!r}, as totals are; rename it in a "
                    "source query, or choose another total_label"
                )
