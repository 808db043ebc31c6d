"""Subtree recoding in plain Python, over the source's rows: for reading, not for speed.

Nothing here shares a line with the package. Fung, Wang, Yu (ICDE 2005) specialize labels of a cut from the top, Wang,
Yu, Chakraborty (ICDM 2004) generalize them from the values. Choices made here:

- a cut says at which level each value is released; all values of a label are released as it, or none;
- downwards a step is valid if no more rows violate than may be suppressed, and, where more rows than before do, the
  others regain more detail than those had; its score is what it is worth over (lost + 1), lost being how much smaller
  than the smallest satisfying class the smallest satisfying new one is, and the rows that come to violate;
- upwards a step's score is what it costs over gained (over 1 if nothing is), gained being the growth of the smallest
  class and the rows that stop violating; it ends when no row violates, and steps down follow;
- worth is the information about a class in bits, in billionths and times the column's weight, or the detail in shares
  of 2**30 a row; ties go by whether rows of several classes have the label, by detail, by anonymity. What is left tied
  may go either way: the steps that were taken say which, as a column and a level each;
- a label whose text stands at a higher level for other values is never released;
- a column with an order has intervals, called by their first place that has a row. An interval may be split between a
  place and the next one that has rows. Its rows are divided into 4 parts, and the place of each part is offered that is
  worth most (told, then detail, then the first); of those that are valid the interval has the one that is worth most.
  Where no step at all is valid, 64 parts are looked at from then on.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

from tests.oracles.lattice import exact
from tests.oracles.model import Hierarchy, class_size, frequencies, has_null, height_of, judge, model_of, with_null
from tests.oracles.mondrian import Ordered, text_of
from tests.support.strategies import RandomProblem

Cut = tuple[tuple[int, ...], ...]
"""Per column, the level of each of its values, in the order of ``SubtreeProblem.values``."""

Step = tuple[int, int, tuple[Any, ...]]
"""A column's number, a level, and the labels of the path from that level on; or -1, an interval, and its last place."""

Taken = tuple[bool, int, int]
"""Whether a step goes down, its column's number, and its level."""

Released = frozenset[tuple[int, tuple[str | None, ...]]]
"""The rows that are released, with their labels."""


@dataclass(frozen=True)
class SubtreeProblem:
    """A random problem, and how its labels are chosen."""

    problem: RandomProblem
    direction: str
    classify: str | None = None
    orders: Mapping[str, Ordered] = field(default_factory=dict)
    """The columns that are released as ranges."""

    @cached_property
    def rows(self) -> list[int]:
        """The rows that no NULL suppresses and whose class satisfies with the highest labels."""
        named = list(self.problem.hierarchies)
        kept = [
            number
            for number, row in enumerate(self.problem.rows)
            if self.problem.nulls == "value" or not has_null(row, named)
        ]
        classes: dict[Any, list[int]] = {}
        for number in kept:
            row = self.problem.rows[number]
            key = tuple(domain[row[column]][high:] for column, domain, _, high in self.columns)
            classes.setdefault(key, []).append(number)
        return [number for members in classes.values() if self.satisfies(members) for number in members]

    @cached_property
    def most(self) -> int:
        """How many of these rows may be suppressed; negative where too many others are."""
        limit = self.problem.limit
        count = len(self.problem.rows)
        allowed = limit if isinstance(limit, int) else math.floor(exact(limit) * count)
        return allowed - (count - len(self.rows))

    @cached_property
    def columns(self) -> list[tuple[str, Hierarchy, int, int]]:
        """Every column with its domain, and the lowest and the highest level allowed."""
        found = []
        for column, plain in self.problem.hierarchies.items():
            occurs = self.problem.nulls == "value" and any(row[column] is None for row in self.problem.rows)
            low, high = self.problem.levels.get(column, (0, height_of(plain)))
            found.append((column, with_null(plain) if occurs else plain, low, high))
        return found

    @cached_property
    def values(self) -> list[list[Any]]:
        """Per column the values that rows have."""
        return [
            list(dict.fromkeys(self.problem.rows[number][column] for number in self.rows))
            for column, *_ in self.columns
        ]

    @cached_property
    def shares(self) -> list[int]:
        """What one value more or fewer under a label costs a row, in shares of 2**30."""
        weights = [self.problem.weights.get(column, 1.0) for column, *_ in self.columns]
        return [
            int(2**30 * weight / sum(weights) / max(1, len(domain) - 1))
            for weight, (_, domain, *_) in zip(weights, self.columns, strict=True)
        ]

    def satisfies(self, members: Sequence[int]) -> bool:
        rows = [self.problem.rows[number] for number in members]
        for requirement in self.problem.requirements:
            attribute = model_of(requirement)[1].get("attribute")
            original = None if attribute is None else frequencies(self.problem.rows, attribute, self.problem.unit)
            if not judge(requirement, rows, original, self.problem.unit)[1]:
                return False
        return True

    def under(self, column: int, path: tuple[str | None, ...]) -> set[Any]:
        """The values of the domain under a label."""
        return {value for value, own in self.columns[column][1].items() if own[len(own) - len(path) :] == path}

    def is_clear(self, column: int, level: int, value: Any) -> bool:
        """Whether the text of a value's label stands for nothing else at a higher level."""
        name, domain, _, high = self.columns[column]
        occurring = [path for key, path in domain.items() if any(row[name] == key for row in self.problem.rows)]
        own = self.under(column, domain[value][level:])
        return all(
            path[above] != domain[value][level] or self.under(column, path[above:]) == own
            for path in occurring
            for above in range(level + 1, high + 1)
        )

    def labels_of(self, cut: Cut, number: int) -> tuple[tuple[Any, ...], ...]:
        """The paths of a row's labels; of a range, its interval."""
        row = self.problem.rows[number]
        return tuple(
            (levels[values.index(row[name])],)
            if name in self.orders
            else domain[row[name]][levels[values.index(row[name])] :]
            for (name, domain, *_), values, levels in zip(self.columns, self.values, cut, strict=True)
        )

    def classes(self, cut: Cut) -> dict[Any, list[int]]:
        found: dict[Any, list[int]] = {}
        for number in self.rows:
            found.setdefault(self.labels_of(cut, number), []).append(number)
        return found

    def detail(self, cut: Cut, number: int) -> int:
        """What the labels of a row are worth."""
        paths, worth = self.labels_of(cut, number), 0
        for index, (share, (name, domain, *_), path) in enumerate(zip(self.shares, self.columns, paths, strict=True)):
            if name in self.orders:
                places = self.places(cut, index, path[0])
                worth += share * (len(domain) - 1 - (places[-1] - places[0]))
            else:
                worth += share * (len(domain) - len(self.under(index, path)))
        return worth

    # --- Intervals ---

    def places(self, cut: Cut, column: int, first: int) -> list[int]:
        """The places of an interval that have rows, in order."""
        ordered = self.orders[self.columns[column][0]]
        held = zip(self.values[column], cut[column], strict=True)
        return sorted(ordered.place(value) for value, own in held if own == first)

    def offers(self, cut: Cut, parts: int) -> list[tuple[Step, Cut]]:
        """Where intervals may be split, with the cut after it."""
        found = []
        for column, (name, *_) in enumerate(self.columns):
            if name not in self.orders:
                continue
            for first in sorted(set(cut[column])):
                best: dict[int, tuple[Any, Step]] = {}
                places = self.places(cut, column, first)
                held = [self.orders[name].place(self.problem.rows[number][name]) for number in self.rows]
                held = [place for place in held if place in places]
                for after, following in pairwise(places):
                    low = sum(place <= after for place in held)
                    step = (column, -1, (first, after))
                    gain = low * (places[-1] - after) + (len(held) - low) * (following - first)
                    worth = (-self.told(step, cut)[0], -gain * self.shares[column], after)
                    part = parts * low // len(held)
                    best[part] = min(best.get(part, (worth, step)), (worth, step))
                found += [(step, self.split(cut, step)) for _, step in best.values()]
        return found

    def split(self, cut: Cut, step: Step) -> Cut:
        """The cut after an interval is split."""
        column, _, (first, after) = step
        ordered = self.orders[self.columns[column][0]]
        following = min(place for place in self.places(cut, column, first) if place > after)
        own = tuple(
            following if old == first and ordered.place(value) > after else old
            for value, old in zip(self.values[column], cut[column], strict=True)
        )
        return (*cut[:column], own, *cut[column + 1 :])

    # --- Steps ---

    def moved(self, cut: Cut, step: Step, *, down: bool) -> Cut:
        column, level, path = step
        _, domain, *_ = self.columns[column]
        levels = tuple(
            (level - 1 if down else level) if domain[value][level:] == path else old
            for value, old in zip(self.values[column], cut[column], strict=True)
        )
        return (*cut[:column], levels, *cut[column + 1 :])

    def steps(self, cut: Cut, *, down: bool) -> set[Step]:
        """Labels of the cut that may be specialized; or labels of which all labels below are in it."""
        found = set()
        for column, (name, domain, low, high) in enumerate(self.columns):
            if name in self.orders:
                continue
            for value, level in zip(self.values[column], cut[column], strict=True):
                if down and level > low:
                    path = domain[value][level:]
                    below = [other for other in self.values[column] if domain[other][level:] == path]
                    occurring = [other for other in domain if self._occurs(column, other)]
                    barred = [
                        other
                        for other in occurring
                        if domain[other][level:] == path and not self.is_clear(column, level - 1, other)
                    ]
                    if below and not barred:
                        found.add((column, level, path))
                if not down and level < high:
                    path = domain[value][level + 1 :]
                    levels = {
                        old
                        for other, old in zip(self.values[column], cut[column], strict=True)
                        if domain[other][level + 1 :] == path
                    }
                    if levels == {level}:
                        found.add((column, level + 1, path))
        return found

    def _occurs(self, column: int, value: Any) -> bool:
        name = self.columns[column][0]
        return any(row[name] == value for row in self.problem.rows)

    def told(self, step: Step, cut: Cut) -> tuple[int, bool]:
        """What a step tells about the class, in billionths of a bit, and whether its rows are of several classes."""
        column, level, path = step
        name, domain, *_ = self.columns[column]
        held = [self.problem.rows[number] for number in self.rows]
        if self.classify is None:
            return 0, False
        parts: dict[Any, list[Any]] = {}
        if level < 0:
            place, (first, after) = self.orders[name].place, path
            held = [row for row in held if place(row[name]) in self.places(cut, column, first)]
            for row in held:
                parts.setdefault(place(row[name]) <= after, []).append(row[self.classify])
        else:
            held = [row for row in held if domain[row[name]][level:] == path]
            for row in held:
                parts.setdefault(domain[row[name]][level - 1 :], []).append(row[self.classify])
        everything = [row[self.classify] for row in held]
        bits = entropy(everything) - sum(len(part) / len(held) * entropy(part) for part in parts.values())
        weight = self.problem.weights.get(name, 1.0)
        return math.floor(1e9 * weight * bits + 0.5), len(set(everything)) > 1

    def specializations(self, cut: Cut, parts: int) -> set[tuple[Step, Cut]]:
        """The best valid steps down, and the cuts after them."""
        now = self.classes(cut)
        good = {key for key, members in now.items() if self.satisfies(members)}
        least = min((self.size(now[key]) for key in good), default=None)
        violating = sum(len(members) for key, members in now.items() if key not in good)
        scored: dict[Any, set[tuple[Step, Cut]]] = {}
        nearest: dict[Any, dict[Any, set[tuple[Any, Step, Cut]]]] = {}
        steps = [(step, self.moved(cut, step, down=True)) for step in self.steps(cut, down=True)]
        for step, after in [*steps, *self.offers(cut, parts)]:
            then = self.classes(after)
            kept = {key for key, members in then.items() if self.satisfies(members)}
            broken = sum(len(members) for key, members in then.items() if key not in kept) - violating
            regained = sum(self.detail(after, number) for key in kept for number in then[key])
            regained -= sum(self.detail(cut, number) for key in good for number in now[key])
            if violating + broken > self.most or (broken > 0 and regained <= 0):
                continue
            if step[1] < 0:
                sides = set(after[step[0]]) - (set(cut[step[0]]) - {step[2][0]})
                new = [self.size(then[key]) for key in kept if key[step[0]][0] in sides]
            else:
                new = [self.size(then[key]) for key in kept if key[step[0]][1:] == step[2]]
            lost = max(0, broken)
            if new and least is not None:
                lost += max(0, least - min(new))
            told, mixed = self.told(step, cut)
            key = (-self._worth(regained, told, lost + 1), not mixed, -regained, lost)
            if step[1] < 0:
                rank = (-(regained if self.classify is None else told), -regained, lost)
                nearest.setdefault((step[0], step[2][0]), {}).setdefault(rank, set()).add((key, step, after))
            else:
                scored.setdefault(key, set()).add((step, after))
        for places in nearest.values():
            for key, step, after in places[min(places)]:
                scored.setdefault(key, set()).add((step, after))
        return scored[min(scored)] if scored else set()

    def generalizations(self, cut: Cut) -> set[tuple[Step, Cut]]:
        """The best steps up, and the cuts after them; none where no row violates."""
        violating, least = self._violating_and_least(cut)
        scored: dict[Any, set[tuple[Step, Cut]]] = {}
        for step in self.steps(cut, down=False) if violating else ():
            after = self.moved(cut, step, down=False)
            violating_then, least_then = self._violating_and_least(after)
            gained = max(0, least_then - least) + max(0, violating - violating_then)
            cost = sum(self.detail(cut, number) - self.detail(after, number) for number in self.rows)
            worth = self._worth(cost, self.told(step, cut)[0], max(1, gained))
            scored.setdefault((worth, cost, -gained), set()).add((step, after))
        return scored[min(scored)] if scored else set()

    def _violating_and_least(self, cut: Cut) -> tuple[int, int]:
        classes = self.classes(cut).values()
        violating = sum(len(members) for members in classes if not self.satisfies(members))
        return violating, min(map(self.size, classes))

    def _worth(self, detail: int, told: int, over: int) -> int:
        if self.classify is None:
            return math.floor(float(detail) * (1e12 / (2**30 * len(self.rows))) / over)
        return math.floor(float(told) * 1e3 / over)

    def size(self, members: Sequence[int]) -> int:
        return class_size([self.problem.rows[number] for number in members], self.problem.unit)

    # --- Answers ---

    def start(self) -> Cut:
        """The highest labels; or the lowest that are clear together with all labels beside them."""
        high: Cut = tuple(
            tuple(min(map(self.orders[name].place, values)) if name in self.orders else high for _ in values)
            for values, (name, *_, high) in zip(self.values, self.columns, strict=True)
        )
        if self.direction == "top_down":
            return high
        cut = high
        while steps := self.steps(cut, down=True):
            for step in steps:
                cut = self.moved(cut, step, down=True)
        return cut

    def ends(self, taken: Sequence[Taken]) -> set[Cut]:
        """The cuts that some steps lead to; none where a step was not the best, or one more should have been taken."""
        cuts, up = {(self.start(), 4)}, self.direction == "bottom_up"
        for down, column, level in taken:
            if down and up:
                cuts, up = {(cut, parts) for cut, parts in cuts if not self.generalizations(cut)}, False
            cuts = {
                (after, wider)
                for cut, parts in cuts
                for step, after, wider in (
                    self._down(cut, parts) if down else {(*found, parts) for found in self.generalizations(cut)}
                )
                if step[:2] == (column, level)
            }
        return {cut for cut, parts in cuts if not self._down(cut, parts) and not (up and self.generalizations(cut))}

    def _down(self, cut: Cut, parts: int) -> set[tuple[Step, Cut, int]]:
        """The best steps down, and in how many parts of intervals places are looked for from then on."""
        best = self.specializations(cut, parts)
        if not best and self.orders and parts < 64:
            parts = 64
            best = self.specializations(cut, parts)
        return {(step, after, parts) for step, after in best}

    @property
    def is_possible(self) -> bool:
        """Whether anything can be released."""
        return bool(self.rows) and self.most >= 0

    def answers(self, taken: Sequence[Taken]) -> set[Released]:
        """What may be released after some steps."""
        return {self.released(cut) for cut in self.ends(taken)}

    def released(self, cut: Cut) -> Released:
        classes = [(key, members) for key, members in self.classes(cut).items() if self.satisfies(members)]
        kept = [number for _, members in classes for number in members]
        return frozenset(
            (
                number,
                tuple(
                    self.range_of(cut, index, path[0], kept) if name in self.orders else path[0]
                    for index, (path, (name, *_)) in enumerate(zip(key, self.columns, strict=True))
                ),
            )
            for key, members in classes
            for number in members
        )

    def range_of(self, cut: Cut, column: int, first: int, kept: Sequence[int]) -> str | None:
        """The text of an interval: of the values that released rows have there."""
        name = self.columns[column][0]
        ordered, inside = self.orders[name], self.places(cut, column, first)
        everywhere = {self.problem.rows[number][name] for number in kept}
        return text_of({value for value in everywhere if ordered.place(value) in inside}, everywhere, ordered)


def entropy(held: Iterable[Any]) -> float:
    """In bits."""
    counts: Mapping[Any, int] = Counter(held)
    total = sum(counts.values())
    return -sum(count / total * math.log2(count / total) for count in counts.values())
