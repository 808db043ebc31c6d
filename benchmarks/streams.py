"""Streams on paper: how long a row waits, and how coarse it gets, in CASTLE and in batches of a minute.

    python benchmarks/streams.py                     # all streams, k = 10
    python benchmarks/streams.py --minutes 30 --k 5 --json streams.json

A simulation in plain Python: no row touches a database, and nothing here is a part of the package. A row is a person
with three numbers from 0 to 1. Streams differ in how these are spread and in how many rows come in a minute.

CASTLE (Cao, Carminati, Ferrari, Tan 2011) keeps clusters of waiting rows. A row goes to the cluster that it widens
least; it is released with its cluster, under the cluster's ranges, at the latest when ``delta`` more rows have come:
with a cluster of k, with a range that was released before and covers it, with clusters merged until they hold k, or, if
it is an outlier, under ``*``. So every row is released after ``delta`` rows at most; how coarse it is then depends on
who else waits. That is the published algorithm, with ties broken by the order of clusters.

Batches keep fixed levels, here of halves, quarters, and so on in each column. At the end of a minute the rows that came
wait in their class, and the waiting rows of a class are released once there are k: so what a version adds to a class is
never the rows of fewer than k persons. How coarse a row is is known beforehand; how long it waits depends on its class.
The levels are the finest under which, of the first tenth of the stream, no more than 5 % would be waiting still.

What is lost is the mean width of a row's ranges: 0 for its values, 1 for ``*``. Rows that wait at the end lose 1.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

COLUMNS = 3
MOST_CLUSTERS = 50
RECENT = 100
"""CASTLE's beta and mu."""

Row = tuple[float, ...]


@dataclass
class Cluster:
    """Rows that wait together; ``rows`` holds their places in the stream."""

    low: list[float]
    high: list[float]
    rows: dict[int, Row] = field(default_factory=dict)

    @property
    def loss(self) -> float:
        """The mean width of its ranges."""
        return fmean(high - low for low, high in zip(self.low, self.high, strict=True))

    def wider(self, row: Row) -> float:
        """By how much a row would widen it."""
        return sum(
            max(0.0, low - value, value - high) for value, low, high in zip(row, self.low, self.high, strict=True)
        )

    def add(self, place: int, row: Row) -> None:
        """Put a row into it."""
        self.rows[place] = row
        for column, value in enumerate(row):
            self.low[column], self.high[column] = min(self.low[column], value), max(self.high[column], value)


@dataclass
class Outcome:
    """How many rows each waited, and what each lost; ``None`` for a row that waits at the end."""

    waited: list[int | None]
    lost: list[float]

    def share_waiting(self) -> float:
        """Of rows that were not released."""
        return sum(wait is None for wait in self.waited) / len(self.waited)

    def delay(self, share: float) -> int | None:
        """The rows that come until such a share of all is released; None where it never is."""
        done = sorted(wait for wait in self.waited if wait is not None)
        place = int(share * len(self.waited)) - 1
        return done[place] if place < len(done) else None


def castle(rows: Sequence[Row], k: int, delta: int) -> Outcome:
    """The algorithm of the paper; ties and choices at random are made by the first cluster."""
    waited: list[int | None] = [None] * len(rows)
    lost = [1.0] * len(rows)
    waiting: list[Cluster] = []
    reusable: list[Cluster] = []
    recent: list[float] = []
    home: dict[int, Cluster] = {}

    def release(cluster: Cluster, now: int) -> None:
        for part in parted(cluster, k):
            loss = part.loss
            if loss < (fmean(recent[-RECENT:]) if recent else 1.0):
                reusable.append(part)
                del reusable[:-MOST_CLUSTERS]
            recent.append(loss)
            for place in part.rows:
                waited[place], lost[place] = now - place, loss
                del home[place]
        waiting.remove(cluster)

    def expire(place: int, now: int) -> None:
        cluster = home[place]
        if len(cluster.rows) >= k:
            release(cluster, now)
            return
        covering = [item for item in reusable if item.wider(rows[place]) == 0]
        smaller = sum(len(cluster.rows) < len(item.rows) for item in waiting)
        held = sum(len(item.rows) for item in waiting)
        if covering or smaller > len(waiting) / 2 or held < k:
            waited[place] = now - place
            lost[place] = min((item.loss for item in covering), default=1.0)
            del cluster.rows[place], home[place]
            if not cluster.rows:
                waiting.remove(cluster)
            return
        while len(cluster.rows) < k:
            nearest = min((item for item in waiting if item is not cluster), key=lambda item: joined(cluster, item))
            for other, row in nearest.rows.items():
                cluster.add(other, row)
                home[other] = cluster
            waiting.remove(nearest)
        release(cluster, now)

    for now, row in enumerate(rows):
        best = min(waiting, key=lambda item: item.wider(row), default=None)
        bound = fmean(recent[-RECENT:]) if recent else 0.0
        fits = best is not None and best.loss + best.wider(row) / COLUMNS <= bound
        if best is None or (not fits and len(waiting) < MOST_CLUSTERS):
            best = Cluster(list(row), list(row))
            waiting.append(best)
        best.add(now, row)
        home[now] = best
        if now - delta in home:
            expire(now - delta, now)
    for place in sorted(home):
        if place in home:
            expire(place, len(rows))
    return Outcome(waited, lost)


def joined(one: Cluster, other: Cluster) -> float:
    """The loss of two clusters as one."""
    lows = [min(pair) for pair in zip(one.low, other.low, strict=True)]
    highs = [max(pair) for pair in zip(one.high, other.high, strict=True)]
    return fmean(high - low for low, high in zip(lows, highs, strict=True))


def parted(cluster: Cluster, k: int) -> list[Cluster]:
    """A cluster of 2 k rows or more, in parts of k rows that are next to each other."""
    left = dict(cluster.rows)
    if len(left) < 2 * k:
        return [cluster]
    parts = []
    while len(left) >= k:
        place = next(iter(left))
        seed = left[place]
        near = sorted(left, key=lambda item: sum(abs(a - b) for a, b in zip(left[item], seed, strict=True)))[:k]
        parts.append(Cluster(list(seed), list(seed)))
        for item in near:
            parts[-1].add(item, left.pop(item))
    for place, row in left.items():
        min(parts, key=lambda item: item.wider(row)).add(place, row)
    return parts


def batches(rows: Sequence[Row], k: int, per_minute: int, halvings: int) -> Outcome:
    """Rows of a class are released at the end of the minute in which the k-th that waits has come."""
    waited: list[int | None] = [None] * len(rows)
    lost = [1.0] * len(rows)
    classes: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for start in range(0, len(rows), per_minute):
        end = min(start + per_minute, len(rows))
        touched = set()
        for place in range(start, end):
            key = cell(rows[place], halvings)
            classes[key].append(place)
            touched.add(key)
        for key in touched:
            if len(classes[key]) >= k:
                for place in classes.pop(key):
                    waited[place], lost[place] = end - place, 2.0**-halvings
    return Outcome(waited, lost)


def cell(row: Row, halvings: int) -> tuple[int, ...]:
    """The class of a row."""
    return tuple(min(int(value * 2**halvings), 2**halvings - 1) for value in row)


def levels_of(rows: Sequence[Row], k: int) -> int:
    """The finest level under which 95 % of some rows are in classes of k."""
    for halvings in range(8, 0, -1):
        sizes = Counter(cell(row, halvings) for row in rows)
        if sum(size for size in sizes.values() if size >= k) >= 0.95 * len(rows):
            return halvings
    return 0


def uniform(draw: random.Random, share: float) -> Row:
    """Anywhere alike."""
    return tuple(draw.random() for _ in range(COLUMNS))


def towns(draw: random.Random, share: float) -> Row:
    """Most in a few places, every twentieth anywhere."""
    if draw.random() < 0.05:
        return uniform(draw, share)
    middle = draw.choice((0.15, 0.4, 0.8))
    return tuple(min(1.0, max(0.0, draw.gauss(middle, 0.04))) for _ in range(COLUMNS))


def drift(draw: random.Random, share: float) -> Row:
    """A crowd that moves from one end to the other while the stream lasts."""
    return tuple(min(1.0, max(0.0, draw.gauss(0.1 + 0.8 * share, 0.05))) for _ in range(COLUMNS))


STREAMS: dict[str, Callable[[random.Random, float], Row]] = {"uniform": uniform, "towns": towns, "drift": drift}


def measured(minutes: int, k: int, rates: Sequence[int]) -> list[dict[str, object]]:
    """A row per stream, rate and method; delays in minutes."""
    found: list[dict[str, object]] = []
    for name, place in STREAMS.items():
        for rate in rates:
            draw = random.Random(7)
            count = rate * minutes
            rows = [place(draw, number / count) for number in range(count)]
            halvings = levels_of(rows[: count // 10], k)
            methods = {
                "CASTLE, delta 1 minute": castle(rows, k, rate),
                "CASTLE, delta 5 minutes": castle(rows, k, 5 * rate),
                "batches of a minute": batches(rows, k, rate, halvings),
            }
            for method, outcome in methods.items():
                delays = {f"{share:.0%}": outcome.delay(share) for share in (0.5, 0.95, 1.0)}
                found.append(
                    {"stream": name, "rate": rate, "method": method, "loss": fmean(outcome.lost)}
                    | {key: None if rows_ is None else rows_ / rate for key, rows_ in delays.items()}
                    | {"waiting": outcome.share_waiting()}
                )
    return found


def main() -> None:
    """Print the table of docs/benchmarks.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--rates", type=int, nargs="+", default=[100, 1_000])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = measured(options.minutes, options.k, options.rates)
    print("| stream | rows a minute | method | half | 95 % | all | waiting at the end | lost |")
    print("|---|---|---|---|---|---|---|---|")
    for item in found:
        delays = " | ".join("never" if item[key] is None else f"{item[key]:.1f}" for key in ("50%", "95%", "100%"))
        waiting, name = 100 * float(str(item["waiting"])), f"{item['stream']} | {item['rate']:,}"
        print(f"| {name} | {item['method']} | {delays} | {waiting:.1f} % | {item['loss']:.3f} |")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
