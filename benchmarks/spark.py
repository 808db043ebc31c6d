"""Time kanon_sql on Spark by the number of executors, and see what it takes in memory, on disk and in statements.

    python benchmarks/spark.py --rows 30000000 --workers 1 --workers 2      # two executors of a core against one
    python benchmarks/spark.py --rows 100000000 --workers 2 --memory 8000   # Parquet, all processes in 8 GB
    python benchmarks/spark.py --rows 1000000 --repeat 2 --json FILE

The case is that of engines.py: the resampled Adult extract, nine quasi-identifiers, k = 10, 5 % suppression, the
optimum under loss, from connecting to the verified and published table; the source is a Parquet file. Each number of
workers has a process and a cluster of its own, a driver and executors with a core each. ``processor`` is what all of
them spent, ``peak`` the most that they held at once (resident memory, sampled), ``disk`` the most in Spark's own
directory without the release. Times say little on a machine that does something else; statements, jobs and tasks do.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from adult import ROOT, adult_directory, load_parquet, machine, specification

sys.path.insert(0, str(ROOT))

import kanon_sql

COLUMNS = ("seconds", "processor", "statements", "jobs", "nodes", "scans", "loss", "peak", "disk")


class Watch(threading.Thread):
    """Looks at the processes that this one started, and at a directory.

    Args:
        directory: whose size is watched.

    Attributes:
        peak: the most bytes of resident memory, of this process and those together.
        disk: the most bytes in the directory.
    """

    def __init__(self, directory: Path) -> None:
        super().__init__(daemon=True)
        self.directory = directory
        self.peak = self.disk = 0
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.wait(0.5):
            self.peak = max(self.peak, sum(resident for resident, _ in family().values()))
            self.disk = max(self.disk, size_of(self.directory))

    def stop(self) -> None:
        self._over.set()
        self.join()


def family() -> dict[int, tuple[int, float]]:
    """This process and all below it: id -> bytes of resident memory, seconds of processor time."""
    page, tick = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
    parents, found = {}, {}
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            fields = (directory / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(directory.name)] = int(fields[1])
        found[int(directory.name)] = int(fields[21]) * page, (int(fields[11]) + int(fields[12])) / tick
    own = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in own and pid not in own}:
        own |= more
    return {pid: found[pid] for pid in own if pid in found}


def size_of(directory: Path) -> int:
    total = 0
    for path in directory.rglob("*"):
        try:
            total += path.stat().st_size
        except OSError:
            continue
    return total


def session(workers: int, memory: int, partitions: int, directory: Path) -> Any:
    """A cluster on this machine: ``memory`` MiB for all of its processes, of which a fifth is not heap."""
    from pyspark.sql import SparkSession

    heap = memory * 4 // 5 // (workers + 1)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["SPARK_LOCAL_DIRS"] = str(directory / "local")
    builder = SparkSession.builder.master(f"local-cluster[{workers},1,{heap}]").appName("kanon_sql benchmark")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": f"{heap}m",
        "spark.executor.memory": f"{heap}m",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.default.parallelism": str(workers),
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        "spark.worker.dir": str(directory / "work"),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    return made


def measured(options: argparse.Namespace, source: Path, adult: Path) -> dict[str, Any]:
    """One number of workers, in this process."""
    (workers,) = options.workers
    with tempfile.TemporaryDirectory(prefix="kanon_spark_") as name:
        directory = Path(name)
        (directory / "local").mkdir()
        spark = session(workers, options.memory, options.partitions or 2 * workers, directory)
        spark.sql(f"CREATE TEMPORARY VIEW adult USING parquet OPTIONS (path '{source}')")
        spec = kanon_sql.Spec.from_dict(specification(adult, "optimal"))
        seconds, processor = [], []
        scheduler = spark.sparkContext._jsc.sc().dagScheduler()
        watch = Watch(directory / "local")
        watch.start()
        for _ in range(options.repeat):
            spark.sql("DROP TABLE IF EXISTS adult_release")
            jobs, spent, started = scheduler.nextJobId(), sum(cpu for _, cpu in family().values()), time.perf_counter()
            with kanon_sql.connect(spark) as engine:
                result = kanon_sql.anonymize(engine, spec).raise_for_failure()
            seconds.append(time.perf_counter() - started)
            processor.append(sum(cpu for _, cpu in family().values()) - spent)
            jobs = scheduler.nextJobId() - jobs
        watch.stop()
        spark.stop()
    assert result.search is not None
    return {
        "workers": workers,
        "rows": result.rows["source"],
        "seconds": round(statistics.median(seconds), 1),
        "processor": round(statistics.median(processor), 1),
        "statements": result.cost.statements,
        "jobs": jobs,
        "nodes": result.search.nodes_evaluated,
        "scans": result.cost.source_scans,
        "loss": round(result.metrics["loss"], 9),
        "peak": f"{watch.peak / 1e9:.2f} GB",
        "disk": f"{watch.disk / 1e9:.2f} GB",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adult", help="the directory with adult.csv and its hierarchies")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--workers", type=int, action="append", help="executors; may be repeated; 1 and 2 by default")
    parser.add_argument("--memory", type=int, default=4000, help="MiB for driver and executors together")
    parser.add_argument("--partitions", type=int, help="of a shuffle; twice the workers by default")
    parser.add_argument("--source", type=Path, help="a Parquet file of such rows; made anew by default")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    adult = adult_directory(options.adult)
    if not (adult / "adult.csv").is_file():
        parser.error(f"there is no adult.csv in {adult}; give its directory with --adult")
    workers = options.workers or [1, 2]
    if options.alone:
        options.json.write_text(json.dumps(measured(options, options.source, adult)))
        return
    figures = []
    with tempfile.TemporaryDirectory(prefix="kanon_bench_") as name:
        source = options.source or Path(name) / "adult.parquet"
        if options.source is None:
            load_parquet(source, adult, options.rows)
        print(f"{'workers':<8}" + "".join(f"{column:>14}" for column in COLUMNS))
        for number in workers:  # an application is all that a process can have
            found = Path(name) / f"{number}.json"
            own = ["--alone", "--source", source, "--json", found, "--workers", number, "--repeat", options.repeat]
            own += ["--memory", options.memory, "--adult", adult]
            own += [] if options.partitions is None else ["--partitions", options.partitions]
            subprocess.run([sys.executable, __file__, *map(str, own)], check=True, stderr=subprocess.DEVNULL)
            figures.append(json.loads(found.read_text()))
            print(f"{number:<8}" + "".join(f"{figures[-1][column]!s:>14}" for column in COLUMNS), flush=True)
    if len(figures) > 1:
        ratio = figures[0]["seconds"] / figures[-1]["seconds"]
        print(f"{ratio:.2f} times as fast with {workers[-1]} as with {workers[0]}")
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "runs": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
