"""The search that a day's work would give: all k-minimal nodes, by nothing but tags and batches.

    python benchmarks/naive.py DATABASE [--adult DIR]

One frequency set, never rolled up. Batches of 64 nodes none of which generalizes another, from the middle of what is
undecided, are one UNION ALL of a GROUP BY on a packed key each; what satisfies tags all nodes above it, what violates
all below. ``bench.py`` runs it beside kanon_sql: what both take on the machine at hand can be compared, also with
figures from another machine where this search was timed. It stands by itself on purpose and uses nothing of kanon_sql.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import random
import time
from pathlib import Path
from typing import Any

import duckdb
from adult import QUASI_IDENTIFIERS, THREADS, adult_directory, specification

BATCH = 64
Node = tuple[int, ...]


def load_codes(con: duckdb.DuckDBPyConnection, adult: Path) -> list[list[int]]:
    """Hierarchies as tables of codes, ``h0``, ...; per attribute and level, how many labels there are."""
    labels = []
    for index, name in enumerate(QUASI_IDENTIFIERS):
        with (adult / f"hierarchy_{name}.csv").open(newline="") as file:
            paths = list(csv.reader(file, delimiter=";"))
        levels = [
            {label: code for code, label in enumerate(dict.fromkeys(column))} for column in zip(*paths, strict=True)
        ]
        columns = ", ".join(f"c{level} INTEGER" for level, _ in enumerate(levels))
        con.execute(f"CREATE TEMP TABLE h{index} (value VARCHAR, {columns})")
        rows = [[path[0], *(codes[label] for codes, label in zip(levels, path, strict=True))] for path in paths]
        con.executemany(f"INSERT INTO h{index} VALUES ({', '.join('?' * (len(levels) + 1))})", rows)
        labels.append([len(codes) for codes in levels])
    return labels


def count_vectors(con: duckdb.DuckDBPyConnection, labels: list[list[int]]) -> int:
    """The frequency set with the codes of every level; how many rows it counts."""
    names = ", ".join(f'"{name}"' for name in QUASI_IDENTIFIERS)
    codes = ", ".join(f"h{i}.c{level} AS a{i}_{level}" for i, own in enumerate(labels) for level, _ in enumerate(own))
    joins = " ".join(f'JOIN h{i} ON h{i}.value = raw."{name}"' for i, name in enumerate(QUASI_IDENTIFIERS))
    raw = f"SELECT {names}, count(*)::INTEGER AS n FROM adult GROUP BY {names}"
    con.execute(f"CREATE TEMP TABLE vectors AS SELECT {codes}, raw.n FROM ({raw}) AS raw {joins}")
    ((rows,),) = con.execute("SELECT sum(n) FROM vectors").fetchall()
    return int(rows)


def question(number: int, node: Node, labels: list[list[int]], k: int) -> str:
    """How many rows are in classes below k."""
    key, factor = "0", 1
    for index, level in enumerate(node):
        if labels[index][level] > 1:
            key += f" + a{index}_{level} * {factor}"
            factor *= labels[index][level]
    classes = f"SELECT sum(n)::INTEGER AS size FROM vectors GROUP BY {key}"
    return f"SELECT {number}, coalesce(sum(CASE WHEN size < {k} THEN size END), 0) FROM ({classes})"


def search(con: duckdb.DuckDBPyConnection, labels: list[list[int]], k: int, most: float) -> dict[str, int]:
    """All minimal nodes; sets of nodes are the bits of integers."""
    nodes = sorted(itertools.product(*(range(len(own)) for own in labels)), key=sum)
    place = {node: number for number, node in enumerate(nodes)}

    def steps(node: Node, step: int) -> list[int]:
        moved = (tuple(level + step * (i == j) for j, level in enumerate(node)) for i, _ in enumerate(node))
        return [place[other] for other in moved if other in place]

    above, below = [0] * len(nodes), [0] * len(nodes)
    for number in reversed(range(len(nodes))):
        above[number] = 1 << number
        for other in steps(nodes[number], 1):
            above[number] |= above[other]
    for number in range(len(nodes)):
        below[number] = 1 << number
        for other in steps(nodes[number], -1):
            below[number] |= below[other]
    anyhow = random.Random(0)
    undecided, satisfied, evaluations, statements = (1 << len(nodes)) - 1, 0, 0, 0
    while undecided:
        left = [number for number in range(len(nodes)) if undecided >> number & 1]
        middle = sum(nodes[left[len(left) // 2]])
        batch, related = [], 0
        anyhow.shuffle(left)
        for number in sorted(left, key=lambda number: abs(sum(nodes[number]) - middle)):
            if not related >> number & 1:
                batch.append(number)
                related |= above[number] | below[number]
                if len(batch) == BATCH:
                    break
        asked = " UNION ALL ".join(question(number, nodes[number], labels, k) for number in batch)
        for number, suppressed in con.execute(asked).fetchall():
            if suppressed <= most:
                satisfied |= above[number]
                undecided &= ~above[number]
            else:
                undecided &= ~below[number]
        evaluations, statements = evaluations + len(batch), statements + 1
    minimal = sum(
        satisfied >> number & 1 and not any(satisfied >> other & 1 for other in steps(node, -1))
        for number, node in enumerate(nodes)
    )
    return {"nodes": len(nodes), "evaluations": evaluations, "statements": statements, "minimal_nodes": minimal}


def main() -> None:
    started = time.perf_counter()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database", type=Path, help="a DuckDB file with the table adult")
    parser.add_argument("--adult", help="the directory with the hierarchies")
    options = parser.parse_args()
    adult = adult_directory(options.adult)
    spec: dict[str, Any] = specification(adult, "optimal")
    with duckdb.connect(str(options.database), read_only=True) as con:
        con.execute(f"SET threads = {THREADS}")
        labels = load_codes(con, adult)
        rows = count_vectors(con, labels)
        counted = time.perf_counter()
        k, limit = spec["privacy"][0]["k_anonymity"]["k"], spec["suppression"]["max_share"]
        found = search(con, labels, k, limit * rows)
    ended = time.perf_counter()
    print(json.dumps({**found, "seconds": round(ended - started, 3), "search_seconds": round(ended - counted, 3)}))


if __name__ == "__main__":
    main()
