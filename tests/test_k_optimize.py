"""K-Optimize against brute force: every partition of small ordered domains, judged by the oracle."""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import isclose, prod
from pathlib import Path
from typing import Any

import pytest
from conftest import Database
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from oracle import Hierarchy, Oracle

import kanon_sql
from kanon_sql.engines.base import Deadline
from kanon_sql.errors import HierarchyError, SearchTooLarge, SpecError, UnsupportedError
from kanon_sql.evaluate import Evaluator
from kanon_sql.frequency import build_frequency_sets, source_columns
from kanon_sql.ordering import order_domains
from kanon_sql.partitions import Partitions
from kanon_sql.pipeline.search import Budget, searched, source_of
from kanon_sql.privacy import model_of
from kanon_sql.quality import METRICS, Discernibility, Loss
from kanon_sql.search import Batch, Cuts, Outcome, Question, Search, Span, Verdict, k_optimize
from kanon_sql.lattice import Lattice
from kanon_sql.spec.model import _BOUNDED
from kanon_sql.sql.templates import render
from kanon_sql.workspace import open_workspace


def examples(count: int) -> settings:
    return settings(
        max_examples=count,
        deadline=None,
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


# --- Problems --------------------------------------------------------------------------------------

TEXTS = ["m", "Z", "a", "é", "10", "9"]
"""In a hierarchy file's order, which is no alphabet's."""


@dataclass(frozen=True)
class Case:
    """A table, the ordered domain of each column (text in a file, numbers by a rule), and what is asked."""

    rows: list[dict[str, Any]]
    domains: dict[str, list[Any]]
    k: int
    limit: int
    metric: str
    nulls: str = "value"
    diverse: int = 1
    weights: tuple[float, ...] = (1, 1, 1)
    style: str = "drop"

    def requirements(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = [{"k_anonymity": {"k": self.k}}]
        if self.diverse > 1:
            found.append({"l_diversity": {"attribute": "s", "l": self.diverse, "kind": "distinct"}})
        return found

    def spec(self, folder: Path, **changes: Any) -> kanon_sql.Spec:
        """What a user would write; files are written too."""
        quasi_identifiers: dict[str, Any] = {}
        for (name, domain), weight in zip(self.domains.items(), self.weights, strict=False):
            quasi_identifiers[name] = {"weight": weight}
            if isinstance(domain[0], str):
                path = folder / f"{name}.csv"
                with path.open("w", encoding="utf-8", newline="") as file:
                    csv.writer(file, delimiter=";").writerows([[value] for value in domain])
                quasi_identifiers[name]["file"] = str(path)
        return kanon_sql.Spec.from_dict(
            {
                "version": 1,
                "source": "people",
                "release": "people_release",
                "quasi_identifiers": quasi_identifiers,
                "sensitive": ["s"],
                "keep": ["serial"],
                "privacy": self.requirements(),
                "suppression": {"limit": self.limit, "style": self.style},
                "search": {"algorithm": "k_optimize", "metric": self.metric},
                "nulls": self.nulls,
            }
            | changes
        )

    def load(self, database: Database) -> None:
        kinds = {name: "VARCHAR" if isinstance(d[0], str) else "INTEGER" for name, d in self.domains.items()}
        kinds |= {"s": "VARCHAR", "serial": "INTEGER"}
        for name in ("people_release", "kanon_sql_manifest", "kanon_sql_scratch"):
            database.connection.execute(f"DROP TABLE IF EXISTS {name}")
        lines = [{**row, "serial": number} for number, row in enumerate(self.rows)]
        database.table("people", kinds, [[line[name] for name in kinds] for line in lines])

    def oracle(self, hierarchies: Mapping[str, Hierarchy]) -> Oracle:
        return Oracle(
            rows=self.rows,
            hierarchies=hierarchies,
            requirements=self.requirements(),
            limit=self.limit,
            nulls=self.nulls,
            weights=dict(zip(self.domains, self.weights, strict=False)),
        )

    def brute_force(self) -> float | None:
        """The lowest metric of all partitions: every way to cut every domain, or not to tell its values apart."""
        found = []
        for chosen in product(*(list(options(domain)) for domain in self.domains.values())):
            hierarchies = {name: hierarchy for name, (hierarchy, _) in zip(self.domains, chosen, strict=True)}
            result = self.oracle(hierarchies).evaluate(tuple(level for _, level in chosen))
            if result.satisfied:
                found.append(result.metrics[self.metric])
        return min(found, default=None)


def options(domain: Sequence[Any]) -> Iterator[tuple[Hierarchy, int]]:
    """A domain cut in every way (one interval, NULL apart, is one of them), and its top."""
    for count in range(len(domain)):
        for places in combinations(range(1, len(domain)), count):
            label = {value: str(sum(place <= position for place in places)) for position, value in enumerate(domain)}
            yield {value: (str(value), label[value], "*") for value in domain}, 1
    yield {value: (str(value), "all", "*") for value in domain}, 2


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = random.Random(draw(st.integers(0, 10**6)))
    names = ["q0", "q1", "q2"][: draw(st.sampled_from([2, 1, 2, 3]))]
    longest = {1: 6, 2: 4, 3: 3}[len(names)]
    domains: dict[str, list[Any]] = {}
    cells: dict[str, list[Any]] = {}
    for name in names:
        if rng.random() < 0.5:  # a file's domain; some of it is in no row
            domain: list[Any] = rng.sample(TEXTS, rng.randint(1, longest))
            used = rng.sample(domain, rng.randint(1, len(domain)))
        else:
            used = domain = sorted(rng.sample([-1, 0, 2, 9, 10, 100], rng.randint(1, longest)))
        domains[name] = domain
        cells[name] = [*used, None] if rng.random() < 0.4 else used
    vectors = [{name: rng.choice(values) for name, values in cells.items()} for _ in range(rng.randint(1, 8))]
    rows = [{**rng.choice(vectors), "s": rng.choice(["x", "y", "z", None])} for _ in range(rng.randint(1, 20))]
    nulls = rng.choice(["value", "value", "suppress"])
    for name, domain in domains.items():
        if not isinstance(domain[0], str):  # a rule's domain is what occurs
            seen = sorted({row[name] for row in rows} - {None})
            domains[name] = seen or domain[:1]
            if not seen:
                rows[0][name] = domain[0]
    return Case(
        rows=rows,
        domains=domains,
        k=rng.choice([1, 2, 2, 3, 4]),
        limit=rng.choice([0, 0, 1, 2, 3, 5, 20]),
        metric=draw(st.sampled_from(["loss", "discernibility"])),
        nulls=nulls,
        diverse=rng.choice([1, 1, 2]),
        weights=rng.choice([(1, 1, 1), (1, 0.5, 2)]),
        style=rng.choice(["drop", "mask"]),
    )


# --- The optimum -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("domains")


@given(case=cases())
@examples(60)
def test_it_finds_what_brute_force_finds(shared_database: Database, folder: Path, case: Case) -> None:
    case.load(shared_database)
    found = kanon_sql.plan(shared_database.engine, case.spec(folder))
    expected = case.brute_force()
    assert found.search is not None
    assert found.search.proven
    assert found.passed == (expected is not None)
    if expected is not None:
        assert isclose(found.metrics[case.metric], expected, rel_tol=1e-9, abs_tol=2e-10), case
