"""k-map: every released row could be any of k persons of a population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from kanon_sql.models.privacy.base import Monotonicity
from kanon_sql.models.privacy.population import PopulationModel
from kanon_sql.spec import KMapRequirement, Requirement

__all__ = ["KMapModel"]


@dataclass(frozen=True)
class KMapModel(PopulationModel):
    """k-map (Sweeney, Computational Disclosure Control, PhD thesis, MIT 2001): the journalist's k-anonymity.

    Monotone also under suppression: a generalized class stands for at least as many persons as each part.
    """

    name: ClassVar[str] = "k_map"
    requirement: ClassVar[type[Requirement]] = KMapRequirement
    worst: ClassVar = "MIN"
    k: int

    @classmethod
    def of(cls, requirement: KMapRequirement) -> Self | None:
        """With the requirement's parameters; None where it asks for an estimate."""
        if requirement.population is None:
            return None
        return cls(requirement.population, requirement.person, k=requirement.k)

    @property
    def notation(self) -> str:
        """Such as ``5-map to census``."""
        return f"{self.k}-map to {self.shown}"

    @property
    def least_population(self) -> int:
        """``k``."""
        return self.k

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Always: it looks at the population alone, and merging adds."""
        return Monotonicity.ALWAYS

    def parameters(self) -> dict[str, Any]:
        """``k``."""
        return {"k": self.k}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The fewest persons that a class stands for; None when there is none."""
        return {"k": None if worst is None else int(worst)}
