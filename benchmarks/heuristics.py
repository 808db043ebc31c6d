"""How far the heuristics are from the optimum on the Adult extract, and what they cost.

    python benchmarks/heuristics.py                           # k = 10, 5 % suppression, loss
    python benchmarks/heuristics.py --metric discernibility

Every heuristic runs beside ``optimal``, those with random numbers with ``--seeds`` seeds (5). Seconds are
the median of ``--repeat`` (3) whole plans in this process: frequency sets, search, and achieved
measures. ``--adult DIR`` (or KANON_SHARED) is where adult.csv is; ``--json FILE`` also writes
the figures, with versions, cores and memory.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from adult import adult_directory, load, machine, specification

import kanon_sql
from kanon_sql.models.quality import METRICS
from kanon_sql.search import HEURISTICS

SEEDED = ("annealing", "genetic")


def run(database: Path, adult: Path, metric: str, options: dict[str, Any], repeat: int) -> dict[str, Any]:
    """One algorithm: the figures of its plan, and the median seconds."""
    spec = specification(adult, options["algorithm"])
    spec["search"] = {**options, "metric": metric}
    seconds = []
    for _ in range(repeat):
        started = time.perf_counter()
        result = kanon_sql.plan(kanon_sql.connect(database), kanon_sql.Spec.from_dict(spec)).to_dict()
        seconds.append(time.perf_counter() - started)
    return {
        **options,
        "nodes_evaluated": result["search"]["nodes_evaluated"],
        "statements": result["cost"]["statements"],
        "seconds": round(statistics.median(seconds), 2),
        "metric": result["metrics"][metric],
        "proven": result["search"]["proven"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adult", help="the directory with adult.csv and its hierarchies")
    parser.add_argument("--metric", choices=sorted(METRICS), default="loss")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    adult = adult_directory(options.adult)
    if not (adult / "adult.csv").is_file():
        parser.error(f"there is no adult.csv in {adult}; give its directory with --adult")
    cases: list[dict[str, Any]] = [{"algorithm": "optimal"}]
    for name in sorted(HEURISTICS):
        seeds = range(options.seeds) if name in SEEDED else [None]
        cases += [{"algorithm": name, **({} if seed is None else {"seed": seed})} for seed in seeds]
    columns = ["nodes_evaluated", "statements", "seconds", "metric", "distance"]
    print(f"{'algorithm':<16}" + "".join(f"{name:>17}" for name in columns))
    figures = []
    with tempfile.TemporaryDirectory() as name:
        database = Path(name) / "heuristics.duckdb"
        load(database, adult, None)
        for case in cases:
            found = run(database, adult, options.metric, case, options.repeat)
            optimum = figures[0]["metric"] if figures else found["metric"]
            found["distance"] = round(100 * (found["metric"] / optimum - 1), 2)  # percent
            figures.append(found)
            seed = f" ({case['seed']})" if "seed" in case else ""
            shown = {**found, "metric": f"{found['metric']:.6g}", "distance": f"{found['distance']:.2f} %"}
            print(f"{case['algorithm'] + seed:<16}" + "".join(f"{shown[column]:>17}" for column in columns), flush=True)
    if options.json:
        written = {"machine": machine(), "quality_metric": options.metric, "cases": figures}
        options.json.write_text(json.dumps(written, indent=2) + "\n")


if __name__ == "__main__":
    main()
