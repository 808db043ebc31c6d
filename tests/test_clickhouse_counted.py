"""ClickHouse writes a release from its frequency set where that holds all there is, with the same types of columns."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from servers import subject_of

import kanon_sql
from kanon_sql.release import write_counted
from kanon_sql.sql.dialects.clickhouse import ClickHouse
from kanon_sql.testing import Subject

pytestmark = pytest.mark.xdist_group("clickhouse")

DRAWN = random.Random(7)
ROWS = [
    (DRAWN.choice(["10", "11", "12", "20", None]), DRAWN.choice(["x", "y", None]), DRAWN.choice(["a", "b", None]))
    for _ in range(300)
]


@pytest.fixture(scope="module")
def clickhouse() -> Iterator[Subject]:
    with subject_of("clickhouse") as made:
        made.table("people", dict.fromkeys(("zip", "q", "s"), "text"), ROWS)
        yield made


def spec(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "released",
            "quasi_identifiers": {"zip": {"prefix": [1], "minimum_level": 1, "maximum_level": 1}, "q": None},
            "privacy": [{"k_anonymity": 40}],
            "suppression": {"limit": 0.4},
            "warnings": {"rows_not_persons": "allow"},
            **changes,
        }
    )


def released(subject: Any, **changes: Any) -> tuple[Any, Counter[Any], list[Any]]:
    """A run's result, the rows that it released, and the types of their columns."""
    subject.drop("released")
    with subject.connect() as engine:
        result = kanon_sql.anonymize(engine, spec(**changes))
    types = subject.fetch("SELECT name, type FROM system.columns WHERE table = 'released' ORDER BY position")
    return result, Counter(subject.rows("released")), types


@pytest.mark.parametrize("block", [1, 7, 1_000])
def test_the_source_is_read_once(clickhouse: Subject, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """The rows are those that plain Python keeps, however many blocks a class has."""
    monkeypatch.setattr(write_counted, "BLOCK", block)
    result, rows, _ = released(clickhouse)
    labelled = Counter((code and f"{code[0]}*", q) for code, q, _ in ROWS)
    kept = Counter({labels: count for labels, count in labelled.items() if count >= 40})
    assert result.node == {"zip": 1, "q": 0}
    assert rows == kept
    assert 0 < kept.total() < len(ROWS)
    assert result.cost.source_scans == 1


def test_columns_have_the_types_that_a_second_pass_gives_them(
    clickhouse: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    once, rows, types = released(clickhouse)
    monkeypatch.setattr(ClickHouse, "numbers_to", lambda *_: None)
    twice, same, others = released(clickhouse)
    assert (once.cost.source_scans, twice.cost.source_scans) == (1, 2)
    assert (rows, types) == (same, others)


def test_values_beside_are_read_again(clickhouse: Subject) -> None:
    """Whether their column takes NULL is the source's to say."""
    requirements = [{"k_anonymity": 40}, {"l_diversity": {"attribute": "s", "l": 2, "kind": "distinct"}}]
    result, rows, types = released(clickhouse, sensitive=["s"], privacy=requirements)
    source = clickhouse.fetch("SELECT name, type FROM system.columns WHERE table = 'people' AND name = 's'")
    assert result.cost.source_scans == 2
    assert source[0] in types
    assert set(rows) <= {(code and f"{code[0]}*", q, s) for code, q, s in ROWS}
