"""Draw problems, ask the package and the oracle, compare, and count."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np

import kanon_sql
from tests.small_worlds.benches import BENCHES, Bench
from tests.small_worlds.expected import Item, Table, release_at, tables_as_they_stand
from tests.small_worlds.lattice import Answers, answers, lattice_of, population_of
from tests.small_worlds.specs import Asked, draw_spec
from tests.small_worlds.tables import TABLES, UNIT, Tables, draw_tables
from tests.small_worlds.tally import Outcome, Problem, Tally
from tests.small_worlds.worlds import NULL, Flags, Rows, has_null

PROBLEMS = 1024
"""Problems per batch, numbered from its number times this."""
TABLES_PER_SPEC = {"check": 32, "plan": 8, "anonymize": 8}
"""On how many tables of a batch a spec is tried: what it takes to compile a small check is spent once."""


# --- problems ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Batch:
    """Tables, and specs with the tables that each is tried on. Every sixteenth batch is run by optimized plans."""

    number: int
    tables: Tables
    groups: Sequence[tuple[Asked, Sequence[Problem]]]


def draw_batch(seed: int, number: int, mix: Mapping[str, float]) -> Batch:
    """The batch of a number; the same for the same seed and mix."""
    rng = Random(f"{seed}/{number}")
    tables = draw_tables(rng, np.random.default_rng([seed, number]))
    groups = []
    first = number * PROBLEMS
    while first < (number + 1) * PROBLEMS:
        style = rng.choices(list(mix), list(mix.values()))[0]
        for _ in range(TABLES // TABLES_PER_SPEC[style]):
            asked = draw_spec(style, rng, tables)
            chosen = rng.sample(range(TABLES), TABLES_PER_SPEC[style])
            groups.append((asked, [Problem(first + place, table, asked) for place, table in enumerate(chosen)]))
            first += len(chosen)
    return Batch(number, tables, groups)


def outcomes(bench: Bench, batch: Batch, only: int | None = None) -> Iterator[Outcome]:
    """What came of every problem of a batch, or of one."""
    bench.optimize(batch.number % 16 == 0)
    for asked, problems in batch.groups:
        if only is None or only in [problem.number for problem in problems]:
            try:
                spec = kanon_sql.Spec.from_dict(asked.spec)
            except kanon_sql.KanonError as error:
                for _, problem in _wanted(problems, only):
                    yield Outcome(problem, "error", False, False, [f"the spec is refused: {error}"])
                continue
            compare = _checked if asked.style == "check" else _searched
            yield from compare(bench, batch.tables, asked, spec, problems, only)


def _wanted(problems: Sequence[Problem], only: int | None) -> list[tuple[int, Problem]]:
    return [(place, problem) for place, problem in enumerate(problems) if only in (None, problem.number)]


def _nulls(tables: Tables, asked: Asked) -> Flags:
    """Per table, whether some quasi-identifier that the spec names is NULL."""
    return np.logical_or.reduce([has_null(tables.people, name) for name in asked.columns])


# --- check -------------------------------------------------------------------------------


def _checked(
    bench: Bench, tables: Tables, asked: Asked, spec: kanon_sql.Spec, problems: Sequence[Problem], only: int | None
) -> Iterator[Outcome]:
    original = tables.people if asked.source == "people" else tables.origin
    worlds = [problem.table for problem in problems]
    expected = tables_as_they_stand(asked, tables, tables.people, original, tables.population, worlds)
    with_null = _nulls(tables, asked)
    for place, problem in _wanted(problems, only):
        bench.use(problem.table)
        truth = expected[place]
        refused = _refused_check(tables, asked, problem.table)
        nulls = bool(with_null[problem.table])
        try:
            result = kanon_sql.check(bench.engine, spec, "people")
        except Exception as error:
            wrong = [] if refused and isinstance(error, kanon_sql.KanonError) else [f"raised {error!r}"]
            yield Outcome(problem, "error", False, nulls, wrong)
            continue
        if refused:
            yield Outcome(problem, "error", False, nulls, [f"answered {result.verdict} where {refused}"])
            continue
        passes = truth.rows > 0 and truth.passed
        wrong = [*_verdict(result, passes), *_differences(result.to_dict(), truth)]
        yield Outcome(problem, "pass" if passes else "fail", truth.tight, nulls, wrong)


def _refused_check(tables: Tables, asked: Asked, table: int) -> str | None:
    """Why a check is refused, where it is: rows of nobody may be of further persons."""
    presence = any(item.model == "delta_presence" for item in asked.requirements)
    if presence and asked.unit is not None and NULL in codes_of(tables.people, UNIT, table):
        return "rows have no person"
    among = [tables.people] if asked.source == "people" else [tables.people, tables.origin]
    for item in asked.requirements:
        listed = set(item.codes.get("values", ()))
        if listed and all(listed - codes_of(rows, item.parameters["attribute"], table) for rows in among):
            return "a value to protect occurs nowhere"
    return None


def codes_of(rows: Rows, name: str, table: int) -> set[int]:
    """The values of a column in a table."""
    return set(rows.columns[name][rows.world == table].tolist())


def _verdict(result: kanon_sql.results.Result, passed: bool) -> list[str]:
    expected = "pass" if passed else "fail"
    return [] if result.verdict == expected else [f"verdict {result.verdict}, expected {expected}"]


def _differences(result: Mapping[str, Any], truth: Table) -> list[str]:
    """Where the figures of a table differ from what is true."""
    wrong = []
    for name, value in truth.classes.items():
        if not same(result["classes"].get(name), value):
            wrong.append(f"classes.{name} {result['classes'].get(name)}, expected {value}")
    achieved = list(result["achieved"].items())
    if len(achieved) != len(truth.items):
        return [*wrong, f"{len(achieved)} requirements achieved, expected {len(truth.items)}"]
    for (key, found), item in zip(achieved, truth.items, strict=True):
        wrong += [f"{key}: {text}" for text in _item_differences(found, item)]
    return wrong


def _item_differences(found: Mapping[str, Any], item: Item) -> Iterator[str]:
    expected = {
        "violating_classes": item.violating_classes,
        "violating_rows": item.violating_rows,
        **item.reached,
    }
    for name, value in expected.items():
        if not same(found[name], value):
            yield f"{name} {found[name]}, expected {value}"


def same(one: float | None, other: float | None) -> bool:
    """Whether two figures are one, but for rounding."""
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)


# --- plan and anonymize ------------------------------------------------------------------


def _searched(
    bench: Bench, tables: Tables, asked: Asked, spec: kanon_sql.Spec, problems: Sequence[Problem], only: int | None
) -> Iterator[Outcome]:
    lattice = lattice_of(asked, tables, [problem.table for problem in problems])
    truth, population = answers(lattice), population_of(lattice)
    with_null = _nulls(tables, asked)
    verb = kanon_sql.anonymize if asked.style == "anonymize" else kanon_sql.plan
    for place, problem in _wanted(problems, only):
        bench.use(problem.table)
        refused = _refused_search(tables, asked, problem.table, with_null)
        nulls = bool(with_null[problem.table])
        try:
            result = verb(bench.engine, spec)
        except Exception as error:
            wrong = [] if refused and isinstance(error, kanon_sql.KanonError) else [f"raised {error!r}"]
            yield Outcome(problem, "error", False, nulls, wrong)
            continue
        if refused:
            yield Outcome(problem, "error", False, nulls, [f"answered {result.verdict} where {refused}"])
            continue
        here = truth.worlds(place)
        passed = bool(truth.satisfied[here].any())
        wrong = _verdict(result, passed)
        if passed and not wrong:
            wrong = _chosen(bench, truth, place, result, population)
        yield Outcome(problem, "pass" if passed else "fail", bool(truth.tight[here].any()), nulls, wrong)


def _refused_search(tables: Tables, asked: Asked, table: int, with_null: Flags) -> str | None:
    """Why a search is refused, where it is."""
    if asked.nulls == "error" and with_null[table]:
        return "a quasi-identifier is NULL"
    return _refused_check(tables, asked, table)


def _chosen(
    bench: Bench,
    truth: Answers,
    place: int,
    result: kanon_sql.results.Plan | kanon_sql.results.Release,
    population: Rows,
) -> list[str]:
    """Where the chosen node, its figures or its release are not what they should be."""
    asked, table = truth.lattice.asked, truth.lattice.chosen[place]
    assert result.node is not None
    node = tuple(result.node.values())
    world = truth.world(place, node)
    if not truth.satisfied[world]:
        return [f"node {node} does not satisfy"]
    wrong = _optimum(truth, place, node, asked)
    for name, values in truth.metrics.items():
        if not same(result.metrics[name], float(values[world])):
            wrong.append(f"{name} {result.metrics[name]}, expected {values[world]} at {node}")
    release = release_at(truth, place, node, population)
    source, suppressed = int(truth.lattice.sizes[place]), int(truth.suppressed[world])
    rows = {"source": source, "released": source - suppressed, "suppressed": suppressed}
    if asked.style == "anonymize" and release.masked:
        rows["masked"] = release.masked
    wrong += [
        f"rows.{name} {result.rows.get(name)}, expected {value}"
        for name, value in rows.items()
        if result.rows.get(name) != value
    ]
    if asked.style == "anonymize":
        wrong += _differences(result.to_dict(), release.table)
        if Counter(bench.released(table)) != Counter(release.cells):
            wrong.append("the released rows are others")
    return wrong


def _optimum(truth: Answers, place: int, node: Sequence[int], asked: Asked) -> list[str]:
    """Whether a better node would have satisfied."""
    here, nodes = truth.worlds(place), truth.lattice.nodes
    satisfied = truth.satisfied[here]
    search = asked.spec["search"]
    if search["algorithm"] == "samarati":
        lowest = min(sum(other) for other, good in zip(nodes, satisfied, strict=True) if good)
        return [] if sum(node) == lowest else [f"height {sum(node)}, and {lowest} satisfies"]
    values = truth.metrics[search["metric"]][here]
    best, own = float(values[satisfied].min()), float(values[nodes.index(tuple(node))])
    return [] if own <= best or same(own, best) else [f"{search['metric']} {own} at {node}, and {best} satisfies"]


# --- many batches ------------------------------------------------------------------------


@contextmanager
def benches(names: Iterable[str]) -> Iterator[list[tuple[str, Bench]]]:
    """Benches by the names of their engines, closed at the end.

    Runs come one after the other: under one name, a spec's statements are the same texts for all its tables.
    """
    with patch("secrets.token_hex", lambda size: "5eed" * (size // 2)), ExitStack() as opened:
        yield [(name, opened.enter_context(closing(BENCHES[name]()))) for name in names]


def run(
    seed: int,
    mix: Mapping[str, float],
    *,
    engines: Sequence[str],
    problems: int,
    seconds: float = math.inf,
    first: int = 0,
    report: Callable[[str, Outcome], None] | None = None,
    progress: Callable[[Tally], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Tally:
    """Run problems until there are so many, or the time is up.

    Args:
        seed: with the mix and the batch's number, says which problems.
        mix: how often each style is asked for.
        engines: whom to ask, batch by batch in turn, see :func:`engine_of`.
        problems, seconds: when to stop, whichever comes first.
        first: the number of the first batch.
        report: told of each disagreement, and of whose it is.
        progress: told after each batch.
        stop: asked after each problem whether to stop.
    """
    tally = Tally()
    started = last = time.perf_counter()
    number = first

    def ended() -> bool:
        return tally.problems >= problems or time.perf_counter() - started >= seconds or stop()

    with benches(engines) as opened:
        while not ended():
            engine, bench = engine_of(opened, number)
            batch = draw_batch(seed, number, mix)
            bench.load(batch.tables)
            for outcome in outcomes(bench, batch):
                now = time.perf_counter()
                tally.add(engine, outcome, now - last)
                last = now
                if outcome.wrong and report is not None:
                    report(engine, outcome)
                if ended():
                    break
            number += 1
            if progress is not None:
                progress(tally)
    return tally


def engine_of(opened: Sequence[tuple[str, Bench]], batch: int) -> tuple[str, Bench]:
    """Whose turn it is."""
    return opened[batch % len(opened)]
