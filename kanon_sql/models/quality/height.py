"""Height: the sum of the levels (Samarati 2001, section 3)."""

from __future__ import annotations

from typing import ClassVar

from kanon_sql.models.quality.base import Counts, Measured, Metric

__all__ = ["Height"]


class Height(Metric):
    """The weighted sum of the node's levels. Suppression is ignored. Monotone."""

    name: ClassVar[str] = "height"

    def value(self, counts: Counts, measured: Measured) -> float:
        """The weighted sum of levels."""
        return self.bound(counts, measured.node)

    def parts(self, counts: Counts) -> list[list[float]]:
        """The weighted levels; their sum is the value itself."""
        return [[attribute.weight * level for level in range(attribute.height + 1)] for attribute in counts.attributes]
