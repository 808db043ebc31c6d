"""Time kanon_sql against the physical limit: one GROUP BY plus one copy of the table.

    python benchmarks/bench.py                 # every case
    python benchmarks/bench.py adult-optimal   # one case by name
    python benchmarks/bench.py --list

Inputs are made by resampling the Adult extract (``--adult DIR``, by default ``../shared/data/adult``
beside the checkout, or the directory in KANON_SHARED) with a fixed linear congruential
generator, so they are the same everywhere. Every case runs ``--repeat`` times (5) and prints medians
and ratios of the same run: to the limit, and to a naive search for all minimal nodes (``naive.py``), which takes turns
with the cases of sizes where it was timed before. How many times faster than ARX is said for this machine: ARX took the
seconds in ``ARX`` (load, search and output, 2 cores) where such a naive search took those in ``NAIVE``, so they are
multiplied by what that search takes here to what it took there. ``--json FILE`` also writes the figures, with versions,
cores and memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
from adult import QUASI_IDENTIFIERS, THREADS, adult_directory, load, load_parquet, machine, write_spec

ARX = {"adult-release": 2.4, "million-release": 44.3, "ten-million-release": 123.0}
"""By case."""

NAIVE = {None: 3.6, 1_000_000: 12.7, 10_000_000: 46.0}
"""By rows resampled; None for the extract itself."""


def limit_seconds(
    database: Path, source: str, memory: str | None, repeat: int, names: Sequence[str] = QUASI_IDENTIFIERS
) -> dict[str, float]:
    """The two passes that no engine can do without."""
    columns = ", ".join(f'"{name}"' for name in names)
    group_by, copy = [], []
    for _ in range(repeat):
        con = duckdb.connect(str(database))
        con.execute(f"SET threads = {THREADS}")
        if memory is not None:
            con.execute(f"SET memory_limit = '{memory}'")
        started = time.perf_counter()
        con.execute(f"CREATE TEMP TABLE g AS SELECT {columns}, count(*) AS n FROM {source} GROUP BY {columns}")
        group_by.append(time.perf_counter() - started)
        started = time.perf_counter()
        con.execute(f"CREATE TABLE limit_copy AS SELECT * FROM {source}")
        copy.append(time.perf_counter() - started)
        con.execute("DROP TABLE limit_copy")
        con.close()
    return {"group_by": statistics.median(group_by), "copy": statistics.median(copy)}


def process(verb: str, spec: Path, database: Path, flags: Sequence[str]) -> tuple[float, dict[str, Any]]:
    """One whole process of the command line, and its JSON."""
    command = [sys.executable, "-m", "kanon_sql", verb, str(spec), "-d", str(database)]
    command += ["--format", "json", "--quiet", "--set", f"threads={THREADS}", *flags]
    if verb == "anonymize":
        command += ["--manifest", "none"]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} exited with {done.returncode}: {done.stderr}")
    return seconds, json.loads(done.stdout)


def naive_seconds(database: Path, adult: Path) -> float:
    """One run of the naive search, without the start of its process."""
    command = [sys.executable, str(Path(__file__).with_name("naive.py")), str(database), "--adult", str(adult)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)["seconds"])


def run_case(
    verb: str,
    algorithm: str,
    rows: int | None,
    adult: Path,
    repeat: int,
    *flags: str,
    naive: bool = False,
    parquet: bool = False,
    memory: str | None = None,
) -> dict[str, Any]:
    """Time one case, and its limit.

    Args:
        verb: ``plan`` or ``anonymize``.
        algorithm: of the search.
        rows: how many rows to resample; None for the extract itself.
        adult: the directory of the extract.
        repeat: how many times.
        flags: more of the command line.
        naive: run the naive search too, in turns.
        parquet: read the rows from a Parquet file instead of a table.
        memory: the memory limit of the runs and of the limit.
    """
    if memory is not None:
        flags = (*flags, "--set", f"memory_limit={memory}")
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        database = directory / "bench.duckdb"
        source = "adult"
        if parquet:
            assert rows is not None
            file = directory / "adult.parquet"
            load_parquet(file, adult, rows)
            source = f"read_parquet('{file}')"
            spec = write_spec(directory, adult, algorithm, file)
        else:
            load(database, adult, rows)
            spec = write_spec(directory, adult, algorithm)
        seconds, naively, result = [], [], {}
        for _ in range(repeat):
            took, result = process(verb, spec, database, flags)
            seconds.append(took)
            if naive:
                naively.append(naive_seconds(database, adult))
        limit = limit_seconds(database, source, memory, repeat)
    median = statistics.median(seconds)
    bound = limit["group_by"] + limit["copy"]
    return {
        "verb": verb,
        "algorithm": algorithm,
        "rows": result["rows"]["source"],
        "resampled": rows,
        "seconds": round(median, 3),
        "limit_seconds": round(bound, 3),
        "ratio": round(median / bound, 1),
        "naive_seconds": round(statistics.median(naively), 3) if naively else None,
        "nodes_evaluated": result["search"]["nodes_evaluated"],
        "minimal_nodes": result["search"]["minimal_nodes"],
        "statements": result["cost"]["statements"],
        "source_scans": result["cost"]["source_scans"],
        "rows_fetched": result["cost"]["rows_fetched"],
        "loss": result["metrics"]["loss"],
        "proven": result["search"]["proven"],
        "peak_gib": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20, 1),
    }


CASES: dict[str, Callable[[Path, int], dict[str, Any]]] = {
    "adult-optimal": lambda adult, repeat: run_case("plan", "optimal", None, adult, repeat),
    "adult-minimal": lambda adult, repeat: run_case(
        "plan", "optimal", None, adult, repeat, "--show", "minimal", naive=True
    ),
    "adult-incognito": lambda adult, repeat: run_case("plan", "incognito", None, adult, repeat),
    "adult-samarati": lambda adult, repeat: run_case("plan", "samarati", None, adult, repeat),
    "adult-release": lambda adult, repeat: run_case("anonymize", "optimal", None, adult, repeat, naive=True),
    "million-release": lambda adult, repeat: run_case("anonymize", "optimal", 1_000_000, adult, repeat, naive=True),
    "ten-million-release": lambda adult, repeat: run_case(
        "anonymize", "optimal", 10_000_000, adult, repeat, naive=True
    ),
    "hundred-million-parquet": lambda adult, repeat: run_case(
        "anonymize", "optimal", 100_000_000, adult, repeat, parquet=True, memory="8GB"
    ),
}


def faster_than_arx(name: str, figures: dict[str, Any]) -> float | None:
    """ARX's seconds, as they would be on this machine, to ours."""
    if name not in ARX:
        return None
    here = figures["naive_seconds"] / NAIVE[figures["resampled"]]
    return round(ARX[name] * here / figures["seconds"], 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help="cases to run; all by default")
    parser.add_argument("--list", action="store_true", help="print the case names and stop")
    parser.add_argument("--adult", help="the directory with adult.csv and its hierarchies")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    if options.list:
        print("\n".join(CASES))
        return
    unknown = sorted(set(options.cases) - set(CASES))
    if unknown:
        parser.error(f"unknown case {unknown[0]!r}; expected one of {', '.join(CASES)}")
    adult = adult_directory(options.adult)
    if not (adult / "adult.csv").is_file():
        parser.error(f"there is no adult.csv in {adult}; give its directory with --adult")
    figures = {}
    columns = ["seconds", "limit_seconds", "ratio", "naive_seconds", "faster_than_arx", "nodes_evaluated", "statements"]
    print(f"{'case':<24}" + "".join(f"{name:>17}" for name in columns))
    for name in options.cases or CASES:
        figures[name] = CASES[name](adult, options.repeat)
        figures[name]["faster_than_arx"] = faster_than_arx(name, figures[name])
        shown = ["-" if figures[name][column] is None else figures[name][column] for column in columns]
        print(f"{name:<24}" + "".join(f"{value:>17}" for value in shown), flush=True)
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "cases": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
