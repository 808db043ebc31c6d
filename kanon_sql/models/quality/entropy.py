"""Non-uniform entropy: the bits of information that generalization removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import ClassVar

from kanon_sql.models.quality.aggregate import PerColumn
from kanon_sql.models.quality.base import Counts, Measured
from kanon_sql.registers import QUALITY_METRICS
from kanon_sql.search import Node
from kanon_sql.sql import Sql, render

__all__ = ["NonUniformEntropy"]


@QUALITY_METRICS.declare
@dataclass(frozen=True)
class NonUniformEntropy(PerColumn):
    """Non-uniform entropy (Gionis and Tassa 2009, section 4; suppression as in ARX).

    Per quasi-identifier, summed over rows, in bits: the information lost by replacing a
    value x by its generalization g(x), log2(n(g(x)) / n(x)) with n counted in the source,
    plus for suppressed rows the information still in their generalized value, log2(S / c),
    c of the S suppressed rows having it. Weighted sum over quasi-identifiers. Rows
    suppressed for NULL are the same for every node and left out. Either part counts by its factor.
    """

    name: ClassVar[str] = "entropy"
    words: ClassVar[str] = "bits of information lost"
    formula: ClassVar[str] = (
        "sum over columns of w times the bits lost: per row log2(rows with its label / rows with its value), per "
        "suppressed row also log2(S / suppressed rows with its label)"
    )
    source: ClassVar[str] = "Gionis, Tassa 2009"
    place: ClassVar[int] = 6
    weighs: ClassVar[bool] = True
    carries = "codes"
    staged = True
    aggregate: str = "sum"

    def windows(self, carried: Sequence[str]) -> dict[str, Sql]:
        """Per quasi-identifier: how many suppressed rows share the class's generalized value."""
        return {
            f"sharing_{index}": render("models/quality/entropy", part="window", key=code)
            for index, code in enumerate(carried)
        }

    def aggregates(self, kept: Sql, carried: Sequence[str]) -> dict[str, Sql]:
        """Per quasi-identifier: n ln n over the generalized values of the suppressed rows."""
        return {
            f"suppressed_log_{index}": render(
                "models/quality/entropy", part="aggregate", kept=kept, window=f"sharing_{index}"
            )
            for index, _ in enumerate(carried)
        }

    def by_attribute(self, counts: Counts, measured: Measured) -> list[float]:
        """Bits lost by generalizing plus bits lost by suppressing."""
        suppressed = measured.suppressed - counts.null_rows
        total = [levels[level] for levels, level in zip(self.unsuppressed(counts), measured.node, strict=True)]
        if suppressed:
            log_all = suppressed * log(suppressed)
            for position, index in enumerate(measured.keyed):
                lost = log_all - float(measured.values[f"suppressed_log_{position}"])
                total[index] += self.suppression * lost / log(2)
        return total

    def unsuppressed(self, counts: Counts) -> list[list[float]]:
        """Bits lost by generalizing alone."""
        return [
            [self.generalization * max(0.0, row_log - attribute.row_log[0]) / log(2) for row_log in attribute.row_log]
            for attribute in counts.attributes
        ]

    def expected(self, counts: Counts, node: Node, suppressed: int) -> float:
        """As if each suppressed row lost the bits that a row has left in the mean."""
        rows = counts.rows - counts.null_rows
        share = (suppressed - counts.null_rows) / max(1, rows)
        losses = [
            levels[level]
            + self.suppression * share * max(0.0, attribute.row_log[-1] - attribute.row_log[level]) / log(2)
            for levels, attribute, level in zip(self.unsuppressed(counts), counts.attributes, node, strict=True)
        ]
        return self.of_losses(counts, node, losses)
