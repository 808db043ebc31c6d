"""Measure the processor time of small work: whole processes that plan Adult, and what they are made of.

    python benchmarks/small.py                                # this checkout, medians of 9
    python benchmarks/small.py --beside ../other --repeat 15  # another checkout too, run by run in turns

Seconds are of processors, children and threads added up, since a busy machine disturbs these less than the clock;
only figures of one run compare. ``import`` is all that a plan imports, ``outside`` what other packages have in it.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from adult import ROOT, adult_directory, load, write_spec

MAIN = "from kanon_sql.cli import main; main()"
OUTSIDE = (
    "import os; os.environ['PYDANTIC_DISABLE_PLUGINS'] = '__all__'; import gc; gc.set_threshold(250_000); "
    "import duckdb, sqlglot.dialects.duckdb, jinja2, pydantic.fields, typer.main, rich.table, ruamel.yaml; "
    "from pydantic import BaseModel, TypeAdapter; "
)
CASES: dict[str, tuple[str, list[str]]] = {
    "python": ("pass", []),
    "outside": (OUTSIDE, []),
    "import": (OUTSIDE + "import kanon_sql.cli.verbs.plan, kanon_sql.verbs.plan, kanon_sql.report.text", []),
    "plan": (MAIN, ["plan", "optimal.yml", "-d", "adult.duckdb", "--compare-recoding", "none"]),
    "plan, and local recoding": (MAIN, ["plan", "optimal.yml", "-d", "adult.duckdb"]),
}


def run(checkout: Path, directory: Path, program: str, arguments: list[str]) -> float:
    """The processor seconds of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        capture_output=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adult", help="the directory with adult.csv and its hierarchies")
    parser.add_argument("--beside", type=Path, help="another checkout to run in turns with this one")
    parser.add_argument("--repeat", type=int, default=9, help="processes per case, after one that is not counted (9)")
    options = parser.parse_args()
    adult = adult_directory(options.adult)
    checkouts = [ROOT, *([] if options.beside is None else [options.beside.resolve()])]
    with tempfile.TemporaryDirectory() as made:
        directory = Path(made)
        load(directory / "adult.duckdb", adult, None)
        write_spec(directory, adult, "optimal")
        for name, (program, arguments) in CASES.items():
            seconds: dict[Path, list[float]] = {checkout: [] for checkout in checkouts}
            for turn in range(options.repeat + 1):
                for checkout in checkouts:
                    took = run(checkout, directory, program, arguments)
                    if turn:
                        seconds[checkout].append(took)
            shown = "  ".join(f"{statistics.median(own):.3f} (least {min(own):.3f})" for own in seconds.values())
            print(f"{name:<26}{shown}", flush=True)


if __name__ == "__main__":
    main()
