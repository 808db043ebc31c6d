"""Tables of counts and sums in plain Python: cells, rules, and all tables that agree with what is published."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import ceil
from typing import Any

from kanon_sql.tables.structure import Cell, CellTable, Key

Row = tuple[Any, ...]


# --- Cells and rules, from rows ------------------------------------------------------------


def margins_of(paths: Sequence[Sequence[str | None]], totals: Sequence[bool]) -> Iterator[Key]:
    """The keys of all cells that a row counts in: its labels, coarsest first, cut off anywhere."""
    ends = [range(0 if total else 1, len(path) + 1) for path, total in zip(paths, totals, strict=True)]
    for cut in product(*ends):
        yield tuple(tuple(path[:end]) for path, end in zip(paths, cut, strict=True))


def need_of(
    rules: Mapping[str, Any], amounts: Sequence[int], percent: Fraction, people: int | None = None
) -> tuple[bool, int]:
    """Whether contributions make a cell sensitive, and how far from its value its bounds must be.

    ``people``: how many the threshold counts, if not one per contribution.

    Written from the definitions: WP 22 (2005), chapter IV; Hundepool et al. 2012, section 4.2.
    """
    total, largest = sum(amounts), [*sorted(amounts, reverse=True), 0, 0]
    needs: list[Fraction] = []
    if rules.get("dominance"):
        n, k = rules["dominance"]["n"], Fraction(str(rules["dominance"]["k"])) / 100
        first = sum(largest[:n])
        if first > k * total:
            needs.append(first / k - total)
    rest = total - largest[0] - largest[1]
    if rules.get("p_percent"):
        p = rules["p_percent"]["p"] if isinstance(rules["p_percent"], Mapping) else rules["p_percent"]
        if rest < Fraction(str(p)) / 100 * largest[0]:
            needs.append(Fraction(str(p)) / 100 * largest[0] - rest)
    if rules.get("pq"):
        p, q = Fraction(str(rules["pq"]["p"])), Fraction(str(rules["pq"]["q"]))
        if q * rest < p * largest[0]:
            needs.append(p / q * largest[0] - rest)
    below = (len(amounts) if people is None else people) < rules.get("threshold", 0)
    if below:
        needs.append(percent * total / 100)
    return bool(needs), max((ceil(need) for need in needs), default=0)


def cells_of(
    rows: Sequence[tuple[Sequence[Sequence[str | None]], Any, int | None]],
    rules: Mapping[str, Any],
    *,
    totals: Sequence[bool],
    sums: bool,
    count: str = "rows",
    percent: Fraction = Fraction(20),
    holdings: Mapping[Any, Any] | None = None,
) -> CellTable:
    """The cells of rows (labels per dimension, contributor or None for the row itself, amount).

    ``holdings``: contributor -> the holding that it belongs to, or None.
    """
    found: dict[Key, dict[Any, list[int | None]]] = defaultdict(lambda: defaultdict(list))
    for number, (paths, person, amount) in enumerate(rows):
        if sums and amount is None:
            continue
        for key in margins_of(paths, totals):
            found[key][("row", number) if person is None else person].append(amount)
    cells, people = [], dict[Any, int]()
    for key, given in found.items():
        if sums:
            parts: Counter[Any] = Counter()
            for person, own in given.items():
                holding = (holdings or {}).get(person)
                parts[("holding", holding) if holding is not None else ("person", person)] += sum(map(int, own))
            amounts = list(parts.values())
            sensitive, need = need_of(rules, amounts, percent, len(given))
            only = next(iter(parts)) if len(parts) == 1 else None
            number = 0 if only is None else 1 + people.setdefault(only, len(people))
            cells.append(Cell(key, sum(amounts), sensitive, need, number))
        else:
            value = len(given) if count == "persons" else sum(len(own) for own in given.values())
            cells.append(Cell(key, value, len(given) < rules["threshold"], 0, 0))
    return CellTable.of(cells, sums=sums)


def table_of(
    finest: Mapping[Sequence[Sequence[str]], int],
    *,
    totals: Sequence[bool],
    sensitive: Any,
    need: Any = lambda value: 0,
    sums: bool = False,
    only: Mapping[Any, int] | None = None,
) -> CellTable:
    """A table from its finest cells.

    ``sensitive`` says of a value whether its cell is, ``only`` who the only contributor to some finest cells is.
    """
    values: Counter[Key] = Counter()
    people: dict[Key, set[int]] = defaultdict(set)
    for paths, value in finest.items():
        for key in margins_of(paths, totals):
            values[key] += value
            people[key].add((only or {}).get(paths, 0))
    return CellTable.of(
        [
            Cell(key, value, sensitive(value), need(value), people[key].pop() if len(people[key]) == 1 else 0)
            for key, value in values.items()
        ],
        sums=sums,
    )


# --- All tables that agree -----------------------------------------------------------------


def possible(table: CellTable, lower: Sequence[int], upper: Sequence[int | None], most: int) -> Iterator[Sequence[int]]:
    """Every table of whole numbers that adds up, with each cell within bounds; what has no bound is at most ``most``.

    The finest cells are set one after the other, and a sum that is too large already is not followed.
    """
    finest = [index for index in range(len(table.cells)) if table.finest[index]]
    above = {index: [place for place in range(len(table.cells)) if table.is_part(index, place)] for index in finest}
    sums = [0] * len(table.cells)
    limits = [most if limit is None else limit for limit in upper]
    left = Counter(place for index in finest for place in above[index])

    def set_from(position: int) -> Iterator[Sequence[int]]:
        if position == len(finest):
            yield list(sums)
            return
        index = finest[position]
        for value in range(lower[index], limits[index] + 1):
            for place in above[index]:
                sums[place] += value
                left[place] -= 1
            fits = all(sums[place] <= limits[place] for place in above[index])
            done = all(left[place] or sums[place] >= lower[place] for place in above[index])
            if fits and done:
                yield from set_from(position + 1)
            for place in above[index]:
                sums[place] -= value
                left[place] += 1
            if not fits:
                break

    yield from set_from(0)


def intervals_of(
    table: CellTable, lower: Sequence[int], upper: Sequence[int | None], most: int
) -> list[tuple[int, int]]:
    """The least and the greatest value of each cell over all possible tables."""
    low, high = [10**9] * len(table.cells), [-1] * len(table.cells)
    for found in possible(table, lower, upper, most):
        low, high = list(map(min, low, found)), list(map(max, high, found))
    return list(zip(low, high, strict=True))


def known(table: CellTable, suppressed: Collection[int]) -> tuple[list[int], list[int | None]]:
    """What everybody knows of each cell where some are suppressed: of a count that it is not empty."""
    least = 0 if table.sums else 1
    lower = [least if index in suppressed else cell.value for index, cell in enumerate(table.cells)]
    return lower, [None if index in suppressed else cell.value for index, cell in enumerate(table.cells)]
