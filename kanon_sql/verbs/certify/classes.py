"""Queries of classes, straight from the definitions: of the release, and of the source at a node of the lattice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.frequency import placed
from kanon_sql.hierarchies import value_text
from kanon_sql.sql import Relation, Sql, identifier, literal, render, sql_list
from kanon_sql.verbs.certify.definitions import Definition
from kanon_sql.verbs.certify.ground import Ground, numbered

__all__ = [
    "At",
    "at_levels",
    "classes_of",
    "judged_classes",
    "of_keys",
    "of_release",
    "released_cells",
    "released_there",
    "size_of",
]

Levels = Mapping[str, int]


@dataclass(frozen=True)
class At:
    """Where classes are looked at.

    Attributes:
        base: a query of rows: keys ``g0``, ..., the value that a requirement looks at, and ``row_count``.
        keys: how many keys there are.
        table: the labelled vectors, which a class is compared with.
    """

    base: Sql
    keys: int
    table: Relation

    @property
    def names(self) -> list[str]:
        """The keys."""
        return [f"g{place}" for place in range(self.keys)]


def size_of(ground: Ground) -> Sql:
    """How many a group counts: its rows, or its persons."""
    return Sql("COUNT(DISTINCT person)" if ground.by_person else "SUM(row_count)")


def _carried(ground: Ground, item: Definition, value: Sql, text: Sql) -> list[dict[str, Any]]:
    """The columns that a definition needs of every row, besides the keys."""
    found: list[dict[str, Any]] = [{"name": "value", "value": value}]
    if item.values is not None:
        salt = f"{ground.spec.hash[:16]}:"
        numbers = sql_list([literal(numbered(salt, one)) for one in item.values])
        drawn = f'({literal(salt)} || ({text})) COLLATE "draw"'
        found.append({"name": "chosen", "value": Sql(f"CASE WHEN {drawn} IN ({numbers}) THEN 1 ELSE 0 END")})
    return found


def _carried_of(ground: Ground, item: Definition | None) -> list[dict[str, Any]]:
    """The same, of a table that has the attribute under its own name."""
    if item is None or item.attribute is None:
        return []
    value = identifier(ground.others[item.attribute])
    return _carried(ground, item, value, value_text(ground.columns[item.attribute], value))


def of_release(ground: Ground, item: Definition | None) -> At:
    """The classes of the release as it is, by its own cells."""
    places = {attribute.name: f"q{attribute.index}" for attribute in ground.attributes}
    made_by = item.keys if item else ground.spec.quasi_identifiers
    keys = [identifier(places.get(name) or ground.others[name]) for name in made_by]
    carried = _carried_of(ground, item)
    base = render(
        "verbs/certify/base", keys=keys, carried=carried, counted=Sql("row_count"), table=ground.release,
        alias="released", filtered=False,
    )  # fmt: skip
    return At(base, len(keys), ground.rows)


def of_keys(
    ground: Ground, keys: Sequence[Sql], item: Definition | None, more: Sequence[Mapping[str, Any]] = (), *,
    table: Relation,
) -> At:  # fmt: skip
    """The source's classes by some columns of the labelled vectors: by those of a node's levels below the top."""
    carried = [*_carried_of(ground, item), *more]
    if ground.by_person:
        carried.append({"name": "person", "value": identifier("person")})
    return _rows(ground, keys, carried, table)


def _rows(ground: Ground, keys: Sequence[Sql], carried: Sequence[Mapping[str, Any]], table: Relation) -> At:
    base = render(
        "verbs/certify/base", keys=list(keys), carried=list(carried), counted=Sql("row_count"), table=table,
        alias="labelled", filtered=ground.drops_nulls,
    )  # fmt: skip
    return At(base, len(keys), table)


def at_levels(ground: Ground, levels: Levels, carried: Sequence[Mapping[str, Any]]) -> At:
    """The source's rows by the numbers of their labels at a node, with some columns besides."""
    keys = [
        attribute.label(levels[attribute.name])
        for attribute in ground.attributes
        if levels[attribute.name] < attribute.height
    ]
    return _rows(ground, keys or [Sql("0")], carried, ground.rows)


def released_there(ground: Ground, levels: Levels, item: Definition) -> At:
    """The source's classes at a node that the release has: whose rows they are, it does not tell."""
    carried = [*_carried_of(ground, item), {"name": "person", "value": identifier("person")}]
    made = at_levels(ground, levels, carried)
    there = render(
        "verbs/certify/there", keys=made.names, carried=[one["name"] for one in carried], base=made.base,
        released=released_cells(ground, levels, []),
    )  # fmt: skip
    return At(there, made.keys, made.table)


def classes_of(ground: Ground, item: Definition, at: At) -> Sql:
    """Every class with its measure, and whether it satisfies."""
    size = size_of(ground) if "person" in at.base else Sql("SUM(row_count)")
    if item.kind in ("size", "personal_k", "risk"):
        return render(
            "verbs/certify/of_sizes", keys=at.names, size=size, base=at.base, per_row_k=item.kind == "personal_k",
            k=item.threshold if item.kind != "risk" else 1,
        )  # fmt: skip
    source, ordered = None, None
    if item.reference is not None:
        assert item.attribute is not None
        source = render(
            "verbs/certify/columns_of", alias="labelled", table=at.table,
            values=[identifier(ground.others[item.attribute]), *_counted(ground)],
            columns=["value", "person" if ground.by_person else "row_count"],
        )  # fmt: skip
        if item.kind == "order":
            ordered = placed(identifier("value"), ground.columns[item.attribute].labels)
    return judged_classes(item, at, size, source, by_person=ground.by_person, ordered=ordered)


def judged_classes(
    item: Definition, at: At, size: Sql, source: Sql | None, *, by_person: bool, ordered: Sql | None = None
) -> Sql:
    """Every class with its measure by the values of an attribute, and whether it satisfies.

    Args:
        item: what is asked.
        at: the classes.
        size: how many a group counts.
        source: the attribute's values in the source, where a definition compares with these.
        by_person: persons are counted.
        ordered: the place of a value in the order of all, where a definition needs it.
    """
    reference = None
    if item.reference is not None:
        reference = render(
            "verbs/certify/reference", size=size, compared=source if item.reference == "original" else at.base,
            judged=at.base if item.reference == "original" else None,
        )  # fmt: skip
        if item.kind == "order":
            assert ordered is not None
            ranked = render("verbs/certify/ranked", reference=reference, ordered=ordered)
            return render(
                "verbs/certify/of_order", keys=at.names, size=size, base=at.base, ranked=ranked,
                threshold=item.threshold,
            )  # fmt: skip
    numbers: dict[str, Any] = {"l": None, "tolerance": None, **item.numbers}
    return render(
        "verbs/certify/of_values", keys=at.names, kind=item.kind, size=size, base=at.base,
        by_person=by_person, reference=reference, least_size=item.least_size, threshold=item.threshold,
        comparison=Sql(item.comparison), chosen=item.values is not None, l=numbers["l"], tolerance=numbers["tolerance"],
    )  # fmt: skip


def _counted(ground: Ground) -> list[Sql]:
    return [identifier("person" if ground.by_person else "row_count")]


def released_cells(ground: Ground, levels: Levels, others: Sequence[str]) -> Sql:
    """The release by the numbers of its labels below the top, and some columns, as the source's rows are made."""
    keys = [
        {
            "index": attribute.index, "written": f"q{attribute.index}", "cell": attribute.cell,
            "level": levels[attribute.name], "labels": attribute.labels,
        }
        for attribute in ground.attributes
        if levels[attribute.name] < attribute.height
    ]  # fmt: skip
    return render("verbs/certify/numbered", keys=keys, others=list(others), release=ground.release)
