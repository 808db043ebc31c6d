"""The line of progress on a terminal: the stage, and for how long its statement has run."""

from __future__ import annotations

import time
from dataclasses import dataclass

from rich.text import Text

from kanon_sql.engines import Meter

__all__ = ["SHOWN_FROM", "Working"]

SHOWN_FROM = 3.0
"""Seconds from which on the time of a statement is shown; before that it would only flicker."""


@dataclass(frozen=True)
class Working:
    """What is done now, drawn again and again while a statement runs.

    Attributes:
        stage: what is done, in words.
        meter: that of the run, which knows the running statement; None where there is no database.
    """

    stage: Text
    meter: Meter | None

    def __rich__(self) -> Text:
        """The stage, and the statement once it runs for long."""
        running = None if self.meter is None else self.meter.running
        if running is None:
            return self.stage
        seconds = time.monotonic() - running[1]
        if seconds < SHOWN_FROM:
            return self.stage
        return self.stage.copy().append(f"  {running[0]}: {elapsed(seconds)}", "dim")


def elapsed(seconds: float) -> str:
    """A time as it is read on a clock: ``42 s``, ``3 min 05 s``, ``1 h 02 min``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
