"""A release that grows as dbt models, run as ``dbt build`` would: what every day adds is what plain Python adds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import Database, quoted
from dbt_macros import Dbt, Relation
from increments_oracle import Growing, Promise, Row
from ruamel.yaml import YAML
from test_dbt_macros import package
from test_refresh_sequences import COLUMNS, DISEASES, PROMISES, ZIPS, spec_of

import kanon_sql
from kanon_sql.verbs.dbt.project import dbt

RELEASE = "release"

TYPES = {**dict.fromkeys(COLUMNS, "VARCHAR"), "rid": "INTEGER", "day": "INTEGER"}


def specified(promise: Promise, nulls: str = "value", limit: float = 1.0, **changes: Any) -> kanon_sql.Spec:
    spec = spec_of(promise, "hold", limit, nulls, RELEASE, "kanon_state").to_dict()
    return kanon_sql.Spec.from_dict({**spec, **changes})


class Building:
    """A project with a release that grows, over a DuckDB database."""

    def __init__(self, database: Database, spec: kanon_sql.Spec, folder: Path, rows: Sequence[Row]) -> None:
        self.database = database
        for name in ("release", *(f"release__{item}" for item in ("labelled", "waiting", "state", "persons"))):
            database.connection.execute(f"DROP TABLE IF EXISTS {name}")
        database.connection.execute("DROP VIEW IF EXISTS release__candidate")
        self.insert(rows, anew=True)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "dbt_project.yml").write_text("name: clinic\n")
        result = dbt(database.engine, spec, folder, source="ref('visits')")
        assert result.plan.node is not None
        self.node = result.plan.node
        self.texts = {path.stem: path.read_text() for path in result.files if path.suffix == ".sql"}
        (properties,) = (path for path in result.files if path.suffix == ".yml")
        self.properties = YAML(typ="safe").load(properties.read_text())
        self.said: list[str] = []

    def insert(self, rows: Sequence[Row], *, anew: bool = False) -> None:
        if anew:
            self.database.table("visits", TYPES, [])
        for row in rows:
            values = [row[name] for name in COLUMNS]
            self.database.connection.execute(f"INSERT INTO visits VALUES ({', '.join('?' * len(values))})", values)

    def package(self, **options: Any) -> Dbt:
        made = package(self.database, **options)
        for name in ("visits", *self.texts):
            made.place(name, quoted(name))
        return made

    def day(self) -> None:
        """The first two models."""
        for name, kind in (("release__labelled", "TABLE"), ("release__candidate", "VIEW")):
            self.database.connection.execute(
                f"CREATE OR REPLACE {kind} {name} AS {self.package().model(self.texts[name])}"
            )

    def grow(self, **options: Any) -> None:
        """The release, in one transaction."""
        made = self.package(**options)
        sql = made.model(self.texts["release"])
        assert made.options["materialized"] == "kanon_sql_increment"
        asked = made.options["meta"]["kanon_sql_increment"]
        connection = self.database.connection
        connection.execute("BEGIN")
        try:
            made.grow(Relation("release", "release"), Relation("release__labelled"), sql, asked)
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
        self.said = made.logged

    def build(self, **options: Any) -> None:
        self.day()
        self.grow(**options)
        assert self.failures() == []

    def failures(self) -> list[str]:
        """The tests of the project that fail."""
        found = []
        for node in self.properties["models"]:
            for test in node.get("data_tests", []):
                ((name, body),) = test.items() if isinstance(test, dict) else [(test, {"arguments": {}})]
                sql = self.package().test(
                    name.removeprefix("kanon_sql."), Relation(quoted(node["name"])), **body["arguments"]
                )
                if self.database.connection.execute(sql).fetchall():
                    found.append(f"{node['name']}: {name}")
        return found

    def seen(self) -> dict[int, tuple[Any, ...]]:
        found = self.database.connection.execute("SELECT rid, zip, sex FROM release").fetchall()
        assert len({rid for rid, *_ in found}) == len(found)
        return {rid: tuple(cells) for rid, *cells in found}

    def count(self, table: str) -> int:
        return len(self.database.rows(f"release__{table}"))

    def snapshot(self) -> list[list[Any]]:
        kept = ("release", "release__waiting", "release__state", "release__persons")
        tables = [name for name in self.database.tables() if name in kept]
        return [sorted(map(str, self.database.rows(name))) for name in tables]


def rows_of(draw: random.Random, promise: Promise, first: int, day: int, count: int) -> list[Row]:
    return [
        {
            "rid": number,
            "day": day,
            "person": draw.choice([f"p{draw.randrange(12)}"] * 3 + [f"q{number}"] * 6 + [None] * promise.unit),
            "zip": draw.choice([*ZIPS, *ZIPS, None]),
            "sex": draw.choice(["F", "M", "F", "M", None]),
            "disease": draw.choice(DISEASES),
        }
        for number in range(first, first + count)
    ]


def assert_grows_as_promised(database: Database, folder: Path, seed: int, promise: Promise, days: int) -> None:
    draw = random.Random(seed)
    nulls = draw.choice(["value", "value", "suppress"])
    rows = rows_of(draw, promise, 1, 1, draw.randrange(8, 30))
    try:
        building = Building(database, specified(promise, nulls, 0.6), folder, rows)
    except AssertionError:
        return  # no levels satisfy
    growing = Growing(promise, 1.0, tuple(building.node.values()), nulls == "suppress")
    for day in range(2, days + 2):
        growing.take(rows)
        if rows:
            growing.add(growing.node)
        building.build()
        growing.see(building.seen())
        assert building.count("waiting") == len(growing.waiting)
        if promise.unit:
            assert {name for (name,) in database.rows("release__persons")} == growing.known
        before = building.snapshot()
        building.build()  # the same day twice
        assert building.snapshot() == before
        assert "nothing was changed" in building.said[0]
        rows = rows_of(draw, promise, 100 * day, day, draw.randrange(0, 12))
        building.insert(rows)


@pytest.mark.parametrize("promise", PROMISES.values(), ids=PROMISES)
def test_days_that_are_built_are_what_plain_python_adds(database: Database, tmp_path: Path, promise: Promise) -> None:
    for seed in range(2):
        assert_grows_as_promised(database, tmp_path / str(seed), seed, promise, 4)


@pytest.mark.slow
@pytest.mark.parametrize("promise", PROMISES.values(), ids=PROMISES)
def test_many_sequences_of_days(database: Database, tmp_path: Path, promise: Promise) -> None:
    for seed in range(100, 112):
        assert_grows_as_promised(database, tmp_path / str(seed), seed, promise, 5)
