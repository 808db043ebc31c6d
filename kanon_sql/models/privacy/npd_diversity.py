"""npd-recursive (c1, c2, l)-diversity: some values may be disclosed, others must not be excluded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from kanon_sql.models.privacy.base import TOLERANCE, Monotonicity, PrivacyModel
from kanon_sql.models.privacy.l_diversity import LDiversityRequirement
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import C_ABOVE, L_REACHED, figure

__all__ = ["NpdRecursiveDiversity"]


@register
@dataclass(frozen=True)
class NpdRecursiveDiversity(PrivacyModel):
    """Negative/positive disclosure-recursive (c1, c2, l)-diversity (Machanavajjhala et al. 2007, section 4.3).

    Positive disclosure is allowed for the values Y (``allow_positive``). In a class with counts
    r_1 >= r_2 >= ... >= r_m, let the most frequent value outside Y be the y-th. Then

        r_y < c1 (r_l + ... + r_m)                                            if y <= l - 1
        r_y < c1 (r_(l-1) + ... + r_(y-1) + r_(y+1) + ... + r_m)              if y >  l - 1

    A class that holds nothing but values of Y satisfies it. Negative disclosure is not allowed for the values
    W (``forbid_negative``): each of them is held by at least a share c2 of the class's rows, NULLs
    counted among these. NULL is not a protective value: the counts r leave it out, and a class with
    nothing else violates. Without Y and W it is recursive (c1, l)-diversity. With equal counts it does not matter
    which comes first: both sums are the same.

    Monotone without suppression (the same section), not with it. For rows alone: of persons with
    several rows, each holds several values, and shares do not add up to 1.
    """

    name: ClassVar[str] = "npd_recursive_diversity"
    requirement: ClassVar = LDiversityRequirement
    figures: ClassVar = {
        "c_above": C_ABOVE,
        "l": L_REACHED,
        "c2": figure("The least share of a value that must not be excluded."),
    }
    worst: ClassVar = "MAX"
    second: ClassVar = "MIN"
    needs_totals: ClassVar[bool] = True
    needs_positions: ClassVar[bool] = True
    sensitive: str
    c: float
    l: int  # noqa: E741 - the field's own letter
    c2: float | None = None
    allow_positive: tuple[str, ...] = field(default=(), repr=False)
    forbid_negative: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, requirement: LDiversityRequirement) -> Self | None:
        """Where it is of this variant."""
        if requirement.variant != "npd_recursive":
            return None
        assert requirement.c is not None, "the spec refuses this variant without c"
        return cls(
            sensitive=requirement.attribute,
            c=requirement.c,
            l=int(requirement.l),
            c2=requirement.c2,
            allow_positive=requirement.allow_positive or (),
            forbid_negative=requirement.forbid_negative or (),
        )

    @property
    def least_values(self) -> int | None:
        """``l``, unless some values may be disclosed: then a class may hold one of these alone."""
        return None if self.allow_positive else self.l

    @property
    def attribute(self) -> str:
        """The sensitive attribute."""
        return self.sensitive

    @property
    def notation(self) -> str:
        """Such as ``npd-recursive (2, 0.1, 3)-diversity of diagnosis``; without c2, ``pd-recursive (2, 3)-...``."""
        if self.c2 is None:
            return f"pd-recursive ({self.c:g}, {self.l})-diversity of {self.sensitive}"
        return f"npd-recursive ({self.c:g}, {self.c2:g}, {self.l})-diversity of {self.sensitive}"

    @property
    def lists(self) -> Mapping[str, tuple[str, ...]]:
        """Y and W."""
        return {"may_be_disclosed": self.allow_positive, "not_to_be_excluded": self.forbid_negative}

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Without suppression."""
        return Monotonicity.WITHOUT_SUPPRESSION

    def parameters(self) -> dict[str, Any]:
        """``c``, ``l``, ``c2`` less the tolerance, and how many values W has."""
        least = None if self.c2 is None else self.c2 - TOLERANCE
        return {"c": self.c, "l": self.l, "c2": least, "held": len(set(self.forbid_negative))}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The largest ratio of r_y to its sum: every c1 above it is satisfied; None when no c1 is."""
        return {"c_above": None if unbounded else worst, "l": self.l}

    def achieved_second(self, worst: float | None) -> dict[str, float | int | None]:
        """The least share of a value of W in a class."""
        return {} if self.c2 is None else {"c2": worst}
