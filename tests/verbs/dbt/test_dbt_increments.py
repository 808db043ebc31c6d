"""A release that grows as dbt models, run as ``dbt build`` would: what every day adds is what plain Python adds."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import kanon_sql
from kanon_sql.errors import SpecError
from kanon_sql.verbs.dbt.growing import growing_obstacles
from kanon_sql.verbs.dbt.project import dbt
from tests.conftest import Database, quoted
from tests.oracles.increments import Growing, Promise, Row
from tests.release.test_refresh_sequences import COLUMNS, DISEASES, PROMISES, ZIPS, spec_of
from tests.support.dbt_macros import CompilerError, Dbt, Relation
from tests.support.strategies import TIMES
from tests.verbs.dbt.test_dbt_macros import package

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
        self.insert(rows, fresh=True)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "dbt_project.yml").write_text("name: clinic\n")
        result = dbt(database.engine, spec, folder, source="ref('visits')")
        assert result.plan.node is not None
        self.node = result.plan.node
        self.texts = {path.stem: path.read_text() for path in result.files if path.suffix == ".sql"}
        (properties,) = (path for path in result.files if path.suffix == ".yml")
        self.properties = YAML(typ="safe").load(properties.read_text())
        self.said: list[str] = []
        self.warned: list[str] = []

    def insert(self, rows: Sequence[Row], *, fresh: bool = False) -> None:
        if fresh:
            self.database.table("visits", TYPES, [])
        for row in rows:
            values = [row[name] for name in COLUMNS]
            self.database.connection.execute(f"INSERT INTO visits VALUES ({', '.join('?' * len(values))})", values)

    def package(self, **options: Any) -> Dbt:
        made = package(self.database, **options)
        for name in ("visits", "release__sex", *self.texts):
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
        self.warned = made.warned

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
            "person": draw.choice(
                [f"p{draw.randrange(12)}"] * 3
                + [f"q{number}"] * 6
                + [None] * (promise.unit and not promise.protects_values)
            ),
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


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["more rows", "persons", "persons' values"])
def test_days_that_are_built_are_what_plain_python_adds(database: Database, tmp_path: Path, name: str) -> None:
    assert_grows_as_promised(database, tmp_path, 1, PROMISES[name], 3)


@pytest.mark.slow
@pytest.mark.parametrize("promise", PROMISES.values(), ids=PROMISES)
@pytest.mark.sampled(6)
def test_many_sequences_of_days(database: Database, tmp_path: Path, promise: Promise) -> None:
    """With KANON_EXAMPLES, so many times 2 sequences each."""
    for seed in range(100, 100 + 2 * max(1, TIMES)):
        assert_grows_as_promised(database, tmp_path / str(seed), seed, promise, 4)


# --- What stops a build -----------------------------------------------------------------------------


def row(rid: int, day: int | None, zipped: str, person: str | None = None, disease: str | None = "flu") -> Row:
    found = {"rid": rid, "day": day, "person": person or f"q{rid}", "zip": zipped, "sex": "F", "disease": disease}
    return found


FIRST = [row(rid, 1, "111") for rid in range(1, 5)]


@pytest.fixture
def building(database: Database, tmp_path: Path) -> Building:
    """A release that was begun: four rows of a place."""
    found = Building(database, specified(PROMISES["rows"]), tmp_path, FIRST)
    found.build()
    assert found.seen() == dict.fromkeys(range(1, 5), ("111", "F"))
    return found


def refused(building: Building, message: str, **options: Any) -> None:
    before = building.snapshot()
    with pytest.raises(CompilerError, match=message):
        building.grow(**options)
    assert building.snapshot() == before


@pytest.mark.slow
def test_rows_wait_until_enough_like_them_are_new(building: Building) -> None:
    """However many of their kind stand already; and what waits is no part of the release."""
    building.insert([row(5, 2, "111"), row(6, 2, "222")])
    building.build()
    assert set(building.seen()) == {1, 2, 3, 4}
    assert building.count("waiting") == 2
    assert "added 0 rows, verified separately; 2 rows wait" in building.said[0]
    building.insert([row(7, 3, "111")])
    building.build()
    assert set(building.seen()) == {1, 2, 3, 4, 5, 7}
    assert building.count("waiting") == 1
    assert building.database.columns("release") == ["rid", "zip", "sex", "disease"]
    assert building.database.rows("release__state")[-1][2:] == (3, 1, 2)


@pytest.mark.slow
def test_too_many_rows_that_wait_are_warned_of(database: Database, tmp_path: Path) -> None:
    building = Building(database, specified(PROMISES["rows"], limit=0.1), tmp_path, FIRST)
    building.build()
    assert building.warned == []
    building.insert([row(5, 2, "222")])
    building.build()
    assert len(building.warned) == 1
    assert "1 rows wait, more than the suppression limit 0.1 of 5" in building.warned[0]
    assert "1 rows wait, more than the suppression limit 0.1 of 5: the levels do not fit" in building.said[0]


@pytest.mark.slow
def test_rows_of_known_persons(database: Database, tmp_path: Path) -> None:
    """They count for nobody; where values are protected they wait for good, and a null of theirs is no reason lost."""
    for name, released in (
        ("persons", {1, 2, 3, 4, 5, 6, 7}),
        ("persons' values", {1, 2, 3, 4, 6, 7}),
    ):
        rows = [row(rid, 1, "111", disease=["flu", "cold"][rid % 2]) for rid in range(1, 5)]
        building = Building(database, specified(PROMISES[name]), tmp_path / name, rows)
        building.build()
        building.insert([row(5, 2, "111", "q1"), row(6, 2, "111")])
        building.build()
        assert set(building.seen()) == {1, 2, 3, 4}
        building.insert([row(7, 3, "111", disease="cold")])
        building.build()
        assert set(building.seen()) == released
        stored = database.connection.execute("SELECT rid, person, kanon_left_out FROM release__waiting").fetchall()
        assert stored == ([] if name == "persons" else [(5, "q1", None)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "first", "again"),
    [
        ("DOUBLE", "0", "-0.0"),
        ("TIMESTAMPTZ", "2020-01-01 00:00:00+00", "2020-01-01 09:00:00+09"),
        ("DECIMAL(9, 2)", "1.50", "1.5"),
    ],
)
def test_a_person_is_known_again_however_the_key_is_written(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, first: str, again: str
) -> None:
    """0 and -0 are one number, and a time is shown in the zone of each session."""
    monkeypatch.setitem(TYPES, "person", kind)
    other = first.replace("2020", "202{}") if "T" in kind else "{}0"
    rows = [row(rid, 1, "111", first if rid == 1 else other.format(rid), "flu") for rid in range(1, 5)]
    building = Building(database, specified(PROMISES["persons"]), tmp_path, rows)
    building.build()
    assert set(building.seen()) == {1, 2, 3, 4}
    database.connection.execute("SET TimeZone = 'Asia/Tokyo'")
    building.insert([row(5, 2, "111", again), row(6, 2, "111", other.format(6))])
    building.build()
    assert set(building.seen()) == {1, 2, 3, 4}, "of two persons one is known"
    assert building.count("persons") == 4


@pytest.mark.slow
def test_a_key_of_another_kind_is_refused(database: Database, tmp_path: Path) -> None:
    rows = [row(rid, 1, "111", str(rid)) for rid in range(1, 5)]
    building = Building(database, specified(PROMISES["persons"]), tmp_path, rows)
    building.build()
    database.connection.execute("ALTER TABLE visits ALTER person TYPE DOUBLE")
    with pytest.raises(CompilerError, match=r"'person' is compared as a binary fraction now, .* remembered as text"):
        building.day()
    database.connection.execute("ALTER TABLE visits ALTER person TYPE INTERVAL USING to_days(person::INTEGER)")
    with pytest.raises(CompilerError, match="equal values of 'person', INTERVAL, may be written in several ways"):
        building.day()


@pytest.mark.slow
def test_a_full_refresh_is_refused(building: Building) -> None:
    building.insert([row(5, 2, "111"), row(6, 2, "111")])
    building.day()
    refused(building, "--full-refresh is refused: .* could be compared with what readers have", full_refresh=True)


@pytest.mark.slow
def test_the_release_alone_is_built_twice(building: Building) -> None:
    """The rows of the day are those of the last build."""
    before = building.snapshot()
    building.grow()
    assert building.snapshot() == before
    assert "were taken before" in building.said[0]
    building.insert([row(5, 1, "111"), row(6, None, "111")])
    building.day()
    refused(building, "1 rows have no watermark")


@pytest.mark.slow
def test_a_value_that_no_hierarchy_covers(database: Database, tmp_path: Path) -> None:
    (tmp_path / "sex.csv").write_text("F;any\nM;any\n")
    quasi = {"zip": {"prefix": [2, 1]}, "sex": {"file": str(tmp_path / "sex.csv")}}
    spec = specified(PROMISES["rows"], quasi_identifiers=quasi)
    database.table("release__sex", ["value", "level_1"], [("F", "any"), ("M", "any")])
    building = Building(database, spec, tmp_path / "project", FIRST)
    building.build()
    building.insert([{**row(5, 2, "111"), "sex": "Qwyjibo"}, row(6, 2, "111"), row(7, 2, "111")])
    building.day()
    refused(building, r"sex: no generalization in the hierarchy \(1 rows\)")
    assert building.failures() == ["release__labelled: kanon_sql.all_covered"]


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DROP TABLE release__state", "was never made, while .* stands: what was released is not known"),
        ("DROP TABLE release", "is gone or was never made"),
        ("DELETE FROM release WHERE rid = 1", "has 3 rows, and 4 were added: it was changed by another program"),
        ("UPDATE release__state SET promise = 'another'", "was begun with other levels, hierarchies"),
        (
            "CREATE OR REPLACE VIEW release__candidate AS SELECT * FROM release__labelled",
            "1 classes violate 2-anonymity; nothing was changed",
        ),
    ],
)
def test_what_is_not_as_it_was_left(building: Building, statement: str, message: str) -> None:
    building.insert([row(5, 2, "222")])
    building.day()
    building.database.connection.execute(statement)
    refused(building, message)


@pytest.mark.slow
def test_a_release_that_cannot_begin(database: Database, tmp_path: Path) -> None:
    building = Building(database, specified(PROMISES["rows"]), tmp_path, FIRST)
    building.day()
    database.connection.execute("UPDATE release__labelled SET kanon_batch = 2")
    refused(building, "is of a state that is gone; nothing was published")
    building.insert([], fresh=True)
    building.day()
    refused(building, "has no rows to begin with")
    elsewhere = Dbt("spark", lambda _: [])
    with pytest.raises(
        CompilerError, match="spark changes no two tables in one transaction; run kanon-sql release refresh"
    ):
        elsewhere.grow(Relation("release"), Relation("release__labelled"), "", {})


# --- What is not written ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"increments": None}, "increments.watermark: missing; a build takes the rows above the last one"),
        ({"increments": {"watermark": "day", "on_drift": "coarsen"}}, "on_drift: coarsen changes the levels"),
        ({"increments": {"watermark": "day", "on_drift": "research"}}, "on_drift: research changes the levels"),
        ({"increments": {"watermark": "person"}}, "'person' is of type VARCHAR; expected whole numbers"),
        ({"increments": {"watermark": "week"}}, "the source has no column 'week'"),
        ({"increments": {"watermark": "{day"}}, "the name holds a brace"),
        ({"state": {"schema": "clinic.kanon_state"}}, "state.schema: expected a plain schema name"),
        ({"keep": ["kanon_rid"]}, "a column's name begins with kanon_"),
        (
            {"privacy": [{"p_sensitive_k_anonymity": {"attribute": "disease", "p": 2, "k": 2}}]},
            "cannot test p_sens",
        ),
    ],
)
def test_what_cannot_grow_in_dbt(database: Database, tmp_path: Path, changes: Mapping[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Building(database, specified(PROMISES["rows"], **changes), tmp_path, FIRST)
    assert [path.name for path in tmp_path.rglob("*")] == ["dbt_project.yml"]


def test_engines_that_change_no_two_tables_at_once() -> None:
    (problem,) = growing_obstacles(specified(PROMISES["rows"]), "spark")
    assert "in one transaction only on duckdb and postgres, not on spark" in str(problem)
    assert list(growing_obstacles(specified(PROMISES["rows"]), "postgres")) == []


@pytest.mark.slow
def test_models_of_a_release_that_grows_are_not_written_over(database: Database, tmp_path: Path) -> None:
    spec = specified(PROMISES["rows"])
    still = kanon_sql.Spec.from_dict({**spec.to_dict(), "state": None, "increments": None})
    Building(database, spec, tmp_path / "growing", FIRST)
    for again in (spec, still):
        with pytest.raises(SpecError, match="belongs to a growing release, whose levels must not"):
            dbt(database.engine, again, tmp_path / "growing")
    (tmp_path / "still").mkdir()
    (tmp_path / "still" / "dbt_project.yml").write_text("name: clinic\n")
    for _ in range(2):
        dbt(database.engine, still, tmp_path / "still")
    with pytest.raises(SpecError, match="belongs to a release that every build"):
        dbt(database.engine, spec, tmp_path / "still")
