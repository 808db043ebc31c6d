"""Kinds of faults inside this process: each is told where to strike, strikes, and says how the run ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, ClassVar
from unittest import mock

from kanon_sql.engines import Engine, workspace
from kanon_sql.errors import DatabaseError, KanonError
from tests.campaign.cases import Case
from tests.campaign.judging import Before, Verdict, examine
from tests.campaign.places import SOURCE, ClickHousePlace, Place, SessionPlace, SparkPlace
from tests.campaign.wire import Point, Wire

Act = Callable[[Point], None]
INSIDE_SECONDS = 0.004
"""A strike inside a statement comes so long after its start at most."""

END_SECONDS = 60.0
"""A process, a thread or a run that is still there so long after it was to end has hung."""


@dataclass(frozen=True)
class Target:
    """Where a fault strikes.

    Attributes:
        number: the statement, from 1.
        after: once the statement has had its effect, before the run hears of it.
        others: the statements at which other runs are held meanwhile.
    """

    number: int
    after: bool = False
    others: tuple[int, ...] = ()

    def hit(self, point: Point) -> bool:
        """Whether a run is there now."""
        return point.number == self.number and (point.when == "after") is self.after


@dataclass
class Struck:
    """How a run ended that a fault was made for.

    Attributes:
        where: the statement, in words.
        happened: the run came to that place, so that there was a fault.
        problem: a promise about the end itself that was broken: a raw error, a run that hangs, a fault in vain.
        changed: the source is not what it was.
    """

    where: str
    happened: bool
    problem: str | None = None
    changed: bool = False


class Kind:
    """A kind of fault.

    Attributes:
        name: in tables of figures.
        after: it can also strike after a statement.
        cases: the cases that it is for; all when None.
    """

    name: ClassVar[str]
    after: ClassVar[bool] = False
    cases: ClassVar[tuple[str, ...] | None] = None
    not_for: ClassVar[tuple[str, ...]] = ("large", "joint")

    def fits(self, place: Place) -> bool:
        """Whether it can happen there."""
        return True

    def targets(self, names: Sequence[str], random: Random) -> list[Target]:
        """All places where it can strike a run of these statements."""
        afters = (False, True) if self.after else (False,)
        return [Target(n, after) for n in range(1, len(names) + 1) for after in afters]

    def strike(self, place: Place, case: Case, target: Target, random: Random) -> Struck:
        """Run the case, and make the fault happen."""
        raise NotImplementedError

    def examine(self, place: Place, case: Case, before: Before, struck: Struck) -> Verdict:
        """The state in which it left the database."""
        return examine(place, case, before, changed=struck.changed)

    def fits_case(self, case: Case) -> bool:
        """Whether it is tried with a case."""
        return case.name in self.cases if self.cases is not None else case.name not in self.not_for


def disturbed(place: Place, case: Case, act: Callable[[Engine, Point], None], **given: Any) -> tuple[str, bool]:
    """Run a case with something happening on the way.

    Returns:
        What is wrong with how it ended (empty when nothing is), and whether it published.
    """
    engine = place.connect(**case.options(place))
    try:
        Wire(engine, lambda point: act(engine, point))
        result = case.publish(engine, place, **given)
        return ("" if result.passed else f"not published: {result.message}"), result.passed
    except (KanonError, KeyboardInterrupt):
        return "", False
    except Exception as error:
        return f"raw {type(error).__name__}", False
    finally:
        engine.close()


class InProcess(Kind):
    """A fault that is made by a hook at one point."""

    def strike(self, place: Place, case: Case, target: Target, random: Random) -> Struck:
        struck = Struck(str(target), False)

        def act(engine: Engine, point: Point) -> None:
            if target.hit(point):
                struck.where, struck.happened = str(point), True
            self.act(place, engine, point, struck, random)

        problem, published = disturbed(place, case, act, **self.given())
        struck.problem = problem or self.expected(struck, published)
        self.finish()
        place.settle()
        return struck

    def act(self, place: Place, engine: Engine, point: Point, struck: Struck, random: Random) -> None:
        """Called at every point; ``struck`` says whether the target was reached."""
        raise NotImplementedError

    def finish(self) -> None:
        """Wait for what goes on beside the run."""

    def given(self) -> dict[str, Any]:
        """What the run is given besides."""
        return {}

    def expected(self, struck: Struck, published: bool) -> str | None:
        """What is wrong with how the run ended."""
        return None


class Failing(InProcess):
    """One statement fails, or Ctrl-C comes; what follows works again."""

    name = "statement fails"
    after = True

    def act(self, place: Place, engine: Engine, point: Point, struck: Struck, random: Random) -> None:
        if struck.where == str(point):
            raise random.choice((DatabaseError("refused by the campaign"), KeyboardInterrupt()))


class Gone(InProcess):
    """From one statement on nothing is answered: the database, or the way there, is gone for this run."""

    name = "database gone"
    after = True

    def act(self, place: Place, engine: Engine, point: Point, struck: Struck, random: Random) -> None:
        if struck.happened:
            raise DatabaseError("gone, says the campaign")


class Cancelled(InProcess):
    """A second thread cancels the statement that runs, some time after its start."""

    name = "statement cancelled"

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None

    def act(self, place: Place, engine: Engine, point: Point, struck: Struck, random: Random) -> None:
        if struck.where == str(point):
            wait = random.random() * INSIDE_SECONDS
            self._thread = threading.Thread(target=self._strike, args=(place, engine, wait))
            self._thread.start()
        elif point.when == "after":
            self.finish()

    def finish(self) -> None:
        if self._thread is not None:
            self._thread.join(END_SECONDS)
            if self._thread.is_alive():
                raise AssertionError("a thread that strikes has hung")
            self._thread = None

    def _strike(self, place: Place, engine: Engine, wait: float) -> None:
        time.sleep(wait)
        with suppress(Exception):
            self.now(place, engine)

    def now(self, place: Place, engine: Engine) -> None:
        """The strike itself, in a thread of its own."""
        engine.cancel()


class Terminated(Cancelled):
    """The server ends the session: before a statement, or while it runs."""

    name = "session ended by server"

    def fits(self, place: Place) -> bool:
        return isinstance(place, SessionPlace)

    def now(self, place: Place, engine: Engine) -> None:
        assert isinstance(place, SessionPlace)
        for session in place.others():
            place.end(session)

    def act(self, place: Place, engine: Engine, point: Point, struck: Struck, random: Random) -> None:
        if struck.where == str(point) and random.random() < 0.3:
            self.now(place, engine)
        else:
            super().act(place, engine, point, struck, random)


CHANGES = {
    "a row added": "INSERT INTO {0} VALUES ('Planted new', 'F', 39, 'd9')",
    "a NULL added": "INSERT INTO {0} VALUES ('Planted new', NULL, NULL, 'd9')",
    "rows removed": "DELETE FROM {0} WHERE age >= 36",
    "all removed": "DELETE FROM {0}",
    "a value changed": "UPDATE {0} SET age = 57 WHERE age = 31",
    "values swapped": "UPDATE {0} SET sex = CASE WHEN age = 30 THEN 'M' ELSE 'F' END",
    "a value lost": "UPDATE {0} SET sex = NULL WHERE age = 25",
}


class SourceChanged(InProcess):
    """Somebody writes to the source between two statements."""

    name = "source changed"
    not_for = (
        "large",
        "persons",
        "ledger",
        "joint",
        "coarsen",
        "several first",
        "several",
        "several more",
        "ready first",
        "ready",
        "ready more",
    )

    def act(self, place: Place, engine: Engine, point: Point, struck: Struck, random: Random) -> None:
        if struck.where != str(point):
            return
        listed = [name for name in CHANGES if not isinstance(place, SparkPlace) or name.endswith("added")]
        what = random.choice(listed)
        struck.where = f"{what} {point}"
        try:
            place.execute(self._sql(place, CHANGES[what].format(SOURCE)))
        except Exception:  # the run holds a lock: it cannot happen here
            struck.happened = False
            return
        struck.changed = True

    @staticmethod
    def _sql(place: Place, sql: str) -> str:
        if not isinstance(place, ClickHousePlace) or sql.startswith("INSERT"):
            return sql
        verb, _, rest = sql.partition(f" {SOURCE}")
        where = rest if "WHERE" in rest else rest + " WHERE true"
        done = "DELETE" if verb == "DELETE FROM" else "UPDATE"
        return f"ALTER TABLE {SOURCE} {done}{where.replace(' SET', '', 1)} SETTINGS mutations_sync = 1"

    def strike(self, place: Place, case: Case, target: Target, random: Random) -> Struck:
        struck = super().strike(place, case, target, random)
        if struck.problem is not None and struck.problem.startswith("not published"):
            struck.problem = None  # a verdict on the changed source
        return struck


class ClockMoved(InProcess):
    """The clock goes forth or back by hours at a statement, and on at each after it; nothing may follow from that."""

    name = "clock moved"

    def __init__(self) -> None:
        self._shift = timedelta(0)

    def act(self, place: Place, engine: Engine, point: Point, struck: Struck, random: Random) -> None:
        if struck.happened:
            self._shift = timedelta(hours=random.uniform(-48, 48))

    def given(self) -> dict[str, Any]:
        return {"timeout": 600.0}

    def expected(self, struck: Struck, published: bool) -> str | None:
        return None if published else "a run was stopped by the clock"

    def strike(self, place: Place, case: Case, target: Target, random: Random) -> Struck:
        self._shift = timedelta(0)
        with self._moving():
            return super().strike(place, case, target, random)

    @contextmanager
    def _moving(self) -> Iterator[None]:
        kind, real = self, time.time

        class Moved(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> Any:
                return datetime.now(tz or UTC) + kind._shift

        def moved() -> float:
            return real() + kind._shift.total_seconds()

        with mock.patch.object(workspace, "datetime", Moved), mock.patch("time.time", moved):
            yield
