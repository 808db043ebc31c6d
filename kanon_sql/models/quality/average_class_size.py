"""Average class size: rows per released equivalence class."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from kanon_sql.models.quality.base import Counts, Measured, Metric
from kanon_sql.registers import QUALITY_METRICS

__all__ = ["AverageClassSize"]


@QUALITY_METRICS.declare
@dataclass(frozen=True)
class AverageClassSize(Metric):
    """C_AVG (LeFevre, DeWitt, Ramakrishnan 2006, section 2), without its division by k.

    N divided by the number of released classes; all suppressed rows together form one
    more class, as in ARX's AECS. Monotone: divided by all classes, as if none were suppressed.
    """

    name: ClassVar[str] = "average_class_size"
    words: ClassVar[str] = "rows per class"
    formula: ClassVar[str] = "N / classes, the suppressed rows being one more class"
    source: ClassVar[str] = "LeFevre, DeWitt, Ramakrishnan 2006"
    place: ClassVar[int] = 5
    from_counts: ClassVar[bool] = True
    multiplies = True
    monotone: bool = False

    def value(self, counts: Counts, measured: Measured) -> float:
        """Rows per class; 0 for a table without rows."""
        if self.monotone:
            classes = measured.classes + (1 if counts.null_rows else 0)
        else:
            classes = measured.kept_classes + (1 if measured.suppressed else 0)
        return counts.rows / classes if classes else 0.0

    def parts(self, counts: Counts) -> list[list[float]]:
        """The share of one label in those that occur."""
        return [[1.0 / max(1, labels) for labels in attribute.labels] for attribute in counts.attributes]

    def whole(self, counts: Counts, combined: float) -> float:
        """No more classes than rows, and than combinations of the labels that occur."""
        combinations = 1.0 / combined if combined else inf  # the product of dozens of tiny shares may be 0
        most = min(counts.rows, combinations + (1 if counts.null_rows else 0))
        return counts.rows / most if most else 0.0

    def floor(self, counts: Counts, measured: Measured) -> float:
        """Generalizing never makes more classes."""
        most = measured.classes + (1 if counts.null_rows else 0)
        return max(self.bound(counts, measured.node), counts.rows / most if most else 0.0)
