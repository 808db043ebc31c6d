"""Time what the page of ``explore`` answers after each move of a control, over HTTP as a browser would.

    python benchmarks/explore.py                                  # the Adult extract in DuckDB
    python benchmarks/explore.py --rows 1000000
    python benchmarks/explore.py --engine postgres                # a private server, from pgserver
    python benchmarks/explore.py --moves 20 --json moves.json

A move changes one thing: k, the limit, a weight or a level limit. The time is from sending the form to the whole
answer (verdict, figures, levels, warnings); what is counted and explained after it is timed apart. The source is read
once, for the first answer, and a move that reads it again stops the run. Medians are over all moves, and over those of
each kind. Processor time, over all threads of this process, is shown beside: it is what remains comparable where a
machine does much else; a server's is not in it.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from adult import QUASI_IDENTIFIERS, THREADS, adult_directory, load, machine, specification, write_csv

import kanon_sql
from tests.support.explorers import Somebody, explored

KINDS = ("k", "limit", "weight", "level")


def moves(count: int) -> list[tuple[str, dict[str, str]]]:
    """So many of each kind, in turn; every one is new, as if somebody dragged on."""
    made = []
    ks = [14, 5, 20, 3, 15, 7, 50, 12, 4, 30, 8, 25, 6, 40, 9, 35, 11, 45, 13, 18]
    for number in range(count):
        made.append(("k", {"privacy.0.k": str(ks[number % len(ks)] + 50 * (number // len(ks)))}))
        made.append(("limit", {"limit": f"{1 + number * 7 % 9 + number / 100:.2f}"}))
        column = number % len(QUASI_IDENTIFIERS)
        made.append(("weight", {f"weight.{column}": str(1 + number % 4)}))
        made.append(("level", {f"lowest.{column}": "1" if number % 2 == 0 else "0"}))
    return made


Took = tuple[float, float]
"""Seconds by the clock, and of the processors."""


def timed(somebody: Somebody, what: str, fields: dict[str, str] | None) -> tuple[Took, str]:
    """What it takes until the whole answer is there."""
    started, worked = time.perf_counter(), time.process_time()
    answer = somebody.ask(what, fields)
    took = time.perf_counter() - started, time.process_time() - worked
    if answer.status != 200:
        raise SystemExit(f"{what} {fields}: {answer.text}")
    return took, answer.text


def median(times: list[Took]) -> Took:
    """Of each kind of seconds by itself."""
    return statistics.median(clock for clock, _ in times), statistics.median(work for _, work in times)


def walk(somebody: Somebody, count: int) -> dict[str, Took]:
    """The first answer, and what moves take after it."""
    somebody.enter()
    first, text = timed(somebody, "ask", {})
    seconds: dict[str, list[Took]] = defaultdict(list)
    more = [timed(somebody, "more", None)[0]]
    for number, (kind, fields) in enumerate(moves(count)):
        took, text = timed(somebody, "ask", fields)
        if "no read of the source" not in re.sub(r"<[^>]*>", "", text):
            raise SystemExit(f"{fields} read the source again")
        seconds[kind].append(took)
        if number % 5 == 0:
            more.append(timed(somebody, "more", None)[0])
    every = [took for own in seconds.values() for took in own]
    return {
        "first": first,
        "median": median(every),
        "slowest": max(every),
        **{kind: median(own) for kind, own in seconds.items()},
        "all the rest": median(more),
    }


@contextmanager
def postgres(csv: Path) -> Iterator[str]:
    """A private server with the table."""
    from tests.servers import subject_of
    from tests.servers.base import UrlSubject

    with subject_of("postgres") as subject:
        assert isinstance(subject, UrlSubject)
        import psycopg

        columns = ", ".join(f'"{name}" TEXT' for name in QUASI_IDENTIFIERS)
        with psycopg.connect(subject.url.replace("postgresql+psycopg", "postgresql"), autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS adult")
            connection.execute(f"CREATE TABLE adult ({columns})")
            with connection.cursor().copy("COPY adult FROM STDIN (FORMAT csv, HEADER)") as copy:
                copy.write(csv.read_bytes())
        yield subject.url


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--adult", help="the directory of the Adult extract")
    parser.add_argument("--rows", type=int, help="resample so many rows from it")
    parser.add_argument("--engine", choices=["duckdb", "postgres"], default="duckdb")
    parser.add_argument("--moves", type=int, default=10, help="of each kind")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    asked = parser.parse_args()
    adult = adult_directory(asked.adult)
    spec = kanon_sql.Spec.from_dict(specification(adult, "optimal"))
    with tempfile.TemporaryDirectory() as directory:
        if asked.engine == "duckdb":
            load(Path(directory) / "adult.duckdb", adult, asked.rows)
            connect = partial(kanon_sql.connect, f"{directory}/adult.duckdb", read_only=True, threads=THREADS)
            with explored(connect, spec) as somebody:
                found = walk(somebody, asked.moves)
        else:
            write_csv(Path(directory) / "adult.csv", adult, asked.rows)
            with postgres(Path(directory) / "adult.csv") as url, explored(partial(kanon_sql.connect, url), spec) as one:
                found = walk(one, asked.moves)
    print(
        f"{asked.engine}, {asked.rows or 'the extract'}: {4 * asked.moves} moves; milliseconds, and of the processors:"
    )
    for name, (clock, work) in found.items():
        print(f"  {name:14}{1000 * clock:8.0f}{1000 * work:8.0f}")
    if asked.json is not None:
        asked.json.write_text(json.dumps({"machine": machine(), **found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
