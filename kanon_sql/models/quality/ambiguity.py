"""Ambiguity: how many vectors of the domain a released row could stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from kanon_sql.models.quality.base import Counts, Measured, Metric
from kanon_sql.registers import QUALITY_METRICS
from kanon_sql.sql import Sql, render

__all__ = ["Ambiguity"]


@QUALITY_METRICS.declare
@dataclass(frozen=True)
class Ambiguity(Metric):
    """Ambiguity metric AM (Nergiz and Clifton 2007, section 3), summed over rows as in ARX.

    Each row adds the product over quasi-identifiers of the domain values under its
    generalized value; a suppressed row adds the size of the whole domain. Monotone: only rows that are suppressed
    for a NULL do.
    """

    name: ClassVar[str] = "ambiguity"
    words: ClassVar[str] = "possible originals, summed over rows"
    formula: ClassVar[str] = "sum over released rows of the product of d, plus S times the product of D"
    source: ClassVar[str] = "Nergiz, Clifton 2007"
    place: ClassVar[int] = 7
    multiplies = True
    carries = "sizes"
    monotone: bool = False

    def aggregates(self, kept: Sql, carried: Sequence[str]) -> dict[str, Sql]:
        """Products of sizes times rows, over the released classes and over all."""
        vectors = {"vectors": render("models/quality/ambiguity", sizes=carried, kept=kept, kept_only=False)}
        if self.monotone:
            return vectors
        return {
            "kept_vectors": render("models/quality/ambiguity", sizes=carried, kept=kept, kept_only=True),
            **vectors,
        }

    def value(self, counts: Counts, measured: Measured) -> float:
        """Vectors per row, summed."""
        whole = float(prod(attribute.domain_rows for attribute in counts.attributes))
        if self.monotone:
            return self.floor(counts, measured) + whole * counts.null_rows
        return self._scale(counts, measured) * float(measured.values["kept_vectors"]) + whole * measured.suppressed

    def parts(self, counts: Counts) -> list[list[float]]:
        """A row stands for at least one vector, times the whole domain of what is at the top."""
        return [[1.0] * attribute.height + [float(attribute.domain_rows)] for attribute in counts.attributes]

    def whole(self, counts: Counts, combined: float) -> float:
        """So does every row that is not suppressed for a NULL."""
        return combined * (counts.rows - counts.null_rows)

    def floor(self, counts: Counts, measured: Measured) -> float:
        """Generalizing never makes a row stand for fewer vectors."""
        return self._scale(counts, measured) * float(measured.values["vectors"])

    @staticmethod
    def _scale(counts: Counts, measured: Measured) -> float:
        return float(
            prod(
                attribute.domain_rows
                for attribute, level in zip(counts.attributes, measured.node, strict=True)
                if level == attribute.height
            )
        )
