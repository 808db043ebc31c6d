"""Time kanon_sql on every engine against that engine's own GROUP BY and copy of the table.

    python benchmarks/engines.py                      # every engine that runs here
    python benchmarks/engines.py --engine sqlite      # one of them; may be repeated
    python benchmarks/engines.py --rows 100000 --repeat 1 --json FILE
    python benchmarks/engines.py --engine spark --workers 1 --rows 10000000 --columns 5
    python benchmarks/engines.py --rows 100000 --recoding local    # nothing suppressed; also of what else is in classes
    python benchmarks/engines.py --engine postgres --rows 10000000 --repeat 1 --diverse occupation   # k and l

The case is ``million-release`` of bench.py: the resampled Adult extract, nine quasi-identifiers, k = 10,
5 % suppression, the optimum under loss, from connecting to the verified and published table. The limit is
measured on a plain connection, in turn with the runs: one GROUP BY over the quasi-identifiers and one
CREATE TABLE AS SELECT of the whole table. Medians of ``--repeat`` runs; servers are those of the tests,
Spark is a driver and ``--workers`` processes of one core with Spark's own settings for large tables. ``release`` is
the beginning of a hash of the released rows, whatever their order: the same on every engine.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from adult import QUASI_IDENTIFIERS, ROOT, adult_directory, machine, specification, write_csv

sys.path.insert(0, str(ROOT))

import kanon_sql
from kanon_sql.testing import Subject
from tests.servers import SUBJECTS
from tests.servers.base import Missing

TARGETS = {"duckdb": 10, "clickhouse": 10, "postgres": 10, "mariadb": 12, "sqlite": 12, "spark": 12}
"""A run may take so many times as long as the limit."""


def opened(name: str, workers: int) -> Any:
    """A database of the tests."""
    if name != "spark":
        return SUBJECTS[name]()  # type: ignore[call-arg]
    from tests.servers.spark import SparkSubject

    partitions = {"spark.sql.shuffle.partitions": str(workers), "spark.default.parallelism": str(workers)}
    return SparkSubject(workers, partitions)


def load_duckdb(subject: Any, path: Path) -> None:
    subject.execute(f"INSERT INTO adult SELECT * FROM read_csv('{path}', header = true, all_varchar = true)")


def load_postgres(subject: Any, path: Path) -> None:
    with subject.connection.connection.driver_connection.cursor() as cursor:
        with cursor.copy("COPY adult FROM STDIN (FORMAT csv, HEADER true)") as copy:
            copy.write(path.read_bytes())
        cursor.execute("VACUUM ANALYZE adult")


def load_sqlite(subject: Any, path: Path) -> None:
    driver = subject.connection.connection.driver_connection
    with path.open(newline="") as lines:
        rows = csv.reader(lines)
        next(rows)
        driver.execute("BEGIN")
        driver.executemany(f"INSERT INTO adult VALUES ({', '.join('?' * len(QUASI_IDENTIFIERS))})", rows)
        driver.execute("COMMIT")


def load_mariadb(subject: Any, path: Path) -> None:
    subject.execute(f"LOAD DATA INFILE '{path}' INTO TABLE adult FIELDS TERMINATED BY ',' IGNORE 1 LINES")
    subject.fetch("ANALYZE TABLE adult")


def load_clickhouse(subject: Any, path: Path) -> None:
    subject.execute(f"INSERT INTO adult SELECT * FROM file('{path}', 'CSVWithNames')")


def load_spark(subject: Any, path: Path) -> None:
    subject.execute(f"CREATE TEMPORARY VIEW rows USING csv OPTIONS (path '{path}', header 'true')")
    subject.execute("INSERT INTO adult SELECT * FROM rows")


LOADERS: dict[str, Callable[[Any, Path], None]] = {
    "duckdb": load_duckdb,
    "postgres": load_postgres,
    "sqlite": load_sqlite,
    "mariadb": load_mariadb,
    "clickhouse": load_clickhouse,
    "spark": load_spark,
}


def timed(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def limit_seconds(subject: Subject, names: list[str]) -> tuple[float, float]:
    """The two passes that no run can do without."""
    dialect = subject.dialect
    columns = ", ".join(map(dialect.quote, names))
    grouped = f"SELECT {columns}, COUNT(*) AS row_count FROM adult GROUP BY {columns}"
    seconds = []
    for name, query, temporary in (("limit_groups", grouped, True), ("limit_copy", "SELECT * FROM adult", False)):
        create = dialect.create_as(dialect.quote(name), query, temporary)
        seconds.append(timed(lambda create=create: subject.execute(create)))
        subject.drop(name)
    return seconds[0], seconds[1]


def fingerprint(subject: Subject, names: list[str]) -> str:
    """The same for two tables that hold the same rows."""
    columns = ", ".join(map(subject.dialect.quote, names))
    rows = subject.fetch(f"SELECT {columns}, COUNT(*) FROM adult_release GROUP BY {columns}")
    return hashlib.sha256(repr(sorted([*map(str, row[:-1]), int(row[-1])] for row in rows)).encode()).hexdigest()[:8]


def run_engine(name: str, path: Path, adult: Path, options: argparse.Namespace) -> dict[str, Any]:
    names = QUASI_IDENTIFIERS[: options.columns]
    asked = specification(adult, "optimal")
    asked["quasi_identifiers"] = {column: asked["quasi_identifiers"][column] for column in names}
    if options.recoding is not None:
        asked |= {"recoding": options.recoding, "suppression": {"max_rows": 0}}
        del asked["search"]
    if options.diverse is not None:
        del asked["quasi_identifiers"][options.diverse]
        asked["sensitive"] = [options.diverse]
        asked["privacy"].append({"l_diversity": {"attribute": options.diverse, "l": 2}})
    spec = kanon_sql.Spec.from_dict(asked)
    subject = opened(name, options.workers)
    try:
        kind = "VARCHAR(64)" if name == "mariadb" else subject.types["text"]  # LONGTEXT would slow the limit down
        columns = ", ".join(f"{subject.dialect.quote(column)} {kind}" for column in QUASI_IDENTIFIERS)
        subject.execute(subject.create(subject.dialect.quote("adult"), columns))
        LOADERS[name](subject, path)
        seconds, limits = [], []
        for _ in range(options.repeat):
            limits.append(limit_seconds(subject, names))
            subject.drop("adult_release")
            started = time.perf_counter()
            engine = subject.connect()
            result = kanon_sql.anonymize(engine, spec)
            version = engine.version
            engine.close()
            seconds.append(time.perf_counter() - started)
            assert result.passed
        release = fingerprint(subject, names)
    finally:
        subject.close()
    group_by, copy = (statistics.median(times) for times in zip(*limits, strict=True))
    median = statistics.median(seconds)
    nodes = result.search.nodes_evaluated if result.search is not None else None
    return {
        "version": version,
        "rows": result.rows["source"],
        "seconds": round(median, 2),
        "group_by": round(group_by, 2),
        "copy": round(copy, 2),
        "ratio": round(median / (group_by + copy), 1),
        "target": TARGETS[name],
        "nodes": nodes,
        "statements": result.cost.statements,
        "scans": result.cost.source_scans,
        "fetched": result.cost.rows_fetched,
        "loss": result.metrics["loss"],
        "mean_loss": result.mean_loss,
        "release": release,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", action="append", choices=list(SUBJECTS), help="may be repeated; all by default")
    parser.add_argument("--adult", help="the directory with adult.csv and its hierarchies")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--columns", type=int, default=len(QUASI_IDENTIFIERS), help="quasi-identifiers, from the first")
    parser.add_argument("--recoding", help="such as local; full_domain by default")
    parser.add_argument("--diverse", help="a column that is sensitive, with 2 values in each class")
    parser.add_argument("--workers", type=int, default=2, help="Spark's executors")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    adult = adult_directory(options.adult)
    if not (adult / "adult.csv").is_file():
        parser.error(f"there is no adult.csv in {adult}; give its directory with --adult")
    columns = "version seconds group_by copy ratio target nodes statements scans fetched release".split()
    print(f"{'engine':<12}" + "".join(f"{name:>12}" for name in columns))
    figures = {}
    with tempfile.TemporaryDirectory(prefix="kanon_bench_") as directory:
        path = Path(directory) / "adult.csv"
        write_csv(path, adult, options.rows)
        path.parent.chmod(0o755)  # some servers read it themselves, as another user
        for name in options.engine or SUBJECTS:
            try:
                figures[name] = run_engine(name, path, adult, options)
            except Missing as missing:
                print(f"{name:<12}{missing}")
                continue
            print(f"{name:<12}" + "".join(f"{figures[name][column]!s:>12}" for column in columns), flush=True)
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "engines": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
