"""What a day costs: a refresh of 1 % and of 0.1 % more rows beside a full run over the same table.

    python benchmarks/refresh.py                     # 10,000,000 rows
    python benchmarks/refresh.py --rows 1000000 --json refresh.json

The table is drawn by DuckDB with fixed hashes, in the order of its days, in a file; k = 10, 5 % suppression, loss; the
lowest levels are such that a day has rows for most classes, or all of them would wait. The full run is a release of the
grown table without a state. Each refresh is one new day, and reads that alone: ``scans`` says how often the source was
read. Beside the seconds stands processor time, which a busy machine does not change.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import duckdb
from adult import THREADS, machine

import kanon_sql

SHARES = (0.01, 0.001)

SPEC: dict[str, Any] = {
    "version": 1,
    "source": "visits",
    "release": "visits_release",
    "quasi_identifiers": {
        "age": {"intervals": [5, 10, 20, 40], "minimum_level": 2},
        "zip": {"prefix": [4, 3, 2, 1], "minimum_level": 2},
        "sex": {},
        "education": {},
    },
    "sensitive": ["diagnosis"],
    "privacy": [{"k_anonymity": {"k": 10}}],
    "suppression": {"max_share": 0.05},
    "warnings": {"rows_not_persons": "allow"},
}

ROWS = """
    SELECT
        DATE '2020-01-01' + CAST({day} AS INTEGER) AS day,
        CAST(20 + hash(i) % 60 AS INTEGER) AS age,
        CAST(10000 + hash(i * 3) % 400 AS VARCHAR) AS zip,
        CASE hash(i * 5) % 2 WHEN 0 THEN 'F' ELSE 'M' END AS sex,
        'education ' || (hash(i * 7) % 6) AS education,
        'diagnosis ' || (hash(i * 11) % 20) AS diagnosis
    FROM range({start}, {end}) AS t(i)
"""


def timed(
    connection: duckdb.DuckDBPyConnection, verb: Any, **changes: Any
) -> tuple[kanon_sql.results.Result, float, float]:
    with kanon_sql.connect(connection) as engine:
        started, worked = time.perf_counter(), time.process_time()
        result = verb(engine, kanon_sql.Spec.from_dict({**SPEC, **changes}))
        return result, time.perf_counter() - started, time.process_time() - worked


def days(rows: int, folder: Path, memory: str | None) -> Iterator[dict[str, Any]]:
    growing = {"state": "kanon_state", "increments": {"watermark": "day"}, "release": "visits_growing"}
    with duckdb.connect(str(folder / "refresh.duckdb")) as connection:
        connection.execute(f"SET threads = {THREADS}")
        if memory is not None:
            connection.execute(f"SET memory_limit = '{memory}'")
            connection.execute(f"SET temp_directory = '{folder / 'spilled'}'")
        connection.execute(f"CREATE TABLE visits AS {ROWS.format(day=f'i * 1000 // {rows}', start=0, end=rows)}")
        first, seconds, worked = timed(connection, kanon_sql.anonymize, **growing)
        assert first.passed, first.message
        yield {"case": "first, with state", "rows": rows, "seconds": round(seconds, 2), "processor": round(worked, 2)}
        end, refreshed = rows, []
        for number, share in enumerate(SHARES, start=1001):
            start, end = end, end + int(rows * share)
            connection.execute(f"INSERT INTO visits {ROWS.format(day=number, start=start, end=end)}")
            connection.execute("CHECKPOINT")
            refreshed.append((share, end, *timed(connection, kanon_sql.refresh, **growing)))
        _, whole, all_work = timed(connection, kanon_sql.anonymize)
        yield {"case": "full run", "rows": end, "seconds": round(whole, 2), "processor": round(all_work, 2)}
        for share, there, result, seconds, worked in refreshed:
            assert result.refresh is not None
            yield {
                "case": f"{share:.1%} more",
                "rows": there,
                "seconds": round(seconds, 2),
                "processor": round(worked, 2),
                "of seconds": f"{seconds / whole:.1%}",
                "of processor": f"{worked / all_work:.1%}",
                "scans": result.cost.source_scans,
                "added": result.refresh["added"],
                "waiting": result.refresh["waiting"],
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--memory", help="DuckDB's limit, such as 8GB; what does not fit is written to disk")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for line in days(options.rows, Path(folder), options.memory):
            found.append(line)
            print("".join(f"{value!s:>20}" for value in line.values()), flush=True)
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "refresh": found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
