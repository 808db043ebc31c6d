"""Tables that are split between parties: the same release as of the table in one place, by the oracle of that table."""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines.base import Engine
from tests.oracles.lattice import PREFERENCES, Oracle
from tests.oracles.model import classes, judge
from tests.support.oracle_cases import tree_of
from tests.support.strategies import RandomProblem, examples, problems
from tests.support.suppressions import suppressing

ALGORITHMS = ("optimal", "samarati", "incognito", "exhaustive")

Rows = Sequence[Mapping[str, Any]]


@contextmanager
def sites(tables: Sequence[tuple[Sequence[str], Rows]]) -> Iterator[list[Engine]]:
    """A DuckDB database for each table of text."""
    connections = []
    for columns, rows in tables:
        connection = duckdb.connect(config={"threads": 1})
        typed = ", ".join(f"{column} VARCHAR" for column in columns)
        connection.execute(f"CREATE TABLE people ({typed})")
        if rows:
            marks = ", ".join("?" * len(columns))
            connection.executemany(
                f"INSERT INTO people VALUES ({marks})", [[row[column] for column in columns] for row in rows]
            )
        connections.append(connection)
    engines = [kanon_sql.connect(connection) for connection in connections]
    try:
        yield engines
    finally:
        for connection in connections:
            connection.close()


def released(engine: Engine) -> Counter[tuple[Any, ...]]:
    """What stands under the release's name."""
    connection = engine._connection  # type: ignore[attr-defined]
    found = connection.execute("SELECT * FROM released")
    names = [item[0] for item in found.description]
    order = sorted(range(len(names)), key=names.__getitem__)
    return Counter(tuple(row[place] for place in order) for row in found.fetchall())


def tables_of(engine: Engine) -> set[str]:
    connection = engine._connection  # type: ignore[attr-defined]
    return {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}


def spec_of(problem: RandomProblem, folder: Path, **search: Any) -> kanon_sql.Spec:
    """The spec of a random problem, its hierarchies as files, or as trees where they have several outermost labels."""
    columns: dict[str, dict[str, Any]] = {}
    for number, (name, hierarchy) in enumerate(problem.hierarchies.items()):
        rows = list(hierarchy.values())
        if number % 2 and len(rows[0]) > 1 and len({row[-2] for row in rows}) > 1:
            columns[name] = {"tree": tree_of(hierarchy)}
        else:
            columns[name] = {"file": str(folder / f"{name}.csv")}
            with open(columns[name]["file"], "w", encoding="utf-8", newline="") as file:
                csv.writer(file, delimiter=";", quoting=csv.QUOTE_ALL).writerows(rows)
        if name in problem.weights:
            columns[name]["weight"] = problem.weights[name]
        if name in problem.levels:
            columns[name]["minimum_level"], columns[name]["maximum_level"] = problem.levels[name]
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "released",
            "identifiers": ["id"],
            "quasi_identifiers": columns,
            "sensitive": ["s"],
            "privacy": problem.requirements,
            "suppression": suppressing(problem.limit),
            "search": search,
            "nulls": problem.nulls,
        }
    )


def best_of(oracle: Oracle, algorithm: str, metric: str, prefer: str) -> Any:
    """The node that an exact search has to find; None where none satisfies."""
    values = {node: float(f"{result.metrics[metric]:.12g}") for node, result in oracle.results.items()}
    preference = {node: PREFERENCES[prefer](oracle, node) for node in oracle.results}
    if algorithm == "samarati":
        return min(
            oracle.lowest_height_solutions(),
            key=lambda node: (preference[node], values[node], node),
            default=None,
        )
    return min(oracle.satisfying_nodes(), key=lambda node: (values[node], preference[node], node), default=None)


def expected_release(oracle: Oracle, node: Any, columns: Sequence[str]) -> Counter[tuple[Any, ...]]:
    """The released rows, their columns in the order of their names."""
    found: Counter[tuple[Any, ...]] = Counter()
    for vector, members in classes(oracle.rows, oracle.hierarchies, node, oracle.nulls).items():
        own = [oracle.rows[index] for index in members]
        if all(judge(requirement, own, None, None)[1] for requirement in oracle.requirements):
            for row in own:
                cells = {**row, **dict(zip(oracle.columns, vector, strict=True))}
                found[tuple(cells[column] for column in sorted(columns))] += 1
    return found


def with_rows(problem: RandomProblem, rows: Rows, diversity: int | None) -> RandomProblem:
    """The problem of other rows, which have a sensitive attribute s, perhaps to be diverse."""
    asked = [] if diversity is None else [{"l_diversity": {"attribute": "s", "l": diversity, "variant": "distinct"}}]
    return replace(problem, rows=[dict(row) for row in rows], requirements=[*problem.requirements, *asked])


def usable(problem: RandomProblem) -> bool:
    return any(problem.weights.get(column, 1) for column in problem.hierarchies)


PROBLEMS = problems(models=False, units=False, max_nodes=24).filter(usable)


@pytest.mark.slow
@given(
    problem=PROBLEMS,
    algorithm=st.sampled_from(ALGORITHMS),
    metric=st.sampled_from(("precision", "height", "average_class_size")),
    prefer=st.sampled_from(list(PREFERENCES)),
    parties=st.integers(2, 3),
    diversity=st.sampled_from([None, 2, 3]),
    seed=st.integers(0, 1_000),
)
@examples(4)
def test_parts_are_the_release_of_all_rows(
    folder: Path,
    problem: RandomProblem,
    algorithm: str,
    metric: str,
    prefer: str,
    parties: int,
    diversity: int | None,
    seed: int,
) -> None:
    draw = random.Random(seed)
    rows = [{**row, "s": draw.choice(["x", "y", None]), "id": str(number)} for number, row in enumerate(problem.rows)]
    split: list[list[Any]] = [[] for _ in range(parties)]
    for row in rows:
        split[draw.randrange(parties)].append(row)
    problem = with_rows(problem, rows, diversity)
    spec, oracle = spec_of(problem, folder, algorithm=algorithm, metric=metric, prefer=prefer), problem.oracle()
    best = best_of(oracle, algorithm, metric, prefer)
    event("found" if best is not None else "none")
    names = ["id", *problem.hierarchies, "s"]
    with sites([(names, own) for own in split]) as engines:
        result = kanon_sql.anonymize_parties(engines, spec)
        assert (None if result.node is None else tuple(result.node.values())) == best
        if best is None:
            assert not result.passed
            assert not result.manifests
            assert all(tables_of(engine) == {"people"} for engine in engines)
            return
        expected = oracle.results[best]
        assert result.rows["suppressed"] == expected.suppressed
        assert result.classes["count"] == expected.kept_classes
        assert result.metric is not None
        assert result.metric["value"] == pytest.approx(expected.metrics[metric])
        reached = {key: item.get("k", item.get("l")) for key, item in result.achieved.items()}
        assert list(reached.values()) == list(expected.achieved.values())
        together = sum((released(engine) for engine in engines), Counter())
        assert together == expected_release(oracle, best, [*problem.hierarchies, "s"])


@pytest.mark.slow
@given(
    problem=problems(models=False, units=False, max_nodes=24, nulls=("value",)).filter(usable),
    algorithm=st.sampled_from(ALGORITHMS),
    metric=st.sampled_from(("precision", "height", "average_class_size")),
    diversity=st.sampled_from([None, 2, 3]),
    seed=st.integers(0, 1_000),
)
@examples(4)
def test_the_joined_release_is_that_of_the_joined_table(
    folder: Path, problem: RandomProblem, algorithm: str, metric: str, diversity: int | None, seed: int
) -> None:
    draw = random.Random(seed)
    columns = list(problem.hierarchies)
    if len(columns) < 2:
        return
    first = columns[: draw.randint(1, len(columns) - 1)]
    parts = [first, [column for column in columns if column not in first]]
    persons = list(range(len(problem.rows)))
    rows = {str(n): {**row, "s": draw.choice(["x", "y", None])} for n, row in zip(persons, problem.rows, strict=True)}
    missing = [{person for person in rows if draw.random() < 0.1} for _ in parts]
    tables = []
    for number, own in enumerate(parts):
        others = ["s"] if number == 1 else []
        having = [{**row, "id": person} for person, row in rows.items() if person not in missing[number]]
        nobody = [{**dict.fromkeys([*columns, "s"]), "id": None}] * draw.randint(0, 2)
        draw.shuffle(having)
        tables.append((["id", *own, *others], [*having, *nobody]))
    joined = [row for person, row in rows.items() if not any(person in own for own in missing)]
    problem = with_rows(problem, joined, diversity)
    spec, oracle = spec_of(problem, folder, algorithm=algorithm, metric=metric), problem.oracle()
    at = draw.randint(1, 2)
    best = best_of(oracle, algorithm, metric, "minimum_suppression") if joined else None
    event("found" if best is not None else "none")
    with sites(tables) as engines:
        result = kanon_sql.anonymize_parties(engines, spec, split="vertical", key="id", at=at)
        assert (None if result.node is None else tuple(result.node.values())) == best
        others = engines[2 - at]
        assert tables_of(others) == {"people"}
        if best is None:
            assert not result.passed
            assert tables_of(engines[at - 1]) == {"people"}
            return
        expected = oracle.results[best]
        assert result.rows == {
            "source": len(joined), "released": len(joined) - expected.suppressed, "suppressed": expected.suppressed
        }  # fmt: skip
        assert result.classes["count"] == expected.kept_classes
        assert released(engines[at - 1]) == expected_release(oracle, best, [*columns, "s"])
