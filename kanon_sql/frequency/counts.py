"""Rows that stand for several persons each, by a column of counts."""

from __future__ import annotations

from collections.abc import Mapping

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SpecError, UnsupportedError, have
from kanon_sql.hierarchies import exact_value, refuse_mixed_forms
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation, Sql, identifier

__all__ = ["count_of", "has_equal_rows", "refuse_counts", "refuse_wrong_counts"]

MOST = 10**12
"""A row stands for at most this many, so that every engine adds counts up exactly."""


def count_of(spec: Spec, alias: str) -> Sql | None:
    """For how many persons a row of a table stands; None where each row is one.

    Args:
        spec: names the column.
        alias: of the table.
    """
    if spec.count is None:
        return None
    return Sql(f"CAST({identifier(alias)}.{identifier(spec.count)} AS BIGINT)")


def refuse_wrong_counts(
    workspace: Workspace, spec: Spec, table: Relation, columns: Mapping[str, Column], shown: str
) -> None:
    """Look at the counts of a table: one pass, and none where rows are not counted by a column.

    Args:
        workspace: where.
        spec: names the column.
        table: the table.
        columns: its columns by name.
        shown: what messages call it.

    Raises:
        SpecError: the column is not there, holds no numbers, or has counts that are NULL, not whole, or below 1.
    """
    if spec.count is None:
        return
    column = columns.get(spec.count)
    if column is None:
        raise SpecError(
            f"count: {shown} has no column {spec.count!r}, which says for how many persons a row stands; a release "
            "has it as the source does"
        )
    if column.kind not in ("integer", "decimal", "float"):
        raise SpecError(f"count: {spec.count!r} is {column.type}, and a count is a number; cast it in a source query")
    refuse_mixed_forms(workspace, table, {spec.count: column}, labelled=[spec.count])
    for name in (*spec.sensitive, *spec.kept_values):
        if name in columns and columns[name].kind in ("other", "ambiguous"):
            raise SpecError(
                f"count: rows that are alike are released as one, and {name!r} is {columns[name].type}, whose values "
                "cannot be compared; cast it in a source query, or leave it out"
            )
    value = Sql(f"checked.{identifier(spec.count)}")
    unknown, small, parts, large, total = workspace.row(
        "frequency/wrong_counts", table=table, value=value, whole=column.kind == "integer", most=MOST
    )
    problems = [
        f"{have(int(count))} {what} as {spec.count!r}"
        for count, what in (
            (unknown or 0, "NULL"),
            (small or 0, "a count below 1"),
            (parts or 0, "a count that is not whole"),
            (large or 0, f"a count above {MOST:,}"),
        )
        if count
    ]
    if problems:
        raise SpecError(
            f"count: {shown}: {'; '.join(problems)}; correct them, or leave such rows out in a source query"
        )
    if float(total or 0) > 1000 * MOST:
        raise SpecError(f"count: {shown} stands for more than {1000 * MOST:,} persons; use larger units")


def has_equal_rows(workspace: Workspace, spec: Spec, table: Relation, columns: Mapping[str, Column]) -> bool:
    """Whether rows that stand for several persons differ in nothing else that the spec names.

    Args:
        workspace: where.
        spec: names the column of counts.
        table: the table.
        columns: its columns by name.
    """
    if spec.count is None:
        return False
    names = [name for name in (*spec.quasi_identifiers, *spec.sensitive, *spec.kept_values) if name in columns]
    keys = [exact_value(columns[name], "checked") for name in names]
    (found,) = workspace.row("frequency/equal_rows", table=table, keys=keys)
    return int(found) > 0


def refuse_counts(spec: object, what: str) -> None:
    """Refuse rows that stand for several persons where they would be taken for one each.

    Args:
        spec: what was asked.
        what: who counts rows.

    Raises:
        UnsupportedError: it names a column of counts.
    """
    if isinstance(spec, Spec) and spec.count is not None:
        raise UnsupportedError(
            f"count: {what} reads a row for each person, and here a row stands for several; make a row for each in a "
            "source query. plan, anonymize, check, risk, compare and hierarchy take counts"
        )
