"""Repeat the comparison of the Incognito paper: algorithms on Adult, with more and more quasi-identifiers.

    python benchmarks/incognito.py                    # 3 to 9 quasi-identifiers, k = 2 and 10
    python benchmarks/incognito.py -q 3 4 5 -k 2      # some of it
    python benchmarks/incognito.py --json FILE        # also write the figures, with versions and memory

LeFevre, DeWitt, Ramakrishnan 2005, section 4: the quasi-identifiers in the paper's order, full-domain
k-anonymity without suppression. Binary search is Samarati's; bottom-up asks about the whole lattice
(without the paper's roll-up, since the evaluator has its own) and is left out where that is too much.
Columns: nodes asked about, frequency sets rolled up, reads of the first frequency set (the paper's
scans, after one pass over the source), statements of the whole run, and seconds. A run that takes
longer than ``--seconds`` is cut off and shown with a ``>``.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
from adult import THREADS, adult_directory, load, machine

import kanon_sql

ORDER = "age sex race marital-status education native-country workclass occupation salary-class".split()
METHODS: dict[str, dict[str, Any]] = {
    "binary search": {"algorithm": "samarati"},
    "bottom-up": {"algorithm": "exhaustive"},
    "basic incognito": {"algorithm": "incognito"},
    "super-roots": {"algorithm": "incognito", "variant": "super_roots"},
    "cube": {"algorithm": "incognito", "variant": "cube"},
    "distance matrix": {"algorithm": "samarati", "distance_vectors": True},
}
MOST_NODES = 3_000
"""Bottom-up is left out on larger lattices."""
MOST_MATRIX = 5
"""The distance matrix is left out for more quasi-identifiers."""
COLUMNS = ["nodes", "sets", "base_reads", "statements", "seconds"]


def run_case(
    connection: duckdb.DuckDBPyConnection, adult: Path, method: str, count: int, k: int, seconds: float
) -> dict[str, Any]:
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "adult",
            "quasi_identifiers": {name: {"file": str(adult / f"hierarchy_{name}.csv")} for name in ORDER[:count]},
            "privacy": [{"k_anonymity": k}],
            "search": {"metric": "height", **METHODS[method]},
        }
    )
    started = time.perf_counter()
    result = kanon_sql.plan(kanon_sql.connect(connection), spec, budget=kanon_sql.Budget(seconds=seconds))
    took = time.perf_counter() - started
    assert result.search is not None
    return {
        "nodes": result.search.nodes_evaluated,
        "sets": result.search.frequency_sets,
        "base_reads": result.search.base_reads,
        "statements": result.cost.statements,
        "seconds": round(took, 2),
        "lattice": result.search.nodes_total,
        "minimal": None if result.search.minimal is None else len(result.search.minimal),
        "height": result.metrics.get("height"),
        "matrix": None if result.search.matrix is None else dict(result.search.matrix),
        "stopped": result.search.stopped,
    }


def agree(found: dict[str, dict[str, Any]]) -> None:
    """Every search that ran to its end found the same height, and the same number of minimal nodes."""
    finished = [figures for figures in found.values() if figures["stopped"] is None]
    for name in ("height", "minimal"):
        values = {figures[name] for figures in finished} - {None}
        if len(values) > 1:
            raise SystemExit(f"the searches disagree on {name}: {sorted(values)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-q", "--quasi-identifiers", type=int, nargs="+", default=list(range(3, 10)))
    parser.add_argument("-k", type=int, nargs="+", default=[2, 10])
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--adult", help="the directory with adult.csv and its hierarchies")
    parser.add_argument("--seconds", type=float, default=60, help="stop a search after so many seconds")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    adult = adult_directory(options.adult)
    if not (adult / "adult.csv").is_file():
        parser.error(f"there is no adult.csv in {adult}; give its directory with --adult")
    if not all(3 <= count <= len(ORDER) for count in options.quasi_identifiers):
        parser.error(f"quasi-identifiers: 3 to {len(ORDER)}")
    cases = []
    with tempfile.TemporaryDirectory() as name:
        database = Path(name) / "adult.duckdb"
        load(database, adult, None)
        connection = duckdb.connect(str(database))
        connection.execute(f"SET threads = {THREADS}")
        print(f"{'k':>3}{'QI':>4}  {'method':<17}" + "".join(f"{column:>11}" for column in COLUMNS))
        for k in options.k:
            for count in options.quasi_identifiers:
                found: dict[str, dict[str, Any]] = {}
                lattice = 0
                for method in options.methods:
                    if (method == "bottom-up" and lattice > MOST_NODES) or (
                        method == "distance matrix" and count > MOST_MATRIX
                    ):
                        continue
                    figures = found[method] = run_case(connection, adult, method, count, k, options.seconds)
                    lattice = figures["lattice"]
                    cut = ">" if figures["stopped"] else ""
                    shown = "".join(f"{cut + str(figures[column]):>11}" for column in COLUMNS)
                    print(f"{k:>3}{count:>4}  {method:<17}{shown}", flush=True)
                    cases.append({"k": k, "quasi_identifiers": count, "method": method, **figures})
                agree(found)
        connection.close()
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "cases": cases}, indent=2) + "\n")


if __name__ == "__main__":
    main()
