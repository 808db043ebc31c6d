"""Secondary suppression and its audit, against all tables that agree with what is published."""

from __future__ import annotations

import random
import sys
from typing import Any

import pytest

from kanon_sql.errors import UnsupportedError
from kanon_sql.tables.audit import Audit, requirement_of
from kanon_sql.tables.proof import proven
from kanon_sql.tables.solver import Solution
from kanon_sql.tables.structure import CellTable
from kanon_sql.tables.suppress import readers, suppression
from tests.oracles.tables import intervals_of, known, table_of

COUNTIES = {"Alpha": [15, 1, 3, 1], "Beta": [20, 10, 10, 15], "Gamma": [3, 10, 10, 2], "Delta": [12, 14, 7, 2]}
EDUCATION = ("low", "medium", "high", "very high")
"""The example of Working Paper 22 (FCSM 1994 and 2005, chapter II): delinquent children by county and education level
of the household head; cells of fewer than 5 are sensitive."""


def children(threshold: int = 5) -> CellTable:
    finest = {
        ((county,), (level,)): value
        for county, values in COUNTIES.items()
        for level, value in zip(EDUCATION, values, strict=True)
    }
    return table_of(finest, totals=(True, True), sensitive=lambda value: value < threshold)


def places(table: CellTable, text: str) -> set[int]:
    """``Alpha: medium, high; ...`` as positions; a total has the label ``all``."""
    found = set()
    for line in text.split(";"):
        county, _, levels = line.strip().partition(": ")
        for level in levels.split(", "):
            found.add(table.position[() if county == "all" else (county,), () if level == "all" else (level,)])
    return found


PRIMARY = "Alpha: medium, high, very high; Gamma: low, very high; Delta: very high"
INADEQUATE = PRIMARY + "; Beta: medium, high; Delta: low"
ADEQUATE = PRIMARY + "; Gamma: medium; Delta: low, high"


def test_the_sensitive_cells_and_the_margins_of_the_example() -> None:
    table = children()
    assert {index for index, cell in enumerate(table.cells) if cell.sensitive} == places(table, PRIMARY)
    margins = [table.cells[table.position[((county,), ())]].value for county in COUNTIES]
    assert margins == [20, 55, 25, 35]
    assert [table.cells[table.position[((), (level,))]].value for level in EDUCATION] == [50, 35, 30, 20]


def test_the_inadequate_pattern_of_the_example_gives_a_cell_away() -> None:
    """Every row and column has two suppressed cells, and yet two rows less two columns leave one of them alone."""
    table = children()
    suppressed = places(table, INADEQUATE)
    lines = [[key for key in table.position if key[side] == path] for side in (0, 1) for path in
             {key[side] for key in table.position} if path]  # fmt: skip
    assert all(sum(table.position[key] in suppressed for key in line) != 1 for line in lines)
    (target,) = places(table, "Alpha: very high")
    interval = Audit.of_suppressed(table, suppressed).interval(target)
    assert (interval.low, interval.high) == (1, 1)
    assert intervals_of(table, *known(table, suppressed), most=60)[target] == (1, 1)


def test_the_adequate_pattern_of_the_example_leaves_every_cell_open() -> None:
    table = children()
    suppressed = places(table, ADEQUATE)
    audit = Audit.of_suppressed(table, suppressed)
    exact = intervals_of(table, *known(table, suppressed), most=60)
    for index in suppressed:
        interval = audit.interval(index)
        assert (interval.low, interval.high) == exact[index]
        assert exact[index][0] < exact[index][1]


def test_the_example_is_protected_with_no_more_cells_than_the_paper_takes() -> None:
    table = children()
    found = suppression(table, 1)
    assert not found.failed
    assert len(found.suppressed) <= len(places(table, ADEQUATE)) == 9
    exact = intervals_of(table, *known(table, found.suppressed), most=60)
    assert all(exact[index][0] < exact[index][1] for index in places(table, PRIMARY))


def test_a_single_suppressed_cell_follows_from_the_margins_and_gets_complements() -> None:
    finest = {(("a",), ("x",)): 2, (("a",), ("y",)): 9, (("b",), ("x",)): 8, (("b",), ("y",)): 7}
    table = table_of(finest, totals=(True, True), sensitive=lambda value: value < 3)
    (alone,) = (index for index, cell in enumerate(table.cells) if cell.sensitive)
    interval = Audit.of_suppressed(table, {alone}).interval(alone)
    assert (interval.low, interval.high) == (2, 2)
    found = suppression(table, 2)
    assert {table.cells[index].key for index in found.suppressed} == set(finest)


def random_table(draw: random.Random, *, sums: bool = False) -> CellTable:
    shape = draw.choice([(2, 2), (2, 3), (3, 2), (2, 2, 2), (4,)])
    regions = {"0": "r", "1": "r", "2": "s", "3": "s"} if draw.random() < 0.3 else None
    finest = {}
    for place in _product(shape):
        value = draw.choice([0, 0, 1, 1, 2, 2, 3, 4])
        first = (regions[str(place[0])], str(place[0])) if regions else (str(place[0]),)
        if value:
            finest[(first, *((str(part),) for part in place[1:]))] = value
    totals = [draw.random() < 0.8 for _ in shape]
    needs = {value: draw.randint(1, 3) for value in range(0, 60)}
    return table_of(
        finest, totals=totals, sensitive=lambda value: value < 3, sums=sums,
        need=lambda value: needs.get(value, 1),
        only={place: draw.randint(1, 4) for place, value in finest.items() if sums and value <= 2},
    )  # fmt: skip


def _product(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for size in shape:
        found = [(*place, item) for place in found for item in range(size)]
    return found


def check_intervals(seed: int) -> None:
    draw = random.Random(seed)
    table = random_table(draw)
    suppressed = {index for index, cell in enumerate(table.cells) if cell.sensitive or draw.random() < 0.35}
    if not suppressed:
        return
    most = max(cell.value for cell in table.cells) + 6
    exact = intervals_of(table, *known(table, suppressed), most)
    audit = Audit.of_suppressed(table, suppressed)
    bounded = intervals_of(table, *known(table, suppressed), most + 1)  # what has no end ends later
    for index in suppressed:
        interval = audit.interval(index)
        assert interval.low == exact[index][0]
        if bounded[index] == exact[index]:
            assert interval.high == exact[index][1]
        else:
            assert interval.high is None or interval.high > most


def check_pattern(seed: int, *, sums: bool) -> None:
    """Whoever can be in the table or not: every sensitive cell is as open as asked, by all possible tables."""
    draw = random.Random(seed)
    table = random_table(draw, sums=sums)
    width = draw.choice([1, 2, 3])
    found = suppression(table, width)
    assert not found.failed
    most = max((cell.value for cell in table.cells), default=0) + 9  # totals may go as well, and move with their cells
    for index, cell in enumerate(table.cells):
        if not cell.sensitive:
            continue
        assert index in found.suppressed
        for reader in readers(table, found.suppressed, index):
            requirement = requirement_of(table, index, width, reader)
            lower, upper = known(table, found.suppressed)
            for place in reader:
                lower[place] = upper[place] = table.cells[place].value
            low, high = intervals_of(table, lower, upper, most)[index]
            assert high - low >= requirement.width, "wide enough"
            assert low <= cell.value - requirement.below, "far enough below"
            assert high >= cell.value + requirement.above, "far enough above"


@pytest.mark.parametrize("seed", range(12))
def test_intervals_are_those_of_all_possible_tables(seed: int) -> None:
    check_intervals(seed)


@pytest.mark.parametrize("seed", range(12))
def test_no_margin_undoes_a_suppressed_count(seed: int) -> None:
    check_pattern(seed, sums=False)


@pytest.mark.parametrize("seed", range(6))
def test_no_margin_undoes_a_suppressed_sum_for_anybody(seed: int) -> None:
    check_pattern(seed, sums=True)


@pytest.mark.campaign
@pytest.mark.slow
def test_hundreds_of_small_tables() -> None:
    for seed in range(100, 400):
        check_intervals(seed)
        check_pattern(seed, sums=False)
        if seed % 5 == 0:
            check_pattern(seed, sums=True)


@pytest.mark.campaign
def test_three_dimensions_are_audited_in_whole_numbers() -> None:
    """A linear relaxation finds fractions where whole numbers leave one table only: that would be a false safe."""
    narrower = 0
    for seed in range(40):
        draw = random.Random(seed)
        finest = {place: draw.choice([1, 1, 2, 3]) for place in _keys((3, 3, 2), draw)}
        table = table_of(finest, totals=(True, True, True), sensitive=lambda value: value < 2)
        suppressed = {index for index in range(len(table.cells)) if table.finest[index]}
        exact = intervals_of(table, *known(table, suppressed), most=60)
        audit = Audit.of_suppressed(table, suppressed)
        found = [(interval.low, interval.high) for interval in map(audit.interval, sorted(suppressed))]
        assert found == [exact[index] for index in sorted(suppressed)]
        narrower += any(low == high for low, high in found)
    assert narrower


def test_sums_are_audited_in_whole_numbers_as_well() -> None:
    """Of these sums the totals of two dimensions leave one table of whole numbers, and others of fractions."""
    twos, ones, zeros = ("0000 0010 1001 1100 1110 1111", "0101 0111", "0001 0011 0100 1010 1101")
    values = {2: twos, 1: ones, 0: zeros}
    finest = {tuple((part,) for part in place): value for value, own in values.items() for place in own.split()}
    table = table_of(finest, totals=(True,) * 4, sensitive=lambda value: value == 0, need=lambda value: 1, sums=True)
    suppressed = {place for place, cell in enumerate(table.cells) if sum(map(bool, cell.key)) > 2}
    empty = table.position[("1",), ("1",), ("0",), ("1",)]
    exact = intervals_of(table, *known(table, suppressed), most=20)
    assert exact[empty] == (0, 0)
    audit = Audit.of_suppressed(table, suppressed)
    assert proven(audit, empty, requirement_of(table, empty, 1), ()) is None
    found = [audit.interval(place) for place in sorted(suppressed)]
    assert [(one.low, one.high) for one in found] == [exact[place] for place in sorted(suppressed)]


def _keys(shape: tuple[int, ...], draw: random.Random) -> list[tuple[tuple[str], ...]]:
    return [tuple((str(part),) for part in place) for place in _product(shape) if draw.random() < 0.8]


def test_whoever_is_alone_in_a_cell_does_not_learn_another_ones() -> None:
    """Two suppressed cells in a row, each of one contributor: each would know the other's from the margin."""
    values = {"a": 40, "b": 30, "c": 500, "d": 600}
    finest = {((name,),): value for name, value in values.items()}
    table = table_of(
        finest, totals=(True,), sums=True, sensitive=lambda value: value < 100, need=lambda value: 10,
        only={(("a",),): 1, (("b",),): 2},
    )  # fmt: skip
    both = {table.position[(("a",),)], table.position[(("b",),)]}
    a = min(both)
    assert Audit.of_suppressed(table, both).interval(a).high == 70
    assert Audit.of_suppressed(table, both).interval(a, known=(max(both),)).high == 40
    assert suppression(table, 1).suppressed > both


def test_an_empty_cell_is_no_complement() -> None:
    """Everybody sees that it is empty."""
    finest = {(("a",), ("x",)): 2, (("a",), ("y",)): 9, (("b",), ("y",)): 7}
    table = table_of(finest, totals=(True, True), sensitive=lambda value: value < 3)
    found = suppression(table, 2)
    exact = intervals_of(table, *known(table, found.suppressed), most=30)
    index = table.position[(("a",), ("x",))]
    assert exact[index][1] - exact[index][0] >= 2
    assert any(() in table.cells[place].key for place in found.suppressed), "a total has to go"


def test_without_scipy_suppression_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(UnsupportedError, match=r'pip install "\.\[tables\]"'):
        suppression(children(), 1)


def test_a_solver_that_lies_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a program returns is added up again; nonsense leads to no proof, and nothing may be published."""

    def nonsense(self: Any, cost: Any = None) -> Solution:
        return Solution([float(number % 3) for number in range(len(self.cost))], is_best=True)

    monkeypatch.setattr("kanon_sql.tables.solver.Program.solve", nonsense)
    assert suppression(children(), 1).failed


@pytest.mark.parametrize("best", [None, False])
def test_an_interval_that_no_program_found_does_not_say_the_value(
    monkeypatch: pytest.MonkeyPatch, best: bool | None
) -> None:
    """The true table agrees with all that is published, and a solver that gives up may return it as its best."""

    def gives_up(self: Any, cost: Any = None) -> Solution | None:
        return None if best is None else Solution([0.0] * len(self.cost), best)

    monkeypatch.setattr("kanon_sql.tables.solver.Program.solve", gives_up)
    table = children()
    audit = Audit.of_suppressed(table, places(table, ADEQUATE))
    for index in places(table, ADEQUATE):
        interval = audit.interval(index)
        assert (interval.low, interval.high) == (1, None)
