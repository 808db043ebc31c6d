"""Time what every command pays before it does anything: importing, helping, completing, reading a spec.

    python benchmarks/startup.py               # medians of 11 whole processes, after one that is not counted
    python benchmarks/startup.py --repeat 31

Also counts the modules that each imports: unlike seconds, these are the same on every machine, so
``tests/project/test_budgets.py`` holds to them. Exits with 1 if a median is above its limit.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

MAIN = "from kanon_sql.cli import main; main()"
LISTED = "import sys, atexit; atexit.register(lambda: print(len(sys.modules), file=sys.stderr)); "

# name -> the program, its arguments, its variables, and the most seconds it may take (None: only shown)
CASES: dict[str, tuple[str, list[str], dict[str, str], float | None]] = {
    "python": ("pass", [], {}, None),
    "import": ("import kanon_sql", [], {}, 0.4),
    "help": (MAIN, ["--help"], {}, 0.6),
    "help of a verb": (MAIN, ["plan", "--help"], {}, 0.6),
    "completion": (
        MAIN,
        [],
        {"_KANON_SQL_COMPLETE": "complete_bash", "COMP_WORDS": "kanon-sql plan --m", "COMP_CWORD": "2"},
        0.6,
    ),
    "schema": (MAIN, ["schema"], {}, None),
}


def run(program: str, arguments: list[str], variables: dict[str, str]) -> float:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", program, *arguments], env=environment, capture_output=True, check=True)
    return time.perf_counter() - started


def modules(program: str, arguments: list[str], variables: dict[str, str]) -> int:
    """How many modules a program has imported at its end."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run(
        [sys.executable, "-c", LISTED + program, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stderr.split()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=11, help="processes per case (11)")
    repeat = parser.parse_args().repeat
    late = False
    print(f"{'case':<16}{'seconds':>8}{'limit':>7}{'modules':>9}")
    for name, (program, arguments, variables, limit) in CASES.items():
        run(program, arguments, variables)
        seconds = statistics.median(run(program, arguments, variables) for _ in range(repeat))
        late |= limit is not None and seconds > limit
        shown = "" if limit is None else f"{limit:.1f}"
        print(f"{name:<16}{seconds:>8.3f}{shown:>7}{modules(program, arguments, variables):>9}")
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
