"""epsilon-privacy: that a person is in the table moves no belief in the person's value by more than a factor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from kanon_sql.models.privacy.base import TOLERANCE, Monotonicity, PrivacyModel
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import figure
from kanon_sql.spec.checks import Fault, choice, chosen, shaped, the_number
from kanon_sql.spec.requirement import (
    ABOUT_ATTRIBUTE,
    ABOUT_REFERENCE,
    Attribute,
    Form,
    Reference,
    Requirement,
)

__all__ = ["EpsilonPrivacyModel", "EpsilonPrivacyRequirement"]


@shaped({"anyOf": [{"type": "number", "minimum": 1}, {"const": "infinite"}]})
def _stubbornness(value: object) -> float | str:
    if isinstance(value, str):
        return choice("stubbornness: a number of at least 1, or", ("infinite",))(value)
    return the_number("a stubbornness of at least 1", least=1, most=1e15)(value)


class EpsilonPrivacyRequirement(Requirement):
    """That a person is in the table moves no belief in the person's value by more than a factor epsilon.

    Attributes:
        attribute: the sensitive attribute.
        epsilon: the largest factor.
        stubbornness: how many persons' data it takes to move the attacker's mind half way; or ``infinite``.
        prior: what the attacker believes before the release: ``any`` distribution that gives each value at least one of
            the persons of the stubbornness, all values alike (``uniform``), or that of the table (``reference``).
        reference: for a prior other than ``any``: the table of its values, the ``original`` one or the ``release``.
    """

    name: ClassVar[str] = "epsilon_privacy"
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "epsilon_privacy: {attribute: diagnosis, epsilon: 2.5, stubbornness: 100}",
            "no person's presence changes a belief by more than a factor epsilon, for an attacker [of that "
            "stubbornness](#background-knowledge)",
            "Machanavajjhala, Gehrke, Goetz 2009",
        ),
    )
    expected: ClassVar[str] = "{attribute: ..., epsilon: 2.5, stubbornness: 100}"
    definition: ClassVar[str] = (
        "A person's presence in the table changes no belief in the person's value by more than a factor epsilon "
        "(Machanavajjhala, Gehrke, Goetz 2009)."
    )
    not_certified: ClassVar[str] = "it is a worst case over an attacker's priors"
    counts_persons: ClassVar[bool] = False

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    epsilon: Annotated[float, the_number("epsilon, a factor above 1", above=1)] = Field(
        description="The largest factor by which a person's presence may change a belief."
    )
    stubbornness: Annotated[float | Literal["infinite"], _stubbornness] = Field(
        description="The strength of the attacker's prior, in persons (the paper's sigma), or infinite."
    )
    prior: Annotated[Literal["any", "uniform", "reference"], chosen("prior")] = Field(
        default="any", description="The attacker's belief about the values before the release."
    )
    reference: Reference = Field(default="original", description="For a prior. " + ABOUT_REFERENCE)

    @property
    def identity(self) -> tuple[object, ...]:
        """One for each attacker."""
        return (self.name, self.attribute, self.stubbornness, self.prior)

    def to_dict(self) -> dict[str, Any]:
        """``{name: {parameters}}``, the table of a prior's values where it has one."""
        found = super().to_dict()[self.name]
        if self.prior == "any":
            del found["reference"]
        return {self.name: found}

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """No class is large enough for an attacker that nothing convinces; ``any`` prior compares with no table."""
        if value is None:
            return
        if value.prior == "any" and value.stubbornness == "infinite":
            why = "no class is large enough for an infinite stubbornness with any prior; give a 'prior', or a number"
            yield Fault(("stubbornness",), why)
        if value.prior == "any" and "reference" in given:
            yield Fault(("reference",), "'reference' needs prior: reference; leave it out", True)


@register
@dataclass(frozen=True)
class EpsilonPrivacyModel(PrivacyModel):
    """epsilon-privacy (Machanavajjhala, Gehrke, Goetz: Data publishing against realistic adversaries, VLDB 2009).

    The attacker believes the values of a class's persons to be drawn from a distribution that is not known, and of it
    what a Dirichlet distribution says, with parameters sigma(s). Their sum sigma is the attacker's stubbornness, and
    pi(s) = sigma(s) / sigma the shape of the prior. Of a person in a class of n, n(s) of whom have the value s, the
    attacker believes

        p_in(s) = n(s) / n                                   with the person in the table, and
        p_out(s) = (sigma(s) + n'(s)) / (sigma + n - 1)      with the table of all others, of whom n'(s) have s.

    The first holds since all in a class are alike to the attacker, the second is Dirichlet's. A class satisfies
    epsilon where, for each of its persons and values, p_in / p_out and (1 - p_out) / (1 - p_in) are at most epsilon.
    Both grow as p_out falls, so they are largest for persons who have s: n'(s) = n(s) - 1. A factor without bound
    violates; a belief that does not move at all is a factor of 1.

    - prior ``any``: each sigma(s) is at least 1, and p_out is least for 1. So p_in / p_out is (sigma + n - 1) / n, and
      the requirement is n >= (sigma - 1) / (epsilon - 1) and n(s) / n <= 1 - 1 / (epsilon + delta) with delta =
      (epsilon - 1) n / (sigma - 1). It holds for every smaller stubbornness too.
    - ``uniform``: the same pi for each value of the reference; ``reference``: its shares. They are about this
      stubbornness alone: who believes less learns more from the others, and a value that only one person of a class has
      moves that mind the further. A value that the reference lacks has pi = 0.
    - ``infinite`` stubbornness: p_out = pi(s), so that a class must be near the prior, as with t-closeness.

    Monotone without suppression, for sigma >= 1. With x = n(s) / n, both conditions multiplied out are

        (sigma - 1) x <= epsilon (sigma(s) - 1) + (epsilon - 1) n(s)
        sigma - sigma(s) <= epsilon (sigma - 1) (1 - x) + (epsilon - 1) (n - n(s)).

    In a merged class n(s) and n - n(s) are no smaller than in either part, and x is at most the larger x of both, which
    is that of a part with s. With infinite stubbornness both are bounds of x alone. Not with suppression.

    NULL is a value like any other: that a person has no entry is a belief too. For rows alone: of persons with several
    rows, each holds several values.
    """

    name: ClassVar[str] = "epsilon_privacy"
    requirement: ClassVar = EpsilonPrivacyRequirement
    figures: ClassVar = {
        "epsilon": figure(
            "epsilon_privacy: the largest factor by which a person's presence moves a belief; null for no epsilon.",
            minimum=1,
        )
    }
    worst: ClassVar = "MAX"
    needs_totals: ClassVar[bool] = True
    needs_reference: ClassVar[bool] = True
    needs_facts: ClassVar[tuple[str, ...]] = ("reference_values",)
    sensitive: str
    epsilon: float
    stubbornness: float | Literal["infinite"]
    prior: Literal["any", "uniform", "reference"] = "any"

    @classmethod
    def of(cls, requirement: EpsilonPrivacyRequirement) -> Self:
        """With the requirement's parameters."""
        asked = (requirement.attribute, requirement.epsilon, requirement.stubbornness, requirement.prior)
        return cls(*asked, reference=requirement.reference)

    @property
    def attribute(self) -> str:
        """The sensitive attribute."""
        return self.sensitive

    @property
    def attacker(self) -> str:
        """Such as ``stubbornness 100, any prior``."""
        shown = self.stubbornness if isinstance(self.stubbornness, str) else f"{self.stubbornness:g}"
        return f"stubbornness {shown}, {self.prior} prior"

    @property
    def notation(self) -> str:
        """Such as ``2.5-privacy of diagnosis (stubbornness 100, any prior)``."""
        return f"{self.epsilon:g}-privacy of {self.sensitive} ({self.attacker})"

    @property
    def key(self) -> str:
        """The attribute, and the attacker."""
        return f"{self.name}({self.sensitive})[{self.attacker}]"

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Without suppression."""
        return Monotonicity.WITHOUT_SUPPRESSION

    def parameters(self) -> dict[str, Any]:
        """``epsilon`` with the tolerance, the stubbornness, None for an infinite one, and the prior."""
        sigma = None if isinstance(self.stubbornness, str) else float(self.stubbornness)
        return {"epsilon": self.epsilon + TOLERANCE, "sigma": sigma, "prior": self.prior}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The largest factor; None when some class satisfies no epsilon."""
        return {"epsilon": None if unbounded else worst}
