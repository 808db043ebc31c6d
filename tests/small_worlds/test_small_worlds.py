"""Random problems against the oracle in numpy (``small_worlds``), and that oracle against the one in plain Python."""

from __future__ import annotations

import math
import signal
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.oracles.lattice import Oracle
from tests.oracles.model import frequencies, judge, worst
from tests.small_worlds.driver import run
from tests.small_worlds.expected import Table, tables_as_they_stand
from tests.small_worlds.lattice import answers, lattice_of
from tests.small_worlds.models import Given, entropy, recursive, t_closeness
from tests.small_worlds.specs import Asked, Requirement, draw_spec
from tests.small_worlds.stop import SIGNALS, Stop
from tests.small_worlds.tables import COLUMNS, SENSITIVE, TABLES, Tables, draw_tables
from tests.small_worlds.tally import Outcome, table_of
from tests.small_worlds.worlds import NULL, Rows, has_null
from tests.support.suppressions import limit_of

MIX = {"check": 0.9, "plan": 0.05, "anonymize": 0.05}


ENGINES = ("duckdb", "sqlite")


def assert_agreement(engine: str, problems: int, seed: int, mix: dict[str, float]) -> None:
    def report(engine: str, outcome: Outcome) -> None:
        pytest.fail(f"problem {outcome.problem.number} on {engine}: {outcome.wrong}\n{outcome.problem.asked.spec}")

    tally = run(seed, mix, engines=[engine], problems=problems, report=report)
    assert tally.problems == problems
    for verdict in ("pass", "fail"):
        of_verdict = sum(count for key, count in tally.counts.items() if key[-1] == verdict)
        assert of_verdict > problems / 20, f"hardly a problem has the verdict {verdict}"


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_checks_of_random_problems(engine: str) -> None:
    assert_agreement(engine, 120, 20, {"check": 1.0})


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("style", ["plan", "anonymize"])
@pytest.mark.sampled(4)
@pytest.mark.slow
def test_searches_of_a_few_random_problems(style: str, engine: str) -> None:
    assert_agreement(engine, 12, 30, {style: 1.0})


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "problems", [pytest.param(160, marks=pytest.mark.slow), pytest.param(2_000, marks=pytest.mark.campaign)]
)
def test_many_random_problems(engine: str, problems: int) -> None:
    assert_agreement(engine, problems, 40, MIX)


def test_engines_are_asked_by_turns_until_the_run_is_stopped() -> None:
    """Batches have 1,024 problems; what was asked until a stop is counted."""
    asked = iter(range(10_000))
    tally = run(50, {"check": 1.0}, engines=ENGINES, problems=10_000, first=1, stop=lambda: next(asked) >= 20)
    assert tally.asked == {("sqlite", "check"): 20}
    assert {key[0] for key in tally.counts} == {"sqlite"}
    assert not tally.wrong


@pytest.mark.parametrize("number", SIGNALS)
def test_a_run_that_is_told_to_end_keeps_what_it_has_counted(number: signal.Signals) -> None:
    asked = iter(range(10_000))
    with Stop() as stop:

        def told_after_five() -> bool:
            if next(asked) == 5:
                signal.raise_signal(number)
            return stop()

        tally = run(51, {"check": 1.0}, engines=["sqlite"], problems=10_000, stop=told_after_five)
    assert tally.problems == 5
    assert "| sqlite |" in "\n".join(table_of(tally))


# --- the two oracles ---------------------------------------------------------------------


def drawn(style: str, seed: int) -> tuple[Tables, list[Asked]]:
    rng = Random(seed)
    tables = draw_tables(rng, np.random.default_rng(seed))
    return tables, [draw_spec(style, rng, tables) for _ in range(40)]


def plain(rows: Rows, tables: Tables, world: int) -> list[dict[str, Any]]:
    """A world's rows as the plain oracle has them."""
    here = np.flatnonzero(rows.world == world)
    return [
        {
            name: None if rows.columns[name][i] == NULL else tables.values[name][rows.columns[name][i]]
            for name in COLUMNS
        }
        for i in here
    ]


def expected_item(item: Requirement, asked: Asked, rows: list[dict[str, Any]], original: list[dict[str, Any]]) -> Any:
    """(violating classes, violating rows, the worst measure) by the plain oracle."""
    columns = list(item.parameters.get("quasi_identifiers", asked.columns))
    attribute = item.parameters.get("attribute")
    if item.parameters.get("others_as_quasi_identifiers"):
        columns += [name for name in SENSITIVE if name != attribute]
    classes: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        classes.setdefault(tuple(row[name] for name in columns), []).append(row)
    compared = rows if item.parameters.get("reference") == "release" else original
    reference = None if attribute is None else frequencies(compared, attribute, asked.unit)
    verdicts = [(judge(item.to_dict(), members, reference, asked.unit), members) for members in classes.values()]
    bad = [members for (_, enough), members in verdicts if not enough]
    return len(bad), sum(map(len, bad)), worst(item.to_dict(), [measure for (measure, _), _ in verdicts])


def as_values(item: Requirement, tables: Tables) -> Requirement:
    """With listed values as the rows have them, numbers too; a spec lists texts."""
    attribute = item.parameters.get("attribute")
    listed = {
        name: [tables.values[str(attribute)][code] for code in codes] for name, codes in item.codes.items() if codes
    }
    return Requirement(item.model, {**item.parameters, **listed}, item.codes)


def same_measure(item: Requirement, one: float | None, other: float | None) -> bool:
    if item.parameters.get("variant") == "entropy" and other is not None:
        other = math.exp(other)
    other = None if other is None or math.isinf(other) else other
    return one is other is None or (one is not None and other is not None and math.isclose(one, other, abs_tol=1e-9))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(4))
def test_both_oracles_judge_tables_alike(seed: int) -> None:
    tables, specs = drawn("check", seed)
    compared = 0
    for asked in specs:
        original = tables.people if asked.source == "people" else tables.origin
        found = tables_as_they_stand(asked, tables, tables.people, original, tables.population, range(TABLES))
        for world in range(0, TABLES, 4):
            compared += assert_alike(asked, tables, found[world], original, world)
    assert compared > 200


def assert_alike(asked: Asked, tables: Tables, found: Table, original: Rows, world: int) -> int:
    """Compare what the plain oracle knows; returns how many requirements that were."""
    rows, reference = plain(tables.people, tables, world), plain(original, tables, world)
    compared = 0
    for item in found.items:
        given = item.requirement.parameters
        shared = "hierarchy" not in given or "tree" in given["hierarchy"]
        if "population" in given or not shared:
            continue
        required = as_values(item.requirement, tables)
        classes, in_them, measure = expected_item(required, asked, rows, reference)
        assert (item.violating_classes, item.violating_rows) == (classes, in_them), (asked.spec, world)
        name = next(name for name in item.reached if name != "c2")
        assert same_measure(item.requirement, item.reached[name], measure), (asked.spec, world, measure)
        compared += 1
    return compared


@pytest.mark.parametrize("seed", range(3))
def test_both_oracles_judge_nodes_alike(seed: int) -> None:
    tables, specs = drawn("plan", seed)
    for asked in specs[:12]:
        given = [item.parameters for item in asked.requirements]
        tabled = any("table" in parameters.get("hierarchy", {}) for parameters in given)
        if asked.of_population or tabled or any("quasi_identifiers" in parameters for parameters in given):
            continue
        for world in (5, 20):
            assert_nodes_alike(asked, tables, world)


def assert_nodes_alike(asked: Asked, tables: Tables, world: int) -> None:
    found = answers(lattice_of(asked, tables, [world]))
    settings = asked.spec["quasi_identifiers"]
    oracle = Oracle(
        rows=plain(tables.people, tables, world),
        hierarchies={
            name: {path[0]: tuple(path) for path in tables.hierarchies[name].paths()} for name in asked.columns
        },
        requirements=[as_values(item, tables).to_dict() for item in asked.requirements],
        limit=limit_of(asked.spec["suppression"]),
        nulls="suppress" if asked.nulls == "suppress" else "value",
        unit=asked.unit,
        weights={name: own["weight"] for name, own in settings.items() if "weight" in own},
        sensitive=SENSITIVE,
    )
    nulls = any(bool(has_null(tables.people, name)[world]) for name in asked.columns)
    for place, node in enumerate(found.lattice.nodes):
        truth = oracle.evaluate(node)
        assert found.suppressed[place] == truth.suppressed, (asked.spec, node)
        assert bool(found.satisfied[place]) == truth.satisfied, (asked.spec, node)
        for name, value in truth.metrics.items():
            if name != "entropy" or not nulls:  # rows that a NULL suppresses are priced elsewhere
                assert math.isclose(found.metrics[name][place], value, rel_tol=1e-9, abs_tol=2e-9), (name, node)


# --- figures of the literature -----------------------------------------------------------


def test_the_models_have_the_papers_examples() -> None:
    """Two equally frequent values have entropy ln 2; of 100, 1 and 1, (c, 3)-diversity needs c above 100."""
    rows = Rows(
        np.zeros(104, dtype=np.int64),
        1,
        {"q": np.array([0, 0] + [1] * 102), "s": np.array([0, 1] + [0] * 100 + [1, 2])},
    )
    given = Given(rows, rows.classes(["q"]), rows, None, None, {"s": 3}, {})
    assert entropy(given, {"attribute": "s", "l": 2}).ok.tolist() == [True, False]
    for c, enough in ((100, False), (100.5, True)):
        assert recursive(given, {"attribute": "s", "l": 3, "c": c}).ok.tolist() == [False, enough]


def judged_closeness(held: list[int], owners: list[int], distance: str) -> tuple[bool, float]:
    """Two persons of one class, who hold the values 0 and 1 of three, against a reference, by any distance."""
    class_rows = {"q": np.zeros(2, dtype=np.int64), "s": np.array([0, 1]), "u": np.array([0, 1])}
    rows = Rows(np.zeros(2, dtype=np.int64), 1, class_rows)
    compared = {"s": np.array(held, dtype=np.int64), "u": np.array(owners, dtype=np.int64)}
    original = Rows(np.zeros(len(held), dtype=np.int64), 1, compared)
    groups = [np.array([0, 1, 2, 3]), np.array([0, 1, 1, 2]), np.array([0, 0, 0, 0])]
    given = Given(rows, rows.classes(["q"]), original, None, "u", {"s": 3}, {"s": groups})
    verdict = t_closeness(given, {"attribute": "s", "t": 1, "distance": distance})
    return bool(verdict.ok[0]), float(verdict.measure[0])


def test_closeness_to_a_reference_that_lacks_persons_or_values() -> None:
    """Against three persons who hold 0, 2, 2: by shares (1/2, 1/2, 0) and (1/3, 0, 2/3) two thirds are to be moved."""
    assert judged_closeness([], [], "equal") == (True, 1.0)
    assert judged_closeness([], [], "hierarchical") == (False, math.inf)
    assert judged_closeness([0, 1], [NULL, NULL], "hierarchical") == (True, 1.0)
    value_of_nobody = ([0, 2, 2, 1], [0, 1, 2, NULL])
    assert judged_closeness(*value_of_nobody, "equal") == (True, pytest.approx(2 / 3))
    assert judged_closeness(*value_of_nobody, "hierarchical") == (True, pytest.approx(2 / 3))
    assert judged_closeness(*value_of_nobody, "ordered") == (False, math.inf)
