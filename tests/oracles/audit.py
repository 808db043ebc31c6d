"""What every attack of an audit must find, in plain Python over lists of rows, by trying everything.

Nothing here shares a line with the package: no SQL, no database, and where there is a choice the
longer way. A row is a mapping from column to value; hierarchies are those of ``oracle.py``. Answers
are people: ``Found(examined, exposed, beyond, risk)``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from tests.oracles.model import Hierarchy, Row, with_null

Hierarchies = Mapping[str, Hierarchy]


@dataclass(frozen=True)
class Found:
    """What an attack achieves; the risk is None when there is nothing to measure."""

    examined: int
    exposed: int
    beyond: int
    risk: Fraction | None


def may_be(hierarchy: Hierarchy | None, value: Any, label: str | None) -> bool:
    """Whether a released label may hide a value: some level maps the value to it."""
    if hierarchy is None:
        return bool(value == label)
    known = with_null(hierarchy)
    top = next(iter(hierarchy.values()))[-1]
    return label in known.get(value, (top,))


def row_may_be(person: Row, row: Row, columns: Iterable[str], hierarchies: Hierarchies) -> bool:
    return all(may_be(hierarchies.get(name), person[name], row[name]) for name in columns)


def highest(risks: Iterable[Fraction]) -> Fraction | None:
    return max(risks, default=None)


# --- one class ----------------------------------------------------------------------------------


def classes_of(release: Sequence[Row], quasi: Sequence[str]) -> list[list[Row]]:
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in release:
        found.setdefault(tuple(row[name] for name in quasi), []).append(row)
    return list(found.values())


def beliefs(held: Counter[Any], negations: int) -> list[Fraction]:
    """The attacker's belief in each value, whichever other values (at most so many) are ruled out."""
    values = [value for value in held if value is not None]
    found = []
    for value in values:
        others = [other for other in values if other != value]
        for count in range(min(negations, len(others)) + 1):
            for gone in combinations(others, count):
                left = sum(held[other] for other in values if other not in gone)
                found.append(Fraction(held[value], left))
    return found


def ruled_out(release: Sequence[Row], quasi: Sequence[str], attribute: str, negations: int, diversity: int) -> Found:
    exposed = beyond = 0
    risks: list[Fraction] = []
    for rows in classes_of(release, quasi):
        held = Counter(row[attribute] for row in rows)
        believed = beliefs(held, negations)
        risks += believed
        if Fraction(1) in believed:
            exposed += len(rows)
            beyond += len(rows) if len(set(held) - {None}) < diversity else 0
    return Found(len(release), exposed, beyond, highest(risks))


def homogeneity(release: Sequence[Row], quasi: Sequence[str], attribute: str) -> Found:
    return ruled_out(release, quasi, attribute, 0, 2)


def similarity(release: Sequence[Row], quasi: Sequence[str], attribute: str, hierarchy: Hierarchy) -> Found:
    """A class is exposed if any one node, at any level below the top, holds all its values."""
    height = len(next(iter(hierarchy.values()))) - 1
    exposed = 0
    risks = []
    for rows in classes_of(release, quasi):
        values = [row[attribute] for row in rows if row[attribute] is not None]
        shares = [
            Fraction(count, len(values))
            for level in range(height)
            for count in Counter(hierarchy[value][level] for value in values).values()
        ]
        risks += shares
        exposed += len(rows) if Fraction(1) in shares else 0
    return Found(len(release), exposed, exposed, highest(risks))


def skewness(
    release: Sequence[Row], quasi: Sequence[str], attribute: str, original: Sequence[Row], most: Fraction | None
) -> Found:
    """``most``: the largest gain allowed, tolerance included; None: none is too large."""
    prior = Counter(row[attribute] for row in original)
    exposed = 0
    risks = []
    for rows in classes_of(release, quasi):
        held = Counter(row[attribute] for row in rows)
        gain = max(
            Fraction(held[value], len(rows)) - (Fraction(prior[value], len(original)) if original else 0)
            for value in held
        )
        risks.append(gain)
        exposed += len(rows) if most is not None and gain > most else 0
    return Found(len(release), exposed, exposed, highest(risks))


# --- a second table -----------------------------------------------------------------------------


def linking(
    external: Sequence[Row], release: Sequence[Row], columns: Sequence[str], hierarchies: Hierarchies, k: int
) -> tuple[Found, Found]:
    """Forward: records with fewer than k matching rows; backward: rows with fewer than k matching records."""
    forward = [sum(row_may_be(person, row, columns, hierarchies) for row in release) for person in external]
    backward = [sum(row_may_be(person, row, columns, hierarchies) for person in external) for row in release]

    def found(matches: list[int]) -> Found:
        exposed = sum(0 < count < k for count in matches)
        return Found(len(matches), exposed, exposed, highest(Fraction(1, count) for count in matches if count))

    return found(forward), found(backward)


def plain_of(row: Row, plain: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row[name] for name in plain)


def hidden(person: Row, release: Sequence[Row], hierarchies: Hierarchies, plain: Sequence[str]) -> Counter[Any]:
    """The plain values of the rows of a release that may be a person's; it may lack quasi-identifiers."""
    quasi = [name for name in hierarchies if release and name in release[0]]
    return Counter(plain_of(row, plain) for row in release if row_may_be(person, row, quasi, hierarchies))


def joined(
    source: Sequence[Row],
    releases: Sequence[Sequence[Row]],
    hierarchies: Hierarchies,
    plain: Sequence[str],
    least: int,
    size: Callable[[Counter[Any]], int],
    counts: Callable[[Row], bool] = lambda _: True,
) -> Found:
    """People whose own values are in the first release and another, by what all that have them have in common."""
    sizes = []
    for person in source:
        rows = [hidden(person, release, hierarchies, plain) for release in releases]
        inside = [found for found in rows if found[plain_of(person, plain)]]
        if not rows[0][plain_of(person, plain)] or len(inside) < 2 or not counts(person):
            continue
        common = inside[0]
        for others in inside[1:]:
            common = common & others  # the smaller of the two counts
        sizes.append(size(common))
    exposed = sum(count < least for count in sizes)
    return Found(len(sizes), exposed, exposed, highest(Fraction(1, count) for count in sizes))


def complementary(
    source: Sequence[Row], releases: Sequence[Sequence[Row]], hierarchies: Hierarchies, plain: Sequence[str], k: int
) -> Found:
    return joined(source, releases, hierarchies, plain, k, lambda common: sum(common.values()))


def composition(
    source: Sequence[Row], releases: Sequence[Sequence[Row]], hierarchies: Hierarchies, attribute: str, least: int
) -> Found:
    return joined(
        source, releases, hierarchies, [attribute], least,
        size=lambda common: len(set(common) - {(None,)}),
        counts=lambda person: person[attribute] is not None,
    )  # fmt: skip


# --- the order of rows --------------------------------------------------------------------------


def places(rows: Sequence[tuple[Any, Any]]) -> dict[tuple[Any, Any], tuple[Fraction, int]]:
    """(class, plain values) -> the mean place of such rows in their class, in (0, 1), and how many there are."""
    found: dict[tuple[Any, Any], list[Fraction]] = {}
    for key in {key for key, _ in rows}:
        inside = [plain for other, plain in rows if other == key]
        for position, plain in enumerate(inside):
            found.setdefault((key, plain), []).append(Fraction(2 * position + 1, 2 * len(inside)))
    return {group: (sum(items, Fraction(0)) / len(items), len(items)) for group, items in found.items()}


def order(
    source: Sequence[Row], release: Sequence[Row], hierarchies: Hierarchies, plain: Sequence[str]
) -> tuple[int, int, float | None]:
    """(rows examined, groups less classes, correlation) of two tables whose lists are in physical order."""
    keys = dict.fromkeys(tuple(row[name] for name in hierarchies) for row in release)
    ours = places([(tuple(row[name] for name in hierarchies), plain_of(row, plain)) for row in release])
    theirs = places(
        [
            (key, plain_of(person, plain))
            for person in source
            for key in keys
            if all(may_be(hierarchies[name], person[name], label) for name, label in zip(hierarchies, key, strict=True))
        ]
    )
    shared = [group for group in ours if group in theirs]
    sizes = Counter(key for key, _ in shared)
    half = Fraction(1, 2)
    moves = [(ours[group][1], ours[group][0] - half, theirs[group][0] - half) for group in shared]
    product = sum(n * a * b for n, a, b in moves)
    spread = float(sum(n * a * a for n, a, _ in moves)) * float(sum(n * b * b for n, _, b in moves))
    examined = sum(ours[group][1] for group in shared if sizes[group[0]] > 1)
    return examined, len(shared) - len(sizes), None if spread == 0 else float(product) / spread**0.5


@dataclass(frozen=True)
class Placed:
    """Two releases joined by position: how much of the source that returns, and whom joint classes under k expose."""

    positions: int
    returned: int
    exposed: int
    risk: Fraction | None


def by_position(
    source: Sequence[Row],
    releases: Sequence[Sequence[Row]],
    hierarchies: Hierarchies,
    plain: Sequence[str],
    k: int,
) -> Placed:
    """Sweeney 2002, section 4.1: row i of one release and row i of the other are taken to be one person's.

    A tuple of rows is given a row of the source of its own, one that may be behind both, as long as there are any.
    """
    own = [[name for name in hierarchies if release and name in release[0]] for release in releases]
    lines = list(zip(*releases, strict=True))

    def cell(line: Sequence[Row]) -> tuple[Any, ...]:
        return tuple(
            (tuple(row[name] for name in names), plain_of(row, plain)) for row, names in zip(line, own, strict=True)
        )

    def behind(person: Row, line: Sequence[Row]) -> bool:
        return all(
            row_may_be(person, row, names, hierarchies) and plain_of(person, plain) == plain_of(row, plain)
            for row, names in zip(line, own, strict=True)
        )

    left = {cell(line): sum(behind(person, line) for person in source) for line in lines}
    joint = Counter(tuple(labels for labels, _ in cell(line)) for line in lines)
    returned, exposed, risks = 0, 0, []
    for line in lines:
        if left[cell(line)]:
            left[cell(line)] -= 1
            size = joint[tuple(labels for labels, _ in cell(line))]
            returned, exposed = returned + 1, exposed + (size < k)
            risks.append(Fraction(1, size))
    return Placed(len(lines), returned, exposed, highest(risks))
