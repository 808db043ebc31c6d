"""Kinds of faults that take room away: a disk that is full from some statement on, or too little memory."""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path
from random import Random

from kanon_sql.engines import Engine
from tests.campaign.cases import Case
from tests.campaign.faults import InProcess, Kind, Struck, Target, disturbed
from tests.campaign.kills import Killed, in_child
from tests.campaign.places import FilePlace, MariaDBPlace, Place, PostgresPlace, SessionPlace
from tests.campaign.wire import Point

KIB = 1024


class FullDisk(Kind):
    """From one statement on, nothing fits on the disk any more, or next to nothing."""

    name = "disk full"
    not_for = ("joint",)

    def fits(self, place: Place) -> bool:
        return place.disk is not None

    def strike(self, place: Place, case: Case, target: Target, random: Random) -> Struck:
        assert place.disk is not None
        free = int(random.random() ** 3 * 512 * KIB)
        inner = _FillingProcess(free) if isinstance(place, FilePlace) else _Filling(free)
        try:
            return inner.strike(place, case, target, random)
        finally:
            place.disk.empty()


class _Filling(InProcess):
    """Beside a server, in this process."""

    def __init__(self, free: int) -> None:
        self.free = free

    def act(self, place: Place, engine: Engine, point: Point, struck: Struck, random: Random) -> None:
        if struck.where == str(point):
            assert place.disk is not None
            place.disk.leave(self.free)


class _FillingProcess(Killed):
    """In a process of its own, since a database that cannot write may give itself up."""

    def __init__(self, free: int) -> None:
        self.free = free

    def work(self, place: Place, case: Case, target: Target, inside: bool, tell: Callable[[str], None]) -> int:
        def at(engine: Engine, point: Point) -> None:
            if target.hit(point):
                assert place.disk is not None
                place.disk.leave(self.free)
                tell(str(point))

        return in_child(place, case, at)

    def inside(self, target: Target, random: Random) -> bool:
        return False


class TooLittleMemory(Kind):
    """The database, or the whole process, may take so much memory and no more."""

    name = "memory limit"

    def fits(self, place: Place) -> bool:
        return isinstance(place, FilePlace | PostgresPlace | MariaDBPlace)

    def fits_case(self, case: Case) -> bool:
        return case.name in ("large", "again", "masked", "coarsen")

    def strike(self, place: Place, case: Case, target: Target, random: Random) -> Struck:
        if isinstance(place, SessionPlace):
            return self._of_server(place, case, random)
        whole = random.random() < 0.4
        limit = int(random.uniform(0, 12) * KIB * KIB) if whole else int(2 ** random.uniform(17, 26))
        return _LimitedProcess(limit, whole=whole).strike(place, case, target, random)

    @staticmethod
    def _of_server(place: SessionPlace, case: Case, random: Random) -> Struck:
        """Of sorting and of temporary files; or of a session."""
        if isinstance(place, PostgresPlace):
            settings = [("work_mem", "64kB"), ("temp_buffers", "800kB"),
                        ("temp_file_limit", f"{random.randrange(0, 2048)}kB")]  # fmt: skip
            begin = [f"ALTER ROLE CURRENT_USER SET {name} = '{value}'" for name, value in settings]
            end = [f"ALTER ROLE CURRENT_USER RESET {name}" for name, _ in settings]
            where = f"a temp_file_limit of {settings[-1][1]}"
        else:
            limit = int(2 ** random.uniform(16, 24))
            begin, end = [f"SET GLOBAL max_session_mem_used = {limit}"], ["SET GLOBAL max_session_mem_used = DEFAULT"]
            where = f"max_session_mem_used of {limit}"
        try:
            for sql in begin:
                place.execute(sql)
            try:
                problem, published = disturbed(place, case, lambda engine, point: None)
            except Exception as error:  # not even a connection was to be had
                problem, published = (
                    ("" if "Database" in type(error).__name__ else f"raw {type(error).__name__}"),
                    False,
                )
        finally:
            for sql in end:
                place.execute(sql)
        place.settle()
        return Struck(where, not published, problem or None)


class _LimitedProcess(Killed):
    """A process that gets the limit at its target."""

    def __init__(self, limit: int, *, whole: bool) -> None:
        self.limit, self.whole = limit, whole

    def inside(self, target: Target, random: Random) -> bool:
        return False

    def strike(self, place: Place, case: Case, target: Target, random: Random) -> Struck:
        struck = super().strike(place, case, target, random)
        struck.happened = struck.happened and self.code != 0
        struck.where = (
            f"{self.limit} bytes {'more for the process' if self.whole else 'for the database'}, {struck.where}"
        )
        return struck

    def work(self, place: Place, case: Case, target: Target, inside: bool, tell: Callable[[str], None]) -> int:
        def at(engine: Engine, point: Point) -> None:
            if target.hit(point):
                tell(str(point))
                self._limit(place, engine)

        return in_child(place, case, at)

    def _limit(self, place: Place, engine: Engine) -> None:
        if self.whole:
            pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
            now = pages * resource.getpagesize() + self.limit
            resource.setrlimit(resource.RLIMIT_AS, (now, now))
        elif place.name == "duckdb":
            engine._connection.execute(f"SET memory_limit = '{max(self.limit, KIB)}B'")  # type: ignore[attr-defined]
        else:
            engine.driver_connection.execute(f"PRAGMA hard_heap_limit = {self.limit}")  # type: ignore[attr-defined]
