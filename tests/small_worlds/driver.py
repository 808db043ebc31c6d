"""Draw problems, ask the package and the oracle, compare, and count."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np

import kanon_sql
from kanon_sql.sql import Statement
from small_worlds.expected import Item, Table, release_at, tables_as_they_stand
from small_worlds.lattice import Answers, answers, lattice_of, population_of
from small_worlds.specs import Asked, draw_spec
from small_worlds.tables import COLUMNS, QUASI_IDENTIFIERS, TABLES, UNIT, Tables, draw_tables
from small_worlds.tally import Outcome, Problem, Tally
from small_worlds.worlds import NULL, Rows, has_null

DATABASE = ":memory:small_worlds"
PROBLEMS = 1024
"""Problems per batch, numbered from its number times this."""
TABLES_PER_SPEC = {"check": 32, "plan": 8, "anonymize": 8}
"""On how many tables of a batch a spec is tried: what it takes to compile a small check is spent once."""


class Bench:
    """One connection for all problems, and another one to the same database that loads tables."""

    def __init__(self) -> None:
        self.loader = duckdb.connect(DATABASE, config={"threads": 1})
        self.engine = kanon_sql.connect(DATABASE, threads=1)
        for table in range(TABLES):
            self.loader.execute(f"CREATE SCHEMA IF NOT EXISTS w{table}")
        self._schema = -1
        # Runs come one after the other: under one name, a spec's statements are the same texts for all its tables.
        self._named_alike = patch("secrets.token_hex", lambda size: "5eed" * (size // 2))
        self._named_alike.start()

    def close(self) -> None:
        self._named_alike.stop()
        self.engine.close()
        self.loader.close()

    def load(self, tables: Tables) -> None:
        """Put a batch where its problems look for it: a schema per table."""
        for name, own in tables.hierarchies.items():
            levels = ", ".join(f"l{level} VARCHAR" for level in range(own.height + 1))
            self.loader.execute(f"CREATE OR REPLACE TABLE main.h_{name} ({levels})")
            marks = ", ".join("?" * (own.height + 1))
            self.loader.executemany(f"INSERT INTO main.h_{name} VALUES ({marks})", own.paths())
        for table in range(TABLES):
            self.loader.execute(f"DROP TABLE IF EXISTS w{table}.people_release")
            self.loader.execute(f"DROP TABLE IF EXISTS w{table}.kanon_sql_manifest")
        for kind, rows in (("people", tables.people), ("origin", tables.origin), ("population", tables.population)):
            self._load(kind, rows, tables.values)

    def _load(self, kind: str, rows: Rows, values: Mapping[str, Sequence[str | int]]) -> None:
        names = COLUMNS if kind != "population" else QUASI_IDENTIFIERS
        codes = {"world": rows.world, **{name: rows.columns[name] for name in names}}
        assert codes  # read by its name in the statement
        cells = ", ".join(f"({_listed(values[name])})[{name} + 1] AS {name}" for name in names)
        self.loader.execute(f"CREATE OR REPLACE TEMP TABLE loaded AS SELECT world, {cells} FROM codes")
        for table in range(TABLES):
            rows_of = f"SELECT {', '.join(names)} FROM loaded WHERE world = {table}"
            self.loader.execute(f"CREATE OR REPLACE TABLE w{table}.{kind} AS {rows_of}")

    def optimize(self, whether: bool) -> None:
        """Let DuckDB optimize its plans, which takes longer than running them on a small table, or not."""
        self.engine.execute(Statement("optimizer", f"PRAGMA {'enable' if whether else 'disable'}_optimizer"))

    def use(self, table: int) -> None:
        """Make a table of the batch the one that names mean."""
        if table != self._schema:
            self.engine.execute(Statement("schema", f"SET schema = 'w{table}'"))
            self._schema = table

    def released(self, table: int) -> list[tuple[Any, ...]]:
        return self.loader.execute(f"SELECT * FROM w{table}.people_release").fetchall()


def _listed(values: Sequence[str | int]) -> str:
    """A domain as a list in SQL; a code is a place in it, less one, and NULL is none."""
    return "[" + ", ".join(str(v) if isinstance(v, int) else "'" + v.replace("'", "''") + "'" for v in values) + "]"


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


def _nulls(tables: Tables, asked: Asked, table: int) -> bool:
    return any(bool(has_null(tables.people, name)[table]) for name in asked.columns)


# --- check -------------------------------------------------------------------------------


def _checked(
    bench: Bench, tables: Tables, asked: Asked, spec: kanon_sql.Spec, problems: Sequence[Problem], only: int | None
) -> Iterator[Outcome]:
    original = tables.people if asked.source == "people" else tables.origin
    worlds = [problem.table for problem in problems]
    expected = tables_as_they_stand(asked, tables, tables.people, original, tables.population, worlds)
    for place, problem in _wanted(problems, only):
        bench.use(problem.table)
        truth = expected[place]
        refused = _refused_check(tables, asked, problem.table)
        nulls = _nulls(tables, asked, problem.table)
        try:
            result = kanon_sql.check(bench.engine, spec, "people")
        except Exception as error:
            wrong = [] if refused and isinstance(error, kanon_sql.KanonError) else [f"raised {error!r}"]
            yield Outcome(problem, "error", False, nulls, wrong)
            continue
        if refused:
            yield Outcome(problem, "error", False, nulls, [f"answered {result.verdict} where {refused}"])
            continue
        wrong = [*_verdict(result, truth.passed), *_differences(result.to_dict(), truth)]
        yield Outcome(problem, "pass" if truth.passed else "fail", truth.tight, nulls, wrong)


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


def _verdict(result: kanon_sql.Result, passed: bool) -> list[str]:
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
    verb = kanon_sql.anonymize if asked.style == "anonymize" else kanon_sql.plan
    for place, problem in _wanted(problems, only):
        bench.use(problem.table)
        refused = _refused_search(tables, asked, problem.table)
        nulls = _nulls(tables, asked, problem.table)
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


def _refused_search(tables: Tables, asked: Asked, table: int) -> str | None:
    """Why a search is refused, where it is."""
    if asked.nulls == "error" and _nulls(tables, asked, table):
        return "a quasi-identifier is NULL"
    return _refused_check(tables, asked, table)


def _chosen(bench: Bench, truth: Answers, place: int, result: kanon_sql.Result, population: Rows) -> list[str]:
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


# --- many batches ---


def run(
    seed: int,
    mix: Mapping[str, float],
    *,
    problems: int,
    seconds: float = math.inf,
    first: int = 0,
    report: Callable[[Outcome], None] | None = None,
    progress: Callable[[Tally], None] | None = None,
) -> Tally:
    """Run problems until there are so many, or the time is up.

    Args:
        seed: with the mix and the batch's number, says which problems.
        mix: how often each style is asked for.
        problems, seconds: when to stop, whichever comes first.
        first: the number of the first batch.
        report: told of each disagreement.
        progress: told after each batch.
    """
    tally, bench = Tally(), Bench()
    started = last = time.perf_counter()
    number = first
    try:
        while tally.problems < problems and time.perf_counter() - started < seconds:
            batch = draw_batch(seed, number, mix)
            bench.load(batch.tables)
            for outcome in outcomes(bench, batch):
                now = time.perf_counter()
                tally.add(outcome, now - last)
                last = now
                if outcome.wrong and report is not None:
                    report(outcome)
                if tally.problems >= problems or now - started >= seconds:
                    break
            number += 1
            if progress is not None:
                progress(tally)
    finally:
        bench.close()
    return tally
