"""Values as every engine compares and computes them alike, and columns that are refused because it cannot.

Most engines make sure that all values are of the kind that their type promises; SQLite stores what it is given. There
a text in a column of integers would become 0 in arithmetic, and a blob may look like a text: the label would be wrong,
and no one would be told. So such values are counted, in the database, before labels are made.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import UnsupportedError, counted, have
from kanon_sql.sql import Relation, Sql, exact_float, exact_padded, exact_text, exact_time, identifier, render, slot

__all__ = [
    "exact_range",
    "exact_texts",
    "exact_value",
    "forms_of",
    "number_text",
    "refuse_blank_ends",
    "refuse_mixed_forms",
    "refuse_several_texts",
    "shown_keys",
    "shown_value",
    "whole_units",
]


def refuse_blank_ends(workspace: Workspace, table: Relation, texts: Iterable[Sql], what: str) -> None:
    """One pass over a table, and none where comparisons see every character.

    Args:
        workspace: where to look.
        table: the table; its alias is ``checked``.
        texts: expressions over it that are text.
        what: what the table is, for the message.

    Raises:
        UnsupportedError: a text ends with a blank.
    """
    listed = list(texts)
    dialect = workspace.dialect
    if not dialect.pads or not listed:
        return
    (found,) = workspace.row("hierarchies/blank_ends", table=table, texts=listed)
    if found:
        raise UnsupportedError(
            f"{what}: {have(int(found))} a text that ends with a blank, which {dialect.name} ignores when "
            "it compares texts, so different texts would count as equal; trim them in a source query"
        )


MOST_FORMS = 100

MOST_BRANCHES = 100
"""This many columns are looked at one by one; SQLite takes no more than 500 branches in a statement."""

_NO_LABEL = ("blob", "text with a zero byte")
"""Forms that text functions cut or misread; as values that are only compared they are fine."""


def refuse_mixed_forms(
    workspace: Workspace,
    table: Relation,
    columns: Mapping[str, Column],
    *,
    labelled: Collection[str] = (),
    weighted: bool = False,
) -> None:
    """Look at the forms of the values of some columns: one pass over the table, and none where columns are typed.

    Args:
        workspace: where to look.
        table: the table.
        columns: the name of a column in the table -> the column as the source has it.
        labelled: the names of those that labels are made of.
        weighted: the table is a frequency table, with its ``row_count``.

    Raises:
        UnsupportedError: a column holds values of several forms, or of one that does not fit its type.
    """
    compiler = workspace.compiler
    if compiler.dialect.typed or not columns:
        return
    forms, problems = _forms(workspace, columns), []
    if weighted and workspace.mode != "inline" and len(columns) <= MOST_BRANCHES:
        found = _extremes_of_values(workspace, table, columns, labelled)
    else:
        found = _extremes(workspace, table, forms)
    for index, ((name, column), (least, greatest)) in enumerate(zip(columns.items(), found, strict=True)):
        fits = least == greatest and (column.kind == "other" or str(least).startswith(column.kind))
        if not least or (fits and not (name in labelled and least in _NO_LABEL)):
            continue
        own = {"form": forms[f"form_{index}"]}
        shape = compiler.shape(
            "hierarchies/form_counts",
            (table, weighted),
            lambda: {"table": table, "form": slot("form"), "weighted": weighted},
        )
        counts = workspace.query(compiler.fill("hierarchies/form_counts", shape, own), MOST_FORMS)
        held = ", ".join(f"{form} ({counted(count, 'row')})" for form, count in counts)
        problems.append(
            f"{column.name}: the column is {column.type or 'of no type'}, and its values are {held}; "
            "cast it to one type in a source query, or leave those rows out there"
        )
    if problems:
        raise UnsupportedError("\n".join(problems))


def forms_of(workspace: Workspace, table: Relation, columns: Mapping[str, Column]) -> dict[str, str]:
    """The form of each column's values, of those that have any; nothing where columns are typed.

    Args:
        workspace: where to look.
        table: the table.
        columns: the name of a column in the table -> the column as the source has it.

    Raises:
        UnsupportedError: a column has values of several forms.
    """
    found = dict(zip(columns, _extremes(workspace, table, _forms(workspace, columns)), strict=False))
    for name, (least, greatest) in found.items():
        if least != greatest:
            raise UnsupportedError(
                f"{name}: the column is {columns[name].type or 'of no type'}, and its values are {least} and "
                f"{greatest}; cast it to one type in a source query"
            )
    return {name: least for name, (least, _) in found.items() if least is not None}


def _forms(workspace: Workspace, columns: Mapping[str, Column]) -> dict[str, str]:
    """Slot -> the form of a column's value in SQL."""
    dialect = workspace.dialect
    if dialect.typed:
        return {}
    return {
        f"form_{index}": dialect.form(f"checked.{dialect.quote(name)}", column.kind, column.type)
        for index, (name, column) in enumerate(columns.items())
    }


def _extremes(workspace: Workspace, table: Relation, forms: Mapping[str, str]) -> list[tuple[str | None, str | None]]:
    """The least and the greatest form of each; None where all values are NULL."""
    if not forms:
        return []
    slots = [slot(name) for name in forms]
    shape = workspace.compiler.shape("hierarchies/forms", (table, len(forms)), lambda: {"table": table, "forms": slots})
    (row,) = workspace.query(workspace.compiler.fill("hierarchies/forms", shape, forms), 1)
    return list(zip(row[::2], row[1::2], strict=True))


def _extremes_of_values(
    workspace: Workspace, table: Relation, columns: Mapping[str, Column], labelled: Collection[str]
) -> list[tuple[str | None, str | None]]:
    """The same of a scratch table, which is in memory: of a column with labels, which has few values, by these.

    To find them takes a third of what telling the form of each row takes.
    """
    compiler, quote = workspace.compiler, workspace.compiler.quote
    branches = []
    for index, (own, form) in enumerate(zip(columns, _forms(workspace, columns).values(), strict=True)):
        value = f"held.{quote(own)}"
        fills = {"attribute": str(index), "form": form, "table": workspace.quoted(table)}
        fills |= {"value": value, "name": quote(own), "stored": compiler.dialect.stored_as(value)}
        branches.append(compiler.filled("hierarchies/forms_of_values", fills, distinct=own in labelled))
    rows = workspace.query(compiler.union(branches), len(branches))
    return [(least, greatest) for _, least, greatest in sorted(rows, key=lambda row: int(row[0]))]


def exact_value(column: Column, table: str) -> Sql:
    """A column as it is grouped and compared: text exactly, floats as numbers, times as what they show.

    Other types stay as they are. Always qualified with its table's alias: the user's names must not meet
    ours.

    Raises:
        UnsupportedError: different values of its type may have the same text.
    """
    if column.kind == "ambiguous":
        raise UnsupportedError(
            f"{column.name}: different values of type {column.type} may have the same text, and would count as "
            "equal; cast the column or select its parts in a source query"
        )
    name = Sql(f"{identifier(table)}.{identifier(column.name)}")
    if column.kind == "text" and column.written == "several":
        return exact_padded(name)
    if column.kind in ("text", "other"):
        value = f"CAST({name} AS BIGINT)" if column.written == "bits" else name
        return exact_text(Sql(f"CAST({value} AS VARCHAR)"))
    if column.kind in ("date", "timestamp", "moment"):
        return exact_time(name, day=column.kind == "date")
    return exact_float(name) if column.kind == "float" else name


def shown_keys(columns: Sequence[Column], table: str) -> list[Sql]:
    """What makes the classes of a table as it is: the columns exactly, and then what a reader sees besides.

    A reader sees whether a row has 1.0 or 1.00, or 0 or -0, which are equal numbers: as one class they would look
    larger than they are. Values that are counted, such as sensitive ones, are counted as numbers all the same: there
    the coarser view is the careful one.

    Args:
        columns: those that classes are made by.
        table: its alias.

    Returns:
        :func:`exact_value` of each column, and one more expression for each whose equal numbers may look different.
    """
    seen = [
        render(
            "hierarchies/spelling",
            value=Sql(f"{identifier(table)}.{identifier(column.name)}"),
            of_zero=column.varies == "zero",
        )
        for column in columns
        if column.varies is not None
    ]
    return [*(exact_value(column, table) for column in columns), *seen]


def shown_value(column: Column, table: str) -> Sql:
    """A column as a reader of a table sees its values, in one expression, to count different ones.

    1.0 and 1.00 are two. 0 and -0 of binary fractions stay one: a count that one value more makes no difference to.
    """
    if column.varies == "digits":
        return exact_text(Sql(f"CAST({identifier(table)}.{identifier(column.name)} AS VARCHAR)"))
    return exact_value(column, table)


def refuse_several_texts(columns: Mapping[str, Column], names: Iterable[str | None], why: str) -> None:
    """Refuse to count different values of a type unless each is known to be written in one way.

    Values of other types are compared as text: as quasi-identifiers they only make classes smaller, but two texts of
    one value would count as two sensitive values, or as two persons. Lists are refused as well: ``[flu, hiv]``,
    ``[hiv, flu]`` and ``[flu]`` are three values, and all of them say flu.

    Args:
        columns: of a table, by name.
        names: those whose different values are counted; None, and what the table lacks, is left out.
        why: what counts them, such as ``a requirement``.

    Raises:
        UnsupportedError: one of them has such a type.
    """
    for name in names:
        column = None if name is None else columns.get(name)
        if column is None or column.written in ("one", "bits"):
            continue
        if column.written == "items":
            raise UnsupportedError(
                f"{column.name}: a value of type {column.type} may hold several items, and values that have some in "
                f"common would count as different ones for {why}; make a row of each item in a source query, with the "
                "person as the unit, or take one item or part of it as the column"
            )
        raise UnsupportedError(
            f"{column.name}: equal values of type {column.type} may be written in several ways, and would count as "
            f"several for {why}; cast the column in a source query, for example to a number or a text"
        )


def exact_texts(columns: Sequence[Column], table: str) -> list[Sql]:
    """Those columns that are compared as text."""
    return [exact_value(column, table) for column in columns if column.kind in ("text", "other")]


_DIGITS = 15
"""Numbers of this many digits are different binary fractions of eight bytes, and read back from them."""

_WHOLE_DIGITS = 17
"""Whole numbers of this many digits can be added and multiplied by 10 in 64 bits."""


def exact_range(digits: int, kind: str) -> int:
    """Numbers strictly between minus this and this have whole units of 10^-digits, which every engine computes alike.

    A decimal may have no more digits than a binary fraction, since some databases store it as one.

    Args:
        digits: Digits after the point of the units, 10 at most.
        kind: What the column holds: "integer", "decimal" or "float".
    """
    return int(10 ** min(_DIGITS, (_WHOLE_DIGITS if kind == "integer" else _DIGITS) - digits))


def whole_units(value: Sql, digits: int, kind: str) -> Sql:
    """A number in units of 10^-digits, rounded down, exactly; where it is within :func:`exact_range`.

    Args:
        value: An expression of a column.
        digits: Digits after the point of the units.
        kind: What the column holds: "integer", "decimal" or "float".
    """
    return render("hierarchies/levels/scaled", value=value, digits=digits, kind=kind)


def number_text(units: Sql, digits: int) -> Sql:
    """The text of the number that this many units of 10^-digits are."""
    return render("hierarchies/levels/number", scaled=units, digits=digits, unit=Decimal(1).scaleb(-digits))
