"""Precision loss: 1 - Prec, the share of the hierarchies' heights that was climbed."""

from __future__ import annotations

from typing import ClassVar

from kanon_sql.models.quality.base import Counts, Measured, Metric

__all__ = ["Precision"]


class Precision(Metric):
    """Precision (Sweeney 2002, section 3.3, "Prec"), as a loss, the way ARX reports it.

    Per quasi-identifier: (kept rows * level / height + suppressed rows) / N; the mean over
    quasi-identifiers, weighted. A suppressed row costs as much as one at the top. Sweeney's
    Prec is 1 minus this (with weights 1).
    """

    name: ClassVar[str] = "precision"

    def value(self, counts: Counts, measured: Measured) -> float:
        """The weighted mean of relative levels, suppressed rows at 1."""
        parts = self._parts(counts, measured.suppressed)
        return self.whole(counts, sum(levels[level] for levels, level in zip(parts, measured.node, strict=True)))

    def parts(self, counts: Counts) -> list[list[float]]:
        """The shares if no class had to be suppressed."""
        return self._parts(counts, counts.null_rows)

    def whole(self, counts: Counts, combined: float) -> float:
        """The mean."""
        return combined / len(counts.attributes)

    @staticmethod
    def _parts(counts: Counts, suppressed: int) -> list[list[float]]:
        if counts.rows == 0:
            return [[0.0] * (attribute.height + 1) for attribute in counts.attributes]
        kept = counts.rows - suppressed
        return [
            [
                attribute.weight * (kept * (level / max(1, attribute.height)) + suppressed) / counts.rows
                for level in range(attribute.height + 1)
            ]
            for attribute in counts.attributes
        ]
