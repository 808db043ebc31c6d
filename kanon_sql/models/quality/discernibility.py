"""Discernibility: how many rows each row cannot be told from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from kanon_sql.models.quality.base import Counts, Measured, Metric
from kanon_sql.registers import QUALITY_METRICS
from kanon_sql.sql import Sql, render

__all__ = ["Discernibility"]


@QUALITY_METRICS.declare
@dataclass(frozen=True)
class Discernibility(Metric):
    """Discernibility metric DM (Bayardo and Agrawal 2005, section 2.3).

    The sum of squared sizes of the released classes, plus N for each suppressed row. Monotone (DM* of El Emam et
    al. 2009, section 3): of all classes, as if none were suppressed.
    """

    name: ClassVar[str] = "discernibility"
    words: ClassVar[str] = "sum of squared class sizes"
    formula: ClassVar[str] = "sum over released classes of size squared, plus N S"
    source: ClassVar[str] = "Bayardo, Agrawal 2005"
    place: ClassVar[int] = 4
    bounds_cuts: ClassVar[bool] = True
    monotone: bool = False

    def aggregates(self, kept: Sql, carried: Sequence[str]) -> dict[str, Sql]:
        """Squared sizes, of the released classes and of all."""
        squares = {"squares": render("models/quality/discernibility", kept=kept, kept_only=False)}
        if self.monotone:
            return squares
        return {"kept_squares": render("models/quality/discernibility", kept=kept, kept_only=True), **squares}

    def least_costs(self, k: int, carried: Sequence[str]) -> dict[str, Sql]:
        """A row's class never gets smaller, nor than k (Bayardo and Agrawal 2005, section 4.1)."""
        return {"kept_squares": render("models/quality/least_discernibility", k=k)}

    def added(self, counts: Counts) -> Callable[[Measured], int] | None:
        """The metric itself."""
        return None if self.monotone else lambda measured: round(self.value(counts, measured))

    def value(self, counts: Counts, measured: Measured) -> float:
        """Squared released sizes plus N per suppressed row."""
        if self.monotone:
            return self.floor(counts, measured)
        return float(measured.values["kept_squares"] + counts.rows * measured.suppressed)

    def whole(self, counts: Counts, combined: float) -> float:
        """Every row counts itself, a suppressed one all rows."""
        return float(counts.rows - counts.null_rows + counts.rows * counts.null_rows)

    def floor(self, counts: Counts, measured: Measured) -> float:
        """Squares over all classes: merging only adds, and suppressing costs N >= the size."""
        return float(measured.values["squares"] + counts.rows * counts.null_rows)
