"""No attack pays: k-anonymity or k-map for a k that follows from what an attack costs and gains.

Wan et al. (PLoS ONE 10(3), 2015): an attacker who succeeds with a probability of 1 over the persons that a record could
be gains that share of a price, and pays a cost. With more than gain / cost persons there is nothing to gain. What comes
out even counts as an attack.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any, ClassVar, Self

from pydantic import Field

from kanon_sql.models.privacy.k_anonymity import KAnonymityModel
from kanon_sql.models.privacy.k_map import KMapModel
from kanon_sql.models.privacy.registry import register
from kanon_sql.spec.checks import Fault
from kanon_sql.spec.population import ABOUT_POPULATION, OfPopulation, Population
from kanon_sql.spec.prices import ABOUT_COST, ABOUT_GAIN, Cost, Price
from kanon_sql.spec.requirement import Form

__all__ = ["NoAttackModel", "NoAttackPopulationModel", "NoAttackRequirement", "OfAttacker"]


class OfAttacker(OfPopulation):
    """A requirement on what an attacker gains and pays.

    Attributes:
        gain: the attacker's, of a record that is re-identified.
        cost: of trying it with a record.
        population: a journalist's, who looks for the record there; None for a prosecutor, who knows that it is in the
            table.
        person: the population's column of persons; None for the unit, or for rows.
    """

    gain: Price = Field(description=ABOUT_GAIN)
    cost: Cost = Field(description=ABOUT_COST)
    population: Population | None = Field(
        default=None, description=ABOUT_POPULATION + " Without it, the attacker knows who is in the table."
    )

    @property
    def even(self) -> Fraction:
        """Among how many an attack comes out even: gain over cost, exactly as they were written."""
        return Fraction(Decimal(str(self.gain))) / Fraction(Decimal(str(self.cost)))

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """A column of persons goes with a population."""
        if given.get("population") is None and given.get("person") is not None:
            yield Fault(
                ("person",),
                "'person' is a column of the 'population' table, which is missing; add it, or leave 'person' out",
                True,
            )


class NoAttackRequirement(OfAttacker):
    """No attack on a record pays: what it costs is more than what it gains, times the probability of success."""

    name: ClassVar[str] = "no_attack"
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "no_attack: {gain: 300, cost: 4}",
            "more rows, or persons, than gain / cost, so that the cost of an attack exceeds its expected gain; with "
            "a `population`, that many persons of it",
            "Wan et al. 2015",
        ),
    )
    expected: ClassVar[str] = "{gain: 300, cost: 4}"
    definition: ClassVar[str] = (
        "At the given prices, the expected gain of re-identifying a person is below its cost (Wan et al. 2015)."
    )
    not_certified: ClassVar[str] = "it weighs costs and gains of an attack"

    @property
    def least(self) -> int:
        """How many rows, or persons of the population, keep an attack from paying: more than gain over cost."""
        return floor(self.even) + 1


@register
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


@register
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
