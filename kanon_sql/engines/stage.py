"""What a run is at, in plain words, for anyone who waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Reporter", "Stage", "silent"]

Reporter = Callable[[str, int | None], None]
"""Told what is being done in plain words, and how many nodes were evaluated so far."""


def silent(stage: str, nodes: int | None = None) -> None:
    """Report nothing."""


@dataclass
class Stage:
    """What a run is at, to be told again once it has waited for something in between.

    Attributes:
        report: who is told.
        name: what it is at.
    """

    report: Reporter
    name: str = ""

    def __call__(self, name: str, nodes: int | None) -> None:
        """Tell what is begun."""
        self.name = name
        self.report(name, nodes)

    def waits(self, reason: str | None) -> None:
        """Tell what is waited for, or that it is over."""
        if reason is not None or self.name:
            self.report(reason or self.name, None)
