"""(alpha, k)-anonymity: classes of k, in which no sensitive value has more than a share alpha."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from math import ceil, floor
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field

from kanon_sql.models.privacy.base import TOLERANCE, Monotonicity, PrivacyModel, ShareBound
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import SMALLEST_CLASS, figure
from kanon_sql.models.privacy.whole import Whole
from kanon_sql.spec.checks import the_number
from kanon_sql.spec.fields import K
from kanon_sql.spec.requirement import (
    ABOUT_ATTRIBUTE,
    Attribute,
    Form,
    Requirement,
    Values,
)

__all__ = ["AlphaKAnonymityModel", "AlphaKAnonymityRequirement"]


class AlphaKAnonymityRequirement(Requirement):
    """Every equivalence class is k-anonymous, and no sensitive value has more than a share alpha of it.

    Attributes:
        attribute: the sensitive attribute.
        alpha: the largest share allowed, above 0 and below 1.
        k: the size of the smallest class.
        values: the values to protect; None for all.
    """

    name: ClassVar[str] = "alpha_k_anonymity"
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "alpha_k_anonymity: {attribute: diagnosis, alpha: 0.5, k: 5}",
            "k rows, and no value with a share above alpha",
            "Wong, Li, Fu, Wang 2006",
        ),
    )
    expected: ClassVar[str] = "{attribute: ..., alpha: 0.5, k: 5}"
    definition: ClassVar[str] = (
        "Every class has at least k rows, and no sensitive value has a share of it above alpha (Wong, Li, Fu, "
        "Wang 2006)."
    )
    counts_persons: ClassVar[bool] = False

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    alpha: Annotated[float, the_number("alpha, above 0 and below 1", above=0, below=1)] = Field(
        description="The largest share of a class that one sensitive value may have."
    )
    k: K = Field(description="The size of the smallest equivalence class.")
    values: Values = Field(default=None, description="The sensitive values to protect; all by default.")

    @property
    def never_grows(self) -> str | None:
        """Nothing: a union of classes inherits it."""
        return None


@register
@dataclass(frozen=True)
class AlphaKAnonymityModel(PrivacyModel):
    """(alpha, k)-anonymity (Wong, Li, Fu and Wang 2006, definitions 2 and 3).

    k-anonymity, and alpha-deassociation: the share of a sensitive value in every class is at most alpha, up to
    1e-9. ``values`` names the values to protect; without it every value is (the paper's general model). NULL is not
    a protective value: shares are of the rows that have one, and a class with nothing but NULL discloses none.

    Monotone without suppression: a union's share is a mean of those of its parts (the paper's
    theorem on monotonicity). Not with it: {s, x} satisfies alpha = 0.5, merged with the suppressed
    {s, s} not. For rows alone: of persons with several rows, each holds several values.
    """

    name: ClassVar[str] = "alpha_k_anonymity"
    requirement: ClassVar = AlphaKAnonymityRequirement
    figures: ClassVar = {
        "alpha": figure("The largest share of a value to protect in a class."),
        "k": SMALLEST_CLASS,
    }
    worst: ClassVar = "MAX"
    second: ClassVar = "MIN"
    second_is_size: ClassVar[bool] = True
    is_bounded: ClassVar[bool] = True
    by_windows: ClassVar[bool] = True
    sensitive: str
    alpha: float
    k: int
    values: tuple[str, ...] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, requirement: AlphaKAnonymityRequirement) -> Self:
        """With the requirement's parameters."""
        return cls(requirement.attribute, requirement.alpha, requirement.k, requirement.values)

    @property
    def attribute(self) -> str:
        """The sensitive attribute."""
        return self.sensitive

    @property
    def notation(self) -> str:
        """Such as ``(0.5, 3)-anonymity of diagnosis``."""
        return f"({self.alpha:g}, {self.k})-anonymity of {self.sensitive}"

    @property
    def lists(self) -> Mapping[str, tuple[str, ...]]:
        """The values to protect, if not all."""
        return {} if self.values is None else {"is_protected": self.values}

    @property
    def must_occur(self) -> tuple[str, ...]:
        """A value to protect that is misspelt would not be protected."""
        return tuple(self.lists)

    @property
    def least_size(self) -> int:
        """``k``."""
        return self.k

    @property
    def least_values(self) -> int | None:
        """Enough that none needs a larger share than alpha; a class may hold one value that is not listed."""
        return None if self.values is not None else values_within(self.alpha)

    @property
    def share_bound(self) -> ShareBound:
        """``alpha``, of each value to protect."""
        least = 1 if self.values is not None else values_within(self.alpha)
        return ShareBound(self.name, self.alpha, partial(_within, self.alpha), least, self.values)

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Without suppression."""
        return Monotonicity.WITHOUT_SUPPRESSION

    def out_of_reach(self, whole: Whole) -> str | None:
        """A share among all released rows is a mean of those in the classes; of single values nothing is known here."""
        if self.values is not None or whole.vanishes:
            return None
        level = whole.levelled()
        share = level[0][0] / sum(size * count for size, count in level)
        if share <= self.alpha + 2 * TOLERANCE:
            return None
        return (
            f"with {whole.in_words}, as equally frequent as suppression can make them, "
            f"one of them has a share of {float(share):.4g} at least"
        )

    def parameters(self) -> dict[str, Any]:
        """``alpha`` with the tolerance, ``k``, and the fact that tells values to protect."""
        return {"alpha": self.alpha + TOLERANCE, "k": self.k, "protected": next(iter(self.lists), None)}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The largest share of a value to protect."""
        return {"alpha": worst}

    def achieved_second(self, worst: float | None) -> dict[str, float | int | None]:
        """The size of the smallest class."""
        return {"k": None if worst is None else int(worst)}


def values_within(alpha: float) -> int:
    """The fewest values of which none needs a larger share, compared as the requirement compares: 1 / m <= alpha."""
    fewest = max(1, ceil(1 / alpha) - 1)
    while 1 / fewest > alpha:
        fewest += 1
    return fewest


def _within(alpha: float, size: int) -> int:
    """The most of this many rows that are no larger a share than alpha, compared as the requirement compares."""
    most = min(size, floor(alpha * size) + 1)
    while most / size > alpha:
        most -= 1
    return most
