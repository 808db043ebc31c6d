"""Columns beside the labels of a quasi-identifier that say in numbers or dates what the label says.

One definition serves who writes them and who reads them. A value is made of the label's text alone, so that rows with
one label have one value, and equality of labels is equality of all columns of a quasi-identifier. Anyone who judges a
table sees that this is so, by one GROUP BY, before classes are made of labels (:func:`refuse_split_labels`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import UnsupportedError, VerificationError
from kanon_sql.hierarchies.exact import exact_value
from kanon_sql.hierarchies.kind import kind_of
from kanon_sql.spec import ComputedColumn, QuasiIdentifier
from kanon_sql.sql import Relation, Sql, exact_text, identifier, render

__all__ = ["computed_value", "refuse_split_labels", "refuse_wrong_columns", "split_labels"]


def computed_value(
    column: ComputedColumn, quasi_identifier: QuasiIdentifier, kind: str, label: Sql, *, as_text: bool = False
) -> Sql:
    """What a label says, as a number or a date.

    Whole numbers stay whole where all ends of intervals are; a value that is released as itself then ends before the
    next one, ``[34, 35)``, and begins and ends with itself otherwise. A label of every person and NULL have neither
    end.

    Args:
        column: where the label begins, ends, or has its middle.
        quasi_identifier: whose label it is.
        kind: of its values in the source.
        label: the label, text.
        as_text: write a date as text, to compare it.
    """
    if column.dates:
        return render("hierarchies/computed/date", label=label, part=column.part, as_text=as_text)
    digits = kind_of(quasi_identifier).digits
    whole = kind == "integer" and digits == 0
    return render("hierarchies/computed/number", label=label, part=column.part, whole=whole, digits=digits)


def refuse_wrong_columns(
    workspace: Workspace,
    computed: Sequence[ComputedColumn],
    quasi_identifiers: Mapping[str, QuasiIdentifier],
    columns: Mapping[str, Column],
    table: Relation,
) -> None:
    """See that a written table says in its columns what its labels say, and tells no rows of one label apart by them.

    Args:
        workspace: where.
        computed: the columns.
        quasi_identifiers: the hierarchies.
        columns: the source's columns, for the kinds of values.
        table: the written table.

    Raises:
        VerificationError: it does not; its writer drops it.
    """
    for column in computed:
        label = Sql(f"checked.{identifier(column.of)}")
        kind = columns[column.of].kind
        expected = computed_value(column, quasi_identifiers[column.of], kind, label, as_text=column.dates)
        written = Sql(f"checked.{identifier(column.name)}")
        if column.dates:
            written = exact_text(Sql(f"CAST({written} AS VARCHAR)"))
        (wrong,) = workspace.row("hierarchies/computed/mismatches", table=table, written=written, expected=expected)
        if wrong:
            raise VerificationError(
                f"verification: {int(wrong)} rows have a {column.name!r} that does not follow from their "
                f"{column.of!r}; the table was dropped"
            )
    if computed:
        refuse_split_labels(workspace, computed, workspace.columns(table), table, "the written table")


def refuse_split_labels(
    workspace: Workspace,
    computed: Sequence[ComputedColumn],
    columns: Mapping[str, Column],
    table: Relation,
    shown: str,
) -> None:
    """Refuse a table whose rows have one label and can be distinguished by what stands beside it.

    Args:
        workspace: where.
        computed: the columns that stand beside labels, as a spec says; those that the table lacks tell nothing.
        columns: the table's columns by name.
        table: it.
        shown: what messages call it.

    Raises:
        UnsupportedError: classes by labels would be larger than those that a reader sees.
    """
    for of, extra, split in split_labels(workspace, computed, columns, table):
        raise UnsupportedError(
            f"{shown}: {split:,} labels of {of!r} have rows that differ in {' or '.join(extra)}, so classes by labels "
            "would look larger than they are; make these columns of the label alone, or leave them out"
        )


def split_labels(
    workspace: Workspace, computed: Sequence[ComputedColumn], columns: Mapping[str, Column], table: Relation
) -> Iterator[tuple[str, list[str], int]]:
    """Quasi-identifiers whose labels have rows that can be distinguished by what stands beside, one statement for each.

    Args:
        workspace: where.
        computed: the columns that stand beside labels, those of one quasi-identifier in a row; the table may lack some.
        columns: the table's columns by name.
        table: it.

    Returns:
        The quasi-identifier, the columns beside it that the table has, and how many labels.
    """
    names = {name.casefold(): name for name in columns}
    for of, own in groupby(computed, key=lambda column: column.of):
        extra = [names[column.name.casefold()] for column in own if column.name.casefold() in names]
        if not extra or of not in columns:
            continue
        (split,) = workspace.row(
            "hierarchies/computed/split",
            table=table,
            label=exact_value(columns[of], "checked"),
            values=[exact_value(columns[name], "checked") for name in extra],
        )
        if split:
            yield of, extra, int(split)
