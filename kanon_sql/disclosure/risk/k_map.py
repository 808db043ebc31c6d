"""How many persons of the population the classes of a sample stand for, by an estimate.

See :func:`kanon_sql.models.critical_size` (El Emam, Dankar 2008), with the zero-truncated Poisson distribution.
"""

from __future__ import annotations

from dataclasses import dataclass

from kanon_sql.disclosure.risk.attackers import ANY_SIZE, largest_at_risk
from kanon_sql.disclosure.risk.histogram import Histogram
from kanon_sql.models import SIGNIFICANCE, critical_size, largest_k
from kanon_sql.spec import Count, Document, Positive, Share

__all__ = ["KMapEstimate", "k_map_estimate"]


@dataclass(frozen=True)
class KMapEstimate(Document):
    """The journalist's risk without a population table: an estimate, and nothing is proven.

    Attributes:
        k: the largest k that the smallest class passes for; None without a record.
        significance: of classes with fewer than k persons, each passes with a probability of up to this.
        safe_size: records that a class needs for its risk in the population to be estimated at the threshold or below;
            None where no number is enough.
        at_risk: records in smaller classes.
    """

    k: Positive | None
    significance: Share
    safe_size: Positive | None
    at_risk: Count


def k_map_estimate(histogram: Histogram, sampling_fraction: float, threshold: float) -> KMapEstimate:
    """Estimate the journalist's risk from the sizes of a sample's classes.

    Args:
        histogram: the sample's classes.
        sampling_fraction: records of the sample per record of the population, above 0 and up to 1.
        threshold: from 0 to 1; a record with a risk above it is at risk.
    """
    persons = largest_at_risk(threshold) + 1
    needed = None if persons > ANY_SIZE else critical_size(persons, sampling_fraction, SIGNIFICANCE)
    smallest = min(histogram.sizes, default=None)
    return KMapEstimate(
        k=None if smallest is None else largest_k(smallest, sampling_fraction, SIGNIFICANCE),
        significance=SIGNIFICANCE,
        safe_size=needed,
        at_risk=sum(size * count for size, count in histogram.sizes.items() if needed is None or size < needed),
    )
