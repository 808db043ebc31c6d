"""Three public tables from a CSV file to a verified release, and what an analyst can still compute of each.

The figures of docs/two-minutes.md.

    python benchmarks/public_tables.py FOLDER [--others DIRECTORY] [--hierarchies DIRECTORY] [--only wages]

FOLDER has HealthInsurance.csv, CPSSW8.csv and NMES1988.csv: tables of the R package AER, which Rdatasets keeps as CSV
files (csv/AER). Each is released with k = 5 and at most 2 % of the rows suppressed, by the hierarchies that ``init``
drafts: one level per column (proven to lose least, on average over columns), local recoding, and its ``variant: best``.

``--hierarchies`` writes these as files value;level 1;...;* that ARX reads. ``--others`` measures what other programs
released: a folder for each, with a CSV file for each table, whose columns have their names, and ``*`` where a cell is
suppressed.

Of each release: the seconds of a whole process by the clock and of the processor, suppressed rows, the mean loss of a
cell ((values under its label - 1) / (values of the column - 1), 1 if suppressed), the smallest class, and rows in
classes of fewer than 5, where a suppressed cell is a value like any other. The analyses take the middle of a band for
its values, and leave out rows that are suppressed in a column that they need.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from ruamel.yaml import YAML

K = 5
RECODINGS: dict[str, Any] = {
    "one level, proven": {"recoding": "full_domain", "search": {"metric": "loss", "aggregate": "arithmetic_mean"}},
    "local": {"recoding": "local"},
    "local, best": {"recoding": {"method": "local", "variant": "best"}},
}
Row = Mapping[str, str]

ABSENT = "no longer"
"""Where a column that an analysis needs has one label in all rows."""


def number(text: str, unit: float) -> float:
    """A number, or the middle of a band ``[20, 25)`` of numbers that are multiples of a unit; NaN for no number."""
    band = re.fullmatch(r"\[(\S+), (\S+)\)", text)
    if band:
        return (float(band[1]) + float(band[2]) - unit) / 2
    try:
        return float(text)
    except ValueError:
        return math.nan


@dataclass(frozen=True)
class Analyses:
    """What is computed of rows, whichever program released them."""

    rows: Sequence[Row]
    units: Mapping[str, float]

    def column(self, name: str) -> np.ndarray[Any, Any]:
        """Numbers, or 1 for ``name=value`` and 0 for other values; NaN where suppressed."""
        name, _, value = name.partition("=")
        if value:
            return np.array([math.nan if row[name] == "*" else float(row[name] == value) for row in self.rows])
        return np.array([number(row[name], self.units.get(name, 0)) for row in self.rows])

    def mean(self, of: str, **where: str) -> str:
        """The mean of a column where others have a value."""
        found = self._known(of, where)
        return f"{found.mean():.3g}" if len(found) else ABSENT

    def quantile(self, of: str, share: float, **where: str) -> str:
        """A quantile likewise."""
        found = self._known(of, where)
        return f"{np.quantile(found, share):.3g}" if len(found) else ABSENT

    def _known(self, of: str, where: Mapping[str, str]) -> np.ndarray[Any, Any]:
        kept = np.all([self.column(f"{name}={value}") == 1 for name, value in where.items()], axis=0)
        found = self.column(of)[kept]
        return found[~np.isnan(found)]

    def slope(self, of: str, *on: str, percent: bool = False, logarithm: bool = False) -> str:
        """The coefficient of the first column in a least-squares regression, with its 95 % interval."""
        target = np.log(self.column(of)) if logarithm else self.column(of) * (100 if percent else 1)
        columns = np.column_stack([self.column(name) for name in on] + [np.ones(len(target))])
        whole = ~np.isnan(np.column_stack([columns, target])).any(axis=1)
        x, y = columns[whole], target[whole]
        if len(y) == 0 or np.linalg.matrix_rank(x) < x.shape[1]:
            return ABSENT
        inverse = np.linalg.inv(x.T @ x)
        found = inverse @ x.T @ y
        spread = ((y - x @ found) ** 2).sum() / (len(y) - x.shape[1])
        return f"{found[0]:.3g} ± {1.96 * math.sqrt(spread * inverse[0, 0]):.2g}"


@dataclass(frozen=True)
class Table:
    """A public table: its roles, the unit of its numbers, and what an analyst wants to know of it.

    An analysis has a name, the method of :class:`Analyses`, the columns, and what else the method takes.
    """

    file: str
    quasi_identifiers: Sequence[str]
    keep: Sequence[str]
    units: Mapping[str, float]
    analyses: Sequence[tuple[str, str, Sequence[Any], Mapping[str, Any]]]


TABLES = {
    "insurance": Table(
        "HealthInsurance.csv",
        ("age", "gender", "married", "family", "region", "ethnicity", "education"),
        ("health", "limit", "insurance"),
        {"age": 1, "family": 1},
        [
            ("share, men without a degree", "mean", ["insurance=yes"], {"gender": "male", "education": "none"}),
            ("median age, in the south", "quantile", ["age", 0.5], {"insurance": "yes", "region": "south"}),
            (
                "percent per year of age",
                "slope",
                ["insurance=yes", "age", "gender=male", "married=yes", "family"],
                {"percent": True},
            ),
            (
                "percent per member of the family",
                "slope",
                ["insurance=yes", "family", "age", "gender=male", "married=yes"],
                {"percent": True},
            ),
        ],
    ),
    "wages": Table(
        "CPSSW8.csv",
        ("age", "gender", "region", "education"),
        ("earnings",),
        {"age": 1, "education": 1},
        [
            ("mean, women with 16 years of education", "mean", ["earnings"], {"gender": "female", "education": "16"}),
            ("90 % quantile, women in the west", "quantile", ["earnings", 0.9], {"gender": "female", "region": "West"}),
            (
                "logarithm, per year of education",
                "slope",
                ["earnings", "education", "age", "gender=female"],
                {"logarithm": True},
            ),
        ],
    ),
    "visits": Table(
        "NMES1988.csv",
        ("age", "gender", "afam", "married", "region", "school", "employed"),
        ("visits", "hospital", "health", "chronic", "insurance"),
        {"age": 0.1, "school": 1},
        [
            ("mean, married women", "mean", ["visits"], {"gender": "female", "married": "yes"}),
            ("per year of school", "slope", ["visits", "school", "chronic", "age", "gender=male"], {}),
            ("per chronic condition", "slope", ["visits", "chronic", "school", "age", "gender=male"], {}),
        ],
    ),
}


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def run(*words: str | Path) -> tuple[str, float, float]:
    """What a command prints, its seconds by the clock, and those of the processor."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "kanon_sql", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    clock, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def spreads(folder: Path, columns: Sequence[str]) -> dict[str, dict[str, float]]:
    """Column -> label -> what a cell with it loses, by the files of the hierarchies."""
    found = {}
    for name in columns:
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
            paths = list(csv.reader(lines, delimiter=";"))
        under: dict[str, set[str]] = {}
        for path in paths:
            for label in path:
                under.setdefault(label, set()).add(path[0])
        found[name] = {label: (len(values) - 1) / (len(paths) - 1) for label, values in under.items()}
    return found


def measured(
    table: Table, source: int, released: Sequence[Row], losses: Mapping[str, Mapping[str, float]]
) -> list[str]:
    """Suppressed rows, mean loss, smallest class, and rows in classes of fewer than K."""
    names = table.quasi_identifiers
    whole = [row for row in released if any(row[name] != "*" for name in names)]
    lost = sum(statistics.fmean(losses[name][row[name]] for name in names) for row in whole) + source - len(whole)
    sizes = Counter(tuple(row[name] for name in names) for row in whole)
    small = sum(size for size in sizes.values() if size < K)
    return [f"{source - len(whole):,}", f"{lost / source:.4f}", f"{min(sizes.values())}", f"{small:,}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder of the CSV files")
    parser.add_argument("--others", type=Path, help="a folder of other programs' releases: PROGRAM/FILE.csv")
    parser.add_argument("--hierarchies", type=Path, help="write the hierarchies to TABLE/COLUMN.csv in this folder")
    parser.add_argument("--only", choices=list(TABLES), help="one of the tables")
    given = parser.parse_args()
    for name, table in TABLES.items():
        if given.only not in (None, name):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            release_and_compare(name, table, given, Path(scratch))


def release_and_compare(name: str, table: Table, given: argparse.Namespace, scratch: Path) -> None:
    source = (given.folder / table.file).absolute()
    draft, release = scratch / "draft.yml", scratch / "release.csv"
    roles = ["--quasi-identifiers", ",".join(table.quasi_identifiers), "--set", f"keep={','.join(table.keep)}"]
    run("init", source, *roles, "--k", str(K), "-o", draft)
    hierarchies = scratch / "hierarchies" if given.hierarchies is None else given.hierarchies / name
    for file in hierarchies.glob("*.csv"):
        file.unlink()  # of an earlier run
    run("hierarchy", draft, "-o", hierarchies)
    losses = spreads(hierarchies, table.quasi_identifiers)
    releases: dict[str, list[dict[str, str]]] = {}
    rows = rows_of(source)
    print(f"{name}: {len(rows):,} rows, {len(table.quasi_identifiers)} quasi-identifiers")
    print("  release                 seconds  processor  suppressed    loss  smallest  rows below k")
    for label, asked in RECODINGS.items():
        spec = scratch / "spec.yml"
        drafted = YAML(typ="safe").load(draft)
        spec.write_text(json.dumps({**drafted, "release": {"file": str(release)}, **asked}))
        _, clock, processor = run("anonymize", spec)
        run("check", spec)
        releases[label] = rows_of(release)
        show(label, [f"{clock:.1f}", f"{processor:.1f}"], measured(table, len(rows), releases[label], losses))
        release.unlink()
        Path(f"{release}.manifest.json").unlink()
    for folder in sorted(given.others.iterdir()) if given.others else ():
        if (file := folder / table.file).exists():
            releases[folder.name] = rows_of(file)
            show(folder.name, ["", ""], measured(table, len(rows), releases[folder.name], losses))
    print("  " + " | ".join(["analysis", "source", *releases]))
    for label, method, columns, others in table.analyses:
        answers = [
            getattr(Analyses(each, table.units), method)(*columns, **others) for each in (rows, *releases.values())
        ]
        print("  " + " | ".join([label, *answers]))
    print()


def show(label: str, seconds: Sequence[str], figures: Sequence[str]) -> None:
    widths = (7, 9, 10, 6, 8, 12)
    cells = [cell.rjust(width) for cell, width in zip([*seconds, *figures], widths, strict=True)]
    print(f"  {label:<22}  {'  '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
