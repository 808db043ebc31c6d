"""l-diversity: every equivalence class holds enough different sensitive values.

Three kinds (Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam 2006/2007, section 4; a fourth is in
:mod:`kanon_sql.models.privacy.npd_diversity`, an estimate of entropy in
:mod:`kanon_sql.models.privacy.entropy_estimate`). In all
of them NULL is not a protective value: it is left out of the counts. With persons as
the unit, each person counts once per value, and a value that every person of the class
holds is disclosed, however many other values there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, fsum, log
from typing import TYPE_CHECKING, Any, ClassVar, Self

from kanon_sql.models.privacy.base import TOLERANCE, Monotonicity, PrivacyModel, ShareBound
from kanon_sql.models.privacy.whole import Whole
from kanon_sql.spec import LDiversityRequirement

__all__ = ["DistinctLDiversity", "EntropyLDiversity", "RecursiveCLDiversity"]


@dataclass(frozen=True)
class _LDiversity(PrivacyModel):
    requirement: ClassVar = LDiversityRequirement
    is_bounded: ClassVar[bool] = True
    has_disclosed: ClassVar[bool] = True
    judging: ClassVar[tuple[str, ...]] = ("l", "c")
    sensitive: str

    if TYPE_CHECKING:

        @property
        def l(self) -> float:  # noqa: E743 - the field's own letter
            """How many values."""

    @property
    def attribute(self) -> str:
        """The sensitive attribute."""
        return self.sensitive

    @property
    def least_values(self) -> int:
        """``l``: entropy l-diversity needs at least l values too, since m of them have entropy ln m at most."""
        return ceil(self.l)


@dataclass(frozen=True)
class DistinctLDiversity(_LDiversity):
    """Distinct l-diversity: at least l different values.

    Monotone also under suppression: a union has at least as many different values as each
    part. Not so for persons, where a value may become every person's when classes merge.
    """

    name: ClassVar[str] = "distinct_l_diversity"
    by_windows: ClassVar[bool] = True
    worst: ClassVar = "MIN"
    l: int  # noqa: E741 - the field's own letter

    @classmethod
    def of(cls, requirement: LDiversityRequirement) -> Self | None:
        """Where it is of this kind."""
        return None if requirement.kind != "distinct" else cls(requirement.attribute, int(requirement.l))

    @property
    def notation(self) -> str:
        """Such as ``distinct 3-diversity of diagnosis``."""
        return f"distinct {self.l}-diversity of {self.sensitive}"

    @property
    def share_bound(self) -> ShareBound | None:
        """With l = 2, no value may be every person's."""
        return ShareBound("distinct 2-diversity", 1 / 2, lambda size: size - 1, 2, None) if self.l == 2 else None

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Always for rows, never for persons."""
        return Monotonicity.NEVER if by_person else Monotonicity.ALWAYS

    def out_of_reach(self, whole: Whole) -> str | None:
        """A class has no more values than the source."""
        return (
            None if whole.values >= self.l else f"the source has {whole.in_words}, so that l is {whole.values} at most"
        )

    def parameters(self) -> dict[str, Any]:
        """``l``."""
        return {"l": self.l}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The fewest different values in a class."""
        return {"l": None if worst is None else int(worst)}


@dataclass(frozen=True)
class EntropyLDiversity(_LDiversity):
    """Entropy l-diversity: the entropy of the class's values is at least ln(l).

    Compared in the log domain with a tolerance of 1e-9 nats. Monotone without
    suppression (entropy is concave: a mixture has at least the least entropy of its
    parts), not with it: {a, b} satisfies l = 2, merged with the suppressed {a, a, a} not.
    """

    name: ClassVar[str] = "entropy_l_diversity"
    by_windows: ClassVar[bool] = True
    worst: ClassVar = "MIN"
    l: float  # noqa: E741 - the field's own letter

    @classmethod
    def of(cls, requirement: LDiversityRequirement) -> Self | None:
        """Where it is of this kind, and of the class's own entropy."""
        if requirement.kind != "entropy" or requirement.estimator == "grassberger":
            return None
        return cls(requirement.attribute, float(requirement.l))

    @property
    def notation(self) -> str:
        """Such as ``entropy 3-diversity of diagnosis``."""
        return f"entropy {self.l:g}-diversity of {self.sensitive}"

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Without suppression for rows, never for persons."""
        return Monotonicity.NEVER if by_person else Monotonicity.WITHOUT_SUPPRESSION

    def out_of_reach(self, whole: Whole) -> str | None:
        """Entropy is concave, so that all released rows together have at least that of some class."""
        level = whole.levelled()
        total = _least(level, 0)
        most = fsum(-count * (size / total) * log(size / total) for size, count in level)
        if most >= log(self.l) - 2 * TOLERANCE:
            return None
        return f"{whole.in_words}, as equally frequent as suppression can make them, reach l = {exp(most):.4g} at most"

    def parameters(self) -> dict[str, Any]:
        """``log_l``: ln(l) less the tolerance."""
        return {"log_l": log(self.l) - TOLERANCE}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """Exp of the least entropy: the largest l that is satisfied."""
        return {"l": None if worst is None else exp(worst)}


@dataclass(frozen=True)
class RecursiveCLDiversity(_LDiversity):
    """Recursive (c,l)-diversity: r1 < c (r_l + ... + r_m), counts in descending order.

    A class with fewer than l different values has an empty sum and violates for every c.
    Monotone without suppression (Machanavajjhala et al., section 4.3), not with it.
    """

    name: ClassVar[str] = "recursive_cl_diversity"
    by_windows: ClassVar[bool] = True
    worst: ClassVar = "MAX"
    needs_positions: ClassVar[bool] = True
    c: float
    l: int  # noqa: E741 - the field's own letter

    @classmethod
    def of(cls, requirement: LDiversityRequirement) -> Self | None:
        """Where it is of this kind."""
        if requirement.kind != "recursive":
            return None
        assert requirement.c is not None, "the spec refuses this kind without c"
        return cls(requirement.attribute, requirement.c, int(requirement.l))

    @property
    def notation(self) -> str:
        """Such as ``recursive (2, 3)-diversity of diagnosis``."""
        return f"recursive ({self.c:g}, {self.l})-diversity of {self.sensitive}"

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Without suppression for rows, never for persons."""
        return Monotonicity.NEVER if by_person else Monotonicity.WITHOUT_SUPPRESSION

    def out_of_reach(self, whole: Whole) -> str | None:
        """All released rows together are (c, l)-diverse if their classes are; the more so the more equal they are."""
        reached = 0
        level = whole.levelled()
        while reached < self.l and level and level[0][0] < Fraction(self.c) * _least(level, reached):
            reached += 1
        if reached == self.l:
            return None
        most = f"l = {reached} at most" if reached else "no l"
        return f"{whole.in_words}, as equally frequent as suppression can make them, reach {most} with c = {self.c:g}"

    def parameters(self) -> dict[str, Any]:
        """``c`` and ``l``."""
        return {"c": self.c, "l": self.l}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The largest ratio r1 / (r_l + ... + r_m): every c above it is satisfied.

        None when some class satisfies no c at all (or there is no class).
        """
        return {"c_above": None if unbounded else worst, "l": self.l}


def _least(level: Sequence[tuple[Fraction, int]], skipped: int) -> Fraction:
    """The sum of all frequencies but this many of the largest: r_(skipped + 1) + ... + r_m."""
    total = Fraction(0)
    for size, count in level:
        total += size * max(0, count - skipped)
        skipped = max(0, skipped - count)
    return total
