"""Micro-aggregation beside MDAV: the squares that are lost, and the time, on files of numbers.

    python benchmarks/microaggregation.py Census.csv EIA.csv Tarragona.csv

The three that papers compare by are data of sdcMicro (CASCrefmicrodata, EIA, Tarragona), to be written as CSV first;
of a file, the columns of whole numbers are taken but those of ``--without``. What is lost is the share of the squares
of the distances from the mean that are within classes, on average over the columns, in percent: SSE / SST of columns
that are standardized. MDAV (Domingo-Ferrer, Torra 2005) is made here in numpy, where each step looks at all rows that
are left; ours is the whole run, with the release written and verified.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import duckdb
import numpy as np
from adult import machine

import kanon_sql


def mdav(rows: np.ndarray, k: int) -> list[np.ndarray]:
    """Classes of k to 2k - 1 rows: around the row farthest from the mean, and around the one farthest from that."""
    left, classes = np.arange(len(rows)), []

    def taken(around: np.ndarray) -> None:
        nonlocal left
        nearest = np.argsort(((rows[left] - around) ** 2).sum(axis=1), kind="stable")[:k]
        classes.append(left[nearest])
        left = np.delete(left, nearest)

    def farthest(point: np.ndarray) -> np.ndarray:
        return rows[left[((rows[left] - point) ** 2).sum(axis=1).argmax()]]

    while len(left) >= 3 * k:
        first = farthest(rows[left].mean(axis=0))
        second = farthest(first)
        taken(first)
        taken(second)
    if len(left) >= 2 * k:
        taken(farthest(rows[left].mean(axis=0)))
    return [*classes, left]


def lost_by_mdav(rows: np.ndarray, k: int) -> float:
    varying = rows[:, rows.std(axis=0) > 0]
    standard = (varying - varying.mean(axis=0)) / varying.std(axis=0)
    inside = sum(((standard[own] - standard[own].mean(axis=0)) ** 2).sum() for own in mdav(standard, k))
    return 100 * float(inside / (standard**2).sum())


def lost_by_us(connection: duckdb.DuckDBPyConnection, names: list[str], k: int) -> float:
    """A mean stands for each of its class, so that what is lost is the variance that the release lacks."""
    connection.execute("DROP TABLE IF EXISTS released")
    spec = {
        "version": 1, "source": "numbers", "release": "released", "quasi_identifiers": dict.fromkeys(names),
        "privacy": [{"k_anonymity": {"k": k}}], "suppression": {"max_rows": 0},
        "recoding": {"method": "microaggregation", "columns": dict.fromkeys(names, "mean")},
    }  # fmt: skip
    with kanon_sql.connect(connection) as engine:
        assert kanon_sql.anonymize(engine, kanon_sql.Spec.from_dict(spec)).passed

    def variances(table: str) -> np.ndarray:
        listed = ", ".join(f'var_pop(CAST("{name}" AS DOUBLE))' for name in names)
        return np.array(connection.execute(f"SELECT {listed} FROM {table}").fetchone())

    before, after = variances("numbers"), variances("released")
    varying = before > 0
    return 100 * float((1 - after[varying] / before[varying]).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--k", nargs="+", type=int, default=[3, 5, 10])
    parser.add_argument("--without", nargs="*", default=["UTILITYID", "YEAR", "MONTH"], help="columns to leave out")
    options = parser.parse_args()
    print(machine())
    print(f"{'file':<20}{'rows':>7}{'columns':>9}{'k':>5}{'ours, %':>10}{'MDAV, %':>10}{'ours, s':>10}{'MDAV, s':>10}")
    for file in options.files:
        connection = duckdb.connect()
        connection.read_csv(str(file)).create_view("read")
        kinds = connection.execute("DESCRIBE read").fetchall()
        names = [name for name, kind, *_ in kinds if kind == "BIGINT" and name not in options.without]
        listed = ", ".join(f'"{name}"' for name in names)
        connection.execute(f"CREATE TABLE numbers AS SELECT {listed} FROM read")
        rows = np.array(connection.execute("SELECT * FROM numbers").fetchall(), dtype=float)
        for k in options.k:
            started = time.perf_counter()
            ours = lost_by_us(connection, names, k)
            between = time.perf_counter()
            theirs = lost_by_mdav(rows, k)
            seconds = (between - started, time.perf_counter() - between)
            print(
                f"{file.stem:<20}{len(rows):>7,}{len(names):>9}{k:>5}{ours:>10.2f}{theirs:>10.2f}"
                + "".join(f"{each:>10.2f}" for each in seconds)
            )


if __name__ == "__main__":
    main()
