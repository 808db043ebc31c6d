"""Refuse columns whose values are not all of the kind that their type promises.

Most engines make sure of that; SQLite stores what it is given. There a text in a column of
integers would become 0 in arithmetic, and a blob may look like a text: the label would be
wrong, and nobody would be told. So such values are counted, in the database, before labels
are made.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kanon_sql.engines.base import Column
from kanon_sql.errors import UnsupportedError
from kanon_sql.sql.text import Relation, slot
from kanon_sql.workspace import Workspace

__all__ = ["refuse_mixed_forms"]

MOST_FORMS = 100

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
    dialect = compiler.dialect
    if dialect.typed or not columns:
        return
    forms = {
        f"form_{index}": dialect.form(f"checked.{dialect.quote(name)}", column.kind, column.type)
        for index, (name, column) in enumerate(columns.items())
    }
    slots = [slot(name) for name in forms]
    shape = compiler.shape("check/forms", (table, len(forms)), lambda: {"table": table, "forms": slots})
    (row,) = workspace.query(compiler.fill("check/forms", shape, forms), 1)
    problems = []
    for index, (name, column) in enumerate(columns.items()):
        least, greatest = row[2 * index : 2 * index + 2]
        fits = least == greatest and (column.kind == "other" or str(least).startswith(column.kind))
        if not least or (fits and not (name in labelled and least in _NO_LABEL)):
            continue
        own = {"form": forms[f"form_{index}"]}
        shape = compiler.shape(
            "check/form_counts",
            (table, weighted),
            lambda: {"table": table, "form": slot("form"), "weighted": weighted},
        )
        counts = workspace.query(compiler.fill("check/form_counts", shape, own), MOST_FORMS)
        held = ", ".join(f"{form} ({count:,} rows)" for form, count in counts)
        problems.append(
            f"{column.name}: the column is {column.type or 'of no type'}, and its values are {held}; "
            "cast it to one type in a source query, or leave those rows out there"
        )
    if problems:
        raise UnsupportedError("\n".join(problems))
