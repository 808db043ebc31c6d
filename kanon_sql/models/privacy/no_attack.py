"""No attack pays: k-anonymity or k-map for a k that follows from what an attack costs and gains.

Wan et al. (PLoS ONE 10(3), 2015): an attacker who succeeds with a probability of 1 over the persons that a record could
be gains that share of a price, and pays a cost. With more than gain / cost persons there is nothing to gain. What comes
out even counts as an attack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from kanon_sql.models.privacy.k_anonymity import KAnonymityModel
from kanon_sql.models.privacy.k_map import KMapModel
from kanon_sql.spec import NoAttackRequirement

__all__ = ["NoAttackModel", "NoAttackPopulationModel"]


@dataclass(frozen=True)
class NoAttackModel(KAnonymityModel):
    """Of a prosecutor, who knows that a person is in the table: every class has more rows than gain over cost."""

    name: ClassVar[str] = "no_attack"
    requirement: ClassVar = NoAttackRequirement

    @classmethod
    def of(cls, requirement: Any) -> Self | None:
        """The k that follows; None where there is a population."""
        return None if requirement.population is not None else cls(requirement.least)

    @property
    def notation(self) -> str:
        """Such as ``no attack pays: 76-anonymity``."""
        return f"no attack pays: {super().notation}"


@dataclass(frozen=True)
class NoAttackPopulationModel(KMapModel):
    """Of a journalist, who looks in a population: every class stands for more persons than gain over cost."""

    name: ClassVar[str] = "no_attack_population"
    requirement: ClassVar = NoAttackRequirement

    @classmethod
    def of(cls, requirement: Any) -> Self | None:
        """The k that follows; None without a population."""
        if requirement.population is None:
            return None
        return cls(requirement.population, requirement.person, k=requirement.least)

    @property
    def notation(self) -> str:
        """Such as ``no attack pays: 76-map to census``."""
        return f"no attack pays: {super().notation}"

    @property
    def key(self) -> str:
        """``no_attack`` and the population."""
        return f"{NoAttackModel.name}({self.frame})"
