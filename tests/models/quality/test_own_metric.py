"""A quality metric and a search algorithm of one's own: each is declared once, and a spec may name it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import pytest

import kanon_sql
from kanon_sql import Spec
from kanon_sql.models.quality import Counts, Measured, Metric
from kanon_sql.registers import QUALITY_METRICS, RECODINGS, SEARCH_ALGORITHMS
from kanon_sql.report.json import result_schema
from kanon_sql.search import STRATEGIES, Question, algorithm

AGES = [20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 40, 41]
CITIES = ["a", "b"] * 6


@pytest.fixture
def own() -> Iterator[None]:
    @QUALITY_METRICS.declare
    @dataclass(frozen=True)
    class Generalized(Metric):
        """How many columns are generalized at all, and how many rows suppressed."""

        name: ClassVar[str] = "generalized"
        words: ClassVar[str] = "columns generalized, plus rows suppressed"
        formula: ClassVar[str] = "n above level 0, plus S"
        source: ClassVar[str] = "this test"
        monotone: bool = False

        def value(self, counts: Counts, measured: Measured) -> float:
            return float(sum(level > 0 for level in measured.node) + measured.suppressed)

    @algorithm(finds="what optimal finds", when="never", source="this test")
    def by_hand(question: Question) -> Any:
        return STRATEGIES["exhaustive"](question)

    yield
    QUALITY_METRICS.forget("generalized")
    SEARCH_ALGORITHMS.forget("by_hand")


def spec(**search: Any) -> Spec:
    return Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "quasi_identifiers": {"age": {"intervals": [5, 10]}, "city": {}},
            "privacy": [{"k_anonymity": {"k": 2}}],
            "search": search,
        }
    )


def by_brute_force() -> float:
    """The lowest value over the nodes of which no class is smaller than 2; no row may be suppressed."""
    labels: list[list[Callable[[Any], Any]]] = [
        [lambda age: age, lambda age: age // 5, lambda age: age // 10, lambda _: None],
        [lambda city: city, lambda _: None],
    ]
    found = []
    for node in product(range(4), range(2)):
        rows = [
            tuple(levels[level](value) for levels, level, value in zip(labels, node, row, strict=True))
            for row in zip(AGES, CITIES, strict=True)
        ]
        if min(map(rows.count, rows)) >= 2:
            found.append(sum(level > 0 for level in node))
    return min(found)


@pytest.mark.usefixtures("own")
def test_a_search_optimizes_it() -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people (age INTEGER, city VARCHAR)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", list(zip(AGES, CITIES, strict=True)))
        for name in ("optimal", "by_hand"):
            result = kanon_sql.plan(connection, spec(metric="generalized", algorithm=name))
            assert result.metrics["generalized"] == by_brute_force()
            assert "columns generalized, plus rows suppressed" in kanon_sql.html_report(result)


@pytest.mark.usefixtures("own")
def test_what_lists_names_has_it() -> None:
    schema = result_schema()
    assert "generalized" in schema["$defs"]["Plan"]["properties"]["metrics"]["properties"]
    assert "by_hand" in schema["$defs"]["SearchSummary"]["properties"]["algorithm"]["enum"]
    asked = Spec.json_schema()["$defs"]["SearchOptions"]["properties"]
    assert "generalized" in asked["metric"]["enum"]
    assert "by_hand" in asked["algorithm"]["enum"]
    with pytest.raises(kanon_sql.SpecError, match="did you mean 'generalized'"):
        spec(metric="generalised")


@pytest.mark.usefixtures("own")
def test_a_name_is_given_once() -> None:
    with pytest.raises(ValueError, match="there is a search algorithm 'genetic' already"):

        @algorithm(finds="", when="", source="")
        def genetic(question: Question) -> Any:
            return STRATEGIES["exhaustive"](question)


@pytest.mark.parametrize("written", [["loss"], {"loss": 1}, 7])
def test_what_is_no_name_is_none(written: Any) -> None:
    for kind in (QUALITY_METRICS, SEARCH_ALGORITHMS, RECODINGS):
        assert kind.get(written) is None
    with pytest.raises(kanon_sql.SpecError) as refused:
        Spec.from_dict({**spec().to_dict(), "recoding": {"method": written}, "search": {"metric": written}})
    assert len(refused.value.problems) == 2


def test_it_is_gone_afterwards() -> None:
    assert "generalized" not in QUALITY_METRICS
    with pytest.raises(kanon_sql.SpecError, match="unknown search algorithm"):
        spec(algorithm="by_hand")
