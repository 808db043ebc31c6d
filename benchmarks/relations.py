"""Several tables released together: how long, beside one GROUP BY and one copy of each table, and what is lost.

    python benchmarks/relations.py                              # 200,000 persons, recoding local, k = 5, m = 1
    python benchmarks/relations.py --persons 1000000 --json relations.json
    python benchmarks/relations.py --persons 1000000 --visits 6.2 --runs 1     # ten million visits and prescriptions
    python benchmarks/relations.py --persons 20000 --recoding full_domain --m 2
    python benchmarks/relations.py --levels 3,0,3 --apart   # in large classes; prescriptions that refer to no visit

Persons, their visits and what was prescribed at these are drawn by DuckDB with fixed hashes, in a file, events
independently of each other, which is the hardest case. The limit is measured in the same run, on the same tables.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
from adult import THREADS, machine

import kanon_sql

TABLES = {
    "persons": """
        SELECT
            i AS person_id,
            18 + CAST((hash(i * 7 + 3) % 90) * (hash(i * 11 + 1) % 80) / 100 AS INTEGER) AS age,
            CASE WHEN hash(i + 5) % 100 < 51 THEN 'F' ELSE 'M' END AS sex,
            CAST(94000 + floor(pow((hash(i * 17) % 100000) / 1e5, 2) * 600) AS INTEGER) AS zip
        FROM range({persons}) AS t(i)
    """,
    "visits": """
        SELECT
            person_id * 16 + j AS visit_id,
            person_id,
            DATE '2025-01-01' + CAST(hash(person_id * 29 + j * 5) % 365 AS INTEGER) AS day,
            CAST(floor(pow((hash(person_id * 103 + j * 19) % 100000) / 1e5, 2) * 12) AS INTEGER) AS ward
        FROM persons, range({most}) AS r(j)
        WHERE j <= floor(-ln(((hash(person_id * 13 + 7) % 9999) + 1) / 1e4) * {visits})
    """,
    "prescriptions": """
        SELECT
            visit_id + 1 AS prescription_id,
            visit_id,
            {copied}
            chr(CAST(65 + drug // 100 AS INTEGER)) || lpad(CAST(drug % 100 AS VARCHAR), 2, '0') AS drug
        FROM (
            SELECT *, CAST(floor(pow((hash(visit_id * 31 + 1) % 100000) / 1e5, 3) * 800) AS INTEGER) AS drug
            FROM visits
            WHERE hash(visit_id * 3) % 10 < 6
        )
    """,
}

GROUPS = {"persons": "age, sex, zip", "visits": "day, ward", "prescriptions": "drug"}


def specification(options: argparse.Namespace) -> dict[str, Any]:
    rows = {"max_rows": 0.01} if options.recoding == "local" else {}
    visit = {"day": {"dates": ["month", "quarter"]}, "ward": {"intervals": [4]}}
    drug = {"drug": {"prefix": [2, 1]}}
    columns: dict[str, Any] = {"age": {"intervals": [5, 10, 20]}, "sex": {}, "zip": {"prefix": [4, 3, 2]}}
    for column, level in zip(columns, options.levels or [], strict=False):
        columns[column] |= {"minimum_level": level, "maximum_level": level}
    above = {"person": "person_id"} if options.apart else {"parent": "visits", "by": "visit_id"}
    return {
        "version": 1,
        "person": {
            "table": "persons",
            "key": "person_id",
            "quasi_identifiers": columns,
        },
        "tables": {
            "visits": {"key": "visit_id", "person": "person_id", "quasi_identifiers": visit},
            "prescriptions": {
                "key": "prescription_id",
                **above,
                "quasi_identifiers": {**visit, **drug} if options.apart else drug,
            },
        },
        "privacy": [{"km_anonymity": {"k": options.k, "m": options.m}}],
        "suppression": {"max_persons": 0.05, **rows},
        "recoding": options.recoding,
        "release": {"schema": "released"},
    }


def processors() -> float:
    """Seconds of processors until now, which other programs on the machine make no longer."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def limit(connection: duckdb.DuckDBPyConnection) -> tuple[float, float]:
    """Seconds of one GROUP BY and one copy of each table, and those of processors."""
    started, used = time.perf_counter(), processors()
    for table, columns in GROUPS.items():
        connection.sql(f"SELECT {columns}, COUNT(*) FROM {table} GROUP BY ALL").fetchall()
        connection.execute(f"CREATE OR REPLACE TABLE copied AS SELECT * FROM {table}")
    connection.execute("DROP TABLE copied")
    return time.perf_counter() - started, processors() - used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--persons", type=int, default=200_000)
    parser.add_argument("--visits", type=float, default=1.5, help="how many a person has, as the mean before rounding")
    parser.add_argument("--levels", type=lambda text: list(map(int, text.split(","))), help="of age, sex and zip")
    parser.add_argument("--apart", action="store_true", help="prescriptions refer to persons, with day and ward")
    parser.add_argument("--recoding", choices=["local", "full_domain"], default="local")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--m", type=int, default=1)
    parser.add_argument("--runs", type=int, default=3, help="runs, of which the median counts")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        connection = duckdb.connect(str(Path(directory) / "clinic.duckdb"), config={"threads": THREADS})
        for name, query in TABLES.items():
            most, copied = 16 if options.visits > 2 else 12, "person_id, day, ward," if options.apart else ""
            text = query.format(persons=options.persons, visits=options.visits, most=most, copied=copied)
            connection.execute(f"CREATE TABLE {name} AS {text}")
        connection.execute("CREATE SCHEMA released")
        limits = [limit(connection) for _ in range(options.runs)]
        engine = kanon_sql.connect(connection)
        spec = kanon_sql.RelationalSpec.from_dict(specification(options))
        results, used = [], []
        for _ in range(options.runs):
            before = processors()
            results.append(kanon_sql.anonymize(engine, spec))
            used.append(processors() - before)
    seconds = median(result.cost.seconds for result in results)
    of_limit = median(item[0] for item in limits)
    found = {
        "machine": machine(),
        "persons": options.persons,
        "verdict": results[0].verdict,
        "seconds": seconds,
        "limit": round(of_limit, 3),
        "times": round(seconds / of_limit, 1),
        "processor_seconds": round(median(used), 1),
        "processor_seconds_of_limit": round(median(item[1] for item in limits), 2),
        "statements": results[0].cost.statements,
        "nodes_asked": results[0].nodes_asked,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "tables": {
            name: {"rows": item["rows"], "released": item["released"], "loss": item["loss"]}
            for name, item in results[0].tables.items()
        },
    }
    print(json.dumps(found, indent=2))
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
