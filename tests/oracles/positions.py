"""Cloaking in plain Python: a recursive quad-tree over exact fractions, and histories by brute force."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from itertools import pairwise, product
from typing import Any, NamedTuple

EPOCH = datetime(1970, 1, 1)
DAY = 86_400


class Point(NamedTuple):
    """A row: its number, whose it is, where and when, and how many people it wishes for."""

    row: int
    who: Any
    x: Fraction | None
    y: Fraction | None
    t: int
    wish: int


class Box(NamedTuple):
    """Half-open."""

    x0: Fraction
    y0: Fraction
    x1: Fraction
    y1: Fraction

    def has(self, point: Point) -> bool:
        if point.x is None or point.y is None:
            return False
        return self.x0 <= point.x < self.x1 and self.y0 <= point.y < self.y1

    def quadrants(self) -> dict[tuple[int, int], Box]:
        """By column and row."""
        middle_x, middle_y = (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2
        columns = [(self.x0, middle_x), (middle_x, self.x1)]
        rows = [(self.y0, middle_y), (middle_y, self.y1)]
        return {(i, j): Box(columns[i][0], rows[j][0], columns[i][1], rows[j][1]) for i, j in product((0, 1), repeat=2)}

    def pairs(self) -> list[list[Box]]:
        """The quadrants beside each other as one, then those above each other."""
        parts = self.quadrants()
        beside = [_around(parts[0, j], parts[1, j]) for j in (0, 1)]
        above = [_around(parts[i, 0], parts[i, 1]) for i in (0, 1)]
        return [beside, above]


def _around(one: Box, other: Box) -> Box:
    return Box(min(one.x0, other.x0), min(one.y0, other.y0), max(one.x1, other.x1), max(one.y1, other.y1))


Slice = tuple[int, int] | None
Label = tuple[Box, Slice]


@dataclass
class Oracle:
    """What a release of some rows must look like."""

    area: Box
    depth: int
    coarsest: int
    neighbours: bool
    widths: Sequence[int]
    origin: int
    time_first: bool
    present: bool

    def labels(self, points: Sequence[Point]) -> dict[int, Label]:
        """The row -> what it is released with; rows that are left out are missing."""
        inside = [p for p in points if self.area.has(p) and (not self.widths or p.t >= self.origin)]
        if self.present:
            return {p.row: label for p in inside if (label := self._finest(p, inside)) is not None}
        found: dict[int, Label] = {}
        for widths in self._passes():
            rest = [p for p in inside if p.row not in found]
            self._visit(self.area, 0, rest, widths, found)
        return found

    def _passes(self) -> list[list[int | None]]:
        """The widths that each cell is tried with before the next coarser one is."""
        if not self.widths:
            return [[None]]
        return [list(self.widths)] if self.time_first else [[width] for width in self.widths]

    def _slice(self, t: int, width: int | None) -> Slice:
        if width is None:
            return None
        begin = self.origin + (t - self.origin) // width * width
        return begin, begin + width

    # --- Rows are released with those that have the very same label ---

    def _visit(
        self, box: Box, depth: int, points: list[Point], widths: Sequence[int | None], found: dict[int, Label]
    ) -> list[Point]:
        """Release what can be below a cell, then in it; returns the points that are left."""
        if depth < self.depth:
            points = [
                left
                for part in box.quadrants().values()
                for left in self._visit(part, depth + 1, [p for p in points if part.has(p)], widths, found)
            ]
            if self.neighbours and depth >= self.coarsest:
                for pairs in box.pairs():
                    for pair in pairs:
                        self._try(pair, [p for p in points if pair.has(p)], widths, found)
                    points = [p for p in points if p.row not in found]
        if depth >= self.coarsest:
            self._try(box, points, widths, found)
        return [p for p in points if p.row not in found]

    def _try(self, box: Box, points: list[Point], widths: Sequence[int | None], found: dict[int, Label]) -> None:
        for width in widths:
            slices: dict[Slice, list[Point]] = {}
            for p in points:
                if p.row not in found:
                    slices.setdefault(self._slice(p.t, width), []).append(p)
            for own, there in slices.items():
                for p in fulfilled(there):
                    found[p.row] = box, own

    # --- A row is released with a cell that enough people were in ---

    def _finest(self, point: Point, everyone: Sequence[Point]) -> Label | None:
        for widths in self._passes():
            for box in self._around(point):
                for width in widths:
                    own = self._slice(point.t, width)
                    people = {p.who for p in everyone if box.has(p) and self._slice(p.t, width) == own}
                    if len(people) >= point.wish:
                        return box, own
        return None

    def _around(self, point: Point) -> Iterator[Box]:
        """The cells around a point, the finest first."""
        path = [self.area]
        while len(path) <= self.depth:
            path.append(next(part for part in path[-1].quadrants().values() if part.has(point)))
        for depth in range(self.depth, self.coarsest - 1, -1):
            yield path[depth]
            if self.neighbours and depth > self.coarsest:
                for pairs in path[depth - 1].pairs():
                    yield next(pair for pair in pairs if pair.has(point))


def fulfilled(points: Sequence[Point]) -> list[Point]:
    """The most points of a class such that each has as many people with it as it wishes for."""
    for most in sorted({p.wish for p in points}, reverse=True):
        chosen = [p for p in points if p.wish <= most]
        if len({p.who for p in chosen}) >= most:
            return chosen
    return []


# --- Patterns of movement ------------------------------------------------------------------


class Part(NamedTuple):
    """An element of an LBQID."""

    area: Box
    begin: int
    end: int

    def has(self, point: Point) -> bool:
        return self.area.has(point) and self.begin <= point.t % DAY < self.end


def exposed(
    points: Sequence[Point], labels: dict[int, Label], parts: Sequence[Part], days: int, weeks: int, weekdays: bool
) -> tuple[int, int, int | None]:
    """People who match, those of them whose released part of it too few people have, and the fewest who have one."""
    by_person: dict[Any, list[Point]] = {}
    for p in points:
        by_person.setdefault(p.who, []).append(p)
    histories = {who: {labels[p.row] for p in own if p.row in labels} for who, own in by_person.items()}
    counts = []
    for own in by_person.values():
        matched = {p.t // DAY for p in own if _whole(own, parts, p.t // DAY) and (not weekdays or _weekday(p.t) < 5)}
        by_week: dict[tuple[int, int], set[int]] = {}
        for day in matched:
            date = datetime.fromordinal(EPOCH.toordinal() + day)
            by_week.setdefault(date.isocalendar()[:2], set()).add(day)
        if sum(len(found) >= days for found in by_week.values()) < weeks:
            continue
        shown = [p for p in own if p.row in labels and p.t // DAY in matched and any(part.has(p) for part in parts)]
        if shown:
            wanted = {labels[p.row] for p in shown}
            counts.append((sum(wanted <= other for other in histories.values()), max(p.wish for p in shown)))
    return len(counts), sum(people < needed for people, needed in counts), min((c for c, _ in counts), default=None)


def _weekday(t: int) -> int:
    return datetime.fromordinal(EPOCH.toordinal() + t // DAY).weekday()


def _whole(own: Sequence[Point], parts: Sequence[Part], day: int) -> bool:
    """Whether some rows of a day are the pattern's elements in their order."""
    there = [[p.t for p in own if p.t // DAY == day and part.has(p)] for part in parts]
    return any(all(a < b for a, b in pairwise(times)) for times in product(*there))
