"""Every record earns: what a class is worth to its publisher is more than what an attack on it is expected to cost.

Wan et al. (PLoS ONE 10(3), 2015): a record earns its publisher a benefit times 1 - IL, where IL is the logarithm of the
vectors of the domain that its labels stand for, over that of all vectors. An attacker who succeeds with a probability p
of 1 over the persons that a record could be tries where gain times p is more than the cost, and costs the publisher a
loss times p. What is left must be above 0: a record that earns nothing is better suppressed. As in ARX, an attack that
comes out even is not tried.

Never monotone: generalizing lowers p, and the benefit as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any, ClassVar, Self

from pydantic import Field

from kanon_sql.models.privacy.base import TOLERANCE, Monotonicity, PrivacyModel
from kanon_sql.models.privacy.no_attack import OfAttacker
from kanon_sql.models.privacy.population import PopulationModel
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import figure
from kanon_sql.spec.prices import ABOUT_BENEFIT, ABOUT_LOSS, Cost, Price, Prices
from kanon_sql.spec.requirement import Form

__all__ = ["ProfitabilityModel", "ProfitabilityPopulationModel", "ProfitabilityRequirement"]


class ProfitabilityRequirement(OfAttacker):
    """Every record that is released earns the publisher something, also where attacking it pays.

    Attributes:
        benefit: the publisher's, of a record that is released with all of its detail.
        loss: the publisher's, of a record that is re-identified.
    """

    name: ClassVar[str] = "profitability"
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "profitability: {benefit: 1200, loss: 300, gain: 300, cost: 4}",
            "labels narrow enough, and rows or persons enough, that a record [earns its publisher "
            "something](#every-record-earns-something) after the expected cost of an attack; with a `population`, "
            "persons of it",
            "Wan et al. 2015",
        ),
    )
    expected: ClassVar[str] = Prices.expected
    definition: ClassVar[str] = (
        "At the given prices, every record earns its publisher more than the expected cost of an attack. It does not "
        "protect persons by itself (Wan et al. 2015)."
    )
    not_certified: ClassVar[str] = "it weighs a publisher's gains and losses"
    never_in_ledger: ClassVar[str] = (
        "a ledger judges releases by their joint classes, which have labels of several levels, so the payout of a "
        "record is not defined; use no_attack"
    )

    benefit: Cost = Field(description=ABOUT_BENEFIT)
    loss: Price = Field(description=ABOUT_LOSS)

    @property
    def deterred(self) -> int:
        """How many rows, or persons of the population, an attack is not tried among: one that comes out even is not."""
        return ceil(self.even)


@dataclass(frozen=True)
class _Payout(PrivacyModel):
    """The publisher's payout per record of a class, in the currency of the prices.

    Attributes:
        benefit: the publisher's, of a record with all of its detail.
        loss: the publisher's, of a record that is re-identified.
        deterred: among how many an attack is not tried.
    """

    requirement: ClassVar = ProfitabilityRequirement
    figures: ClassVar = {
        "payout": figure(
            "profitability: what the least profitable record earns its publisher, in the currency of the prices; "
            "null without a record, or where it is not known how many values a label stands for."
        )
    }
    worst: ClassVar = "MIN"
    uses_label_width: ClassVar[bool] = True
    benefit: float
    loss: float
    deterred: int

    @property
    def assumption(self) -> str:
        """That prices are all that counts: by high benefits, unique records pass."""
        return (
            "profitability weighs the publisher's gains against expected losses, so records that earn enough may be "
            "unique; add k_anonymity or no_attack to protect them"
        )

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Never: wider labels earn less."""
        return Monotonicity.NEVER

    def parameters(self) -> dict[str, Any]:
        """The prices. What is left must be more than what is lost in rounding; where it is exactly 0, it is not."""
        return {
            "benefit": self.benefit,
            "loss": self.loss,
            "deterred": self.deterred,
            "nothing": self.benefit * TOLERANCE,
        }

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """What the least profitable record earns; None where a label stands for an unknown number of values."""
        return {"payout": None if unbounded else worst}


@register
@dataclass(frozen=True)
class ProfitabilityModel(_Payout):
    """Of a prosecutor, who knows that a person is in the table, and picks one of the rows or persons of the class."""

    name: ClassVar[str] = "profitability"

    @classmethod
    def of(cls, requirement: ProfitabilityRequirement) -> Self | None:
        """With the requirement's prices; None where there is a population."""
        if requirement.population is not None:
            return None
        return cls(requirement.benefit, requirement.loss, requirement.deterred)

    @property
    def notation(self) -> str:
        """``every record earns something``."""
        return "every record earns something"


@register
@dataclass(frozen=True)
class ProfitabilityPopulationModel(_Payout, PopulationModel):
    """Of a journalist, who succeeds with 1 over the persons of a population that the class stands for.

    No person there counts as one: a person is behind the class.
    """

    name: ClassVar[str] = "profitability_population"

    @classmethod
    def of(cls, requirement: ProfitabilityRequirement) -> Self | None:
        """With the requirement's prices; None without a population."""
        if requirement.population is None:
            return None
        prices = requirement.benefit, requirement.loss, requirement.deterred
        return cls(requirement.population, requirement.person, *prices)

    @property
    def notation(self) -> str:
        """Such as ``every record earns something, when looked for in census``."""
        return f"every record earns something, when looked for in {self.shown}"

    @property
    def key(self) -> str:
        """``profitability`` and the population."""
        return f"{ProfitabilityModel.name}({self.frame})"
