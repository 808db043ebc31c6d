"""Samarati's distance-vector matrix: against brute force, the oracle, and the evaluator's own verdicts."""

from __future__ import annotations

import io
import json
import random
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import jsonschema
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from rich.console import Console

import kanon_sql
from kanon_sql.engines.base import Deadline
from kanon_sql.errors import SearchTooLarge, SpecError, UnsupportedError
from kanon_sql.evaluate import NothingToSearch, distances_between
from kanon_sql.evaluate import distance_vectors as matrix
from kanon_sql.evaluate import distances as distances_module
from kanon_sql.evaluate.distance_vectors import DistanceMatrix
from kanon_sql.evaluate.evaluator import Evaluator
from kanon_sql.evaluate.search import searched
from kanon_sql.report.json import result_schema
from kanon_sql.report.text import result_text
from kanon_sql.search import Batch
from tests.conftest import Database
from tests.oracles.lattice import Oracle
from tests.oracles.model import Node, class_size, generalize, height_of
from tests.servers import subject_of
from tests.support import literature as lit
from tests.support.oracle_cases import OWNERS, Case, cases, load, one_vector_each, with_persons
from tests.support.strategies import examples
from tests.support.suppressions import suppressing

WITH_MATRIX = {"algorithm": "samarati", "distance_vectors": True}


def plain(case: Case, k: int) -> Case:
    """The case with k-anonymity alone."""
    problem = replace(case.problem, requirements=[{"k_anonymity": {"k": k}}])
    return replace(case, problem=problem, algorithm="samarati")


def of_persons(case: Case, seed: int) -> Case:
    """The case with persons, who may have several rows, all of one vector; some rows belong to nobody."""
    draw = random.Random(seed)
    owners = [draw.choice([*OWNERS[: draw.choice([3, 6, 12])], None]) for _ in case.problem.rows]
    problem = with_persons(case.problem, owners)
    return replace(case, problem=replace(problem, rows=one_vector_each(problem.rows, problem.hierarchies, "unit")))


# --- against brute force --------------------------------------------------------------------------


def distances(oracle: Oracle, k: int) -> tuple[int, int, int]:
    """Outliers, distinct vectors, and rows of the matrix, in plain Python from the definition."""
    columns = oracle.columns
    kept = [row for row in oracle.rows if oracle.nulls == "value" or all(row[column] is not None for column in columns)]
    members: dict[tuple[Any, ...], list[Any]] = {}
    for row in kept:
        members.setdefault(tuple(row[column] for column in columns), []).append(row)
    labels = {
        column: {**hierarchy, None: (None,) * height_of(hierarchy) + (next(iter(hierarchy.values()))[-1],)}
        for column, hierarchy in oracle.hierarchies.items()
    }

    def distance(one: tuple[Any, ...], other: tuple[Any, ...]) -> Node:
        return tuple(
            next(level for level, (a, b) in enumerate(zip(labels[c][x], labels[c][y], strict=True)) if a == b)
            for c, x, y in zip(columns, one, other, strict=True)
        )

    outliers = [vector for vector, rows in members.items() if class_size(rows, oracle.unit) < k]
    found = Counter((outlier, distance(outlier, vector)) for outlier in outliers for vector in members)
    return len(outliers), len(members), len(found)


def with_matrix(evaluator: Evaluator, k: int) -> None:
    evaluator.matrix = DistanceMatrix(evaluator.workspace, evaluator.sets, k)


@pytest.mark.slow
@given(case=cases(max_nodes=48, models=False), k=st.integers(1, 5), persons=st.none() | st.integers(0, 99))
@examples(12)
def test_every_verdict_is_the_oracles_and_the_evaluators(
    shared_database: Database, folder: Path, case: Case, k: int, persons: int | None
) -> None:
    case = plain(case if persons is None else of_persons(case, persons), k)
    spec, oracle = load(shared_database, folder, case), case.problem.oracle()
    with searched(shared_database.engine, spec) as found:
        if isinstance(found, NothingToSearch):
            return
        evaluator = found.evaluator
        event(f"counting {found.sets.counting}, nulls {bool(found.sets.null_rows)}")
        nodes = tuple(product(*(range(height + 1) for height in evaluator.heights)))
        own = {verdict.node: verdict for verdict in evaluator.ask(Batch(nodes))}
        if found.sets.counting == "unit":
            with pytest.raises(
                UnsupportedError, match=r"one person has rows with several; leave search\.distance_vectors out"
            ):
                with_matrix(evaluator, k)
            return
        with_matrix(evaluator, k)
        assert evaluator.matrix is not None
        # Vectors of equal labels may differ in their values, so brute force counts values.
        assert tuple(evaluator.matrix.sizes.values()) == distances(oracle, k)
        answered = evaluator.ask(Batch(nodes))
        assert len(answered) == len(nodes)
        for verdict in answered:
            truth = oracle.evaluate(verdict.node)
            assert (verdict.suppressed, verdict.satisfied) == (truth.suppressed, truth.satisfied), verdict.node
            assert verdict == replace(own[verdict.node], classes=None, kept_classes=None)


@pytest.mark.slow
@given(case=cases(max_nodes=48, models=False, units=False), k=st.integers(2, 4))
@examples(8)
def test_the_search_finds_the_same(shared_database: Database, folder: Path, case: Case, k: int) -> None:
    case = replace(plain(case, k), metric="height")
    if case.problem.unit is not None:
        return
    spec = load(shared_database, folder, case)
    written = spec.to_dict()
    plain_result = kanon_sql.plan(shared_database.engine, spec)
    written["search"]["distance_vectors"] = True
    result = kanon_sql.plan(shared_database.engine, kanon_sql.Spec.from_dict(written))
    assert (result.verdict, result.node, result.rows, result.classes, result.metrics) == (
        plain_result.verdict, plain_result.node, plain_result.rows, plain_result.classes, plain_result.metrics,
    )  # fmt: skip
    assert result.search is not None
    assert plain_result.search is not None
    assert result.search.nodes_evaluated == plain_result.search.nodes_evaluated
    assert plain_result.search.matrix is None


@pytest.mark.parametrize(
    "fault",
    [
        lambda suppressed: {node: rows - 1 if rows else 0 for node, rows in suppressed.items()},
        lambda suppressed: dict(zip(suppressed, reversed(list(suppressed.values())), strict=True)),
    ],
)
def test_planted_faults_are_noticed(database: Database, fault: Any) -> None:
    with nine_patients(database) as found:
        right = DistanceMatrix.suppressed
        nodes = tuple(lit.SAMARATI_SUPPRESSED)
        with patch.object(DistanceMatrix, "suppressed", lambda self, nodes: fault(right(self, nodes))):
            answered = {v.node: v.suppressed for v in found.evaluator.ask(Batch(nodes))}
        assert answered != lit.SAMARATI_SUPPRESSED


# --- the paper's table ----------------------------------------------------------------------------


def nine_patients(database: Database, **changes: Any) -> Any:
    table = lit.NINE_PATIENTS
    database.table("people", list(table[0]), [list(row.values()) for row in table])
    for column, hierarchy in lit.SAMARATI_HIERARCHIES.items():
        lines = list(hierarchy.values())
        database.table(f"h_{column}", [f"level{n}" for n in range(len(lines[0]))], lines)
    return searched(database.engine, patients_spec(**changes))


def patients_spec(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "quasi_identifiers": {column: {"table": f"h_{column}"} for column in lit.SAMARATI_HIERARCHIES},
            "privacy": [{"k_anonymity": {"k": lit.SAMARATI_K}}],
            "suppression": suppressing(lit.SAMARATI_MAX_SUP),
            "search": {"prefer": "maximum_distribution", **WITH_MATRIX},
            **changes,
        }
    )


def test_samaratis_table(database: Database) -> None:
    """(Race, ZIP): six outliers among seven vectors; every published suppression, and the published choice."""
    with nine_patients(database) as found:
        answered = {v.node: v.suppressed for v in found.evaluator.ask(Batch(tuple(lit.SAMARATI_SUPPRESSED)))}
        assert answered == lit.SAMARATI_SUPPRESSED
        assert found.node in lit.SAMARATI_PREFERRED["maximum_distribution"]
        matrix = found.evaluator.matrix
        assert matrix is not None
        oracle = Oracle(lit.NINE_PATIENTS, lit.SAMARATI_HIERARCHIES, nulls="value")
        vectors = Counter(generalize(oracle.rows, oracle.hierarchies, (0, 0)))
        assert (matrix.outliers, matrix.vectors) == (sum(n < 2 for n in vectors.values()), len(vectors)) == (6, 7)
        assert tuple(matrix.sizes.values()) == distances(oracle, lit.SAMARATI_K)


def test_no_generalized_table_is_made_until_a_solution_is_measured(database: Database) -> None:
    with database.engine.run(Deadline(None)) as meter, nine_patients(database) as found:
        names = [statement.name for statement in meter.log if statement.name.startswith("evaluate")]
        assert found.work is not None
        assert names[:4] == [
            "evaluate/distance_vectors/size",
            "evaluate/distance_vectors/outliers",
            "evaluate/distance_vectors/distances",
            "evaluate/distance_vectors/node",
        ]
        assert names.count("evaluate/distance_vectors/node") >= 1
        assert names.count("evaluate/node") == 1, "the solutions of the lowest height, with the metric"
        base = found.workspace.quoted(found.sets.base)
        reads = [
            s.sql.count(base)
            for s in meter.log
            if s.name.startswith("evaluate/distance_vectors") or s.name == "evaluate/node"
        ]
        assert found.work.base_reads == sum(reads)
        summary = found.summary()
        assert summary.matrix == {"outliers": 6, "vectors": 7, "rows": found.evaluator.matrix.rows}


def test_nothing_but_large_vectors(database: Database) -> None:
    """Without outliers the matrix is empty, and nothing is suppressed anywhere."""
    database.table("people", ["sex"], [["M"], ["M"], ["F"], ["F"]])
    spec = patients_spec(quasi_identifiers={"sex": None})
    with searched(database.engine, spec) as found:
        assert found.evaluator.matrix is not None
        assert found.evaluator.matrix.sizes == {"outliers": 0, "vectors": 2, "rows": 0}
        assert [v.suppressed for v in found.evaluator.ask(Batch(((0,), (1,))))] == [0, 0]
        assert found.node == (0,)


# --- refusals -------------------------------------------------------------------------------------


def test_too_many_pairs_are_refused_with_the_product_the_limit_and_what_to_do(database: Database) -> None:
    with (
        patch.object(matrix, "MOST_PAIRS", 41),
        pytest.raises(
            SearchTooLarge,
            match=r"6 outliers with 7 distinct vectors: 42 pairs \(at most 41\). Leave search.distance_vectors out",
        ),
        nine_patients(database),
    ):
        pass
    with patch.object(matrix, "MOST_PAIRS", 42), nine_patients(database) as found:
        assert found.node is not None


def test_without_scratch_tables_it_is_refused() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people AS SELECT 'M' AS sex")
        engine = kanon_sql.connect(connection, scratch="inline")
        with pytest.raises(UnsupportedError, match=r"search\.distance_vectors needs a scratch table"):
            kanon_sql.plan(engine, patients_spec(quasi_identifiers={"sex": None}))


def problems(**changes: Any) -> str:
    with pytest.raises(SpecError) as refused:
        patients_spec(**changes)
    return str(refused.value)


@pytest.mark.parametrize("search", [{"distance_vectors": True}, {"algorithm": "incognito", "distance_vectors": False}])
def test_only_samarati_takes_it(search: dict[str, Any]) -> None:
    algorithm = search.get("algorithm", "optimal")
    assert f"search.distance_vectors: the algorithm {algorithm} does not use this option, only samarati" in problems(
        search=search
    )


def test_only_incognito_has_variants() -> None:
    said = problems(search={"algorithm": "samarati", "variant": "basic"})
    assert "search.variant: the algorithm samarati does not use this option, only incognito" in said
    said = problems(search={"algorithm": "incognito", "variant": "super-roots"})
    assert "search.variant: unknown variant of incognito; did you mean 'super_roots'?" in said


def test_only_k_anonymity_is_counted_by_it() -> None:
    diverse = [{"k_anonymity": 2}, {"l_diversity": {"attribute": "health", "l": 2}}]
    said = problems(privacy=diverse, sensitive=["health"])
    assert "search.distance_vectors: the distance matrix decides only k_anonymity, but privacy also has" in said
    patients_spec(privacy=diverse, sensitive=["health"], search={**WITH_MATRIX, "distance_vectors": False})


def test_what_is_written_can_be_read_back() -> None:
    for search in (WITH_MATRIX, {"algorithm": "incognito", "variant": "cube"}, {}, {"algorithm": "samarati"}):
        spec = patients_spec(search=search)
        assert kanon_sql.Spec.from_dict(spec.to_dict()) == spec
        assert spec.to_dict()["search"].keys() - {"algorithm", "metric", "prefer"} == {
            "samarati": {"distance_vectors"}, "incognito": {"variant"},
        }.get(spec.search.algorithm, set())  # fmt: skip


# --- the matrix, shown ------------------------------------------------------------------------------


def shown_by_brute_force(oracle: Oracle, k: int) -> tuple[list[int], Counter[tuple[Any, ...]]]:
    """Sizes of the large vectors, and per outlier the multiset of (size of the other or None, distance)."""
    columns = oracle.columns
    kept = [row for row in oracle.rows if oracle.nulls == "value" or all(row[column] is not None for column in columns)]
    members: dict[tuple[Any, ...], list[Any]] = {}
    for row in kept:
        members.setdefault(tuple(row[column] for column in columns), []).append(row)
    labels = {
        column: {**hierarchy, None: (None,) * height_of(hierarchy) + (next(iter(hierarchy.values()))[-1],)}
        for column, hierarchy in oracle.hierarchies.items()
    }
    sizes = {vector: class_size(rows, oracle.unit) for vector, rows in members.items()}

    def profile(outlier: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            sorted(
                (
                    sizes[vector] if sizes[vector] >= k else 0,
                    tuple(
                        next(n for n, (a, b) in enumerate(zip(labels[c][x], labels[c][y], strict=True)) if a == b)
                        for c, x, y in zip(columns, outlier, vector, strict=True)
                    ),
                )
                for vector in members
            )
        )

    large = sorted((size for size in sizes.values() if size >= k), reverse=True)
    return large, Counter(profile(vector) for vector, size in sizes.items() if size < k)


@pytest.mark.slow
@given(case=cases(max_nodes=48, models=False), k=st.integers(1, 5), persons=st.none() | st.integers(0, 99))
@examples(12)
def test_what_is_shown_is_every_distance(
    shared_database: Database, folder: Path, case: Case, k: int, persons: int | None
) -> None:
    case = plain(case if persons is None else of_persons(case, persons), k)
    spec, oracle = load(shared_database, folder, case), case.problem.oracle()
    with searched(shared_database.engine, spec) as found:
        if isinstance(found, NothingToSearch):
            return
        if found.sets.counting == "unit":
            with pytest.raises(
                UnsupportedError, match="one person has rows with several vectors; leave --show matrix out"
            ):
                distances_between(found.workspace, found.sets, k)
            return
        shown = distances_between(found.workspace, found.sets, k)
    large, profiles = shown_by_brute_force(oracle, k)
    event(f"{min(len(shown.outliers), 3)} outliers")
    if profiles:
        assert [size for size in shown.sizes if size is not None] == large
        assert None not in shown.sizes[: len(large)]
    told = [
        tuple(sorted((size or 0, distance) for size, distance in zip(shown.sizes, row, strict=True)))
        for row in shown.matrix
    ]
    assert Counter(told) == profiles
    for one, row in zip(shown.outliers, shown.matrix, strict=True):
        assert not any(row[one - 1]), "an outlier is at distance 0 from itself"
        for other, back in zip(shown.outliers, shown.matrix, strict=True):
            assert row[other - 1] == back[one - 1]


def test_samaratis_figure_is_shown(database: Database) -> None:
    """The nine patients: six outliers by seven vectors, and the distances that the paper's levels imply."""
    with nine_patients(database):
        result = kanon_sql.plan(database.engine, patients_spec(search={}), matrix=True)
    assert result.search is not None
    distances = result.search.distances
    assert distances is not None
    assert (distances.k, len(distances.outliers), len(distances.sizes)) == (2, 6, 7)
    assert distances.sizes == (3, *[None] * 6)
    oracle = Oracle(lit.NINE_PATIENTS, lit.SAMARATI_HIERARCHIES, nulls="value")
    _, profiles = shown_by_brute_force(oracle, 2)
    (large,) = {tuple(row[0] for row in distances.matrix)}
    assert sorted(large) == sorted(distance for row in profiles.elements() for size, distance in row if size)
    data = json.loads(json.dumps(result.to_dict()))
    jsonschema.Draft202012Validator(result_schema()).validate(data)
    assert data["search"]["distances"]["vectors"][:2] == [{"number": 1, "size": 3}, {"number": 2, "size": None}]
    everything = json.dumps(data["search"]["distances"])
    for row in lit.NINE_PATIENTS:
        assert not any(str(value) in everything for value in row.values())


def test_the_numbers_of_vectors_do_not_follow_their_values(database: Database) -> None:
    """The same sizes and distances of other values, in another order: the same is shown."""
    shown = []
    for values, groups in (("abcd", "xxyy"), ("dcba", "yyxx")):
        hierarchy = sorted([value, group, "*"] for value, group in zip(values, groups, strict=True))
        database.table("h_v", ["level0", "level1", "level2"], hierarchy)
        database.table("h_w", ["level0"], [["-"]])
        rows = [value for value, times in zip(values, (3, 1, 1, 2), strict=True) for _ in range(times)]
        database.table("people", ["w", "v"], [["-", value] for value in rows])
        spec = patients_spec(quasi_identifiers={"w": {"table": "h_w"}, "v": {"table": "h_v"}}, search={})
        shown.append(kanon_sql.plan(database.engine, spec, matrix=True).search.distances)
    assert shown[0] == shown[1]
    assert shown[0] is not None
    assert (shown[0].sizes, shown[0].matrix) == (
        (3, 2, None, None), (((0, 1), (0, 2), (0, 0), (0, 2)), ((0, 2), (0, 1), (0, 2), (0, 0))),
    )  # fmt: skip


def test_a_matrix_that_nobody_would_read_is_refused(database: Database) -> None:
    with patch.object(distances_module, "MOST_SHOWN", 41), nine_patients(database):
        pass
    with (
        patch.object(distances_module, "MOST_SHOWN", 41),
        pytest.raises(SearchTooLarge, match=r"6 outliers by 7 distinct vectors: 42 distance vectors \(at most 41\)"),
    ):
        kanon_sql.plan(database.engine, patients_spec(search={}), matrix=True)
    with patch.object(distances_module, "MOST_SHOWN", 42):
        assert kanon_sql.plan(database.engine, patients_spec(search={}), matrix=True).search.distances is not None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"search": {"algorithm": "k_optimize"}}, "searches partitions, not levels of hierarchies"),
        ({"recoding": "local", "search": {}}, "--show matrix: labels differ by class"),
        (
            {"privacy": [{"l_diversity": {"attribute": "health", "l": 2}}], "sensitive": ["health"], "search": {}},
            "--show matrix: an outlier is a vector of fewer than k rows, and no requirement says how many",
        ),
    ],
)
def test_what_has_no_matrix_to_show(database: Database, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        kanon_sql.plan(database.engine, patients_spec(**changes), matrix=True)


@pytest.mark.slow
def test_the_text_has_a_column_per_outlier_or_says_where_it_is(database: Database) -> None:
    with nine_patients(database):
        result = kanon_sql.plan(database.engine, patients_spec(search={}), matrix=True)
    text = printed(result)
    assert "6 outliers (fewer than 2 rows) by 7 vectors of values" in text
    assert text.count("fewer than 2 ") == 7
    assert "[0, 0]" in text
    with patch("kanon_sql.report.text.MOST_COLUMNS", 5):
        assert "--format json lists their distance vectors" in printed(result)
    database.table("people", ["sex"], [["M"], ["M"], ["F"], ["F"]])
    none = kanon_sql.plan(database.engine, patients_spec(quasi_identifiers={"sex": None}, search={}), matrix=True)
    assert "no vector of values has fewer than 2 rows" in printed(none)
    database.table("people", ["sex"], [["M"]])
    empty = patients_spec(quasi_identifiers={"sex": None}, search={}, source={"query": "SELECT * FROM people LIMIT 0"})
    assert "Distance vectors" not in printed(kanon_sql.plan(database.engine, empty, matrix=True))


def printed(result: kanon_sql.results.Plan) -> str:
    console = Console(width=100, file=io.StringIO())
    console.print(result_text(result))
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


QUICK = ("postgres", "sqlite")
SLOW = tuple(pytest.param(name, marks=pytest.mark.slow) for name in ("mariadb", "clickhouse", "spark"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [*QUICK, *SLOW])
@pytest.mark.slow
@pytest.mark.campaign_on("spark")
def test_other_engines_show_the_same(name: str, database: Database) -> None:
    columns = {"race": {"tree": {"person": ["asian", "black", "white"]}}, "zip": {"prefix": [4, 3]}}
    spec = patients_spec(quasi_identifiers=columns, suppression={"max_rows": 1}, search={})
    rows = [(row["race"], row["zip"]) for row in lit.NINE_PATIENTS]
    database.table("people", ["race", "zip"], rows)
    expected = kanon_sql.plan(database.engine, spec, matrix=True).search.distances
    with subject_of(name) as theirs:
        theirs.table("people", {"race": "text", "zip": "text"}, rows)
        engine = theirs.connect()
        assert kanon_sql.plan(engine, spec, matrix=True).search.distances == expected
        engine.close()
    assert expected is not None
    assert len(expected.outliers) == 6
