"""Hierarchies as lookup tables in the database: value -> a code and a label per level.

Rule-based hierarchies are built by SQL from the distinct values of the frequency pass, so
that not even those reach Python. What the user brings (a file, a tree, a table) is
validated and joined by text. Only counts come back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from decimal import Decimal

from kanon_sql.blanks import refuse_blank_ends
from kanon_sql.engines.base import Column
from kanon_sql.errors import HierarchyError, Problem, SpecError
from kanon_sql.hierarchy_file import TOP, read_hierarchy, with_top
from kanon_sql.spec import (
    DatesHierarchy,
    FileHierarchy,
    IntervalsHierarchy,
    PrefixHierarchy,
    QuasiIdentifier,
    Spec,
    SqlHierarchy,
    TableHierarchy,
    TreeHierarchy,
)
from kanon_sql.sql.expression import level_expression
from kanon_sql.sql.templates import render
from kanon_sql.sql.text import Relation, Sql, exact_text
from kanon_sql.workspace import Workspace

__all__ = ["EXACT_RANGE", "Lookup", "build_lookups", "build_sensitive_lookup", "rule_labels", "value_text"]

EXACT_RANGE = 10**15
"""Intervals are computed for numbers strictly between -EXACT_RANGE and EXACT_RANGE."""

_NUMERIC = ("integer", "decimal", "float")
_YEARS = {"decade": 10, "century": 100}


@dataclass(frozen=True, kw_only=True)
class LookupTable:
    """Where the lookup table of one quasi-identifier, or of a sensitive attribute with a hierarchy, is.

    Attributes:
        index: its position among the quasi-identifiers, or among the sensitive attributes.
        name: the source column.
        where: what to call it in messages.
        column: its column in the raw frequency table.
        table: the lookup table: ``value``, and ``l<level>``, ``c<level>``, ``s<level>``.
        height: the top level; the top has a label and needs no code.
        top: the top's label.
        quasi_identifier: level limits and weight, from the spec.
    """

    index: int
    name: str
    where: str
    column: str
    table: Relation
    height: int
    top: str
    quasi_identifier: QuasiIdentifier

    @property
    def levels(self) -> range:
        """The levels that have a code: all but the top."""
        return range(self.height)


@dataclass(frozen=True, kw_only=True)
class Lookup(LookupTable):
    """A lookup table that was found to cover the data.

    Attributes:
        domain_rows: values of the domain (rows of the hierarchy).
        radix: a number above every code.
        unused: hierarchy rows that no row of the data uses; None for rules.
        null_rows: rows of the source that have NULL here.
        has_nulls: whether NULL may be among the values, so that joins must compare it too.
    """

    domain_rows: int
    radix: int
    unused: int | None
    null_rows: int
    has_nulls: bool


@dataclass(frozen=True, kw_only=True)
class _Built(LookupTable):
    """A lookup table that was just built: the hierarchy's own rows, and where its labels must nest."""

    hierarchy_rows: int | None
    nested_in: Relation


def build_lookups(
    workspace: Workspace,
    spec: Spec,
    columns: dict[str, Column],
    raw: Relation,
    *,
    start: int = 0,
    partial: bool = False,
) -> list[Lookup]:
    """Build, load and validate the lookup table of every quasi-identifier.

    Args:
        workspace: where to build them.
        spec: names the quasi-identifiers and their hierarchies.
        columns: the source's columns by name.
        raw: the raw frequency table; quasi-identifier i is its column ``q<i>``.
        start: the number of the first of them.
        partial: values without a row are allowed; they have the top's label alone, and NULL below it.

    Raises:
        HierarchyError: values without a row (counted), or levels that do not nest.
        SpecError: a hierarchy that does not fit the column's type, or level limits outside it.
    """
    sites = [
        _Site(index, f"quasi_identifiers.{name}", columns[name], f"q{index}", f"{index}", quasi_identifier)
        for index, (name, quasi_identifier) in enumerate(spec.quasi_identifiers.items(), start)
    ]
    return _build(workspace, spec, sites, raw, spec.nulls, partial=partial)


def build_sensitive_lookup(
    workspace: Workspace, spec: Spec, column: Column, index: int, hierarchy: QuasiIdentifier, raw: Relation
) -> Lookup:
    """Build, load and validate the lookup table of a sensitive attribute's hierarchy.

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
    site = _Site(index, where, column, f"v{index}", f"_sensitive{index}", hierarchy)
    (lookup,) = _build(workspace, spec, [site], raw, "value", partial=False)
    return lookup


@dataclass(frozen=True)
class _Site:
    """A column of the raw frequency table that gets a lookup table."""

    index: int
    where: str
    column: Column
    raw_column: str
    suffix: str
    hierarchy: QuasiIdentifier


def _build(
    workspace: Workspace, spec: Spec, sites: Sequence[_Site], raw: Relation, nulls: str, *, partial: bool
) -> list[Lookup]:
    built = []
    for site in sites:
        if isinstance(site.hierarchy.hierarchy, FileHierarchy | TreeHierarchy | TableHierarchy):
            built.append(_from_rows(workspace, spec, site, raw))
        else:
            built.append(_from_rule(workspace, site, raw))
    for item in built:
        labels = [exact_text(Sql(f"checked.l{level}")) for level in item.levels]
        refuse_blank_ends(workspace, item.nested_in, labels, f"{item.where}: its hierarchy")
    _check_limits(built)
    _check_nesting(workspace, built)
    return _check_coverage(workspace, nulls, built, raw, partial)


def rule_labels(column: Column, quasi_identifier: QuasiIdentifier, where: str | None = None) -> list[Sql]:
    """The label expressions of a rule-based hierarchy, level 0 first, the top left out.

    Raises:
        SpecError: the rule does not fit the column's kind.
    """
    hierarchy = quasi_identifier.hierarchy
    where = where or f"quasi_identifiers.{column.name}"
    labels = [value_text(column, Sql("value"))]
    if isinstance(hierarchy, IntervalsHierarchy):
        if column.kind not in _NUMERIC:
            raise SpecError(
                f"{where}: intervals need a number, but the column is {column.type}; "
                "cast it in a source query, or use another hierarchy"
            )
        labels += [_interval(hierarchy, width, column.kind == "integer") for width in hierarchy.widths]
    elif isinstance(hierarchy, PrefixHierarchy):
        labels += [render("hierarchy/levels/prefix", keep=keep) for keep in hierarchy.keep]
    elif isinstance(hierarchy, DatesHierarchy):
        if column.kind not in ("date", "timestamp"):
            raise SpecError(
                f"{where}: dates need a DATE or a TIMESTAMP without time zone, but the column is {column.type}; "
                "cast it in a source query"
            )
        labels += [render("hierarchy/levels/dates", unit=unit, years=_YEARS.get(unit)) for unit in hierarchy.units]
    elif isinstance(hierarchy, SqlHierarchy):
        labels += [
            level_expression(text, f"{where}.sql[{position}]") for position, text in enumerate(hierarchy.expressions)
        ]
    return labels


def value_text(column: Column, value: Sql) -> Sql:
    """A value of a column as text, the same on every engine."""
    if column.kind == "moment":
        return render("hierarchy/levels/time", written=render("hierarchy/levels/moment", value=value), zone="+00")
    written = render("hierarchy/levels/value", value=value, is_float=column.kind == "float", scale=column.scale)
    return render("hierarchy/levels/time", written=written, zone=None) if column.kind == "timestamp" else written


def _interval(hierarchy: IntervalsHierarchy, width: Decimal, is_integer: bool) -> Sql:
    bounds = [hierarchy.origin, *hierarchy.widths]
    bounds += [bound for bound in (hierarchy.bottom, hierarchy.top) if bound is not None]
    digits = max(0, *(-int(bound.normalize().as_tuple().exponent) for bound in bounds))
    scale = 10**digits

    def scaled_bound(bound: Decimal | None) -> int | None:
        return None if bound is None else int(bound * scale)

    def text(bound: Decimal | None) -> str:
        return "" if bound is None else f"{bound:.{digits}f}"

    def number(scaled: Sql) -> Sql:
        return render("hierarchy/levels/number", scaled=scaled, digits=digits, unit=Decimal(1).scaleb(-digits))

    scaled_width = int(width * scale)
    scaled = render("hierarchy/levels/scaled", digits=digits, is_integer=is_integer)
    low = render("hierarchy/levels/floor", scaled=scaled, origin=int(hierarchy.origin * scale), width=scaled_width)
    high = Sql(f"({low} + {scaled_width})")
    return render(
        "hierarchy/levels/intervals",
        scaled=scaled,
        low=low,
        high=high,
        low_text=number(low),
        high_text=number(high),
        bottom=scaled_bound(hierarchy.bottom),
        bottom_text=text(hierarchy.bottom),
        bottom_label=f"< {text(hierarchy.bottom)}",
        top=scaled_bound(hierarchy.top),
        top_text=text(hierarchy.top),
        top_label=f">= {text(hierarchy.top)}",
    )


def _from_rule(workspace: Workspace, site: _Site, raw: Relation) -> _Built:
    labels = rule_labels(site.column, site.hierarchy, site.where)
    if isinstance(site.hierarchy.hierarchy, IntervalsHierarchy):
        (out_of_range,) = workspace.row("hierarchy/range", raw=raw, raw_column=site.raw_column, bound=EXACT_RANGE)
        if out_of_range:
            raise HierarchyError(
                f"{site.where}: {out_of_range} distinct values are not finite or not between "
                f"-10^15 and 10^15, so no interval holds them; filter or cast them in a source query"
            )
    table = workspace.table(f"lookup{site.suffix}")
    workspace.execute(
        "hierarchy/lookup_rules",
        target=table,
        raw=raw,
        raw_column=site.raw_column,
        labels=labels,
        height=len(labels),
        top=TOP,
    )
    return _Built(
        index=site.index,
        name=site.column.name,
        where=site.where,
        column=site.raw_column,
        table=table,
        height=len(labels),
        top=TOP,
        quasi_identifier=site.hierarchy,
        hierarchy_rows=None,
        nested_in=table,
    )


def _from_rows(workspace: Workspace, spec: Spec, site: _Site, raw: Relation) -> _Built:
    hierarchy = site.hierarchy.hierarchy
    domain = workspace.table(f"domain{site.suffix}")
    if isinstance(hierarchy, TableHierarchy):
        levels, top, rows = _copy_table(workspace, hierarchy, site.where, domain)
    else:
        if isinstance(hierarchy, FileHierarchy):
            given = with_top(read_hierarchy(spec.resolve(hierarchy.path)))
        else:
            assert isinstance(hierarchy, TreeHierarchy)
            given = with_top(hierarchy.rows())
        levels, top, rows = len(given[0]), given[0][-1], len(given)
        workspace.load(domain, [f"l{level}" for level in range(levels)], given)
    table = workspace.table(f"lookup{site.suffix}")
    compiler = workspace.compiler
    workspace.run(
        compiler.filled(
            "hierarchy/lookup_rows",
            {
                "column": compiler.quote(site.raw_column),
                "raw": workspace.quoted(raw),
                "domain": workspace.quoted(domain),
            },
            target=workspace.quoted(table),
            text=value_text(site.column, Sql("found.value")),
            height=levels - 1,
            top=top,
        )
    )
    return _Built(
        index=site.index,
        name=site.column.name,
        where=site.where,
        column=site.raw_column,
        table=table,
        height=levels - 1,
        top=top,
        quasi_identifier=site.hierarchy,
        hierarchy_rows=rows,
        nested_in=domain,
    )


def _copy_table(workspace: Workspace, hierarchy: TableHierarchy, where: str, domain: Relation) -> tuple[int, str, int]:
    """Copy a hierarchy table as text; returns its levels (top included), top label and rows."""
    where = f"{where}.table"
    source = Relation(hierarchy.table)
    names = list(workspace.columns(source))
    workspace.execute("hierarchy/copy", target=domain, table=source, names=names)
    rows, missing, repeated, tops, top = workspace.row("hierarchy/domain_summary", domain=domain, levels=len(names))
    problems = []
    if not rows:
        problems.append(Problem(f"{where}: the hierarchy table has no rows"))
    if missing:
        problems.append(Problem(f"{where}: {missing} rows have a NULL; every level needs a label"))
    if repeated:
        problems.append(Problem(f"{where}: {repeated} values have more than one row; a value has one"))
    if problems:
        raise HierarchyError(problems)
    if tops == 1 and len(names) > 1:
        return len(names), str(top), int(rows)
    return len(names) + 1, TOP, int(rows)


def _check_limits(built: Sequence[_Built]) -> None:
    problems = []
    for item in built:
        maximum, minimum = item.quasi_identifier.maximum_level, item.quasi_identifier.minimum_level
        for what, level in (("minimum_level", minimum), ("maximum_level", maximum)):
            if level is not None and level > item.height:
                problems.append(
                    Problem(f"{item.where}: {what} {level} is above the hierarchy's top, which is level {item.height}")
                )
    if problems:
        raise SpecError(problems)


def _check_nesting(workspace: Workspace, built: Sequence[_Built]) -> None:
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
        for level in range(item.height - 1)
    ]
    if not items:
        return
    places = {item.index: item.where for item in built}
    filled = workspace.compiler.filled
    statement = workspace.compiler.union([filled("hierarchy/nesting", item) for item in items])
    split = workspace.query(statement, len(items))
    problems = [
        Problem(
            f"{places[attribute]}: {count} labels of level {level} have more than one parent at "
            f"level {level + 1}: levels must nest"
        )
        for attribute, level, count in sorted(split)
        if count
    ]
    if problems:
        raise HierarchyError(problems)


def _check_coverage(
    workspace: Workspace, nulls: str, built: Sequence[_Built], raw: Relation, partial: bool
) -> list[Lookup]:
    compiler = workspace.compiler
    branches = [
        compiler.filled(
            "hierarchy/coverage",
            {
                "attribute": str(item.index),
                "lookup": workspace.quoted(item.table),
                "column": compiler.quote(item.column),
                "raw": workspace.quoted(raw),
            },
            height=item.height,
        )
        for item in built
    ]
    counts = {row[0]: row[1:] for row in workspace.query(compiler.union(branches), len(built))}
    lookups, problems = [], []
    for item in built:
        values, equal, null_values, null_rows, uncovered, uncovered_rows = (
            int(count or 0) for count in counts[item.index]
        )
        if equal != values:
            problems.append(
                Problem(
                    f"{item.where}: {values - equal} distinct values are not equal to themselves on "
                    "this engine (NaN?), so no row can be matched with them; filter them in a source query"
                )
            )
        if uncovered and not partial:
            problems.append(
                Problem(
                    f"{item.where}: {uncovered} distinct values ({uncovered_rows} rows) have no "
                    "generalization in the hierarchy; add rows for them"
                )
            )
        if null_rows and nulls == "error":
            problems.append(
                Problem(
                    f"{item.where}: {null_rows} rows are NULL, and the spec says nulls: error; "
                    "use nulls: value (NULL is a value of its own) or nulls: suppress"
                )
            )
        used = values - null_values
        domain = used if item.hierarchy_rows is None else item.hierarchy_rows
        lookups.append(
            Lookup(
                **{field.name: getattr(item, field.name) for field in fields(LookupTable)},
                domain_rows=max(1, domain + (null_values if nulls == "value" else 0)),
                radix=1 + (values if item.hierarchy_rows is None else item.hierarchy_rows),
                unused=None if item.hierarchy_rows is None else item.hierarchy_rows - used,
                null_rows=null_rows,
                has_nulls=null_values > 0,
            )
        )
    if problems:
        raise HierarchyError(problems)
    return lookups
