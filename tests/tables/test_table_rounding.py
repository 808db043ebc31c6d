"""Rounding: what it does to every cell, and what everybody can work out of it, against all tables that agree."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import SpecError
from kanon_sql.tables.protect import protected
from kanon_sql.tables.rounding import controlled, conventional, randomly
from kanon_sql.tables.structure import Cell, CellTable
from tests.oracles.tables import intervals_of, table_of
from tests.tables.test_table_suppression import COUNTIES, EDUCATION, children


def small_table(seed: int, shape: tuple[int, ...] = (2, 2)) -> CellTable:
    draw = random.Random(seed)
    finest = {tuple((str(part),) for part in place): draw.choice([0, 1, 2, 3, 4, 5, 7])
              for place in product(*map(range, shape))}  # fmt: skip
    finest = {place: value for place, value in finest.items() if value}
    return table_of(finest, totals=(True,) * len(shape), sensitive=lambda value: value < 3)


def test_the_example_of_the_working_paper_is_rounded_under_control() -> None:
    """WP 22, chapter II: base 5. Its margins are multiples of 5, which stay, and the rows and columns add up."""
    table = children()
    found = controlled(table, 5)
    assert found is not None
    assert found.steps == 1
    assert table.adds_up(found.values)
    at = {cell.key: value for cell, value in zip(table.cells, found.values, strict=True)}
    assert [at[(county,), ()] for county in COUNTIES] == [20, 55, 25, 35]
    assert [at[(), (level,)] for level in EDUCATION] == [50, 35, 30, 20]
    for cell in table.cells:
        assert at[cell.key] % 5 == 0
        assert abs(at[cell.key] - cell.value) < 5


@pytest.mark.parametrize("seed", range(6))
def test_controlled_rounding_is_the_nearest_of_all_that_add_up(seed: int) -> None:
    table, base = small_table(seed), 3
    found = controlled(table, base)
    assert found is not None
    finest = [index for index in range(len(table.cells)) if table.finest[index]]
    best = None
    for values in product(*({cell.value // base * base, -(-cell.value // base) * base} for cell in
                            (table.cells[index] for index in finest))):  # fmt: skip
        whole = [sum(value for index, value in zip(finest, values, strict=True) if table.is_part(index, place))
                 for place in range(len(table.cells))]  # fmt: skip
        if all(abs(a - cell.value) < base for a, cell in zip(whole, table.cells, strict=True)):
            away = sum(abs(a - cell.value) for a, cell in zip(whole, table.cells, strict=True))
            best = away if best is None else min(best, away)
    assert best is not None
    assert sum(abs(a - cell.value) for a, cell in zip(found.values, table.cells, strict=True)) == best


def test_conventional_rounding() -> None:
    cells = [Cell(((str(value),),), value, value < 3, 0, 0) for value in range(1, 30)]
    for base in (2, 3, 4, 5, 10):
        table = CellTable.of(cells, sums=False)
        found = conventional(table, base)
        for cell, value, low, high in zip(table.cells, found.values, found.audit.lower, found.audit.upper, strict=True):
            assert value == int(Fraction(cell.value, base) + Fraction(1, 2)) * base
            alike = [other for other in range(0, 60) if int(Fraction(other, base) + Fraction(1, 2)) * base == value]
            assert (low, high) == (min(alike), max(alike))


def test_random_rounding_is_unbiased_reproducible_and_needs_the_key() -> None:
    table, base = children(), 5
    runs = [randomly(table, base, f"key {number}".encode()).values for number in range(2_000)]
    assert runs[0] == randomly(table, base, b"key 0").values
    assert len(set(map(tuple, runs))) > 300
    for index, cell in enumerate(table.cells):
        found = [run[index] for run in runs]
        assert set(found) <= {cell.value // base * base, -(-cell.value // base) * base}
        assert abs(sum(found) / len(found) - cell.value) < 0.25, "five standard deviations"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", ["conventional_rounding", "random_rounding", "controlled_rounding"])
def test_what_a_rounded_table_tells_is_what_all_possible_tables_tell(method: str) -> None:
    failed = 0
    for seed in range(4):
        table = small_table(seed)
        options: dict[str, Any] = {"method": method, "base": 3} | ({"seed": seed} if "random" in method else {})
        found = protected(_spec(options), table)
        exact = intervals_of(table, found.audit.lower, found.audit.upper, most=40)
        for index, cell in enumerate(table.cells):
            assert exact[index][0] <= cell.value <= exact[index][1]
            interval = found.audit.interval(index)
            assert (interval.low, interval.high) == exact[index]
        open_ = all(exact[index][0] < exact[index][1] for index, cell in enumerate(table.cells) if cell.sensitive)
        assert (found.failure is None) == open_
        failed += not open_
    assert failed < 4


def _spec(protection: dict[str, Any]) -> kanon_sql.TableSpec:
    return kanon_sql.TableSpec.from_dict(
        {
            "version": 1,
            "kind": "table",
            "source": "t",
            "dimensions": {"a": None},
            "rules": {"threshold": 3},
            "protection": protection,
        }
    )


def test_independent_rounding_that_gives_a_cell_away_is_refused() -> None:
    """11 cells of 1, rounded to 0 each with base 3, and a total of 12: every cell must be 1 to come near it."""
    finest = {((str(number),),): 1 for number in range(11)}
    table = table_of(finest, totals=(True,), sensitive=lambda value: value < 3)
    found = conventional(table, 3)
    assert sorted(found.values) == [0] * 11 + [12]
    done = protected(_spec({"method": "conventional_rounding", "base": 3}), table)
    assert done.failure is not None
    assert "11 sensitive cells can be computed exactly" in done.failure


def test_a_key_of_random_rounding_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = _spec({"method": "random_rounding", "base": 5, "key_variable": "KANON_TABLE_KEY"})
    with pytest.raises(SpecError, match="'KANON_TABLE_KEY' does not hold a key"):
        protected(spec, children())
    monkeypatch.setenv("KANON_TABLE_KEY", "a secret of many characters")
    assert protected(spec, children()).values == protected(spec, children()).values
    assert protected(spec, children()).values == list(randomly(children(), 5, b"a secret of many characters").values)


def test_no_seed_is_in_a_manifest_or_a_hash() -> None:
    specs = [_spec({"method": "random_rounding", "base": 5, "seed": seed}) for seed in (1, 2)]
    assert specs[0].hash == specs[1].hash
    assert specs[0] != specs[1]
    assert "seed" not in specs[0].redacted()["protection"]
