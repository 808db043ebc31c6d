"""The case that the benchmarks share: the Adult extract, resampled to any size, and its spec."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

import duckdb

ROOT = Path(__file__).resolve().parent.parent
QUASI_IDENTIFIERS = "sex age race marital-status education native-country workclass occupation salary-class".split()
THREADS = 2


def adult_directory(given: str | None) -> Path:
    for candidate in (given, os.environ.get("KANON_SHARED") and f"{os.environ['KANON_SHARED']}/data/adult"):
        if candidate:
            return Path(candidate)
    return ROOT.parent / "shared" / "data" / "adult"


def specification(adult: Path, algorithm: str) -> dict[str, Any]:
    return {
        "version": 1,
        "source": "adult",
        "release": "adult_release",
        "quasi_identifiers": {name: {"file": str(adult / f"hierarchy_{name}.csv")} for name in QUASI_IDENTIFIERS},
        "privacy": [{"k_anonymity": {"k": 10}}],
        "suppression": {"max_share": 0.05},
        "search": {"algorithm": algorithm, "metric": "loss"},
    }


def write_spec(directory: Path, adult: Path, algorithm: str, file: Path | None = None) -> Path:
    """The spec of a search in the table ``adult``, or in a file of rows."""
    spec = specification(adult, algorithm)
    if file is not None:
        spec["source"] = {"file": str(file)}
    path = directory / f"{algorithm}.yml"
    path.write_text(json.dumps(spec))  # JSON is YAML
    return path


def load(database: Path, adult: Path, rows: int | None) -> None:
    """The Adult extract, or ``rows`` rows resampled from it, in a DuckDB file."""
    con = duckdb.connect(str(database))
    con.execute(f"SET threads = {THREADS}")
    read = f"read_csv('{adult / 'adult.csv'}', delim=';', header=true, all_varchar=true)"
    if rows is None:
        con.execute(f"CREATE TABLE adult AS SELECT * FROM {read}")
    else:
        # Each attribute is drawn from another row, but related ones stay together, so that the
        # number of distinct vectors grows with the table as it does in real data.
        con.execute(f"CREATE TEMP TABLE base AS SELECT row_number() OVER () - 1 AS i, * FROM {read}")
        (n,) = con.execute("SELECT count(*) FROM base").fetchone()
        con.execute(
            f"""CREATE TABLE adult AS
            SELECT a.sex, b.age, a.race, b."marital-status", a.education, a."native-country",
                   a.workclass, a.occupation, b."salary-class"
            FROM (SELECT ((r * 48271 + 11) % 2147483647) % {n} AS x, ((r * 69621 + 7) % 2147483647) % {n} AS y
                  FROM range({rows}) AS t(r)) AS drawn
            JOIN base AS a ON a.i = drawn.x JOIN base AS b ON b.i = drawn.y"""
        )
    con.close()


def load_parquet(path: Path, adult: Path, rows: int) -> None:
    """``rows`` rows resampled from the extract in a Parquet file."""
    database = path.with_suffix(".duckdb")
    load(database, adult, rows)
    con = duckdb.connect(str(database), read_only=True)
    con.execute(f"SET threads = {THREADS}")
    con.execute(f"COPY (FROM adult) TO '{path}' (FORMAT parquet)")
    con.close()
    database.unlink()


def write_csv(path: Path, adult: Path, rows: int | None) -> None:
    """The same rows as a CSV file with a header, for loading into another database."""
    database = path.with_suffix(".duckdb")
    load(database, adult, rows)
    con = duckdb.connect(str(database), read_only=True)
    columns = ", ".join(f'"{name}"' for name in QUASI_IDENTIFIERS)
    con.execute(f"COPY (SELECT {columns} FROM adult) TO '{path}' (HEADER, DELIMITER ',')")
    con.close()
    database.unlink()


def machine() -> dict[str, Any]:
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "python": platform.python_version(),
        "duckdb": duckdb.__version__,
        "cores": os.cpu_count(),
        "threads": THREADS,
        "memory_gib": round(pages / 2**30),
    }
