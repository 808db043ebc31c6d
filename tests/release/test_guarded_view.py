"""Guarded views: what they show at every instant, against an oracle; whose rights they have; what they refuse."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.errors import SpecError, UnsupportedError, VerificationError
from kanon_sql.release import guarded_view
from kanon_sql.spec import Spec
from kanon_sql.sql.text import Sql
from kanon_sql.testing import Subject
from kanon_sql.verbs.clean import clean
from tests.conftest import Database
from tests.oracles.model import judge
from tests.servers import SUBJECTS, subject_of
from tests.support.command_line import SECRET, run
from tests.support.strategies import examples

publishing = import_module("kanon_sql.release.publish_view")

COLUMNS = {"age": "integer", "zip": "text", "city": "text", "dx": "text", "who": "text", "note": "text"}
TREE = {"north": ["Oslo", "Bodo"], "south": ["Rome"], "east": ["Kyiv", "Minsk", "Gomel"]}
PARENTS = {city: region for region, cities in TREE.items() for city in cities}
LABELS: dict[str, Any] = {"age": {"intervals": [10, 40]}, "zip": {"prefix": [2, 1]}, "city": {"tree": TREE}}
SPEC: dict[str, Any] = {
    "version": 1,
    "source": "people",
    "release": {"view": "shown", "accept_sequence_risk": True},
    "quasi_identifiers": LABELS,
    "sensitive": ["dx"],
    "keep": ["note"],
    "privacy": [{"k_anonymity": 3}],
    "suppression": {"max_share": 0.5},
}
REQUIREMENTS: list[list[dict[str, Any]]] = [
    [{"k_anonymity": {"k": 2}}],
    [{"k_anonymity": {"k": 3}}, {"l_diversity": {"attribute": "dx", "l": 2, "variant": "distinct"}}],
    [{"l_diversity": {"attribute": "dx", "l": 2, "variant": "entropy"}}],
    [{"l_diversity": {"attribute": "dx", "l": 2, "variant": "recursive", "c": 2}}],
    [{"p_sensitive_k_anonymity": {"attribute": "dx", "p": 2, "k": 3}}],
    [{"alpha_k_anonymity": {"attribute": "dx", "alpha": 0.5, "k": 2}}],
]
"""One of each that windows can judge; values of dx that tie, miss and repeat."""


def people(seed: int, count: int = 60) -> list[tuple[Any, ...]]:
    draw = random.Random(seed)
    return [
        (
            draw.choice([None, -1, 0, 9, 10, 39, 40, 79]),
            draw.choice(["11a", "11b", "12", "2", "", None, "11A"]),
            draw.choice(["Oslo", "Oslo", "Bodo", "Rome", "Kyiv", "Minsk", None]),
            draw.choice(["flu", "cold", "Flu", "", None]),
            draw.choice(["p1", "p2", "p3", "P3", "p4", None]),
            draw.choice(["x", "X", None]),
        )
        for _ in range(count)
    ]


# --- The oracle: labels and classes in plain Python --------------------------------------------


def label(column: str, value: Any, level: int) -> str | None:
    """What a value is shown as; raises KeyError where the hierarchy does not cover it."""
    if level == {"age": 3, "zip": 3, "city": 2}[column]:
        return "*"
    if value is None:
        return None
    if level == 0:
        return str(value)
    if column == "age":
        width = (10, 40)[level - 1]
        low = value // width * width
        return f"[{low}, {low + width})"
    if column == "zip":
        keep = (2, 1)[level - 1]
        return value[:keep] + "*" * (len(value) - keep)
    return PARENTS[value]


def shown(
    rows: Sequence[tuple[Any, ...]],
    node: dict[str, int],
    requirements: Sequence[dict[str, Any]],
    unit: str | None = None,
    nulls: str = "value",
) -> Counter[tuple[Any, ...]]:
    """What the view must show of these rows."""
    classes: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for cells in rows:
        row = dict(zip(COLUMNS, cells, strict=True))
        if nulls == "suppress" and any(row[name] is None for name in LABELS):
            continue
        try:
            key = tuple(label(name, row[name], node[name]) for name in LABELS)
        except KeyError:
            continue
        classes.setdefault(key, []).append(row)
    return Counter(
        (*key, row["dx"], row["note"])
        for key, members in classes.items()
        if all(judge(requirement, members, None, unit)[1] for requirement in requirements)
        for row in members
    )


def node_of(result: kanon_sql.results.Release) -> dict[str, int]:
    assert result.node is not None
    return dict(result.node)


def spec_of(**changes: Any) -> Spec:
    return Spec.from_dict({**SPEC, **changes})


def publish(engine: Engine, **changes: Any) -> kanon_sql.results.Release:
    return kanon_sql.anonymize(engine, spec_of(**changes)).raise_for_failure()


def texts(rows: Sequence[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(None if cell is None else str(cell) for cell in row) for row in rows)


def in_order(rows: Sequence[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """Rows of the view with the columns in the order of the oracle: labels, dx, note."""
    return texts([(age, zip_, city, dx, note) for age, zip_, city, dx, note in rows])


# --- What it shows ------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 10_000),
    requirements=st.sampled_from(REQUIREMENTS),
    nulls=st.sampled_from(["value", "suppress"]),
    changes=st.lists(st.tuples(st.booleans(), st.integers(0, 10_000)), min_size=1, max_size=4),
)
@examples(8)
def test_it_shows_what_the_oracle_says_after_every_change(
    shared_database: Database, seed: int, requirements: Any, nulls: str, changes: list[tuple[bool, int]]
) -> None:
    """Rows are added and deleted; values come that the hierarchy lacks, and numbers that no interval holds."""
    rows = people(seed)
    shared_database.connection.execute("DROP VIEW IF EXISTS shown")
    shared_database.table("people", {**dict.fromkeys(COLUMNS, "VARCHAR"), "age": "INTEGER"}, rows)
    result = kanon_sql.anonymize(
        shared_database.engine, spec_of(privacy=requirements, nulls=nulls, suppression={"max_share": 0.9})
    )
    if not result.passed:
        return
    node = node_of(result)
    assert in_order(shared_database.rows("shown")) == texts(
        list(shown(rows, node, requirements, None, nulls).elements())
    )
    for adds, number in changes:
        if adds:
            new = [
                *people(number, 3),
                (25, "11a", "Nowhere", "flu", "p9", None),
                (2_000_000_000, "2", "Rome", "flu", "p9", "x"),
            ]
            rows += new
        else:
            del rows[number % len(rows) :: 3]
        shared_database.table("people", {**dict.fromkeys(COLUMNS, "VARCHAR"), "age": "INTEGER"}, rows)
        expected = shown(rows, node, requirements, None, nulls)
        assert in_order(shared_database.rows("shown")) == texts(list(expected.elements()))


@pytest.mark.slow
@given(seed=st.integers(0, 10_000), k=st.sampled_from([1, 2, 3]), count=st.sampled_from([20, 60]))
@examples(4)
def test_persons_count_once(shared_database: Database, seed: int, k: int, count: int) -> None:
    """Rows of nobody add to no class, wherever NULL comes in the order of the persons."""
    rows = people(seed, count)
    shared_database.connection.execute("DROP VIEW IF EXISTS shown")
    shared_database.table("people", {**dict.fromkeys(COLUMNS, "VARCHAR"), "age": "INTEGER"}, rows)
    asked: list[dict[str, Any]] = [{"k_anonymity": {"k": k}}]
    result = kanon_sql.anonymize(
        shared_database.engine, spec_of(privacy=asked, unit="who", suppression={"max_share": 0.9})
    )
    if result.passed:
        found = in_order(shared_database.rows("shown"))
        assert found == texts(list(shown(rows, node_of(result), asked, "who").elements()))
        assert shared_database.columns("shown") == ["age", "zip", "city", "dx", "note"]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            name, marks=[pytest.mark.xdist_group(f"{name} views"), *([pytest.mark.slow] if name == "spark" else [])]
        )
        for name in SUBJECTS
        if name != "clickhouse"
    ],
)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        yield made


@contextmanager
def published_on(
    subject: Subject, rows: Sequence[tuple[Any, ...]], **changes: Any
) -> Iterator[tuple[Engine, kanon_sql.results.Release]]:
    subject.drop("shown", "VIEW")
    subject.table("people", COLUMNS, rows)
    with subject.connect() as engine:
        yield engine, publish(engine, **changes)
    subject.drop("shown", "VIEW")


def refill(subject: Subject, rows: Sequence[tuple[Any, ...]]) -> None:
    """The same table with other rows."""
    if subject.name == "spark":  # its view finds a table by its name
        subject.table("people", COLUMNS, rows)
        return
    subject.execute("DELETE FROM people")
    values = ", ".join("(" + ", ".join(map(subject.value, row, COLUMNS.values())) + ")" for row in rows)
    subject.execute(f"INSERT INTO people VALUES {values}")


@pytest.mark.campaign_on("spark")
@pytest.mark.sampled(4)
@pytest.mark.slow
def test_every_engine_shows_the_same(subject: Subject) -> None:
    """With both kinds of hierarchy, persons and a requirement on values; after a change, too; no scratch is left."""
    rows = people(5, 90)
    before = {name for name in subject.tables() if name.startswith("kanon")} | {
        "kanon_sql_manifest",
        "kanon_sql_scratch",
    }
    variants: list[dict[str, Any]] = [{"unit": "who"}, {"privacy": REQUIREMENTS[1]}, {}, {"privacy": REQUIREMENTS[3]}]
    for changes in variants[: 2 if subject.name == "spark" else 4]:
        with published_on(subject, rows, **changes) as (engine, result):
            asked, node = changes.get("privacy", [{"k_anonymity": {"k": 3}}]), node_of(result)
            assert in_order(subject.rows("shown")) == texts(
                list(shown(rows, node, asked, changes.get("unit")).elements())
            )
            assert result.manifest is not None
            assert result.manifest["release"] == "shown"
            more = [*people(6, 20), (25, "11a", "Nowhere", "flu", "p9", None)]
            refill(subject, [*rows[10:], *more])
            found = in_order(subject.rows("shown"))
            assert found == texts(list(shown([*rows[10:], *more], node, asked, changes.get("unit")).elements()))
            assert {name for name in subject.tables() if name.startswith("kanon")} <= before
            if "unit" not in changes:
                assert kanon_sql.check(engine, spec_of(**changes)).passed


TYPED = {
    "born": "date", "seen": "timestamp", "pay": "decimal", "dose": "double", "code": "text", "note": "text",
}  # fmt: skip


@pytest.mark.campaign_on("spark")
@pytest.mark.sampled(4)
@pytest.mark.slow
def test_every_type_is_labelled_as_in_a_table(subject: Subject) -> None:
    """At the same levels, a table of the same rows holds the same labels, also of NULL and of negative numbers."""
    draw = random.Random(3)
    rows = [
        (
            draw.choice([None, date(1989, 12, 31), date(1990, 1, 1), date(2000, 2, 29)]),
            draw.choice([datetime(2020, 5, 17, 23, 59, 59), datetime(2021, 6, 1, 0, 0, 0)]),
            draw.choice([None, Decimal("-0.01"), Decimal("9.99"), Decimal("10.00")]),
            draw.choice([-1.5, 0.0, 2.0, 7.25]),
            draw.choice(["aa", "ab", "Aa", "é", None]),
            draw.choice(["x", "y"]),
        )
        for _ in range(80)
    ]
    subject.drop("shown", "VIEW")
    subject.table("people", TYPED, rows)
    spec: dict[str, Any] = {
        "version": 1,
        "source": "people",
        "quasi_identifiers": {
            "born": {"dates": ["month", "decade"]},
            "seen": {"dates": ["day", "year"]},
            "pay": {"intervals": [5]},
            "dose": {"intervals": [2.5]},
            "code": {"prefix": [1]},
        },
        "keep": ["note"],
        "privacy": [{"k_anonymity": 1}],
    }
    with subject.connect() as engine:
        for level in (1,) if subject.name == "spark" else (0, 2):
            columns = {
                name: {**item, "minimum_level": min(level, len(next(iter(item.values()))) + 1)}
                for name, item in spec["quasi_identifiers"].items()
            }
            asked = {**spec, "quasi_identifiers": columns}
            view = {"view": "shown", "accept_sequence_risk": True}
            for release in ("labelled", view):
                kanon_sql.anonymize(engine, Spec.from_dict({**asked, "release": release})).raise_for_failure()
            found = texts(subject.rows("shown"))
            assert found == texts(subject.rows("labelled"))
            assert len(found) > 1
    subject.drop("shown", "VIEW")


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.campaign_on("spark")
def test_its_order_is_that_of_what_it_shows(subject: Subject) -> None:
    """The source's own order would tell who came last: rows of one class are in no order but that of their values."""
    rows = people(5, 90)
    with published_on(subject, rows):
        first = [tuple(map(str, row)) for row in subject.rows("shown")]
        refill(subject, rows[::-1])
        assert [tuple(map(str, row)) for row in subject.rows("shown")] == first


@pytest.mark.sampled(4)
@pytest.mark.campaign_on("spark")
@pytest.mark.slow
def test_it_replaces_its_own_and_nothing_else(subject: Subject) -> None:
    rows = people(5, 90)
    with published_on(subject, rows) as (engine, first):
        second = publish(engine, privacy=[{"k_anonymity": 5}])
        assert second.manifest is not None
        assert first.manifest is not None
        assert engine.view_mark(("shown",)) == second.manifest["run_id"] != first.manifest["run_id"]
        with pytest.raises(SpecError, match="guarded view, which a table cannot replace"):
            publish(engine, release="shown")
        subject.drop("shown", "VIEW")
        publish(engine, release="shown")
        with pytest.raises(SpecError, match="is a table of kanon_sql, which a view cannot replace"):
            publish(engine)
        subject.drop("shown")
        subject.execute("CREATE VIEW shown AS SELECT * FROM people")
        with pytest.raises(SpecError, match="there is already a view 'shown'"):
            publish(engine)
        subject.drop("shown", "VIEW")
        subject.table("shown", COLUMNS, rows)
        with pytest.raises(SpecError, match="there is already a table 'shown'"):
            publish(engine)
        subject.drop("shown")


# --- What is refused ----------------------------------------------------------------------------


YAML = """\
version: 1
source: people
release: {view: shown}
quasi_identifiers:
  age: {intervals: [10]}
privacy: [k_anonymity: 3]
"""


@pytest.mark.parametrize(
    ("release", "says"),
    [
        ("{view: shown}", "3:10: release: a view shows each change of the source at once"),
        ("{view: shown, accept_sequence_risk: false}", "3:46: release.accept_sequence_risk: a view shows each change"),
        ("{view: shown, accept_sequence_risk: 1}", "3:46: release.accept_sequence_risk: expected true or false"),
        ("{view: 5, accept_sequence_risk: true}", "3:17: release.view: expected a table name, got a whole number"),
        ("{view: people, accept_sequence_risk: true}", "the release has the source's name"),
        ("{view: shown, risk: true}", "release.risk: unknown key"),
    ],
)
def test_a_spec_says_that_the_risk_is_accepted(release: str, says: str) -> None:
    with pytest.raises(SpecError) as error:
        Spec.parse(YAML.replace("{view: shown}", release), "spec.yml")
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"source": {"query": "SELECT * FROM people"}}, "source: a guarded view needs a table or view"),
        ({"ledger": {"table": "seen"}}, "ledger: a ledger compares unchanging releases"),
        ({"recoding": "local"}, "recoding: a view has one level per column"),
        ({"recoding": {"save_as": "kept"}}, "recoding: a view already applies the recoding"),
        (
            {"search": {"algorithm": "k_optimize"}, "quasi_identifiers": {"age": {}}},
            "search: a view needs fixed levels",
        ),
        ({"suppression": {"max_rows": 3, "style": "mask"}}, "suppression.style: in a view, masked rows"),
        ({"quasi_identifiers": {"city": {"table": "regions"}}}, "quasi_identifiers.city.table: in a guarded view"),
        ({"quasi_identifiers": {"age": {"sql": ["x / 10"]}}}, "quasi_identifiers.age.sql: in a guarded view"),
        (
            {"quasi_identifiers": {"age": {"intervals": [5], "as": "bounds"}}},
            "quasi_identifiers.age.as: in a guarded view",
        ),
        ({"steps": {"columns": {"age": {"round": 5}}}}, "steps: a view has no release steps"),
    ],
)
def test_what_follows_from_the_rows_at_hand_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError) as error:
        spec_of(**changes)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"privacy": [{"t_closeness": {"attribute": "dx", "t": 0.5}}]},
            "it compares a class with rows outside of it",
        ),
        (
            {"privacy": [{"k_anonymity": 3}, {"k_anonymity": {"k": 5, "quasi_identifiers": ["age"]}}]},
            "classes by other columns",
        ),
        ({"privacy": [{"l_diversity": {"attribute": "dx", "l": 2}}], "unit": "who"}, "values are counted by person"),
        (
            {"privacy": [{"alpha_k_anonymity": {"attribute": "dx", "alpha": 0.5, "k": 2, "values": ["flu"]}}]},
            "by a list",
        ),
    ],
)
def test_what_windows_do_not_tell_is_refused(database: Database, changes: dict[str, Any], says: str) -> None:
    database.table("people", {**dict.fromkeys(COLUMNS, "VARCHAR"), "age": "INTEGER"}, people(1))
    with pytest.raises(UnsupportedError, match=says):
        publish(database.engine, **changes)
    assert database.tables() == ["people"]


def test_a_view_does_not_outlive_its_source(database: Database) -> None:
    database.connection.execute(
        "CREATE TEMP TABLE people AS SELECT 1 AS age, '1' AS zip, 'Oslo' AS city, 'a' AS dx, '' AS note"
    )
    with pytest.raises(SpecError, match="temporary table"):
        publish(database.engine)


@pytest.mark.slow
def test_its_text_tells_of_no_rare_value(database: Database) -> None:
    """A hierarchy that lists what occurs, a value of one row among it, would stand in the text that readers see."""
    rows = [(20, "11", city, "flu", "p", "x") for city in ["Oslo"] * 9 + ["Rome"]]
    database.table("people", {**dict.fromkeys(COLUMNS, "VARCHAR"), "age": "INTEGER"}, rows)
    tree = {"north": ["Oslo"], "south": ["Rome"]}
    asked: dict[str, Any] = {"quasi_identifiers": {"city": {"tree": tree, "minimum_level": 1, "maximum_level": 1}}}
    with pytest.raises(UnsupportedError, match="would reveal 1 of them"):
        publish(database.engine, **asked)
    assert "shown" not in database.tables()
    tree["south"].append("Bari")
    result = publish(database.engine, **asked)
    assert any("lists the 3 values" in note for note in result.notes)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["duckdb", pytest.param("mariadb", marks=pytest.mark.xdist_group("mariadb views"))])
def test_a_view_that_fails_its_examination_is_dropped(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where DDL rolls back the earlier view stays; elsewhere there is none."""
    with subject_of(name) as subject:
        subject.table("people", COLUMNS, people(5, 90))
        with subject.connect() as engine:
            first = publish(engine)

            def fails(*_: Any) -> None:
                raise VerificationError("verification: not what was promised")

            monkeypatch.setattr(publishing, "verify_view", fails)
            with pytest.raises(VerificationError):
                publish(engine)
            assert first.manifest is not None
            stands = engine.view_mark(("shown",))
            assert stands == (first.manifest["run_id"] if engine.capabilities.transactional_ddl else None)
            assert clean(engine, drop=False).left == 0


def test_a_view_is_not_created_that_shows_other_rows(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The query itself is verified as a table first: a wrong condition in it is found before anybody can read it."""
    database.table("people", {**dict.fromkeys(COLUMNS, "VARCHAR"), "age": "INTEGER"}, people(5, 90))
    monkeypatch.setattr(guarded_view, "_condition", lambda *_: Sql("1 = 1"))
    with pytest.raises(VerificationError, match="rows were written where"):
        publish(database.engine)
    assert "shown" not in database.tables()


@pytest.mark.slow
def test_a_view_whose_publishing_was_cut_off_is_settled(database: Database) -> None:
    """By the mark in its text, which nobody else's view has."""
    database.table("people", {**dict.fromkeys(COLUMNS, "VARCHAR"), "age": "INTEGER"}, people(5, 90))
    publish(database.engine)
    database.connection.execute("UPDATE kanon_sql_manifest SET published_at = 'pending'")
    assert [item.state for item in clean(database.engine, drop=False).objects] == ["published, not settled"]
    assert [item.state for item in clean(database.engine, drop=True).objects] == ["settled"]


@pytest.mark.slow
def test_the_command_line_publishes_and_renders_it(clinic: Path) -> None:
    text = Path("spec.yml").read_text()
    Path("spec.yml").write_text(re.sub(r"release: .*", "release: {view: shown, accept_sequence_risk: true}", text))
    result = run("anonymize", "spec.yml", "-d", "clinic.duckdb", "--format", "json")
    assert result.exit_code == 0, result.output
    assert any("each change of its source" in note for note in json.loads(result.stdout)["notes"])
    assert run("check", "spec.yml", "-d", "clinic.duckdb").exit_code == 0
    for dialect, words in (("postgres", "security_barrier = true"), ("mariadb", "SQL SECURITY DEFINER VIEW")):
        script = run("pipeline", "render", "spec.yml", "--dialect", dialect)
        assert script.exit_code == 0, script.output
        assert words in script.stdout
        assert "OVER (" in script.stdout
        assert SECRET not in script.stdout
    refused = run("pipeline", "render", "spec.yml", "--dialect", "snowflake")
    assert refused.exit_code != 0
    assert "not tried as guards" in refused.output
