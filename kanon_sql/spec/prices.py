"""What a release and a re-identification are worth: the prices of the publisher's game with an attacker.

Definitions: Wan, Vorobeychik, Xia, Clayton, Kantarcioglu, Ganta, Heatherly and Malin, A game theoretic framework for
analyzing re-identification risk (PLoS ONE 10(3), 2015).
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from kanon_sql.spec.checks import Part, the_number

__all__ = ["ABOUT_BENEFIT", "ABOUT_COST", "ABOUT_GAIN", "ABOUT_LOSS", "Cost", "Price", "Prices"]

_MOST = 1e12


_price = the_number("an amount of money, from 0 to 1e12", least=0, most=_MOST)


_cost = the_number("an amount of money, from 1e-6 to 1e12", least=1e-6, most=_MOST)


Price = Annotated[float, _price]


Cost = Annotated[float, _cost]


ABOUT_BENEFIT = "The publisher's gain from a record that is released in full detail."


ABOUT_LOSS = "The publisher's loss from a re-identified record."


ABOUT_GAIN = "The attacker's gain from re-identifying a record."


ABOUT_COST = "The attacker's cost of one attempt."


class Prices(Part):
    """What the publisher and an attacker gain and lose, per record, in one currency.

    Attributes:
        benefit: the publisher's, of a record that is released with all of its detail.
        loss: the publisher's, of a record that is re-identified.
        gain: the attacker's, of a record that is re-identified.
        cost: the attacker's, of trying it with a record.
    """

    expected: ClassVar[str] = "{benefit: 1200, loss: 300, gain: 300, cost: 4}"

    benefit: Cost = Field(description=ABOUT_BENEFIT)
    loss: Price = Field(description=ABOUT_LOSS)
    gain: Price = Field(description=ABOUT_GAIN)
    cost: Cost = Field(description=ABOUT_COST)
