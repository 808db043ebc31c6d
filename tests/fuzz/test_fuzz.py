"""The seeds of the fuzzers, and what they once found, pass; a slow test makes new inputs for some seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from kanon_sql.errors import DatabaseError
from tests.fuzz.drive import by_chance, mutated
from tests.fuzz.finds import IN_DATA, IN_INPUT, Find, judged
from tests.fuzz.targets import CORPUS, TARGETS

SEEDS = [(name, path) for name, target in TARGETS.items() for path in target.seeds]


@pytest.mark.parametrize(("name", "path"), SEEDS, ids=[f"{name}-{path.name}" for name, path in SEEDS])
def test_the_corpus_finds_nothing(name: str, path: Path) -> None:
    TARGETS[name].run(path.read_bytes())


def test_the_corpus_is_small_and_all_of_it_is_replayed() -> None:
    files = [path for path in CORPUS.rglob("*") if path.is_file()]
    assert {path for _, path in SEEDS} == set(files)
    assert sum(path.stat().st_size for path in files) < 20_000


@pytest.mark.parametrize(
    "raised", [ValueError("raw"), RecursionError("raw"), KeyboardInterrupt(), DatabaseError(f"read: {IN_DATA}3")]
)
def test_what_counts_as_a_find(raised: BaseException) -> None:
    with pytest.raises(Find), judged():
        raise raised


def test_a_value_of_the_input_may_be_said_where_it_is_a_name() -> None:
    with judged(named=True):
        raise DatabaseError(f"there is no column {IN_INPUT}; name another")
    with pytest.raises(Find), judged(named=False):
        raise DatabaseError(f"there is no column {IN_INPUT}; name another")


@pytest.mark.parametrize("name", TARGETS)
def test_inputs_are_made_again_from_the_same_seed(name: str) -> None:
    import random

    pool, words = [path.read_bytes() for path in TARGETS[name].seeds], [word.encode() for word in TARGETS[name].words]
    first, second = (
        [mutated(pool[0], pool, words, chance) for _ in range(50)] for chance in (random.Random(7), random.Random(7))
    )
    assert first == second
    assert len(set(first)) > 40


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_some_seconds_of_random_inputs_find_nothing(name: str, tmp_path: Path) -> None:
    tried, found = by_chance(name, 3, 1, tmp_path)
    assert tried > 20
    assert not found, [path.read_text()[:300] for path in tmp_path.glob("*.txt")]
