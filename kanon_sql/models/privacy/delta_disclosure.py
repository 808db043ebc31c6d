"""delta-disclosure privacy: no sensitive value is much more, or much less, frequent in a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field

from kanon_sql.models.privacy.base import TOLERANCE, Monotonicity, PrivacyModel
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import figure
from kanon_sql.spec.checks import the_number
from kanon_sql.spec.requirement import (
    ABOUT_ATTRIBUTE,
    ABOUT_REFERENCE,
    Attribute,
    Form,
    Reference,
    Requirement,
)

__all__ = ["DeltaDisclosureModel", "DeltaDisclosureRequirement"]


class DeltaDisclosureRequirement(Requirement):
    """No sensitive value is much more or much less frequent in a class than in the table.

    Attributes:
        attribute: the sensitive attribute.
        delta: the absolute logarithm (base 2) of the ratio of the two frequencies is below this.
        reference: compare with the ``original`` table, or with the ``release``.
    """

    name: ClassVar[str] = "delta_disclosure"
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "delta_disclosure: {attribute: diagnosis, delta: 1.5}",
            "&#124;log2(q / p)&#124; below delta, for every value of the table",
            "Brickell, Shmatikov 2008",
        ),
    )
    expected: ClassVar[str] = "{attribute: ..., delta: 1.5}"
    definition: ClassVar[str] = (
        "The shares of every value in a class and in the table differ by a factor that delta bounds "
        "(Brickell, Shmatikov 2008)."
    )
    counts_persons: ClassVar[bool] = False

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    delta: Annotated[float, the_number("delta, above 0", above=0)] = Field(
        description="The bound of the logarithm (base 2) of the ratio of frequencies."
    )
    reference: Reference = Field(default="original", description=ABOUT_REFERENCE)


@register
@dataclass(frozen=True)
class DeltaDisclosureModel(PrivacyModel):
    """delta-disclosure privacy (Brickell and Shmatikov 2008, section 4).

    With p a value's share of the table and q its share of the class, |log(q / p)| is below delta for every
    value of the table. A value that a class lacks has q = 0 and an infinite logarithm: no delta is reached (nor by a
    class with a value that the table lacks). The paper leaves the base of the logarithm open; it is 2 here, so that
    delta bounds a gain in bits. NULL is a value like any other. The bound is strict, by 1e-9.

    Monotone without suppression: a merged class's q is a mean of those of its parts, and each bound is one on
    q. Not with it. For rows alone: of persons with several rows, each holds several values.
    """

    name: ClassVar[str] = "delta_disclosure"
    requirement: ClassVar = DeltaDisclosureRequirement
    figures: ClassVar = {
        "delta_above": figure("delta-disclosure privacy holds for every delta above this; null for no delta.")
    }
    worst: ClassVar = "MAX"
    needs_totals: ClassVar[bool] = True
    needs_reference: ClassVar[bool] = True
    needs_facts: ClassVar[tuple[str, ...]] = ("reference_values",)
    sensitive: str
    delta: float

    @classmethod
    def of(cls, requirement: DeltaDisclosureRequirement) -> Self:
        """With the requirement's parameters."""
        return cls(requirement.attribute, requirement.delta, reference=requirement.reference)

    @property
    def attribute(self) -> str:
        """The sensitive attribute."""
        return self.sensitive

    @property
    def notation(self) -> str:
        """Such as ``1.5-disclosure privacy of diagnosis``."""
        return f"{self.delta:g}-disclosure privacy of {self.sensitive}"

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Without suppression."""
        return Monotonicity.WITHOUT_SUPPRESSION

    def parameters(self) -> dict[str, Any]:
        """``delta`` less the tolerance."""
        return {"delta": self.delta - TOLERANCE}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The largest logarithm: every delta above it is satisfied; None when no delta is."""
        return {"delta_above": None if unbounded else worst}
