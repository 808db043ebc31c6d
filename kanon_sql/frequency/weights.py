"""Sampling weights: for how many persons of a population each row of a sample stands, added up exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SpecError, have
from kanon_sql.hierarchies import exact_value, refuse_mixed_forms
from kanon_sql.models import WEIGHT_UNITS, PrivacyModel
from kanon_sql.sql import Relation, Sql, render

__all__ = ["refuse_wrong_weights", "weight_units"]

MOST = 10**9
"""A row stands for at most this many persons, whose units a double holds exactly."""
MOST_TOGETHER = 10**12
"""All rows stand for at most this many persons, whose units a BIGINT holds."""


def weight_units(column: Column, value: Sql) -> Sql:
    """A weight as a whole number of units, exactly; weights that would not be are refused before.

    Args:
        column: of weights.
        value: an expression of the weight.
    """
    return render("frequency/weight_units", value=value, whole=column.kind == "integer", units=WEIGHT_UNITS)


def refuse_wrong_weights(
    workspace: Workspace, models: Sequence[PrivacyModel], table: Relation, columns: Mapping[str, Column], shown: str
) -> None:
    """Look at the sampling weights of a table: one pass for each column of them.

    Args:
        workspace: where.
        models: the requirements, some of which may name a column of weights.
        table: the table.
        columns: its columns by name, among them those of weights.
        shown: what messages call it.

    Raises:
        SpecError: a column holds no numbers, or has weights that are NULL, below 1, above 10^9, not finite, or of more
            than 6 digits after the point.
        UnsupportedError: its values are not all of one kind.
    """
    for name in dict.fromkeys(model.adds_up for model in models if model.adds_up is not None):
        column = columns[name]
        if column.kind not in ("integer", "decimal", "float"):
            raise SpecError(
                f"k_map: weight: {name!r} is {column.type or 'of no type'}, and a weight is a number; cast it in a "
                "source query"
            )
        refuse_mixed_forms(workspace, table, {name: column})
        unknown, small, fine, large, total = workspace.row(
            "frequency/wrong_weights",
            table=table,
            value=exact_value(column, "checked"),
            whole=column.kind == "integer",
            exact=column.kind == "decimal" and workspace.dialect.typed,  # decimals of SQLite are binary fractions
            units=WEIGHT_UNITS,
            most=MOST,
        )
        problems = [
            f"{have(int(count))} {what} as {name!r}"
            for count, what in (
                (unknown or 0, "NULL"),
                (small or 0, "a weight below 1"),
                (large or 0, f"a weight above {MOST:,}, infinite or no number (NaN)"),
                (fine or 0, "a weight of more than 6 digits after the point"),
            )
            if count
        ]
        if problems:
            raise SpecError(
                f"k_map: weight: {shown}: {'; '.join(problems)}; expected for how many persons of the population each "
                "row stands: correct or round them, or leave such rows out, in a source query"
            )
        if float(total or 0) > MOST_TOGETHER:
            raise SpecError(f"k_map: weight: {shown} stands for more than {MOST_TOGETHER:,} persons; use larger units")
