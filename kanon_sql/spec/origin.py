"""What specs of all kinds have in common: where the data is, and where it is published."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kanon_sql.spec.sections import Source

if TYPE_CHECKING:
    from kanon_sql.spec.hierarchy import QuasiIdentifier

__all__ = ["Generalized", "Origin"]


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


class Generalized(Origin, Protocol):
    """What builds lookup tables knows of a spec, or of one of its tables."""

    @property
    def quasi_identifiers(self) -> Mapping[str, QuasiIdentifier]:
        """Column -> hierarchy."""

    @property
    def nulls(self) -> str:
        """What becomes of NULL in a quasi-identifier."""
