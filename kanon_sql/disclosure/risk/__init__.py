"""Re-identification risk of a table as it is: what an attacker may hope for, and which columns help.

Everything is computed from classes of records that look alike: a record is a row or, where a
unit is named, a person (who counts once in every class that holds a row of theirs).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanon_sql.disclosure.risk.agreement import LARGE, Agreement, GroupsOf, Pair, Records, agreement_of
from kanon_sql.disclosure.risk.attackers import (
    JournalistRisk,
    Matches,
    Risk,
    journalist,
    largest_at_risk,
    marketer,
    prosecutor,
)
from kanon_sql.disclosure.risk.combinations import Combination, combination_count, combinations
from kanon_sql.disclosure.risk.dankar import ESTIMATORS, dankar
from kanon_sql.disclosure.risk.estimate import Estimate
from kanon_sql.disclosure.risk.histogram import Histogram
from kanon_sql.disclosure.risk.measure import (
    RiskFrames,
    combination_measures,
    histogram_of,
    population_matches,
    with_estimates,
)
from kanon_sql.disclosure.risk.pitman import pitman
from kanon_sql.disclosure.risk.snb import snb
from kanon_sql.disclosure.risk.suda import MOST_SETS, Suda, suda
from kanon_sql.disclosure.risk.weighted import HouseholdRisk, WeightedRisk, weighted_risk
from kanon_sql.disclosure.risk.zayatz import zayatz
from kanon_sql.lazy import imported_from

if TYPE_CHECKING:
    from kanon_sql.disclosure.risk.k_map import KMapEstimate, k_map_estimate

__all__ = [
    "ESTIMATORS",
    "LARGE",
    "MOST_SETS",
    "Agreement",
    "Combination",
    "Estimate",
    "GroupsOf",
    "Histogram",
    "HouseholdRisk",
    "JournalistRisk",
    "KMapEstimate",
    "Matches",
    "Pair",
    "Records",
    "Risk",
    "RiskFrames",
    "Suda",
    "WeightedRisk",
    "agreement_of",
    "combination_count",
    "combination_measures",
    "combinations",
    "dankar",
    "histogram_of",
    "journalist",
    "k_map_estimate",
    "largest_at_risk",
    "marketer",
    "pitman",
    "population_matches",
    "prosecutor",
    "snb",
    "suda",
    "weighted_risk",
    "with_estimates",
    "zayatz",
]

_HOME = {"KMapEstimate": "k_map", "k_map_estimate": "k_map"}
"""What the risk of a sample alone needs, and the file that is imported where it is asked for."""

__getattr__ = imported_from(__name__, _HOME)
