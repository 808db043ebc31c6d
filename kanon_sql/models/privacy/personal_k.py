"""Personal k: every class is as large as the largest per-row k in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from kanon_sql.models.privacy.base import Monotonicity, PrivacyModel
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import SMALLEST_CLASS, figure
from kanon_sql.spec import KAnonymityRequirement

__all__ = ["PersonalKModel"]


@register
@dataclass(frozen=True)
class PersonalKModel(PrivacyModel):
    """Personalized k-anonymity (Gedik and Liu, ICDCS 2005, section 2): every person has a k of their own.

    A column of the source holds it; a row with NULL there has the default. The column is released, and a class
    may have people with different ones: it is as large as the largest of them, so that every k is met.

    Monotone without suppression: a union is at least as large as each part, hence as each k. A satisfied class
    merged with one that is too small for a large k may be too small for it, too.
    """

    name: ClassVar[str] = "personal_k_anonymity"
    requirement: ClassVar = KAnonymityRequirement
    figures: ClassVar = {
        "wanted_k": figure("The largest per-row k.", int),
        "k": SMALLEST_CLASS,
    }
    worst: ClassVar = "MAX"
    second: ClassVar = "MIN"
    second_is_size: ClassVar[bool] = True
    k_column: str
    default: int

    @classmethod
    def of(cls, requirement: KAnonymityRequirement) -> Self | None:
        """Of a requirement that names a column."""
        if requirement.column is None or requirement.default is None:
            return None
        return cls(requirement.column, requirement.default)

    @property
    def attribute(self) -> str:
        """The column with the k of each row."""
        return self.k_column

    @property
    def notation(self) -> str:
        """Such as ``personal k-anonymity by wanted_k (5 where NULL)``."""
        return f"personal k-anonymity by {self.k_column} ({self.default} where NULL)"

    @property
    def numbers(self) -> Mapping[str, int]:
        """The k of each row, as a number."""
        return {"wanted_k": self.default}

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Without suppression, for persons as well: a union has at least as many as each part."""
        return Monotonicity.WITHOUT_SUPPRESSION

    def parameters(self) -> dict[str, Any]:
        """None: the k of each row is in the table."""
        return {}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The largest per-row k."""
        return {"wanted_k": None if worst is None else int(worst)}

    def achieved_second(self, worst: float | None) -> dict[str, float | int | None]:
        """The size of the smallest class."""
        return {"k": None if worst is None else int(worst)}
