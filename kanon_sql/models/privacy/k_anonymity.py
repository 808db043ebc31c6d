"""k-anonymity: every equivalence class holds at least k rows, or k persons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from kanon_sql.models.privacy.base import Monotonicity, PrivacyModel
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import SMALLEST_CLASS
from kanon_sql.spec import KAnonymityRequirement, Requirement

__all__ = ["KAnonymityModel"]


@register
@dataclass(frozen=True)
class KAnonymityModel(PrivacyModel):
    """k-anonymity (Samarati 2001, definition 2.1; Sweeney 2002, definition 3).

    Monotone also under suppression: merging classes only makes them larger, so a class
    that is large enough stays so, and a row that was kept is kept. Classes may be made by some of
    the quasi-identifiers alone, with a k of their own: an attacker need not know all of them.
    """

    name: ClassVar[str] = "k_anonymity"
    requirement: ClassVar[type[Requirement]] = KAnonymityRequirement
    figures: ClassVar = {"k": SMALLEST_CLASS}
    worst: ClassVar = "MIN"
    judges_size: ClassVar[bool] = True
    by_windows: ClassVar[bool] = True
    k: int

    @classmethod
    def of(cls, requirement: KAnonymityRequirement) -> Self | None:
        """With the requirement's k; None where a column has the k of each row, or combinations are counted."""
        return None if requirement.k is None or requirement.combinations is not None else cls(k=requirement.k)

    @property
    def notation(self) -> str:
        """Such as ``5-anonymity``."""
        return f"{self.k}-anonymity"

    @property
    def protects_no_one(self) -> bool:
        """With ``k`` 1."""
        return self.k == 1

    @property
    def least_size(self) -> int:
        """``k``."""
        return self.k

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Always: a union has at least as many rows, and persons, as each part."""
        return Monotonicity.ALWAYS

    def parameters(self) -> dict[str, Any]:
        """``k``."""
        return {"k": self.k}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The size of the smallest class; None when there is none."""
        return {"k": None if worst is None else int(worst)}
