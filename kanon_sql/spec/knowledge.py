"""Requirements on what an attacker with background knowledge comes to believe of one person.

Definitions: (c,k)-safety (Martin, Kifer, Machanavajjhala, Gehrke and Halpern 2007), the privacy skyline (Chen, LeFevre
and Ramakrishnan 2007), epsilon-privacy (Machanavajjhala, Gehrke and Goetz 2009).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, WithJsonSchema

from kanon_sql.spec.checks import Fault, checked, choice, fail, integer, the_number
from kanon_sql.spec.requirement import ABOUT_ATTRIBUTE, ABOUT_REFERENCE, Attribute, Reference, Requirement

__all__ = ["CKSafetyRequirement", "EpsilonPrivacyRequirement", "PrivacySkylineRequirement"]

MOST_IMPLICATIONS = 10
"""What a class is measured by grows with the number of ways to write k + 1 as a sum: 56 for 10, and 1,002 for 21."""
MOST_PIECES = 20


def _up_to(what: str, most: int) -> Callable[[object], int]:
    """A check for a whole number from 0 to ``most``."""

    def check(value: object) -> int:
        found = integer(what, 0)(value)
        if found > most:
            fail(f"expected {what}, at most {most}, got {found}")
        return found

    return check


def _pieces(most: int) -> WithJsonSchema:
    return WithJsonSchema({"type": "integer", "minimum": 0, "maximum": most})


Belief = Annotated[
    float,
    checked(the_number("c, a probability above 0 and at most 1", lambda value: 0 < value <= 1)),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": 1}),
]
_ABOUT_BELIEF = "No person's value may be believed with this probability or a larger one."


class CKSafetyRequirement(Requirement):
    """An attacker with any k basic implications about the table believes no value of a person with probability c.

    Attributes:
        attribute: the sensitive attribute.
        c: what every belief stays below.
        k: how many implications the attacker knows.
    """

    name: ClassVar[str] = "ck_safety"
    expected: ClassVar[str] = "{attribute: ..., c: 0.7, k: 2}"
    counts_persons: ClassVar[bool] = False

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    c: Belief = Field(description=_ABOUT_BELIEF)
    k: Annotated[int, checked(_up_to("k, a number of implications", MOST_IMPLICATIONS)), _pieces(MOST_IMPLICATIONS)] = (
        Field(description="How many implications (if one person has this, another has that) an attacker may know.")
    )

    @property
    def identity(self) -> tuple[object, ...]:
        """One for each k."""
        return (self.name, self.attribute, self.k)


class PrivacySkylineRequirement(Requirement):
    """An attacker with l, k and m facts of three kinds believes no person's value with probability c: a skyline point.

    Attributes:
        attribute: the sensitive attribute.
        l: how many values the attacker knows a person not to have.
        k: how many others' values the attacker knows.
        m: of how many others the attacker knows that, if they have a value, the person has it too.
        c: what every belief stays below.
    """

    name: ClassVar[str] = "privacy_skyline"
    expected: ClassVar[str] = "{attribute: ..., l: 1, k: 3, m: 0, c: 0.7}"
    counts_persons: ClassVar[bool] = False

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    l: Annotated[int, checked(_up_to("l, a number of values", MOST_PIECES)), _pieces(MOST_PIECES)] = Field(  # noqa: E741
        default=0, description="How many values an attacker may know a person not to have."
    )
    k: Annotated[int, checked(_up_to("k, a number of persons", MOST_PIECES)), _pieces(MOST_PIECES)] = Field(
        default=0, description="How many other persons' values an attacker may know."
    )
    m: Annotated[int, checked(_up_to("m, a number of persons", MOST_PIECES)), _pieces(MOST_PIECES)] = Field(
        default=0, description="Of how many others an attacker may know that the person has a value if they have it."
    )
    c: Belief = Field(description=_ABOUT_BELIEF)

    @property
    def identity(self) -> tuple[object, ...]:
        """One for each point."""
        return (self.name, self.attribute, self.l, self.k, self.m)


def _stubbornness(value: object) -> float | str:
    if isinstance(value, str):
        return choice("stubbornness: a number of at least 1, or", ("infinite",))(value)
    return the_number("a stubbornness of at least 1", lambda found: 1 <= found <= 1e15)(value)


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
    expected: ClassVar[str] = "{attribute: ..., epsilon: 2.5, stubbornness: 100}"
    counts_persons: ClassVar[bool] = False

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    epsilon: Annotated[
        float,
        checked(the_number("epsilon, a factor above 1", lambda value: value > 1)),
        WithJsonSchema({"type": "number", "exclusiveMinimum": 1}),
    ] = Field(description="The largest factor by which a person's presence may move a belief.")
    stubbornness: Annotated[
        float | Literal["infinite"],
        checked(_stubbornness),
        WithJsonSchema({"anyOf": [{"type": "number", "minimum": 1}, {"const": "infinite"}]}),
    ] = Field(description="How many persons the attacker's prior belief is worth (the paper's sigma), or infinite.")
    prior: Annotated[
        Literal["any", "uniform", "reference"], checked(choice("prior", ("any", "uniform", "reference")))
    ] = Field(default="any", description="What the attacker believes of the values before the release.")
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
            why = "no class is large enough for an infinite stubbornness with any prior; name a 'prior', or a number"
            yield Fault(("stubbornness",), why)
        if value.prior == "any" and "reference" in given:
            yield Fault(("reference",), "'reference' is for a 'prior' of the table's values; leave it out", True)
