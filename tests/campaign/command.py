"""Draw faults by a seed, make them happen one after another, judge what each left, and print a table."""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import inf
from random import Random

from tests.campaign.cases import CASES, Case, prepare
from tests.campaign.faults import Cancelled, ClockMoved, Failing, Gone, Kind, SourceChanged, Target, Terminated
from tests.campaign.judging import Verdict, recover, standing
from tests.campaign.kills import Asked, Killed, ServerKilled
from tests.campaign.limits import FullDisk, TooLittleMemory
from tests.campaign.places import PLACES, Place
from tests.campaign.schedules import FourRuns, ThreeRuns, TwoEntries, TwoRuns
from tests.campaign.wire import Point, Wire, names_of

KINDS: tuple[tuple[type[Kind], int], ...] = (
    (Failing, 8),
    (Gone, 4),
    (Cancelled, 2),
    (Terminated, 5),
    (Killed, 6),
    (Asked, 3),
    (ServerKilled, 1),
    (FullDisk, 3),
    (TooLittleMemory, 2),
    (TwoRuns, 4),
    (ThreeRuns, 1),
    (FourRuns, 1),
    (TwoEntries, 2),
    (SourceChanged, 3),
    (ClockMoved, 1),
)
"""Kinds of faults, and how many of all faults are of each."""

WITH_DISK = ("duckdb", "sqlite", "postgres", "mariadb")
"""Engines whose tables can be on a small file system."""


@dataclass
class Tally:
    """What became of the faults of one kind."""

    injected: int = 0
    intact: int = 0
    aside: int = 0
    new: int = 0
    recovered: int = 0
    broken: list[str] = field(default_factory=list)

    def add(self, where: str, verdict: Verdict) -> None:
        self.injected += 1
        self.intact += verdict.state == "intact"
        self.aside += verdict.state == "aside"
        self.new += verdict.state == "new"
        self.recovered += verdict.recovered
        if verdict.problems:
            self.broken.append(f"{where}: {'; '.join(verdict.problems)}")


class Campaign:
    """A series of faults in one place.

    Args:
        place: where.
        seed: of everything that is drawn.
        cases: names of those that run; all when empty.
    """

    def __init__(self, place: Place, seed: int, cases: Sequence[str] = ()) -> None:
        self.place, self.random = place, Random(seed)
        self.cases = [case for case in map(CASES.__getitem__, cases or CASES) if case.runs_on(place)]
        self.tallies: dict[str, Tally] = defaultdict(Tally)
        self._names: dict[str, list[str]] = {}

    def run(self, faults: int, kinds: Sequence[Kind], seconds: float = inf) -> None:
        """Make so many faults happen, or a few less where a run ends before its target, or where time runs out."""
        end = time.monotonic() + seconds
        for kind, case, target in self.draw(faults, kinds):
            if time.monotonic() > end:
                break
            self.fault(kind, case, target)

    def draw(self, faults: int, kinds: Sequence[Kind]) -> list[tuple[Kind, Case, Target]]:
        """So many faults, each kind by its weight, in some order."""
        weights = {kind.name: weight for kind, weight in KINDS}
        able = [kind for kind in kinds if kind.fits(self.place) and any(map(kind.fits_case, self.cases))]
        so_far = [*accumulate(weights[kind.name] for kind in able)]
        ends = [round(faults * weight / so_far[-1]) for weight in so_far]  # the shares add up to what is asked for
        drawn = [
            (kind, case, target)
            for kind, start, end in zip(able, [0, *ends], ends, strict=False)
            for case, share in self._shares(kind, end - start)
            for target in self._targets(kind, case, share)
        ]
        self.random.shuffle(drawn)
        return drawn

    def _shares(self, kind: Kind, faults: int) -> list[tuple[Case, int]]:
        cases = [case for case in self.cases if kind.fits_case(case)]
        self.random.shuffle(cases)
        shares = [(case, faults // len(cases) + (i < faults % len(cases))) for i, case in enumerate(cases)]
        return [(case, share) for case, share in shares if share]  # a case that is left out need not be prepared

    def _targets(self, kind: Kind, case: Case, share: int) -> list[Target]:
        """Every point once, in an order that spreads, and then again, until there are enough."""
        names = self._statements(case)
        first = case.first(names)
        points = [point for point in kind.targets(names, self.random) if min((point.number, *point.others)) >= first]
        found: list[Target] = []
        while len(found) < share:
            self.random.shuffle(points)
            found += points
        return found[:share]

    def _statements(self, case: Case) -> list[str]:
        """Those of a run that nothing disturbs; the case is prepared for all that follow."""
        if case.name not in self._names:
            prepare(self.place, case)
            points: list[Point] = []
            with self.place.connect(**case.options(self.place)) as engine:
                Wire(engine, points.append)
                case.publish(engine, self.place).raise_for_failure()
            self._names[case.name] = names_of(points)
        return self._names[case.name]

    def fault(self, kind: Kind, case: Case, target: Target) -> Verdict:
        """One fault, and what must hold after it."""
        self._statements(case)
        self.place.restore(case.name)
        before = standing(self.place, case)
        struck = kind.strike(self.place, case, target, self.random)
        verdict = kind.examine(self.place, case, before, struck)
        if struck.problem:
            verdict.problems.append(struck.problem)
        recover(self.place, case, verdict, clean_first=self.random.random() < 0.5, whole=not struck.changed)
        if struck.happened or verdict.problems:
            self.tallies[kind.name].add(f"{case.name}, {struck.where}", verdict)
        return verdict

    def table(self) -> str:
        """The figures, a line per kind."""
        lines = [f"{'':26} {'faults':>7} {'intact':>7} {'aside':>6} {'new':>7} {'recovered':>9} {'broken':>7}"]
        sums = Tally()
        for name, tally in self.tallies.items():
            lines.append(_line(name, tally))
            sums.injected += tally.injected
            sums.intact += tally.intact
            sums.aside += tally.aside
            sums.new += tally.new
            sums.recovered += tally.recovered
            sums.broken += tally.broken
        return "\n".join([*lines, _line("all", sums)])

    @property
    def broken(self) -> list[str]:
        """Every promise that a fault broke, with the fault."""
        return [f"{name}: {text}" for name, tally in self.tallies.items() for text in tally.broken]


def _line(name: str, tally: Tally) -> str:
    return (f"{name:26} {tally.injected:7,} {tally.intact:7,} {tally.aside:6,} {tally.new:7,} {tally.recovered:9,} "
            f"{len(tally.broken):7,}")  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Run the campaign on one engine. Returns 1 when a fault broke a promise."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("engine", choices=sorted(PLACES))
    parser.add_argument("--faults", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=inf, help="draw no further fault after so long")
    parser.add_argument("--kind", action="append", help="of these kinds alone")
    parser.add_argument("--case", action="append", choices=sorted(CASES), help="these cases alone")
    given = parser.parse_args(arguments)
    kinds = [kind() for kind, _ in KINDS if not given.kind or kind.name in given.kind]
    place = PLACES[given.engine]()
    started = time.monotonic()
    campaign = Campaign(place, given.seed, given.case or ())
    try:
        campaign.run(given.faults, kinds, given.seconds)
    except KeyboardInterrupt:
        print("interrupted: these are the faults until then")
    finally:
        place.close()
    print(f"{given.engine}, seed {given.seed}, Python {platform.python_version()}, {time.monotonic() - started:.0f} s")
    if place.disk is None and given.engine in WITH_DISK:
        print("no small file system could be mounted here, so that no disk was full")
    print(campaign.table())
    for text in campaign.broken:
        print(f"BROKEN {text}", file=sys.stderr)
    return 1 if campaign.broken else 0
