"""A release that grows, in plain Python: what every refresh must have released, and what readers may learn of it.

Nothing here shares a line with the package. A row is a dictionary with its number. What is promised:

- what a refresh adds are rows that were never released, in classes that satisfy the requirements by themselves; all
  such classes are added, and the rest waits;
- persons who were released before do not count; where values are protected, their rows are held, and else those of
  persons whose rows have left the release;
- rows that leave go from their class of their batch in numbers of k at least, and k or nobody stay; with persons, or
  with protected values, the class goes whole;
- what has gone stays away, and levels only coarsen.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

Row = Mapping[str, Any]
Labels = tuple[str | None, ...]
Node = tuple[int, ...]

HEIGHTS = {"zip": 3, "sex": 1}


def label(column: str, value: str | None, level: int) -> str | None:
    """A value at a level: a postal code loses its last characters, all else its value at the top."""
    if level == HEIGHTS[column]:
        return "*"
    if value is None or column == "sex" or level == 0:
        return value
    return value[: 3 - level] + "*" * level


def labels(row: Row, node: Node) -> Labels:
    return tuple(label(column, row[column], level) for column, level in zip(HEIGHTS, node, strict=True))


@dataclass(frozen=True)
class Promise:
    """What every class satisfies: k rows, or persons, and l different values.

    With persons, a row without one counts for nobody, and a value that every person of the class has is known of each
    of them, however many others there are: then no other value protects.
    """

    k: int
    l: int = 1  # noqa: E741
    unit: bool = False

    @property
    def protects_values(self) -> bool:
        return self.l > 1

    def holds(self, rows: Sequence[Row], known: Iterable[Any] = ()) -> bool:
        """Whether some rows may be a class; persons who are known do not count."""
        if not self.unit:
            size, values = len(rows), [{row["disease"]} for row in rows]
        else:
            values_of: dict[Any, set[Any]] = defaultdict(set)
            for row in rows:
                values_of[row["person"]].add(row["disease"])
            values = [found for person, found in values_of.items() if person is not None]
            size = len(values_of.keys() - {None} - set(known))
        if size < self.k or not self.protects_values:
            return size >= self.k
        if self.unit and set.intersection(*values) - {None}:
            return False
        return len(set().union(*values) - {None}) >= self.l


@dataclass
class Growing:
    """What is known of the release from outside, and what must become of it.

    Attributes:
        promise: the requirements.
        limit: the share of rows that may wait.
        node: the levels.
        skips_nulls: rows with NULL in a quasi-identifier are never released.
        rows: number -> row, of the source as far as it was taken.
        batches: number -> batch and labels that the row was released under.
        gone: numbers of rows that have left the release.
        left: numbers of rows that have left the source.
        known: persons who were released.
        departed: persons with rows that have left the release.
        versions: what readers have seen: number -> labels.
        whole_until: classes of batches up to this one go whole, since they were released at finer levels too.
    """

    promise: Promise
    limit: float
    node: Node
    skips_nulls: bool = False
    rows: dict[int, Row] = field(default_factory=dict)
    batches: dict[int, tuple[int, Labels]] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    left: set[int] = field(default_factory=set)
    known: set[Any] = field(default_factory=set)
    departed: set[Any] = field(default_factory=set)
    versions: list[dict[int, Labels]] = field(default_factory=list)
    whole_until: int = 0

    @property
    def waiting(self) -> list[int]:
        return [number for number in self.rows if number not in self.batches and number not in self.left]

    @property
    def in_source(self) -> int:
        return len(self.rows) - len(self.left)

    @property
    def most_waiting(self) -> int:
        return int(self.limit * self.in_source + 1e-9)

    def held(self) -> set[int]:
        """Rows that wait for good."""
        if not self.promise.unit:
            return set()
        who = self.known | self.departed if self.promise.protects_values else self.departed
        return {number for number in self.waiting if self.rows[number]["person"] in who - {None}}

    def addable(self, node: Node) -> list[int]:
        """The rows that are released at some levels."""
        classes: dict[Labels, list[int]] = defaultdict(list)
        held = self.held()
        for number in self.waiting:
            row = self.rows[number]
            if number not in held and not (self.skips_nulls and None in (row[column] for column in HEIGHTS)):
                classes[labels(row, node)].append(number)
        return [
            number
            for numbers in classes.values()
            if self.promise.holds([self.rows[number] for number in numbers], self.known)
            for number in numbers
        ]

    def waits_at(self, node: Node) -> int:
        """How many rows would wait: for others, or since they are held."""
        return len(self.waiting) - len(self.addable(node))

    def classes(self, numbers: Iterable[int]) -> dict[str, float | None]:
        """How many classes some rows make, and their rows; empty for none."""
        sizes = Counter(labels(self.rows[number], self.node) for number in numbers).values()
        if not sizes:
            return {}
        average = sum(sizes) / len(sizes)
        return {"count": len(sizes), "smallest": min(sizes), "average": average, "largest": max(sizes)}

    def fitting(self) -> list[Node]:
        """The levels at or above those of the release at which few enough rows wait."""
        above = product(*(range(low, height + 1) for low, height in zip(self.node, HEIGHTS.values(), strict=True)))
        return [node for node in above if self.waits_at(node) <= self.most_waiting and self.stands_at(node)]

    def stands_at(self, node: Node) -> bool:
        """Whether what is released of each batch would satisfy at some levels.

        Where persons have rows in several classes of a batch, the union of these may not be what its parts are. The
        batches are judged one by one, since any of them may leave as a whole.
        """
        classes: dict[tuple[int, Labels], list[Row]] = defaultdict(list)
        for number in self.standing():
            classes[self.batches[number][0], labels(self.rows[number], node)].append(self.rows[number])
        return all(self.promise.holds(rows) for rows in classes.values())

    def standing(self) -> dict[int, Labels]:
        """The release as it must be now."""
        return {number: labels(self.rows[number], self.node) for number in self.batches if number not in self.gone}

    def take(self, rows: Iterable[Row]) -> None:
        self.rows.update({row["rid"]: row for row in rows})

    def leave(self, numbers: Iterable[int], seen: Mapping[int, Labels]) -> int:
        """Rows leave the source. Which others go with them is drawn, and read off the release; returns how many go."""
        numbers = set(numbers)
        self.left |= numbers
        forced = {number for number in numbers if number in self.batches} - self.gone
        removed = set(self.standing()) - set(seen)
        assert forced <= removed, "a row that has left the source is still in the release"
        groups: dict[tuple[int, Labels], set[int]] = defaultdict(set)
        for number in self.standing():
            groups[self.batches[number]].add(number)
        for (batch, _), group in groups.items():
            going, asked = group & removed, group & forced
            if not asked:
                assert not going, "rows went from a class that nobody left"
                continue
            whole = self.promise.unit or self.promise.protects_values or batch <= self.whole_until
            fewest = max(len(asked), self.promise.k)
            if len(going) < len(group):
                assert not whole
                assert len(going) == fewest
                assert len(group) - len(going) >= self.promise.k
        self.gone |= removed
        for number in removed:
            self.departed.add(self.rows[number]["person"])
        return len(removed)

    def add(self, node: Node) -> list[int]:
        """Release what can be at some levels; returns it."""
        assert all(new >= old for new, old in zip(node, self.node, strict=True)), "levels became finer"
        added, batch = self.addable(node), len(self.versions) + 1
        if node != self.node:
            self.whole_until = batch - 1
            self.batches = {number: (old, labels(self.rows[number], node)) for number, (old, _) in self.batches.items()}
        self.node = node
        for number in added:
            self.batches[number] = batch, labels(self.rows[number], node)
        self.known |= {self.rows[number]["person"] for number in added} - {None}
        return added

    def see(self, seen: Mapping[int, Labels]) -> None:
        """A reader keeps another version: it is what it must be, safe by itself, and all versions together are."""
        assert dict(seen) == self.standing()
        self.versions.append(dict(seen))
        joint: dict[tuple[Labels | None, ...], list[int]] = defaultdict(list)
        for number in self.rows:
            signature = tuple(version.get(number) for version in self.versions)
            if any(item is not None for item in signature):
                joint[signature].append(number)
        for numbers in joint.values():
            assert self.promise.holds([self.rows[number] for number in numbers]), "a joint class is too small"
        assert self.stands_at(self.node), "a class of the release is unsafe at its levels"
        if self.promise.unit and self.promise.protects_values:
            of_person: dict[Any, set[int]] = defaultdict(set)
            for number, (batch, _) in self.batches.items():
                of_person[self.rows[number]["person"]].add(batch)
            assert all(len(found) == 1 for person, found in of_person.items() if person is not None)
