"""Populations beside tables: an oracle over rows, and random problems."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from tests.conftest import Database
from tests.oracles.model import Hierarchy, generalize, height_of, with_null
from tests.support.strategies import UNITS, hierarchies

Row = Mapping[str, Any]


def stands_for(cells: Sequence[Any], person: Row, tables: Mapping[str, Hierarchy]) -> bool:
    """Whether every cell is one of the labels of the person's value, or all of them are masked."""
    if all(cell in ("*", next(iter(table.values()))[-1]) for cell, table in zip(cells, tables.values(), strict=True)):
        return True
    return all(
        cell in with_null(table)[person[column]] for cell, (column, table) in zip(cells, tables.items(), strict=True)
    )


def persons_of(people: Sequence[Row], who: str | None) -> int:
    """How many persons they are: rows, or different ones in a column, where None is nobody."""
    return len(people) if who is None else len({person[who] for person in people} - {None})


def judged(
    rows: Sequence[Row], people: Sequence[Row], tables: Mapping[str, Hierarchy], unit: str | None, who: str | None
) -> list[tuple[int, int, int]]:
    """Per class: rows, records (rows or persons), persons of the population that it stands for."""
    members: dict[tuple[Any, ...], list[Any]] = {}
    for number, row in enumerate(rows):
        members.setdefault(tuple(row[c] for c in tables), []).append(number if unit is None else row[unit])
    return [
        (
            len(found),
            len(set(found) - {None}),
            persons_of([person for person in people if stands_for(cells, person, tables)], who),
        )
        for cells, found in members.items()
    ]


def move(people: Sequence[Row], tables: Mapping[str, Hierarchy], who: str | None) -> bool:
    """Whether rows of one person differ."""
    vectors: dict[Any, set[tuple[Any, ...]]] = {}
    for person in people if who is not None else ():
        vectors.setdefault(person[who], set()).add(tuple(person[c] for c in tables))
    return any(len(found) > 1 for person, found in vectors.items() if person is not None)


def several(rows: Sequence[Row], people: Sequence[Row], tables: Mapping[str, Hierarchy]) -> bool:
    classes = {tuple(row[c] for c in tables) for row in rows}
    return any(sum(stands_for(cells, person, tables) for cells in classes) > 1 for person in people)


def stored(database: Database, tables: Mapping[str, Hierarchy]) -> dict[str, Any]:
    """Write hierarchies as tables; returns the quasi-identifiers of a spec."""
    given = {}
    for column, table in tables.items():
        lines = list(table.values())
        database.table(f"h_{column}", [f"level {n}" for n in range(len(lines[0]))], lines)
        given[column] = {"table": f"h_{column}"}
    return given


@st.composite
def released(draw: st.DrawFn) -> dict[str, Any]:
    rng = random.Random(draw(st.integers(0, 10_000)))
    tables = {f"q{i}": draw(hierarchies()) for i in range(draw(st.integers(1, 3)))}
    nulls = draw(st.booleans())
    cells = {c: [*table, *([None] if nulls else [])] for c, table in tables.items()}
    unit = draw(st.sampled_from([None, "unit"]))

    units = draw(st.sampled_from([UNITS, [*UNITS, None]]))

    def person() -> dict[str, Any]:
        return {**{c: rng.choice(values) for c, values in cells.items()}, "unit": rng.choice(units)}

    people = [person() for _ in range(draw(st.integers(0, 25)))]
    inside = rng.sample(people, rng.randint(0, len(people)))
    strangers = [person() for _ in range(draw(st.sampled_from([0, 0, 2])))]
    nodes = [
        tuple(rng.randint(0, height_of(table)) for table in tables.values()) for _ in range(draw(st.integers(1, 3)))
    ]
    rows = []
    for row in [*inside, *strangers]:
        (vector,) = generalize([row], tables, rng.choice(nodes))
        rows.append({**dict(zip(tables, vector or (), strict=True)), "unit": row["unit"]})
    if draw(st.sampled_from([False, False, True])):
        rows += [{**dict.fromkeys(tables, "*"), "unit": "u1"}] * 2
    who = draw(st.sampled_from([None, "unit"]))
    if draw(st.booleans()):  # rows of one person are alike
        first: dict[Any, dict[str, Any]] = {}
        people = [{**first.setdefault(person["unit"], person)} for person in people]
    return {"tables": tables, "people": people, "rows": rows, "unit": unit, "who": who}


@st.composite
def to_release(draw: st.DrawFn) -> dict[str, Any]:
    rng = random.Random(draw(st.integers(0, 10_000)))
    tables = {f"q{i}": draw(hierarchies(max_height=2)) for i in range(draw(st.integers(1, 2)))}
    nulls = draw(st.booleans())
    cells = {c: [*table, *([None] if nulls else [])] for c, table in tables.items()}
    unit = draw(st.sampled_from([None, None, "unit"]))
    people = [{c: rng.choice(values) for c, values in cells.items()} for _ in range(draw(st.integers(4, 25)))]
    who = draw(st.sampled_from([None, "who", "unit"]))
    strangers = [
        {c: rng.choice(values) for c, values in cells.items()} for _ in range(draw(st.sampled_from([0, 0, 1])))
    ]
    rows = [*rng.sample(people, rng.randint(2, min(12, len(people)))), *strangers]
    few = draw(st.booleans())
    rows = [{**row, "unit": rng.choice(UNITS) if few else f"p{number}"} for number, row in enumerate(rows)]
    if who is not None:
        people = [{**person, who: rng.choice([*UNITS, *"vwxyz", None])} for person in people]
    requirement = draw(
        st.one_of(
            st.builds(lambda k: {"k_map": {"population": "census", "k": k}}, st.integers(1, 6)),
            st.builds(
                lambda most: {"delta_presence": {"population": "census", "delta_max": most}},
                st.sampled_from([0.3, 0.5, 0.7, 1.0]),
            ),
            st.builds(
                lambda least: {"delta_presence": {"population": "census", "delta_min": least, "delta_max": 0.9}},
                st.sampled_from([0.05, 0.2, 0.4]),
            ),
        )
    )
    limit = draw(st.sampled_from([0, 0, 2, 4]))
    return {
        "tables": tables, "people": people, "rows": rows, "unit": unit, "requirement": requirement, "limit": limit,
        "algorithm": draw(st.sampled_from(["optimal", "incognito", "samarati", "exhaustive"])), "who": who,
    }  # fmt: skip


def clinic(database: Database) -> dict[str, Any]:
    """Two classes of a release, of 2 and 1 rows, that stand for 3 and 2 persons of six."""
    people = [("a", 21), ("a", 22), ("a", 25), ("b", 35), ("b", 36), ("c", 35)]
    database.table("census", {"q": "VARCHAR", "age": "INTEGER"}, people)
    database.table("people", {"q": "VARCHAR", "age": "INTEGER"}, [people[0], people[1], people[3]])
    database.table("released", ["q", "age"], [("a", "[20, 30)"), ("a", "[20, 30)"), ("b", "[30, 40)")])
    return {
        "version": 1, "source": "people", "release": "released",
        "quasi_identifiers": {"q": None, "age": {"intervals": [10]}},
    }  # fmt: skip
