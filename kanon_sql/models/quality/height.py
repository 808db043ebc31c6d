"""Height: the sum of the levels (Samarati 2001, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kanon_sql.models.quality.aggregate import PerColumn
from kanon_sql.models.quality.base import Counts, Measured
from kanon_sql.registers import QUALITY_METRICS

__all__ = ["Height"]


@QUALITY_METRICS.declare
@dataclass(frozen=True)
class Height(PerColumn):
    """The weighted sum of the node's levels, or another aggregate of them. Suppression is ignored. Monotone."""

    name: ClassVar[str] = "height"
    words: ClassVar[str] = "sum of the levels, each times its weight"
    formula: ClassVar[str] = "sum of w level; suppression costs nothing"
    source: ClassVar[str] = "Samarati 2001"
    place: ClassVar[int] = 1
    from_levels: ClassVar[bool] = True
    from_counts: ClassVar[bool] = True
    aggregate: str = "sum"

    def unsuppressed(self, counts: Counts) -> list[list[float]]:
        """The levels."""
        return [[float(level) for level in range(attribute.height + 1)] for attribute in counts.attributes]

    def by_attribute(self, counts: Counts, measured: Measured) -> Sequence[float]:
        """The levels of the node."""
        return [float(level) for level in measured.node]
