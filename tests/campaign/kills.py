"""Kinds of faults that end a process, or a server: what is left is what the disk and the server kept."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import ClassVar

from kanon_sql.engines import Engine, Meter
from kanon_sql.errors import KanonError
from kanon_sql.sql import Statement
from tests.campaign.cases import Case
from tests.campaign.faults import END_SECONDS, INSIDE_SECONDS, Cancelled, Kind, Struck, Target
from tests.campaign.places import MariaDBPlace, Place, PostgresPlace, SessionPlace
from tests.campaign.wire import Point, Wire

PUBLISHED, REFUSED, RAW, NO_MEMORY = 0, 3, 70, 71
AT_WORK = "@"
"""What a process tells when it is connected, before its run begins."""


class Child:
    """A forked process that runs one thing, tells when it comes to its target, and ends without cleaning up.

    Args:
        place: whose files are let go of first.
        work: what it runs, given a function to call at the target; its answer is the exit code.
    """

    def __init__(self, place: Place, work: Callable[[Callable[[str], None]], int]) -> None:
        place.detach()
        sys.stdout.flush()
        sys.stderr.flush()
        self._read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._read)
            self._run(work, write)
        os.close(write)

    @staticmethod
    def _run(work: Callable[[Callable[[str], None]], int], write: int) -> None:
        code = RAW
        try:
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            code = work(lambda where: void(os.write(write, where.encode())))
        finally:
            os._exit(code)

    def reached(self) -> str | None:
        """Wait for the target: what the child said there, or None when it ended before."""
        said = os.read(self._read, 500) if self._has_said(END_SECONDS) else b""
        return said.decode() or None

    def signal(self, number: int) -> None:
        """Send a signal; the process may have ended."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def ended(self) -> int | None:
        """The exit code, below zero for a signal; None while it runs."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if pid else None

    def is_at_work(self) -> bool:
        """Whether it has said so by now."""
        return self._has_said(0) and os.read(self._read, 1).decode() == AT_WORK

    def _has_said(self, seconds: float) -> bool:
        """Whether there is something to read in this time: by poll, as select knows no descriptor above 1,023."""
        waiting = select.poll()
        waiting.register(self._read, select.POLLIN)
        return bool(waiting.poll(1000 * seconds))

    def said(self) -> str:
        """What else it told until it ended."""
        with open(self._read, "rb") as told:
            return told.read().decode().removeprefix(AT_WORK)

    def end(self) -> int | None:
        """Wait for the end. Returns the exit code, below zero for a signal; None when it hung and was killed."""
        os.close(self._read)
        deadline = time.monotonic() + END_SECONDS
        while True:
            if (code := self.ended()) is not None:
                return code
            if time.monotonic() > deadline:
                self.signal(signal.SIGKILL)
                os.waitpid(self.pid, 0)
                return None
            time.sleep(0.001)


def void(_: object) -> None:
    """Drop an answer."""


def in_child(place: Place, case: Case, at: Callable[[Engine, Point], None]) -> int:
    """A run in a process of its own, as :class:`Child` wants it."""
    try:
        with place.connect(**case.options(place)) as engine:
            Wire(engine, lambda point: at(engine, point))
            return PUBLISHED if case.publish(engine, place).passed else REFUSED
    except KanonError:
        return REFUSED
    except MemoryError:
        return NO_MEMORY


class Killed(Kind):
    """The process gets SIGKILL: between two statements, or inside one."""

    name = "SIGKILL"
    after = True
    number: ClassVar[int] = signal.SIGKILL

    def fits(self, place: Place) -> bool:
        return place.processes

    def strike(self, place: Place, case: Case, target: Target, random: Random) -> Struck:
        inside = self.inside(target, random)
        wait = random.random() * INSIDE_SECONDS
        struck = Struck(str(target), False)
        child = Child(place, lambda tell: self.work(place, case, target, inside, tell))
        said = child.reached()
        if said is not None:
            struck.where, struck.happened = f"{'inside' if inside else ''} {said}".strip(), True
            if inside:
                time.sleep(wait)
                child.signal(self.number)
        self.code = code = child.end()
        if code is None:
            struck.problem = "the process hung"
        elif code == RAW:
            struck.problem = "a raw error ended the process"
        struck.happened = struck.happened and (code != PUBLISHED or not inside)
        place.settle()
        return struck

    def inside(self, target: Target, random: Random) -> bool:
        """Whether it strikes while the statement runs."""
        return not target.after and random.random() < 0.7

    def work(self, place: Place, case: Case, target: Target, inside: bool, tell: Callable[[str], None]) -> int:
        """What the child does."""

        def at(engine: Engine, point: Point) -> None:
            if target.hit(point):
                tell(str(point))
                if not inside:
                    os.kill(os.getpid(), self.number)

        return in_child(place, case, at)


class Asked(Killed):
    """The command line gets SIGTERM: between two statements, or inside one."""

    name = "SIGTERM"
    after = False
    not_for = ("large", "joint", "ready first", "ready", "ready more")
    number = signal.SIGTERM

    def fits(self, place: Place) -> bool:
        return place.processes and bool(place.url)

    def strike(self, place: Place, case: Case, target: Target, random: Random) -> Struck:
        with tempfile.TemporaryDirectory(prefix="kanon_campaign_") as directory:
            self._spec = Path(directory) / "spec.yml"
            self._spec.write_text(json.dumps(case.spec_at(place).to_dict()), encoding="utf-8")
            return super().strike(place, case, target, random)

    def work(self, place: Place, case: Case, target: Target, inside: bool, tell: Callable[[str], None]) -> int:
        """The command line, in this process: its statements are counted where they are metered."""
        from kanon_sql.cli import app

        count, seen, number = Meter.count, 0, self.number

        def counted(meter: Meter, statement: Statement) -> None:
            nonlocal seen
            count(meter, statement)
            seen += 1
            if seen == target.number:
                tell(f"statement {seen}, {statement.name}")
                if not inside:
                    os.kill(os.getpid(), number)

        Meter.count = counted  # type: ignore[method-assign]
        scratch = case.options(place).get("scratch")
        try:
            app(
                [
                    "anonymize",
                    str(self._spec),
                    "--database",
                    place.url,
                    *(["--set", f"scratch={scratch}"] if scratch else []),
                ]
            )
        except SystemExit as stopped:
            return RAW if stopped.code not in (0, 1, 2, 3, 128 + number, 130) else int(stopped.code or 0)
        return PUBLISHED


class ServerKilled(Cancelled):
    """The server gets SIGKILL, and recovers."""

    name = "server killed"

    def fits(self, place: Place) -> bool:
        return isinstance(place, PostgresPlace | MariaDBPlace)

    def now(self, place: Place, engine: Engine) -> None:
        assert isinstance(place, SessionPlace)
        place.kill()

    def strike(self, place: Place, case: Case, target: Target, random: Random) -> Struck:
        assert isinstance(place, SessionPlace)
        settled = threading.Event()
        place.settle, settle = settled.set, place.settle  # type: ignore[method-assign]
        try:
            struck = super().strike(place, case, target, random)
        finally:
            place.settle = settle  # type: ignore[method-assign]
        place.reconnect()
        return struck
