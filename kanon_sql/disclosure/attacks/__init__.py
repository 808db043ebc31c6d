"""Attacks on a release, one file each: how many people does it expose, in one aggregate query.

An attack says which *cases* it looks at (classes of the release, or vectors of a table that
the attacker has besides) and, per case, how many people it stands for and how much is learned
about them. :func:`~kanon_sql.disclosure.attacks.base.measured` counts them in the database.
"""

from __future__ import annotations

from kanon_sql.disclosure.attacks.background import background
from kanon_sql.disclosure.attacks.base import (
    Attack,
    Cases,
    Reading,
    Revealed,
    Scene,
    Target,
    Unmeasured,
    label_of,
    measured,
    worst_of,
)
from kanon_sql.disclosure.attacks.complementary import complementary
from kanon_sql.disclosure.attacks.composition import composition
from kanon_sql.disclosure.attacks.consistency import consistency
from kanon_sql.disclosure.attacks.definetti import definetti
from kanon_sql.disclosure.attacks.homogeneity import homogeneity
from kanon_sql.disclosure.attacks.linking import linking
from kanon_sql.disclosure.attacks.minimality import minimality
from kanon_sql.disclosure.attacks.promises import FEWEST, promised_k, promised_values
from kanon_sql.disclosure.attacks.similarity import similarity
from kanon_sql.disclosure.attacks.skewness import skewness
from kanon_sql.disclosure.attacks.unsorted import cannot_read_order, unsorted_matching
from kanon_sql.disclosure.attacks.views import attributes_of, views

__all__ = [
    "ATTACKS",
    "FEWEST",
    "ON_REQUEST",
    "Attack",
    "Cases",
    "Reading",
    "Revealed",
    "Scene",
    "Target",
    "Unmeasured",
    "attributes_of",
    "background",
    "cannot_read_order",
    "complementary",
    "composition",
    "consistency",
    "definetti",
    "homogeneity",
    "label_of",
    "linking",
    "measured",
    "minimality",
    "promised_k",
    "promised_values",
    "similarity",
    "skewness",
    "unsorted_matching",
    "views",
    "worst_of",
]

ATTACKS = (
    "linking",
    "homogeneity",
    "background",
    "skewness",
    "similarity",
    "complementary",
    "composition",
    "views",
    "unsorted",
    "consistency",
    "minimality",
    "definetti",
)
"""The attacks by their names in results, in the order in which they run."""

ON_REQUEST = ("minimality", "definetti")
"""Attacks that run only if they are named: estimates on assumptions of their own, which cost more than the others."""
