"""Mondrian in plain Python, over the source's rows by their positions: for reading, not for speed.

Nothing here shares a line with the package. LeFevre, DeWitt, Ramakrishnan (ICDE 2006): a partition is cut in the column
where it is widest, as a share of the column's values, among those whose median cut is allowable. Choices made here:

- a cut lies between two values, as near to half of the rows as can be, and below where two are as near;
- a cut is allowable if both sides satisfy every requirement; the first column wins a tie;
- values of a column have places 0, 1, ... in its order, and NULL stands behind all others;
- the width of a partition is the last of its places less the first, over the places of the column less one, times the
  column's weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from tests.oracles.model import Requirement, Row, frequencies, judge, model_of


@dataclass(frozen=True)
class Ordered:
    """A column: the values of its domain in order, NULL left out."""

    values: Sequence[Any]
    has_null: bool
    listed: bool = False
    """The values are rows of a hierarchy, of which some may not occur."""
    weight: float = 1.0

    @property
    def size(self) -> int:
        return len(self.values) + self.has_null

    def place(self, value: Any) -> int:
        return len(self.values) if value is None else self.values.index(value)


@dataclass(frozen=True)
class MondrianProblem:
    """Rows, the order of every quasi-identifier, and what every class has to satisfy."""

    rows: Sequence[Row]
    columns: Mapping[str, Ordered]
    requirements: Sequence[Requirement]
    unit: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Per quasi-identifier the type of the column."""

    def satisfies(self, members: Sequence[int]) -> bool:
        rows = [self.rows[number] for number in members]
        for requirement in self.requirements:
            attribute = model_of(requirement)[1].get("attribute")
            original = None if attribute is None else frequencies(self.rows, attribute, self.unit)
            if not judge(requirement, rows, original, self.unit)[1]:
                return False
        return True

    def median_cut(self, members: Sequence[int], column: str) -> tuple[list[int], list[int]] | None:
        """Both sides; None where all rows hold one value."""
        ordered = self.columns[column]
        places = [ordered.place(self.rows[number][column]) for number in members]
        cuts = [
            (abs(2 * sum(place <= after for place in places) - len(places)), after)
            for after in set(places)
            if after < max(places)
        ]
        if not cuts:
            return None
        _, after = min(cuts)
        low = [number for number, place in zip(members, places, strict=True) if place <= after]
        return low, [number for number in members if number not in low]

    def width(self, members: Sequence[int], column: str) -> int:
        ordered = self.columns[column]
        places = [ordered.place(self.rows[number][column]) for number in members]
        return round((max(places) - min(places)) * (ordered.weight / max(1, ordered.size - 1)) * 1e9)

    def allowable_cuts(self, members: Sequence[int]) -> list[tuple[list[int], list[int]]]:
        """The widest column first."""
        widest = sorted(self.columns, key=lambda column: -self.width(members, column))
        cuts = [self.median_cut(members, column) for column in widest]
        return [cut for cut in cuts if cut is not None and self.satisfies(cut[0]) and self.satisfies(cut[1])]

    def partitions(self) -> set[frozenset[int]] | None:
        """The rows that stay together; None where the table as a whole violates."""
        population_size = list(range(len(self.rows)))
        if not population_size or not self.satisfies(population_size):
            return None
        closed, waiting = set(), [population_size]
        while waiting:
            members = waiting.pop()
            cuts = self.allowable_cuts(members)
            if cuts:
                waiting += cuts[0]
            else:
                closed.add(frozenset(members))
        return closed


def set_of(label: str | None, ordered: Ordered, released: Sequence[Any]) -> set[Any]:
    """The values of the domain that a label stands for, read from its text.

    Args:
        label: it.
        ordered: the column.
        released: the column's values of all released rows.
    """
    everything = {*ordered.values, *([None] if ordered.has_null else [])}
    if label is None:
        return {None}
    if label == "*":
        return everything
    if label == "not NULL" and not ordered.listed:
        return everything - {None}
    if label.endswith(" or NULL"):
        return {None} | set_of(label.removesuffix(" or NULL"), ordered, released)
    by_text = {str(value): place for place, value in enumerate(ordered.values)}
    first, last = 0, len(ordered.values) - 1
    if label in by_text:
        first = last = by_text[label]
    elif ordered.listed:
        first, last = (by_text[end] for end in label.split("..", 1))
    elif label.startswith("<= "):
        last = by_text[label[3:]]
    elif label.startswith(">= "):
        first = by_text[label[3:]]
    else:
        assert label[0] == "[", label
        assert label[-1] == "]", label
        first, last = (by_text[end] for end in label[1:-1].split(", ", 1))
    return set(ordered.values[first : last + 1])


def text_of(held: Set[Any], released: Set[Any], ordered: Ordered) -> str | None:
    """What values are released as that have one label.

    Args:
        held: these values, as released rows have them.
        released: those of all released rows.
        ordered: the column.
    """
    places, null = sorted(map(ordered.place, held - {None})), None in held
    if not places:
        return None
    low, high = (str(ordered.values[place]) for place in (places[0], places[-1]))
    if len(held) == 1:
        return low
    ends = sorted(map(ordered.place, released - {None}))
    begins, closes = places[0] == ends[0], places[-1] == ends[-1]
    everything = places[-1] - places[0] + 1 + null == ordered.size
    if everything if ordered.listed else begins and closes and (null or None not in released):
        return "*"
    if len(places) == 1:
        text = low
    elif ordered.listed:
        text = f"{low}..{high}"
    elif begins and closes:
        text = "not NULL"
    else:
        text = f"<= {high}" if begins else f">= {low}" if closes else f"[{low}, {high}]"
    return f"{text} or NULL" if null else text


def ends_in(label: str | None) -> list[str]:
    """The values that a label names."""
    if label in (None, "*", "not NULL"):
        return []
    text = str(label).removesuffix(" or NULL").removeprefix("<= ").removeprefix(">= ")
    return text[1:-1].split(", ") if text.startswith("[") else text.split("..")
