"""t-closeness: a class's sensitive values are distributed nearly as in the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from kanon_sql.privacy.base import TOLERANCE, Monotonicity, PrivacyModel

__all__ = ["TCloseness"]


@dataclass(frozen=True)
class TCloseness(PrivacyModel):
    """t-closeness with equal ground distance (Li, Li, Venkatasubramanian 2007, section 5.1).

    The distance is half the sum of |p - q| over all values: those absent from the class
    count with p = 0, and NULL is a value like any other. q is the distribution in the
    original table, rows that end up suppressed included; ``reference`` "release" compares
    with the checked table itself. Satisfied up to a tolerance of 1e-9.

    Monotone without suppression (the same paper, property 1: a merged class is no farther
    than the farther of its parts), not with it.
    """

    name: ClassVar[str] = "t_closeness"
    worst: ClassVar = "MAX"
    needs_totals: ClassVar[bool] = True
    sensitive: str
    t: float
    reference: Literal["original", "release"] = "original"

    @property
    def attribute(self) -> str:
        """The sensitive attribute."""
        return self.sensitive

    @property
    def label(self) -> str:
        """Such as ``0.2-closeness of diagnosis``."""
        return f"{self.t:g}-closeness of {self.sensitive}"

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Without suppression for rows, never for persons."""
        return Monotonicity.NEVER if by_person else Monotonicity.WITHOUT_SUPPRESSION

    def parameters(self) -> dict[str, Any]:
        """``t`` with the tolerance."""
        return {"t": self.t + TOLERANCE}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The largest distance of a class; None when some class has none."""
        return {"t": None if unbounded else worst}
