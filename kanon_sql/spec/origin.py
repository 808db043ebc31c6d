"""What specs of all kinds have in common: where the data is, and where it is published."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from kanon_sql.spec.sections import Source

__all__ = ["Origin"]


class Origin(Protocol):
    """What reads and publishes knows no more of a spec: rows to anonymize and tables to tabulate are alike to it."""

    @property
    def source(self) -> Source:
        """What is read."""

    @property
    def release(self) -> tuple[str, ...] | None:
        """The name parts of what is published; None where nothing is."""

    @property
    def hash(self) -> str:
        """What distinguishes specs."""

    def resolve(self, path: str | Path) -> Path:
        """A path of the spec; relative paths are relative to its file."""
