"""What the heuristics reach on a table of many quasi-identifiers whose rows may all be suppressed.

    python benchmarks/many_columns.py DIR/creditcard.csv              # k = 5, suppression limit 1, loss
    python benchmarks/many_columns.py DIR/creditcard.csv --algorithm greedy --columns 12

Every column of the table is a quasi-identifier; ``creditcard@COLUMN.csv`` beside it (spaces as ``-``) is its
hierarchy. Both are separated by ``;``. Granularity is 1 less the mean, over columns, of the share of detail that is
lost, where a suppressed row loses all of it. Seconds are of frequency sets and search, on the clock and of the
processor. ``--json FILE`` also writes the figures, with versions, cores and memory.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import duckdb
from adult import THREADS, machine

import kanon_sql
from kanon_sql.evaluate import searched
from kanon_sql.evaluate.outcome import Chosen

ALGORITHMS = ("greedy", "top_down", "bottom_up", "genetic")


def specification(table: Path, columns: list[str], algorithm: str, k: int, limit: float) -> dict[str, Any]:
    hierarchies = {name: table.with_name(f"{table.stem}@{name.replace(' ', '-')}.csv") for name in columns}
    return {
        "version": 1,
        "source": "many",
        "release": "many_release",
        "quasi_identifiers": {name: {"file": str(file)} for name, file in hierarchies.items()},
        "privacy": [{"k_anonymity": {"k": k}}],
        "suppression": {"max_share": limit},
        "search": {"algorithm": algorithm, "metric": "loss"},
    }


def run(table: Path, columns: list[str], algorithm: str, k: int, limit: float) -> dict[str, Any]:
    """The figures of one search in a database in memory."""
    spec = kanon_sql.Spec.from_dict(specification(table, columns, algorithm, k, limit))
    with duckdb.connect(config={"threads": THREADS}) as connection:
        connection.execute(
            "CREATE TABLE many AS SELECT * FROM read_csv(?, delim = ';', header = true, all_varchar = true)",
            [str(table)],
        )
        engine = kanon_sql.connect(connection)
        started, processor = time.perf_counter(), time.process_time()
        with searched(engine, spec) as found:
            if not isinstance(found, Chosen):
                raise SystemExit(f"{algorithm}: no node satisfies")
            losses = found.evaluator.losses(found.best.node)
            seconds = time.perf_counter() - started, time.process_time() - processor
            return {
                "algorithm": algorithm,
                "granularity": round(1 - sum(losses) / len(losses), 4),
                "loss": found.best.metric,
                "released": found.prepared.sets.rows - found.best.suppressed,
                "nodes": found.outcome.evaluated,
                "statements": engine.meter.statements,
                "seconds": round(seconds[0], 1),
                "processor": round(seconds[1], 1),
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, help="a CSV file, its hierarchies beside it")
    parser.add_argument("--algorithm", choices=ALGORITHMS, action="append", help="once or more; all by default")
    parser.add_argument("--columns", type=int, help="the first so many columns only")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--limit", type=float, default=1.0)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    if not options.table.is_file():
        parser.error(f"there is no file {options.table}")
    with options.table.open(encoding="utf-8", newline="") as lines:
        columns = next(csv.reader(lines, delimiter=";"))[: options.columns]
    shown = ["granularity", "loss", "released", "nodes", "statements", "seconds", "processor"]
    print(f"{'algorithm':<12}" + "".join(f"{name:>13}" for name in shown))
    figures = []
    for algorithm in options.algorithm or ALGORITHMS:
        figures.append(run(options.table, columns, algorithm, options.k, options.limit))
        values = {**figures[-1], "loss": f"{figures[-1]['loss']:.4f}"}
        print(f"{algorithm:<12}" + "".join(f"{values[name]:>13}" for name in shown), flush=True)
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "cases": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
