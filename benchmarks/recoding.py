"""What recodings that are not full-domain lose on the Adult extract, and how long they take.

The figures of docs/reference/recoding.md.

    python benchmarks/recoding.py --adult FOLDER [--repeats 3] [--only mondrian]

A row per k and recoding: the mean loss over cells, the classes, the rounds, the statements, and the seconds of a whole
process that reads the table from a DuckDB file, recodes, writes, verifies and publishes. L is one GROUP BY over the
columns plus one copy of the table.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
from adult import QUASI_IDENTIFIERS, THREADS, adult_directory, load, specification

KS = (5, 10, 50)
RECODINGS: dict[str, dict[str, Any]] = {
    "fast": {"method": "local", "effort": "fast"},
    "best": {"method": "local", "effort": "best"},
    "fast, age": {"method": "local", "ranges": ["age"]},
    "best, age": {"method": "local", "effort": "best", "ranges": ["age"]},
    "ranges": {"method": "local", "ranges": QUASI_IDENTIFIERS},
    "mondrian": {"method": "mondrian", "variant": "strict"},
    "relaxed": {"method": "mondrian", "variant": "relaxed"},
    "cells": {"method": "cells"},
}


def recoding_spec(adult: Path, k: int, name: str) -> dict[str, Any]:
    spec = specification(adult, "optimal")
    asked = {"privacy": [{"k_anonymity": {"k": k}}], "suppression": {"limit": 0}, "recoding": RECODINGS[name]}
    return {**spec, **asked}


def in_process(database: Path, spec: Path) -> tuple[float, dict[str, Any]]:
    """The seconds of a whole process, and its result."""
    command = [sys.executable, "-m", "kanon_sql", "anonymize", str(spec), "-d", str(database), "--format", "json"]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return time.perf_counter() - started, json.loads(done.stdout)


def seconds_of_l(database: Path) -> float:
    """One GROUP BY over the quasi-identifiers plus one copy."""
    names = ", ".join(f'"{name}"' for name in QUASI_IDENTIFIERS)
    with duckdb.connect(str(database), config={"threads": THREADS}) as connection:
        started = time.perf_counter()
        connection.execute(f"CREATE TEMP TABLE grouped AS SELECT {names}, count(*) AS n FROM adult GROUP BY {names}")
        connection.execute("CREATE TEMP TABLE copied AS SELECT * FROM adult")
        return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adult", help="the folder of adult.csv and its hierarchies")
    parser.add_argument("--rows", type=int, help="resample the extract to so many rows")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=list(RECODINGS), help="measure one of them")
    given = parser.parse_args()
    adult = adult_directory(given.adult)
    with tempfile.TemporaryDirectory() as folder:
        database, spec = Path(folder) / "adult.duckdb", Path(folder) / "spec.yml"
        load(database, adult, given.rows)
        print("k   recoding  mean loss  classes  rounds  statements  rows fetched  seconds  L")
        for k in KS:
            for name in RECODINGS if given.only is None else [given.only]:
                spec.write_text(json.dumps(recoding_spec(adult, k, name)))
                print(f"{k:<3} {name:9}  {measured(database, spec, given.repeats)}", flush=True)


def measured(database: Path, spec: Path, repeats: int) -> str:
    """The figures of one spec, in columns."""
    seconds, results = zip(*(in_process(database, spec) for _ in range(repeats)), strict=True)
    one = statistics.median(seconds_of_l(database) for _ in range(repeats))
    found, cost = results[0]["recoding"], results[0]["cost"]
    return (
        f"{found['mean_loss']:9.4f}  {found['partitions']:7,}  {found['rounds']:6}  "
        f"{cost['statements']:10}  {cost['rows_fetched']:12}  {statistics.median(seconds):7.2f}  {one:.3f}"
    )


if __name__ == "__main__":
    main()
