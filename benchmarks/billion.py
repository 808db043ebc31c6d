"""A release of a billion rows of Parquet in 8 GB of memory, beside one GROUP BY and one copy of the same files.

    python benchmarks/billion.py                          # 1,000,000,000 rows; an hour, and 60 GB of disk
    python benchmarks/billion.py --rows 20000000          # the same in a minute
    python benchmarks/billion.py --directory DIR --keep   # make the files once, and use them again
    python benchmarks/billion.py --numbers                # the same values as 16-bit integers

The files are made of hashes of the row's number, so one version of DuckDB always makes the same: nine
quasi-identifiers of skewed and partly dependent values. The number of distinct vectors grows with the rows, to nine
million at most. The values are texts, since cells of a release are: DuckDB takes 2.3 times as long to write such texts
as to write the integers, which the limit of ``--numbers`` copies while its release writes texts.
Two processes run one after the other, each with 2 threads and the same limit of memory: the limit (one GROUP BY over
the quasi-identifiers into a table, and one copy of all rows into a table), and ``anonymize``, which also verifies what
it wrote. Printed are the seconds by the clock and of the processor, their ratios, and for each process its
peak of memory (resident) and of disk.
``--json FILE`` also writes the figures.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
from adult import THREADS, machine

IN_A_FILE = 50_000_000

COLUMNS = {
    "sex": "a % 2",
    "region": "a // 2 % 50",
    "race": "a // 100 % 5",
    "country": "a // 500 % 16",
    "occupation": "a * 48271 % 2147483647 % 15",
    "age": "17 + b % 74",
    "education": "b // 74 % 16",
    "marital_status": "b * 69621 % 2147483647 % 7",
    "income": "b // 74 % 16 // 2 + b * 48271 % 2147483647 % 3",
}
"""Made of two numbers, of which small ones are drawn more often: a place in life, ``a``, and a stage of it, ``b``."""

DRAWN = """
    SELECT CAST(floor(8000 * pow((hash(r) >> 11) / 9007199254740992.0, 2.5)) AS BIGINT) AS a,
           CAST(floor(1200 * pow((hash(r + 4294967296) >> 11) / 9007199254740992.0, 1.5)) AS BIGINT) AS b
    FROM range({start}, {end}) AS rows(r)"""

PREFIXED: dict[str, Any] = {
    name: {"prefix": [1]} if name in ("age", "region", "education", "country", "occupation") else None
    for name in COLUMNS
}
"""Of texts of two digits the first."""

INTERVALS: dict[str, Any] = {
    "sex": None,
    "age": {"intervals": [5, 10, 20], "bottom": 0, "top": 90},
    "region": {"intervals": [5, 25], "bottom": 0, "top": 50},
    "education": {"intervals": [2, 8], "bottom": 0, "top": 16},
    "marital_status": None,
    "race": None,
    "country": {"intervals": [4], "bottom": 0, "top": 16},
    "occupation": {"intervals": [3, 6], "bottom": 0, "top": 15},
    "income": {"intervals": [2, 4], "bottom": 0, "top": 10},
}

LIMIT = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1])
connection.execute("SET enable_progress_bar = false")
connection.execute(f"SET threads = {sys.argv[3]}")
connection.execute(f"SET memory_limit = '{sys.argv[4]}'")
columns = ", ".join(sys.argv[5:])
source = f"read_parquet('{sys.argv[2]}')"
connection.execute(f"CREATE TEMP TABLE grouped AS SELECT {columns}, count(*) AS n FROM {source} GROUP BY {columns}")
print(connection.execute("SELECT count(*) FROM grouped").fetchone()[0])
connection.execute(f"CREATE TABLE copied AS SELECT * FROM {source}")
"""


def generate(directory: Path, rows: int, *, numbers: bool) -> None:
    """The table in files of at most 50 million rows, those apart that are there."""
    written = "CAST({} AS SMALLINT)" if numbers else "lpad(CAST({} AS VARCHAR), 2, '0')"
    drawn = ", ".join(f'{written.format(value)} AS "{name}"' for name, value in COLUMNS.items())
    for number, start in enumerate(range(0, rows, IN_A_FILE)):
        file, part = directory / f"rows-{number:03}.parquet", directory / "part"
        if file.exists():
            continue
        with duckdb.connect() as connection:
            connection.execute(f"SET threads = {THREADS}")
            source = DRAWN.format(start=start, end=min(start + IN_A_FILE, rows))
            connection.execute(f"COPY (SELECT {drawn} FROM ({source})) TO '{part}' (FORMAT parquet, COMPRESSION zstd)")
        part.rename(file)


def size(directory: Path) -> int:
    """Bytes of the files in a directory that others may remove meanwhile."""
    total = 0
    for file in directory.rglob("*"):
        try:
            total += file.stat().st_size
        except FileNotFoundError:
            continue
    return total


def resident(process: int) -> int:
    """Bytes that a process has in memory at most so far, from Linux; 0 once it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM")), 0)


def watched(command: Sequence[str], directory: Path) -> dict[str, Any]:
    """Run a process, and look at its memory and at its directory every half second."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    peaks = {"peak_memory_gib": 0.0, "peak_disk_gib": 0.0}

    def watch() -> None:
        while process.poll() is None:
            peaks["peak_memory_gib"] = max(peaks["peak_memory_gib"], round(resident(process.pid) / 2**30, 2))
            peaks["peak_disk_gib"] = max(peaks["peak_disk_gib"], round(size(directory) / 2**30, 2))
            time.sleep(0.5)

    watcher = threading.Thread(target=watch)
    watcher.start()
    output, errors = process.communicate()
    seconds = round(time.perf_counter() - started, 1)
    watcher.join()
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command[:4])} ended with {process.returncode}: {errors}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)
    return {"seconds": seconds, "processor_seconds": processor, **peaks, "output": output}


def measure(files: Path, rows: int, memory: str, hierarchies: dict[str, Any]) -> dict[str, Any]:
    """The limit and the release, one after the other, in directories of their own."""
    pattern = str(files / "rows-*.parquet")
    with tempfile.TemporaryDirectory(dir=files) as name:
        arguments = [pattern, str(THREADS), memory, *COLUMNS]
        limit = watched([sys.executable, "-c", LIMIT, f"{name}/limit.duckdb", *arguments], Path(name))
    with tempfile.TemporaryDirectory(dir=files) as name:
        spec = Path(name) / "billion.yml"
        spec.write_text(
            json.dumps(
                {
                    "version": 1,
                    "source": {"file": pattern},
                    "release": "released",
                    "quasi_identifiers": hierarchies,
                    "privacy": [{"k_anonymity": {"k": 10}}],
                    "suppression": {"max_share": 0.01},
                    "search": {"algorithm": "optimal", "metric": "loss"},
                }
            )
        )
        command = [sys.executable, "-m", "kanon_sql", "anonymize", str(spec), "-d", f"{name}/release.duckdb"]
        command += ["--set", f"threads={THREADS},memory_limit={memory}", "--format", "json", "--quiet"]
        release = watched([*command, "--manifest", "none"], Path(name))
    result = json.loads(release.pop("output"))
    assert result["rows"]["source"] == rows, result["rows"]
    return {
        "rows": rows,
        "file_gib": round(sum(file.stat().st_size for file in files.glob("rows-*")) / 2**30, 2),
        "distinct_vectors": int(limit.pop("output")),
        "limit": limit,
        "release": release,
        "ratio": round(release["seconds"] / limit["seconds"], 2),
        "processor_ratio": round(release["processor_seconds"] / limit["processor_seconds"], 2),
        "loss": round(result["metrics"]["loss"], 4),
        "suppressed": result["rows"]["suppressed"],
        "nodes_evaluated": result["search"]["nodes_evaluated"],
        "statements": result["cost"]["statements"],
        "verified": result["verdict"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000_000)
    parser.add_argument("--memory", default="8GB", help="the limit of each process")
    parser.add_argument("--directory", type=Path, help="where the files are made; a temporary one by default")
    parser.add_argument("--keep", action="store_true", help="leave the generated files in --directory")
    parser.add_argument("--numbers", action="store_true", help="integers instead of texts; not in files made before")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.directory) as temporary:
        files = options.directory if options.directory and options.keep else Path(temporary)
        generate(files, options.rows, numbers=options.numbers)
        hierarchies = INTERVALS if options.numbers else PREFIXED
        figures = measure(files, options.rows, options.memory, hierarchies)
    text = json.dumps({"machine": machine(), "texts": not options.numbers, **figures}, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
