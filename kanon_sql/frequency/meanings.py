"""What the labels of a table stand for.

A cell of a generalized table stands for all values that the hierarchy has below it, at whatever level it is. Nothing is
asked about how the table was made: labels are compared. Only the source is known to hold values: there a cell stands
for itself alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.hierarchies import (
    Lookup,
    exact_texts,
    exact_value,
    refuse_blank_ends,
    refuse_mixed_forms,
    value_text,
)
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation, Sql, exact_text, literal, sql_list

__all__ = ["Meaning", "classes_of", "text_of", "vectors_of", "why_unlabelled"]


_MASK = "*"
"""The cells of a masked row."""


@dataclass(frozen=True)
class Meaning:
    """The values that the labels of a table stand for in one quasi-identifier.

    Attributes:
        table: ``value`` and ``label``.
        has_nulls: whether NULL may be among the values, and then among the labels.
    """

    table: Relation
    has_nulls: bool


def classes_of(
    workspace: Workspace,
    spec: Spec,
    table: Relation,
    columns: Mapping[str, Column],
    lookups: Sequence[Lookup],
    *,
    raw: bool = False,
) -> tuple[Relation, list[Meaning]]:
    """A table's classes by their labels, and per quasi-identifier the values that each label stands for.

    Args:
        workspace: where to look.
        spec: the quasi-identifiers.
        table: the table, raw or generalized.
        columns: its columns by name.
        lookups: of every person that classes may stand for.
        raw: the table holds values, and a cell stands for the value that it is, also where it looks like a label of
            others or like a mask.

    Raises:
        UnsupportedError: a label means different values at different levels.
    """
    labels = [_labels(workspace, lookup, 0 if raw else lookup.height) for lookup in lookups]
    classes = workspace.table("classes")
    workspace.execute(
        "frequency/population/classes",
        target=classes,
        table=table,
        values=[exact_value(columns[column], "checked") for column in spec.quasi_identifiers],
        labels=[_label(columns[column], index) for index, column in enumerate(spec.quasi_identifiers)],
        all_labels=[] if raw else _labels_of_all(workspace, lookups, labels),
    )
    return classes, [_meaning(workspace, *item, classes) for item in zip(lookups, labels, strict=True)]


def why_unlabelled(spec: Spec) -> str | None:
    """Why some cells of a release are no label of which a hierarchy says what it covers; None where all are."""
    if spec.recoding.releases_ranges:
        return "ranges are not labels of a hierarchy"
    if spec.recoding.columns:
        return f"the numbers of {', '.join(spec.recoding.columns)} are aggregates of a class"
    if any(column.parents == "several" for column in spec.quasi_identifiers.values()):
        return "the parent that a value was given, of several, is not recorded"
    if any(column.by_counts for column in spec.quasi_identifiers.values()):
        return "which values were rare in the source is not recorded"
    return None


def vectors_of(
    workspace: Workspace,
    spec: Spec,
    table: Relation,
    columns: Mapping[str, Column],
    shown: str,
    what: str,
    asked: str,
) -> Relation:
    """The different rows of a table by the quasi-identifiers, exactly as they are, with how many there are.

    Args:
        workspace: where to look.
        spec: names the quasi-identifiers.
        table: the table.
        columns: its columns by name.
        shown: its name for messages.
        what: what to call the scratch table of ``q0``, ... and ``row_count``.
        asked: the requirement that compares them, for messages.

    Raises:
        SpecError: the table lacks a quasi-identifier.
        UnsupportedError: values of a column are not all of one kind, or cannot be distinguished.
    """
    missing = [name for name in spec.quasi_identifiers if name not in columns]
    if missing:
        raise SpecError(
            f"{shown} has no column {missing[0]!r}, which {asked} compares; give a table that has all quasi-identifiers"
        )
    used = {name: columns[name] for name in spec.quasi_identifiers}
    refuse_mixed_forms(workspace, table, used, labelled=list(used))
    refuse_blank_ends(workspace, table, exact_texts(list(used.values()), "checked"), shown)
    target = workspace.table(what)
    values = [exact_value(column, "kanon_source") for column in used.values()]
    names = [f"q{index}" for index, _ in enumerate(values)]
    workspace.execute("frequency/raw", target=target, source=table, names=names, values=values)
    return target


def _label(column: Column, index: int) -> Sql:
    """A cell as the label that it is; a raw value is its own label at level 0."""
    return text_of(column, Sql(f"written.q{index}"))


def text_of(column: Column, value: Sql) -> Sql:
    """A value of a column as text that is compared exactly."""
    return exact_text(Sql(f"CAST({value_text(column, value)} AS VARCHAR)"))


def _labels(workspace: Workspace, lookup: Lookup, highest: int) -> Relation:
    """The labels of every value at level 0 and above, up to the highest that counts."""
    target = workspace.table(f"labels{lookup.index}")
    labels = [exact_text(Sql(f"CAST(meant.l{level} AS VARCHAR)")) for level in range(highest + 1)]
    workspace.execute("frequency/population/labels", target=target, lookup=lookup.table, labels=labels)
    return target


def _labels_of_all(workspace: Workspace, lookups: Sequence[Lookup], labels: Sequence[Relation]) -> list[Sql]:
    """Per quasi-identifier the labels that stand for every person, as a list in SQL: its top, and the mask of a row.

    An asterisk below the top is a value or a group, and a mask could not be told from it. One statement for all
    hierarchies.

    Raises:
        UnsupportedError: a label means different values at different levels.
    """
    compiler = workspace.compiler
    statements = [
        compiler.statement("frequency/population/ambiguous", index=position, labels=table)
        for position, table in enumerate(labels)
    ]
    found: list[Sql] = []
    for position, ambiguous, asterisks in sorted(workspace.query(compiler.union(statements), len(lookups))):
        lookup = lookups[int(position)]
        if ambiguous:
            raise UnsupportedError(
                f"quasi_identifiers.{lookup.name}: {int(ambiguous)} labels of its hierarchy stand for different "
                "values at different levels, so it is unknown which persons a cell stands for; give each group "
                "a label of its own"
            )
        own = [lookup.top, *([] if asterisks else [_MASK])]
        found.append(sql_list([literal(label) for label in dict.fromkeys(own)]))
    return found


def _meaning(workspace: Workspace, lookup: Lookup, labels: Relation, classes: Relation) -> Meaning:
    """The values that each label of the classes stands for."""
    meaning = Meaning(workspace.table(f"meaning{lookup.index}"), lookup.has_nulls)
    workspace.execute(
        "frequency/population/meaning",
        target=meaning.table,
        labels=labels,
        classes=classes,
        index=lookup.index,
        has_nulls=meaning.has_nulls,
    )
    return meaning
