"""The query of the model ``<release>__labelled``: labels by SQL, or by a join to a seed or a hierarchy table.

Rules (intervals, prefixes, dates, expressions) become SQL, so that no value of the data is written to disk.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp

from kanon_sql.engines import Column
from kanon_sql.errors import InternalError
from kanon_sql.hierarchies import TOP, exact_value, kind_of, rule_labels, value_text
from kanon_sql.spec import YEARS, Spec
from kanon_sql.sql import Compiler, Dialect, Sql, exact_text, identifier, render

__all__ = ["LEFT_OUT", "WATERMARK", "HierarchyRows", "escaped", "labelled", "released_columns"]

LEFT_OUT = "kanon_left_out"
"""The column that says why a row must not be released; NULL if it may be."""

WATERMARK = "kanon_watermark"
"""The column of a release that grows that says when a row came; NULL for those that wait."""

_YEAR_OF_BUILD = "{{ run_started_at.year }}"
"""The year in which dbt builds, a whole number, by UTC. Every build renders its models again."""


@dataclass(frozen=True)
class HierarchyRows:
    """A hierarchy given as rows: the seed or table that holds them.

    Attributes:
        expression: how a model refers to it, such as ``ref('release__sex')``.
        columns: its columns, the value's first.
        top: the one label above all others; None where only the table knows.
    """

    expression: str
    columns: Sequence[str]
    top: str | None


def released_columns(spec: Spec, columns: Mapping[str, Column]) -> list[str]:
    """The release's columns in the source's order: generalized, sensitive, kept; nothing else."""
    named = {*spec.quasi_identifiers, *spec.sensitive, *spec.keep}
    return [name for name in columns if name in named]


def labelled(
    spec: Spec,
    columns: Mapping[str, Column],
    node: Mapping[str, int],
    given: Mapping[str, HierarchyRows],
    source: str,
    dialect: Dialect,
    watermark: str | None = None,
) -> str:
    """The model's query, with its source and hierarchies as Jinja expressions.

    Args:
        spec: what to release.
        columns: the source's columns by name, in order.
        node: the chosen level of every quasi-identifier.
        given: the hierarchies that are given as rows, by quasi-identifier.
        source: how a model refers to the source.
        dialect: the engine's.
        watermark: the column that later rows have more of, to be shown as :data:`WATERMARK`; None for none.
    """

    def of_year(dated: Spec) -> str:
        return _labelled(dated, columns, node, given, source, dialect, watermark)

    if not spec.follows_the_calendar:
        return of_year(spec)
    text = of_year(spec.in_year(spec.year))
    # Written for a year whose digits stand nowhere else, all that are found there are the year of the release.
    year = str(next(year for year in range(*YEARS) if str(year) not in text))
    found = of_year(spec.in_year(int(year))).replace(year, _YEAR_OF_BUILD)
    if found.replace(_YEAR_OF_BUILD, str(spec.year)) != text:
        raise InternalError(
            "the year of the release changes more of a model than numbers, so nothing was written; "
            "write release_year into the spec"
        )
    return found


def _labelled(
    spec: Spec,
    columns: Mapping[str, Column],
    node: Mapping[str, int],
    given: Mapping[str, HierarchyRows],
    source: str,
    dialect: Dialect,
    watermark: str | None,
) -> str:
    """The query of a year that is known."""
    labels = [
        _label(index, columns[name], spec, node[name], given.get(name))
        for index, name in enumerate(spec.quasi_identifiers)
    ]
    place = {name: f"l{index}" for index, name in enumerate(spec.quasi_identifiers)}
    names = [*released_columns(spec, columns), *([] if spec.unit is None else [spec.unit])]
    others = [name for name in names if name not in place]
    place |= {name: f"o{index}" for index, name in enumerate(others)}
    context: dict[str, Any] = {
        "outputs": [{"name": name, "column": place[name]} for name in names]
        + ([] if watermark is None else [{"name": WATERMARK, "column": f"o{len(others)}"}]),
        "labels": labels,
        "others": [render("release/column", name=name) for name in [*others, *([watermark] if watermark else [])]],
        "nulls": spec.nulls,
    }
    expressions = {"source": source}
    expressions |= {item["lookup"]["slot"]: given[item["name"]].expression for item in labels if item["lookup"]}
    # No name may hold a zero byte, so it marks the places of the Jinja expressions.
    compiler = Compiler(dialect, "\0source\0")
    shape = compiler.shape("verbs/dbt/labelled", (), lambda: context)
    sql = compiler.fill("verbs/dbt/labelled", shape, {name: f"\0{name}\0" for name in expressions}).sql
    parts = sql.split("\0")
    return "".join(f"{{{{ {expressions[part]} }}}}" if index % 2 else escaped(part) for index, part in enumerate(parts))


def escaped(text: str) -> str:
    """Text that Jinja leaves as it is."""
    return re.sub(r"\{(?=[{%#])", "{{ '{' }}", text)


def _label(index: int, column: Column, spec: Spec, level: int, given: HierarchyRows | None) -> dict[str, Any]:
    value = Sql(f"valued.{identifier(f'v{index}')}")
    found: dict[str, Any] = {
        "index": index,
        "name": column.name,
        "value": exact_value(column, "kanon_source"),
        "lookup": None,
    }
    quasi_identifier = spec.quasi_identifiers[column.name]
    if given is None:
        rules = rule_labels(column, quasi_identifier)
        if level == len(rules):
            return {**found, "label": _text(TOP)}
        label = _over(rules[level], value)
        bound = kind_of(quasi_identifier).bound(column)
        if level and bound is not None:
            label = render("verbs/dbt/in_range", value=value, bound=bound, label=label)
        return {**found, "label": label}
    if given.top is not None and level == len(given.columns) - 1:
        return {**found, "label": _text(given.top)}
    if level == len(given.columns):
        return {**found, "label": _text(TOP)}
    slot = f"hierarchy_{index}"
    cell = render("verbs/dbt/cell", name=given.columns[level])
    label = Sql(f"{identifier(f'lookup{index}')}.label")
    if level and level == len(given.columns) - 1 and quasi_identifier.table is not None:
        label = render("verbs/dbt/top_of_table", value=value, label=cell, found=label, table=slot)
    lookup = {
        "slot": slot,
        "key": exact_text(render("verbs/dbt/cell", name=given.columns[0])),
        "label": cell,
        "text": exact_text(Sql(f"({value_text(column, value)})")),
    }
    return {**found, "label": label, "lookup": lookup}


def _text(label: str) -> Sql:
    return Sql(exp.cast(exp.Literal.string(label), "VARCHAR").sql("duckdb"))


def _over(label: Sql, value: Sql) -> Sql:
    """A label expression over the column ``value``, over another one."""
    tree = sqlglot.parse_one(f"SELECT {label}", read="duckdb")
    put = sqlglot.parse_one(value, read="duckdb")
    replaced = tree.transform(
        lambda node: put.copy() if isinstance(node, exp.Column) and node.name == "value" and not node.table else node
    )
    return Sql(replaced.expressions[0].sql("duckdb"))
