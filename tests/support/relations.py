"""The tables of random worlds and of baskets, and the specs that release them together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kanon_sql import RelationalSpec
from kanon_sql.testing import Subject
from tests.oracles.relations import World

ENGINES = ["postgres", "sqlite", "mariadb", "clickhouse", "spark"]


def make(subject: Subject, world: World) -> None:
    """The tables of a world: key, key of the parent, and codes."""
    for table in world.tables.values():
        keys = {"id": "integer"} if table.above is None else {"id": "integer", "above": "integer"}
        rows = [(row[0], *row[2:]) if table.above is None else row for row in table.rows]
        subject.drop(f"t_{table.name}")
        subject.table(f"t_{table.name}", {**keys, **dict.fromkeys(table.columns, "text")}, rows)


def spec_of(world: World, recoding: str, k: int, m: int | str, **more: Any) -> RelationalSpec:
    def columns(name: str) -> dict[str, Any]:
        return {column: {"prefix": [1]} for column in world.tables[name].columns}

    tables = {}
    for table in list(world.tables.values())[1:]:
        refers = {"person": "above"} if table.above == "person" else {"parent": table.above, "by": "above"}
        tables[table.name] = {
            "table": f"t_{table.name}",
            "key": "id",
            **refers,
            "quasi_identifiers": columns(table.name),
        }
    return RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {
                "table": "t_person",
                "name": "person",
                "key": "id",
                "quasi_identifiers": columns("person"),
            },
            "tables": tables,
            "privacy": [{"km_anonymity": {"k": k, "m": m}}],
            "recoding": recoding,
            **more,
        }
    )


def released(subject: Subject, world: World, schema: str) -> tuple[list[Any], dict[str, tuple[str, list[Any]]]]:
    """What was released of each table, for the oracle."""

    def rows(name: str) -> list[Any]:
        table = world.tables[name]
        keys = ["id"] if table.above is None else ["id", "above"]
        names = ", ".join([*keys, *table.columns])
        return subject.fetch(f"SELECT {names} FROM {schema}{name}")

    others = {name: (str(table.above), rows(name)) for name, table in world.tables.items() if table.above is not None}
    return rows("person"), others


def asked_of(seed: int) -> tuple[int, int | str]:
    return 2 + seed % 2, (1, 2, 0, 1, 3, "all")[seed % 6]


def place(subject: Subject) -> dict[str, Any]:
    """Where a test releases to: SQLite has one schema, and some engines publish in steps only."""
    return {"schema": ["main"] if subject.name == "sqlite" else list(subject.schema("released")), "publish": "in_steps"}


def baskets(subject: Subject, rows: Sequence[tuple[int, str]], persons: int) -> None:
    subject.table("buyers", {"id": "integer"}, [(number,) for number in range(1, persons + 1)])
    subject.table("items", {"buyer": "integer", "item": "text"}, rows)


def basket_spec(k: int, m: int, **more: Any) -> RelationalSpec:
    return RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {"table": "buyers", "key": "id"},
            "tables": {"items": {"person": "buyer", "quasi_identifiers": {"item": {"maximum_level": 0}}}},
            "privacy": [{"km_anonymity": {"k": k, "m": m}}],
            **more,
        }
    )
