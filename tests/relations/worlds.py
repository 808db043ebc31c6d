"""Random worlds, one after another, by brute force: ``python -m tests.relations.worlds duckdb local --worlds 2000``.

Half of them are trees of up to four tables, a quarter has sensitive values in each table, and a quarter lists of items,
or texts to be split where an engine has no lists. k is 2 or 3, and m goes round.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from math import inf

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.testing import Subject
from tests.oracles.relations import World, fewest_sharing, least_loss, linked, linked_at, loss, random_world, staying
from tests.relations import test_lists, test_sensitive
from tests.servers import SUBJECTS
from tests.support.relations import make, place, released, spec_of

__all__ = ["Figures", "assert_right", "judged", "main"]

KNOWN: dict[str, Sequence[int | str]] = {
    "full_domain": (1, 2, 0, 3, "all"),
    "local": (1, 0, 1, 2, 1, 1, 0, 1, 3, 1),
}
"""m, from world to world: what is common more often, and what takes long less."""

ROWS = (1.0, 0.0, 0.1, 0.0)
"""The share of rows that ``local`` may leave out, from world to world."""


def assert_right(subject: Subject, engine: Engine, world: World, seed: int, recoding: str) -> bool:
    """What is released is what the oracle says, or satisfies by its own keys; whether anything is."""
    k, m = 2 + seed % 2, KNOWN[recoding][seed // 4 % len(KNOWN[recoding])]
    persons = len(world.tables["person"].rows)
    most = persons // 4
    limits = {"max_persons": (most + 0.5) / persons}
    if recoding == "local":
        limits["max_rows"] = ROWS[seed // 8 % len(ROWS)]
    spec = spec_of(world, recoding, k, m, suppression=limits, release=place(subject))
    result = kanon_sql.anonymize(engine, spec)
    if recoding == "full_domain":
        best = least_loss(world, k, m, most)
        assert result.passed == (best is not None), "the verdict"
        if best is None:
            return False
        assert result.node is not None
        node = [result.node[name][column] for name, column in world.columns]
        stay = staying(world, node, k, m)
        assert abs(loss(world, node) - best) < 1e-9, "another node loses less"
        assert result.left_out == persons - len(stay), "other persons are left out"
    if not result.passed:
        assert recoding == "full_domain" or least_loss(world, k, m, most) is None, "full_domain finds a release"
        return False
    if recoding == "local" and not result.left_out:
        events = [result.tables[name] for name in world.tables if name != "person"]
        missing = sum(table["rows"] - table["released"] for table in events)
        assert missing <= limits["max_rows"] * sum(table["rows"] for table in events), "too many rows are left out"
    schema = "".join(f"{part}." for part in spec.release.schema_) if spec.release is not None else ""
    rows, others = released(subject, world, schema)
    fewest = fewest_sharing(rows, others, m)
    assert fewest is not None, "no person is released"
    assert fewest >= k, "what is known is shared by too few"
    assert result.requirements[0]["fewest"] == fewest, "the figure"
    assert len(rows) == result.persons - result.left_out, "the number of persons"
    for name, (_, found) in others.items():
        assert len(found) == result.tables[name]["released"], "the number of rows"
    if recoding == "full_domain":
        assert linked(rows, others) == linked_at(world, node, stay), "other rows than those of who stays"
    assert kanon_sql.check(engine, spec).passed, "check"
    return True


def judged(subject: Subject, engine: Engine, seed: int, recoding: str) -> str:
    """What became of a world: ``released``, or ``refused`` where nothing satisfies.

    Raises:
        AssertionError: something is wrong.
    """
    kind = seed % 4
    if kind == 3:
        done = test_lists.assert_like_the_oracle(subject, engine, seed, [recoding])
    elif kind == 2:
        done = test_sensitive.assert_coherent(subject, engine, seed, recoding)
    else:
        world = random_world(seed)
        if not world.columns:
            return "empty"
        make(subject, world)
        done = assert_right(subject, engine, world, seed, recoding)
    return "released" if done else "refused"


class Figures:
    """What a campaign came to.

    Attributes:
        counts: worlds, by what became of them.
        wrong: those in which something is, with what.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []

    def add(self, subject: Subject, engine: Engine, seed: int, recoding: str) -> None:
        """Judge one world."""
        try:
            self.counts[judged(subject, engine, seed, recoding)] += 1
        except Exception as error:
            self.counts["wrong"] += 1
            self.wrong.append(f"{subject.name}, {recoding}, world {seed}: {type(error).__name__}: {error}"[:500])

    @property
    def judged(self) -> int:
        """Worlds that hold something to release."""
        return sum(self.counts.values()) - self.counts["empty"]

    def __str__(self) -> str:
        return f"{self.judged:,} worlds: " + ", ".join(
            f"{self.counts[name]:,} {name}" for name in ("released", "refused", "wrong")
        )


def main(arguments: Sequence[str]) -> int:
    """Judge so many worlds on one engine. Returns 1 where something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.relations.worlds", description=__doc__)
    parser.add_argument("engine", choices=sorted(SUBJECTS))
    parser.add_argument("recoding", choices=sorted(KNOWN))
    parser.add_argument("--worlds", type=int, default=2000)
    parser.add_argument("--first", type=int, default=10_000, help="the number of the first world")
    parser.add_argument("--seconds", type=float, default=inf, help="begin no further world after so long")
    given = parser.parse_args(arguments)
    found, started, seed = Figures(), time.monotonic(), given.first
    subject = SUBJECTS[given.engine]()
    if given.engine == "duckdb":
        subject.execute("SET threads = 1")  # the worlds are small
    if given.engine != "sqlite":
        subject.schema("released")
    engine = subject.connect()
    try:
        while found.judged < given.worlds and time.monotonic() - started < given.seconds:
            found.add(subject, engine, seed, given.recoding)
            seed += 1
            if seed % 50 == 0:
                print(f"{given.engine}, {given.recoding}: {found}", file=sys.stderr, flush=True)
    finally:
        engine.close()
        subject.close()
    print(f"{given.engine}, {given.recoding}, worlds {given.first} to {seed - 1}, "
          f"{time.monotonic() - started:.0f} s: {found}")  # fmt: skip
    for text in found.wrong:
        print(f"WRONG {text}")
    return 1 if found.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
