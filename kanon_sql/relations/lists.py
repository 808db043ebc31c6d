"""Columns of lists: a row of each item to count them, and a list of their labels again."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import UnsupportedError, VerificationError
from kanon_sql.sql import Relation

__all__ = ["is_list", "list_labels", "refuse_unsorted", "unnest"]

_LIST = re.compile(r".+\[\]|array *[(<].+[)>]", re.IGNORECASE | re.DOTALL)
"""VARCHAR[] of DuckDB and PostgreSQL, Array(String) of ClickHouse, array<string> of Spark."""


def is_list(column: Column) -> bool:
    """Whether a column holds lists of any length."""
    return _LIST.fullmatch(column.type) is not None


def unnest(workspace: Workspace, template: str, target: Relation, column: str, context: Mapping[str, object]) -> None:
    """Make a table with a row for each item of lists, NULL and repeated ones among them.

    Args:
        workspace: where.
        template: whose slot ``item`` is an item.
        target: what to make.
        column: the column of lists.
        context: the template's values.

    Raises:
        UnsupportedError: lists of this engine are not supported.
    """
    dialect = workspace.dialect
    if dialect.item is None:
        raise UnsupportedError(f"lists of {dialect.name} are not supported; join the items to a text in a query")
    shape = workspace.compiler.shape(template, (target,), lambda: {**context, "target": target})
    item = dialect.item.format(f"{dialect.quote('own')}.{dialect.quote(column)}")
    workspace.run(workspace.compiler.fill(template, shape, {"item": item}))


def refuse_unsorted(workspace: Workspace, table: Relation, column: str) -> None:
    """Refuse released lists that differ in more than their items: a reader sees their order, and which are NULL.

    Raises:
        UnsupportedError: lists of this engine are not supported.
        VerificationError: how many are in another order than sorted, or NULL.
    """
    dialect = workspace.dialect
    if dialect.sorted_list is None:
        raise UnsupportedError(f"lists of {dialect.name} are not supported; join the items to a text in a query")
    template, context = "relations/unsorted_lists", {"table": table, "column": column}
    shape = workspace.compiler.shape(template, (table, column), lambda: context)
    fills = {"sorted": dialect.sorted_list.format(f"{dialect.quote('own')}.{dialect.quote(column)}")}
    ((lists, unsorted),) = workspace.query(workspace.compiler.fill(template, shape, fills), 1)
    if unsorted:
        raise VerificationError(
            f"{'.'.join(table.parts)}: {int(unsorted):,} of {int(lists):,} lists of {column!r} are NULL or not sorted, "
            "which a reader sees and which is not counted; sort their items, and make NULL an empty list"
        )


def list_labels(workspace: Workspace, target: Relation, context: Mapping[str, object]) -> None:
    """Make a table of the rows that stay, with the sorted labels of their items: no order of the source is left."""
    dialect, template = workspace.dialect, "relations/lists"
    assert dialect.listed is not None, "lists were read"
    shape = workspace.compiler.shape(template, (target,), lambda: {**context, "target": target})
    listed = dialect.listed.format(f"{dialect.quote('items')}.{dialect.quote('label')}")
    workspace.run(workspace.compiler.fill(template, shape, {"listed": listed}))
