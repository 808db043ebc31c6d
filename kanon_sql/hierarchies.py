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

__all__ = ["EXACT_RANGE", "Lookup", "build_lookups", "rule_labels"]

EXACT_RANGE = 10**15
"""Intervals are computed for numbers strictly between -EXACT_RANGE and EXACT_RANGE."""

_NUMERIC = ("integer", "decimal", "float")
_YEARS = {"decade": 10, "century": 100}


@dataclass(frozen=True, kw_only=True)
class LookupTable:
    """Where the lookup table of one quasi-identifier is.

    Attributes:
        index: its position among the quasi-identifiers.
        name: the source column.
        column: its column in the raw frequency table.
        table: the lookup table: ``value``, and ``l<level>``, ``c<level>``, ``s<level>``.
        height: the top level; the top has a label and needs no code.
        top: the top's label.
        quasi_identifier: level limits and weight, from the spec.
    """

    index: int
    name: str
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
    workspace: Workspace, spec: Spec, columns: dict[str, Column], raw: Relation, start: int = 0
) -> list[Lookup]:
    """Build, load and validate the lookup table of every quasi-identifier.

    Args:
        workspace: where to build them.
        spec: names the quasi-identifiers and their hierarchies.
        columns: the source's columns by name.
        raw: the raw frequency table; quasi-identifier i is its column ``q<i>``.
        start: the number of the first of them.

    Raises:
        HierarchyError: values without a row (counted), or levels that do not nest.
        SpecError: a hierarchy that does not fit the column's type, or level limits outside it.
    """
    built = []
    for index, (name, quasi_identifier) in enumerate(spec.quasi_identifiers.items(), start):
        hierarchy = quasi_identifier.hierarchy
        if isinstance(hierarchy, FileHierarchy | TreeHierarchy | TableHierarchy):
            built.append(_from_rows(workspace, spec, index, columns[name], quasi_identifier, raw))
        else:
            built.append(_from_rule(workspace, index, columns[name], quasi_identifier, raw))
    for item in built:
        labels = [exact_text(Sql(f"checked.l{level}")) for level in item.levels]
        refuse_blank_ends(workspace, item.nested_in, labels, f"quasi_identifiers.{item.name}: its hierarchy")
    _check_limits(built)
    _check_nesting(workspace, built)
    return _check_coverage(workspace, spec, built, raw)


def rule_labels(column: Column, quasi_identifier: QuasiIdentifier) -> list[Sql]:
    """The label expressions of a rule-based hierarchy, level 0 first, the top left out.

    Raises:
        SpecError: the rule does not fit the column's kind.
    """
    hierarchy = quasi_identifier.hierarchy
    where = f"quasi_identifiers.{column.name}"
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


def _from_rule(
    workspace: Workspace, index: int, column: Column, quasi_identifier: QuasiIdentifier, raw: Relation
) -> _Built:
    labels = rule_labels(column, quasi_identifier)
    raw_column = f"q{index}"
    if isinstance(quasi_identifier.hierarchy, IntervalsHierarchy):
        (out_of_range,) = workspace.row("hierarchy/range", raw=raw, raw_column=raw_column, bound=EXACT_RANGE)
        if out_of_range:
            raise HierarchyError(
                f"quasi_identifiers.{column.name}: {out_of_range} distinct values are not finite or not between "
                f"-10^15 and 10^15, so no interval holds them; filter or cast them in a source query"
            )
    table = workspace.table(f"lookup{index}")
    workspace.execute(
        "hierarchy/lookup_rules",
        target=table,
        raw=raw,
        raw_column=raw_column,
        labels=labels,
        height=len(labels),
        top=TOP,
    )
    return _Built(
        index=index,
        name=column.name,
        column=raw_column,
        table=table,
        height=len(labels),
        top=TOP,
        quasi_identifier=quasi_identifier,
        hierarchy_rows=None,
        nested_in=table,
    )


def _from_rows(
    workspace: Workspace, spec: Spec, index: int, column: Column, quasi_identifier: QuasiIdentifier, raw: Relation
) -> _Built:
    hierarchy = quasi_identifier.hierarchy
    domain = workspace.table(f"domain{index}")
    if isinstance(hierarchy, TableHierarchy):
        levels, top, rows = _copy_table(workspace, hierarchy, column.name, domain)
    else:
        if isinstance(hierarchy, FileHierarchy):
            given = with_top(read_hierarchy(spec.resolve(hierarchy.path)))
        else:
            assert isinstance(hierarchy, TreeHierarchy)
            given = with_top(hierarchy.rows())
        levels, top, rows = len(given[0]), given[0][-1], len(given)
        workspace.load(domain, [f"l{level}" for level in range(levels)], given)
    table = workspace.table(f"lookup{index}")
    raw_column = f"q{index}"
    compiler = workspace.compiler
    workspace.run(
        compiler.filled(
            "hierarchy/lookup_rows",
            {
                "column": compiler.quote(raw_column),
                "raw": workspace.quoted(raw),
                "domain": workspace.quoted(domain),
            },
            target=workspace.quoted(table),
            text=value_text(column, Sql("found.value")),
            height=levels - 1,
            top=top,
        )
    )
    return _Built(
        index=index,
        name=column.name,
        column=raw_column,
        table=table,
        height=levels - 1,
        top=top,
        quasi_identifier=quasi_identifier,
        hierarchy_rows=rows,
        nested_in=domain,
    )


def _copy_table(workspace: Workspace, hierarchy: TableHierarchy, name: str, domain: Relation) -> tuple[int, str, int]:
    """Copy a hierarchy table as text; returns its levels (top included), top label and rows."""
    where = f"quasi_identifiers.{name}.table"
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
                    Problem(
                        f"quasi_identifiers.{item.name}: {what} {level} is above the hierarchy's top, "
                        f"which is level {item.height}"
                    )
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
    names = {item.index: item.name for item in built}
    filled = workspace.compiler.filled
    statement = workspace.compiler.union([filled("hierarchy/nesting", item) for item in items])
    split = workspace.query(statement, len(items))
    problems = [
        Problem(
            f"quasi_identifiers.{names[attribute]}: {count} labels of level {level} have more than one parent at "
            f"level {level + 1}: levels must nest"
        )
        for attribute, level, count in sorted(split)
        if count
    ]
    if problems:
        raise HierarchyError(problems)


def _check_coverage(workspace: Workspace, spec: Spec, built: Sequence[_Built], raw: Relation) -> list[Lookup]:
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
                    f"quasi_identifiers.{item.name}: {values - equal} distinct values are not equal to themselves on "
                    "this engine (NaN?), so no row can be matched with them; filter them in a source query"
                )
            )
        if uncovered:
            problems.append(
                Problem(
                    f"quasi_identifiers.{item.name}: {uncovered} distinct values ({uncovered_rows} rows) have no "
                    "generalization in the hierarchy; add rows for them"
                )
            )
        if null_rows and spec.nulls == "error":
            problems.append(
                Problem(
                    f"quasi_identifiers.{item.name}: {null_rows} rows are NULL, and the spec says nulls: error; "
                    "use nulls: value (NULL is a value of its own) or nulls: suppress"
                )
            )
        used = values - null_values
        domain = used if item.hierarchy_rows is None else item.hierarchy_rows
        lookups.append(
            Lookup(
                **{field.name: getattr(item, field.name) for field in fields(LookupTable)},
                domain_rows=max(1, domain + (null_values if spec.nulls == "value" else 0)),
                radix=1 + (values if item.hierarchy_rows is None else item.hierarchy_rows),
                unused=None if item.hierarchy_rows is None else item.hierarchy_rows - used,
                null_rows=null_rows,
                has_nulls=null_values > 0,
            )
        )
    if problems:
        raise HierarchyError(problems)
    return lookups
