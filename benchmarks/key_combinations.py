"""How long all combinations of m of ten key columns take, in seconds on the clock and of the processor.

    python benchmarks/key_combinations.py                    # a million rows, k = 3, m = 3: 120 sets of columns
    python benchmarks/key_combinations.py --rows 100000 --m 2 --domains 100,2,9,74,16,7,52,5,14,40

The rows are drawn: in a column of d values, the product of two uniform numbers chooses one, so that some are rare. The
table is checked, released as it is without the rows that have to go, and the release is checked. For comparison, the
table is grouped once by all columns. ``--json FILE`` also writes the figures, with versions, cores and memory.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import duckdb
from adult import THREADS, machine

import kanon_sql

DOMAINS = "20,2,6,8,5,4,10,3,6,8"


def timed(run: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """What a call returns, and its seconds."""
    started, processor = time.perf_counter(), time.process_time()
    result = run()
    return result, {
        "seconds": round(time.perf_counter() - started, 1),
        "processor": round(time.process_time() - processor, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--k", type=int, default=3)
    parser.add_argument("--m", type=int, default=3)
    parser.add_argument("--domains", default=DOMAINS, help="how many values each column has")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    domains = [int(size) for size in given.domains.split(",")]
    columns = [f"q{number}" for number, _ in enumerate(domains)]
    spec = kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": {name: {"maximum_level": 0} for name in columns},
            "privacy": [{"k_anonymity": {"k": given.k, "combinations": given.m}}],
            "suppression": {"max_share": 1.0},
        }
    )
    with duckdb.connect(config={"threads": THREADS}) as connection:
        connection.execute("SELECT setseed(0.4)")
        drawn = ", ".join(
            f"CAST(floor(random() * random() * {size}) AS INTEGER) AS {name}"
            for name, size in zip(columns, domains, strict=True)
        )
        connection.execute(f"CREATE TABLE people AS SELECT {drawn} FROM range({given.rows})")
        grouped = f"SELECT COUNT(*) FROM (SELECT 1 FROM people GROUP BY {', '.join(columns)})"
        (classes,), reference = timed(lambda: connection.execute(grouped).fetchone())
        engine = kanon_sql.connect(connection)
        _, checked = timed(lambda: kanon_sql.check(engine, spec, "people"))
        release, made = timed(lambda: kanon_sql.anonymize(engine, spec))
        again, verified = timed(lambda: kanon_sql.check(engine, spec)) if release.passed else (None, {})
    figures = {
        "rows": given.rows,
        "classes": classes,
        "suppressed": release.rows["suppressed"],
        "holds": again is not None and again.passed,
        "grouped once": reference,
        "check of the table": checked,
        "anonymize": {**made, "statements": release.cost.statements},
        "check of the release": verified,
    }
    for name, figure in figures.items():
        print(f"{name}: {figure}")
    if given.json is not None:
        given.json.write_text(json.dumps({**figures, "machine": machine()}, indent=2) + "\n")


if __name__ == "__main__":
    main()
