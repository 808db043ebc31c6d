"""``python -m tests.fuzz TARGET --minutes 60``: fuzz one target, and say what was found."""

from __future__ import annotations

import argparse
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from . import drive

NAMES = ("spec", "hierarchy", "sql", "query")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", choices=NAMES)
    parser.add_argument("--minutes", type=float, default=1.0, help="of wall clock")
    parser.add_argument("--chance", action="store_true", help="change the seeds at random, without coverage")
    parser.add_argument("--seed", type=int, default=0, help="of the random changes")
    parser.add_argument("--finds", type=Path, help="where to keep inputs that found something")
    parser.add_argument("--corpus", type=Path, help="where to keep inputs that reached something new")
    given = parser.parse_args()
    finds = given.finds or Path(tempfile.mkdtemp(prefix=f"finds-{given.target}-"))
    corpus = given.corpus or Path(tempfile.mkdtemp(prefix=f"corpus-{given.target}-"))
    for path in (finds, corpus):
        path.mkdir(parents=True, exist_ok=True)
    print(f"finds go to {finds}", file=sys.stderr)
    if not given.chance and find_spec("atheris") is not None:
        drive.by_coverage(given.target, int(given.minutes * 60), finds, corpus)
        return 0
    tried, found = drive.by_chance(given.target, given.minutes * 60, given.seed, finds)
    print(f"{given.target}: {tried:,} inputs, {found} different finds")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
