"""What recodings that are not full-domain lose on the Adult extract, and how long they take.

The figures of docs/reference/recoding.md.

    python benchmarks/recoding.py --adult FOLDER [--repeats 3] [--only mondrian]
    python benchmarks/recoding.py --adult FOLDER --only fast --k 10 --rows 1000000
    python benchmarks/recoding.py --adult FOLDER --only fast --k 10 --rows 100000000 --parquet --memory 8GB --repeats 1

A row per k and recoding: the mean loss over cells, the classes, the rounds, the statements, and the seconds of a whole
process that reads the table from a DuckDB file, recodes, writes, verifies and publishes. L is one GROUP BY over the
columns plus one copy of the table, in the same database and from the same source.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adult import QUASI_IDENTIFIERS, adult_directory, load, load_parquet, specification
from bench import limit_seconds

KS = (5, 10, 50)
RECODINGS: dict[str, dict[str, Any]] = {
    "fast": {"method": "local", "variant": "fast"},
    "best": {"method": "local", "variant": "best"},
    "resist": {"method": "local", "resist": "refinement"},
    "fast, age": {"method": "local", "ranges": ["age"]},
    "best, age": {"method": "local", "variant": "best", "ranges": ["age"]},
    "ranges": {"method": "local", "ranges": QUASI_IDENTIFIERS},
    "mondrian": {"method": "mondrian", "variant": "strict"},
    "relaxed": {"method": "mondrian", "variant": "relaxed"},
    "cells": {"method": "cells"},
    "kk": {"method": "kk"},
    "kk, best": {"method": "kk", "variant": "best"},
}


def recoding_spec(adult: Path, k: int, name: str, columns: int = len(QUASI_IDENTIFIERS)) -> dict[str, Any]:
    spec = specification(adult, "optimal")
    chosen = {column: spec["quasi_identifiers"][column] for column in QUASI_IDENTIFIERS[:columns]}
    requirement = "kk_anonymity" if RECODINGS[name]["method"] == "kk" else "k_anonymity"
    asked = {"privacy": [{requirement: {"k": k}}], "suppression": {"max_rows": 0}, "recoding": RECODINGS[name]}
    return {**spec, **asked, "quasi_identifiers": chosen}


def in_process(database: Path, spec: Path, flags: Sequence[str]) -> tuple[float, dict[str, Any]]:
    """The seconds of a whole process, and its result."""
    command = [sys.executable, "-m", "kanon_sql", "anonymize", str(spec), "-d", str(database), "--format", "json"]
    started = time.perf_counter()
    done = subprocess.run([*command, *flags], capture_output=True, text=True, check=True)
    return time.perf_counter() - started, json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adult", help="the folder of adult.csv and its hierarchies")
    parser.add_argument("--rows", type=int, help="resample the extract to so many rows")
    parser.add_argument("--columns", type=int, default=len(QUASI_IDENTIFIERS), help="take the first so many")
    parser.add_argument("--parquet", action="store_true", help="read the rows from a Parquet file")
    parser.add_argument("--memory", help="the memory limit of the runs and of L, such as 8GB")
    parser.add_argument("--k", type=int, action="append", help="measure this one; may be repeated")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=list(RECODINGS), help="measure one of them")
    given = parser.parse_args()
    adult = adult_directory(given.adult)
    with tempfile.TemporaryDirectory() as folder:
        database, spec = Path(folder) / "adult.duckdb", Path(folder) / "spec.yml"
        file = Path(folder) / "adult.parquet" if given.parquet else None
        if file is None:
            load(database, adult, given.rows)
        else:
            load_parquet(file, adult, given.rows)
        print("k   recoding   mean loss  classes  rounds  statements  rows fetched  seconds  L      of L")
        for k in given.k or KS:
            for name in RECODINGS if given.only is None else [given.only]:
                asked = recoding_spec(adult, k, name, given.columns)
                if file is not None:
                    asked["source"] = {"file": str(file)}
                spec.write_text(json.dumps(asked))
                print(f"{k:<3} {name:10} {measured(database, file, spec, given)}", flush=True)


def measured(database: Path, file: Path | None, spec: Path, given: argparse.Namespace) -> str:
    """The figures of one spec, in columns."""
    flags = [] if given.memory is None else ["--set", f"memory_limit={given.memory}"]
    seconds, results = zip(*(in_process(database, spec, flags) for _ in range(given.repeats)), strict=True)
    source = "adult" if file is None else f"read_parquet('{file}')"
    names = QUASI_IDENTIFIERS[: given.columns]
    one = sum(limit_seconds(database, source, given.memory, given.repeats, names).values())
    found, cost, median = results[0]["recoding"], results[0]["cost"], statistics.median(seconds)
    return (
        f"{found['mean_loss']:9.4f}  {found['partitions']:7,}  {found['rounds']:6}  {cost['statements']:10}  "
        f"{cost['rows_fetched']:12}  {median:7.2f}  {one:.3f}  {median / one:4.1f}"
    )


if __name__ == "__main__":
    main()
