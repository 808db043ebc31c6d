"""The one pass over the source: its distinct vectors of values with their row counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kanon_sql.engines import Column, Workspace
from kanon_sql.frequency.counts import count_of, refuse_wrong_counts
from kanon_sql.frequency.points import refuse_outside
from kanon_sql.frequency.weights import refuse_wrong_weights
from kanon_sql.hierarchies import exact_texts, exact_value, refuse_blank_ends, refuse_mixed_forms
from kanon_sql.models import PrivacyModel
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation, Sql, source_relation

__all__ = ["Counting", "Raw", "raw_columns", "read_source"]

Counting = Literal["rows", "persons", "unit"]
"""What a class counts: rows; persons, added up; or persons, counted distinct because one
person may have several quasi-identifier vectors."""


@dataclass(frozen=True)
class Raw:
    """The source, read once: its distinct vectors of values with their row counts.

    Attributes:
        table: ``q0``, ..., ``v0``, ..., ``unit`` and ``row_count``.
        grouped: all columns that it has one row for the different values of.
        quasi_identifiers: its columns ``q0``, ...
        unit: its column of persons; None where rows are counted.
        rows: rows of the source.
        null_rows: those with a NULL quasi-identifier.
        persons: distinct persons; None where rows are counted.
        kept_persons: those with a row that is not suppressed for a NULL; None where rows are counted.
        counting: what a class counts.
    """

    table: Relation
    grouped: Sequence[str]
    quasi_identifiers: Sequence[str]
    unit: str | None
    rows: int
    null_rows: int
    persons: int | None
    kept_persons: int | None
    counting: Counting


def read_source(
    workspace: Workspace,
    spec: Spec,
    models: Sequence[PrivacyModel],
    columns: dict[str, Column],
    sensitive: Sequence[str],
) -> Raw:
    """The one pass over the source; refuses values that could not be counted exactly."""
    workspace.report("reading the source: one GROUP BY over the quasi-identifiers", None)
    grouped = [*spec.quasi_identifiers, *sensitive, *([] if spec.unit is None else [spec.unit])]
    texts = exact_texts([columns[name] for name in grouped], "checked")
    refuse_blank_ends(workspace, source_relation(), texts, "the source")
    refuse_wrong_counts(workspace, spec, source_relation(), columns, "the source")
    refuse_wrong_weights(workspace, models, source_relation(), columns, "the source")
    expressions = raw_columns(spec, columns, sensitive)
    table = workspace.table("raw")
    workspace.execute(
        "frequency/raw",
        target=table,
        source=source_relation(),
        names=list(expressions),
        values=list(expressions.values()),
        row_persons=count_of(spec, "kanon_source"),
    )
    quasi = [f"q{index}" for index in range(len(spec.quasi_identifiers))]
    stored = {name: columns[source] for name, source in zip(expressions, grouped, strict=True)}
    refuse_mixed_forms(workspace, table, stored, labelled=quasi, weighted=True)
    refuse_outside(workspace, spec, table)
    unit = None if spec.unit is None else "unit"
    skips = spec.nulls == "suppress"
    totals = workspace.row("frequency/totals", raw=table, columns=quasi, unit=unit, skip_nulls=skips)
    rows, null_rows, persons, kept_persons, most_vectors, unknown_rows = (int(value or 0) for value in totals)
    if spec.unit is not None:
        for model in models:
            model.refuse_unknown(unknown_rows, spec.unit)
    # Persons with several rows may differ in attributes that are known, and are counted in each part of their class.
    adds_up = most_vectors <= 1 and not any(model.others for model in models)
    counting: Counting = "rows" if unit is None else "persons" if adds_up else "unit"
    kept, names = kept_persons if skips else persons, list(expressions)
    if unit is None:
        return Raw(table, names, quasi, unit, rows, null_rows, None, None, counting)
    return Raw(table, names, quasi, unit, rows, null_rows, persons, kept, counting)


def raw_columns(spec: Spec, columns: dict[str, Column], sensitive: Sequence[str]) -> dict[str, Sql]:
    """The columns of the raw frequency table: name -> expression over the source."""
    table = "kanon_source"
    raw = {f"q{index}": exact_value(columns[name], table) for index, name in enumerate(spec.quasi_identifiers)}
    raw |= {f"v{index}": exact_value(columns[name], table) for index, name in enumerate(sensitive)}
    if spec.unit is not None:
        raw["unit"] = exact_value(columns[spec.unit], table)
    return raw
