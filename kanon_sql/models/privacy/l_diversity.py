"""l-diversity: every equivalence class holds enough different sensitive values.

Three kinds (Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam 2006/2007, section 4; a fourth is in
:mod:`kanon_sql.models.privacy.npd_diversity`, an estimate of entropy in
:mod:`kanon_sql.models.privacy.entropy_estimate`). In all
of them NULL is not a protective value: it is left out of the counts. With persons as
the unit, each person counts once per value, and a value that every person of the class
holds is disclosed, however many other values there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, exp, fsum, log
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from kanon_sql.models.privacy.base import TOLERANCE, Monotonicity, PrivacyModel, ShareBound
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import C_ABOVE, L_REACHED
from kanon_sql.models.privacy.whole import Whole
from kanon_sql.spec.checks import Fault, chosen, fail, number, plain_number, shaped, the_number
from kanon_sql.spec.requirement import (
    ABOUT_ATTRIBUTE,
    ABOUT_COLUMNS,
    ABOUT_OTHERS,
    Attribute,
    Columns,
    Form,
    Others,
    Requirement,
    Values,
    one_grouping,
)

__all__ = ["DistinctLDiversity", "EntropyLDiversity", "LDiversityRequirement", "RecursiveCLDiversity"]


@shaped({"type": "number", "minimum": 1})
def _diversity(value: object) -> int | float:
    found = number("l, at least 1")(value)
    if found < 1:
        fail(f"expected l, a number of at least 1, got {found}")
    return plain_number(found) if not isinstance(value, int) else value


class LDiversityRequirement(Requirement):
    """Every equivalence class has ``l`` well-represented values of a sensitive attribute.

    Attributes:
        attribute: the sensitive attribute.
        l: how many values; a whole number, except that for entropy any number >= 1 will do.
        variant: ``distinct`` (l different values), ``entropy`` (entropy >= log l),
            ``recursive`` (r1 < c * (r_l + ... + r_m), counts in descending order) or
            ``npd_recursive`` (recursive, except for values that may be disclosed, and for values
            that must not be excluded).
        c: the factor of (npd-)recursive (c, l)-diversity, the paper's c1; None otherwise.
        estimator: of entropy: ``shannon``, that of the values in the class, or ``grassberger``, an estimate of that
            behind them; None for the other variants, and for Shannon's by default.
        c2: the least share of each value of ``forbid_negative`` in a class; None without such values.
        allow_positive: values whose positive disclosure is allowed (the paper's Y).
        forbid_negative: values whose negative disclosure is not allowed (the paper's W).
        quasi_identifiers: those that classes are made by; None for all of the spec.
        others_as_quasi_identifiers: classes are made by the other sensitive attributes too.
    """

    name: ClassVar[str] = "l_diversity"
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "l_diversity: {attribute: diagnosis, l: 3}",
            "at least l different values",
            "Machanavajjhala et al. 2007",
        ),
        Form(
            "l_diversity: {attribute: diagnosis, l: 3, variant: entropy}",
            "values with entropy of at least ln l",
            "Machanavajjhala et al. 2007",
        ),
        Form(
            "l_diversity: {attribute: diagnosis, l: 3, variant: entropy, estimator: grassberger}",
            "at least l different values, with an [estimated](#entropy-by-estimate) entropy of at least ln l",
            "Grassberger 2003; Stammler, Katzenbeisser, Hamacher 2016",
        ),
        Form(
            "l_diversity: {attribute: diagnosis, l: 3, variant: recursive, c: 2}",
            "r1 < c (r_l + ... + r_m), counts in descending order",
            "Machanavajjhala et al. 2007",
        ),
        Form(
            "l_diversity: {attribute: diagnosis, l: 3, variant: npd_recursive, c: 2, allow_positive: [healthy]}",
            "r1 < c (r_l + ... + r_m), except for values that may be disclosed, and a share of at least c2 for each "
            "value that must not be excluded",
            "Machanavajjhala et al. 2007, section 4.3",
        ),
    )
    expected: ClassVar[str] = "{attribute: ..., l: 3, variant: distinct}"
    definition: ClassVar[str] = (
        "The sensitive attribute has at least l well-represented values in every class, depending on the variant: l "
        "different values, or a distribution in which no value is too frequent (Machanavajjhala et al. 2007)."
    )

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    l: Annotated[int | float, _diversity] = Field(  # noqa: E741
        description="The smallest number of well-represented values of each equivalence class."
    )
    variant: Annotated[
        Literal["distinct", "entropy", "recursive", "npd_recursive"], chosen("variant of l-diversity")
    ] = Field(default="distinct", description="The meaning of well-represented.")
    c: Annotated[float | None, the_number("c, above 0", above=0)] = Field(
        default=None, description="The factor of recursive (c, l)-diversity."
    )
    estimator: Annotated[Literal["shannon", "grassberger"] | None, chosen("estimator of entropy")] = Field(
        default=None,
        description="For entropy: that of the class's own values (shannon, the default), or an estimate for the "
        "population behind them (grassberger).",
    )
    c2: Annotated[float | None, the_number("c2, above 0 and at most 1", above=0, most=1)] = Field(
        default=None, description="For npd_recursive: the smallest share of every value of forbid_negative."
    )
    allow_positive: Values = Field(default=None, description="For npd_recursive: values that may be disclosed.")
    forbid_negative: Values = Field(
        default=None, description="For npd_recursive: values whose absence must not be disclosed."
    )
    quasi_identifiers: Columns = Field(default=None, description=ABOUT_COLUMNS)
    others_as_quasi_identifiers: Others = Field(default=False, description=ABOUT_OTHERS)

    @property
    def never_grows(self) -> str | None:
        """The npd-recursive variant, and estimates."""
        known = self.variant in ("distinct", "entropy", "recursive") and self.estimator != "grassberger"
        return None if known else "with a state, use variant: distinct, entropy (by its own values) or recursive"

    @property
    def rows_only(self) -> str | None:
        """The npd-recursive variant: its shares are of rows."""
        return "l_diversity of variant npd_recursive" if self.variant == "npd_recursive" else None

    def value_facts(self) -> Iterator[tuple[str, object]]:
        """The values that the npd-recursive variant lists."""
        return super().value_facts() if self.variant == "npd_recursive" else iter(())

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """``c`` goes with (npd-)recursive, values with npd-recursive; entropy alone takes an l that is not whole."""
        which = given.get("variant", "distinct")
        if which in ("recursive", "npd_recursive") and "c" not in given:
            yield Fault((), "missing 'c': recursive l-diversity needs a factor above 0", True)
        if which in ("distinct", "entropy") and "c" in given:
            yield Fault(("c",), f"'c' needs variant: recursive, but this is {which}", True)
        if given.get("estimator") is not None and which in ("distinct", "recursive", "npd_recursive"):
            yield Fault(("estimator",), f"'estimator' needs variant: entropy, but this is {which}", True)
        wanted = given.get("l")
        fractional = isinstance(wanted, float | Decimal) and Decimal(wanted).is_finite() and float(wanted) % 1 != 0
        if which in ("distinct", "recursive", "npd_recursive") and fractional:
            yield Fault(("l",), f"expected l, a whole number for variant: {which}, got one with a fraction")
        yield from _npd(given, which)
        yield from one_grouping(given)


def _npd(given: Mapping[str, Any], which: object) -> Iterator[Fault]:
    """What npd-recursive diversity asks for, and what the other variants do not take."""
    own = ("c2", "allow_positive", "forbid_negative")
    if which != "npd_recursive":
        for key in own:
            if key in given and which in ("distinct", "entropy", "recursive"):
                yield Fault((key,), f"'{key}' needs variant: npd_recursive, but this is {which}", True)
        return
    if "allow_positive" not in given and "forbid_negative" not in given:
        why = "npd_recursive needs allow_positive, forbid_negative or both; without them use variant: recursive"
        yield Fault((), why, True)
    if "forbid_negative" in given and "c2" not in given:
        yield Fault((), "missing 'c2', the smallest share of every value of forbid_negative, such as 0.1", True)
    if "c2" in given and "forbid_negative" not in given:
        yield Fault(("c2",), "'c2' needs 'forbid_negative', which is missing; add it, or leave 'c2' out", True)
    if given.get("l") == 1:
        yield Fault(("l",), "expected l, at least 2 for variant: npd_recursive, got 1")


@dataclass(frozen=True)
class _LDiversity(PrivacyModel):
    requirement: ClassVar = LDiversityRequirement
    figures: ClassVar = {"l": L_REACHED}
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


@register
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
        """Where it is of this variant."""
        return None if requirement.variant != "distinct" else cls(requirement.attribute, int(requirement.l))

    @property
    def protects_no_one(self) -> bool:
        """With ``l`` 1."""
        return self.l == 1

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


@register
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
    logarithmic: ClassVar = True
    l: float  # noqa: E741 - the field's own letter

    @classmethod
    def of(cls, requirement: LDiversityRequirement) -> Self | None:
        """Where it is of this variant, and of the class's own entropy."""
        if requirement.variant != "entropy" or requirement.estimator == "grassberger":
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


@register
@dataclass(frozen=True)
class RecursiveCLDiversity(_LDiversity):
    """Recursive (c,l)-diversity: r1 < c (r_l + ... + r_m), counts in descending order.

    A class with fewer than l different values has an empty sum and violates for every c.
    Monotone without suppression (Machanavajjhala et al., section 4.3), not with it.
    """

    name: ClassVar[str] = "recursive_cl_diversity"
    figures: ClassVar = {
        "c_above": C_ABOVE,
        "l": L_REACHED,
    }
    by_windows: ClassVar[bool] = True
    worst: ClassVar = "MAX"
    needs_positions: ClassVar[bool] = True
    c: float
    l: int  # noqa: E741 - the field's own letter

    @classmethod
    def of(cls, requirement: LDiversityRequirement) -> Self | None:
        """Where it is of this variant."""
        if requirement.variant != "recursive":
            return None
        assert requirement.c is not None, "the spec refuses this variant without c"
        return cls(requirement.attribute, requirement.c, int(requirement.l))

    @property
    def recursive_c(self) -> float | None:
        """``c``."""
        return self.c

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
