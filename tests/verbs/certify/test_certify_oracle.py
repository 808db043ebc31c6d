"""``certify`` against plain Python: its definitions class by class, its proofs node by node, on random problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isclose
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines import Deadline, open_workspace
from kanon_sql.frequency import source_columns, source_of
from kanon_sql.sql import Relation, Sql, add_template_directory, remove_template_directory
from kanon_sql.verbs.certify.book import Book
from kanon_sql.verbs.certify.classes import classes_of, of_keys
from kanon_sql.verbs.certify.definitions import attributes_of, definitions_of
from kanon_sql.verbs.certify.ground import lay_ground
from kanon_sql.verbs.certify.verify_certificate import Answers, check_lattice, verify
from tests.conftest import Database
from tests.oracles.model import INFINITY, classes, frequencies, judge, model_of
from tests.servers import SUBJECTS, subject_of
from tests.servers.embedded import DuckDBSubject
from tests.support.certificates import where
from tests.support.oracle_cases import (
    ENTROPY_FALLS,
    NOBODY_TELLS,
    NULL_SUPPRESSED,
    RECURSIVE_FALLS,
    SAME_PERSON,
    Case,
    cases,
    load,
)
from tests.support.recodings import RECODINGS, RELEASE, fill, spec
from tests.support.strategies import RandomProblem, examples


@given(case=cases(max_nodes=64))
@example(case=NULL_SUPPRESSED)
@example(case=SAME_PERSON)
@example(case=RECURSIVE_FALLS)
@example(case=ENTROPY_FALLS)
@examples(9)
def test_what_is_released_is_certified(shared_database: Database, folder: Path, case: Case) -> None:
    """And the verifier agrees; of every node that was asked about, the oracle says the same."""
    wanted = load(shared_database, folder, case)
    if not kanon_sql.anonymize(shared_database.engine, wanted).passed:
        event("nothing released")
        return
    found = kanon_sql.certify(shared_database.engine, wanted, folder / "certificate")
    said: list[str] = []
    verified = verify(folder / "certificate", shared_database.connection, say=said.append)
    assert found.passed, found.problems
    assert verified, "\n".join(said)
    proof = found.content["optimality"]
    event("no proof" if proof is None else f"proven by {proof['metric']}")
    if proof is not None:
        assert_proven(case, proof, {claim["id"]: claim["rows"] for claim in found.claims}, found.content["spec"])


def assert_proven(
    case: Case, proof: Mapping[str, Any], rows_of: Mapping[str, Any], spec: Mapping[str, Any]
) -> None:  # fmt: skip
    oracle = case.problem.oracle()
    answers = Answers(proof, rows_of)
    assert answers.most == min(oracle.max_rows, len(case.problem.rows) - 1) - answers.null_rows
    nodes = oracle.satisfying_nodes()
    for node in answers.nodes:
        result = oracle.results[node]
        assert (node in answers.satisfied) == result.satisfied, node
        assert answers.nodes[node][:3] == [result.classes, result.kept_classes, result.suppressed - answers.null_rows]
        assert answers.nodes[node][3] <= answers.most or not any(below(other, node) for other in nodes), node
        metric = result.metrics[proof["metric"]] if case.algorithm != "samarati" else sum(node)
        exact = proof["metric"] != "loss" or node in answers.sums
        assert answers.metric(node) <= metric + 1e-9, node
        assert not exact or isclose(answers.metric(node), metric, rel_tol=1e-8, abs_tol=1e-8), node
    for node in oracle.all_nodes():
        metric = oracle.results[node].metrics[proof["metric"]] if case.algorithm != "samarati" else sum(node)
        assert answers.bound(node) <= metric + 1e-8, node
        for asked in answers.nodes:
            if below(node, asked):  # what violates what lasts there does so here, and suppressing it has a price
                violating = answers.nodes[asked][3]
                assert oracle.results[node].suppressed - answers.null_rows >= violating, (node, asked)
                better = oracle.results[node].satisfied and answers.bound(node, violating) > metric + 1e-8
                assert not better, (node, asked)
        if oracle.results[node].suppressed == 0 and proof["metric"] in ("loss", "precision", "height"):
            assert isclose(answers.bound(node), metric, rel_tol=1e-8, abs_tol=1e-8), node  # no better one is possible
    if proof["boundary_is_complete"]:
        assert {tuple(node) for node in proof["minimal"]} == oracle.minimal_nodes()
    for node in answers.nodes:  # claimed to be the best, though another one is better
        claimed = {**proof, "best": list(node), "value": answers.metric(node)}
        if answers.metric(node) > proof["value"] + 1e-6:
            cells = [[index, level, 0, 0] for index, level in enumerate(node)]
            assert list(check_lattice(claimed, {**rows_of, "cells": cells}, spec)), node


def below(lower: tuple[int, ...], upper: tuple[int, ...]) -> bool:
    return all(a <= b for a, b in zip(lower, upper, strict=True))


@pytest.fixture(scope="module")
def listing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A template of the tests' own: a row for every class."""
    directory = tmp_path_factory.mktemp("templates")
    (directory / "certified").mkdir()
    select = "SELECT class_size, measure, satisfied FROM ({{ classes }}) AS classes"
    (directory / "certified" / "listed.sql.j2").write_text(select)
    add_template_directory(directory)
    yield
    remove_template_directory(directory)


FAR_BY_NULL = Case(
    RandomProblem(
        rows=[{"q0": q, "s0": s} for q, s in ("ax", "ax", "a-", "ex", "e-", "e-", "e-")],
        hierarchies={"q0": {"a": ("a", "*"), "e": ("e", "*")}},
        sensitive=["s0"],
        requirements=[{"t_closeness": {"attribute": "s0", "t": 0.2}}],
        limit=7,
    ),
    forms={"q0": "table"},
)
"""Two thirds of the one class have a value, and one fourth of the other; the rest is NULL."""
for one in FAR_BY_NULL.problem.rows:
    one["s0"] = None if one["s0"] == "-" else one["s0"]


@pytest.mark.usefixtures("listing")
@given(case=cases(max_nodes=16), other=st.integers(0, 15))
@example(case=FAR_BY_NULL, other=0)
@example(case=RECURSIVE_FALLS, other=0)
@example(case=ENTROPY_FALLS, other=0)
@example(case=SAME_PERSON, other=0)
@example(case=SAME_PERSON, other=1)
@example(case=Case(problem=NOBODY_TELLS, forms={"q0": "table"}), other=0)
@example(case=NULL_SUPPRESSED, other=0)
@example(case=NULL_SUPPRESSED, other=1)
@examples(14)
def test_definitions_are_those_of_the_oracle(shared_database: Database, folder: Path, case: Case, other: int) -> None:
    """Of every class at a node, with NULLs, persons and values that nobody holds: measure and verdict."""
    wanted = load(shared_database, folder, case)
    problem = case.problem
    if not problem.rows:
        return
    nodes = problem.oracle().all_nodes()
    node = nodes[other % len(nodes)]
    found = measured_by(shared_database, wanted, node)
    for requirement, measured in zip(problem.requirements, found, strict=True):
        attribute = model_of(requirement)[1].get("attribute")
        original = None if attribute is None else frequencies(problem.rows, attribute, problem.unit)
        expected = []
        for members in classes(problem.rows, problem.hierarchies, node, problem.nulls).values():
            rows = [problem.rows[place] for place in members]
            measure, enough = judge(requirement, rows, original, problem.unit)
            nobody = attribute is not None and not frequencies(rows, attribute, problem.unit)
            worst = INFINITY if nobody and "t_closeness" in requirement else measure
            expected.append((round(float(worst), 7), enough))
        assert measured == sorted(expected), (requirement, node)


def measured_by(database: Database, wanted: kanon_sql.Spec, node: tuple[int, ...]) -> list[list[tuple[float, bool]]]:
    """Per requirement, the measure of each class of the source at a node, and whether it is enough."""
    engine, found = database.engine, []
    definitions, left = definitions_of(wanted)
    assert not left
    with engine.run(Deadline(None)), open_workspace(engine, source_of(engine, wanted)) as workspace:
        columns = source_columns(workspace, wanted, source_of(engine, wanted))
        ground = lay_ground(Book(workspace), wanted, columns, Relation(("people",)), attributes_of(definitions))
        levels = zip(ground.attributes, node, strict=True)
        keys = [attribute.label(level) for attribute, level in levels if level < attribute.height] or [Sql("0")]
        for item in definitions:
            query = classes_of(ground, item, of_keys(ground, keys, item, table=ground.rows))
            listed = workspace.compiler.statement("certified/listed", classes=query)
            rows = workspace.query(listed, 1_000)
            found.append(sorted((round(INFINITY if one is None else float(one), 7), bool(ok)) for _, one, ok in rows))
    return found


@pytest.mark.usefixtures("listing")
@given(
    rows=st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from([None, 1, 2, 10, 3]), st.sampled_from(["u", "v", "w", None])),
        min_size=1,
        max_size=12,
    ),
    by_person=st.booleans(),
)
@examples(20)
def test_the_ordered_distance_is_that_of_the_oracle(
    shared_database: Database, rows: list[tuple[str, int | None, str | None]], by_person: bool
) -> None:
    """Of numbers, of which 10 comes after 3; NULL is before all, and its share counts by itself."""
    shared_database.table("people", {"q": "VARCHAR", "s": "INTEGER", "person": "VARCHAR"}, rows)
    wanted = kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "people", "release": "people_release", "quasi_identifiers": {"q": None},
            "sensitive": ["s"], "privacy": [{"t_closeness": {"attribute": "s", "t": 0.3, "distance": "ordered"}}],
            "unit": "person" if by_person else None,
        }
    )  # fmt: skip
    table = [dict(zip(("q", "s", "person"), row, strict=True)) for row in rows]
    unit = "person" if by_person else None
    expected = []
    for q in {row["q"] for row in table}:
        members = [row for row in table if row["q"] == q]
        (requirement,) = wanted.privacy
        measure, enough = judge(requirement.to_dict(), members, frequencies(table, "s", unit), unit)
        expected.append((round(float(measure), 7), enough))
    assert measured_by(shared_database, wanted, (0,)) == [sorted(expected)]


# --- Recodings and engines --------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", RECODINGS)
@pytest.mark.sampled(6)
def test_every_recoding_is_certified(name: str, tmp_path: Path) -> None:
    """What does not follow from its labels is named; its classes, cells and rows are claimed."""
    subject = DuckDBSubject()
    try:
        fill(subject)
        with subject.connect() as engine:
            assert kanon_sql.anonymize(engine, spec(name)).passed
            found = kanon_sql.certify(engine, spec(name), tmp_path)
            assert found.passed, found.problems
            assert found.content["optimality"] is None
            assert any(item["what"] == "that no other release is better" for item in found.not_certified)
        assert verify(tmp_path, subject.connection, say=[].append)
        subject.execute(f"UPDATE {RELEASE} SET illness = 'another' WHERE rowid = 1")
        assert not verify(tmp_path, subject.connection, say=[].append)
    finally:
        subject.close()


COLUMNS = {"person": "integer", "age": "integer", "zip": "text", "sex": "text", "illness": "text", "born": "date",
           "cost": "decimal"}  # fmt: skip

ENGINES_SPEC: dict[str, Any] = {
    "version": 1,
    "source": "visits",
    "release": "visits_release",
    "quasi_identifiers": {
        "age": {"intervals": [5, 10, 20]},
        "zip": {"prefix": [3, 2]},
        "sex": {"tree": {"anybody": ["fem", "masc"]}},
        "born": {"dates": ["year", "decade"]},
    },
    "sensitive": ["illness"],
    "keep": ["cost"],
    "suppression": {"max_share": 0.3},
}

ENGINES_CASES: dict[str, dict[str, Any]] = {
    "all models": {
        "sensitive": ["illness", "cost"],
        "keep": [],
        "privacy": [
            {"k_anonymity": 3},
            {"l_diversity": {"attribute": "illness", "l": 2}},
            {"l_diversity": {"attribute": "illness", "l": 1.2, "variant": "entropy"}},
            {"l_diversity": {"attribute": "illness", "l": 2, "variant": "recursive", "c": 6}},
            {"t_closeness": {"attribute": "illness", "t": 0.7}},
            {"t_closeness": {"attribute": "cost", "t": 0.9, "distance": "ordered"}},
            {"alpha_k_anonymity": {"attribute": "illness", "alpha": 0.95, "k": 2, "values": ["flu"]}},
            {"p_sensitive_k_anonymity": {"attribute": "illness", "p": 2, "k": 2}},
            {"beta_likeness": {"attribute": "illness", "beta": 9}},
            {"beta_likeness": {"attribute": "illness", "beta": 9, "variant": "basic"}},
            {"risk": {"highest": 0.5}},
        ],
    },
    "persons": {
        "unit": "person",
        "keep": [],
        "nulls": "suppress",
        "privacy": [{"k_anonymity": 3}, {"l_diversity": {"attribute": "illness", "l": 2}}],
        "search": {"metric": "discernibility"},
    },
}


def visits() -> list[tuple[Any, ...]]:
    """Two rows a person, NULLs among the values, and texts that a careless engine would merge."""
    from datetime import date
    from decimal import Decimal

    return [
        (
            number // 2, None if number % 29 == 0 else 20 + number % 3 * 10 + number % 2,
            ("94110", "94110 ", "é4110", "E4110")[number % 7 % 4], ("fem", "masc", "fem")[number % 3],
            ("flu", "cold", "Flu", None)[number % 5 % 4], date(1960 + number % 2 * 10, 1 + number % 12, 3),
            Decimal(number % 4) / 4,
        )
        for number in range(120)
    ]  # fmt: skip


QUICK = [("sqlite", "persons")]
LONG = [
    (name, case) for name in SUBJECTS for case in ENGINES_CASES if (name, case) not in (*QUICK, ("spark", "all models"))
]
"""Without ten requirements at each of many nodes of Spark's, which take it minutes."""


@pytest.mark.campaign_on("spark", "mariadb", "clickhouse", "postgres-all models", "duckdb-persons")
@pytest.mark.parametrize(("name", "case"), [*QUICK, *(pytest.param(*one, marks=pytest.mark.slow) for one in LONG)])
@pytest.mark.slow
def test_every_engine(name: str, case: str, tmp_path: Path) -> None:
    """The same claims as DuckDB's, verified by the driver that the verifier finds by itself."""
    wanted = kanon_sql.Spec.from_dict({**ENGINES_SPEC, **ENGINES_CASES[case]})
    reference = DuckDBSubject()
    with subject_of(name) as subject:
        try:
            content = []
            for place, own in (("own", subject), ("reference", reference)):
                own.table("visits", COLUMNS, visits())
                own.drop("visits_release")
                with own.connect() as engine:
                    assert kanon_sql.anonymize(engine, wanted).passed
                    found = kanon_sql.certify(engine, wanted, tmp_path / place)
                assert found.passed, found.problems
                content.append(found.content)
            assert content[0]["optimality"] == content[1]["optimality"]
            for mine, theirs in zip(content[0]["claims"], content[1]["claims"], strict=True):
                assert mine["id"] == theirs["id"]
                if mine["part"] != "recorded":
                    both = (sorted(claim["rows"], key=str) for claim in (mine, theirs))
                    for row, other in zip(*both, strict=True):
                        assert row == pytest.approx(other) or row == other, mine["id"]
            said: list[str] = []
            assert verify(tmp_path / "own", where(name, subject), say=said.append), said
            if name != "spark":  # which deletes no rows
                subject.execute("DELETE FROM visits_release WHERE sex = 'masc'")
                assert not verify(tmp_path / "own", where(name, subject), say=said.append)
        finally:
            reference.close()
