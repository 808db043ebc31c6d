"""A level of a hierarchy as an expression that needs no lookup table: for a view, which outlives those of the run."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from kanon_sql.engines import Column
from kanon_sql.errors import UnsupportedError
from kanon_sql.hierarchies.files import with_top
from kanon_sql.hierarchies.kind import kind_of, rule_labels, value_text
from kanon_sql.hierarchies.lookups import Lookup
from kanon_sql.hierarchies.matching_rows import listed_for
from kanon_sql.spec import Spec
from kanon_sql.sql import Sql, identifier, literal, parsed, render

__all__ = ["InlineLabel", "inline_label"]

MOST_WRITTEN = 2_000
"""A hierarchy with more values is not written into an expression."""


@dataclass(frozen=True)
class InlineLabel:
    """A level as an expression over one column.

    Attributes:
        label: the label of a value; NULL of a value that has none, and of NULL.
        is_top: every value has it, NULL too.
    """

    label: Sql
    is_top: bool


def inline_label(spec: Spec, column: Column, lookup: Lookup, level: int, name: str) -> InlineLabel:
    """The label that a value of a quasi-identifier has at a level, as its lookup table has it.

    Args:
        spec: where a hierarchy file is.
        column: the source's column.
        lookup: the lookup table.
        level: of the hierarchy.
        name: the column that holds the value, as it is compared exactly.

    Raises:
        UnsupportedError: the expression would have to hold too many values.
    """
    if level == lookup.height:
        return InlineLabel(literal(lookup.top), True)
    value = identifier(name)
    hierarchy = kind_of(lookup.quasi_identifier)
    written = listed_for(spec, lookup.quasi_identifier, column, lookup.where)
    if written is not None:
        rows = with_top(written)
        text = value_text(column, value)
        if level == 0:
            return InlineLabel(text, False)
        if len(rows) > MOST_WRITTEN:
            raise UnsupportedError(
                f"quasi_identifiers.{lookup.name}: a guarded view contains its hierarchy as text, and a hierarchy of "
                f"{len(rows):,} values is too long for that (at most {MOST_WRITTEN:,}); use a rule, or publish a table"
            )
        groups: dict[str, list[str]] = {}
        for row in rows:
            groups.setdefault(row[level], []).append(row[0])
        items = list(groups.items())
        return InlineLabel(render("hierarchies/inline/listed", text=text, groups=items), False)
    label = _over(rule_labels(column, lookup.quasi_identifier)[level], name)
    bound = hierarchy.bound(column)
    if bound is not None and level > 0:
        label = render("hierarchies/inline/within", value=value, label=label, bound=bound)
    return InlineLabel(label, False)


def _over(label: Sql, name: str) -> Sql:
    """An expression over ``value``, over another column instead."""
    (tree,) = parsed(f"SELECT {label}", "duckdb")
    assert tree is not None

    def renamed(node: exp.Expr) -> exp.Expr:
        return exp.column(exp.to_identifier(name, quoted=True)) if isinstance(node, exp.Column) else node

    return Sql(tree.expressions[0].transform(renamed).sql("duckdb"))
