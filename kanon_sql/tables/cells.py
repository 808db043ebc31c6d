"""From the source to cells: one pass, the finest cells, their margins, and what the rules of sensitivity say of each.

The rules are evaluated in the database, so that no contribution of a respondent leaves it. The client gets the cells:
their labels, counts or sums, and for sums by how much a rule is violated. Counts below the threshold are among them,
since the programs that protect them must know them; they are in no message, log or result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import ceil
from typing import Any

from kanon_sql.engines import Column, Workspace, refuse_incomplete
from kanon_sql.errors import HierarchyError, InternalError, Problem, SpecError, UnsupportedError, have
from kanon_sql.frequency import OpenTable, open_table, unknown_columns
from kanon_sql.hierarchies import (
    Lookup,
    Site,
    exact_range,
    exact_texts,
    exact_value,
    refuse_blank_ends,
    refuse_mixed_forms,
    survey,
    whole_units,
)
from kanon_sql.spec import Dimension, Rules, TableSpec
from kanon_sql.sql import Relation, Sql, exact_text, source_relation
from kanon_sql.tables.collapse import chosen
from kanon_sql.tables.merge import merged
from kanon_sql.tables.shape import Margin, Shape, Step
from kanon_sql.tables.structure import Cell, CellTable, Groups, Key, Path, group_path

__all__ = ["LARGEST_TOTAL", "MOST_CELLS", "MOST_MARGINS", "Tabulated", "opened_table", "raw_table", "tabulated"]

MOST_CELLS = 5_000
"""More cells, margins included, are refused before any of them is fetched."""

MOST_MARGINS = 256
"""More combinations of levels are refused."""

LARGEST_TOTAL = 10**13
"""Sums of contributions are added up exactly to here."""


@dataclass(frozen=True)
class Tabulated:
    """A table as it is, before anything is protected.

    Attributes:
        spec: what was tabulated, at the levels that the cells have: coarser ones where categories were collapsed.
        table: the cells; none where nothing may be published. Sums are in units of the last digit.
        counts: the counts of the same cells, for their means; None where none are published.
        rows: rows of the source.
        blank_rows: those without an amount.
        failure: why no protection can help, in words; None if one may.
        notes: what was merged.
    """

    spec: TableSpec
    table: CellTable
    counts: CellTable | None
    rows: int
    blank_rows: int
    failure: str | None
    notes: Sequence[str]


def tabulated(workspace: Workspace, spec: TableSpec) -> Tabulated:
    """The cells of a table.

    Args:
        workspace: where.
        spec: what to tabulate, by which dimensions, and what makes a cell sensitive.

    Raises:
        SpecError: columns that are not there or do not fit, contributions that the rules cannot judge, persons in
            several cells of a table that counts persons, or too many cells.
        HierarchyError: a hierarchy does not cover the data, or its levels do not nest.
    """
    opened = opened_table(workspace, spec)
    raw, rows, blank = raw_table(workspace, spec, opened)
    workspace.report("labelling the categories", None)
    lookups = _lookups(workspace, spec, opened.columns, raw)
    shape = Shape(spec, [lookup.height for lookup in lookups[: len(spec.dimensions)]])
    if len(shape.margins) > MOST_MARGINS:
        raise SpecError(
            f"dimensions: the levels and totals make {len(shape.margins):,} combinations, and at most {MOST_MARGINS} "
            "are tabulated; leave out a dimension, a level or a total"
        )
    names = [
        _names(index, levels, item)
        for index, (levels, item) in enumerate(zip(shape.offered, shape.dimensions, strict=True))
    ]
    finest = _finest(workspace, spec, lookups, shape, raw)
    kept = [_kept(shape, names, margin) for margin in shape.margins]
    notes: list[str] = []
    if spec.merges:
        add_up = partial(_added_up, workspace, spec, names)
        finest, step, failure, notes = merged(workspace, shape, names, finest, opened.columns, kept, add_up)
    if not spec.merges or step is not None:
        cells = _added_up(workspace, spec, names, kept, finest)
    if not spec.merges:
        step, failure = chosen(workspace, shape, cells, kept)
    if step is None:
        empty = CellTable.of([], sums=spec.added is not None)
        return Tabulated(spec, empty, None, rows, blank, failure, notes)
    shown = spec.with_levels(shape.levels(step))
    fetched = _fetched(workspace, spec, cells, [name for own in names for name in own], shape, step)
    places = [
        [list(offered).index(level) for level in levels]
        for offered, levels in zip(shape.offered, shape.levels(step), strict=True)
    ]
    parsed = [_parsed(shape, names, places, row) for row in fetched]
    groups = _groups(shape, names, fetched)
    table = CellTable.of([_cell(spec, *one) for one in parsed], sums=spec.added is not None, groups=groups)
    if spec.added is not None and spec.unit is None:
        table = _numbered(table)
    counts = _counts(parsed, groups) if spec.mean else None
    _refuse_unsound(spec, table, counts)
    return Tabulated(shown, table, counts, rows, blank, None, notes)


def _kept(shape: Shape, names: Sequence[Sequence[str]], margin: Margin) -> list[str]:
    """The labels that the cells of a margin have. With several hierarchies, a finest cell has those of all of them."""
    found: list[str] = []
    for own, end, levels in zip(names, margin, shape.offered, strict=True):
        if end <= len(levels):
            found += own[end : len(levels)] if end else own
        else:
            found.append(own[end - 1])
    return found


def _names(index: int, levels: Sequence[int], item: Dimension) -> list[str]:
    """The columns of a dimension's labels, the finest first, and then those of several hierarchies."""
    own = [f"c{index}_{level}" for level in levels]
    return own + [f"c{index}_{place}_{level}" for place, level in _group_places(item)]


def _group_places(item: Dimension) -> list[tuple[int, int]]:
    """Of several hierarchies, the number and the level of each that has cells."""
    places = list(item.hierarchies)
    return [(places.index(name), level) for name, level in item.groups]


# --- The source ----------------------------------------------------------------------------


def opened_table(workspace: Workspace, spec: TableSpec) -> OpenTable:
    """The source, which has the columns of a table.

    Raises:
        SpecError: it has not, or they do not fit.
    """
    opened = open_table(workspace.engine, spec, None)
    others = [name for name in (spec.unit, spec.added, spec.rules.by) if name is not None]
    problems = unknown_columns(opened.shown, opened.columns, [*spec.dimensions, *others], "which the spec names")
    if spec.added in opened.columns and spec.added is not None:
        column = opened.columns[spec.added]
        if column.kind not in (("integer", "decimal", "float") if spec.decimals else ("integer",)):
            why = (
                "only whole numbers add up alike on every engine; say how many digits after the point it has, such as "
                "decimals: 2"
                if column.kind in ("decimal", "float")
                else "only numbers add up; cast it in a source query"
            )
            problems.append(Problem(f"{_role(spec)}: {spec.added!r} is {column.type}, and {why}"))
    if problems:
        raise SpecError(problems)
    return opened


def _role(spec: TableSpec) -> str:
    """The key that names what is added up."""
    return "measure" if spec.weight is None else "weight"


def raw_table(workspace: Workspace, spec: TableSpec, opened: OpenTable, name: str = "raw") -> tuple[Relation, int, int]:
    """The one pass over the source; its table, rows, and rows without an amount.

    Args:
        workspace: where.
        spec: the columns, and what they must not hold.
        opened: the source.
        name: of the scratch table.

    Raises:
        SpecError: an unknown person, or an amount that is not allowed.
    """
    workspace.report("reading the source: one GROUP BY over the dimensions", None)
    columns, source = opened.columns, "kanon_source"
    holding = spec.rules.by
    grouped = [*spec.dimensions, *(name for name in (spec.unit, holding) if name is not None)]
    texts = exact_texts([columns[name] for name in grouped], "checked")
    refuse_blank_ends(workspace, source_relation(), texts, "the source")
    if spec.added is not None:  # where columns are not typed, a text would be added up as 0
        refuse_mixed_forms(workspace, source_relation(), {spec.added: columns[spec.added]})
    measure, unfit = (None, None) if spec.added is None else _amount(columns[spec.added], spec.decimals)
    raw = workspace.table(name)
    workspace.execute(
        "tables/raw",
        target=raw,
        source=source_relation(),
        values=[exact_value(columns[name], source) for name in spec.dimensions],
        unit=None if spec.unit is None else exact_value(columns[spec.unit], source),
        holding=None if holding is None else exact_value(columns[holding], source),
        measure=measure,
        unfit=unfit,
    )
    labelled = [f"q{index}" for index in range(len(spec.dimensions))]
    stored = dict(zip([*labelled, "unit", "holding"], [columns[name] for name in grouped], strict=False))
    refuse_mixed_forms(workspace, raw, stored, labelled=labelled, weighted=True)
    least = 0 if spec.weight is None else spec.scale
    found = workspace.row(
        "tables/totals", raw=raw, unit=spec.unit is not None, measure=spec.added is not None, least=least
    )
    rows, unknown, blank, negative, most, inexact = (int(value or 0) for value in found)
    if inexact:
        assert spec.added is not None
        most_digits = exact_range(spec.decimals, columns[spec.added].kind)
        raise SpecError(
            f"{_role(spec)}: some values of {spec.added!r} have more than {spec.decimals} digits after the point, or "
            f"are not below {most_digits:,}; state more decimals, or round in a source query"
        )
    if unknown:
        raise SpecError(
            f"unit: {have(unknown)} NULL as {spec.unit!r}, so that its person is unknown; leave such rows "
            "out in a source query, or give them one"
        )
    if holding is not None:
        (divided,) = workspace.row("tables/holdings", raw=raw)
        if divided:
            raise SpecError(
                f"rules.{spec.rules.of_sums[0]}.by: {have(int(divided), 'contributor')} several values of {holding!r}, "
                "and each must be in one holding or in none; choose one in a source query"
            )
    if spec.weight is not None and (blank or negative):
        raise SpecError(
            f"weight: some rows have NULL or less than 1 as {spec.weight!r}, and every row of a sample stands "
            "for at least one of the population; leave them out in a source query, or give them a weight"
        )
    if negative:
        raise SpecError(
            f"measure: some amounts of {spec.added!r} are negative, and the rules of sensitivity are about "
            "contributions of at least 0; tabulate gains and losses separately, by source queries"
        )
    if most * rows > LARGEST_TOTAL * 900:
        raise SpecError(f"{_role(spec)}: {spec.added!r} may add up to more than can be added exactly; use larger units")
    return raw, rows, blank


def _amount(column: Column, decimals: int) -> tuple[Sql, Sql | None]:
    """An amount in units of its last digit, and whether it is no whole number of these."""
    value = exact_value(column, "kanon_source")
    if not decimals:
        return value, None
    most = exact_range(decimals, column.kind)
    fits = f"({value} > {-most} AND {value} < {most})"
    units = whole_units(value, decimals, column.kind)
    less = whole_units(Sql(f"(-({value}))"), decimals, column.kind)  # both are rounded down: alike if nothing is left
    unfit = (
        f"CASE WHEN {value} IS NULL THEN 0 WHEN {fits} THEN CASE WHEN {units} = -({less}) THEN 0 ELSE 1 END ELSE 1 END"
    )
    return Sql(f"CASE WHEN {fits} THEN {units} END"), Sql(unfit)


def _finest(workspace: Workspace, spec: TableSpec, lookups: Sequence[Lookup], shape: Shape, raw: Relation) -> Relation:
    """The finest cells with their labels at all levels."""
    sources = []  # the name of each label's column, its lookup table, and its level there
    others = iter(lookups[len(spec.dimensions) :])
    for lookup, levels, item in zip(lookups[: len(spec.dimensions)], shape.offered, shape.dimensions, strict=True):
        own = [next(others) for _ in item.hierarchies]
        places = [*((lookup, level) for level in levels), *((own[at], level) for at, level in _group_places(item))]
        sources += list(zip(_names(lookup.index, levels, item), places, strict=True))
    labels = [
        {"name": name, "sql": exact_text(Sql(f"CAST(lookup{lookup.index}.l{level} AS VARCHAR)"))}
        for name, (lookup, level) in sources
    ]
    finest = workspace.table("finest")
    joined = [{"index": item.index, "table": item.table, "column": item.column, "has_nulls": item.has_nulls}
              for item in lookups]  # fmt: skip
    workspace.execute(
        "tables/finest",
        target=finest,
        raw=raw,
        labels=labels,
        lookups=joined,
        unit=spec.unit is not None,
        holding=spec.rules.by is not None,
        measure=spec.added is not None,
    )
    refuse_incomplete("tables/finest", *workspace.row("tables/judged", finest=finest, raw=raw))
    return finest


def _lookups(workspace: Workspace, spec: TableSpec, columns: Mapping[str, Column], raw: Relation) -> list[Lookup]:
    sites = [
        Site(index, f"dimensions.{name}", columns[name], f"q{index}", f"{index}", dimension.hierarchy)
        for index, (name, dimension) in enumerate(spec.dimensions.items())
    ]
    for index, (name, dimension) in enumerate(spec.dimensions.items()):
        for other, item in dimension.hierarchies.items():
            at, number = f"dimensions.{name}.hierarchies.{other}", len(sites)
            sites.append(Site(number, at, columns[name], f"q{index}", f"{number}", item.hierarchy))
    found = survey(workspace, spec, sites, raw)
    problems = [problem for item in found for problem in [*item.nesting_problems(), *item.coverage_problems("value")]]
    shown = [item.levels for item in spec.dimensions.values()]
    shown += [item.levels for own in spec.dimensions.values() for item in own.hierarchies.values()]
    for survey_of, site, levels in zip(found, sites, shown, strict=True):
        if levels[-1] >= survey_of.table.height:
            problems.append(
                Problem(
                    f"{site.where}.levels: expected levels below {survey_of.table.height}, the hierarchy's top, which "
                    "is the total and shown by itself; leave it out"
                )
            )
    if problems:
        raise HierarchyError(problems)
    return [item.lookup("value") for item in found]


# --- The cells -----------------------------------------------------------------------------


def _added_up(
    workspace: Workspace,
    spec: TableSpec,
    names: Sequence[Sequence[str]],
    branches: Sequence[Sequence[str]],
    finest: Relation,
    name: str = "cells",
) -> Relation:
    """The table of all cells at all margins, and what the rules say of each."""
    workspace.report("adding up the cells and their margins", None)
    cells, rules = workspace.table(name), spec.rules
    workspace.execute(
        "tables/cells",
        target=cells,
        finest=finest,
        names=[name for own in names for name in own],
        branches=branches,
        unit=spec.unit is not None,
        holding=spec.rules.by is not None,
        persons=spec.counts == "persons",
        measure=spec.added is not None,
        threshold=rules.threshold,
        population=None if rules.estimate is None else rules.estimate * spec.scale,
        mean=spec.counts if spec.mean else None,
        dominance=None if rules.dominance is None else {"k": int(rules.dominance.k * 100)},
        largest=1 if rules.dominance is None else rules.dominance.n,
        differences=_differences(rules),
    )
    return cells


def _fetched(
    workspace: Workspace, spec: TableSpec, cells: Relation, names: Sequence[str], shape: Shape, step: Step
) -> Sequence[Sequence[Any]]:
    shown = [shape.number[margin] for margin in shape.shown(step)]
    (count,) = workspace.row("tables/count", cells=cells, branches=shown)
    if int(count) > MOST_CELLS:
        raise SpecError(
            f"dimensions: the table has {int(count):,} cells, and at most {MOST_CELLS:,} are protected, since "
            "they are protected in memory; group values by a hierarchy, or leave out a dimension or a level"
        )
    return workspace.fetch(
        "tables/fetch",
        MOST_CELLS,
        cells=cells,
        branches=shown,
        names=list(names),
        differences=max(1, len(_differences(spec.rules))),
        numbered=spec.added is not None and spec.unit is not None,
        holding=spec.rules.by is not None,
        mean=spec.mean,
    )


def _differences(rules: Rules) -> list[dict[str, int]]:
    """The p-percent and the pq rule, in hundredths of a percent."""
    found = [] if rules.p_percent is None else [{"p": int(rules.p_percent.p * 100), "q": 10_000}]
    return found + ([] if rules.pq is None else [{"p": int(rules.pq.p * 100), "q": int(rules.pq.q * 100)}])


def _cell(spec: TableSpec, key: Key, numbers: Sequence[int]) -> Cell:
    """A fetched row as a cell."""
    value, _, below, contributor, *needs = numbers
    need = max(needs)
    if below and spec.added is not None:
        need = max(need, ceil(Fraction(spec.protection.percent) * value / 100))
    return Cell(key, value, bool(below) or max(needs) > 0, need, contributor)


def _counts(parsed: Sequence[tuple[Key, Sequence[int]]], groups: Groups) -> CellTable:
    """The counts of cells of sums; the threshold alone makes a count sensitive."""
    cells = [Cell(key, count, bool(below), 0, 0) for key, (_, count, below, *_) in parsed]
    return CellTable.of(cells, sums=False, groups=groups)


def _parsed(
    shape: Shape, names: Sequence[Sequence[str]], places: Sequence[Sequence[int]], row: Sequence[Any]
) -> tuple[Key, list[int]]:
    """The key of a fetched row, and its numbers; ``places`` says which of the offered levels the table has."""
    margin, place, key = shape.margins[int(row[0])], 1, []
    for own, end, has, levels, item in zip(names, margin, places, shape.offered, shape.dimensions, strict=True):
        if end <= len(levels):
            labels = [row[place + level] for level in has if level >= end]
            key.append(tuple(_text(label) for label in reversed(labels)))
        else:
            name, level = item.groups[end - len(levels) - 1]
            key.append(group_path(name, level, _text(row[place + end - 1])))
        place += len(own)
    return tuple(key), [int(item) for item in row[place:]]


def _text(label: Any) -> str | None:
    return None if label is None else str(label)


def _groups(shape: Shape, names: Sequence[Sequence[str]], fetched: Sequence[Sequence[Any]]) -> Groups:
    """Which values are in each group of a dimension with several hierarchies, as its finest cells say."""
    found: dict[int, dict[Path, set[Path]]] = {}
    place = 1
    for dimension, (own, item, levels) in enumerate(zip(names, shape.dimensions, shape.offered, strict=True)):
        for offset, (name, level) in enumerate(item.groups, place + len(levels)):
            parts = found.setdefault(dimension, {})
            for row in fetched:
                if shape.margins[int(row[0])][dimension] == 0:
                    parts.setdefault(group_path(name, level, _text(row[offset])), set()).add((_text(row[place]),))
        place += len(own)
    return {dimension: {path: frozenset(own) for path, own in parts.items()} for dimension, parts in found.items()}


def _numbered(table: CellTable) -> CellTable:
    """Without a unit every row is a contributor: cells of one row are those around its finest cell."""
    numbers = [0] * len(table.cells)
    for index, cell in enumerate(table.cells):
        if table.finest[index] and cell.contributor:
            for above in table.above(cell.key):
                place = table.position.get(above)
                if place is not None and table.cells[place].contributor:
                    numbers[place] = index + 1
    cells = [replace(cell, contributor=number) for cell, number in zip(table.cells, numbers, strict=True)]
    return replace(table, cells=cells)


def _refuse_unsound(spec: TableSpec, table: CellTable, counts: CellTable | None) -> None:
    """Refuse cells whose margins do not add up, and labels that would be taken for a total."""
    if len(table.position) != len(table.cells):
        raise InternalError("internal error in tables/cells: two cells have one key, so nothing is tabulated")
    total = spec.total_label.casefold()
    taken = {
        name
        for cell in table.cells
        for name, path in zip(spec.dimensions, cell.key, strict=True)
        if path and path[-1] is not None and path[-1].casefold() == total
    }
    if taken:
        raise SpecError(
            f"dimensions.{sorted(taken)[0]}: a category is called {spec.total_label!r}, as totals are; rename it in a "
            "source query, or choose another total_label, such as total_label: All"
        )
    if any(cell.value > LARGEST_TOTAL for cell in table.cells):
        raise UnsupportedError(
            f"{_role(spec)}: the table adds up to more than 10^13 units of its last digit; use larger units in a "
            "source query"
        )
    if all(one.adds_up([cell.value for cell in one.cells]) for one in (table, counts) if one is not None):
        return
    if (spec.added is None or spec.mean) and spec.counts == "persons":
        raise SpecError(
            "count: some persons count in several cells, so the margins do not add up; use count: rows (the "
            f"threshold still counts persons), or a source query with one row per {spec.unit!r}"
        )
    raise InternalError("internal error in tables/cells: the margins do not add up, so nothing is tabulated")
