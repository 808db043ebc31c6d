"""Precision loss: 1 - Prec, the share of the hierarchies' heights that was climbed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from kanon_sql.models.quality.aggregate import PerColumn
from kanon_sql.models.quality.base import Counts, Measured
from kanon_sql.registers import QUALITY_METRICS

__all__ = ["Precision"]


@QUALITY_METRICS.declare
@dataclass(frozen=True)
class Precision(PerColumn):
    """Precision (Sweeney 2002, section 3.3, "Prec"), as a loss, the way ARX reports it.

    Per quasi-identifier: (kept rows * level / height + suppressed rows) / N, each times its factor; the mean over
    quasi-identifiers, weighted. A suppressed row costs as much as one at the top. Sweeney's
    Prec is 1 minus this (with weights 1).
    """

    name: ClassVar[str] = "precision"
    words: ClassVar[str] = "share of the hierarchies climbed"
    formula: ClassVar[str] = "mean over columns of w ((N - S) level / height + S) / N; Sweeney's Prec is 1 less this"
    source: ClassVar[str] = "Sweeney 2002"
    place: ClassVar[int] = 2
    weighs: ClassVar[bool] = True
    from_levels: ClassVar[bool] = True
    from_counts: ClassVar[bool] = True
    largest: ClassVar[int | None] = 1
    aggregate: str = "arithmetic_mean"

    def by_attribute(self, counts: Counts, measured: Measured) -> list[float]:
        """The relative levels, suppressed rows at 1."""
        losses = self._losses(counts, measured.suppressed, self._generalized)
        return [levels[level] for levels, level in zip(losses, measured.node, strict=True)]

    def unsuppressed(self, counts: Counts) -> list[list[float]]:
        """The shares if no class had to be suppressed."""
        return self._losses(counts, counts.null_rows, self._generalized)

    def lowest(self, counts: Counts) -> list[list[float]]:
        """As if each row were generalized or suppressed, whichever costs less."""
        return self._losses(counts, counts.null_rows, lambda ratio: min(self._generalized(ratio), self.suppression))

    def _generalized(self, ratio: float) -> float:
        return ratio * self.generalization

    def _losses(self, counts: Counts, suppressed: int, cost: Callable[[float], float]) -> list[list[float]]:
        if counts.rows == 0:
            return [[0.0] * (attribute.height + 1) for attribute in counts.attributes]
        kept = counts.rows - suppressed
        return [
            [
                (kept * cost(level / max(1, attribute.height)) + suppressed * self.suppression) / counts.rows
                for level in range(attribute.height + 1)
            ]
            for attribute in counts.attributes
        ]
