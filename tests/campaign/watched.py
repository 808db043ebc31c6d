"""Kills at random moments, with a reader that polls the release's name all the while.

Three specs take turns on one table. Two of them publish, each what plain Python says; the third one's verification
fails, so that nobody may ever see what it writes. Each run is a process of its own. Some time after its start it gets
SIGKILL, or its session is ended by the server; after every fourth, one is left alone, and must publish. At every look
the reader must find one of the two releases, whole: never nothing, never the third.

With ``--several``, three tables are published together, and read by one statement: they must be those of one release.
On ClickHouse, where some may be missing for a moment, it is the marks of all that are read, and must be of one run.

DuckDB and chDB are open in one process at a time: there the reader is a thread of the process that is killed, and looks
once more when the next process opens the database. In Spark, whose tables here do not outlive its process, running
statements are cancelled instead.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.errors import KanonError, VerificationError
from kanon_sql.release import write
from kanon_sql.testing import as_text
from kanon_sql.verbs.clean import clean
from tests.campaign import several
from tests.campaign.cases import CASES, RELEASE, SCHEMAS, levels, people, spec_of
from tests.campaign.kills import AT_WORK, PUBLISHED, RAW, REFUSED, Child, void
from tests.campaign.places import (
    COLUMNS,
    SOURCE,
    DuckDBPlace,
    MariaDBPlace,
    Place,
    PostgresPlace,
    Rows,
    SessionPlace,
    SparkPlace,
    SQLitePlace,
)  # fmt: skip
from tests.servers import SUBJECTS

__all__ = ["MAY_BE_READ", "WATCHES", "Tally", "Watch", "wrong_in"]

_NODES = {"first": (0, 2), "second": (1, 1), "failing": (0, 1)}
SPECS = {name: spec_of(**levels(*node)) for name, node in _NODES.items()}
MAY_BE_READ: dict[str, Rows | None] = {name: CASES["first"].at(_NODES[name]) for name in ("first", "second")}
_READ = f"SELECT sex, age, dx FROM {RELEASE}"
WHY = "refused: "
"""Stands before what a run said that did not publish; of one that was struck, it is what it must say."""

CLEANED = 25
"""After so many kills, what they left is dropped: the file system of these databases is small."""

ALONE = 4
"""After so many kills, a run is left alone."""

PAUSE = 0.001
"""Seconds between two looks."""

_BUSY = ("locked", "busy")
"""What SQLite says while another process writes: no answer at all."""


def wrong_in(
    fetch: Callable[[str], Any], read: str = _READ, may_be: Callable[[Rows], bool] | None = None
) -> str | None:
    """What is wrong with what a reader gets at this moment.

    Args:
        fetch: reads.
        read: what it reads.
        may_be: whether that may be; whether it is one of the two releases, by default.
    """
    try:
        rows: Rows = Counter(tuple(map(as_text, row)) for row in fetch(read))
    except Exception as error:
        if any(word in str(error) for word in _BUSY):
            return None
        return f"nothing is there to read: {type(error).__name__}: {str(error)[:150]}"
    if may_be(rows) if may_be is not None else rows in MAY_BE_READ.values():
        return None
    return f"{rows.total()} rows that were not published: {list(rows)[:2]}"


@dataclass(frozen=True)
class OneTable:
    """What is published while the reader looks: one table, by three specs."""

    def fill(self, table: Callable[[str, Any, Any], Any]) -> None:
        """Make the source."""
        table(SOURCE, COLUMNS, people())

    def wrong_in(self, fetch: Callable[[str], Any]) -> str | None:
        """What is wrong with what a reader gets at this moment."""
        return wrong_in(fetch)

    def publish(self, engine: Engine, name: str, tell: Callable[[str], None] = void) -> int:
        """One run."""
        return publish(engine, name, tell)

    def render(self) -> None:
        """What is rendered once, the processes that are forked need not."""
        for spec in SPECS.values():
            kanon_sql.render(spec, "clickhouse")


@dataclass(frozen=True)
class ThreeTables(OneTable):
    """Three tables that are ready, published together.

    Attributes:
        place: the engine.
    """

    place: str

    def fill(self, table: Callable[[str, Any, Any], Any]) -> None:
        for name, rows in several.sources().items():
            table(several.SOURCES[name], several.COLUMNS[name], rows)
        for name, columns, rows in several.ready(_SEVERAL.values()):
            table(name, columns, rows)

    def wrong_in(self, fetch: Callable[[str], Any]) -> str | None:
        if self.place != "clickhouse":
            return wrong_in(fetch, _READ_SEVERAL, _of_one_release)
        return wrong_in(fetch, _READ_MARKS, _of_one_run)

    def publish(self, engine: Engine, name: str, tell: Callable[[str], None] = void) -> int:
        if name == "clean":
            clean(engine, drop=True)
            return PUBLISHED
        node = _SEVERAL[name]
        try:
            several.publish_ready(engine, several.written(node, SCHEMAS[self.place]), node, fails=name == "failing")
            return PUBLISHED
        except KanonError as error:
            if name != "failing":
                tell(f"{WHY}{error}")
            return REFUSED

    def render(self) -> None:
        """Nothing is to be rendered for it."""


_SEVERAL: dict[str, several.SeveralNode] = {"first": (0, 1, 0), "second": (1, 0, 1), "failing": (0, 0, 2)}
_READ_SEVERAL = (
    "SELECT 'persons', id, 0, sex, pno FROM persons UNION ALL SELECT 'stays', sid, id, ward, sno FROM stays "
    "UNION ALL SELECT 'drugs', sid, 0, drug, dno FROM drugs"
)
_READ_MARKS = "SELECT name, comment FROM system.tables WHERE name IN ('persons', 'stays', 'drugs')"


def _of_one_run(rows: Rows) -> bool:
    """Whether the marks of the tables that stand are those of one run; after its id is the table's number."""
    return len({str(mark).partition(" run ")[2].split(" ")[0] for _, mark in rows}) < 2


def _of_one_release(rows: Rows) -> bool:
    """Whether three tables, read at once, are those of one of the two releases."""
    tables: dict[str, Rows] = {name: Counter() for name in several.COLUMNS}
    for (name, key, above, label, kept), count in rows.items():
        tables[str(name)][(key, above, label, kept) if name == "stays" else (key, label, kept)] += count
    joined = several.Standing(tables).joined()
    return joined in (several.expected(_SEVERAL["first"]), several.expected(_SEVERAL["second"]))


def publish(engine: Engine, name: str, tell: Callable[[str], None] = void) -> int:
    """One run. The third spec's verification fails. Why a run that was to publish did not is told."""
    verify = write._verify

    def fails(*given: Any, **named: Any) -> Any:
        verify(*given, **named)
        raise VerificationError("verification: this one fails")

    if name == "clean":
        clean(engine, drop=True)
        return PUBLISHED
    if name == "failing":
        write._verify = fails
    try:
        return PUBLISHED if kanon_sql.anonymize(engine, SPECS[name]).passed else REFUSED
    except KeyboardInterrupt:  # what a run says that was cancelled
        return REFUSED
    except KanonError as error:
        if name != "failing":
            tell(f"{WHY}{error}")
        return REFUSED
    finally:
        write._verify = verify


@dataclass
class Tally:
    """What came of it.

    Attributes:
        kills: runs that were cut off.
        ended: those that came to their end before.
        looks: how often the reader looked.
        broken: promises that were, with the number of the kill.
    """

    kills: int = 0
    ended: int = 0
    looks: int = 0
    broken: list[str] = field(default_factory=list)


class Watch:
    """A database that outlives the processes which publish there, and a reader in this one."""

    strikes: ClassVar[tuple[str, ...]] = ("SIGKILL",)

    def __init__(self, place: Place, seed: int, together: bool = False) -> None:
        self.place, self.random, self.tally = place, Random(seed), Tally()
        self.what = ThreeTables(place.name) if together else OneTable()
        self._turn = 0
        self._took = 0.0

    def run(self, kills: int, seconds: float = inf) -> Tally:
        """So many kills, or as many as there is time for."""
        self._prepare()
        end = time.monotonic() + seconds
        self._undisturbed("second")
        usual = self._took
        while self.tally.kills < kills and len(self.tally.broken) < 5 and (time.monotonic() < end or not self._turn):
            self._kill(self.random.choice(sorted(SPECS)), self.random.uniform(0, 1.05 * usual))
            self._turn += 1
            if self._turn % ALONE == 0:
                self._undisturbed(("first", "second")[self._turn // ALONE % 2])
                usual = 0.8 * usual + 0.2 * self._took  # others use this machine too
            if self._turn % CLEANED == 0:
                self._process("clean", None)
                print(f"{self.tally.kills} kills", file=sys.stderr, flush=True)
        return self.tally

    def _prepare(self) -> None:
        """Also render every template once: the processes that are forked then need not."""
        self.what.fill(self.place._subject_like().table)
        with self.place.connect() as engine:
            for name in SPECS:
                self.what.publish(engine, name)
        self.place.detach()
        code, _ = self._process("first", None)
        assert code == PUBLISHED, code

    def _kill(self, name: str, wait: float) -> None:
        code, problem = self._process(name, wait)
        if code == -signal.SIGKILL or (code == REFUSED and name != "failing"):
            self.tally.kills += 1
        else:
            self.tally.ended += 1
        if problem or code == RAW:
            self._broken(f"{name}, after {wait:.3f} s: {problem or 'a raw error'}")
        self.place.settle()

    def _undisturbed(self, name: str) -> None:
        code, problem = self._process(name, None)
        if code != PUBLISHED or problem:
            self._broken(f"the next run, {name}: exit code {code} {problem or ''}")

    def _broken(self, what: str) -> None:
        self.tally.broken.append(f"kill {self.tally.kills}: {what}")

    def _process(self, name: str, wait: float | None) -> tuple[int, str | None]:
        """A run in a process of its own, watched. Returns how it ended, and what was wrong with what was read."""
        strike = self.random.choice(self.strikes)
        child = Child(self.place, lambda tell: self._work(name, tell))
        began, at, problem = None, inf, None
        while (code := child.ended()) is None:
            problem = problem or self._look()
            if began is None and child.is_at_work():
                began = time.monotonic()
                at = began + (inf if wait is None else wait)
            if time.monotonic() >= at:
                at = inf
                self._strike(strike, child)
        self._took = time.monotonic() - (began or time.monotonic())
        said, _, why = child.said().partition(WHY)
        problem = problem or self._look() or (said if said and not said.isdigit() else None)
        if wait is None and why:
            problem = f"{problem or ''} {why}".strip()
        self.tally.looks += int(said) if said.isdigit() else 0
        return code, problem

    def _strike(self, strike: str, child: Child) -> None:
        if strike == "SIGKILL":
            child.signal(signal.SIGKILL)
            return
        assert isinstance(self.place, SessionPlace)
        for session in self.place.others():
            self.place.end(session)

    def _work(self, name: str, tell: Callable[[str], None]) -> int:
        try:
            with self.place.connect() as engine:
                tell(AT_WORK)
                return self.what.publish(engine, name, tell)
        except KanonError:  # the session was ended while it was closed
            return REFUSED

    def _look(self) -> str | None:
        time.sleep(PAUSE)
        self.tally.looks += 1
        return self.what.wrong_in(self.place.fetch)

    def close(self) -> None:
        """Stop what was started."""
        self.place.close()


class Sessions(Watch):
    """A server that can end a session, too."""

    strikes = ("SIGKILL", "session ended")


class Embedded(Watch):
    """A database that is open in one process: the reader is a thread of it, and tells what is wrong before it dies."""

    def _look(self) -> str | None:
        time.sleep(PAUSE)
        return None

    def _work(self, name: str, tell: Callable[[str], None]) -> int:
        with self.place.connect() as engine, self._reader(engine) as fetch:
            tell(AT_WORK)
            if self.tally.looks and (wrong := self.what.wrong_in(fetch)):
                tell(f"when it was opened: {wrong}")
                return RAW
            with watching(self.what, fetch, tell, whole=bool(self.tally.looks)) as looks:
                code = self.what.publish(engine, name, tell)
            tell(str(looks[0] + 1))
            return code

    @contextmanager
    def _reader(self, engine: Any) -> Iterator[Callable[[str], Any]]:
        cursor = engine._connection.cursor()
        yield lambda sql: cursor.execute(sql).fetchall()
        cursor.close()


@contextmanager
def watching(
    what: OneTable, fetch: Callable[[str], Any], tell: Callable[[str], None], *, whole: bool
) -> Iterator[list[int]]:
    """A thread that looks all the while, and tells the first thing that is wrong.

    Args:
        what: is published.
        fetch: reads.
        tell: is told.
        whole: something is there from the beginning.
    """
    looks, over = [0], threading.Event()

    def look() -> None:
        while not over.is_set():
            wrong = what.wrong_in(fetch) if whole else None
            looks[0] += 1
            if wrong is not None:
                tell(wrong)
                return
            time.sleep(PAUSE)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield looks
    finally:
        over.set()
        thread.join()


class ChDBPlace(Place):
    """chDB's files. This process never opens them: what has, must not fork."""

    name = "clickhouse"

    def __init__(self) -> None:
        self.dialect = SUBJECTS["clickhouse"].dialect
        self.directory = Path(tempfile.mkdtemp(prefix="kanon_watched_"))

    def connect(self, **options: Any) -> Engine:
        return kanon_sql.connect(f"chdb://{self.directory / 'db'}", **options)

    def close(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)

    def _refused(self, *_: Any) -> Any:
        raise AssertionError("chDB is opened by the processes that are killed")

    fetch = execute = keep = restore = _tables = _subject_like = _refused  # type: ignore[assignment]


class ClickHouse(Embedded):
    """chDB, opened by the processes that are killed alone."""

    def _prepare(self) -> None:
        def fill(_: Callable[[str], None]) -> int:
            import clickhouse_connect

            subject = object.__new__(SUBJECTS["clickhouse"])
            subject.client = clickhouse_connect.get_client(  # type: ignore[attr-defined]
                interface="chdb",
                path=str(self.place.directory / "db"),  # type: ignore[attr-defined]
            )
            self.what.fill(subject.table)
            return PUBLISHED

        self.what.render()
        child = Child(self.place, fill)
        assert child.end() == PUBLISHED
        code, _ = self._process("first", None)
        assert code == PUBLISHED, code

    @contextmanager
    def _reader(self, engine: Any) -> Iterator[Callable[[str], Any]]:
        import clickhouse_connect

        client = clickhouse_connect.get_client(
            interface="chdb",
            path=str(self.place.directory / "db"),  # type: ignore[attr-defined]
        )
        yield lambda sql: client.query(sql).result_rows
        client.close()


class Spark(Watch):
    """Statements are cancelled at random moments. While one release takes another's place, there may be none."""

    def _prepare(self) -> None:
        self.what.fill(self.place._subject_like().table)
        with self.place.connect() as engine:
            assert self.what.publish(engine, "first") == PUBLISHED

    def _process(self, name: str, wait: float | None) -> tuple[int, str | None]:
        found: list[str] = []
        began = time.monotonic()
        with self.place.connect() as engine:
            gaps = not engine.capabilities.atomic_replace
            over = threading.Event()

            def strike() -> None:
                if wait is not None and not over.wait(wait):
                    with suppress(Exception):
                        engine.cancel()

            def tell(wrong: str) -> None:
                if not (gaps and "nothing is there" in wrong):
                    found.append(wrong)

            thread = threading.Thread(target=strike)
            thread.start()
            try:
                with watching(self.what, self.place.fetch, tell, whole=True) as looks:
                    code = self.what.publish(engine, name)
            except Exception as error:
                code, found = RAW, [*found, f"raw {type(error).__name__}"]
            finally:
                over.set()
                thread.join()
            self.tally.looks += looks[0]
        self._took = time.monotonic() - began
        return code, found[0] if found else self._look() if wait is None else None


WATCHES: dict[str, Callable[..., Watch]] = {
    "duckdb": lambda seed, together=False: Embedded(DuckDBPlace(), seed, together),
    "sqlite": lambda seed, together=False: Watch(SQLitePlace(), seed, together),
    "postgres": lambda seed, together=False: Sessions(PostgresPlace(), seed, together),
    "mariadb": lambda seed, together=False: Sessions(MariaDBPlace(), seed, together),
    "clickhouse": lambda seed, together=False: ClickHouse(ChDBPlace(), seed, together),
    "spark": lambda seed, together=False: Spark(SparkPlace(), seed, together),
}


def main(arguments: Sequence[str]) -> int:
    """Kill on one engine, and print what came of it. Returns 1 when a promise was broken, or nothing was killed."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign.watched", description=__doc__)
    parser.add_argument("engine", choices=sorted(WATCHES))
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=inf, help="begin no further run after so long")
    parser.add_argument("--several", action="store_true", help="publish three tables together; not on Spark")
    given = parser.parse_args(arguments)
    watch = WATCHES[given.engine](given.seed, given.several)
    try:
        tally = watch.run(given.kills, given.seconds)
    finally:
        watch.close()
    what = f"{given.engine}, three tables" if given.several else given.engine
    print(f"{what}, seed {given.seed}: {tally.kills} kills, {tally.ended} not killed, {tally.looks} looks")
    for text in tally.broken:
        print(f"BROKEN {text}")
    return 1 if tally.broken or not (tally.kills or tally.ended) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
