"""p-sensitive k-anonymity: classes of k, each with p different sensitive values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field

from kanon_sql.models.privacy.base import Monotonicity, PrivacyModel
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import SMALLEST_CLASS, figure
from kanon_sql.models.privacy.whole import Whole
from kanon_sql.spec.checks import Fault, integer
from kanon_sql.spec.fields import K
from kanon_sql.spec.requirement import (
    ABOUT_ATTRIBUTE,
    Attribute,
    Form,
    Requirement,
)

__all__ = ["PSensitiveModel", "PSensitiveRequirement"]


class PSensitiveRequirement(Requirement):
    """Every equivalence class is k-anonymous and holds at least p different sensitive values.

    Attributes:
        attribute: the sensitive attribute.
        p: how many different values, at most ``k``.
        k: the size of the smallest class.
    """

    name: ClassVar[str] = "p_sensitive_k_anonymity"
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "p_sensitive_k_anonymity: {attribute: diagnosis, p: 2, k: 5}",
            "k rows and p different values",
            "Truta, Vinay 2006",
        ),
    )
    expected: ClassVar[str] = "{attribute: ..., p: 2, k: 5}"
    definition: ClassVar[str] = "Every class has at least k rows and p different sensitive values (Truta, Vinay 2006)."

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    p: Annotated[int, integer("p", 1)] = Field(
        description="The smallest number of different sensitive values of each equivalence class."
    )
    k: K = Field(description="The size of the smallest equivalence class.")

    @property
    def never_grows(self) -> str | None:
        """Nothing: a union of classes inherits it."""
        return None

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """P is at most k (Truta and Vinay 2006, definition 2)."""
        if value is not None and value.p > value.k:
            yield Fault(("p",), f"expected p, at most k = {value.k}, got {value.p}")


@register
@dataclass(frozen=True)
class PSensitiveModel(PrivacyModel):
    """p-sensitive k-anonymity (Truta and Vinay 2006, definition 2).

    k-anonymity, and at least p different values of the attribute in every class. The paper's definition is
    about every confidential attribute: ask for one requirement each. NULL is not a protective value. With
    persons as the unit, a value that every person of the class holds is disclosed, whatever else it holds.

    Monotone also under suppression: a union is at least as large and has at least as many different values
    as each part. Not so for persons, where a value may become every person's when classes merge.
    """

    name: ClassVar[str] = "p_sensitive_k_anonymity"
    requirement: ClassVar = PSensitiveRequirement
    figures: ClassVar = {
        "p": figure("The fewest different values in a class.", int),
        "k": SMALLEST_CLASS,
    }
    worst: ClassVar = "MIN"
    second: ClassVar = "MIN"
    second_is_size: ClassVar[bool] = True
    is_bounded: ClassVar[bool] = True
    has_disclosed: ClassVar[bool] = True
    by_windows: ClassVar[bool] = True
    sensitive: str
    p: int
    k: int

    @classmethod
    def of(cls, requirement: PSensitiveRequirement) -> Self:
        """With the requirement's parameters."""
        return cls(requirement.attribute, requirement.p, requirement.k)

    @property
    def attribute(self) -> str:
        """The sensitive attribute."""
        return self.sensitive

    @property
    def notation(self) -> str:
        """Such as ``2-sensitive 5-anonymity of diagnosis``."""
        return f"{self.p}-sensitive {self.k}-anonymity of {self.sensitive}"

    @property
    def least_size(self) -> int:
        """``k``."""
        return self.k

    @property
    def least_values(self) -> int:
        """``p``."""
        return self.p

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Always for rows, never for persons."""
        return Monotonicity.NEVER if by_person else Monotonicity.ALWAYS

    def out_of_reach(self, whole: Whole) -> str | None:
        """A class has no more values than the source."""
        if whole.values >= self.p:
            return None
        return f"the source has {whole.in_words}, so that p is {whole.values} at most"

    def parameters(self) -> dict[str, Any]:
        """``p`` and ``k``."""
        return {"p": self.p, "k": self.k}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The fewest different values in a class."""
        return {"p": None if worst is None else int(worst)}

    def achieved_second(self, worst: float | None) -> dict[str, float | int | None]:
        """The size of the smallest class."""
        return {"k": None if worst is None else int(worst)}
