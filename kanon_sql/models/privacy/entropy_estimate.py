"""Entropy l-diversity by Grassberger's estimate of the entropy behind a class.

P. Grassberger, Entropy estimates from insufficient samplings (arXiv:physics/0307138v2, 2003), equations 28 to 31, for
entropy l-diversity as in S. Stammler, S. Katzenbeisser, K. Hamacher, Correcting finite sampling issues in entropy
l-diversity (PSD 2016). With N rows of a class and n of a value, the estimate is G(N) - sum of n G(n) / N, where the
logarithm of the class's own entropy gives way to

    G(2j) = G(2j + 1) = -gamma - ln 2 + 2/1 + 2/3 + ... + 2/(2j - 1),     gamma = 0.5772...,

which is psi(j + 1/2) + ln 2. From j = 8 on the asymptotic series is taken, psi(j + 1/2) = ln j + 1/(24 j^2)
- 7/(960 j^4) + 31/(8064 j^6) - 127/(30720 j^8) + ..., whose error is less than its first omitted term,
511/(67584 j^10), less than 1e-11.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, fsum, log
from typing import Any, ClassVar, Self

from kanon_sql.models.privacy.base import TOLERANCE, Monotonicity, PrivacyModel
from kanon_sql.models.privacy.l_diversity import LDiversityRequirement
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import L_REACHED
from kanon_sql.models.privacy.whole import Whole
from kanon_sql.sql import Sql, render

__all__ = ["EntropyEstimateLDiversity"]

LISTED = 8
"""For fewer pairs of rows than this, G is listed; from here on the series is exact to 1e-11."""

GAMMA = 0.5772156649015328606
"""Euler's constant."""

SERIES = (1 / 24, 7 / 960, 31 / 8064, 127 / 30720)
"""The coefficients of psi(j + 1/2) - ln j in 1/j^2, with alternating signs."""


@register
@dataclass(frozen=True)
class EntropyEstimateLDiversity(PrivacyModel):
    """The entropy of the distribution that a class's values are believed to be drawn from is at least ln(l).

    The estimate is above the class's own entropy, the more so the smaller the class: two rows with two values are
    estimated at 2 nats, more than two values can have. So a class of fewer than l different values violates whatever
    is estimated, and what is reached is not above their number. NULL is no value, and a value that all persons of a
    class hold is disclosed.

    Never monotone: {a, b} passes for l = 2, {a, a, b, b} has 0.667 nats, less than ln 2.
    """

    name: ClassVar[str] = "entropy_estimate_l_diversity"
    requirement: ClassVar = LDiversityRequirement
    figures: ClassVar = {"l": L_REACHED}
    worst: ClassVar = "MIN"
    logarithmic: ClassVar = True
    second: ClassVar = "MIN"
    is_bounded: ClassVar[bool] = True
    has_disclosed: ClassVar[bool] = True
    is_estimate: ClassVar[bool] = True
    sensitive: str
    l: float  # noqa: E741 - the field's own letter

    @classmethod
    def of(cls, requirement: LDiversityRequirement) -> Self | None:
        """Where it is of this variant, by this estimator."""
        asked = requirement.variant == "entropy" and requirement.estimator == "grassberger"
        return cls(requirement.attribute, float(requirement.l)) if asked else None

    @property
    def attribute(self) -> str:
        """The sensitive attribute."""
        return self.sensitive

    @property
    def notation(self) -> str:
        """Such as ``entropy 3-diversity of diagnosis by estimate (Grassberger)``."""
        return f"entropy {self.l:g}-diversity of {self.sensitive} by estimate (Grassberger)"

    @property
    def assumption(self) -> str:
        """The values of a class are a random sample."""
        return (
            f"entropy {self.l:g}-diversity of {self.sensitive} is an estimate and not proven: the values of each class "
            "are assumed to be a random sample of a larger population, so classes whose own values have less entropy "
            "can pass"
        )

    @property
    def least_values(self) -> int:
        """``l``: fewer different values violate whatever is estimated."""
        return ceil(self.l)

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Never: the estimate falls towards the entropy as a class grows."""
        return Monotonicity.NEVER

    def out_of_reach(self, whole: Whole) -> str | None:
        """A class has no more values than the source."""
        if whole.values >= self.l:
            return None
        return f"the source has {whole.in_words}, so that l is {whole.values} at most"

    def parameters(self) -> dict[str, Any]:
        """``log_l``: ln(l) less the tolerance; ``listed``: G of 0, 2, 4, ... rows; the coefficients of the series."""
        base = -GAMMA - log(2)
        listed = [base + fsum(2 / (2 * k - 1) for k in range(1, pairs + 1)) for pairs in range(LISTED)]
        return {"log_l": log(self.l) - TOLERANCE, "least_values": self.least_values, "listed": listed, "series": SERIES}

    def reached(self, name: str) -> Sql:
        """The estimate, not above the logarithm of the number of values."""
        return render(f"models/privacy/{self.name}", part="reached", measure=name, **self.parameters())

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The largest l that is satisfied; not above the number of values."""
        return {"l": None if worst is None else exp(worst)}
