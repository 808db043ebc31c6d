"""Ask kanon_sql and an oracle in numpy about random problems, on one connection, and count agreements.

    python benchmarks/million.py --problems 1000000
    python benchmarks/million.py --style anonymize --seconds 60
    python benchmarks/million.py --only 4711

A problem is a small random table and a random spec; its number makes it again. Exits with 1 after any disagreement.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent.parent / "tests")]

from small_worlds.driver import PROBLEMS, Bench, draw_batch, outcomes, run
from small_worlds.tally import Outcome, Tally, table_of

MIX = {"check": 0.992, "plan": 0.003, "anonymize": 0.005}
"""How often each style is asked for."""


def shown(outcome: Outcome) -> None:
    """A disagreement, and how to have it again."""
    print(f"problem {outcome.problem.number}: {'; '.join(outcome.wrong)}", flush=True)
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


def again(seed: int, mix: dict[str, float], number: int) -> int:
    """Run one problem alone, and show its table."""
    bench, batch = Bench(), draw_batch(seed, number // PROBLEMS, mix)
    bench.load(batch.tables)
    (outcome,) = outcomes(bench, batch, number)
    for kind in ("people", "origin", "population"):
        print(kind)
        print(bench.loader.execute(f"SELECT * FROM w{outcome.problem.table}.{kind}").fetchall())
    shown(outcome)
    bench.close()
    return bool(outcome.wrong)


def summary(tally: Tally, seconds: float, cpu: float) -> None:
    """The table, and how fast it was."""
    print("\n".join(table_of(tally)))
    print()
    for style, count in tally.styles.items():
        print(f"{style}: {count:,} problems, {count / tally.seconds[style]:,.1f} a second")
    rates = f"{tally.problems / seconds:,.1f} a second of time, {tally.problems / cpu:,.1f} a second of one core"
    print(f"all: {tally.problems:,} problems in {seconds:,.0f} s: {rates}")
    print(f"disagreements: {len(tally.wrong):,}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--style", choices=list(MIX), help="ask for this alone")
    parser.add_argument("--only", type=int, help="the number of one problem, to be run alone")
    parser.add_argument("--first", type=int, default=0, help="the number of the first batch")
    options = parser.parse_args()
    mix = MIX if options.style is None else {options.style: 1.0}
    if options.only is not None:
        return again(options.seed, mix, options.only)
    started, cpu = time.perf_counter(), time.process_time()
    tally = run(
        options.seed,
        mix,
        problems=options.problems,
        seconds=options.seconds,
        first=options.first,
        report=shown,
        progress=Progress(),
    )
    summary(tally, time.perf_counter() - started, time.process_time() - cpu)
    return bool(tally.wrong)


if __name__ == "__main__":
    sys.exit(main())
