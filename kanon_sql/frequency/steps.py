"""Release steps as SQL: the source that every stage reads instead of the one that the spec names.

A sample is a filter and coding an expression per column, so the source becomes a query over itself. All stages read
that query: classes are made of it, the release is written from it, and requirements compare with it.

Who is drawn is decided by SHA-256 over a key and the value that is drawn (:meth:`kanon_sql.sql.Dialect.draw`): without
the key no reader can tell who is in the sample, and with it every engine draws the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from kanon_sql.engines import Column, Engine, Workspace, open_workspace
from kanon_sql.errors import Problem, SpecError, UnsupportedError, have
from kanon_sql.hierarchies import exact_range, refuse_mixed_forms, value_text, whole_units
from kanon_sql.spec import ColumnStep, Spec, rounding_digits
from kanon_sql.sql import Sql, identifier, render, source_relation

if TYPE_CHECKING:
    from kanon_sql.spec import TableSpec

__all__ = ["DRAWN_FROM", "draw_of", "drawn_number", "rounded_value", "stepped"]

DRAWN_FROM = 1 << 48
"""Drawn numbers are below this."""

_NUMBERS = ("integer", "decimal", "float")
_DRAWN = ("text", "integer", "date", "other")


def stepped(engine: Engine, spec: Spec | TableSpec, relation: str) -> str:
    """The FROM form of the source with the spec's release steps; the source itself where there are none.

    Args:
        engine: where it is.
        spec: what to do.
        relation: the FROM form of the source.

    Raises:
        SpecError: a column is not there, is no column of numbers, or no secret is where the spec says.
    """
    if spec.steps is None:
        return relation
    columns = {column.name: column for column in engine.columns(relation)}
    sample = spec.steps.sample
    by = None if sample is None else sample.by or spec.unit
    problems = [
        Problem(f"steps: {name}: the source has no such column; expected one of {', '.join(map(repr, columns))}")
        for name in (*spec.steps.columns, *(() if by is None else (by,)))
        if name not in columns
    ]
    problems += [
        Problem(
            f"steps.columns.{name}: the column is {columns[name].type}, and only numbers are rounded or coded; cast "
            "it in a source query"
        )
        for name in spec.steps.columns
        if name in columns and columns[name].kind not in _NUMBERS
    ]
    if problems:
        raise SpecError(problems)
    with open_workspace(engine, relation, inline=True) as workspace:
        read = [*spec.steps.columns, *(() if by is None else (by,))]
        refuse_mixed_forms(workspace, source_relation(), {name: columns[name] for name in read}, labelled=read)
        _refuse_unrounded(workspace, {columns[name]: step.round for name, step in spec.steps.columns.items()})
        statement = workspace.compiler.statement(
            "frequency/stepped",
            source=source_relation(),
            columns=[
                {"name": name, "value": _value(column, spec.steps.columns.get(name))}
                for name, column in columns.items()
            ],
            draw=None if by is None else draw_of(columns[by], spec.sampling_key, "steps.sample"),
            threshold=None if sample is None else int(Fraction(repr(sample.fraction)) * DRAWN_FROM),
        )
    return f"(\n{statement.sql}\n)"


def draw_of(column: Column, key: str, where: str) -> Sql:
    """A number below :data:`DRAWN_FROM` for each value of a column; rows with one value have one number.

    Args:
        column: of the table ``kanon_source``. NULL is a value like others.
        key: what decides, see :mod:`kanon_sql.spec.secret`.
        where: what draws, for the message.

    Raises:
        UnsupportedError: the text of its values is not the same on every engine.
    """
    if column.kind not in _DRAWN:
        raise UnsupportedError(
            f"{where}: {column.name!r} is {column.type}, whose text depends on the database; draw by whole numbers, "
            "texts or dates, or cast it in a source query"
        )
    return drawn_number(Sql(f"CAST(kanon_source.{identifier(column.name)} AS VARCHAR)"), key)


def drawn_number(text: Sql, key: str) -> Sql:
    """A number below :data:`DRAWN_FROM` for each text, by a key; no seed of a session decides it."""
    return render("frequency/draw", key=key, text=text)


def _value(column: Column, step: ColumnStep | None) -> Sql:
    """What the stages read instead of a column."""
    plain = Sql(f"kanon_source.{identifier(column.name)}")
    if step is None:
        return plain
    value, kind = plain, column
    if step.round is not None:
        value = rounded_value(plain, column, step.round)
        kind = Column(column.name, column.type, "integer" if _whole(column, step.round) else "float")
    if not step.codes:
        return value
    # A fraction of four bytes is made one of eight, as which every engine compares it alike with one of eight.
    is_float = kind.kind == "float"
    bottom, top = (end if end is None or not is_float else float(end) for end in (step.bottom, step.top))
    return render(
        "frequency/coded",
        value=Sql(f"CAST({value} AS DOUBLE)") if is_float else value,
        bottom=bottom,
        top=top,
        bottom_label=f"<= {_shown(step.bottom)}",
        top_label=f">= {_shown(step.top)}",
        text=value_text(kind, value),
    )


def rounded_value(value: Sql, column: Column, base: Decimal) -> Sql:
    """A number as the nearest multiple of a base, the higher one of two; the same digits on every engine.

    Args:
        value: the number.
        column: what it is of; whole numbers that are rounded to whole numbers stay whole.
        base: above 0.
    """
    if _whole(column, base):
        return render("frequency/rounded", whole=True, value=value, base=int(base))
    digits = rounding_digits(base)
    units = int(base * 10**digits)
    amount = whole_units(value, digits, column.kind)
    return render("frequency/rounded", whole=False, units=amount, base=units, half=units // 2, digits=digits)


def _refuse_unrounded(workspace: Workspace, bases: Mapping[Column, Decimal | None]) -> None:
    """Count what cannot be rounded, in one pass; in none where whole numbers stay whole.

    Raises:
        UnsupportedError: there is such a number.
    """
    chosen = [(column, base) for column, base in bases.items() if base is not None and not _whole(column, base)]
    if not chosen:
        return
    bounds = [exact_range(rounding_digits(base), column.kind) for column, base in chosen]
    items = [
        {"value": Sql(f"kanon_source.{identifier(column.name)}"), "bound": bound}
        for (column, _), bound in zip(chosen, bounds, strict=True)
    ]
    found = workspace.row("frequency/unrounded", source=source_relation(), columns=items)
    problems = [
        f"steps.columns.{column.name}: {have(int(count))} a number that is not finite or not between "
        f"-10^{len(str(bound)) - 1} and 10^{len(str(bound)) - 1}, which cannot be rounded exactly to multiples of "
        f"{_shown(base)}; round to larger multiples, or filter or cast them in a source query"
        for (column, base), bound, count in zip(chosen, bounds, found, strict=True)
        if count
    ]
    if problems:
        raise UnsupportedError("\n".join(problems))


def _whole(column: Column, base: Decimal) -> bool:
    return column.kind == "integer" and base == base.to_integral_value()


def _shown(number: Decimal | None) -> str:
    return "" if number is None else f"{number:f}"
