"""What cloaking costs, beside one GROUP BY over the same cells and slices that counts the different people in each.

    python benchmarks/positions.py [--rows 1000000] [--repeats 5] [--depth 12] [--time]

Positions of a tenth as many people as rows, in whole metres, three quarters of them in a dense strip, in a DuckDB
database in memory. A line per repeat: the GROUP BY; finding the cell of everybody (the GROUP BY over the source and the
climb over the grids); the whole run, with writing, verifying and publishing the release; and the ratios to the GROUP
BY, of seconds and of processor time, since others may use the machine. The last line has their medians.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import duckdb

import kanon_sql
from kanon_sql.engines import Deadline, Engine, open_workspace
from kanon_sql.frequency import source_of
from kanon_sql.positions import cloaked, points

SIDE = 1 << 20
Taken = tuple[float, float]
"""Seconds, and seconds of processors."""


def make(connection: duckdb.DuckDBPyConnection, rows: int) -> None:
    """A table of positions of one day."""
    connection.execute("SELECT setseed(0.5)")
    connection.execute(
        f"""
        CREATE TABLE positions AS SELECT
            CAST(random() * {rows // 10} AS INTEGER) AS phone,
            CAST(least(greatest(500000 + CASE WHEN i % 4 = 0 THEN 1000000 * (random() - 0.5)
                ELSE 150000 * (random() + random() - 1) + i % 7 * 30000 END, 0), 999999) AS BIGINT) AS x,
            CAST(random() * 999999 AS BIGINT) AS y,
            CAST(random() * 86399 AS BIGINT) AS at
        FROM range({rows}) AS t(i)
        """
    )


def spec_of(depth: int, timed: bool) -> kanon_sql.CloakSpec:
    """k = 10, cells of a kilometre and less, and slices of ten minutes."""
    return kanon_sql.CloakSpec.from_dict(
        {
            "version": 1,
            "kind": "positions",
            "source": "positions",
            "release": "cloaked",
            "unit": "phone",
            "position": {"columns": ["x", "y"], "bounds": [0, 0, SIDE, SIDE], "depth": depth},
            **({"time": {"column": "at", "widths": [600, 3600]}} if timed else {}),
            "k": 10,
            "suppression": {"max_share": 0.05},
        }
    )


def group_by(connection: duckdb.DuckDBPyConnection, depth: int, timed: bool) -> None:
    """The one GROUP BY, written by hand."""
    side, sliced = SIDE >> depth, ', "at" // 600 AS slice' if timed else ""
    connection.execute(
        f"CREATE OR REPLACE TEMPORARY TABLE counted AS SELECT x // {side} AS cell_x, y // {side} AS cell_y{sliced}, "
        "COUNT(DISTINCT phone) AS people FROM positions GROUP BY ALL"
    )


def find_cells(engine: Engine, spec: kanon_sql.CloakSpec) -> None:
    """What comes before the second pass."""
    with engine.run(Deadline(None)), open_workspace(engine, source_of(engine, spec)) as workspace:
        cloaked(workspace, spec, points(workspace, spec))


def taken(work: Callable[[], object]) -> Taken:
    started, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - started, time.process_time() - used


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--depth", type=int, default=12)
    parser.add_argument("--time", action="store_true", help="slices of ten minutes and of an hour, besides")
    options = parser.parse_args()
    connection = duckdb.connect(config={"threads": 2})
    make(connection, options.rows)
    engine, spec = kanon_sql.connect(connection), spec_of(options.depth, options.time)
    kanon_sql.cloak(engine, spec)  # what is compiled once, and the memory, are there from here on
    print("group by  cells  whole   ratio of seconds: cells  whole   of processor time: cells  whole")
    ratios: list[list[float]] = []
    for _ in range(options.repeats):
        plain = taken(lambda: group_by(connection, options.depth, options.time))
        cells = taken(lambda: find_cells(engine, spec))
        whole = taken(lambda: kanon_sql.cloak(engine, spec).raise_for_failure())
        ratios.append([part[kind] / plain[kind] for kind in (0, 1) for part in (cells, whole)])
        shown = "  ".join(f"{ratio:5.2f}" for ratio in ratios[-1])
        print(f"{plain[0]:8.3f} {cells[0]:6.3f} {whole[0]:6.3f}   {shown}")
    print(f"{'medians':24}{'  '.join(f'{statistics.median(column):5.2f}' for column in zip(*ratios, strict=True))}")


if __name__ == "__main__":
    main()
