"""What joins a generalized table with values: vectors, the labels of each value, and their matches.

A released label matches a value when some level of the column's hierarchy maps the value to
that label, whichever level: so releases of any recoding (full-domain, cell by cell, masked)
are attacked alike. Where one level below the top has all labels of a column, it is that level which
counts, and the top: a city that has its state's name is not taken for the whole state. NULL is a value of its
own below the top, as everywhere. An asterisk masks a value also where the top is called otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kanon_sql.attacks.base import Scene, Target
from kanon_sql.engines.base import Column
from kanon_sql.frequency import exact_value
from kanon_sql.hierarchies import Lookup, build_lookups
from kanon_sql.hierarchy_file import TOP
from kanon_sql.hierarchy_rules import value_text
from kanon_sql.spec import QuasiIdentifier
from kanon_sql.sql.templates import render
from kanon_sql.sql.text import Relation, Sql, exact_text, identifier

__all__ = ["cell_text", "covered", "covers_of", "labels_of", "lookups_of", "vectors_of"]


def cell_text(column: Column, table: str) -> Sql:
    """A cell as text that compares exactly, whatever its type, so that tables need not agree on types."""
    if column.kind in ("text", "other", "ambiguous"):
        return exact_value(column, table)
    written = value_text(column, Sql(f"{identifier(table)}.{identifier(column.name)}"))
    return exact_text(Sql(f"CAST(({written} || '') AS VARCHAR)"))  # no bare cast: some dialects would undo it


def vectors_of(scene: Scene, table: Target, what: str, generalized: Sequence[str], plain: Sequence[str]) -> Relation:
    """A table's distinct vectors of values: ``q<i>`` as they are, ``p<j>`` as text, and ``row_count``.

    Args:
        scene: where.
        table: to read, once.
        what: a word for the scratch name.
        generalized: columns with a hierarchy.
        plain: columns that are compared as they are.
    """
    values = {f"q{index}": exact_value(table.columns[name], "kanon_source") for index, name in enumerate(generalized)}
    return _grouped(scene, table, what, values, generalized, plain)


def labels_of(scene: Scene, table: Target, what: str, generalized: Mapping[str, str], plain: Sequence[str]) -> Relation:
    """A release's distinct vectors of labels, likewise.

    Args:
        scene: where.
        table: to read, once.
        what: a word for the scratch name.
        generalized: our column -> its column with labels of a hierarchy, read as text.
        plain: columns that are compared as they are.
    """
    values = {ours: cell_text(table.columns[name], "kanon_source") for ours, name in generalized.items()}
    return _grouped(scene, table, what, values, list(generalized.values()), plain)


def _grouped(
    scene: Scene, table: Target, what: str, values: dict[str, Sql], generalized: Sequence[str], plain: Sequence[str]
) -> Relation:
    scene.look_at(table, [*generalized, *plain], generalized)
    values |= {f"p{index}": cell_text(table.columns[name], "kanon_source") for index, name in enumerate(plain)}
    target = scene.workspace.table(what)
    scene.workspace.execute(
        "frequency/raw",
        target=target,
        source=table.relation,
        names=list(values),
        values=list(values.values()),
    )
    return target


def lookups_of(
    scene: Scene,
    vectors: Relation,
    columns: Mapping[str, Column],
    hierarchies: Mapping[str, QuasiIdentifier],
    *,
    partial: bool = True,
) -> list[Lookup]:
    """The lookup tables of a table's values.

    Args:
        scene: where.
        vectors: from :func:`vectors_of`, ``generalized`` being the keys of ``hierarchies``.
        columns: of the table.
        hierarchies: column -> its hierarchy.
        partial: values that a hierarchy does not know are allowed; they match the top alone.

    Raises:
        HierarchyError, SpecError: a hierarchy does not fit the values.
    """
    spec = scene.spec.model_copy(update={"quasi_identifiers": dict(hierarchies), "nulls": "value"})
    return build_lookups(scene.workspace, spec, dict(columns), vectors, partial=partial)


def covers_of(scene: Scene, lookups: Sequence[Lookup], labels: Relation, what: str) -> list[Relation]:
    """Per lookup table: each value with each of the labels that it may have in a release."""
    covers = []
    for lookup in lookups:
        target = scene.workspace.table(f"{what}_cover{lookup.index}")
        scene.workspace.execute(
            "audit/cover", target=target, lookup=lookup.table, levels=_levels(scene, lookup, labels),
            height=lookup.height, labels=labels, released=lookup.column, masks=[TOP] if lookup.top != TOP else [],
        )  # fmt: skip
        covers.append(target)
    return covers


def _levels(scene: Scene, lookup: Lookup, labels: Relation) -> list[int]:
    """The levels below the top that a column's labels may be of: the highest that has them all, or every one.

    Labels that no value has at any level tell nothing, and the top and the mask may stand beside labels of any level.
    """
    levels = list(range(lookup.height))
    if len(levels) == 1:
        return levels
    misses = scene.workspace.row(
        "audit/level_misses", lookup=lookup.table, height=lookup.height - 1, labels=labels, released=lookup.column,
        anywhere=list(dict.fromkeys([lookup.top, TOP])),
    )  # fmt: skip
    return [level for level in levels if not misses[level]][-1:] or levels


def covered(
    vectors: Relation,
    covers: Sequence[Relation],
    labels: Relation,
    *,
    names: Sequence[str],
    plain: int = 0,
    distinct: int | None = None,
) -> Sql:
    """The FROM form of vectors joined with the released vectors that they may be behind.

    Args:
        vectors: from :func:`vectors_of`; its alias is ``vectors``.
        covers: from :func:`covers_of`.
        labels: from :func:`labels_of`; its alias is ``released``.
        names: the column of each cover, in both.
        plain: how many plain columns must be equal.
        distinct: take the vectors' distinct values of so many quasi-identifiers; None: the vectors as they are.
    """
    return render(
        "audit/covered", vectors=vectors, covers=covers, labels=labels, names=names, plain=plain, distinct=distinct
    )
