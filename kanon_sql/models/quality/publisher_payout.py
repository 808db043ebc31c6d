"""Publisher's payout: what a release earns less than all records in all detail, in an attacker's presence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import ClassVar, Self

from kanon_sql.models.quality.base import Counts, Measured, Metric
from kanon_sql.registers import QUALITY_METRICS
from kanon_sql.search import Node
from kanon_sql.spec import Prices, SearchOptions
from kanon_sql.sql import Sql, render

__all__ = ["PublisherPayout"]


@QUALITY_METRICS.declare
@dataclass(frozen=True)
class PublisherPayout(Metric):
    """The publisher's payout (Wan et al. 2015) as a loss, in the currency of the prices; as in ARX.

    A released record earns ``benefit`` times 1 - IL, where IL is the logarithm of the vectors of the domain that its
    labels stand for, over that of all vectors. An attacker who succeeds with a probability p of 1 over the rows (or
    persons) of the class tries where gain times p is more than cost, and costs the publisher loss times p. A suppressed
    record earns nothing. The metric is N times benefit, less what is earned.

    Attributes:
        prices: the publisher's and the attacker's.
    """

    name: ClassVar[str] = "publisher_payout"
    words: ClassVar[str] = "payout lost compared with releasing all records unchanged"
    formula: ClassVar[str] = (
        "N times the benefit of a record, less what the release [earns](#the-publishers-payout); `prices` says "
        "what a record is worth"
    )
    source: ClassVar[str] = "Wan et al. 2015"
    place: ClassVar[int] = 9
    takes: ClassVar[Mapping[str, str]] = {"prices": "such as {benefit: 1200, loss: 300, gain: 300, cost: 4}"}
    never_monotone: ClassVar[str] = "publisher_payout is what a release earns, of which suppression is a part"
    carries = "sizes"
    prices: Prices

    @classmethod
    def of(cls, search: SearchOptions) -> Self:
        """By the prices that the search has."""
        assert search.prices is not None
        return cls(search.prices)

    @property
    def shape(self) -> str:
        """The attacker's prices are in the statements."""
        return f"{super().shape}, {self.prices.gain!r}, {self.prices.cost!r}"

    def aggregates(self, kept: Sql, carried: Sequence[str]) -> dict[str, Sql]:
        """Logarithms of sizes times rows, over the released classes and over all; what attacks are expected to find."""
        asked = {"sizes": carried, "kept": kept, "gain": self.prices.gain, "cost": self.prices.cost}
        return {
            name: render(f"models/quality/{self.name}", part=name, **asked)
            for name in ("kept_width", "width", "found_rows")
        }

    def value(self, counts: Counts, measured: Measured) -> float:
        """What is not earned."""
        kept = counts.rows - measured.suppressed
        width = float(measured.values["kept_width"] or 0) + kept * _at_top(counts, measured.node)
        attacked = self.prices.loss * float(measured.values["found_rows"] or 0)
        return self.prices.benefit * (measured.suppressed + _share(counts, width)) + attacked

    def parts(self, counts: Counts) -> list[list[float]]:
        """A row of a column at the top has the width of its domain; below it may have none."""
        return [[0.0] * attribute.height + [log(attribute.domain_rows)] for attribute in counts.attributes]

    def whole(self, counts: Counts, combined: float) -> float:
        """So does every row that is not suppressed for a NULL; one that is suppressed costs no less."""
        return self.prices.benefit * (counts.null_rows + _share(counts, combined * (counts.rows - counts.null_rows)))

    def least(self, counts: Counts, node: Node, suppressed: int) -> float:
        """Suppressed rows earn nothing."""
        return max(self.bound(counts, node), self.prices.benefit * suppressed)

    def floor(self, counts: Counts, measured: Measured) -> float:
        """The width of all rows: a suppressed row costs no less, and generalizing never makes a row narrower."""
        rows = counts.rows - counts.null_rows
        width = float(measured.values["width"] or 0) + rows * _at_top(counts, measured.node)
        return self.prices.benefit * (counts.null_rows + _share(counts, width))


def _at_top(counts: Counts, node: Node) -> float:
    """The width of what all rows have in common."""
    pairs = zip(counts.attributes, node, strict=True)
    return sum(log(attribute.domain_rows) for attribute, level in pairs if level == attribute.height)


def _share(counts: Counts, width: float) -> float:
    """A width as a share of the domain's; 0 where that has one vector."""
    whole = sum(log(attribute.domain_rows) for attribute in counts.attributes)
    return width / whole if whole > 0 else 0.0
