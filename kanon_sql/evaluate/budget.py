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
    """What a search may take. When that is used up, the search ends at the best node found so far.

    It is a budget of the search alone: the frequency sets are built before it, and the figures of the chosen node
    are asked for after it. If satisfying nodes are known by then, but the metric of none, one more
    question asks for those of a few.

    Attributes:
        seconds: of the search, from its first question; the statement that runs by then is cancelled.
            None for no limit.
        statements: that the search may run; exactly so many and no more. None for no limit.
        interrupted: whether somebody wants the search to end. Looked at before every statement, and
            when one was cancelled, which then ends the search and not the run. Other errors stay errors.
        patience: entered around the search; what turns Ctrl-C into such a wish does so inside it.
    """

    seconds: float | None = None
    statements: int | None = None
    interrupted: Callable[[], bool] | None = None
    patience: Callable[[], AbstractContextManager[object]] = nullcontext

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
            with self.patience(), engine.within(deadline):
                yield
        except KeyboardInterrupt as error:  # what engines make of the error of a cancelled statement, and of no other
            if self._interrupted():
                raise Stopped(_INTERRUPTED) from error
            raise
        finally:
            meter.check = None

    def _interrupted(self) -> bool:
        return self.interrupted is not None and self.interrupted()
