"""beta-likeness: no sensitive value is much more frequent in a class than in the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from kanon_sql.models.privacy.base import TOLERANCE, Monotonicity, PrivacyModel
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import figure
from kanon_sql.spec.checks import chosen, the_number
from kanon_sql.spec.requirement import (
    ABOUT_ATTRIBUTE,
    ABOUT_REFERENCE,
    Attribute,
    Form,
    Reference,
    Requirement,
)

__all__ = ["BasicBetaLikeness", "BetaLikenessRequirement", "EnhancedBetaLikeness"]


class BetaLikenessRequirement(Requirement):
    """No sensitive value is more frequent in a class than in the table by more than a factor 1 + beta.

    Attributes:
        attribute: the sensitive attribute.
        beta: the largest relative gain (q - p) / p allowed, above 0.
        variant: ``basic``, or ``enhanced``: the gain is also at most -ln(p).
        reference: compare with the ``original`` table, or with the ``release``.
    """

    name: ClassVar[str] = "beta_likeness"
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "beta_likeness: {attribute: diagnosis, beta: 1}",
            "(q - p) / p at most min(beta, -ln p), for values with q > p; variant `basic`: at most beta",
            "Cao, Karras 2012",
        ),
    )
    expected: ClassVar[str] = "{attribute: ..., beta: 1}"
    definition: ClassVar[str] = (
        "No value is more frequent in a class than in the whole table by more than a factor that beta bounds "
        "(Cao, Karras 2012)."
    )
    counts_persons: ClassVar[bool] = False

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    beta: Annotated[float, the_number("beta, above 0", above=0)] = Field(
        description="The largest relative gain in frequency allowed."
    )
    variant: Annotated[Literal["basic", "enhanced"], chosen("variant of beta-likeness")] = Field(
        default="enhanced", description="Enhanced also bounds the gain of frequent values."
    )
    reference: Reference = Field(default="original", description=ABOUT_REFERENCE)


@register
@dataclass(frozen=True)
class BasicBetaLikeness(PrivacyModel):
    """Basic beta-likeness (Cao and Karras 2012, definition 2).

    With p a value's share of the table and q its share of the class, the relative gain (q - p) / p is at most
    beta, up to 1e-9, for every value that is more frequent in the class. NULL is a value like any
    other. A value that the reference does not have gains without bound.

    Monotone without suppression: a merged class's q is a mean of those of its parts (the paper's
    lemma on monotonicity). Not with it. For rows alone: of persons with several rows, each holds several
    values, and shares of persons do not add up to 1.
    """

    name: ClassVar[str] = "basic_beta_likeness"
    variant: ClassVar[str] = "basic"
    requirement: ClassVar = BetaLikenessRequirement
    figures: ClassVar = {"beta": figure("The largest relative gain of a value's share; null for no beta.")}
    worst: ClassVar = "MAX"
    needs_totals: ClassVar[bool] = True
    needs_reference: ClassVar[bool] = True
    sensitive: str
    beta: float

    @classmethod
    def of(cls, requirement: BetaLikenessRequirement) -> Self | None:
        """Where it is of this variant."""
        if requirement.variant != cls.variant:
            return None
        return cls(requirement.attribute, requirement.beta, reference=requirement.reference)

    @property
    def attribute(self) -> str:
        """The sensitive attribute."""
        return self.sensitive

    @property
    def notation(self) -> str:
        """Such as ``basic 1-likeness of diagnosis``."""
        return f"basic {self.beta:g}-likeness of {self.sensitive}"

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Without suppression."""
        return Monotonicity.WITHOUT_SUPPRESSION

    def parameters(self) -> dict[str, Any]:
        """``beta`` with the tolerance."""
        return {"beta": self.beta + TOLERANCE}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The largest gain; None when some class satisfies no beta."""
        return {"beta": None if unbounded else worst}


@register
@dataclass(frozen=True)
class EnhancedBetaLikeness(BasicBetaLikeness):
    """Enhanced beta-likeness (Cao and Karras 2012, definition 3).

    The gain is at most min(beta, -ln p): a frequent value must not become certain, whatever beta is. A class
    with a larger gain than -ln p satisfies no beta. Otherwise as :class:`BasicBetaLikeness`.
    """

    name: ClassVar[str] = "enhanced_beta_likeness"
    variant: ClassVar[str] = "enhanced"

    @property
    def notation(self) -> str:
        """Such as ``enhanced 1-likeness of diagnosis``."""
        return f"enhanced {self.beta:g}-likeness of {self.sensitive}"

    def parameters(self) -> dict[str, Any]:
        """``beta`` with the tolerance, and the ``tolerance`` of -ln p."""
        return {**super().parameters(), "tolerance": TOLERANCE}
