"""Three attackers, and what each may hope for.

The definitions are those of El Emam, Guide to the De-Identification of Personal Health Information (2013, the
chapters on measuring re-identification risk), and Dankar and El Emam, A method for evaluating marketer
re-identification risk (PAIS 2010). With f the records of a class and F those of the same class in the population:

    prosecutor  knows that the person is in the table               1 / f
    journalist  knows that the person is in the population          1 / F
    marketer    wants as many right matches as possible             the expected share of them
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil

from kanon_sql.disclosure.risk.histogram import Histogram
from kanon_sql.spec import Count, Document, Share

__all__ = ["JournalistRisk", "Matches", "Risk", "journalist", "largest_at_risk", "marketer", "prosecutor"]

ANY_SIZE = 10**18
"""Larger than every class, and a number in every database: with a threshold of 0 every record is at risk."""


@dataclass(frozen=True)
class Risk(Document):
    """The risk of records under one attacker.

    Attributes:
        highest: of any record; None without a record.
        average: over the records, as the attacker's definition says; None without a record.
        at_risk: records whose risk is above the threshold.
    """

    highest: Share | None
    average: Share | None
    at_risk: Count


@dataclass(frozen=True)
class JournalistRisk(Risk):
    """The journalist's risk where a population table says how many others look alike.

    Attributes:
        population_uniques: records that are alone in the population.
        population_records: records of the population in the table's classes.
    """

    population_uniques: Count
    population_records: Count


@dataclass(frozen=True)
class Matches:
    """The classes of a table beside those of a population.

    Attributes:
        classes: classes of the table.
        records: records in them.
        smallest: records of the population in the class that has the fewest there; None without a class.
        population_records: records of the population in the table's classes.
        expected: f / F summed over the classes: how many records a random matching is expected to get right.
        at_risk: records whose class has too few records in the population.
        uniques: records whose class has one record in the population.
        missing_classes, missing_records: classes with fewer records in the population than in the table, and
            their records: a person is in the table and not in the population.
    """

    classes: int
    records: int
    smallest: int | None
    population_records: int
    expected: float
    at_risk: int
    uniques: int
    missing_classes: int
    missing_records: int


def largest_at_risk(threshold: float) -> int:
    """The largest class whose risk, 1 / size, is above a threshold; exact: 0.05 is one twentieth."""
    exact = Fraction(Decimal(str(threshold)))
    return min(ANY_SIZE, ceil(1 / exact) - 1) if exact else ANY_SIZE


def prosecutor(histogram: Histogram, threshold: float) -> Risk:
    """The risk where the attacker knows that the person is in the table."""
    if not histogram.records:
        return Risk(None, None, 0)
    most = largest_at_risk(threshold)
    return Risk(
        highest=1 / min(histogram.sizes),
        average=histogram.classes / histogram.records,
        at_risk=sum(size * count for size, count in histogram.sizes.items() if size <= most),
    )


def journalist(matches: Matches) -> JournalistRisk:
    """The risk where the attacker knows that the person is in the population.

    The average is the larger one of two: that of matching every person of the population to the table (as many
    right as there are classes), and that of matching every record of the table to the population.
    """
    if not matches.records or not matches.smallest:
        return JournalistRisk(None, None, 0, 0, matches.population_records)
    return JournalistRisk(
        highest=1 / matches.smallest,
        average=max(matches.classes / matches.population_records, matches.expected / matches.records),
        at_risk=matches.at_risk,
        population_uniques=matches.uniques,
        population_records=matches.population_records,
    )


def marketer(histogram: Histogram, matches: Matches | None) -> float | None:
    """The expected share of records that are matched right; None without a record.

    Without a population table the attacker's is taken to be the table itself: as many right as there are classes.
    """
    if not histogram.records:
        return None
    return (histogram.classes if matches is None else matches.expected) / histogram.records
