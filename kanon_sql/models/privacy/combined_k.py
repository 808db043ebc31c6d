"""k-anonymity of all combinations of a few quasi-identifiers, as mu-Argus and sdcMicro check it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar, Self

from kanon_sql.models.privacy.base import Monotonicity, PrivacyModel
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import SMALLEST_CLASS
from kanon_sql.spec import KAnonymityRequirement, Requirement

__all__ = ["CombinedKModel"]


@register
@dataclass(frozen=True)
class CombinedKModel(PrivacyModel):
    """k-anonymity of combinations (Hundepool and Willenborg, mu- and tau-Argus, 1996).

    For every set of m quasi-identifiers (all of them, if these are fewer), every combination of values of the set that
    is in the table is in at least k rows. A NULL is a value, and so is the label of a suppressed cell. Smaller sets
    follow: the rows of a combination of theirs are those of some combinations of m, each of k rows at least.

    Suppression. A row that is dropped is missing from its other combinations. So rows with a rare combination are
    dropped until there is none. That keeps the most rows: take any choice of rows in which every combination is
    frequent. None of its rows is ever dropped, since a combination has at least the rows that it has in the choice. So
    the union of all such choices is what is left, whatever the order.

    Monotone also under suppression: what is left at a node is, generalized, a choice of rows in which every
    combination is frequent, so that a node above keeps all of these rows. Rows are counted, not persons: a person of
    several rows would count once for each of the classes.
    """

    name: ClassVar[str] = "combined_k_anonymity"
    requirement: ClassVar[type[Requirement]] = KAnonymityRequirement
    figures: ClassVar = {"k": SMALLEST_CLASS}
    worst: ClassVar = "MIN"
    to_fixpoint: ClassVar[bool] = True
    k: int
    m: int
    known: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, requirement: KAnonymityRequirement) -> Self | None:
        """Of a requirement that names the size of combinations."""
        if requirement.combinations is None or requirement.k is None:
            return None
        return cls(k=requirement.k, m=requirement.combinations)

    def with_quasi_identifiers(self, names: Sequence[str]) -> PrivacyModel:
        """With every set of m of them."""
        return replace(self, known=tuple(combinations(names, min(self.m, len(names)))))

    @property
    def sets(self) -> tuple[tuple[str, ...], ...]:
        """Every set of m quasi-identifiers."""
        return self.known

    @property
    def among_classes(self) -> bool:
        """A combination is found in several classes."""
        return True

    @property
    def notation(self) -> str:
        """Such as ``3-anonymity of all combinations of 2``."""
        return f"{self.k}-anonymity of all combinations of {self.m}"

    @property
    def assumption(self) -> str:
        """How much an attacker knows: classes by all quasi-identifiers are not judged."""
        return (
            f"{self.notation} assumes that no one knows more than {self.m} of the quasi-identifiers of a person; by "
            f"all of them together classes may have fewer than {self.k} rows"
        )

    @property
    def key(self) -> str:
        """With m."""
        return f"k_anonymity[combinations={self.m}]"

    @property
    def protects_no_one(self) -> bool:
        """With ``k`` 1."""
        return self.k == 1

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Always: see above."""
        return Monotonicity.ALWAYS

    def parameters(self) -> dict[str, Any]:
        """``k``."""
        return {"k": self.k}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The rows of the rarest combination; None when there is none."""
        return {"k": None if worst is None else int(worst)}
