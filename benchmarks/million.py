"""Ask kanon_sql and an oracle in numpy about random problems, in databases in memory, and count agreements.

    python benchmarks/million.py --problems 1000000
    python benchmarks/million.py --engine sqlite --style anonymize --seconds 60
    python benchmarks/million.py --only 4711

A problem is a small random table and a random spec; its number makes it again, and is the same on every engine.
Ctrl-C or SIGTERM ends a run after the problem it is at, with the table of what was asked until then. Exits with 1
after any disagreement.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.small_worlds.driver import PROBLEMS, benches, draw_batch, engine_of, outcomes, run
from tests.small_worlds.stop import Stop
from tests.small_worlds.tally import Outcome, Tally, table_of

MIX = {"check": 0.992, "plan": 0.003, "anonymize": 0.005}
"""How often each style is asked for."""
ENGINES = {"duckdb": ("duckdb",), "sqlite": ("sqlite",), "both": ("duckdb", "sqlite")}
"""Who is asked, batch by batch in turn."""


def shown(engine: str, outcome: Outcome) -> None:
    """A disagreement, and how to have it again."""
    print(f"problem {outcome.problem.number} on {engine}: {'; '.join(outcome.wrong)}", flush=True)
    print(f"  {outcome.problem.asked.style} {json.dumps(outcome.problem.asked.spec)}", flush=True)


class Progress:
    """Says once a minute how far the run is."""

    def __init__(self) -> None:
        self.started = self.said = time.perf_counter()

    def __call__(self, tally: Tally) -> None:
        now = time.perf_counter()
        if now - self.said >= 60:
            self.said = now
            rate = tally.problems / (now - self.started)
            print(
                f"{tally.problems:,} problems, {rate:,.0f} a second, {len(tally.wrong):,} disagreements",
                file=sys.stderr,
                flush=True,
            )


def again(seed: int, mix: dict[str, float], engines: Sequence[str], number: int) -> int:
    """Run one problem alone, and show its table."""
    batch = draw_batch(seed, number // PROBLEMS, mix)
    with benches(engines) as opened:
        engine, bench = engine_of(opened, batch.number)
        bench.load(batch.tables)
        (outcome,) = outcomes(bench, batch, number)
    for kind, rows in batch.tables.kinds.items():
        print(kind)
        cells = zip(rows.world, batch.tables.cells(kind), strict=True)
        print([row for world, row in cells if world == outcome.problem.table])
    shown(engine, outcome)
    return bool(outcome.wrong)


def summary(tally: Tally, seconds: float, cpu: float) -> None:
    """The table, and how fast it was."""
    print("\n".join(table_of(tally)))
    print()
    for (engine, style), count in sorted(tally.asked.items()):
        print(f"{engine}, {style}: {count:,} problems, {count / tally.seconds[engine, style]:,.1f} a second")
    rates = f"{tally.problems / seconds:,.1f} a second of time, {tally.problems / cpu:,.1f} a second of one core"
    print(f"all: {tally.problems:,} problems in {seconds:,.0f} s: {rates}")
    print(f"disagreements: {len(tally.wrong):,}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=list(ENGINES), default="both", help="whom to ask; both by turns")
    parser.add_argument("--problems", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--style", choices=list(MIX), help="ask for this alone")
    parser.add_argument("--only", type=int, help="the number of one problem, to be run alone")
    parser.add_argument("--first", type=int, default=0, help="the number of the first batch")
    options = parser.parse_args()
    mix = MIX if options.style is None else {options.style: 1.0}
    engines = ENGINES[options.engine]
    if options.only is not None:
        return again(options.seed, mix, engines, options.only)
    started, cpu = time.perf_counter(), time.process_time()
    with Stop() as stop:
        tally = run(
            options.seed,
            mix,
            engines=engines,
            problems=options.problems,
            seconds=options.seconds,
            first=options.first,
            report=shown,
            progress=Progress(),
            stop=stop,
        )
    summary(tally, time.perf_counter() - started, time.process_time() - cpu)
    return bool(tally.wrong)


if __name__ == "__main__":
    sys.exit(main())
