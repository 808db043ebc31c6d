"""Hierarchies as lookup tables in the database: value -> a code and a label per level.

Rule-based hierarchies are built by SQL from the distinct values of the frequency pass, so
that not even those reach Python. What the user brings (a file, a tree, a table) is
validated and joined by text. Only counts come back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import HierarchyError
from kanon_sql.hierarchies.exact import refuse_blank_ends
from kanon_sql.hierarchies.files import TOP
from kanon_sql.hierarchies.kind import kind_of, level_names, rule_labels, value_text
from kanon_sql.hierarchies.lookups import BuiltTable, Coverage, Lookup, Survey, refuse_limits
from kanon_sql.hierarchies.rare import rare_rows
from kanon_sql.hierarchies.row_hierarchies import RowHierarchy, Site, loaded_rows, rows_of, split_labels
from kanon_sql.spec import Generalized, Origin, QuasiIdentifier, Spec
from kanon_sql.sql import Relation, Sql, exact_text

__all__ = ["Lookup", "Site", "build_lookups", "build_sensitive_lookup", "highest_with_labels", "survey"]


def build_lookups(
    workspace: Workspace,
    spec: Generalized,
    columns: dict[str, Column],
    raw: Relation,
    *,
    start: int = 0,
    partial: bool = False,
    chooses: bool = False,
    numbered: bool = True,
) -> list[Lookup]:
    """Build, load and validate the lookup table of every quasi-identifier.

    Args:
        workspace: where to build them.
        spec: names the quasi-identifiers and their hierarchies.
        columns: the source's columns by name.
        raw: the raw frequency table; quasi-identifier i is its column ``q<i>``.
        start: the number of the first of them.
        partial: values without a row are allowed; they have the top's label alone, and NULL below it.
        chooses: ``raw`` is of the source alone, and has its unit: values that the spec gives several parents get one
            of them by its rows, and those that are rare there one label.
        numbered: labels have numbers and sizes; what joins by labels alone needs none, and sorting for them takes most
            of the time.

    Raises:
        HierarchyError: values without a row (counted), or levels that do not nest.
        SpecError: a hierarchy that does not fit the column's type, or level limits outside it.
    """
    counts: Literal["rows", "persons"] = "rows" if getattr(spec, "unit", None) is None else "persons"
    counted = counts if chooses else None
    sites = [
        Site(index, f"quasi_identifiers.{name}", columns[name], f"q{index}", f"{index}", item, chooses, counted)
        for index, (name, item) in enumerate(spec.quasi_identifiers.items(), start)
    ]
    found = _sound(workspace, spec, sites, raw, spec.nulls, partial=partial, numbered=numbered)
    return [item.lookup(spec.nulls) for item in found]


def build_sensitive_lookup(
    workspace: Workspace, spec: Spec, column: Column, index: int, hierarchy: QuasiIdentifier, raw: Relation
) -> Lookup:
    """Build, load and validate the lookup table of a sensitive attribute's hierarchy.

    Its height is the lowest level where all values have one label, whatever that is called: levels above it would make
    every distance, which is a level over the height, as small as one likes.

    Args:
        workspace: where to build it.
        spec: where its file is.
        column: the attribute; its values are the column ``v<index>`` of the table ``raw``.
        index: its position among the sensitive attributes.
        hierarchy: of the attribute.
        raw: a frequency table.

    Raises:
        HierarchyError, SpecError: as :func:`build_lookups`.
    """
    where = f"privacy: the hierarchy of {column.name}"
    site = Site(index, where, column, f"v{index}", f"_sensitive{index}", hierarchy)
    (found,) = _sound(workspace, spec, [site], raw, "value", partial=False)
    return replace(found.lookup("value"), height=_root(workspace, found.table))


def _root(workspace: Workspace, built: BuiltTable) -> int:
    """The lowest level where all values have one label. What the user wrote down needs no statement."""
    below = list(built.levels)[1:]
    if not below:
        return built.height
    if built.given is None:
        return 1 + highest_with_labels(workspace, built.nested_in, below)
    return 1 + max((level for level in below if len({row[level] for row in built.given}) > 1), default=0)


def highest_with_labels(workspace: Workspace, labels: Relation, levels: Sequence[int]) -> int:
    """The highest of some levels at which values have several labels; 0 where all have one at each.

    Args:
        workspace: where.
        labels: a table with a row per value and a column ``l<level>`` per level.
        levels: from 1 on, lowest first.
    """
    if not levels:
        return 0
    counts = workspace.row("hierarchies/label_counts", labels=labels, levels=levels)
    return max((level for level, count in zip(levels, counts, strict=True) if int(count) > 1), default=0)


def _sound(
    workspace: Workspace,
    spec: Origin,
    sites: Sequence[Site],
    raw: Relation,
    nulls: str,
    *,
    partial: bool,
    numbered: bool = True,
) -> list[Survey]:
    """The lookup tables of some columns, which nest and cover the data."""
    found = survey(workspace, spec, sites, raw, numbered=numbered)
    if not partial:
        found = [_compared(workspace, item, site) for item, site in zip(found, sites, strict=True)]
    for problems in (
        [problem for item in found for problem in item.nesting_problems()],
        [problem for item in found for problem in item.coverage_problems(nulls, partial=partial)],
    ):
        if problems:
            raise HierarchyError(problems)
    return found


def _compared(workspace: Workspace, item: Survey, site: Site) -> Survey:
    """What values without a row differ in from those that have one; one statement, where there are such values."""
    if not item.coverage.uncovered or item.table.hierarchy_rows is None:
        return item
    text = value_text(site.column, Sql("labels.value"))
    counts = workspace.row("hierarchies/nearly", lookup=item.table.table, domain=item.table.nested_in, text=text)
    return replace(item, nearly=dict(zip(_DIFFERENCES, (int(count or 0) for count in counts), strict=True)))


_DIFFERENCES = ("upper or lower case", "blanks at the ends", "leading zeros")
"""What the statement counts, in its order."""


def survey(
    workspace: Workspace, spec: Origin, sites: Sequence[Site], raw: Relation, *, numbered: bool = True
) -> list[Survey]:
    """Build and load the lookup tables of some columns, and find out whether they nest and cover the data.

    Args:
        workspace: where to build them.
        spec: where hierarchy files are.
        sites: the columns.
        raw: the raw frequency table.
        numbered: as for :func:`build_lookups`.

    Raises:
        HierarchyError: a file or table holds no hierarchy.
        SpecError: a hierarchy that does not fit its column's type, or level limits outside it.
    """
    given = loaded_rows(workspace, spec, sites)
    rows, rules = {}, {}
    for site in sites:
        if site.hierarchy.by_counts:
            rows[site.index] = rare_rows(workspace, spec, site, raw)
        elif site.hierarchy.is_listed:
            rows[site.index] = rows_of(workspace, spec, site, raw, given.get(site.index))
        else:
            rules[site.index] = _labels_of(workspace, site, raw)
    with workspace.together():
        built = [
            _from_rows(workspace, site, raw, rows[site.index])
            if site.index in rows
            else _from_rule(workspace, site, raw, rules[site.index], numbered=numbered)
            for site in sites
        ]
    for item in built:
        labels = [exact_text(Sql(f"checked.l{level}")) for level in item.levels]
        refuse_blank_ends(workspace, item.nested_in, labels, f"{item.where}: its hierarchy")
    refuse_limits(built)
    split, coverage = _nesting(workspace, built), _coverage(workspace, built)
    return [Survey(item, split[item.index], coverage[item.index]) for item in built]


def _labels_of(workspace: Workspace, site: Site, raw: Relation) -> Sequence[Sql]:
    """The labels of a rule, which has one for every value.

    Raises:
        HierarchyError: there are values that it cannot place.
        SpecError: it does not fit the column's type.
    """
    labels = rule_labels(site.column, site.hierarchy, site.where)
    kind_of(site.hierarchy).refuse_values(workspace, site.where, site.column, raw, site.raw_column)
    return labels


def _from_rule(workspace: Workspace, site: Site, raw: Relation, labels: Sequence[Sql], *, numbered: bool) -> BuiltTable:
    table = workspace.table(f"lookup{site.suffix}")
    workspace.execute(
        "hierarchies/lookup_rules",
        target=table,
        raw=raw,
        raw_column=site.raw_column,
        labels=labels,
        height=len(labels),
        top=TOP,
        numbered=numbered,
        apart=workspace.dialect.keeps_queries,
    )
    return BuiltTable(
        index=site.index,
        name=site.column.name,
        where=site.where,
        column=site.raw_column,
        table=table,
        height=len(labels),
        top=TOP,
        quasi_identifier=site.hierarchy,
        level_names=level_names(site.hierarchy, len(labels)),
        hierarchy_rows=None,
        given=None,
        nested_in=table,
    )


def _from_rows(workspace: Workspace, site: Site, raw: Relation, rows: RowHierarchy) -> BuiltTable:
    text = value_text(site.column, Sql("found.value"))
    table = workspace.table(f"lookup{site.suffix}")
    compiler = workspace.compiler
    workspace.run(
        compiler.filled(
            "hierarchies/lookup_rows",
            {
                "column": compiler.quote(site.raw_column),
                "raw": workspace.quoted(raw),
                "domain": workspace.quoted(rows.domain),
            },
            target=workspace.quoted(table),
            text=text,
            height=rows.levels - 1,
            top=rows.top,
        )
    )
    return BuiltTable(
        index=site.index,
        name=site.column.name,
        where=site.where,
        column=site.raw_column,
        table=table,
        height=rows.levels - 1,
        top=rows.top,
        quasi_identifier=site.hierarchy,
        level_names=level_names(site.hierarchy, rows.levels - 1, rows.columns),
        hierarchy_rows=rows.count,
        given=rows.given,
        nested_in=rows.domain,
    )


def _nesting(workspace: Workspace, built: Sequence[BuiltTable]) -> dict[int, dict[int, int]]:
    """Per lookup table and level, the labels that have more than one parent. Rows at hand say it themselves."""
    quote = workspace.compiler.quote
    items = [
        {
            "attribute": str(item.index),
            "level": str(level),
            "labels": workspace.quoted(item.nested_in),
            "child": quote(f"l{level}"),
            "parent": quote(f"l{level + 1}"),
        }
        for item in built
        if item.given is None
        for level in range(item.height - 1)
    ]
    split = {item.index: {} if item.given is None else split_labels(item.given) for item in built}
    if items:
        filled = workspace.compiler.filled
        statement = workspace.compiler.union([filled("hierarchies/nesting", item) for item in items])
        for attribute, level, count in workspace.query(statement, len(items)):
            split[attribute][int(level)] = int(count)
    return split


def _coverage(workspace: Workspace, built: Sequence[BuiltTable]) -> dict[int, Coverage]:
    compiler = workspace.compiler
    branches = [
        compiler.filled(
            "hierarchies/coverage",
            {"attribute": str(item.index), "lookup": workspace.quoted(item.table)},
            height=item.height,
        )
        for item in built
    ]
    rows = workspace.query(compiler.union(branches), len(built))
    return {row[0]: Coverage(*(int(count or 0) for count in row[1:])) for row in rows}
