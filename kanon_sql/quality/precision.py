"""Precision loss: 1 - Prec, the share of the hierarchies' heights that was climbed."""

from __future__ import annotations

from typing import ClassVar

from kanon_sql.lattice import Node
from kanon_sql.quality.base import Counts, Measured, Metric

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
        return self._mean(counts, measured.node, measured.suppressed)

    def bound(self, counts: Counts, node: Node) -> float:
        """The value if no class had to be suppressed."""
        return self._mean(counts, node, counts.null_rows)

    @staticmethod
    def _mean(counts: Counts, node: Node, suppressed: int) -> float:
        if counts.rows == 0:
            return 0.0
        kept = counts.rows - suppressed
        total = 0.0
        for attribute, level in zip(counts.attributes, node, strict=True):
            relative = level / attribute.height if attribute.height else 0.0
            total += attribute.weight * (kept * relative + suppressed) / counts.rows
        return total / len(counts.attributes)
