"""The risk of the records of a release: rows, or the persons that its run counted before it was published.

A release does not hold the column of the person. So where persons are protected, classes are those that the run counted
and its manifest keeps, if the table is still the one that it published; with rows alone, a person of several rows would
count several times, and every risk would be told too low.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from kanon_sql.disclosure.risk import largest_at_risk
from kanon_sql.spec import Count, Document, Positive, Share, in_json
from kanon_sql.verbs.evidence.published import Published
from kanon_sql.verbs.risk import RiskResult

__all__ = ["EMA_THRESHOLD", "Records", "records_of"]

EMA_THRESHOLD = 0.09
"""Of the guidance on EMA's policy 0070 (EMA/90915/2016), on the probability of being re-identified."""


@dataclass(frozen=True)
class Records(Document):
    """The records of a release and their risk, for an attacker who knows that a person is in it.

    Attributes:
        counted: what a record is.
        proven: whether these are the records that the spec protects; False where it protects persons, and only rows
            could be counted: the true risks are then as high or higher.
        classes: how many; None where that is not known in records.
        records: in all classes; None likewise.
        smallest: records of the smallest class; None without a record.
        alone: records that are alone in their class; None where that was not counted.
        at_risk: records whose risk is above the threshold; None where that was not counted.
        threshold: a risk above it is too high.
    """

    counted: Literal["rows", "persons"]
    proven: bool
    classes: Count | None
    records: Count | None
    smallest: Count | None
    alone: Count | None
    at_risk: Count | None
    threshold: Share = EMA_THRESHOLD

    @property
    @in_json
    def highest(self) -> Share | None:
        """The risk of the record that is easiest to find: one over the smallest class."""
        return 1 / self.smallest if self.smallest else None

    @property
    @in_json
    def average(self) -> Share | None:
        """Classes over records; None where that was not counted."""
        return self.classes / self.records if self.classes is not None and self.records else None

    @property
    @in_json
    def average_at_most(self) -> Share | None:
        """The average risk where it was counted; else what it cannot be above, which is the highest."""
        return self.highest if self.average is None else self.average

    @property
    @in_json
    def size_needed(self) -> Positive:
        """The smallest class whose risk is not above the threshold: 12 for 0.09, since 1/11 is 0.0909."""
        return largest_at_risk(self.threshold) + 1

    @property
    @in_json
    def highest_within(self) -> bool | None:
        """Whether the highest risk is at or below the threshold; None where that is not known."""
        if self.smallest is None:
            return None
        return self._known(self.smallest >= self.size_needed)

    @property
    @in_json
    def average_within(self) -> bool | None:
        """Whether the average risk is at or below the threshold; None where that is not known."""
        if self.smallest is None:
            return None
        if self.classes is None or not self.records:
            return True if self._known(self.smallest >= self.size_needed) else None
        return self._known(Fraction(self.classes, self.records) <= Fraction(str(self.threshold)))

    def _known(self, within: bool) -> bool | None:
        """An answer about rows says nothing good of persons; a bad one holds for them too."""
        return within if self.proven or not within else None


def records_of(measured: RiskResult, run: Published | None, unit: str | None) -> Records:
    """The records of a release.

    Args:
        measured: the risk of the table, in the records that it holds, at the threshold.
        run: what its manifest says.
        unit: the column of the person, if the spec protects persons.
    """
    histogram = measured.histogram
    by_run = run is not None and run.vouches and run.counts_persons and run.smallest is not None
    if unit is None or measured.unit is not None or run is None or not by_run:
        return Records(
            counted="rows" if measured.unit is None else "persons",
            proven=unit is None or measured.unit is not None,
            classes=histogram.classes,
            records=histogram.records,
            smallest=min(histogram.sizes, default=None),
            alone=histogram.uniques,
            at_risk=measured.prosecutor.at_risk,
            threshold=measured.threshold,
        )
    smallest = run.smallest
    classes, records = run.counted or (None, None)
    safe = smallest is not None and smallest > largest_at_risk(measured.threshold)
    return Records(
        counted="persons",
        proven=True,
        classes=classes,
        records=records,
        smallest=smallest,
        alone=0 if smallest is not None and smallest > 1 else None,
        at_risk=0 if safe else None,
        threshold=measured.threshold,
    )
