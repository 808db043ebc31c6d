"""Requirements that build on k-anonymity and t-closeness.

Definitions: (alpha, k)-anonymity (Wong, Li, Fu and Wang 2006), p-sensitive k-anonymity
(Truta and Vinay 2006), beta-likeness (Cao and Karras 2012), delta-disclosure privacy
(Brickell and Shmatikov 2008).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, WithJsonSchema

from kanon_sql.spec.checks import Fault, checked, choice, integer, the_number
from kanon_sql.spec.requirement import ABOUT_ATTRIBUTE, ABOUT_REFERENCE, Attribute, Reference, Requirement, Values

__all__ = [
    "AlphaKAnonymityRequirement",
    "BetaLikenessRequirement",
    "DeltaDisclosureRequirement",
    "PSensitiveRequirement",
]

_COUNT = WithJsonSchema({"type": "integer", "minimum": 1})
_POSITIVE = WithJsonSchema({"type": "number", "exclusiveMinimum": 0})


class AlphaKAnonymityRequirement(Requirement):
    """Every equivalence class is k-anonymous, and no sensitive value has more than a share alpha of it.

    Attributes:
        attribute: the sensitive attribute.
        alpha: the largest share allowed, above 0 and below 1.
        k: the size of the smallest class.
        values: the values to protect; None for all.
    """

    name: ClassVar[str] = "alpha_k_anonymity"
    expected: ClassVar[str] = "{attribute: ..., alpha: 0.5, k: 5}"
    counts_persons: ClassVar[bool] = False

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    alpha: Annotated[
        float,
        checked(the_number("alpha, above 0 and below 1", lambda value: 0 < value < 1)),
        WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
    ] = Field(description="The largest share of a class that one sensitive value may have.")
    k: Annotated[int, checked(integer("k", 1)), _COUNT] = Field(
        description="The size of the smallest equivalence class."
    )
    values: Values = Field(default=None, description="The sensitive values to protect; all by default.")


class PSensitiveRequirement(Requirement):
    """Every equivalence class is k-anonymous and holds at least p different sensitive values.

    Attributes:
        attribute: the sensitive attribute.
        p: how many different values, at most ``k``.
        k: the size of the smallest class.
    """

    name: ClassVar[str] = "p_sensitive_k_anonymity"
    expected: ClassVar[str] = "{attribute: ..., p: 2, k: 5}"

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    p: Annotated[int, checked(integer("p", 1)), _COUNT] = Field(
        description="How many different sensitive values each equivalence class has."
    )
    k: Annotated[int, checked(integer("k", 1)), _COUNT] = Field(
        description="The size of the smallest equivalence class."
    )

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """P is at most k (Truta and Vinay 2006, definition 2)."""
        if value is not None and value.p > value.k:
            yield Fault(("p",), f"expected p, at most k = {value.k}, got {value.p}")


class BetaLikenessRequirement(Requirement):
    """No sensitive value is more frequent in a class than in the table by more than a factor 1 + beta.

    Attributes:
        attribute: the sensitive attribute.
        beta: the largest relative gain (q - p) / p allowed, above 0.
        kind: ``basic``, or ``enhanced``: the gain is also at most -ln(p).
        reference: compare with the ``original`` table, or with the ``release``.
    """

    name: ClassVar[str] = "beta_likeness"
    expected: ClassVar[str] = "{attribute: ..., beta: 1}"
    counts_persons: ClassVar[bool] = False

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    beta: Annotated[float, checked(the_number("beta, above 0", lambda value: value > 0)), _POSITIVE] = Field(
        description="The largest relative gain in frequency allowed."
    )
    kind: Annotated[Literal["basic", "enhanced"], checked(choice("kind of beta-likeness", ("basic", "enhanced")))] = (
        Field(default="enhanced", description="Enhanced also bounds the gain of frequent values.")
    )
    reference: Reference = Field(default="original", description=ABOUT_REFERENCE)


class DeltaDisclosureRequirement(Requirement):
    """No sensitive value is much more or much less frequent in a class than in the table.

    Attributes:
        attribute: the sensitive attribute.
        delta: the absolute logarithm (base 2) of the ratio of the two frequencies is below this.
        reference: compare with the ``original`` table, or with the ``release``.
    """

    name: ClassVar[str] = "delta_disclosure"
    expected: ClassVar[str] = "{attribute: ..., delta: 1.5}"
    counts_persons: ClassVar[bool] = False

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    delta: Annotated[float, checked(the_number("delta, above 0", lambda value: value > 0)), _POSITIVE] = Field(
        description="The bound of the logarithm (base 2) of the ratio of frequencies."
    )
    reference: Reference = Field(default="original", description=ABOUT_REFERENCE)
