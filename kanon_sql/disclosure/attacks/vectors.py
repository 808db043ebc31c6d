"""What joins a generalized table with values: vectors, the labels of each value, and their matches.

Tables of different origin have columns of different types: 34, 34.0 and 34.00 are one number, and a day is the midnight
that it begins with. An attacker reads them so, hence what is compared is spelled alike.

A released label matches a value when some level of the column's hierarchy maps the value to
that label, whichever level: so releases of any recoding (full-domain, cell by cell, masked)
are attacked alike. Where one level below the top has all labels of a column, it is that level which
counts, and the top: a city that has its state's name is not taken for the whole state. Where several have them all
and say different things (3 is an age, and the thirties), an attack runs once per level, and what exposes most counts.
NULL is a value of its own below the top, as everywhere. An asterisk masks a value also where the top is called
otherwise.

Where labels are ranges of values (Mondrian), they are read as such, by the order of the column's values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from kanon_sql.disclosure.attacks.base import Scene, Target
from kanon_sql.engines import Column
from kanon_sql.evaluate import BY_VALUE, is_listed, positions_of
from kanon_sql.frequency import Side
from kanon_sql.hierarchies import TOP, Lookup, build_lookups, exact_value, value_text
from kanon_sql.spec import QuasiIdentifier
from kanon_sql.sql import Relation, Sql, exact_text, identifier, render

__all__ = [
    "cell_text",
    "covered",
    "covers_of",
    "kinds_of",
    "label_texts",
    "labels_of",
    "level_of",
    "lookups_of",
    "range_readings",
    "released_label",
    "vectors_of",
]


_NUMBERS = {"integer", "decimal", "float"}
_TIMES = {"date", "timestamp"}

LARGEST = 2**31 - 1
"""A place that no value has one behind."""


def cell_text(column: Column, table: str, joined: Iterable[Column] = ()) -> Sql:
    """A cell as text that compares exactly, whatever its type, so that tables need not agree on types.

    Args:
        column: the cell's.
        table: its table's alias.
        joined: the columns that it is compared with.
    """
    kinds = {other.kind for other in joined if other.type != column.type or _unscaled(other)}
    if column.kind in ("text", "other", "ambiguous"):
        return _spelled(exact_value(column, table), kinds)
    written = value_text(column, Sql(f"{identifier(table)}.{identifier(column.name)}"))
    # No bare cast: some dialects would undo it.
    text = exact_text(Sql(f"CAST(({written} || '') AS VARCHAR)"))
    return _spelled(text, kinds and {column.kind}) if column.kind in ("decimal", "timestamp") else text


def released_label(column: Column, table: str, kinds: Iterable[str]) -> Sql:
    """A cell of a release as a label that is compared with those of values of some kinds."""
    return _spelled(cell_text(column, table), kinds)


def kinds_of(generalized: Mapping[str, str], tables: Iterable[Target]) -> dict[str, set[str]]:
    """Our column -> of what kinds the values are that it is a label of, where tables have other types for them.

    Args:
        generalized: our column -> what tables call it.
        tables: with the values, and with the labels.
    """
    listed = list(tables)
    kinds: dict[str, set[str]] = {}
    for ours, name in generalized.items():
        columns = [table.columns[name] for table in listed if name in table.columns]
        differ = len({column.type for column in columns}) > 1 or any(map(_unscaled, columns))
        kinds[ours] = {column.kind for column in columns} if differ else set()
    return kinds


def _unscaled(column: Column) -> bool:
    """Whether a number may be written with any number of zeros at its end, as PostgreSQL's NUMERIC is."""
    return column.kind == "decimal" and column.scale is None


def _spelled(text: Sql, kinds: Iterable[str]) -> Sql:
    """Text as it is spelled where values of some kinds are compared with those of other types."""
    for has_them, digits in ((_NUMBERS & {*kinds}, True), (_TIMES & {*kinds}, False)):
        if has_them:
            text = exact_text(Sql(f"({render('disclosure/attacks/comparable', written=text, digits=digits)})"))
    return text


def vectors_of(
    scene: Scene,
    table: Target,
    what: str,
    generalized: Sequence[str],
    plain: Sequence[str],
    joined: Sequence[Target] = (),
) -> Relation:
    """A table's distinct vectors of values: ``q<i>`` as they are, ``p<j>`` as text, and ``row_count``.

    Args:
        scene: where.
        table: to read, once.
        what: a word for the scratch name.
        generalized: columns with a hierarchy.
        plain: columns that are compared as they are.
        joined: the tables that these are compared with.
    """
    values = {f"q{index}": exact_value(table.columns[name], "kanon_source") for index, name in enumerate(generalized)}
    return _grouped(scene, table, what, values, generalized, plain, joined)


def labels_of(
    scene: Scene,
    table: Target,
    what: str,
    generalized: Mapping[str, str],
    plain: Sequence[str],
    joined: Sequence[Target] = (),
    kinds: Mapping[str, Iterable[str]] | None = None,
) -> Relation:
    """A release's distinct vectors of labels, likewise.

    Args:
        scene: where.
        table: to read, once.
        what: a word for the scratch name.
        generalized: our column -> its column with labels of a hierarchy, read as text.
        plain: columns that are compared as they are.
        joined: the tables that these are compared with.
        kinds: from :func:`kinds_of`, where the table and the values may differ in type.
    """
    values = {
        ours: released_label(table.columns[name], "kanon_source", (kinds or {}).get(ours, ()))
        for ours, name in generalized.items()
    }
    return _grouped(scene, table, what, values, list(generalized.values()), plain, joined)


def _grouped(
    scene: Scene,
    table: Target,
    what: str,
    values: dict[str, Sql],
    generalized: Sequence[str],
    plain: Sequence[str],
    joined: Sequence[Target],
) -> Relation:
    scene.look_at(table, [*generalized, *plain], generalized)
    for index, name in enumerate(plain):
        others = [other.columns[name] for other in joined if name in other.columns]
        values[f"p{index}"] = cell_text(table.columns[name], "kanon_source", others)
    target = scene.workspace.table(what)
    scene.workspace.execute(
        "frequency/raw",
        target=target,
        source=table.relation,
        names=list(values),
        values=list(values.values()),
    )
    scene.sides[target] = Side(table.relation, target, list(values))
    return target


def lookups_of(
    scene: Scene,
    vectors: Relation,
    columns: Mapping[str, Column],
    hierarchies: Mapping[str, QuasiIdentifier],
    *,
    partial: bool = True,
    numbered: bool = False,
) -> list[Lookup]:
    """The lookup tables of a table's values.

    Args:
        scene: where.
        vectors: from :func:`vectors_of`, ``generalized`` being the keys of ``hierarchies``.
        columns: of the table.
        hierarchies: column -> its hierarchy.
        partial: values that a hierarchy does not know are allowed; they match the top alone.
        numbered: labels have numbers and sizes.

    Raises:
        HierarchyError, SpecError: a hierarchy does not fit the values.
    """
    spec = scene.spec.model_copy(update={"quasi_identifiers": dict(hierarchies), "nulls": "value"})
    # A scene may have the labels of several tables.
    own = scene.workspace.apart(f"{scene.workspace.prefix}{list(scene.sides).index(vectors)}_")
    lookups = build_lookups(own, spec, dict(columns), vectors, partial=partial, numbered=numbered)
    scene.sides[vectors] = replace(scene.sides[vectors], lookups={lookup.column: lookup for lookup in lookups})
    return lookups


def covers_of(
    scene: Scene,
    lookups: Sequence[Lookup],
    labels: Relation,
    what: str,
    kinds: Mapping[str, Iterable[str]] | None = None,
) -> list[Relation]:
    """Per lookup table: each value with each of the labels that it may have in a release.

    Args:
        scene: where.
        lookups: from :func:`lookups_of`.
        labels: from :func:`labels_of`.
        what: a word for scratch names.
        kinds: as there.
    """
    covers = []
    for lookup in lookups:
        target = scene.workspace.table(f"{what}_cover{lookup.index}")
        written = label_texts(lookup, (kinds or {}).get(lookup.column, ()))
        ranges = range_readings(scene, lookup, labels, what)
        levels = _levels(scene, lookup, labels, written, what) if ranges is None else [0]
        scene.workspace.execute(
            "disclosure/attacks/cover",
            target=target, lookup=lookup.table, levels=levels, ranges=ranges,
            height=lookup.height, labels=labels, released=lookup.column, masks=[TOP] if lookup.top != TOP else [],
            written=written,
        )  # fmt: skip
        covers.append(target)
    return covers


def range_readings(scene: Scene, lookup: Lookup, labels: Relation, what: str) -> dict[str, Relation] | None:
    """The values of a column in order, and the released labels that are ranges of them; None where no label is one.

    Args:
        scene: where.
        lookup: the lookup table of the column.
        labels: from :func:`labels_of`.
        what: a word for scratch names.

    Returns:
        ``places``: each value with its ``place`` from 1 on, among those that occur, and from 0 on in its domain; and
        ``table``: each label with the first and the last place of its values.
    """
    if not scene.spec.recoding.in_ranges(lookup.name) or not lookup.height:
        return None
    workspace = scene.workspace.apart(f"{what}_")
    column = scene.source.columns.get(lookup.name)
    positions = positions_of(workspace, scene.spec, lookup, column, scene.source.relation)
    places, table = workspace.table(f"places{lookup.index}"), workspace.table(f"ranges{lookup.index}")
    workspace.execute(
        "disclosure/attacks/places",
        target=places, lookup=lookup.table, positions=positions, written=label_texts(lookup, table="own")[0],
        by_value=column is not None and column.kind in BY_VALUE, listed=is_listed(lookup),
    )  # fmt: skip
    workspace.execute(
        "disclosure/attacks/ranges",
        target=table, labels=labels, released=lookup.column, places=places, listed=is_listed(lookup),
        last=LARGEST,
    )  # fmt: skip
    return {"table": table, "places": places}


def label_texts(lookup: Lookup, kinds: Iterable[str] = (), table: str | None = None) -> list[Sql]:
    """The labels of every level of a lookup table, as they are compared with a release's; ``table`` is its alias."""
    of = "" if table is None else f"{identifier(table)}."
    texts = [exact_text(Sql(f"CAST({of}{identifier(f'l{level}')} AS VARCHAR)")) for level in range(lookup.height + 1)]
    return [_spelled(text, kinds) for text in texts]


def level_of(scene: Scene, lookup: Lookup, labels: Relation, written: Sequence[Sql]) -> int | None:
    """The level that all labels of a column are of: the lowest such; None where there is none."""
    misses = scene.workspace.row(
        "disclosure/attacks/level_misses",
        lookup=lookup.table, height=lookup.height, labels=labels, released=lookup.column, anywhere=(), written=written,
    )  # fmt: skip
    return next((level for level, missed in enumerate(misses) if not missed), None)


def _levels(scene: Scene, lookup: Lookup, labels: Relation, written: Sequence[Sql], what: str) -> list[int]:
    """The levels below the top that a column's labels may be of: one that has them all, or every one.

    Labels that no value has at any level tell nothing, and the top and the mask may stand beside labels of any level.
    """
    levels = list(range(lookup.height))
    if len(levels) == 1:
        return levels
    misses = scene.workspace.row(
        "disclosure/attacks/level_misses",
        lookup=lookup.table, height=lookup.height - 1, labels=labels, released=lookup.column,
        anywhere=list(dict.fromkeys([lookup.top, TOP])), written=written,
    )  # fmt: skip
    fitting = [level for level in levels if not misses[level]]
    if len(fitting) < 2:
        return fitting or levels
    different = _different(scene, lookup, labels, written, fitting)
    return different if len(different) == 1 else [scene.reading.of((what, lookup.name), different)]


def _different(
    scene: Scene, lookup: Lookup, labels: Relation, written: Sequence[Sql], levels: Sequence[int]
) -> list[int]:
    """Of levels that all have a column's labels: the highest, and those that give these to other values."""
    counts = scene.workspace.row(
        "disclosure/attacks/level_differences",
        lookup=lookup.table, labels=labels, released=lookup.column, top=lookup.top,
        written=[written[level] for level in levels],
    )  # fmt: skip
    return [level for level, count in zip(levels, counts, strict=False) if count] + [levels[-1]]


def covered(
    scene: Scene,
    what: str,
    vectors: Relation,
    covers: Sequence[Relation],
    labels: Relation,
    *,
    names: Sequence[str],
    carried: Sequence[str],
    plain: int = 0,
) -> Sql:
    """The FROM form of vectors joined with the released vectors that they may be behind.

    Labels are joined column by column, a scratch table each. So no step has more rows than there are vectors, each
    with the beginnings of released vectors that it may be behind, whatever an engine expects of a join of many tables.

    Args:
        scene: where.
        what: a word for scratch names.
        vectors: different ones; they, and their labels, have the alias ``vectors``.
        covers: from :func:`covers_of`.
        labels: from :func:`labels_of`; its alias is ``released``.
        names: the column of each cover, in both.
        carried: all columns of the vectors.
        plain: how many plain columns must be equal.
    """
    for index, (cover, name) in enumerate(zip(covers, names, strict=True)):
        target = scene.workspace.table(f"{what}_labelled{index}")
        scene.workspace.execute(
            "disclosure/attacks/labelled",
            target=target, vectors=vectors, cover=cover, labels=labels, name=name, before=list(names[:index]),
            carried=list(carried), plain=plain,
        )  # fmt: skip
        vectors = target
    return render("disclosure/attacks/covered", vectors=vectors, labels=labels, names=list(names), plain=plain)
