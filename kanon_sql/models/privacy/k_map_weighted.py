"""k-map by sampling weights: classes whose weights add up to k persons of the population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from kanon_sql.models.privacy.base import Monotonicity, PrivacyModel
from kanon_sql.models.privacy.k_map import KMapRequirement
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import WEIGHT_UNITS, figure

__all__ = ["KMapWeightedModel"]


@register
@dataclass(frozen=True)
class KMapWeightedModel(PrivacyModel):
    """k-map (Sweeney 2001) of a population that is not there, by the sampling weights of a sample's rows.

    A class is estimated to have as many persons in the population as its weights add up to (Benedetti and Franconi,
    Statistical and technological solutions for controlled data dissemination, 1998). Weights are added up as whole
    numbers of millionths, so that sums are exact and the same on every engine.

    Monotone also under suppression: a union has the weights of each part.
    """

    name: ClassVar[str] = "k_map_weighted"
    requirement: ClassVar = KMapRequirement
    figures: ClassVar = {
        "persons_estimated": figure(
            "k_map by weights: the persons of the population that the class with the fewest is estimated to have; an "
            "estimate proves nothing.",
            float,
            minimum=0,
        ),
    }
    worst: ClassVar = "MIN"
    is_estimate: ClassVar[bool] = True
    k: int
    column: str

    @classmethod
    def of(cls, requirement: KMapRequirement) -> Self | None:
        """With the requirement's parameters; None where it names no column of weights."""
        return None if requirement.weight is None else cls(requirement.k, requirement.weight)

    @property
    def attribute(self) -> str:
        """The column of weights, whose values are counted."""
        return self.column

    @property
    def adds_up(self) -> str:
        """The column of weights."""
        return self.column

    @property
    def protects_no_one(self) -> bool:
        """With ``k`` 1, which the weight of any row is."""
        return self.k == 1

    @property
    def notation(self) -> str:
        """Such as ``5-map by the weights w``."""
        return f"{self.k}-map by the weights {self.column}"

    @property
    def assumption(self) -> str:
        """Weights that add up to about what the population has of each class."""
        return (
            f"{self.k}-map is an estimate and not proven: the weights {self.column} of a class are assumed to add up "
            "to about as many persons as the population has of it"
        )

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Always: weights are above 0, and merging adds."""
        return Monotonicity.ALWAYS

    def parameters(self) -> dict[str, Any]:
        """``k``, in the units that weights are added up in."""
        return {"units": self.k * WEIGHT_UNITS}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The smallest sum of a class's weights; None when there is no class."""
        return {"persons_estimated": None if worst is None else float(worst) / WEIGHT_UNITS}
