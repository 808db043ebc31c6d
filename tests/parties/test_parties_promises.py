"""What parties are refused, what happens when something fails, and what they are told."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import jsonschema
import pytest

import kanon_sql
from kanon_sql.engines import Engine, Workspace
from kanon_sql.errors import DatabaseError, InternalError, SpecError, UnsupportedError, VerificationError
from kanon_sql.parties import holder, horizontal, site, vertical
from kanon_sql.report.json import parties_schema
from kanon_sql.sql import Statement
from kanon_sql.sql.dialects import dialect_named
from tests.support.command_line import run
from tests.support.sites import COLUMNS, NORTH, SOUTH, SPEC, Spy, site_of, spec

# --- Hashes ---

RFC_4231 = [
    (b"\x0b" * 20, "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    (b"Jefe", "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
]
"""Test cases 1 and 2 of RFC 4231, section 4."""


def test_keyed_hashes_are_hmac_sha256(engines: list[Engine], tmp_path: Path) -> None:
    sqlite = kanon_sql.connect(f"sqlite:///{tmp_path / 'hashes.db'}")
    cases = [
        *RFC_4231,
        *((b"k" * n, text, None) for n in (1, 32, 64) for text in ("", "ä€\U0001f600", "it's", "a" * 99)),
    ]
    with sqlite:
        for engine in (engines[0], sqlite):
            for key, text, expected in cases:
                hashed = engine.dialect.keyed_hash(engine.dialect.literal(text), key)
                ((found,),) = engine.fetch(Statement("hashes", f"SELECT {hashed} AS found"), 1)
                assert found == (expected or hmac.digest(key, text.encode(), "sha256").hex())


def test_engines_whose_hash_was_not_tried_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="snowflake: keyed hashes were not tried"):
        dialect_named("snowflake").keyed_hash("x", b"k")


# --- What is refused ---


@pytest.mark.sampled(18)
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"unit": "id", "identifiers": []}, "unit: a person with rows at several parties"),
        ({"recoding": "local"}, "recoding: local"),
        ({"recoding": {"method": "full_domain", "save_as": "kept"}}, "recoding.save_as"),
        ({"ledger": "kanon_sql_ledger"}, "ledger: releases are compared"),
        ({"suppression": {"max_rows": 4, "style": "mask"}}, "suppression.style: mask"),
        ({"source": {"file": "people.parquet"}}, "one file would be read for every party"),
        ({"search": {"algorithm": "datafly", "metric": "precision"}}, "search.algorithm: datafly"),
        ({"search": {"algorithm": "greedy", "metric": "precision"}}, "search.algorithm: greedy"),
        ({"search": {"algorithm": "top_down", "metric": "average_class_size"}}, "which bounds the metric"),
        ({"search": {"algorithm": "samarati", "metric": "precision", "distance_vectors": True}}, "vectors and variant"),
        ({"search": {}}, "search.metric: loss"),
        ({"search": {"metric": "entropy"}}, "search.metric: entropy"),
        ({"quasi_identifiers": {"job": {"table": "jobs"}}}, "a hierarchy in a table"),
        ({"privacy": [{"l_diversity": {"attribute": "ill", "l": 2, "variant": "entropy"}}]}, "is judged by values"),
        ({"privacy": [{"l_diversity": {"attribute": "ill", "l": 2, "quasi_identifiers": ["job"]}}]}, "other columns"),
        ({"privacy": [{"k_anonymity": {"k": 3, "quasi_identifiers": ["job"]}}]}, "classes of other columns"),
        ({"privacy": [{"k_anonymity": {"column": "ill", "default": 3}}]}, "is judged by values"),
    ],
)
def test_what_parties_cannot_do_is_refused_before_anything_is_read(
    engines: list[Engine], changes: dict[str, Any], said: str, spy: Spy
) -> None:
    with pytest.raises(UnsupportedError, match=re.escape(said)):
        kanon_sql.plan_parties(engines, spec(**changes))
    assert not [name for _, name, _ in spy.sent if not name.startswith("engines/")]


def test_options_that_contradict_each_other_are_refused(engines: list[Engine]) -> None:
    for options, said in [
        ({"key": "id"}, "--key: only for a vertical split"),
        ({"split": "vertical"}, "--key: a vertical split needs"),
        ({"split": "diagonal"}, "--split diagonal"),
    ]:
        with pytest.raises(SpecError, match=said):
            kanon_sql.plan_parties(engines, spec(), **options)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="two databases, got 1"):
        kanon_sql.plan_parties(engines[:1], spec())
    for at, said in ((0, "--at 0"), (3, "--at 3"), (2, "every party publishes its own part")):
        with pytest.raises(SpecError, match=said):
            kanon_sql.anonymize_parties(engines, spec(), at=at)
    with pytest.raises(SpecError, match="release: missing"):
        kanon_sql.anonymize_parties(engines, spec(release=None))


@pytest.mark.slow
def test_columns_of_other_kinds_are_refused(engines: list[Engine]) -> None:
    numbers = duckdb.connect()
    numbers.execute("CREATE TABLE people (job INTEGER, town VARCHAR, ill VARCHAR, id VARCHAR)")
    with pytest.raises(SpecError, match="the column is VARCHAR at party 1 and INTEGER at party 2"):
        kanon_sql.plan_parties([engines[0], kanon_sql.connect(numbers)], spec())


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("one", "two"),
    [("INTEGER", "DECIMAL(6, 1)"), ("DECIMAL(6, 1)", "DECIMAL(6, 2)"), ("VARCHAR", "DOUBLE"), ("BOOLEAN", "INTEGER")],
)
def test_one_sensitive_value_of_two_types_is_not_two_values(one: str, two: str) -> None:
    """A class of four rows with the value 1 was taken for one of two values, 1 and 1.0 (or true)."""
    connections = [duckdb.connect(), duckdb.connect()]
    for connection, kind in zip(connections, (one, two), strict=True):
        connection.execute(f"CREATE TABLE people (job VARCHAR, town VARCHAR, ill {kind}, id VARCHAR)")
        connection.execute("INSERT INTO people SELECT 'cook', 'rome', 1, i FROM range(4) AS t(i)")
    asked = spec(
        privacy=[{"k_anonymity": {"k": 2}}, {"l_diversity": {"attribute": "ill", "l": 2, "variant": "distinct"}}]
    )
    engines = [kanon_sql.connect(connection) for connection in connections]
    with pytest.raises(SpecError, match="the same value may have different texts and count twice"):
        kanon_sql.plan_parties(engines, asked)
    connections[1].execute(f"ALTER TABLE people ALTER ill TYPE {one} USING CAST(1 AS {one})")
    assert not kanon_sql.plan_parties(engines, asked).passed


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("kinds", "values"),
    [
        (("REAL", "DOUBLE"), ("0.1", "CAST(CAST(0.1 AS REAL) AS DOUBLE)")),
        (("DOUBLE", "DOUBLE"), ("CAST('nan' AS DOUBLE)", "-CAST('nan' AS DOUBLE)")),
    ],
)
def test_one_binary_fraction_of_two_texts_is_not_two_values(kinds: Sequence[str], values: Sequence[str]) -> None:
    """Equal numbers, whose texts differ: a class of one value was published as one of two."""
    connections = [duckdb.connect(), duckdb.connect()]
    for connection, kind, value in zip(connections, kinds, values, strict=True):
        connection.execute(f"CREATE TABLE people (job VARCHAR, town VARCHAR, ill {kind}, id VARCHAR)")
        connection.execute(f"INSERT INTO people SELECT 'cook', 'rome', {value}, i FROM range(4) AS t(i)")
    asked = spec(
        privacy=[{"k_anonymity": {"k": 2}}, {"l_diversity": {"attribute": "ill", "l": 2, "variant": "distinct"}}]
    )
    with pytest.raises(SpecError, match="the same value may have different texts and count twice"):
        kanon_sql.plan_parties([kanon_sql.connect(connection) for connection in connections], asked)


def test_binary_fractions_of_one_party_are_not_counted_either() -> None:
    """Of a vertical split, where one party has both a NaN and its negative."""
    one, two = duckdb.connect(), duckdb.connect()
    one.execute("CREATE TABLE people AS SELECT 'cook' AS job, i AS id FROM range(4) AS t(i)")
    one.execute("ALTER TABLE people ALTER id TYPE VARCHAR")
    two.execute(
        "CREATE TABLE people AS SELECT CAST(i AS VARCHAR) AS id, 'rome' AS town, "
        "CASE WHEN i < 2 THEN 1 ELSE -1 END * CAST('nan' AS DOUBLE) AS ill FROM range(4) AS t(i)"
    )
    asked = spec(
        privacy=[{"k_anonymity": {"k": 2}}, {"l_diversity": {"attribute": "ill", "l": 2, "variant": "distinct"}}]
    )
    with pytest.raises(SpecError, match="the same value may have different texts and count twice"):
        kanon_sql.plan_parties([kanon_sql.connect(one), kanon_sql.connect(two)], asked, split="vertical", key="id")


@pytest.mark.slow
def test_one_database_is_one_party(
    engines: list[Engine], connections: list[duckdb.DuckDBPyConnection], tmp_path: Path
) -> None:
    with pytest.raises(SpecError, match="party 1 and party 2 are the same database"):
        kanon_sql.plan_parties([engines[0], engines[0]], spec())
    path = tmp_path / "one.db"
    with (
        kanon_sql.connect(f"sqlite:///{path}") as one,
        kanon_sql.connect(f"sqlite:///{path}") as other,
        pytest.raises(SpecError, match="are the same database"),
    ):
        kanon_sql.plan_parties([one, other], spec())
    # Where the label does not tell, what one has written the other one sees.
    twice = [kanon_sql.connect(connections[0].cursor()), kanon_sql.connect(connections[0].cursor())]
    with pytest.raises((SpecError, DatabaseError), match="are the same database"):
        kanon_sql.anonymize_parties(twice, spec())
    assert (
        connections[0].execute("SELECT table_name FROM duckdb_tables() WHERE table_name = 'released'").fetchall() == []
    )


@pytest.mark.parametrize(
    ("tables", "changes", "key", "said"),
    [
        ([("job",), ("town", "ill", "id")], {}, "id", "party 1 has no such column"),
        ([("job", "id"), ("town", "id")], {}, "id", "ill: the column is at no party"),
        ([("job", "ill", "id"), ("town", "ill", "id")], {}, "id", "ill: the column is at party 1 and party 2"),
        ([("job", "town", "id"), ("ill", "id")], {}, "id", "party 2 has no quasi-identifier"),
        ([("job", "id"), ("town", "ill", "id")], {"identifiers": []}, "id", "one of the spec's identifiers"),
        ([("job", "id"), ("town", "ill", "id")], {"nulls": "suppress"}, "id", "nulls: suppress"),
    ],
)
def test_vertical_splits_that_do_not_fit_are_refused(
    tables: list[tuple[str, ...]], changes: dict[str, Any], key: str, said: str
) -> None:
    engines = [kanon_sql.connect(site_of([["x"] * len(columns)] * 3, columns)) for columns in tables]
    with pytest.raises((SpecError, UnsupportedError), match=re.escape(said).replace("party\\ 1\\ has", "party 1 has")):
        kanon_sql.plan_parties(engines, spec(**changes), split="vertical", key=key)


def test_a_key_that_two_rows_have_is_refused_without_the_key(columns_apart: list[Engine]) -> None:
    columns_apart[0]._connection.execute("INSERT INTO people VALUES ('n9x', 'key03')")  # type: ignore[attr-defined]
    with pytest.raises(UnsupportedError, match="party 1: 1 rows share their key in 'id'") as caught:
        kanon_sql.plan_parties(columns_apart, spec(), split="vertical", key="id")
    assert "key03" not in str(caught.value)


def test_keys_of_two_kinds_are_refused(columns_apart: list[Engine]) -> None:
    numbers = duckdb.connect()
    numbers.execute("CREATE TABLE people (town VARCHAR, ill VARCHAR, id INTEGER)")
    with pytest.raises(SpecError, match="VARCHAR at party 1 and INTEGER at party 2"):
        kanon_sql.plan_parties([columns_apart[0], kanon_sql.connect(numbers)], spec(), split="vertical", key="id")


@pytest.mark.slow
def test_more_tokens_than_may_cross_are_refused(engines: list[Engine], columns_apart: list[Engine]) -> None:
    with patch.object(site, "MOST_TOKENS", 5), pytest.raises(UnsupportedError, match="more than 5 classes here"):
        kanon_sql.plan_parties(engines, spec())
    with patch.object(holder, "MOST_TOKENS", 5), pytest.raises(UnsupportedError, match="at most 5 tokens"):
        kanon_sql.plan_parties(columns_apart, spec(), split="vertical", key="id")


# --- What fails ---


@pytest.mark.slow
def test_what_no_generalization_satisfies_is_not_published(
    engines: list[Engine], connections: list[duckdb.DuckDBPyConnection]
) -> None:
    result = kanon_sql.anonymize_parties(engines, spec(privacy=[{"k_anonymity": 50}]))
    assert not result.passed
    assert result.message.startswith("nothing was published: all parties together have fewer")
    strict = spec(
        quasi_identifiers={
            "job": {"prefix": [2, 1], "maximum_level": 0},
            "town": {"prefix": [4, 1], "maximum_level": 0},
        }
    )
    result = kanon_sql.plan_parties(engines, strict)
    assert not result.passed
    assert "even at the highest levels allowed" in result.message
    with pytest.raises(kanon_sql.RequirementNotMet):
        result.raise_for_failure()
    for connection in connections:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("people",)]
    jsonschema.Draft202012Validator(parties_schema()).validate(result.to_dict())


@pytest.mark.slow
def test_parts_that_are_not_what_was_counted_are_dropped(
    engines: list[Engine], connections: list[duckdb.DuckDBPyConnection]
) -> None:
    """The suppressed classes are forgotten while the parts are written: the written tables tell."""
    choice = horizontal._choice

    def all_rows(spec: Any, site: Any, node: Any, classes: Any, refused: Any) -> Any:
        return choice(spec, site, node, classes, {})

    with (
        patch.object(horizontal, "_choice", all_rows),
        pytest.raises(VerificationError, match="classes that violate the requirements"),
    ):
        kanon_sql.anonymize_parties(engines, spec())
    for connection in connections:
        assert connection.execute(
            "SELECT COUNT(*) FROM duckdb_tables() WHERE table_name LIKE '%release%'"
        ).fetchall() == [(0,)]


@pytest.mark.slow
def test_rows_that_vanish_between_the_passes_stop_the_run(
    engines: list[Engine], connections: list[duckdb.DuckDBPyConnection]
) -> None:
    written = horizontal.staged_release

    def loses_rows(workspace: Workspace, choice: Any) -> Any:
        connections[0].execute("DELETE FROM people WHERE id = 'key00'")
        return written(workspace, choice)

    with patch.object(horizontal, "staged_release", loses_rows), pytest.raises(VerificationError):
        kanon_sql.anonymize_parties(engines, spec())


def test_a_joined_table_that_is_not_what_was_counted_is_dropped(columns_apart: list[Engine]) -> None:
    def all_persons(self: Any, node: Any) -> list[str]:
        return list(self.persons)

    small = spec(suppression={"max_rows": 6}, quasi_identifiers={
        "job": {"prefix": [2, 1], "maximum_level": 0}, "town": {"prefix": [6, 4], "maximum_level": 0}
    })  # fmt: skip
    with (
        patch.object(vertical._Joined, "released", all_persons),
        pytest.raises(VerificationError, match="does not have the classes that the search has counted"),
    ):
        kanon_sql.anonymize_parties(columns_apart, small, split="vertical", key="id")
    tables = columns_apart[0]._connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()  # type: ignore[attr-defined]
    assert ("released",) not in tables


def test_a_joined_table_without_a_class_is_dropped(columns_apart: list[Engine]) -> None:
    """What is missing violates nothing; it is missing all the same."""
    released = vertical._Joined.released

    def fewer(self: Any, node: Any) -> list[str]:
        persons = released(self, node)
        first = self.persons[persons[0]]
        return [person for person in persons if self.persons[person] != first]

    exact = {"job": {"maximum_level": 0}, "town": {"maximum_level": 0}}
    with (
        patch.object(vertical._Joined, "released", fewer),
        pytest.raises(VerificationError, match="does not have the classes that the search has counted"),
    ):
        kanon_sql.anonymize_parties(columns_apart, spec(quasi_identifiers=exact), split="vertical", key="id")


def test_a_row_that_a_join_loses_stops_the_run(engines: list[Engine]) -> None:
    """A class that nobody sees violates nothing: what is sent must hold all rows."""
    hashes = site.Site._hashes_of

    def loses_a_label(self: Any, index: int, level: int) -> Any:
        table = hashes(self, index, level)
        name = self.workspace.quoted(table)
        self.workspace.engine._connection.execute(f"DELETE FROM {name} WHERE code = (SELECT MIN(code) FROM {name})")
        return table

    with (
        patch.object(site.Site, "_hashes_of", loses_a_label),
        pytest.raises(InternalError, match="were judged, but there are"),
    ):
        kanon_sql.plan_parties(engines, spec())


@pytest.mark.slow
def test_what_stands_is_said_where_a_later_party_refuses(
    engines: list[Engine], connections: list[duckdb.DuckDBPyConnection]
) -> None:
    publish = horizontal.publish

    def refuses(workspace: Workspace, *given: Any, **options: Any) -> None:
        if workspace.engine is engines[1]:
            raise DatabaseError("the disk is full")
        publish(workspace, *given, **options)

    with (
        patch.object(horizontal, "publish", refuses),
        pytest.raises(
            DatabaseError, match=r"party 2: the disk is full\. The parts of party 1 are published, the others"
        ),
    ):
        kanon_sql.anonymize_parties(engines, spec())
    assert connections[0].execute("SELECT COUNT(*) FROM released").fetchall() != [(0,)]
    assert ("released",) not in connections[1].execute("SELECT table_name FROM duckdb_tables()").fetchall()


@pytest.mark.slow
def test_a_foreign_table_and_a_read_only_party_are_refused_before_the_search(
    engines: list[Engine], connections: list[duckdb.DuckDBPyConnection], columns_apart: list[Engine]
) -> None:
    connections[1].execute("CREATE TABLE released (x INTEGER)")
    with pytest.raises(SpecError, match="already a table 'released'"):
        kanon_sql.anonymize_parties(engines, spec())
    reading = kanon_sql.connect(connections[0], read_only=True)
    with pytest.raises(SpecError, match=r"the connection to party 1 .* is read-only"):
        kanon_sql.anonymize_parties([reading, engines[1]], spec())
    # Only the party of a joined release writes.
    connection = columns_apart[0]._connection  # type: ignore[attr-defined]
    apart = [kanon_sql.connect(connection, read_only=True), columns_apart[1]]
    assert kanon_sql.anonymize_parties(apart, spec(), split="vertical", key="id", at=2).at == "party 2"


# --- Heuristics, results, the command line ---


@pytest.mark.parametrize("verb", [kanon_sql.plan_parties, kanon_sql.anonymize_parties])
def test_perturbed_rows_of_one_party_are_refused(
    verb: Any, engines: list[Engine], connections: list[duckdb.DuckDBPyConnection]
) -> None:
    connections[1].execute("ALTER TABLE people RENAME TO true_people")
    swapped = {"version": 1, "kind": "perturbed", "source": "true_people", "release": "people", "key": "id"}
    kept = {"perturb": {"job": {"swap": 0.5}}, "keep": ["town", "ill"]}
    kanon_sql.perturb(engines[1], kanon_sql.PerturbSpec.from_dict({**swapped, **kept}))
    with pytest.raises(SpecError, match="'people' was published by perturb"):
        verb(engines, spec())


@pytest.mark.slow
@pytest.mark.parametrize(
    "algorithm",
    ["top_down", *(pytest.param(name, marks=pytest.mark.slow) for name in ("bottom_up", "genetic", "annealing"))],
)
def test_heuristics_go_the_way_that_they_go_over_one_table(engines: list[Engine], algorithm: str) -> None:
    """Wang, Fung, Dong 2005 specialize from the top down."""
    pooled = kanon_sql.connect(site_of([*NORTH, *SOUTH]))
    asked = spec(search={"algorithm": algorithm, "metric": "precision"})
    result, expected = kanon_sql.plan_parties(engines, asked), kanon_sql.plan(pooled, asked, compare_recoding=None)
    assert isinstance(expected, kanon_sql.results.Plan)
    assert expected.node is not None
    assert result.node == expected.node
    assert not result.search["proven"]


@pytest.mark.slow
def test_results_are_described_and_metered(engines: list[Engine], columns_apart: list[Engine]) -> None:
    validator = jsonschema.Draft202012Validator(parties_schema())
    published = kanon_sql.anonymize_parties(engines, spec())
    for result in (published, kanon_sql.plan_parties(columns_apart, spec(), split="vertical", key="id")):
        found = json.loads(json.dumps(result.to_dict()))
        validator.validate(found)
        assert found["costs"][0]["rows_fetched"] > 0
        for name in result.parties:
            sent = sum(item["items"] for item in found["exchanged"] if item["from"] == name)
            assert 0 < sent <= found["costs"][result.parties.index(name)]["rows_fetched"]
    assert [manifest["parties"]["part"] for manifest in published.manifests] == [1, 2]


@pytest.mark.slow
def test_the_command_line_plans_and_publishes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, rows in (("north.duckdb", NORTH), ("south.duckdb", SOUTH)):
        with duckdb.connect(name) as connection:
            connection.execute(f"CREATE TABLE people ({', '.join(f'{column} VARCHAR' for column in COLUMNS)})")
            connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
    Path("spec.yml").write_text(json.dumps(SPEC))
    both = ("-d", "north.duckdb", "-d", "south.duckdb")
    planned = run("parties", "plan", "spec.yml", "-d", "north.duckdb,south.duckdb")
    assert planned.exit_code == 0, planned.output
    for words in ("PASS", "Who learns what", "party 2: ", "tokens of classes with their rows"):
        assert words in planned.output
    done = run("parties", "anonymize", "spec.yml", *both, "--format", "json", "-q")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["split"] == "horizontal"
    for options, said in [
        (("plan", "spec.yml", *both, "--set", "threads=2"), "--set threads: unknown key"),
        (("anonymize", "spec.yml", *both, "-o", "r.html"), "this command writes no HTML report"),
        (("anonymize", "spec.yml", *both, "--at", "2"), "every party publishes its own part"),
        (("plan", "spec.yml", "--split", "vertical"), "two databases, got 0"),
        (("plan", "spec.yml", "-d", "north.duckdb", "-d", ":memory:"), "a database in memory"),
        (("plan", "spec.yml", "-d", "north.duckdb", "-d", "missing.duckdb"), "no database file"),
        (("plan", "spec.yml", "-d", "north.duckdb", "-d", "./north.duckdb"), "are the same database"),
    ]:
        failed = run("parties", *options)
        assert failed.exit_code == 2 or failed.exit_code == 3, failed.output
        assert said in " ".join(failed.output.split())
    shown = run("pipeline", "schema", "parties")
    assert json.loads(shown.stdout)["title"] == "kanon_sql parties"
