"""How much a search may take, and what ends it early."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from kanon_sql.engines import Deadline, Engine
from kanon_sql.search import Stopped

__all__ = ["Budget"]

_INTERRUPTED = "the search was interrupted"


@dataclass(frozen=True)
class Budget:
    """What a search may take. When it is used up, the search ends at the best node found so far.

    The budget is for the search alone: frequency sets are built before it, and the figures of the chosen node
    are asked for after it. If the search has found satisfying nodes but the metric of none of them, one more
    question asks for the metric of a few.

    Attributes:
        seconds: how long the search may take from its first question on. The statement that runs when the time
            is up is cancelled. None for no limit.
        statements: how many statements the search may run. None for no limit.
        interrupted: called before every statement, and when a statement was cancelled; True ends the search
            there, and the run goes on with the best node. It may raise KeyboardInterrupt to end the run.
        handling: a context that is entered around the search, such as one that handles Ctrl-C.

    Examples:
        >>> result = kanon_sql.plan(db, spec, budget=kanon_sql.Budget(seconds=60, statements=1))
        >>> result.search.stopped
        'the search reached its limit of 1 statement'
        >>> result.search.proven
        False
    """

    seconds: float | None = None
    statements: int | None = None
    interrupted: Callable[[], bool] | None = None
    handling: Callable[[], AbstractContextManager[object]] = nullcontext

    @contextmanager
    def limits(self, engine: Engine) -> Iterator[None]:
        """Raise :class:`Stopped` inside as soon as the budget is used up; counted from now."""
        meter = engine.meter
        most = None if self.statements is None else meter.statements + self.statements
        word = "statement" if self.statements == 1 else "statements"

        def check() -> None:
            if self._interrupted():
                raise Stopped(_INTERRUPTED)
            if most is not None and meter.statements >= most:
                raise Stopped(f"the search reached its limit of {self.statements:,} {word}")

        deadline = Deadline(self.seconds, lambda: Stopped(f"the search reached its limit of {self.seconds:g} s"))
        meter.check = check
        try:
            with self.handling(), engine.within(deadline):
                yield
        except KeyboardInterrupt as error:  # what engines make of the error of a cancelled statement, and of no other
            if self._interrupted():
                raise Stopped(_INTERRUPTED) from error
            raise
        finally:
            meter.check = None

    def _interrupted(self) -> bool:
        return self.interrupted is not None and self.interrupted()
