"""Sets of items beside Amnesia's apriori: how long, and what is lost, at the same k and m, by the same hierarchy.

    python benchmarks/baskets.py                                       # 60,000 baskets of 497 items, k = 5, m = 2
    python benchmarks/baskets.py --amnesia CHECKOUT --jars GUAVA:COMMONS_LANG2     # and Amnesia, built with javac

The baskets have the shape of BMS-WebView-1: 2.5 items on average, some items in thousands of baskets, most in few. An
item is a number of three octal digits; without its last it is one of 63 groups, without the last two of 8, and then
any. What an item loses is the share of the other items that it may be; one that is left out loses all. Amnesia takes
(Terrovitis, Mamoulis and Kalnis 2008) one label for each item in all baskets, and leaves out nothing. Its algorithm is
compiled without the server around it: ``amnesia/Main.java`` gives it the baskets and the hierarchy.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
from adult import THREADS, machine

import kanon_sql

ITEMS = 497
STUBS = {
    "data/DiskData.java": "package data; public class DiskData {}",
    "algorithms/mixedkmanonymity/MixedApriori.java": "package algorithms.mixedkmanonymity;"
    "public abstract class MixedApriori implements algorithms.Algorithm {"
    "public abstract double getAddedCost(double[] c, java.util.List<Double> b); }",
    "com/fasterxml/jackson/annotation/JsonView.java": "package com.fasterxml.jackson.annotation;"
    "public @interface JsonView { Class<?>[] value() default {}; }",
}
"""What the algorithm names and does not use: classes of the server, which need a framework."""

Baskets = list[list[int]]


def drawn(count: int, seed: int = 1) -> Baskets:
    """So many baskets."""
    draw = random.Random(seed)
    items = list(range(ITEMS))
    draw.shuffle(items)
    weights = [1 / (rank + 8) for rank in range(ITEMS)]
    sizes = [1 + min(int(draw.expovariate(1 / 1.6)), 30) for _ in range(count)]
    return [sorted(set(draw.choices(items, weights, k=size))) for size in sizes]


def ours(baskets: Baskets, recoding: str, k: int, m: int, left_out: float) -> dict[str, Any]:
    """What kanon_sql does."""
    connection = duckdb.connect()
    connection.execute(f"SET threads = {THREADS}")
    connection.execute("CREATE TABLE buyers (id INTEGER, basket VARCHAR[])")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "baskets.json"
        rows = [{"id": number, "basket": [f"{item:03o}" for item in basket]} for number, basket in enumerate(baskets)]
        file.write_text(json.dumps(rows), "utf-8")
        connection.execute(f"INSERT INTO buyers SELECT id, basket FROM read_json('{file}')")
    connection.execute("CREATE SCHEMA released")
    limit = {"max_persons": left_out} if recoding == "full_domain" else {"max_rows": left_out}
    spec = kanon_sql.RelationalSpec.from_dict(
        {
            "version": 1,
            "person": {"table": "buyers", "key": "id"},
            "items": {"baskets": {"column": "basket", "hierarchy": {"prefix": [2, 1]}}},
            "privacy": [{"km_anonymity": {"k": k, "m": m}}],
            "recoding": recoding,
            "suppression": limit,
            "release": {"schema": "released"},
        }
    )
    started = time.perf_counter()
    result = kanon_sql.anonymize(connection, spec)
    seconds = time.perf_counter() - started
    table = result.tables.get("baskets")
    levels = {} if table is None else table["columns"]["basket"]["levels"]
    loss = None if table is None else table["loss"]
    return {"what": f"{recoding}, {left_out:.0%} left out at most", "seconds": round(seconds, 1), "loss": loss,
            "levels": levels, "message": result.message}  # fmt: skip


def amnesia(baskets: Baskets, checkout: Path, jars: str, k: int, m: int) -> dict[str, Any]:
    """What Amnesia's apriori does."""
    groups = sorted({item // 8 for item in range(ITEMS)})
    parents = {1 + item: 1000 + item // 8 for item in range(ITEMS)}
    parents |= {1000 + group: 2000 + group // 8 for group in groups} | {2000 + n // 8: 3000 for n in groups}
    with tempfile.TemporaryDirectory() as folder:
        stubs, built, given = Path(folder) / "stubs", Path(folder) / "built", Path(folder) / "baskets.txt"
        for name, text in STUBS.items():
            (stubs / name).parent.mkdir(parents=True, exist_ok=True)
            (stubs / name).write_text(text, "utf-8")
        sources = f"{stubs}:{checkout / 'src/main/java'}"
        driver = Path(__file__).parent / "amnesia" / "Main.java"
        subprocess.run(["javac", "-nowarn", "-encoding", "UTF-8", "-cp", jars, "-d", built, "-sourcepath", sources,
                        driver], check=True, stderr=subprocess.DEVNULL)  # fmt: skip
        lines = [" ".join(str(1 + item) for item in basket) for basket in baskets]
        tree = [f"{node} {parent}" for node, parent in {**parents, 3000: -1}.items()]
        given.write_text("\n".join([*lines, "", *tree]), "utf-8")
        done = subprocess.run(["java", "-Xmx6g", "-cp", f"{built}:{jars}", "Main", given, str(k), str(m)], check=True,
                              capture_output=True, text=True).stdout.splitlines()  # fmt: skip
    label = {int(line.split()[1]) - 1: int(line.split()[2]) for line in done if line.startswith("rule")}
    seconds = next(float(line.split()[1]) for line in done if line.startswith("seconds"))
    present = {item for basket in baskets for item in basket}
    under: Counter[int] = Counter()
    for item in present:
        for node in (1 + item, 1000 + item // 8, 2000 + item // 64, 3000):
            under[node] += 1
    occurrences = Counter(item for basket in baskets for item in basket)
    lost = sum(count * (under[label[item]] - 1) / (len(present) - 1) for item, count in occurrences.items())
    levels = Counter(dict.fromkeys(range(4), 0))
    for item, count in occurrences.items():
        levels[label[item] // 1000] += count
    assert_shared(baskets, label, k, m)
    return {"what": "Amnesia", "seconds": round(seconds, 1), "loss": round(lost / occurrences.total(), 6),
            "levels": {str(level): count for level, count in levels.items() if count}}  # fmt: skip


def assert_shared(baskets: Baskets, label: dict[int, int], k: int, m: int) -> None:
    """That the rules hold what they promise."""
    from itertools import combinations

    shared: Counter[Any] = Counter()
    for basket in baskets:
        labels = sorted({label[item] for item in basket})
        shared.update(known for size in range(1, m + 1) for known in combinations(labels, size))
    print(f"Amnesia: combinations that fewer than k = {k} share: {sum(count < k for count in shared.values())}")


def main() -> None:
    """Print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--baskets", type=int, default=60_000)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--m", type=int, default=2)
    parser.add_argument("--amnesia", type=Path, help="a checkout of Amnesia")
    parser.add_argument("--jars", default="", help="guava and commons-lang 2, with a colon between them")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    baskets = drawn(given.baskets)
    print(f"{len(baskets):,} baskets, {sum(map(len, baskets)) / len(baskets):.2f} items on average, "
          f"{len({item for basket in baskets for item in basket})} items")  # fmt: skip
    found = []
    if given.amnesia is not None:
        found.append(amnesia(baskets, given.amnesia, given.jars, given.k, given.m))
        print(found[-1])
    for recoding, left_out in (("full_domain", 0.0), ("full_domain", 0.05), ("local", 0.01), ("local", 0.05)):
        found.append(ours(baskets, recoding, given.k, given.m, left_out))
        print(found[-1])
    if given.json is not None:
        given.json.write_text(json.dumps({"machine": machine(), "runs": found}, indent=1), "utf-8")


if __name__ == "__main__":
    main()
