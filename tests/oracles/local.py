"""Local recoding (fast) from the top in plain Python, and what a release of it rules out: every source is tried.

Nothing here shares a line with the package. Choices made by local recoding, for k rows per class:

- vectors of k rows or more are released by themselves, unless from 1 to k - 1 rows would stay behind;
- a class of 2k rows or more is cut in a column where a child of its lowest common label has k rows. Children with fewer
  are pooled, and the pool keeps the label; where it has too few rows, the child that can give most up without its
  largest vector gives the most similar ones, if both are large enough then; else the child that gains least joins it;
- of the columns the one is cut whose cut regains most for what it leaves to be divided, then the first one.

Then classes whose rows lose more than half of what rows lose on average are opened again. Each of their vectors claims
the cheapest class of k open rows, of the nodes that such classes have and those a level beside them; claims of k rows
are a class. That is repeated until little is claimed. Fewer than k rows that are left join the class for which both
lose least by it. All classes are then cut as before, and the result is released if it loses less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, combinations_with_replacement, product
from math import floor, log
from typing import Any

Vector = tuple[str, ...]
Part = dict[Vector, int]
"""Vector -> its rows."""

Node = tuple[int, ...]
"""A level per column."""

Released = tuple[tuple[Vector, int], ...]
"""The labels of each class with its rows, sorted."""


@dataclass(frozen=True)
class Column:
    """A quasi-identifier: each value with its labels, itself first and the top last."""

    paths: Mapping[str, tuple[str, ...]]

    @cached_property
    def height(self) -> int:
        return len(next(iter(self.paths.values()))) - 1

    @cached_property
    def codes(self) -> dict[str, tuple[str, ...]]:
        """A value's labels from the highest below the top to the lowest, by which values are sorted."""
        return {value: tuple(reversed(path[:-1])) for value, path in self.paths.items()}

    def code(self, value: str, level: int) -> tuple[str, ...]:
        return self.codes[value][: self.height - level]

    @cached_property
    def sizes(self) -> list[Counter[tuple[str, ...]]]:
        """Per level, the values under each label."""
        return [Counter(self.code(value, level) for value in self.paths) for level in range(self.height + 1)]

    @cached_property
    def distances(self) -> list[int]:
        most, values = max(1, len(self.paths) - 1), len(self.paths)
        return [500 + int(500 * (values / len(self.sizes[level]) - 1) / most) for level in range(self.height)] + [1000]

    def common(self, values: Iterable[str]) -> int:
        """The lowest level on which values have one label."""
        distinct = set(values)
        return next(
            level for level in range(self.height + 1) if len({self.code(value, level) for value in distinct}) == 1
        )


@dataclass(frozen=True)
class Child:
    """What a cut makes of one label: its vectors, what it gains a row, and its number among all labels."""

    part: Part
    gain: float
    number: int

    @property
    def rows(self) -> int:
        return sum(self.part.values())


class Local:
    """Local recoding of sources over some columns."""

    def __init__(self, columns: Sequence[Column], k: int, *, sweeps: bool = True) -> None:
        self.columns, self.k, self.sweeps = columns, k, sweeps
        self.width = 1 + sum((len(own.paths) + 2) * (own.height + 1) for own in columns)
        labels = [
            (place, level, code)
            for place, own in enumerate(columns)
            for level in range(own.height + 1)
            for code in sorted(own.sizes[level])
        ]
        self.numbers = {label: number for number, label in enumerate(labels, 1)}

    def order(self, vector: Vector) -> tuple[tuple[str, ...], ...]:
        """Vectors are numbered by their last column first."""
        return tuple(own.codes[value] for own, value in reversed([*zip(self.columns, vector, strict=True)]))

    def classes(self, source: Part) -> list[Part]:
        """The classes that a source of at least k rows is divided into."""
        alone = {vector for vector, rows in source.items() if rows >= self.k}
        rest = {vector: rows for vector, rows in source.items() if vector not in alone}
        if rest and sum(rest.values()) < self.k:
            alone, rest = set(), source
        self.total = sum(source.values())
        return [*({vector: source[vector]} for vector in alone), *self.divided([rest] if rest else [])]

    def divided(self, waiting: list[Part]) -> list[Part]:
        """What cuts make of some classes."""
        found = []
        while waiting:
            part = waiting.pop()
            pieces = self.cut(part)
            if pieces is None:
                found.append(part)
            else:
                waiting += pieces
        return found

    def release(self, source: Part) -> dict[Vector, Part]:
        """The labels of each class, with its vectors."""
        before = self.labelled(self.classes(source))
        lost = self.lost(before)
        if not self.sweeps or not lost:
            return {labels: part for (labels, _), part in before.items()}
        again = self.labelled(self.divided(self.swept(source, before)))
        return {labels: part for (labels, _), part in (again if self.lost(again) < lost else before).items()}

    def labelled(self, parts: Iterable[Part]) -> dict[tuple[Vector, Node], Part]:
        """The labels of each class with their levels, and its vectors."""
        found: dict[tuple[Vector, Node], Part] = {}
        for part in parts:
            columns = list(zip(*part, strict=True))
            levels = tuple(own.common(values) for own, values in zip(self.columns, columns, strict=True))
            merged = found.setdefault((self.labels_of(next(iter(part)), levels), levels), {})
            for vector, rows in part.items():
                merged[vector] = merged.get(vector, 0) + rows
        return found

    def labels_of(self, vector: Vector, node: Node) -> Vector:
        return tuple(own.paths[value][level] for own, value, level in zip(self.columns, vector, node, strict=True))

    def price(self, vector: Vector, node: Node) -> int:
        """What a row loses by its labels: of 2^30, each column's part in whole numbers per value."""
        return sum(
            int(2**30 / len(self.columns) / max(1, len(own.paths) - 1)) * (own.sizes[level][own.code(value, level)] - 1)
            for own, value, level in zip(self.columns, vector, node, strict=True)
        )

    def lost(self, classes: Mapping[tuple[Vector, Node], Part]) -> int:
        return sum(self.price(next(iter(part)), node) * sum(part.values()) for (_, node), part in classes.items())

    def swept(self, source: Part, classes: Mapping[tuple[Vector, Node], Part]) -> list[Part]:
        """The classes after those that are dear were opened and their rows claimed others."""
        dear = self.lost(classes) // (2 * self.total)
        nodes: set[Node] = set()
        opened: Part = {}
        closed: list[tuple[Part, int]] = []
        for (_, node), part in classes.items():
            price = self.price(next(iter(part)), node)
            if price <= dear:
                closed.append((part, price))
                continue
            opened |= part
            nodes |= {node} | {
                (*node[:place], node[place] + step, *node[place + 1 :])
                for place, own in enumerate(self.columns)
                for step in (-1, 1)
                if 0 <= node[place] + step <= own.height
            }
        everywhere = {node: sum(self.price(vector, node) * rows for vector, rows in source.items()) for node in nodes}
        ordered = sorted(nodes, key=lambda node: (everywhere[node], node))
        assert len(ordered) <= 64, "one batch of nodes"
        for _ in range(16):
            before = len(opened)
            for part, price in self.claimed(opened, ordered):
                closed.append((part, price))
                opened = {vector: rows for vector, rows in opened.items() if vector not in part}
            if not opened or (before - len(opened)) * 20 <= before:
                break
        if opened and sum(opened.values()) < self.k:
            host = min(closed, key=lambda own: (self.dearer(opened, *own), min(map(self.order, own[0]))))
            closed.remove(host)
            opened = opened | host[0]
        return [*(part for part, _ in closed), *([opened] if opened else [])]

    def claimed(self, opened: Part, nodes: Sequence[Node]) -> list[tuple[Part, int]]:
        """The classes whose claims have k rows, and what a row of each loses by the labels of the node."""
        rows_of = Counter[tuple[Node, Vector]]()
        for vector, rows in opened.items():
            for node in nodes:
                rows_of[node, self.labels_of(vector, node)] += rows
        claims: dict[tuple[Node, Vector], Part] = {}
        for vector, rows in opened.items():
            found = [
                (self.price(vector, node), number)
                for number, node in enumerate(nodes)
                if rows_of[node, self.labels_of(vector, node)] >= self.k
            ]
            if found:
                node = nodes[min(found)[1]]
                claims.setdefault((node, self.labels_of(vector, node)), {})[vector] = rows
        return [
            (part, self.price(next(iter(part)), node))
            for (node, _), part in claims.items()
            if sum(part.values()) >= self.k
        ]

    def dearer(self, left: Part, part: Part, price: int) -> int:
        """What a class and rows that join it lose more than the class lost."""
        both = left | part
        levels = tuple(own.common(values) for own, values in zip(self.columns, zip(*both, strict=True), strict=True))
        return sum(both.values()) * self.price(next(iter(part)), levels) - sum(part.values()) * price

    def cut(self, part: Part) -> list[Part] | None:
        if sum(part.values()) < 2 * self.k:
            return None
        best = None
        for place in range(len(self.columns)):
            offered = self.offered(part, place)
            if offered is not None and (best is None or offered[0] > best[0]):
                best = offered
        return None if best is None else best[1]

    def children(self, part: Part, place: int) -> list[Child]:
        own = self.columns[place]
        level = own.common(vector[place] for vector in part) - 1
        if level < 0:
            return []
        grouped: dict[tuple[str, ...], Part] = {}
        for vector, rows in part.items():
            grouped.setdefault(own.code(vector[place], level), {})[vector] = rows
        unit = 1 / max(1, len(own.paths) - 1)
        return [
            Child(
                inside,
                float(own.sizes[level + 1][code[:-1]] - own.sizes[level][code]) * unit,
                self.numbers[place, level, code],
            )
            for code, inside in grouped.items()
        ]

    def offered(self, part: Part, place: int) -> tuple[int, list[Part]] | None:
        """What the cut of a column is worth, and its pieces; None if it is not allowed."""
        children = self.children(part, place)
        good = [child for child in children if child.rows >= self.k]
        if not good:
            return None
        pool: Part = {}
        for child in children:
            if child.rows < self.k:
                pool |= child.part
        if pool and sum(pool.values()) < self.k:
            lacks = sum(pool.values())
            spare = {child.number: child.rows - max(child.part.values()) for child in good}
            giver = max(good, key=lambda child: (spare[child.number], child.number))
            if spare[giver.number] >= 2 * self.k - lacks:
                # what a cut is worth is reckoned with the rows that the pool needs, not with the vectors that it gets
                score = self.worth(part, [(c, c.rows - (self.k - lacks if c is giver else 0)) for c in good])
                taken = self.nearest(giver.part, pool, self.k - lacks)
                pieces = [child.part for child in good if child is not giver]
                left = {vector: rows for vector, rows in giver.part.items() if vector not in taken}
                return score, [*pieces, left, pool | {vector: giver.part[vector] for vector in taken}]
            scale = 1e9 / self.total
            host = min(good, key=lambda child: (floor(float(child.rows) * child.gain * scale), child.number))
            good.remove(host)
            pool |= host.part
        if len(good) < 2 and not (good and pool):
            return None
        score = self.worth(part, [(child, child.rows) for child in good])
        return score, [*(child.part for child in good), *([pool] if pool else [])]

    def worth(self, part: Part, owners: Sequence[tuple[Child, int]]) -> int:
        rows = sum(part.values())
        left = rows - sum(own for _, own in owners)
        gained = sum(float(own) * child.gain for child, own in owners)
        cost = rows * 0.05 + self.divisible(rows) - sum(self.divisible(own) for _, own in owners) - self.divisible(left)
        return floor(1e9 * gained / cost + 0.5)

    def divisible(self, rows: int) -> float:
        return rows * log(rows / self.k) if rows >= 2 * self.k else 0

    def nearest(self, giver: Part, pool: Part, needed: int) -> list[Vector]:
        """The vectors most similar to the largest of a pool, until it has enough rows."""
        seed = min(pool, key=lambda vector: (-pool[vector], self.order(vector)))
        taken: list[Vector] = []
        for vector in sorted(giver, key=lambda vector: (self.distance(vector, seed), self.order(vector))):
            if sum(giver[other] for other in taken) >= needed:
                break
            taken.append(vector)
        return taken

    def distance(self, one: Vector, other: Vector) -> int:
        return sum(
            0 if a == b else own.distances[own.common((a, b))]
            for own, a, b in zip(self.columns, one, other, strict=True)
        )


def released(classes: Mapping[Vector, Part]) -> Released:
    """What a reader sees."""
    return tuple(sorted((labels, sum(part.values())) for labels, part in classes.items()))


def worlds(local: Local, release: Released, occurring: Sequence[Collection[str]]) -> list[dict[Vector, Part]]:
    """The vectors of each class in every source that gives a release, of values that occur."""
    ways = []
    for labels, rows in release:
        values = [
            [value for value in have if label in own.paths[value]]
            for own, label, have in zip(local.columns, labels, occurring, strict=True)
        ]
        ways.append([Counter(chosen) for chosen in combinations_with_replacement(list(product(*values)), rows)])
    found = []
    for chosen in product(*ways):
        source = dict(sum(chosen, Counter()))
        classes = local.release(source)
        if released(classes) == release:
            found.append(classes)
    return found


def counts(possible: Iterable[Mapping[Vector, Part]], labels: Vector, place: int, values: Collection[str]) -> set[int]:
    """How many rows of a class may have one of some values."""
    return {
        sum(rows for vector, rows in world[labels].items() if vector[place] in values) for world in possible
    }  # fmt: skip


class Resisting(Local):
    """What local recoding that resists refinement may release, whatever its coins show; it never sweeps.

    Rows may be loose, up to k of a vector, and a cut may hold loose rows back where what is left over has k rows with
    them. A class may stay whole, and any allowed cut may be chosen. Left out is what pools that are too small would do
    without rows that are held back: what is found is possible, and more may be.
    """

    def __init__(self, columns: Sequence[Column], k: int) -> None:
        super().__init__(columns, k, sweeps=False)

    def possible(self, source: Part) -> set[Released]:
        """The releases that some coins make of a source."""
        found: set[Released] = set()
        ways = [range(min(rows, self.k) + 1) for rows in source.values()]
        for chosen in product(*ways):
            loose = dict(zip(source, chosen, strict=True))
            alone = {vector: rows - loose[vector] for vector, rows in source.items()}
            alone = {vector: rows for vector, rows in alone.items() if rows >= self.k}
            left = [(vector, True) for vector in source for _ in range(loose[vector])]
            left += [(v, False) for v, rows in source.items() if v not in alone for _ in range(rows - loose[v])]
            if left and len(left) < self.k:
                continue
            ends = self.ends(tuple(sorted(left))) if left else {()}
            for end in ends:
                sizes = Counter(alone)
                for labels, rows in end:
                    sizes[labels] += rows
                found.add(tuple(sorted(sizes.items())))
        return found

    def ends(self, part: tuple[tuple[Vector, bool], ...]) -> set[Released]:
        """The classes that a partition of rows, loose or not, may end in."""
        if part not in self._ends:
            columns = zip(*(vector for vector, _ in part), strict=True)
            labels = tuple(own.paths[v[0]][own.common(v)] for own, v in zip(self.columns, columns, strict=True))
            found: set[Released] = {((labels, len(part)),)}
            for place in range(len(self.columns)) if len(part) >= 2 * self.k else ():
                for pieces in self.divisions(part, place):
                    for ends in product(*map(self.ends, pieces)):
                        found.add(tuple(sorted(item for end in ends for item in end)))
            self._ends[part] = found
        return self._ends[part]

    @cached_property
    def _ends(self) -> dict[tuple[tuple[Vector, bool], ...], set[Released]]:
        return {}

    def divisions(self, part: tuple[tuple[Vector, bool], ...], place: int) -> set[tuple[Any, ...]]:
        """What cuts in a column may make of a partition."""
        own = self.columns[place]
        level = own.common(vector[place] for vector, _ in part) - 1
        found: set[tuple[Any, ...]] = set()
        loose = [number for number, (_, is_loose) in enumerate(part) if is_loose]
        for count in range(len(loose) + 1) if level >= 0 else ():
            for held in combinations(loose, count):
                children: dict[Any, list[tuple[Vector, bool]]] = {}
                for number, row in enumerate(part):
                    if number not in held:
                        children.setdefault(own.code(row[0][place], level), []).append(row)
                good = [tuple(rows) for rows in children.values() if len(rows) >= self.k]
                pool = [part[number] for number in held]
                pool += [row for rows in children.values() if len(rows) < self.k for row in rows]
                if not (pool and len(pool) < self.k) and (len(good) > 1 or (good and pool)):
                    found.add((*good, *([tuple(sorted(pool))] if pool else [])))
        return found
