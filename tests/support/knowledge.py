"""Requirements about an attacker's knowledge, and small tables to ask them of."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tests.oracles.knowledge import (
    Histogram,
    by_bucket,
    by_factors,
    by_groups,
    without_null,
)
from tests.oracles.model import TOLERANCE, exact

ACROSS = {"a": 10, **{f"x{n}": 1 for n in range(10)}}, {"b": 18, "c": 15, **{f"y{n}": 1 for n in range(7)}}
"""The worst two implications tell of a person of the first class, and have both atoms in the other."""


FAMILY = {"s": 4, "x": 4, "y": 1, "z": 1}, {"s": 24, **{f"v{n}": 1 for n in range(16)}}
"""The worst family of a person of the first class is in the other."""


VALUES = ["flu", "Flu", "cold", "ache", "gout", "ulcer", "asthma"]


@dataclass(frozen=True)
class Asked:
    """A requirement, with what of the oracle belongs to it."""

    name: str
    parameters: Mapping[str, Any]

    def given(self, attribute: str = "s") -> dict[str, Any]:
        return {self.name: {"attribute": attribute, **self.parameters}}

    @property
    def bound(self) -> Fraction:
        if self.name == "epsilon_privacy":
            return exact(self.parameters["epsilon"]) + exact(TOLERANCE)
        return exact(self.parameters["c"]) - exact(TOLERANCE)

    def belief(self, table: Sequence[Histogram], of: int | None) -> Fraction:
        if self.name == "ck_safety":
            return by_bucket(table, self.parameters["k"], of)
        return by_groups(table, *(self.parameters[name] for name in "lkm"), of)

    def measures(self, table: Sequence[Histogram], original: Histogram, suppresses: bool) -> list[Fraction | None]:
        """Per class, what is measured; None where no bound is enough.

        Where violating classes are suppressed, those that violate by themselves are not among the others.
        """
        if self.name == "epsilon_privacy":
            return [self._factor(histogram, original) for histogram in table]
        valued = [without_null(histogram) for histogram in table]
        alone = [self.belief([histogram], 0) if histogram else None for histogram in valued]
        found: list[Fraction | None] = []
        for number, histogram in enumerate(valued):
            others = [
                other
                for place, other in enumerate(valued)
                if place != number and other and not (suppresses and (alone[place] or 0) >= exact(self.parameters["c"]))
            ]
            found.append(self.belief([histogram, *others], 0) if histogram else None)
        return found

    def _factor(self, histogram: Histogram, original: Histogram) -> Fraction | None:
        there = {value: count for value, count in original.items() if count}
        priors: dict[str, dict[Any, Fraction] | None] = {
            "any": None,
            "uniform": {value: Fraction(1, len(there)) for value in there},
            "reference": {value: Fraction(count, sum(there.values())) for value, count in there.items()},
        }
        sigma = self.parameters["stubbornness"]
        shares = priors[self.parameters.get("prior", "any")]
        return by_factors(histogram, shares, None if sigma == "infinite" else exact(sigma))

    def meets(self, measure: Fraction | None) -> bool:
        if measure is None:
            return False
        return measure <= self.bound if self.name == "epsilon_privacy" else measure < self.bound

    @property
    def reached(self) -> str:
        return "epsilon" if self.name == "epsilon_privacy" else "c_above"


@st.composite
def drawn_asked(draw: st.DrawFn) -> Asked:
    """Any of the three."""
    which = draw(st.sampled_from(["ck_safety", "privacy_skyline", "privacy_skyline", "epsilon_privacy"]))
    c = draw(st.sampled_from([0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 0.5, 0.75]))
    pieces = st.sampled_from([0, 1, 1, 2, 3])
    if which == "ck_safety":
        return Asked(which, {"c": c, "k": draw(pieces)})
    if which == "privacy_skyline":
        return Asked(which, {"c": c, **{name: draw(pieces) for name in "lkm"}})
    prior = draw(st.sampled_from(["any", "uniform", "reference"]))
    sigma = draw(st.sampled_from([1, 1.5, 3, 10, 100, *([] if prior == "any" else ["infinite"])]))
    return Asked(which, {"epsilon": draw(st.sampled_from([1.5, 2.5, 4, 20])), "stubbornness": sigma, "prior": prior})


@st.composite
def tables(draw: st.DrawFn, most_classes: int = 4, most: int = 8) -> list[dict[Any, int]]:
    """Classes as counts of their values; drawn from a seed, since hypothesis likes small numbers too much."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    found = []
    for _ in range(rng.randint(1, most_classes)):
        values = rng.sample(VALUES, rng.randint(1, len(VALUES)))
        high = rng.choice([1, 2, most])
        counts = {value: rng.randint(1, high) for value in values}
        if rng.random() < 0.4:
            counts[values[0]] += rng.randint(3, 20)
        if rng.random() < 0.3:
            counts[None] = rng.randint(1, 3)
        found.append({None: 2} if rng.random() < 0.03 else counts)
    return found
