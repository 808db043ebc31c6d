"""What a release and a re-identification are worth: the prices of the publisher's game with an attacker.

Definitions: Wan, Vorobeychik, Xia, Clayton, Kantarcioglu, Ganta, Heatherly and Malin, A game theoretic framework for
analyzing re-identification risk (PLoS ONE 10(3), 2015).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, WithJsonSchema

from kanon_sql.spec.checks import Fault, Part, checked, the_number
from kanon_sql.spec.population import ABOUT_POPULATION, OfPopulation, Population

__all__ = ["NoAttackRequirement", "Prices"]

_MOST = 1e12
_price = the_number("an amount of money, from 0 to 1e12", lambda value: 0 <= value <= _MOST)
_cost = the_number("an amount of money, from 1e-6 to 1e12", lambda value: 1e-6 <= value <= _MOST)
_NOT_NEGATIVE = WithJsonSchema({"type": "number", "minimum": 0, "maximum": _MOST})
_POSITIVE = WithJsonSchema({"type": "number", "minimum": 1e-6, "maximum": _MOST})


class Prices(Part):
    """What the publisher and an attacker gain and lose, per record, in one currency.

    Attributes:
        benefit: the publisher's, of a record that is released with all of its detail.
        loss: the publisher's, of a record that is re-identified.
        gain: the attacker's, of a record that is re-identified.
        cost: the attacker's, of trying it with a record.
    """

    expected: ClassVar[str] = "{benefit: 1200, loss: 300, gain: 300, cost: 4}"

    benefit: Annotated[float, checked(_cost), _POSITIVE] = Field(
        description="What the publisher gains by a record that is released with all of its detail."
    )
    loss: Annotated[float, checked(_price), _NOT_NEGATIVE] = Field(
        description="What the publisher loses by a record that is re-identified."
    )
    gain: Annotated[float, checked(_price), _NOT_NEGATIVE] = Field(
        description="What an attacker gains by re-identifying a record."
    )
    cost: Annotated[float, checked(_cost), _POSITIVE] = Field(description="What it costs the attacker to try.")


class NoAttackRequirement(OfPopulation):
    """No attack on a record pays: what it costs is more than what it gains, times the probability of success.

    Attributes:
        gain: the attacker's, of a record that is re-identified.
        cost: of trying it with a record.
        population: a journalist's, who looks for the record there; None for a prosecutor, who knows that it is in the
            table.
        person: the population's column of persons; None for the unit, or for rows.
    """

    name: ClassVar[str] = "no_attack"
    expected: ClassVar[str] = "{gain: 300, cost: 4}"

    gain: Annotated[float, checked(_price), _NOT_NEGATIVE] = Field(
        description="What an attacker gains by re-identifying a record."
    )
    cost: Annotated[float, checked(_cost), _POSITIVE] = Field(description="What it costs the attacker to try.")
    population: Population | None = Field(
        default=None, description=ABOUT_POPULATION + " Without one, the attacker knows who is in the table."
    )

    @property
    def least(self) -> int:
        """How many rows, or persons of the population, keep an attack from paying: more than gain over cost."""
        return floor(Fraction(Decimal(str(self.gain))) / Fraction(Decimal(str(self.cost)))) + 1

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """A column of persons goes with a population."""
        if given.get("population") is None and given.get("person") is not None:
            yield Fault(("person",), "'person' is a column of a 'population' table, and there is none", True)
