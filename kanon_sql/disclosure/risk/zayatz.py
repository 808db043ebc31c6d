"""Zayatz's estimator of population uniqueness.

Zayatz, Estimation of the percent of unique population elements on a microdata file using the sample (US Bureau of
the Census, Statistical Research Division Report 91/08, 1991); compared with others by Dankar, El Emam, Neisa and
Roffey, Estimating the re-identification risk of clinical data sets (BMC Medical Informatics and Decision Making,
2012). The sizes of the population's classes are taken to be distributed as those of the sample; then Bayes gives
the probability that a sample unique comes from a class of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kanon_sql.disclosure.risk.estimate import Estimate, population_size
from kanon_sql.disclosure.risk.histogram import Histogram

__all__ = ["zayatz"]

NAME: Final = "zayatz"
NEGLIGIBLE = 1e-300


def zayatz(histogram: Histogram, sampling_fraction: float) -> Estimate:
    """How many records of the population are unique, from the sizes of the sample's classes.

    Args:
        histogram: the sample's classes.
        sampling_fraction: records of the sample per record of the population, above 0 and up to 1.
    """
    records = histogram.records
    if not records:
        return Estimate.missing(NAME, "the table has no records")
    population = population_size(records, sampling_fraction)
    if population == records:
        return Estimate.of(NAME, float(histogram.uniques), population)
    drawn = dict(_one_drawn(max(histogram.sizes), records, population))
    seen_once = sum(count * drawn.get(size, 0.0) for size, count in histogram.sizes.items())
    if not histogram.uniques:
        return Estimate.of(NAME, 0.0, population)
    alone = histogram.uniques * drawn[1] / seen_once
    return Estimate.of(NAME, histogram.uniques * alone * population / records, population)


def _one_drawn(largest: int, records: int, population: int) -> Iterator[tuple[int, float]]:
    """The probability (hypergeometric) that a sample holds exactly one record of a class of a size.

    size * C(population - size, records - 1) / C(population, records), as a product: factorials of millions
    have too few digits.
    """
    others = 1.0
    for size in range(1, largest + 1):
        yield size, size * records / population * others
        others *= max(0, population - records - size + 1) / max(1, population - size)
        if others < NEGLIGIBLE:
            return
