"""Attacks on a release, one file each: how many people does it expose, in one aggregate query.

An attack says which *cases* it looks at (classes of the release, or vectors of a table that
the attacker has besides) and, per case, how many people it stands for and how much is learned
about them. :func:`~kanon_sql.attacks.base.measured` counts them in the database.
"""

from __future__ import annotations

from kanon_sql.attacks.background import background
from kanon_sql.attacks.base import Attack, Cases, Scene, Target, Unmeasured, measured
from kanon_sql.attacks.complementary import complementary
from kanon_sql.attacks.composition import composition
from kanon_sql.attacks.consistency import consistency
from kanon_sql.attacks.homogeneity import homogeneity
from kanon_sql.attacks.linking import linking
from kanon_sql.attacks.similarity import similarity
from kanon_sql.attacks.skewness import skewness
from kanon_sql.attacks.unsorted import cannot_read_order, unsorted_matching

__all__ = [
    "ATTACKS",
    "Attack",
    "Cases",
    "Scene",
    "Target",
    "Unmeasured",
    "background",
    "cannot_read_order",
    "complementary",
    "composition",
    "consistency",
    "homogeneity",
    "linking",
    "measured",
    "similarity",
    "skewness",
    "unsorted_matching",
]

ATTACKS = (
    "linking",
    "homogeneity",
    "background",
    "skewness",
    "similarity",
    "complementary",
    "composition",
    "unsorted",
    "consistency",
)
"""The attacks by their names in results, in the order in which they run."""
