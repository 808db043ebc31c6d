"""Time every model, recoding, search algorithm and verb on every engine, over rows of which nine tenths differ.

    python benchmarks/combinations.py --json found.json                   # 60,000 and 240,000 rows, all that runs here
    python benchmarks/combinations.py --json found.json --rows 2000 --engine duckdb --engine postgres
    python benchmarks/combinations.py --json found.json --only "verb: audit" --only "model: l"
    python benchmarks/combinations.py --json found.json --markdown benchmarks/combinations.md  # of what was found

Each combination has a connection of its own; what must be there before, such as a release to attack, is made without
being timed. A combination that takes longer than ``--timeout`` is interrupted as by Ctrl-C and written down as such;
one that is refused, with the reason. ``--json`` is written after each, and what it has is not run again: a run that is
stopped goes on where it was. The tables have, for each number of rows, the seconds of DuckDB, and what other engines
take as a multiple of it, by processors and by the clock (DuckDB uses all cores, PostgreSQL, SQLite and MariaDB one);
and how much longer each takes for the most rows than for the fewest. The tables, specs and verbs are those of
``tests/support/workloads.py``.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import signal
import statistics
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from adult import ROOT, machine

sys.path.insert(0, str(ROOT))

from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.testing import Subject
from tests.servers import SUBJECTS
from tests.servers.base import Missing
from tests.servers.postgres import PostgresSubject
from tests.support.workloads import COMBINATIONS, Verb, clear, load

ROWS = [60_000, 240_000]
AGAIN = 5.0
"""Seconds between two interrupts of a combination that goes on."""
MOST = {"duckdb": 1, "postgres": 4, "sqlite": 5, "clickhouse": 5, "mariadb": 8}
"""An engine may take so many times as long as DuckDB."""
GROWTH = 5.0
"""Four times the rows may take so many times as long."""

Found = dict[str, Any]


class Late(threading.Thread):
    """Interrupts the main thread after some seconds, and again until it is stopped."""

    def __init__(self, seconds: float) -> None:
        super().__init__(daemon=True)
        self._seconds, self._done = seconds, threading.Event()
        self.came = False

    def run(self) -> None:
        wait = self._seconds
        while not self._done.wait(wait):
            self.came, wait = True, AGAIN
            os.kill(os.getpid(), signal.SIGINT)

    def stop(self) -> None:
        self._done.set()
        self.join()


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[Late]:
    """Interrupt what is inside when its time is over."""
    late = Late(seconds)
    late.start()
    try:
        yield late
    finally:
        late.stop()


def timed(subject: Subject, verb: Verb, seconds: float) -> Found:
    """What a combination takes, or why there is no such figure."""
    late = None
    try:
        clear(subject)
        with limited(seconds) as late, subject.connect() as engine:
            verb.prepare(engine)
        if late.came:
            return {"timeout": seconds, "in": "preparation"}
        with limited(seconds) as late, subject.connect() as engine:
            started, used = time.perf_counter(), processors(subject)
            result = verb.run(engine)
            took, worked = time.perf_counter() - started, processors(subject) - used
        if late.came:
            return {"timeout": seconds}
        return {"seconds": round(took, 3), "processor": round(worked, 2), "verdict": verdict_of(result)}
    except (SpecError, UnsupportedError) as error:
        return {"refused": str(error).splitlines()[0]}
    except KeyboardInterrupt:
        if late is None or not late.came:
            raise
        return {"timeout": seconds}
    except Exception as error:
        return {"timeout": seconds} if late is not None and late.came else {"error": f"{type(error).__name__}: {error}"}


def processors(subject: Subject) -> float:
    """Seconds of processors that this process and the servers of its engine have used until now."""
    below: dict[int, list[int]] = {}
    used: dict[int, int] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            fields = file.read_text().rpartition(")")[2].split()
            below.setdefault(int(fields[1]), []).append(int(file.parent.name))
            used[int(file.parent.name)] = sum(map(int, fields[11:15]))  # its own, and of children that have ended
    left = [os.getpid()]
    if isinstance(subject, PostgresSubject):  # its server has left the tree of its parent
        left.append(int(Path(subject.folder, "postmaster.pid").read_text().split()[0]))
    ticks = 0
    while left:
        process = left.pop()
        ticks += used[process]
        left += below.get(process, [])
    return ticks / os.sysconf("SC_CLK_TCK")


def verdict_of(result: Any) -> str | None:
    return getattr(result, "verdict", None)


def measure(options: argparse.Namespace, found: dict[str, Any]) -> None:
    """Run what is not in the file yet."""
    names = [name for name in COMBINATIONS if not options.only or name in options.only]
    for rows in sorted(options.rows):
        for engine in options.engine or SUBJECTS:
            of = found["engines"].setdefault(engine, {}).setdefault(str(rows), {})
            left = [name for name in names if name not in of]
            if not left:
                continue
            try:
                run_all(engine, rows, left, of, options, found)
            except Missing as missing:
                print(f"{engine:<12}{missing}")


def run_all(
    engine: str, rows: int, names: list[str], of: dict[str, Found], options: argparse.Namespace, found: dict[str, Any]
) -> None:
    """Run combinations on a database, and on a new one after each that was cut off: it may hold locks."""
    subject = None
    try:
        for name in names:
            if subject is None:
                subject = SUBJECTS[engine]()
                load(subject, rows)
            of[name] = timed(subject, COMBINATIONS[name], options.timeout)
            print(f"{engine:<12}{rows:>9,}  {name:<34} {said(of[name])}", flush=True)
            options.json.write_text(json.dumps(found, indent=2) + "\n")
            if not of[name].keys() & {"seconds", "refused"}:
                subject.close()
                subject = None
    finally:
        if subject is not None:
            subject.close()


def said(cell: Found) -> str:
    if "seconds" in cell:
        return f"{cell['seconds']:.2f} s"
    return "; ".join(f"{what}: {why}" for what, why in cell.items())


def page_of(found: dict[str, Any]) -> Iterator[str]:
    """Markdown: what each engine is beside DuckDB, a row for each combination, and why some have no figure."""
    engines = [name for name in SUBJECTS if found["engines"].get(name)]
    sizes = sorted({int(rows) for engine in engines for rows in found["engines"][engine]})
    for rows in sizes:
        those = [name for name in engines if found["engines"][name].get(str(rows))]
        figures = {name: found["engines"][name][str(rows)] for name in those}
        yield from ("", f"**{rows:,} rows**", "")
        yield from summary(figures)
        yield from ("", *table_of(figures))
    few, many = str(sizes[0]), str(sizes[-1])
    if few != many:
        yield from ("", *growth_of({name: found["engines"][name] for name in engines}, few, many))


def times(cell: Found | None, base: Found | None) -> tuple[float, float] | None:
    """How many times DuckDB's seconds of processors, and seconds by the clock, it takes."""
    if cell is None or base is None or not cell.keys() & base.keys() & {"seconds"}:
        return None
    return cell["processor"] / max(base["processor"], 0.01), cell["seconds"] / base["seconds"]


def summary(figures: Mapping[str, Mapping[str, Found]]) -> Iterator[str]:
    """The median of each engine, and how many combinations are within what it may take."""
    yield "| engine | may take, times DuckDB | median, of processors (clock) | within, of processors (clock) |"
    yield "|---|---|---|---|"
    for engine, cells in figures.items():
        ratios = [found for name in cells if (found := times(cells[name], figures.get("duckdb", {}).get(name)))]
        if engine == "duckdb" or not ratios:
            continue
        most = MOST.get(engine, math.inf)
        medians = [statistics.median(each) for each in zip(*ratios, strict=True)]
        within = [sum(ratio <= most for ratio in each) for each in zip(*ratios, strict=True)]
        yield (
            f"| {engine} | {most} | {medians[0]:.1f} ({medians[1]:.1f}) | {within[0]} ({within[1]}) of {len(ratios)} |"
        )


def table_of(figures: Mapping[str, Mapping[str, Found]]) -> Iterator[str]:
    """A row for each combination, and below it why some have no figure."""
    others = [name for name in figures if name != "duckdb"]
    yield "| combination | DuckDB, seconds | " + " | ".join(f"{name}, times" for name in others) + " |"
    yield "|" + "---|" * (2 + len(others))
    reasons: dict[str, list[str]] = {}
    for name in COMBINATIONS:
        cells = {engine: of.get(name) for engine, of in figures.items()}
        if not any(cells.values()):
            continue
        base = cells.get("duckdb")
        shown = [f"{base['processor']:.1f} ({base['seconds']:.1f})" if base and "seconds" in base else without(base)]
        for engine in others:
            cell = cells[engine]
            ratio = times(cell, base)
            shown.append(without(cell) if ratio is None else in_bold(ratio, MOST.get(engine, math.inf)))
        for engine, cell in cells.items():
            if cell is not None and ("refused" in cell or "error" in cell):
                reasons.setdefault(cell.get("refused") or cell["error"], []).append(f"{name} ({engine})")
        yield f"| {name} | " + " | ".join(shown) + " |"
    yield ""
    for reason, those in reasons.items():
        yield f"- {', '.join(those)}: {reason}"


def in_bold(ratio: tuple[float, float], most: float) -> str:
    """Figures of processors and, in parentheses, of the clock, in bold where the first is beyond what it may be."""
    text = f"{ratio[0]:.1f} ({ratio[1]:.1f})"
    return f"**{text}**" if ratio[0] > most else text


def without(cell: Found | None) -> str:
    """What stands where there is no figure."""
    if cell is None:
        return ""
    if "seconds" in cell:
        return f"{cell['processor']:.1f} s ({cell['seconds']:.1f} s)"
    return f"over {cell['timeout']:g} s" if "timeout" in cell else "refused" if "refused" in cell else "error"


def growth_of(engines: Mapping[str, Mapping[str, Mapping[str, Found]]], few: str, many: str) -> Iterator[str]:
    """How much longer each engine takes at the most rows than at the fewest."""
    yield f"| engine | {int(many):,} rows beside {int(few):,}: median, of processors (clock) | beyond {GROWTH:g} |"
    yield "|---|---|---|"
    for engine, sizes in engines.items():
        pairs = {name: times(cell, sizes.get(few, {}).get(name)) for name, cell in sizes.get(many, {}).items()}
        grown = {name: ratio for name, ratio in pairs.items() if ratio}
        if grown:
            medians = [statistics.median(each) for each in zip(*grown.values(), strict=True)]
            beyond = [f"{name} {ratio[0]:.1f}" for name, ratio in grown.items() if ratio[0] > GROWTH]
            yield f"| {engine} | {medians[0]:.1f} ({medians[1]:.1f}) | {', '.join(beyond)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, required=True, help="the figures, which a later run goes on from")
    parser.add_argument("--rows", type=int, action="append", help="may be repeated; 60000 and 240000 by default")
    parser.add_argument("--engine", action="append", choices=list(SUBJECTS), help="may be repeated; all by default")
    parser.add_argument(
        "--only", action="append", choices=list(COMBINATIONS), metavar="COMBINATION", help="may be repeated"
    )
    parser.add_argument("--timeout", type=float, default=900, help="seconds for each combination")
    parser.add_argument("--markdown", type=Path, help="write the tables of what --json has to this file; run nothing")
    options = parser.parse_args()
    options.rows = options.rows or ROWS
    os.environ.setdefault("KANON_TESTED", "a key for benchmarks alone")
    found = json.loads(options.json.read_text()) if options.json.exists() else {"machine": machine(), "engines": {}}
    if options.markdown is None:
        measure(options, found)
    page = "\n".join(page_of(found)).strip()
    print(page)
    if options.markdown is not None:
        options.markdown.write_text(page + "\n")


if __name__ == "__main__":
    main()
