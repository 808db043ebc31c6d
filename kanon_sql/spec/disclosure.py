"""Requirements that build on k-anonymity and t-closeness, and the choice among all requirements.

Definitions: (alpha, k)-anonymity (Wong, Li, Fu and Wang 2006), p-sensitive k-anonymity
(Truta and Vinay 2006), beta-likeness (Cao and Karras 2012), delta-disclosure privacy
(Brickell and Shmatikov 2008).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, WithJsonSchema

from kanon_sql.spec.beliefs import BayesOptimal
from kanon_sql.spec.checks import Fault, Faults, checked, choice, did_you_mean, fail, integer, kind, quote, the_number
from kanon_sql.spec.population import DeltaPresence, KMap
from kanon_sql.spec.requirements import (
    ABOUT_ATTRIBUTE,
    ABOUT_REFERENCE,
    Attribute,
    KAnonymity,
    LDiversity,
    Named,
    Reference,
    TCloseness,
    Values,
)

__all__ = [
    "LISTED",
    "AlphaKAnonymity",
    "BetaLikeness",
    "DeltaDisclosure",
    "PSensitive",
    "Requirement",
    "misfits",
    "parse_requirement",
]

_COUNT = WithJsonSchema({"type": "integer", "minimum": 1})
_POSITIVE = WithJsonSchema({"type": "number", "exclusiveMinimum": 0})


class AlphaKAnonymity(Named):
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


class PSensitive(Named):
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


class BetaLikeness(Named):
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


class DeltaDisclosure(Named):
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


Requirement = (
    KAnonymity
    | LDiversity
    | TCloseness
    | AlphaKAnonymity
    | PSensitive
    | BetaLikeness
    | DeltaDisclosure
    | KMap
    | DeltaPresence
    | BayesOptimal
)
"""Any privacy requirement."""

_KINDS: tuple[type[Requirement], ...] = (
    KAnonymity,
    LDiversity,
    TCloseness,
    AlphaKAnonymity,
    PSensitive,
    BetaLikeness,
    DeltaDisclosure,
    KMap,
    DeltaPresence,
    BayesOptimal,
)
_BY_NAME: dict[str, Callable[[object], Requirement]] = {item.name: item.model_validate for item in _KINDS}


LISTED = ("values", "allow_positive", "forbid_negative")
"""The parameters that list values of a sensitive attribute."""


def misfits(
    requirement: Requirement, quasi_identifiers: Sequence[str], sensitive: Sequence[str], unit: object
) -> Iterator[Fault]:
    """What is wrong with a requirement in a spec with these columns; places are relative to its parameters."""
    npd = isinstance(requirement, LDiversity) and requirement.kind == "npd_recursive"
    if unit is not None and (npd or not requirement.counts_persons):
        name = "l_diversity of kind npd_recursive" if npd else requirement.name
        yield Fault(
            (),
            f"{name} is defined for rows: a person with several rows has several sensitive values, whose "
            "shares do not add up to 1; leave 'unit' out to protect rows, or use l_diversity or t_closeness",
            True,
        )
    for position, name in enumerate(getattr(requirement, "quasi_identifiers", None) or ()):
        if name not in quasi_identifiers:
            hint = did_you_mean(name, quasi_identifiers)
            yield Fault(("quasi_identifiers", position), f"{quote(name)} is no quasi-identifier{hint}")
    if getattr(requirement, "others_as_quasi_identifiers", False) and len(sensitive) < 2:
        why = "there is no other sensitive attribute to count as a quasi-identifier"
        yield Fault(("others_as_quasi_identifiers",), why, True)


def parse_requirement(value: object) -> Requirement:
    """One item of ``privacy``: a mapping with the requirement's name as its only key.

    Raises:
        ValidationError: with every problem found.
    """
    if isinstance(value, _KINDS):
        return value
    if not isinstance(value, Mapping):
        fail(f"expected a requirement such as {{k_anonymity: {{k: 5}}}}, got {kind(value)}")
    faults = Faults()
    found: list[Requirement | None] = []
    for name, body in value.items():
        check = _BY_NAME.get(name)
        if check is None:
            faults.add((name,), f"unknown requirement{did_you_mean(name, _BY_NAME)}", at_key=True)
        else:
            found.append(faults.attempt((name,), check, body))
    if not faults and len(found) != 1:
        faults.add((), f"expected one requirement per list item, got {len(found)}; begin each with '-'")
    faults.finish()
    [requirement] = found
    assert requirement is not None
    return requirement
