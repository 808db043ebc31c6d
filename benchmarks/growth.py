"""How the work grows: with the rows, and with the number of quasi-identifiers.

    python benchmarks/growth.py                      # both
    python benchmarks/growth.py rows                 # 10,000 to 10,000,000 rows, times 10 each
    python benchmarks/growth.py lattice --seconds 60

``rows``: whole releases of the resampled Adult extract. ``lattice``: plans over 4 to 14 quasi-identifiers, Adult's nine
and then binary ones drawn at random (values and ``*``, so each doubles the lattice), each search stopped
after ``--seconds``. Everything runs in this process on DuckDB in memory, k = 10, 5 % suppression, loss.
``--adult DIR`` (or KANON_SHARED) is where adult.csv is; ``--json FILE`` also writes the figures.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import duckdb
from adult import QUASI_IDENTIFIERS, THREADS, adult_directory, load, machine, specification

import kanon_sql

ROWS = [10_000, 100_000, 1_000_000, 10_000_000]
MOST = 14


def database(adult: Path, rows: int | None) -> duckdb.DuckDBPyConnection:
    """The table in memory, with the binary columns ``extra10``, ``extra11``, ... beside Adult's."""
    extras = ", ".join(
        f"CASE WHEN hash(number * {number} + 1) % 3 = 0 THEN 'yes' ELSE 'no' END AS extra{number}"
        for number in range(len(QUASI_IDENTIFIERS) + 1, MOST + 1)
    )
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "growth.duckdb"
        load(path, adult, rows)
        connection = duckdb.connect()
        connection.execute(f"SET threads = {THREADS}")
        connection.execute(f"ATTACH '{path}' AS loaded (READ_ONLY)")
        numbered = "SELECT *, row_number() OVER () AS number FROM loaded.adult"
        connection.execute(f"CREATE TABLE adult AS SELECT * EXCLUDE (number), {extras} FROM ({numbered})")
        connection.execute("DETACH loaded")
    return connection


def figures(result: kanon_sql.results.Result, seconds: float) -> dict[str, Any]:
    assert result.search is not None
    return {
        "seconds": round(seconds, 2),
        "nodes": result.search.nodes_total,
        "evaluated": result.search.nodes_evaluated,
        "statements": result.cost.statements,
        "fetched": result.cost.rows_fetched,
        "loss": round(result.metrics["loss"], 6) if result.metrics else None,
        "proven": result.search.proven,
    }


def grow_rows(adult: Path, _: float) -> Iterator[dict[str, Any]]:
    for rows in ROWS:
        engine = kanon_sql.connect(database(adult, rows))
        started = time.perf_counter()
        result = kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(specification(adult, "optimal")))
        yield {"rows": rows, **figures(result, time.perf_counter() - started)}


def grow_lattice(adult: Path, seconds: float) -> Iterator[dict[str, Any]]:
    connection = database(adult, None)
    for count in range(4, MOST + 1):
        spec = specification(adult, "optimal")
        names = [*QUASI_IDENTIFIERS, *(f"extra{number}" for number in range(len(QUASI_IDENTIFIERS) + 1, MOST + 1))]
        spec["quasi_identifiers"] = {name: spec["quasi_identifiers"].get(name) for name in names[:count]}
        started = time.perf_counter()
        result = kanon_sql.plan(
            kanon_sql.connect(connection), kanon_sql.Spec.from_dict(spec), budget=kanon_sql.Budget(seconds=seconds)
        )
        yield {"quasi_identifiers": count, **figures(result, time.perf_counter() - started)}


CASES: dict[str, Callable[[Path, float], Iterator[dict[str, Any]]]] = {"rows": grow_rows, "lattice": grow_lattice}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="?", choices=list(CASES), help="both by default")
    parser.add_argument("--adult", help="the directory with adult.csv and its hierarchies")
    parser.add_argument("--seconds", type=float, default=60, help="the limit of each search over a growing lattice")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    adult = adult_directory(options.adult)
    if not (adult / "adult.csv").is_file():
        parser.error(f"there is no adult.csv in {adult}; give its directory with --adult")
    found: dict[str, list[dict[str, Any]]] = {}
    for name in [options.case] if options.case else CASES:
        found[name] = []
        for line in CASES[name](adult, options.seconds):
            if not found[name]:
                print("".join(f"{column:>18}" for column in line))
            found[name].append(line)
            print("".join(f"{value!s:>18}" for value in line.values()), flush=True)
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), **found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
