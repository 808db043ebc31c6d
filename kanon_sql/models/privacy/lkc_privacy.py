"""LKC-privacy: whichever L quasi-identifiers an attacker knows, K rows fit, and C bounds every confidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field

from kanon_sql.models.privacy.base import TOLERANCE, Monotonicity, PrivacyModel, SetWindows
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import SMALLEST_CLASS, figure
from kanon_sql.spec.checks import Fault, integer, the_number
from kanon_sql.spec.fields import K
from kanon_sql.spec.requirement import ABOUT_ATTRIBUTE, Attribute, Form, Requirement, Values
from kanon_sql.sql import Sql, render

__all__ = ["LkcPrivacyModel", "LkcPrivacyRequirement"]

MOST_SETS = 60
"""Each set takes windows of its own in every statement; beyond this, DuckDB plans for half a minute."""


class LkcPrivacyRequirement(Requirement):
    """Whatever at most l quasi-identifiers an attacker knows of a person, k rows fit, and c bounds every confidence.

    Attributes:
        attribute: the sensitive attribute.
        l: the most quasi-identifiers that an attacker knows.
        k: the fewest rows that have the same values of them.
        c: the largest share of one sensitive value among these rows, above 0 and at most 1.
        values: the values to protect; None for all.
    """

    name: ClassVar[str] = "lkc_privacy"
    expected: ClassVar[str] = "{attribute: ..., l: 2, k: 5, c: 0.5}"
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "lkc_privacy: {attribute: diagnosis, l: 2, k: 5, c: 0.5}",
            "for any l quasi-identifiers, at least k rows share its labels, in any class, and no sensitive value has "
            "a share above c among them; nothing may be suppressed",
            "Mohammed, Fung, Hung, Lee 2009",
        ),
    )
    definition: ClassVar[str] = (
        "Every combination of values of at most l quasi-identifiers has at least k rows, and no sensitive value has a "
        "share above c among them (Mohammed, Fung, Hung, Lee 2009)."
    )
    not_certified: ClassVar[str] = "it concerns every set of l quasi-identifiers, not classes by all"
    never_in_ledger: ClassVar[str] = (
        "a ledger judges releases by the classes of all quasi-identifiers, but this concerns every set of l; use "
        "alpha_k_anonymity, which implies it"
    )
    counts_persons: ClassVar[bool] = False

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    l: Annotated[int, integer("l", 1)] = Field(  # noqa: E741 - the paper's letter
        description="The largest number of quasi-identifiers that an attacker knows of a person."
    )
    k: K = Field(description="The smallest number of rows of one combination of values.")
    c: Annotated[float, the_number("c, a share above 0 and at most 1", above=0, most=1)] = Field(
        description="The largest share of these rows that one sensitive value may have."
    )
    values: Values = Field(default=None, description="The sensitive values to protect; all by default.")

    @property
    def identity(self) -> tuple[object, ...]:
        """For another l it is another requirement: who knows less may be promised more."""
        return (*super().identity, self.l)

    def misfits(self, quasi_identifiers: Sequence[str], sensitive: Sequence[str], unit: object) -> Iterator[Fault]:
        """Also more sets of quasi-identifiers than one statement takes."""
        yield from super().misfits(quasi_identifiers, sensitive, unit)
        sets = comb(len(quasi_identifiers), min(self.l, len(quasi_identifiers)))
        if sets > MOST_SETS:
            why = (
                f"{len(quasi_identifiers)} quasi-identifiers have {sets:,} sets of {self.l}, more than the limit of "
                f"{MOST_SETS}; use l: 1, fewer quasi-identifiers, or alpha_k_anonymity, which implies it"
            )
            yield Fault(("l",), why)


@register
@dataclass(frozen=True)
class LkcPrivacyModel(PrivacyModel):
    """LKC-privacy (Mohammed, Fung, Hung and Lee, KDD 2009, definition 3.1).

    For every set X of at most l quasi-identifiers and every combination of values of X in the table, at least k rows
    have it, and no sensitive value has a share above c of those with a value, up to 1e-9. ``values`` names the values
    to protect; without it every value is. A NULL quasi-identifier is a value. NULL is no sensitive value: shares
    are of the rows that have one, which is the larger figure.

    The sets of exactly l (all quasi-identifiers, if these are fewer) decide. Let X be a smaller set, and Y of size l
    contain it. The rows with one combination of X are those with some combinations of Y, each of which has k rows at
    least, so X has as many. Of a value s, let combination i of Y have n_i rows among t_i with a value, n_i <= c t_i.
    Then X has the sum of the n_i among the sum of the t_i, and sum n_i <= c sum t_i.

    By the same sums it is monotone without suppression: a generalized combination is a union of combinations.
    Rows that are suppressed for one set are missing from the combinations of the others, so nothing may be suppressed.
    For rows alone: of persons with several rows, each holds several values.
    """

    name: ClassVar[str] = "lkc_privacy"
    requirement: ClassVar = LkcPrivacyRequirement
    figures: ClassVar = {
        "c": figure(
            "lkc_privacy: the largest share of a value to protect among rows with one combination; null without a row."
        ),
        "k": SMALLEST_CLASS,
    }
    worst: ClassVar = "MAX"
    second: ClassVar = "MIN"
    sensitive: str
    l: int  # noqa: E741 - the paper's letter
    k: int
    c: float
    values: tuple[str, ...] | None = field(default=None, repr=False)
    known: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, requirement: LkcPrivacyRequirement) -> Self:
        """With the requirement's parameters."""
        return cls(requirement.attribute, requirement.l, requirement.k, requirement.c, requirement.values)

    def with_quasi_identifiers(self, names: Sequence[str]) -> PrivacyModel:
        """With every set of l of them."""
        return replace(self, known=tuple(combinations(names, min(self.l, len(names)))))

    @property
    def sets(self) -> tuple[tuple[str, ...], ...]:
        """What an attacker may know."""
        return self.known

    @property
    def among_classes(self) -> bool:
        """A combination is found in several classes."""
        return True

    @property
    def attribute(self) -> str:
        """The sensitive attribute."""
        return self.sensitive

    @property
    def notation(self) -> str:
        """Such as ``LKC-privacy of diagnosis with L = 2, K = 5 and C = 0.5``."""
        return f"LKC-privacy of {self.sensitive} with L = {self.l}, K = {self.k} and C = {self.c:g}"

    @property
    def key(self) -> str:
        """The attribute, and l."""
        return f"{self.name}({self.sensitive})[l={self.l}]"

    @property
    def lists(self) -> Mapping[str, tuple[str, ...]]:
        """The values to protect, if not all."""
        return {} if self.values is None else {"lkc_protected": self.values}

    @property
    def must_occur(self) -> tuple[str, ...]:
        """A value to protect that is misspelt would not be protected."""
        return tuple(self.lists)

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Without suppression."""
        return Monotonicity.WITHOUT_SUPPRESSION

    def value_steps(
        self, name: str, of_class: Sql, of_value: Sql, of_sets: Sequence[SetWindows], *, suppresses: bool
    ) -> Sequence[Mapping[str, Sql]]:
        """Per set: the rows of the combination, those with a value, those with this one; then the largest share."""
        assert of_sets, "it is judged for the quasi-identifiers of a spec"
        counted: dict[str, Sql] = {}
        shares: dict[str, Sql] = {}
        for number, over in enumerate(of_sets):
            size, held, own = (f"{name}_{part}{number}" for part in ("size", "held", "own"))
            counted |= {
                size: self._part("rows", over=over.of_class),
                held: self._part("held", over=over.of_class),
                own: self._part("rows", over=over.of_value),
            }
            shares[f"{name}_share{number}"] = self._part(
                "share", over=over.of_class, own=own, held=held, protected=next(iter(self.lists), None)
            )
        return [counted, shares]

    def measure(self, name: str) -> Sql:
        """The largest share in a combination of the class."""
        return self._part("measure", columns=[f"{name}_share{number}" for number, _ in enumerate(self.known)])

    def second_measure(self, name: str) -> Sql:
        """The fewest rows that have a combination of the class."""
        return self._part("second", columns=[f"{name}_size{number}" for number, _ in enumerate(self.known)])

    def _part(self, part: str, **context: Any) -> Sql:
        return render(f"models/privacy/{self.name}", part=part, **context)

    def parameters(self) -> dict[str, Any]:
        """``k``, and ``c`` with the tolerance."""
        return {"k": self.k, "c": self.c + TOLERANCE}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The largest share of a value to protect."""
        return {"c": worst}

    def achieved_second(self, worst: float | None) -> dict[str, float | int | None]:
        """The rows of the rarest combination."""
        return {"k": None if worst is None else int(worst)}
