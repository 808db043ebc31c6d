"""Between a run and its engine: every statement is counted, and something may be done before or after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from kanon_sql.engines import Engine

__all__ = ["Point", "Wire", "names_of"]

When = Literal["before", "after"]
HOOKED = ("execute", "fetch", "columns")


@dataclass(frozen=True)
class Point:
    """A place in a run: before or after its n-th statement."""

    number: int
    name: str
    when: When

    def __str__(self) -> str:
        return f"{self.when} statement {self.number}, {self.name}"


class Wire:
    """Calls ``act`` with each point that a run comes to; what it raises, the run meets in place of the answer.

    Args:
        engine: whose methods are taken; a whole connection, for one run.
        act: called in the run's own thread.
    """

    def __init__(self, engine: Engine, act: Callable[[Point], None]) -> None:
        self.names: list[str] = []
        self._act = act
        for hooked in HOOKED:
            setattr(engine, hooked, self._around(hooked, getattr(engine, hooked)))

    def _around(self, hooked: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **named: Any) -> Any:
            name = "columns" if hooked == "columns" else str(given[0].name)
            self.names.append(name)
            number = len(self.names)
            self._act(Point(number, name, "before"))
            answer = method(*given, **named)
            self._act(Point(number, name, "after"))
            return answer

        return counted


def names_of(points: list[Point]) -> list[str]:
    """The statements of a run, by the points that it came to."""
    return [point.name for point in points if point.when == "before"]
