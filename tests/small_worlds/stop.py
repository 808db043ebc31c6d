"""End a long run without losing what it has counted."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """Whether a signal asked to stop, while inside; at the second signal the run is interrupted at once."""

    def __init__(self) -> None:
        self._asked = False

    def __enter__(self) -> Self:
        """Listen to the signals."""
        self._before = [signal.signal(number, self._ask) for number in SIGNALS]
        return self

    def __exit__(self, *error: object) -> None:
        """Let them mean what they meant."""
        for number, before in zip(SIGNALS, self._before, strict=True):
            signal.signal(number, before)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True

    def __call__(self) -> bool:
        return self._asked
