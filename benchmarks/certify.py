"""Time a certificate, and its verification, against one GROUP BY plus one copy of the table.

    python benchmarks/certify.py                        # the resampled Adult extract, 1,000,000 rows
    python benchmarks/certify.py --rows 100000 --json certify.json

Nine quasi-identifiers (12,960 nodes), k = 10, 5 % suppression, loss: once with the proof that no other node is better,
once without (``search: greedy`` at the same levels claims none). Seconds are of processors, all threads added up, since
those of a clock tell what else a machine does; the limit, the certificate and its verification take turns, and medians
are compared. ``--adult DIR`` (or KANON_SHARED) is where adult.csv is.
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
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import duckdb
from adult import THREADS, adult_directory, load, machine, specification

import kanon_sql


def limit_seconds(database: Path, spec: kanon_sql.Spec) -> float:
    """One GROUP BY of the quasi-identifiers, and one copy."""
    columns = ", ".join(f'"{name}"' for name in spec.quasi_identifiers)
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"SET threads = {THREADS}")
        started = time.process_time()
        grouped = f"SELECT {columns}, COUNT(*) AS n FROM adult GROUP BY {columns}"
        connection.execute(f"CREATE OR REPLACE TEMP TABLE grouped AS {grouped}")
        connection.execute("CREATE OR REPLACE TABLE limit_copy AS SELECT * FROM adult")
        found = time.process_time() - started
        connection.execute("DROP TABLE limit_copy")
    return found


def verified_seconds(directory: Path, database: Path) -> float:
    """The verifier, in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, str(directory / "verify_certificate.py"), str(directory), "-d", str(database)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(database: Path, given: dict[str, Any], name: str, times: int) -> dict[str, Any]:
    spec = kanon_sql.Spec.from_dict(given)
    limits, certified, verified = [], [], []
    with tempfile.TemporaryDirectory() as directory:
        with kanon_sql.connect(str(database), threads=THREADS) as engine:
            assert kanon_sql.anonymize(engine, spec).passed
            kanon_sql.certify(engine, spec, directory)  # what is compiled once is compiled
        for _ in range(times):
            limits.append(limit_seconds(database, spec))
            with kanon_sql.connect(str(database), threads=THREADS) as engine:
                started = time.process_time()
                found = kanon_sql.certify(engine, spec, directory)
                certified.append(time.process_time() - started)
            assert found.passed, found.problems
            verified.append(verified_seconds(Path(directory), database))
    limit, certify, verify = map(statistics.median, (limits, certified, verified))
    proof = found.content["optimality"]
    answers = [claim["rows"] for claim in found.claims if claim["id"].startswith("nodes_")]
    return {
        "certificate": name,
        "nodes_asked": None if proof is None else sum(map(len, answers)),
        "limit_seconds": round(limit, 2),
        "certify_seconds": round(certify, 2),
        "certify_ratio": round(certify / limit, 2),
        "verify_seconds": round(verify, 2),
        "verify_ratio": round(verify / limit, 2),
        "source_scans": found.cost.source_scans,
        "rows_fetched": found.cost.rows_fetched,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--adult", help="where adult.csv is")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--json", type=Path, help="also write the figures there")
    options = parser.parse_args()
    adult = adult_directory(options.adult)
    with tempfile.TemporaryDirectory() as directory:
        database = Path(directory) / "adult.duckdb"
        load(database, adult, options.rows)
        given = specification(adult, "optimal")
        cases = {"with optimality": given, "without": {**given, "search": {**given["search"], "algorithm": "greedy"}}}
        figures = [measured(database, spec, name, options.times) for name, spec in cases.items()]
    for line in figures:
        print(json.dumps(line))
    if options.json is not None:
        options.json.write_text(json.dumps({"machine": machine(), "rows": options.rows, "figures": figures}, indent=2))


if __name__ == "__main__":
    main()
