"""Draw the figures that the other benchmarks wrote with ``--json``.

    python benchmarks/growth.py --json growth.json && python benchmarks/plot.py growth.json growth.svg
    python benchmarks/bench.py --json bench.json && python benchmarks/plot.py bench.json bench.svg

One picture per file: seconds and nodes over what grew, or seconds of each case beside its limit. Needs matplotlib
(``pip install matplotlib``); the ending of the second name (svg, png, pdf) decides the format.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

BLUE, ORANGE, GREY = "#1f6feb", "#d9730d", "#8b949e"


def draw_growth(found: dict[str, Any]) -> plt.Figure:
    """Seconds and evaluated nodes over rows, and over quasi-identifiers."""
    kinds = [kind for kind in ("rows", "lattice") if kind in found]
    figure, axes = plt.subplots(1, len(kinds), figsize=(6 * len(kinds), 4), squeeze=False)
    for axis, kind in zip(axes[0], kinds, strict=True):
        lines = found[kind]
        over = [line[next(iter(line))] for line in lines]
        axis.plot(over, [line["seconds"] for line in lines], "o-", color=BLUE, label="seconds")
        axis.plot(over, [line["evaluated"] for line in lines], "s--", color=ORANGE, label="nodes evaluated")
        if kind == "lattice":
            axis.plot(over, [line["nodes"] for line in lines], ":", color=GREY, label="nodes of the lattice")
            axis.set_xlabel("quasi-identifiers")
        else:
            axis.set_xscale("log")
            axis.set_xlabel("rows")
        axis.set_yscale("log")
        axis.grid(alpha=0.3)
        axis.legend()
    return figure


def draw_cases(cases: dict[str, Any]) -> plt.Figure:
    """Seconds of every case, and of the two passes that no engine can do without."""
    figure, axis = plt.subplots(figsize=(9, 0.6 * len(cases) + 1.2))
    names = list(cases)[::-1]
    places = range(len(names))
    axis.barh(places, [cases[name]["seconds"] for name in names], color=BLUE, height=0.4, label="whole process")
    axis.barh(
        [place - 0.4 for place in places], [cases[name]["limit_seconds"] for name in names],
        color=GREY, height=0.3, label="limit: one GROUP BY and one copy",
    )  # fmt: skip
    axis.set_yticks(places, names)
    axis.set_xscale("log")
    axis.set_xlabel("seconds")
    figure.legend(loc="lower right", ncols=2, fontsize=8)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", type=Path, help="what --json wrote")
    parser.add_argument("picture", type=Path, help="the file to draw, such as growth.svg")
    options = parser.parse_args()
    found = json.loads(options.figures.read_text())
    figure = draw_cases(found["cases"]) if "cases" in found else draw_growth(found)
    machine = found["machine"]
    figure.suptitle(
        f"DuckDB {machine['duckdb']}, {machine['threads']} threads, {machine['memory_gib']} GiB", fontsize=9
    )
    figure.tight_layout()
    figure.savefig(options.picture)


if __name__ == "__main__":
    main()
