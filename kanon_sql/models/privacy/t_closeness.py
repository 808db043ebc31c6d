"""t-closeness: a class's sensitive values are distributed nearly as in the whole table.

How far apart two distributions are depends on how far apart two values are (Li, Li and
Venkatasubramanian 2007, section 5): all alike, by their ranks, or by where they meet in a hierarchy.
The distance is that of earth moving: the least mass times distance that turns one into the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from kanon_sql.models.privacy.base import TOLERANCE, Monotonicity, PrivacyModel
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import figure
from kanon_sql.spec import QuasiIdentifier
from kanon_sql.spec.checks import Fault, chosen, share
from kanon_sql.spec.requirement import (
    ABOUT_ATTRIBUTE,
    ABOUT_OTHERS,
    ABOUT_REFERENCE,
    Attribute,
    Form,
    Others,
    Reference,
    Requirement,
)

__all__ = [
    "Distance",
    "HierarchicalTCloseness",
    "OrderedTCloseness",
    "TCloseness",
    "TClosenessRequirement",
    "closeness_among",
]


class TClosenessRequirement(Requirement):
    """The distribution of an attribute in every equivalence class is at most ``t`` from that in the table.

    Attributes:
        attribute: the sensitive attribute.
        t: the largest distance allowed, between 0 and 1.
        distance: how far apart two values are: all alike (``equal``), by their ranks
            (``ordered``: numbers and dates), or by where they meet in a hierarchy (``hierarchical``).
        hierarchy: the attribute's own hierarchy, for the hierarchical distance.
        reference: compare with the ``original`` table, or with the ``release``.
        others_as_quasi_identifiers: classes are made by the other sensitive attributes too.
    """

    name: ClassVar[str] = "t_closeness"
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "t_closeness: {attribute: diagnosis, t: 0.3}",
            "half the sum of &#124;q - p&#124; at most t",
            "Li, Li, Venkatasubramanian 2007",
        ),
        Form(
            "t_closeness: {attribute: income, t: 0.3, distance: ordered}",
            "the earth mover's distance by rank at most t",
            "Li, Li, Venkatasubramanian 2007, section 5.1",
        ),
        Form(
            "t_closeness: {attribute: diagnosis, t: 0.3, distance: hierarchical, hierarchy: {file: diagnosis.csv}}",
            "the earth mover's distance by a hierarchy at most t",
            "Li, Li, Venkatasubramanian 2007, section 5.1",
        ),
    )
    expected: ClassVar[str] = "{attribute: ..., t: 0.3}"
    definition: ClassVar[str] = (
        "In every class the sensitive attribute is distributed as in the whole table, up to the distance t "
        "(Li, Li, Venkatasubramanian 2007)."
    )

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    t: Annotated[float, share("t")] = Field(description="The largest distance between the distributions, from 0 to 1.")
    distance: Annotated[Literal["equal", "ordered", "hierarchical"], chosen("distance")] = Field(
        default="equal", description="How far apart two values are."
    )
    hierarchy: QuasiIdentifier | None = Field(
        default=None, description="For hierarchical: the attribute's hierarchy, as that of a quasi-identifier."
    )
    reference: Reference = Field(default="original", description=ABOUT_REFERENCE)
    others_as_quasi_identifiers: Others = Field(default=False, description=ABOUT_OTHERS)

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """A hierarchy goes with the hierarchical distance, and says nothing of levels to release."""
        which = given.get("distance", "equal")
        if which == "hierarchical" and "hierarchy" not in given:
            yield Fault((), "missing 'hierarchy': the hierarchical distance needs one, such as {file: ...}", True)
        if which in ("equal", "ordered") and "hierarchy" in given:
            yield Fault(("hierarchy",), f"'hierarchy' belongs to distance: hierarchical, and this is {which}", True)
        if value is not None and value.hierarchy is not None:
            if value.hierarchy.point is not None:
                yield Fault(("hierarchy", "point"), "a point needs two columns; use another kind of hierarchy", True)
            for field in sorted({"minimum_level", "maximum_level", "weight", "as_"} & value.hierarchy.model_fields_set):
                key = field.rstrip("_")
                why = f"'{key}' is for quasi-identifiers: this hierarchy only measures distances"
                yield Fault(("hierarchy", key), why, True)

    def value_facts(self) -> Iterator[tuple[str, object]]:
        """The hierarchy that groups the values, if there is one."""
        if self.hierarchy is not None:
            yield "hierarchy", self.hierarchy

    def to_dict(self) -> dict[str, Any]:
        """``{name: {parameters}}``, the hierarchy without what only quasi-identifiers have."""
        return self._with(None if self.hierarchy is None else self.hierarchy.to_dict())

    def redacted(self) -> dict[str, Any]:
        """:meth:`to_dict` for a manifest, the hierarchy redacted too."""
        return self._with(None if self.hierarchy is None else self.hierarchy.redacted())

    def _with(self, hierarchy: dict[str, Any] | None) -> dict[str, Any]:
        body = self.model_dump(mode="json", exclude_none=True, exclude={"hierarchy"})
        if hierarchy is not None:
            only = ("minimum_level", "maximum_level", "weight", "as")
            body["hierarchy"] = {key: item for key, item in hierarchy.items() if key not in only}
        return {self.name: body}


Distance = Literal["equal", "ordered", "hierarchical"]
"""How far apart two values are: all alike, by their ranks, or by where they meet in a hierarchy."""


@register
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
    requirement: ClassVar = TClosenessRequirement
    figures: ClassVar = {"t": figure("The largest distance of a class.")}
    distance: ClassVar[Distance] = "equal"
    worst: ClassVar = "MAX"
    needs_totals: ClassVar[bool] = True
    needs_reference: ClassVar[bool] = True
    judging: ClassVar[tuple[str, ...]] = ("t",)
    sensitive: str
    t: float

    @classmethod
    def of(cls, requirement: TClosenessRequirement) -> Self | None:
        """Where it has this distance."""
        if requirement.distance != cls.distance:
            return None
        return cls(requirement.attribute, requirement.t, reference=requirement.reference)

    @property
    def protects_no_one(self) -> bool:
        """With ``t`` 1, the largest distance of two distributions."""
        return self.t >= 1

    @property
    def attribute(self) -> str:
        """The sensitive attribute."""
        return self.sensitive

    @property
    def notation(self) -> str:
        """Such as ``0.2-closeness of diagnosis``."""
        return f"{self.t:g}-closeness of {self.sensitive}"

    @property
    def most_gain(self) -> float | None:
        """``t``: with equal distances, no value's share grows by more than the distributions differ."""
        return self.t if self.distance == "equal" else None

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Without suppression for rows, never for persons."""
        return Monotonicity.NEVER if by_person else Monotonicity.WITHOUT_SUPPRESSION

    def parameters(self) -> dict[str, Any]:
        """``t`` with the tolerance."""
        return {"t": self.t + TOLERANCE}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The largest distance of a class; None when some class has none."""
        return {"t": None if unbounded else worst}


@register
@dataclass(frozen=True)
class OrderedTCloseness(TCloseness):
    """t-closeness by ranks (Li, Li and Venkatasubramanian 2007, section 5.1: ordered distance).

    Two of m values are apart by the difference of their ranks in the reference, over m - 1; the
    distance of two distributions is then the sum of the differences of their cumulative shares, over
    m - 1. For numbers and dates. NULL is a category of its own: it ranks before every value, and
    the share of NULL may not differ by more than t either, since that a person has no entry may tell as
    much. A value that the reference does not have has no rank: no t is reached. With one
    value, the distance is 0.

    Monotone without suppression: both parts are convex in the class's distribution, so a merged class
    is no farther than the farther of its parts. Not with it.
    """

    name: ClassVar[str] = "ordered_t_closeness"
    distance: ClassVar = "ordered"
    needs_facts: ClassVar[tuple[str, ...]] = (
        "value_rank",
        "share_through",
        "ranks_through",
        "null_share",
        "reference_values",
    )
    spans: ClassVar[bool] = True

    @property
    def notation(self) -> str:
        """Such as ``0.2-closeness of salary by rank``."""
        return f"{super().notation} by rank"


@register
@dataclass(frozen=True)
class HierarchicalTCloseness(TCloseness):
    """t-closeness by a hierarchy of the attribute (the same paper, section 5.1: hierarchical distance).

    Two values are apart by the level at which they meet, over the hierarchy's height H. In a tree,
    earth moving is the sum over its edges of their length and of the mass that must cross them (the paper's
    cost(N), added up by children): here every edge is 1 / 2H long, so the distance is the mean over the levels
    below the top of the equal distance of the values generalized to that level. NULL is a category of its own
    below the top. Levels above the first one with one label for all values do not count to the height. A value that
    the reference does not have is in no group, so no t is reached where there are groups.

    Monotone without suppression: a mean of convex functions of the class's distribution. Not with it.
    """

    name: ClassVar[str] = "hierarchical_t_closeness"
    distance: ClassVar = "hierarchical"
    tree: QuasiIdentifier = field(kw_only=True)
    levels: int = field(default=1, kw_only=True)
    """The height of the hierarchy; known once it was read."""

    @classmethod
    def of(cls, requirement: TClosenessRequirement) -> Self | None:
        """Where it has this distance, with its hierarchy."""
        if requirement.distance != cls.distance:
            return None
        assert requirement.hierarchy is not None, "the spec refuses the distance without one"
        return cls(requirement.attribute, requirement.t, reference=requirement.reference, tree=requirement.hierarchy)

    @property
    def notation(self) -> str:
        """Such as ``0.2-closeness of disease by hierarchy``."""
        return f"{super().notation} by hierarchy"

    @property
    def hierarchy(self) -> QuasiIdentifier:
        """As the spec gives it."""
        return self.tree

    def with_levels(self, levels: int) -> HierarchicalTCloseness:
        """The model for a hierarchy of this height."""
        return replace(self, levels=levels)

    def parameters(self) -> dict[str, Any]:
        """``t`` with the tolerance, and the ``levels``."""
        return {**super().parameters(), "levels": self.levels}


def closeness_among(models: Iterable[PrivacyModel]) -> list[TCloseness]:
    """Those of some models whose measure is a distance of distributions, so that it can be shown as one."""
    return [model for model in models if isinstance(model, TCloseness)]
