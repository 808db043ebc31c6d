"""Loss: the share of its domain that each released value could stand for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from kanon_sql.models.quality.aggregate import PerColumn
from kanon_sql.models.quality.base import Attribute, Counts, Measured, normalized_share
from kanon_sql.registers import QUALITY_METRICS
from kanon_sql.search import Node
from kanon_sql.sql import Sql, render

__all__ = ["Loss"]


@QUALITY_METRICS.declare
@dataclass(frozen=True)
class Loss(PerColumn):
    """Loss (Iyengar 2002, section 3.1, "LM"), normalized and averaged as ARX's default metric.

    Per quasi-identifier, each released row adds the share of the domain under its
    generalized value (over the whole hierarchy, not only values in the data), each
    suppressed row adds 1; the sum is scaled so that 0 is the original table and 1 a fully
    generalized one. The result is the weighted geometric mean over quasi-identifiers.

    With a generalization factor g, released rows add g times their share. With a suppression factor s
    below 1, suppressed rows add the share of the value that they would have had and s times the rest.
    Rows that are suppressed for a NULL are the same for every node and always add 1.
    """

    name: ClassVar[str] = "loss"
    words: ClassVar[str] = "geometric mean of the columns, as in ARX"
    formula: ClassVar[str] = (
        "per column L = (sum over released rows of d / D, plus S, less N / D) / (N - N / D); then the geometric "
        "mean, (product of (w L + 1))^(1/n) - 1"
    )
    source: ClassVar[str] = "Iyengar 2002; as in ARX"
    place: ClassVar[int] = 3
    weighs: ClassVar[bool] = True
    bounds_cuts: ClassVar[bool] = True
    largest: ClassVar[int | None] = 1
    carries = "sizes"
    staged = True
    aggregate: str = "geometric_mean"

    def aggregates(self, kept: Sql, carried: Sequence[str]) -> dict[str, Sql]:
        """Per sized quasi-identifier: domain values under the released rows' values."""
        return {
            f"covered_{index}": render("models/quality/loss", kept=kept, size=size)
            for index, size in enumerate(carried)
        }

    def least_costs(self, k: int, carried: Sequence[str]) -> dict[str, Sql]:
        """No row's values get more detailed than in the finest classes."""
        return {
            f"covered_{index}": render("models/quality/least_loss", size=size) for index, size in enumerate(carried)
        }

    def added(self, counts: Counts) -> Callable[[Measured], int] | None:
        """The domain values under all rows' values, where one quasi-identifier alone has several."""
        several = [index for index, attribute in enumerate(counts.attributes) if attribute.domain_rows > 1]
        if self.gs_factor != 0.5 or len(several) != 1:
            return None
        (only,) = several
        domain = counts.attributes[only].domain_rows
        return lambda measured: round(self._covered(counts, measured)[only]) + domain * measured.suppressed

    def by_attribute(self, counts: Counts, measured: Measured) -> list[float]:
        """Per quasi-identifier, the share of its detail that is lost; suppressed rows lose all of it."""
        if self.gs_factor == 0.5:
            return self._normalized(counts, self.shares(counts, measured))
        more = measured.suppressed - counts.null_rows
        shares = [
            self._share(covered, more, attribute.covered[level] - covered, counts, attribute)
            for covered, attribute, level in zip(
                self._covered(counts, measured), counts.attributes, measured.node, strict=True
            )
        ]
        return self._normalized(counts, shares)

    def shares(self, counts: Counts, measured: Measured) -> list[float]:
        """Per quasi-identifier, the shares of its domain that all rows' values could stand for, summed."""
        return [
            covered / attribute.domain_rows + measured.suppressed
            for covered, attribute in zip(self._covered(counts, measured), counts.attributes, strict=True)
        ]

    def unsuppressed(self, counts: Counts) -> list[list[float]]:
        """The losses if no class had to be suppressed."""
        return [
            [
                normalized_share(
                    self.generalization * covered / attribute.domain_rows + counts.null_rows,
                    counts.rows,
                    attribute.domain_rows,
                    self.generalization,
                )
                for covered in attribute.covered
            ]
            for attribute in counts.attributes
        ]

    def least(self, counts: Counts, node: Node, suppressed: int) -> float:
        """As if the suppressed rows were those with the most domain values under theirs."""
        more = suppressed - counts.null_rows
        shares = [
            self._share(
                attribute.covered[level] - more * attribute.largest[level],
                more,
                more * attribute.largest[level],
                counts,
                attribute,
            )
            for attribute, level in zip(counts.attributes, node, strict=True)
        ]
        return self.of_losses(counts, node, self._normalized(counts, shares))

    def expected(self, counts: Counts, node: Node, suppressed: int) -> float:
        """As if the released rows had as many domain values under theirs, in the mean, as all rows."""
        share = (counts.rows - suppressed) / max(1, counts.rows - counts.null_rows)
        more = suppressed - counts.null_rows
        shares = [
            self._share(
                share * attribute.covered[level], more, (1 - share) * attribute.covered[level], counts, attribute
            )
            for attribute, level in zip(counts.attributes, node, strict=True)
        ]
        return self.of_losses(counts, node, self._normalized(counts, shares))

    def _share(
        self, released: float, suppressed: int, would_cover: float, counts: Counts, attribute: Attribute
    ) -> float:
        """What all rows add, from the domain values under those released and under those that are suppressed."""
        own = self.generalization * released / attribute.domain_rows + counts.null_rows
        if self.suppression == 1.0:
            return own + suppressed
        would_add = would_cover / attribute.domain_rows
        return own + would_add + self.suppression * (suppressed - would_add)

    def _covered(self, counts: Counts, measured: Measured) -> list[float]:
        """Per quasi-identifier, the domain values under the released rows' values, summed."""
        kept = counts.rows - measured.suppressed
        position = {attribute: index for index, attribute in enumerate(measured.sized)}
        covered = []
        for index, (attribute, level) in enumerate(zip(counts.attributes, measured.node, strict=True)):
            if index in position:
                covered.append(float(measured.values[f"covered_{position[index]}"]))
            else:
                covered.append(float(kept * (1 if level == 0 and attribute.height > 0 else attribute.domain_rows)))
        return covered

    def _normalized(self, counts: Counts, shares: Sequence[float]) -> list[float]:
        return [
            normalized_share(share, counts.rows, attribute.domain_rows, self.generalization)
            for share, attribute in zip(shares, counts.attributes, strict=True)
        ]
