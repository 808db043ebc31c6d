"""A recoding that is kept: what it holds, what it is applied to, what it refuses, and what a failure leaves."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import kanon_sql
from kanon_sql.engines.base import Meter
from kanon_sql.errors import DatabaseError, SpecError, UnsupportedError
from kanon_sql.recode import kept_recoding as kept_module
from kanon_sql.recode.kept_recoding import MOST_ROUNDS, STATEMENTS_A_ROUND
from kanon_sql.release import published_manifest
from kanon_sql.report.json import result_schema
from kanon_sql.report.recoding import recoding_in_words
from kanon_sql.verbs.clean import clean
from tests.conftest import Database
from tests.oracles.kept import by_classes, classes_in, levels_of
from tests.recode.test_recode import OTHERS
from tests.support.command_line import refused, run
from tests.support.recodings import fail_at
from tests.support.strategies import RandomProblem

TREE = {"south": {"s1": ["a", "b"], "s2": ["c", "d"]}, "north": {"n1": ["e"], "n2": ["f"]}}
LOCAL = {"method": "local", "save_as": "learned"}


def spec(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "visits",
            "release": "visits_release",
            "quasi_identifiers": {"place": {"tree": TREE}},
            "privacy": [{"k_anonymity": 2}],
            "recoding": LOCAL,
            **changes,
        }
    )


@pytest.fixture
def visits(database: Database) -> Database:
    """Its classes are a, b, c, d and north."""
    database.table("visits", ["place"], [(value,) for value in "aabbbccddef"])
    return database


def applied(
    database: Database, values: str, used: kanon_sql.Spec | None = None, **options: Any
) -> kanon_sql.results.AppliedRelease:
    """Apply the recoding to other rows, released as ``new_release``."""
    database.table("new", ["place"], [(value,) for value in values])
    given = {"source": "new", "release": "new_release", **options}
    return kanon_sql.apply(database.engine, used or spec(), "learned", **given)


@pytest.mark.slow
def test_what_is_kept_are_the_labels_of_the_release(visits: Database) -> None:
    result = kanon_sql.anonymize(visits.engine, spec())
    assert "the recoding is kept in learned: 5 classes" in result.notes
    assert visits.columns("learned") == ["class_number", "label0", "level0"]
    kept = sorted(visits.rows("learned"))
    assert kept == [(1, "a", 0), (2, "b", 0), (3, "c", 0), (4, "d", 0), (5, "north", 2)]
    assert {(label,) for _, label, _ in kept} == set(visits.rows("visits_release"))
    assert visits.tables() == ["kanon_sql_manifest", "kanon_sql_scratch", "learned", "visits", "visits_release"]


def test_classes_are_numbered_by_what_a_row_loses(database: Database) -> None:
    database.table("visits", ["place"], [("x",), ("y",), ("z",), ("z",)])
    kanon_sql.anonymize(database.engine, spec(quasi_identifiers={"place": {"tree": {"A": ["x", "y"], "B": ["z"]}}}))
    assert sorted(database.rows("learned")) == [(1, "z", 0), (2, "A", 1)]


@pytest.mark.slow
def test_new_rows_by_hand(visits: Database) -> None:
    kanon_sql.anonymize(visits.engine, spec())
    result = applied(visits, "aaaddeeeff")
    assert result.verb == "apply"
    assert Counter(visits.rows("new_release")) == {("a",): 3, ("d",): 2, ("north",): 5}
    assert result.recoding is not None
    assert result.recoding["start"] == "kept"
    assert "3 classes of the recoding that was kept" in recoding_in_words(result.recoding)
    jsonschema.validate(result.to_dict(), result_schema())


@pytest.mark.slow
def test_a_class_that_violates_is_suppressed_within_the_limit(visits: Database) -> None:
    kanon_sql.anonymize(visits.engine, spec())
    result = applied(visits, "aaab")
    assert not result.passed
    assert result.message == (
        "nothing was published: of 4 rows, 1 would have to be suppressed, and at most 0 may be: no class of learned "
        "covers 0 of them, and 1 are in classes that would violate a requirement"
    )
    assert "new_release" not in visits.tables()
    result = applied(visits, "aaab", spec(suppression={"max_rows": 1}))
    assert (result.passed, result.rows["suppressed"]) == (True, 1)
    assert visits.rows("new_release") == [("a",)] * 3


@pytest.mark.slow
def test_rows_of_a_class_that_violates_go_to_the_next_one(database: Database) -> None:
    """Kept are s1 (of a and b) and south; of one a and two c, all are released as south, which waits for the a."""
    database.table("visits", ["place", "x"], [("a", "1"), ("b", "1"), ("a", "2"), ("c", "2"), ("c", "3"), ("c", "3")])
    columns = {"place": {"tree": TREE}, "x": {"tree": dict.fromkeys("123")}}
    used = spec(quasi_identifiers=columns, suppression={"max_rows": 0})
    kanon_sql.anonymize(database.engine, used)
    database.connection.execute("DELETE FROM learned")
    database.connection.execute("INSERT INTO learned VALUES (1, 's1', 1, '*', 1), (2, 'south', 2, '*', 1)")
    database.table("new", ["place", "x"], [("a", "1"), ("c", "2"), ("d", "3")])
    result = kanon_sql.apply(database.engine, used, "learned", source="new", release="new_release")
    assert result.passed, result.message
    assert database.rows("new_release") == [("south", "*")] * 3
    database.table("new", ["place", "x"], [("a", "1"), ("c", "2")])
    assert kanon_sql.apply(database.engine, used, "learned", source="new", release="new_release").passed
    assert database.rows("new_release") == [("south", "*")] * 2, "alone it violates, and is joined by the a"


@pytest.mark.slow
def test_levels_are_kept_where_every_column_has_one(visits: Database) -> None:
    used = spec(recoding={"save_as": "learned"})
    learned = kanon_sql.anonymize(visits.engine, used)
    assert learned.node == {"place": 1} or learned.node == {"place": 2}
    assert visits.rows("learned") == [(learned.node["place"],)]
    result = applied(visits, "aabbeeff", spec(recoding="full_domain"))
    assert result.node == learned.node
    assert result.recoding is None
    refused = applied(visits, "aabe", used, release="another")
    assert not refused.passed
    assert refused.message == (
        "nothing was published: at the levels of learned, 1 of 4 rows violate 2-anonymity, and at most 0 may be "
        "suppressed"
    )


@pytest.mark.slow
def test_cells_are_suppressed_within_their_caps(database: Database) -> None:
    """Learned: x is suppressed where y is 2. Half of the new rows are such, and the cap allows four tenths."""
    pairs = [("a", "1"), ("a", "1"), ("a", "2"), ("b", "2"), ("b", "3"), ("b", "3")]
    database.table("visits", ["x", "y"], pairs)
    columns = {"x": {"tree": dict.fromkeys("ab")}, "y": {"tree": dict.fromkeys("123")}}
    cells = {"method": "cells", "caps": {"x": 0.4}, "save_as": "learned"}
    used = spec(quasi_identifiers=columns, recoding=cells)
    assert kanon_sql.anonymize(database.engine, used).passed
    new = [("a", "1"), ("a", "1"), ("a", "2"), ("b", "2")]
    for rows, passes in ((new, False), ([*new, ("b", "3"), ("b", "3")], True)):
        database.table("new", ["x", "y"], rows)
        result = kanon_sql.apply(database.engine, used, "learned", source="new", release="new_release")
        assert result.passed is passes
        assert passes or "more cells of x would be suppressed than recoding.caps allows" in result.message
    without = spec(quasi_identifiers=columns, recoding={"method": "cells", "save_as": "learned"})
    assert kanon_sql.anonymize(database.engine, without).passed
    database.table("new", ["x", "y"], new)
    result = kanon_sql.apply(database.engine, without, "learned", source="new", release="new_release")
    assert Counter(database.rows("new_release")) == {("a", "1"): 2, ("*", "2"): 2}
    assert result.recoding is not None
    assert result.recoding["suppressed_cells"]["x"]["cells"] == 2
    assert "2 cells suppressed at the levels" in recoding_in_words(result.recoding)


@pytest.mark.slow
def test_a_label_that_means_something_else_now_covers_nothing(database: Database) -> None:
    """`x` was the label of u and v. It is a value of the new rows as well, and another place: nobody could tell."""
    tree = [("x", "y", "*"), ("z", "y", "*"), ("u", "w", "*"), ("v", "w", "*")]
    database.table("tree", ["l0", "l1", "l2"], tree)
    database.table("visits", ["place"], [(value,) for value in "xxzz"])
    used = spec(quasi_identifiers={"place": {"table": "tree"}}, suppression={"max_share": 0.7})
    assert kanon_sql.anonymize(database.engine, used).passed
    assert {label for _, label, _ in database.rows("learned")} == {"x", "z"}
    database.table("tree", ["l0", "l1", "l2"], [*tree[:2], ("u", "x", "*"), ("v", "x", "*")])
    assert applied(database, "xxzzuu", used).rows["suppressed"] == 4
    assert database.rows("new_release") == [("z",)] * 2
    assert applied(database, "xxzz", used).rows["suppressed"] == 0, "no row has the other one"


DIFFERENCES: list[tuple[dict[str, Any], str]] = [
    ({"recoding": "full_domain"}, "recoding: learned was learned by the method local, and the spec says full_domain"),
    ({"recoding": {"method": "local", "ranges": ["place"]}}, "recoding.ranges: learned has labels of hierarchies"),
    ({"quasi_identifiers": {"place": {"prefix": [1]}}}, "quasi_identifiers.place: this hierarchy (prefix) is not"),
    ({"quasi_identifiers": {"place": {"tree": {**TREE, "east": ["g"]}}}}, "place: this hierarchy (tree) is not"),
    ({"quasi_identifiers": {"place": {"tree": TREE, "minimum_level": 1}}}, "place: minimum_level is 1, and learned"),
    ({"quasi_identifiers": {"place": {"tree": TREE}, "x": None}}, "learned was learned without 'x'"),
    ({"quasi_identifiers": {"x": None}}, "learned was learned with 'place', which the spec does not have"),
]


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("changes", "said"), DIFFERENCES)
def test_other_columns_and_hierarchies_are_refused(visits: Database, changes: dict[str, Any], said: str) -> None:
    kanon_sql.anonymize(visits.engine, spec())
    with pytest.raises(SpecError, match="learned") as error:
        applied(visits, "aabb", spec(**changes))
    assert said in str(error.value)
    assert "new_release" not in visits.tables()


@pytest.mark.slow
def test_a_file_with_the_same_rows_is_the_same_hierarchy(visits: Database, tmp_path: Path) -> None:
    file = tmp_path / "place.csv"
    rows = ["a;s1;south;*", "b;s1;south;*", "c;s2;south;*", "d;s2;south;*", "e;n1;north;*", "f;n2;north;*"]
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    kanon_sql.anonymize(visits.engine, spec())
    given = spec(quasi_identifiers={"place": {"file": str(file)}})
    assert applied(visits, "aabb", given).passed
    file.write_text("\n".join([*rows, "g;n2;north;*"]) + "\n", encoding="utf-8")
    with pytest.raises(SpecError, match=r"place: this hierarchy \(file\) is not the one"):
        applied(visits, "aabb", given)


@pytest.mark.slow
def test_weights_limits_and_thresholds_may_differ(visits: Database) -> None:
    kanon_sql.anonymize(visits.engine, spec())
    other = spec(
        quasi_identifiers={"place": {"tree": TREE, "weight": 3}},
        privacy=[{"k_anonymity": 3}],
        suppression={"max_share": 0.5},
    )
    assert applied(visits, "aaabb", other).rows["suppressed"] == 2


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "make"),
    [("learned", None), ("learned", "CREATE TABLE learned (a int)"), ("visits_release", None), ("visits", None)],
)
def test_what_is_no_kept_recoding(visits: Database, name: str, make: str | None) -> None:
    kanon_sql.anonymize(visits.engine, spec(recoding="local"))
    if make is not None:
        visits.connection.execute(make)
    visits.table("new", ["place"], [("a",)])
    with pytest.raises(SpecError, match=f"no recoding is kept as '{name}' in this database; expected the name"):
        kanon_sql.apply(visits.engine, spec(), name, source="new", release="new_release")


def test_nothing_of_others_is_replaced(visits: Database) -> None:
    visits.table("learned", ["a"], [("mine",)])
    with pytest.raises(
        SpecError, match=r"recoding\.save_as: there is already a table 'learned' that kanon_sql did not"
    ):
        kanon_sql.anonymize(visits.engine, spec())
    assert "visits_release" not in visits.tables()
    visits.connection.execute("DROP TABLE learned")
    kanon_sql.anonymize(visits.engine, spec())
    with pytest.raises(SpecError, match="release: 'learned' is a recoding that was kept, which a release cannot"):
        kanon_sql.anonymize(visits.engine, spec(release="learned", recoding="local"))
    other = spec(release="other", recoding={**LOCAL, "save_as": "visits_release"})
    with pytest.raises(SpecError, match=r"recoding\.save_as: 'visits_release' is a release, which a recoding cannot"):
        kanon_sql.anonymize(visits.engine, other)
    assert "other" not in visits.tables()


@pytest.mark.slow
def test_its_own_is_replaced(visits: Database) -> None:
    kanon_sql.anonymize(visits.engine, spec())
    visits.table("visits", ["place"], [("a",), ("a",)])
    kanon_sql.anonymize(visits.engine, spec())
    assert visits.rows("learned") == [(1, "a", 0)]
    assert clean(visits.engine, drop=False).objects == ()


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("in_steps", [False, True])
def test_a_failure_leaves_the_release_and_says_so(
    visits: Database, monkeypatch: pytest.MonkeyPatch, in_steps: bool
) -> None:
    if in_steps:
        engine: Any = visits.engine
        engine.capabilities = replace(engine.capabilities, transactional_ddl=False, atomic_replace=False)
    with monkeypatch.context() as patched:
        fail_at(patched, "release/kept/classes")
        with pytest.raises(DatabaseError, match="the release visits_release was published, but its recoding could not"):
            kanon_sql.anonymize(visits.engine, spec())
    assert len(visits.rows("visits_release")) == 11
    assert "learned" not in visits.tables()
    assert clean(visits.engine, drop=False).objects == ()
    assert kanon_sql.anonymize(visits.engine, spec()).passed
    assert applied(visits, "aabb").passed


class Tripwire:
    """Lets the n-th statement after the release was published fail, and those after it that change anything."""

    def __init__(self, patched: pytest.MonkeyPatch, at: int) -> None:
        self.names: list[str] = []
        counted, keeping = Meter.count, False

        def count(meter: Meter, statement: Any, *given: Any) -> Any:
            nonlocal keeping
            keeping = keeping or statement.name == "release/kept/classes"
            if keeping:
                self.names.append(statement.name)
                if len(self.names) == at:
                    raise DatabaseError("the statement fails")
            return counted(meter, statement, *given)

        patched.setattr(Meter, "count", count)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("in_steps", [False, True])
@pytest.mark.campaign_on("True-1", "False-0", "False-2")
def test_a_failure_at_any_statement_of_keeping(
    visits: Database, monkeypatch: pytest.MonkeyPatch, in_steps: bool, part: int
) -> None:
    """A third of them. The release stands; the recoding is the whole one or none; clean finds the rest."""
    engine: Any = visits.engine
    if in_steps:
        engine.capabilities = replace(engine.capabilities, transactional_ddl=False, atomic_replace=False)
    kanon_sql.anonymize(engine, spec())
    with monkeypatch.context() as patched:
        undisturbed = Tripwire(patched, 0)
        kanon_sql.anonymize(engine, spec())
    ends = [number for number, name in enumerate(undisturbed.names, 1) if name == "engines/scratch/forget"]
    for at in range(1 + part, ends[-1] + 1, 3):  # then the run drops its temporary tables
        with monkeypatch.context() as patched:
            Tripwire(patched, at)
            said = ""
            try:
                assert kanon_sql.anonymize(engine, spec()).passed
            except DatabaseError as error:
                said = str(error)
        assert not said or "the release visits_release was published" in said, at
        assert len(visits.rows("visits_release")) == 11
        clean(engine, drop=True)
        assert clean(engine, drop=False).objects == ()
        assert len(visits.rows("learned")) == 5
        assert visits.tables() == ["kanon_sql_manifest", "kanon_sql_scratch", "learned", "visits", "visits_release"]
    assert kanon_sql.anonymize(engine, spec()).passed
    assert applied(visits, "aabb").passed


@pytest.mark.slow
def test_the_manifest_of_the_run_is_that_of_its_release(visits: Database) -> None:
    learned = kanon_sql.anonymize(visits.engine, spec())
    assert learned.manifest is not None
    assert learned.manifest["applied"] is None
    run_id = learned.manifest["run_id"]
    assert published_manifest(visits.engine, run_id)["release"] == "visits_release"
    of_kept = published_manifest(visits.engine, f"{run_id}01")
    assert of_kept["release"] == "learned"
    assert set(of_kept["kept"]["hierarchies"][0]) == {"name", "kind", "sha256", "minimum_level", "maximum_level"}
    new = applied(visits, "aabb")
    assert new.manifest is not None
    assert new.manifest["applied"] == {"recoding": "learned", "run_id": f"{run_id}01"}
    assert f"recoded by learned, which a release of the run {run_id} left" in new.notes


def numbers(database: Database, name: str, rows: int, seed: int) -> None:
    draw = random.Random(seed)
    listed = [(draw.randint(20, 79), f"{draw.randint(100, 399)}") for _ in range(rows)]
    database.table(name, {"age": "INTEGER", "zip": "VARCHAR"}, listed)


@pytest.mark.slow
def test_statements_and_fetched_rows_do_not_depend_on_the_table(database: Database) -> None:
    columns = {"age": {"intervals": [5, 20]}, "zip": {"prefix": [2, 1]}}
    used = spec(quasi_identifiers=columns, suppression={"max_share": 0.9})
    for rows in (60, 2_000):
        numbers(database, "visits", rows, 3)
        numbers(database, "new", rows // 2, 4)
        kanon_sql.anonymize(database.engine, used)
        result = kanon_sql.apply(database.engine, used, "learned", source="new", release="new_release")
        assert result.recoding is not None
        rounds = result.recoding["rounds"] + 1
        assert result.cost.statements <= STATEMENTS_A_ROUND * rounds + 10 * 2 + OTHERS
        assert result.cost.rows_fetched <= rounds + 20 * 2 + 40
        assert result.cost.source_scans == 1
        assert rounds <= MOST_ROUNDS + 1


PATHS = {value: (value, low, high, "*") for high, below in TREE.items() for low, own in below.items() for value in own}


def any_classes(draw: random.Random) -> list[tuple[Any, ...]]:
    """Classes that overlap in many ways; no two have the same labels."""
    found: dict[tuple[Any, ...], None] = {}
    while len(found) < 9:
        level, other = draw.randint(0, 3), draw.randint(0, 1)
        found[PATHS[draw.choice("abcdef")][level], level, draw.choice("123") if other == 0 else "*", other] = None
    return [(number, *labels) for number, labels in enumerate(found, 1)]


@pytest.mark.slow
@pytest.mark.parametrize("most", [MOST_ROUNDS, 1])
def test_random_classes_against_an_oracle(database: Database, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Some classes violate, and rows of these go on; at the end of the rounds they are suppressed."""
    monkeypatch.setattr(kept_module, "MOST_ROUNDS", most)
    monkeypatch.setattr("tests.oracles.kept.ROUNDS", most)
    hierarchies = {"place": PATHS, "x": {value: (value, "*") for value in "123"}}
    columns = {"place": {"tree": TREE}, "x": {"tree": dict.fromkeys("123")}}
    used = spec(
        quasi_identifiers=columns, suppression={"max_share": 1.0}, keep=["serial"], privacy=[{"k_anonymity": 3}]
    )
    kinds, rounds = {"place": "VARCHAR", "x": "VARCHAR", "serial": "INTEGER"}, set()
    database.table("visits", kinds, [(value, "1", 0) for value in "aaabbb"])
    assert kanon_sql.anonymize(database.engine, used).passed
    for seed in range(5):
        draw = random.Random(seed)
        rows = [(draw.choice("abcdef"), draw.choice("123"), number) for number in range(18)]
        database.table("new", kinds, rows)
        kept = any_classes(draw)
        database.connection.execute("DELETE FROM learned")
        database.connection.executemany("INSERT INTO learned VALUES (?, ?, ?, ?, ?)", kept)
        named = [dict(zip(kinds, row, strict=True)) for row in rows]
        problem = RandomProblem(named, hierarchies, [], [{"k_anonymity": {"k": 3}}], 1.0)
        wanted = by_classes(problem, classes_in(database.columns("learned"), kept), levels_of(problem))
        result = kanon_sql.apply(database.engine, used, "learned", source="new", release="new_release")
        assert result.passed is bool(wanted)
        if wanted:
            found = {serial: labels for *labels, serial in database.rows("new_release")}
            assert found == {serial: list(labels) for serial, labels in wanted.items()}
            assert result.recoding is not None
            rounds.add(result.recoding["rounds"])
    assert max(rounds) == most + 1 if most < MOST_ROUNDS else max(rounds) > 2


@pytest.mark.slow
def test_a_ledger_is_about_one_source(visits: Database) -> None:
    used = spec(recoding={"save_as": "learned"}, ledger="kanon_ledger")
    assert kanon_sql.anonymize(visits.engine, used).passed
    result = applied(visits, "aabbeeff", used)
    assert not result.passed
    assert "visits_release can no longer be derived from the source" in result.message
    assert "new_release" not in visits.tables()
    again = kanon_sql.apply(visits.engine, used, "learned", source="visits", release="again")
    assert again.passed, "of the same rows, the two are compared"
    assert again.ledger is not None


@pytest.mark.slow
def test_where_rounds_cannot_be_made(visits: Database) -> None:
    kanon_sql.anonymize(visits.engine, spec())
    visits.engine = kanon_sql.connect(visits.connection, scratch="inline")
    with pytest.raises(UnsupportedError, match="recoding: local keeps its partitions in scratch tables"):
        applied(visits, "aabb")


def test_what_a_spec_refuses() -> None:
    for changes, said in (
        ({"recoding": {"method": "forest", "save_as": "learned"}}, "forest divides equal rows among classes"),
        ({"recoding": {"save_as": "visits_release"}}, "this is the name of the release; choose another one"),
        ({"recoding": {"save_as": "Visits"}}, "this is the name of the source"),
        ({"recoding": {"save_as": "a.b"}}, "expected the name of a table without a schema"),
        ({"recoding": {"save_as": "learned"}, "search": {"algorithm": "k_optimize"}}, "the intervals of k_optimize"),
    ):
        with pytest.raises(SpecError, match=r"recoding\.save_as") as error:
            spec(**changes)
        assert said in str(error.value)


@pytest.mark.slow
def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import duckdb

    monkeypatch.chdir(tmp_path)
    with duckdb.connect("clinic.duckdb") as connection:
        database = Database(connection)
        database.table("visits", ["place"], [(value,) for value in "aabbbccddef"])
        database.table("may", ["place"], [(value,) for value in "aabb"])
        database.table("june", ["place"], [(value,) for value in "aab"])
    Path("spec.json").write_text(json.dumps(spec().to_dict()), encoding="utf-8")
    base = ("spec.json", "-d", "clinic.duckdb")
    assert run("anonymize", *base, "--manifest", "none").exit_code == 0
    ran = run(
        "release", "apply", *base, "learned", "--source", "may", "--release", "may_release", "--format", "json", "-q"
    )
    assert ran.exit_code == 0, ran.output
    data = json.loads(ran.stdout)
    jsonschema.validate(data, result_schema())
    assert (data["verb"], data["release"], data["rows"]["released"]) == ("apply", "may_release", 4)
    ran = run("release", "apply", *base, "learned", "--source", "june", "--release", "june_release")
    assert ran.exit_code == 1
    assert "nothing was published" in ran.stdout
    assert "release: missing; with --source" in refused(run("release", "apply", *base, "learned", "--source", "may"), 2)
    assert "a release in :memory: is lost when this process" in refused(
        run("release", "apply", "spec.json", "learned"), 2
    )
    given = ("--source", "may", "--release", "may_release", "--manifest", "may.json", "-o", "may.html")
    assert run("release", "apply", *base, "learned", *given).exit_code == 0
    assert json.loads(Path("may.json").read_text("utf-8"))["applied"]["recoding"] == "learned"
    assert Path("may.html").exists()
