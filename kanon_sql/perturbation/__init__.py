"""Perturbation: releases whose values are untrue on purpose, with what they cost and how many rows can be found again.

Noise, rank swapping, data swapping, PRAM and the shift of dates are done in the database, by numbers that are drawn
from a keyed digest of each row's key, or of a person's, so that one secret gives one release on every engine. A release
of this kind is apart from all others: no requirement is claimed of it. Its utility is measured by moments, correlations
and frequencies, its risk by record linkage by distance.
"""

from __future__ import annotations

from kanon_sql.perturbation.dates import SHIFT, days_of, moved_dates, shift_note
from kanon_sql.perturbation.linkage import Linked, linked
from kanon_sql.perturbation.masks import MaskedTable, masked
from kanon_sql.perturbation.release import publish_perturbed
from kanon_sql.perturbation.utility import Correlation, Frequencies, Moments, Utility, utility_of

__all__ = [
    "SHIFT",
    "Correlation",
    "Frequencies",
    "Linked",
    "MaskedTable",
    "Moments",
    "Utility",
    "days_of",
    "linked",
    "masked",
    "moved_dates",
    "publish_perturbed",
    "shift_note",
    "utility_of",
]
