"""The rows that a run takes: those of the source, those above the last watermark, or those of a batch; read once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.engines import Column, Engine, Workspace
from kanon_sql.errors import SpecError
from kanon_sql.hierarchies import exact_texts, refuse_blank_ends
from kanon_sql.sql import Relation, slot, source_relation

__all__ = ["NewRows", "refuse_later", "refuse_unordered", "take_rows"]

_ORDERED = ("integer", "decimal", "date", "timestamp", "moment")
"""Kinds of columns that a watermark can have."""


@dataclass(frozen=True)
class NewRows:
    """Rows that were read from the source, or from a table of new rows.

    Attributes:
        table: them.
        rows: how many.
        watermark: the highest of them, as text; None for none.
    """

    table: Relation
    rows: int
    watermark: str | None


def take_rows(
    workspace: Workspace,
    columns: Mapping[str, Column],
    names: Sequence[str],
    watermark: str | None,
    low: str | None,
) -> NewRows:
    """Read the workspace's source, once: all of it, or what is above a watermark.

    Args:
        workspace: where.
        columns: the source's columns.
        names: those to take, besides the watermark.
        watermark: the column that later rows have more of; None where rows are not known by one.
        low: the highest that was taken before; None for all rows.

    Raises:
        SpecError: the watermark is no column that later rows have more of, or some rows have none.
    """
    if watermark is not None:
        refuse_unordered(workspace.engine, columns, watermark)
    texts = exact_texts([columns[name] for name in names], "checked")
    refuse_blank_ends(workspace, source_relation(), texts, "the source")
    listed = [*names, *([watermark] if watermark is not None and watermark not in names else [])]
    target = workspace.table("taken")
    shape = workspace.compiler.shape(
        "release/state/taken",
        (target.parts, tuple(listed), watermark, low is None),
        lambda: {
            "target": target,
            "names": listed,
            "source": source_relation(),
            "watermark": watermark,
            "low": None if low is None else slot("low"),
        },
    )
    fills = {} if low is None or watermark is None else {"low": _typed(workspace, columns[watermark], low)}
    workspace.run(workspace.compiler.fill("release/state/taken", shape, fills))
    rows, unmarked, highest = workspace.row("release/state/mark", taken=target, watermark=watermark)
    if unmarked:
        raise SpecError(
            f"increments.watermark: {int(unmarked):,} rows have no {watermark!r}, so a later run could not know "
            "whether they are new; fill it in, or leave them out in a source query"
        )
    if watermark is not None and highest is not None:
        above, there, _ = _compared(workspace, target, columns[watermark], str(highest))
        if above or not there:
            raise SpecError(
                f"increments.watermark: the highest {watermark!r} changes when it is written as text and read "
                "back, so a later run would take rows again or miss some; use whole numbers, dates or times in "
                "UTC"
            )
    return NewRows(target, int(rows), None if highest is None else str(highest))


def refuse_later(
    workspace: Workspace, columns: Mapping[str, Column], taken: NewRows, watermark: str | None, low: str | None
) -> None:
    """Refuse a batch with rows that a later run would take once more, by the watermark.

    Raises:
        SpecError: it has some, or does not say whether it has.
    """
    if watermark is None or low is None:
        return
    if watermark not in columns:
        raise SpecError(
            f"--inserted: the table has no column {watermark!r}, so the next refresh might take these rows "
            "again; give each row the value that it has in the source"
        )
    later, _, unmarked = _compared(workspace, taken.table, columns[watermark], low)
    if unmarked:
        raise SpecError(
            f"--inserted: {unmarked:,} rows have no {watermark!r}, so the next refresh might take them again; "
            "give each row the value that it has in the source"
        )
    if later:
        raise SpecError(
            f"--inserted: {later:,} rows are above the last watermark, so that the next refresh by {watermark!r} "
            "would take them again; leave them to that refresh, and give late rows only"
        )


def _compared(workspace: Workspace, taken: Relation, watermark: Column, low: str) -> tuple[int, int, int]:
    """How many rows are above a watermark, have just that, and have none."""
    shape = workspace.compiler.shape(
        "release/state/above",
        (taken.parts, watermark.name),
        lambda: {"taken": taken, "watermark": watermark.name, "low": slot("low")},
    )
    fills = {"low": _typed(workspace, watermark, low)}
    ((above, there, without),) = workspace.query(workspace.compiler.fill("release/state/above", shape, fills), 1)
    return int(above), int(there), int(without)


def refuse_unordered(engine: Engine, columns: Mapping[str, Column], watermark: str) -> None:
    """Refuse a watermark that is no column, or of values of which later rows do not have more.

    Raises:
        SpecError: says what is wrong.
    """
    if watermark not in columns:
        raise SpecError(
            f"increments.watermark: the source has no column {watermark!r}; expected one of "
            f"{', '.join(map(repr, columns))}"
        )
    column = columns[watermark]
    if engine.dialect.typed and column.kind not in _ORDERED:
        raise SpecError(
            f"increments.watermark: {watermark!r} is of type {column.type}; expected whole numbers, decimals, "
            "dates or times, which are higher in later rows"
        )


def _typed(workspace: Workspace, column: Column, text: str) -> str:
    """A watermark in the engine's SQL."""
    dialect = workspace.dialect
    if dialect.typed:
        return dialect.typed_value(text, column.kind, column.type)
    return text if column.kind == "integer" and re.fullmatch(r"-?\d+", text) else dialect.literal(text)
