"""The error of tables with noise beside OpenDP's at the same epsilon: all three-way margins of Adult.

The figures of docs/reference/differential-privacy.md.

    python benchmarks/noise.py [--adult DIRECTORY] [--epsilon 1] [--runs 5] [--margins 56]

Every three-way margin of eight attributes is published by ``tabulate`` as a table of its own, whose values are
declared, and OpenDP adds its discrete Laplace noise of scale 1 / epsilon to the same counts. Of both: the mean absolute
error and the root of the mean squared error of a finest cell, empty ones among them. Without OpenDP
(``pip install opendp``, in an environment of its own or this one) it says so and stops.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections import Counter
from itertools import combinations, product
from pathlib import Path

import duckdb
from adult import adult_directory, load

import kanon_sql

ATTRIBUTES = "sex race marital-status education native-country workclass occupation salary-class".split()


def values_of(adult: Path, name: str) -> list[str]:
    """The declared values of an attribute: those that its hierarchy file lists."""
    with (adult / f"hierarchy_{name}.csv").open(encoding="utf-8", newline="") as lines:
        return [row[0] for row in csv.reader(lines, delimiter=";")]


def ours(engine: kanon_sql.Engine, margin: tuple[str, ...], adult: Path, epsilon: float, name: str) -> dict:
    """A published table: its finest cells."""
    spec = {
        "version": 1,
        "kind": "table",
        "source": "adult",
        "release": name,
        "dimensions": {column: {"values": values_of(adult, column), "total": False} for column in margin},
        "protection": {"noise": {"epsilon": epsilon}},
        "ledger": f"{name}_ledger",
    }
    result = kanon_sql.tabulate(engine, kanon_sql.TableSpec.from_dict(spec))
    return {tuple(cell.labels): cell.value for cell in result.table}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adult", help="the folder with adult.csv and its hierarchies")
    parser.add_argument("--epsilon", type=float, default=1.0, help="of each margin")
    parser.add_argument("--runs", type=int, default=5, help="of each margin")
    parser.add_argument("--margins", type=int, default=56, help="how many of the 56 margins")
    given = parser.parse_args()
    try:
        import opendp.prelude as dp
    except ImportError:
        sys.exit("skipped: OpenDP is not installed; pip install opendp")
    dp.enable_features("contrib")
    adult = adult_directory(given.adult)
    database = Path("noise.duckdb")
    database.unlink(missing_ok=True)
    load(database, adult, None)
    errors: dict[str, Counter[int]] = {"kanon_sql": Counter(), "OpenDP": Counter()}
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    theirs = space >> dp.m.then_laplace(scale=1 / given.epsilon)
    assert theirs.map(1) <= given.epsilon + 1e-9, "one row more or less"
    started, cells = time.perf_counter(), 0
    with duckdb.connect(str(database)) as connection:
        columns = ", ".join(f'"{name}"' for name in ATTRIBUTES)
        rows = connection.execute(f"SELECT {columns} FROM adult").fetchall()
        engine = kanon_sql.connect(connection)
        for number, places in enumerate(list(combinations(range(len(ATTRIBUTES)), 3))[: given.margins]):
            margin = tuple(ATTRIBUTES[place] for place in places)
            true = Counter(tuple(row[place] for place in places) for row in rows)
            keys = list(product(*(values_of(adult, name) for name in margin)))
            cells += len(keys)
            for run in range(given.runs):
                released = ours(engine, margin, adult, given.epsilon, f"margin_{number}_{run}")
                assert set(released) == set(keys)
                errors["kanon_sql"].update(abs(int(released[key]) - true[key]) for key in keys)
                counts = theirs([true[key] for key in keys])
                errors["OpenDP"].update(abs(count - true[key]) for key, count in zip(keys, counts, strict=True))
    mean, root = {}, {}
    for name, found in errors.items():
        mean[name] = sum(size * often for size, often in found.items()) / found.total()
        root[name] = (sum(size**2 * often for size, often in found.items()) / found.total()) ** 0.5
        print(f"{name:10}  mean absolute error {mean[name]:.4f}  root mean squared error {root[name]:.4f}")
    print(
        f"{cells:,} cells of {given.margins} margins, {given.runs} runs, epsilon {given.epsilon:g} each; "
        f"ratio {mean['kanon_sql'] / mean['OpenDP']:.4f} and {root['kanon_sql'] / root['OpenDP']:.4f}; "
        f"{time.perf_counter() - started:.0f} s"
    )
    database.unlink()


if __name__ == "__main__":
    main()
