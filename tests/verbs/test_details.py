"""What a report shows beyond a result, against plain counting in Python."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.evaluate.class_counts import closeness_of_all, distance_edges
from kanon_sql.evaluate.examination import size_edges, size_number
from kanon_sql.models.privacy.alpha_k_anonymity import AlphaKAnonymityModel
from kanon_sql.models.privacy.k_anonymity import KAnonymityModel
from kanon_sql.models.privacy.l_diversity import EntropyLDiversity
from kanon_sql.models.privacy.p_sensitive_k_anonymity import PSensitiveModel
from kanon_sql.models.privacy.t_closeness import TCloseness
from kanon_sql.sql.statement import Compiler
from kanon_sql.sql.text import Sql
from kanon_sql.testing import Subject
from kanon_sql.verbs import details as module
from tests.servers import subject_of
from tests.support.specs import QUIET
from tests.support.strategies import examples

Rows = Sequence[tuple[Any, ...]]

COLUMNS = {"person": "integer", "zip": "text", "age": "integer", "dx": "text"}
SPEC: dict[str, Any] = {
    "version": 1,
    "source": "people",
    "quasi_identifiers": {"zip": {"prefix": [1]}, "age": {"intervals": [10]}},
    "sensitive": ["dx"],
    "privacy": [{"k_anonymity": 2}, {"t_closeness": {"attribute": "dx", "t": 0.5}}],
    "suppression": {"max_share": 1.0},
    "warnings": QUIET,
}
GENERALIZE = {
    "zip": [lambda value: value, lambda value: None if value is None else value[0] + "*", lambda value: "*"],
    "age": [lambda value: value, lambda value: None if value is None else value // 10, lambda value: "*"],
}


# --- The same by hand ------------------------------------------------------------------------


def classes_of(rows: Rows, node: Mapping[str, int]) -> list[list[tuple[Any, ...]]]:
    found: dict[Any, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        key = (GENERALIZE["zip"][node["zip"]](row[1]), GENERALIZE["age"][node["age"]](row[2]))
        found[key].append(row)
    return list(found.values())


def counted(rows: Rows, unit: bool) -> int:
    return len({row[0] for row in rows if row[0] is not None}) if unit else len(rows)


def shares(rows: Rows, unit: bool) -> dict[Any, Fraction]:
    values: dict[Any, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        values[row[3]].append(row)
    counts = {value: counted(own, unit) for value, own in values.items()}
    total = sum(counts.values())
    return {value: Fraction(count, total) if total else Fraction(0) for value, count in counts.items()}


def distance(own: Rows, whole: Rows, unit: bool) -> Fraction:
    """Equal ground distance; the total of a class is that of its values' counts."""
    p, q = shares(own, unit), shares(whole, unit)
    return sum((max(Fraction(0), p.get(value, Fraction(0)) - q[value]) for value in q), Fraction(0))


def satisfying(classes: Sequence[Rows], whole: Rows, k: int, t: Fraction) -> list[Rows]:
    return [own for own in classes if len(own) >= k and distance(own, whole, False) <= t]


def sizes_by_hand(classes: Sequence[Rows], unit: bool, edges: Sequence[int]) -> dict[float, tuple[int, int]]:
    found: dict[float, list[int]] = defaultdict(list)
    for own in classes:
        size = counted(own, unit)
        found[max(edge for edge in edges if edge <= size)].append(size)
    return {low: (len(sizes), sum(sizes)) for low, sizes in found.items()}


def distances_by_hand(
    classes: Sequence[Rows], whole: Rows, unit: bool, edges: Sequence[float]
) -> Counter[float | None]:
    return Counter(
        min(edge for edge in edges if distance(own, whole, unit) <= Fraction(edge) + Fraction(1, 10**9))
        for own in classes
        if counted(own, unit)
    )


EDGES = [0, 1, 2, 5, 10, 20, 50]
"""Where ranges of sizes begin; the tables here are small."""


# --- On every engine -------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["duckdb", "postgres", "sqlite", "mariadb", "clickhouse"])
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        yield made


@pytest.fixture(scope="module")
def engine(subject: Subject) -> Iterator[Engine]:
    opened = subject.connect()
    yield opened
    opened.close()


cells = st.tuples(
    st.integers(0, 5), st.sampled_from(["11", "12", "21", None]), st.sampled_from([1, 2, 11, None]),
    st.sampled_from(["a", "b", "c", None]),
)  # fmt: skip
ROWS: list[tuple[Any, ...]] = [
    (
        index // 2,
        ["11", "12", "21"][index % 3],
        [1, 2, 11, None][index % 4],
        ["a", "b", "c", None][index % 4 or index % 3],
    )
    for index in range(40)
] + [(99, None, None, "z")]


def agree(result: kanon_sql.results.Plan, rows: Rows, unit: bool) -> None:
    details = result.details
    assert details is not None
    source = next(table for table in details.tables if table.name == "source")
    edges, ends = EDGES, distance_edges([0.5])
    raw = classes_of(rows, {"zip": 0, "age": 0})
    assert {item.low: (item.classes, item.records) for item in source.sizes} == sizes_by_hand(raw, unit, edges)
    by_hand = distances_by_hand(raw, rows, unit, ends)
    assert {item.high: item.classes for item in source.distances[0].ranges if item.high is not None} == by_hand
    assert source.risk is not None
    held = [counted(own, unit) for own in raw if counted(own, unit)]
    assert source.risk.highest == pytest.approx(1 / min(held))
    assert source.risk.average == pytest.approx(min(1, len(raw) / sum(held)))
    assert source.risk.unique == pytest.approx(sum(size for size in held if size == 1) / sum(held))
    assert source.risk.above == pytest.approx(sum(size for size in held if size < 2) / sum(held))
    if result.node is None:
        assert len(details.tables) == 1
        return
    release = details.tables[1]
    assert release.classes == result.classes["count"]
    if not unit:
        kept = satisfying(classes_of(rows, result.node), rows, 2, Fraction(1, 2))
        assert {item.low: (item.classes, item.records) for item in release.sizes} == sizes_by_hand(kept, unit, edges)
        assert {item.high: item.classes for item in release.distances[0].ranges} == distances_by_hand(
            kept, rows, unit, ends
        )


@pytest.mark.sampled(5)
def test_every_engine_finds_the_range_of_every_size(subject: Subject, engine: Engine) -> None:
    edges = size_edges([KAnonymityModel(3), PSensitiveModel("dx", 2, 77)])
    sizes = sorted({size for edge in edges for size in (edge - 1, edge, edge + 1) if size >= 0} | {2**63 - 1})
    subject.table("counted", {"class_size": "bigint"}, [(size,) for size in sizes])
    statement = Compiler(subject.dialect, "").statement(
        "evaluate/examine/sized", flagged=Sql("SELECT class_size FROM counted"), size=size_number(edges)
    )
    found = {int(size): int(number) for size, number in engine.fetch(statement, len(sizes))}
    assert found == {size: bisect_right(edges, size) - 1 for size in sizes}
    if subject.name != "duckdb":
        subject.drop("counted")


@pytest.mark.slow
@pytest.mark.sampled(10)
@pytest.mark.parametrize("unit", [None, "person"])
def test_every_engine_counts_what_python_counts(subject: Subject, engine: Engine, unit: str | None) -> None:
    subject.table("people", COLUMNS, ROWS)
    result = kanon_sql.plan(engine, kanon_sql.Spec.from_dict({**SPEC, "unit": unit}), details=True)
    assert result.passed
    agree(result, ROWS, unit is not None)
    assert result.details is not None
    assert result.details.counted == ("rows" if unit is None else "persons")
    if subject.name != "duckdb":
        subject.drop("people")


@pytest.mark.slow
@examples(8)
@given(rows=st.lists(cells, min_size=1, max_size=30), unit=st.booleans())
def test_random_tables(rows: list[tuple[Any, ...]], unit: bool) -> None:
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    connection.execute("CREATE TABLE people (person INTEGER, zip VARCHAR, age INTEGER, dx VARCHAR)")
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
    spec = kanon_sql.Spec.from_dict({**SPEC, "unit": "person" if unit else None})
    agree(kanon_sql.plan(kanon_sql.connect(connection), spec, details=True), rows, unit)
    connection.close()


# --- Ranges ----------------------------------------------------------------------------------


def test_a_range_begins_at_every_k_and_ends_at_every_t() -> None:
    models = [KAnonymityModel(3), PSensitiveModel("dx", 2, 7), AlphaKAnonymityModel("dx", 0.5, 30, ("a",))]
    assert size_edges([*models, EntropyLDiversity("dx", 4.0)])[:11] == [0, 1, 2, 3, 5, 7, 10, 20, 30, 50, 100]
    assert size_edges([])[-1] == 5 * 10**18, "the last that 64 bits hold"
    assert 0.33 in distance_edges([0.33])
    assert len(distance_edges([0.15])) == len(distance_edges([])) == 21, "0.15 is an end already"
    assert distance_edges([0, 1, 7]) == distance_edges([])


def test_every_sensitive_attribute_has_a_distance() -> None:
    models = [KAnonymityModel(3), EntropyLDiversity("zip", 2.0), TCloseness("dx", 0.3), EntropyLDiversity("dx", 4.0)]
    assert [(model.attribute, model.t) for model in closeness_of_all(models)] == [("dx", 0.3), ("zip", 1.0)]


# --- What it costs ---------------------------------------------------------------------------


@pytest.fixture
def people(database: Any) -> Engine:
    database.table("people", {"person": "INTEGER", "zip": "VARCHAR", "age": "INTEGER", "dx": "VARCHAR"}, ROWS)
    engine: Engine = database.engine
    return engine


@pytest.mark.slow
def test_it_costs_one_statement_and_no_scan(people: Engine) -> None:
    spec = kanon_sql.Spec.from_dict({**SPEC, "release": "people_release"})
    without, having = kanon_sql.plan(people, spec), kanon_sql.plan(people, spec, details=True)
    assert without.details is None
    assert having.cost.statements == without.cost.statements + 1
    assert having.cost.source_scans == without.cost.source_scans == 1
    assert having.details is not None
    assert sum(having.details.statements.values()) == having.cost.statements
    first = kanon_sql.Spec.from_dict({**SPEC, "release": "first_release"})
    assert kanon_sql.anonymize(people, first).passed, "it makes the tables that all runs share"
    without = kanon_sql.anonymize(people, spec)
    other = kanon_sql.Spec.from_dict({**SPEC, "release": "another_release"})
    having = kanon_sql.anonymize(people, other, details=True)
    assert having.cost.statements == without.cost.statements + 1
    assert having.cost.source_scans == without.cost.source_scans
    assert having.manifest is not None
    assert having.manifest["details"]["tables"] == having.to_dict()["details"]["tables"]
    assert (
        kanon_sql.check(people, spec, details=True).cost.statements == kanon_sql.check(people, spec).cost.statements + 1
    )


def test_losses_are_those_of_the_metric(people: Engine) -> None:
    spec = kanon_sql.Spec.from_dict(SPEC)
    result = kanon_sql.plan(people, spec, details=True)
    assert result.details is not None
    product = 1.0
    for item in result.details.attributes:
        product *= 1 + item.loss
    assert product ** (1 / len(result.details.attributes)) - 1 == pytest.approx(result.metrics["loss"])
    assert {item.name: item.level for item in result.details.attributes} == result.node


def test_check_counts_the_table_as_it_stands(people: Engine) -> None:
    result = kanon_sql.check(people, kanon_sql.Spec.from_dict(SPEC), "people", details=True)
    assert result.details is not None
    (table,) = result.details.tables
    raw = classes_of(ROWS, {"zip": 0, "age": 0})
    assert {item.low: (item.classes, item.records) for item in table.sizes} == sizes_by_hand(raw, False, EDGES)
    assert {item.high: item.classes for item in table.distances[0].ranges} == distances_by_hand(
        raw, ROWS, False, distance_edges([0.5])
    )
    assert result.details.lattice is None


@pytest.mark.slow
def test_the_lattice_is_listed_while_it_is_small(people: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = kanon_sql.Spec.from_dict({**SPEC, "search": {"algorithm": "exhaustive"}})

    def lattice() -> Any:
        result = kanon_sql.plan(people, spec, details=True)
        assert result.details is not None
        return result.details.lattice

    small = lattice()
    assert len(small.nodes) == 9
    assert [item.nodes for item in small.heights] == [1, 2, 3, 2, 1]
    assert sum(sum(item.known.values()) for item in small.heights) == 9
    monkeypatch.setattr(module, "LISTED", 8)
    assert lattice().nodes is None
    assert lattice().heights == small.heights
    monkeypatch.setattr(module, "EXPLAINED", 8)
    assert [(item.nodes, item.known) for item in lattice().heights] == [(n, None) for n in [1, 2, 3, 2, 1]]


# --- Degenerate ------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_row_one_class_and_no_solution(database: Any) -> None:
    columns = {"person": "INTEGER", "zip": "VARCHAR", "age": "INTEGER", "dx": "VARCHAR"}
    spec = kanon_sql.Spec.from_dict({**SPEC, "suppression": {"max_rows": 0}})
    database.table("people", columns, [])
    empty = kanon_sql.plan(database.engine, spec, details=True)
    assert empty.details is not None
    assert empty.details.tables == ()
    checked = kanon_sql.check(database.engine, spec, "people", details=True).details
    assert checked is not None
    assert (checked.tables[0].classes, checked.tables[0].risk) == (0, None)
    database.table("people", columns, [(1, None, None, None)] * 3)
    one = kanon_sql.plan(database.engine, spec, details=True).details
    assert one is not None
    assert [(table.classes, table.records) for table in one.tables] == [(1, 3), (1, 3)]
    assert [(item.low, item.high) for item in one.tables[1].distances[0].ranges] == [(0, 0)], "no distance at all"
    database.table("people", columns, [(1, "11", 1, "a")])
    failed = kanon_sql.plan(database.engine, spec, details=True)
    assert not failed.passed
    assert failed.details is not None
    assert [table.name for table in failed.details.tables] == ["source"]
    assert failed.details.attributes == ()
