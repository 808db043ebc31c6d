"""Loss: the share of its domain that each released value could stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from kanon_sql.models.quality.base import Counts, Measured, Metric, geometric_mean, normalized_share
from kanon_sql.search import Node
from kanon_sql.sql import Sql, render

__all__ = ["Loss"]


class Loss(Metric):
    """Loss (Iyengar 2002, section 3.1, "LM"), normalized and averaged as ARX's default metric.

    Per quasi-identifier, each released row adds the share of the domain under its
    generalized value (over the whole hierarchy, not only values in the data), each
    suppressed row adds 1; the sum is scaled so that 0 is the original table and 1 a fully
    generalized one. The result is the weighted geometric mean over quasi-identifiers.
    """

    name: ClassVar[str] = "loss"
    multiplies = True
    carries = "sizes"
    staged = True

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

    def value(self, counts: Counts, measured: Measured) -> float:
        """The geometric mean of the attributes' losses."""
        return geometric_mean(self.by_attribute(counts, measured), counts.weights)

    def by_attribute(self, counts: Counts, measured: Measured) -> list[float]:
        """Per quasi-identifier, the share of its detail that is lost; suppressed rows lose all of it."""
        return self._normalized(counts, self.shares(counts, measured))

    def shares(self, counts: Counts, measured: Measured) -> list[float]:
        """Per quasi-identifier, the shares of its domain that all rows' values could stand for, summed."""
        kept = counts.rows - measured.suppressed
        position = {attribute: index for index, attribute in enumerate(measured.sized)}
        shares = []
        for index, (attribute, level) in enumerate(zip(counts.attributes, measured.node, strict=True)):
            if index in position:
                covered = float(measured.values[f"covered_{position[index]}"])
            else:
                covered = float(kept * (1 if level == 0 and attribute.height > 0 else attribute.domain_rows))
            shares.append(covered / attribute.domain_rows + measured.suppressed)
        return shares

    def parts(self, counts: Counts) -> list[list[float]]:
        """The factors of the geometric mean if no class had to be suppressed."""
        shares = [
            [covered / attribute.domain_rows + counts.null_rows for covered in attribute.covered]
            for attribute in counts.attributes
        ]
        return [
            [attribute.weight * normalized_share(share, counts.rows, attribute.domain_rows) + 1.0 for share in own]
            for own, attribute in zip(shares, counts.attributes, strict=True)
        ]

    def whole(self, counts: Counts, combined: float) -> float:
        """Their geometric mean, less 1."""
        return float(combined ** (1 / len(counts.attributes))) - 1.0

    def least(self, counts: Counts, node: Node, suppressed: int) -> float:
        """As if the suppressed rows were those with the most domain values under theirs."""
        more = suppressed - counts.null_rows
        shares = [
            attribute.covered[level] / attribute.domain_rows
            + counts.null_rows
            + more * (1 - attribute.largest[level] / attribute.domain_rows)
            for attribute, level in zip(counts.attributes, node, strict=True)
        ]
        return geometric_mean(self._normalized(counts, shares), counts.weights)

    def expected(self, counts: Counts, node: Node, suppressed: int) -> float:
        """As if the released rows had as many domain values under theirs, in the mean, as all rows."""
        share = (counts.rows - suppressed) / max(1, counts.rows - counts.null_rows)
        shares = [
            share * attribute.covered[level] / attribute.domain_rows + suppressed
            for attribute, level in zip(counts.attributes, node, strict=True)
        ]
        return geometric_mean(self._normalized(counts, shares), counts.weights)

    @staticmethod
    def _normalized(counts: Counts, shares: Sequence[float]) -> list[float]:
        return [
            normalized_share(share, counts.rows, attribute.domain_rows)
            for share, attribute in zip(shares, counts.attributes, strict=True)
        ]
