"""Which estimator of population uniqueness to believe.

Dankar, El Emam, Neisa and Roffey, Estimating the re-identification risk of clinical data sets (BMC Medical Informatics
and Decision Making 12:66, 2012), by their simulations: Pitman's for sampling fractions up to 0.1; above, the smaller
one of Zayatz's and of the slide negative binomial model's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from kanon_sql.disclosure.risk.estimate import Estimate
from kanon_sql.disclosure.risk.histogram import Histogram
from kanon_sql.disclosure.risk.pitman import pitman
from kanon_sql.disclosure.risk.snb import snb
from kanon_sql.disclosure.risk.zayatz import zayatz

__all__ = ["ESTIMATORS", "dankar"]

NAME: Final = "dankar"
PITMAN_UP_TO = 0.1


def dankar(histogram: Histogram, sampling_fraction: float) -> Estimate:
    """The estimate that the decision rule takes, and which one it is.

    Zayatz's stands in for another that does not exist for the table; it exists wherever there are records.

    Args:
        histogram: the sample's classes.
        sampling_fraction: records of the sample per record of the population, above 0 and up to 1.
    """
    fallback = zayatz(histogram, sampling_fraction)
    if fallback.uniques is None:
        return Estimate.missing(NAME, fallback.reason or "")
    if sampling_fraction <= PITMAN_UP_TO:
        found = pitman(histogram, sampling_fraction)
        taken = fallback if found.uniques is None else found
    else:
        found = snb(histogram, sampling_fraction)
        taken = fallback if found.uniques is None or fallback.uniques <= found.uniques else found
    return replace(taken, estimator=NAME, chosen=taken.estimator)


ESTIMATORS = {"zayatz": zayatz, "pitman": pitman, "snb": snb, "dankar": dankar}
"""The estimators of population uniqueness, by their names in a spec."""
