"""What a release and a re-identification are worth: the prices of the publisher's game with an attacker.

Definitions: Wan, Vorobeychik, Xia, Clayton, Kantarcioglu, Ganta, Heatherly and Malin, A game theoretic framework for
analyzing re-identification risk (PLoS ONE 10(3), 2015).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, WithJsonSchema

from kanon_sql.spec.checks import Fault, Part, checked, the_number
from kanon_sql.spec.population import ABOUT_POPULATION, OfPopulation, Population

__all__ = ["NoAttackRequirement", "Prices", "ProfitabilityRequirement"]

_MOST = 1e12
_price = the_number("an amount of money, from 0 to 1e12", lambda value: 0 <= value <= _MOST)
_cost = the_number("an amount of money, from 1e-6 to 1e12", lambda value: 1e-6 <= value <= _MOST)
_NOT_NEGATIVE = WithJsonSchema({"type": "number", "minimum": 0, "maximum": _MOST})
_POSITIVE = WithJsonSchema({"type": "number", "minimum": 1e-6, "maximum": _MOST})
_Price = Annotated[float, checked(_price), _NOT_NEGATIVE]
_Cost = Annotated[float, checked(_cost), _POSITIVE]
_ABOUT_BENEFIT = "What the publisher gains by a record that is released with all of its detail."
_ABOUT_LOSS = "What the publisher loses by a record that is re-identified."
_ABOUT_GAIN = "What an attacker gains by re-identifying a record."
_ABOUT_COST = "What it costs the attacker to try."


class Prices(Part):
    """What the publisher and an attacker gain and lose, per record, in one currency.

    Attributes:
        benefit: the publisher's, of a record that is released with all of its detail.
        loss: the publisher's, of a record that is re-identified.
        gain: the attacker's, of a record that is re-identified.
        cost: the attacker's, of trying it with a record.
    """

    expected: ClassVar[str] = "{benefit: 1200, loss: 300, gain: 300, cost: 4}"

    benefit: _Cost = Field(description=_ABOUT_BENEFIT)
    loss: _Price = Field(description=_ABOUT_LOSS)
    gain: _Price = Field(description=_ABOUT_GAIN)
    cost: _Cost = Field(description=_ABOUT_COST)


class _OfAttacker(OfPopulation):
    """A requirement on what an attacker gains and pays.

    Attributes:
        gain: the attacker's, of a record that is re-identified.
        cost: of trying it with a record.
        population: a journalist's, who looks for the record there; None for a prosecutor, who knows that it is in the
            table.
        person: the population's column of persons; None for the unit, or for rows.
    """

    gain: _Price = Field(description=_ABOUT_GAIN)
    cost: _Cost = Field(description=_ABOUT_COST)
    population: Population | None = Field(
        default=None, description=ABOUT_POPULATION + " Without one, the attacker knows who is in the table."
    )

    @property
    def even(self) -> Fraction:
        """Among how many an attack comes out even: gain over cost, exactly as they were written."""
        return Fraction(Decimal(str(self.gain))) / Fraction(Decimal(str(self.cost)))

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """A column of persons goes with a population."""
        if given.get("population") is None and given.get("person") is not None:
            yield Fault(("person",), "'person' is a column of a 'population' table, and there is none", True)


class NoAttackRequirement(_OfAttacker):
    """No attack on a record pays: what it costs is more than what it gains, times the probability of success."""

    name: ClassVar[str] = "no_attack"
    expected: ClassVar[str] = "{gain: 300, cost: 4}"

    @property
    def least(self) -> int:
        """How many rows, or persons of the population, keep an attack from paying: more than gain over cost."""
        return floor(self.even) + 1


class ProfitabilityRequirement(_OfAttacker):
    """Every record that is released earns the publisher something, also where attacking it pays.

    Attributes:
        benefit: the publisher's, of a record that is released with all of its detail.
        loss: the publisher's, of a record that is re-identified.
    """

    name: ClassVar[str] = "profitability"
    expected: ClassVar[str] = Prices.expected

    benefit: _Cost = Field(description=_ABOUT_BENEFIT)
    loss: _Price = Field(description=_ABOUT_LOSS)

    @property
    def deterred(self) -> int:
        """How many rows, or persons of the population, an attack is not tried among: one that comes out even is not."""
        return ceil(self.even)
