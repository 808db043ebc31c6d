"""The one thread that owns the connection: what pages ask is done in turn, with progress, and can be stopped.

A visit is a page a user opened. Each has frequency sets of its own, which are kept until it ends, or until the source
is to be read again. When the database goes away, they go with it, and the next question connects again.
"""

from __future__ import annotations

import queue
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from kanon_sql.engines import Deadline, Engine, Reporter
from kanon_sql.errors import DatabaseError, KanonError
from kanon_sql.evaluate import Budget
from kanon_sql.frequency import SetCache

__all__ = ["Job", "Metered", "Stopped", "Tools", "Work"]


class Stopped(KanonError):
    """What was asked was stopped before there was an answer."""


@dataclass
class Metered:
    """What the questions of a visit took together, and what they brought to this process."""

    statements: int = 0
    source_scans: int = 0
    rows_fetched: int = 0
    bytes_fetched: int = 0

    def add(self, cost: Any) -> None:
        """Add what one of them took."""
        for name in ("statements", "source_scans", "rows_fetched", "bytes_fetched"):
            setattr(self, name, getattr(self, name) + getattr(cost, name))


@dataclass(frozen=True)
class Tools:
    """What a question is answered with.

    Attributes:
        engine: the connection.
        kept: the visit's frequency sets.
        budget: ends a search early where a user stops it.
        report: told each stage in words.
    """

    engine: Engine
    kept: SetCache
    budget: Budget
    report: Reporter


@dataclass(eq=False)
class Job:
    """A question: who asked it, how far it is, and its answer.

    Attributes:
        visit: whose it is.
        call: answers it.
        answer: what comes out, or the error.
        stage: what is being done, in words; no value of the data.
        nodes: how many nodes were evaluated.
        started_at: when it began, by the clock of :func:`time.monotonic`; None while it waits.
        show: makes a part of the page out of the answer.
        number: by which the page asks for it.
        counted: its cost is in the visit's meter.
    """

    visit: str
    call: Callable[[Tools], Any]
    show: Callable[[Any], str] = str
    number: str = field(default_factory=lambda: secrets.token_urlsafe(6))
    counted: bool = False
    answer: Future[Any] = field(default_factory=Future)
    stage: str = "waiting for an earlier request"
    nodes: int | None = None
    started_at: float | None = None
    stopped: threading.Event = field(default_factory=threading.Event)
    searching: bool = False
    guard: threading.Lock = field(default_factory=threading.Lock)

    @property
    def seconds(self) -> float:
        """How long it has been worked on."""
        return 0.0 if self.started_at is None else time.monotonic() - self.started_at

    def progress(self, stage: str, nodes: int | None = None) -> None:
        """A reporter."""
        self.stage, self.nodes = stage, nodes

    @contextmanager
    def search(self) -> Iterator[None]:
        """Inside, to stop means to take the best so far: the running statement is cancelled, and nothing else."""
        self.searching = True
        try:
            yield
        finally:
            with self.guard:  # a cancel on its way must not hit the next statement
                self.searching = False


class Work:
    """Does what is asked, one thing at a time, in a thread that opens and closes the connection.

    Args:
        connect: opens it; called again after the database went away.
    """

    def __init__(self, connect: Callable[[], Engine]) -> None:
        self._connect = connect
        self._asked: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._engine: Engine | None = None
        self._open = ExitStack()
        self._kept: dict[str, SetCache] = {}
        self._current: Job | None = None
        self._thread = threading.Thread(target=self._run, name="kanon-sql-explore", daemon=True)
        self._thread.start()

    def ask(self, visit: str, call: Callable[[Tools], Any], show: Callable[[Any], str] = str) -> Job:
        """Put a question at the end of the line."""
        job = Job(visit, call, show)
        self._asked.put(job)
        return job

    def stop(self, job: Job) -> None:
        """End a search at the best node so far; anything else without an answer."""
        job.stopped.set()
        with job.guard:
            engine = self._engine
            if self._current is job and engine is not None and not job.answer.done():
                with suppress(Exception):
                    engine.cancel()

    def end(self, visit: str) -> None:
        """Drop what is kept for a visit, once what it asked before is done."""

        def drop(_: Tools) -> None:
            self._forget(visit)

        self._asked.put(Job("", drop))

    def close(self) -> None:
        """Stop what runs, drop what is kept, close the connection."""
        self._asked.put(None)
        for _ in range(50):
            if (current := self._current) is not None:
                self.stop(current)
            self._thread.join(0.2)
            if not self._thread.is_alive():
                return

    # --- In the thread ---

    def _run(self) -> None:
        while (job := self._asked.get()) is not None:
            self._current = job
            self._do(job)
            self._current = None
        self._disconnect()

    def _do(self, job: Job) -> None:
        job.started_at = time.monotonic()
        try:
            if job.stopped.is_set():
                raise Stopped("the request was stopped before it started")
            job.answer.set_result(job.call(self._tools(job)))
        except KeyboardInterrupt:  # what a driver makes of a cancelled statement
            job.answer.set_exception(Stopped("the query was stopped before it had an answer"))
        except BaseException as error:
            if isinstance(error, DatabaseError) and not self._is_there():
                self._disconnect()
            job.answer.set_exception(error)

    def _tools(self, job: Job) -> Tools:
        job.progress("opening the database")
        if self._engine is None:
            self._engine = self._open.enter_context(self._connect())
            self._open.enter_context(self._engine.run(Deadline(None)))
        if job.visit not in self._kept:
            self._kept[job.visit] = SetCache(self._engine, remembers=True)
        budget = Budget(interrupted=job.stopped.is_set, handling=job.search)
        return Tools(self._engine, self._kept[job.visit], budget, job.progress)

    def _is_there(self) -> bool:
        """Whether the database still answers."""
        if self._engine is None:
            return False
        try:
            self._engine.exists(("kanon_sql_manifest",))
        except (KanonError, KeyboardInterrupt):
            return False
        return True

    def _forget(self, visit: str) -> None:
        if self._engine is not None:
            self._engine.read_newest()
        kept = self._kept.pop(visit, None)
        if kept is not None:
            kept.__exit__(None, None, None)

    def _disconnect(self) -> None:
        """Close all; a database that is gone has dropped its temporary tables by itself."""
        for visit in list(self._kept):
            with suppress(Exception):
                self._forget(visit)
        self._kept.clear()
        with suppress(Exception):
            self._open.close()
        self._open, self._engine = ExitStack(), None
