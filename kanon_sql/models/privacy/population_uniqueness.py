"""Population uniqueness by an estimate: few persons of a population are alone in their class there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from kanon_sql.models.privacy.base import Monotonicity, PrivacyModel
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import figure
from kanon_sql.spec.checks import chosen, the_number
from kanon_sql.spec.checks import share as a_share
from kanon_sql.spec.requirement import (
    Form,
    Requirement,
)

__all__ = ["PopulationUniquenessModel", "PopulationUniquenessRequirement"]


class PopulationUniquenessRequirement(Requirement):
    """Few persons of the population are alone in their class there, as an estimator says. It works in check alone.

    Attributes:
        share: the largest share of the population's persons that are estimated to be unique.
        sampling_fraction: rows of the table (or persons) per person of its population.
        estimator: which one; ``dankar`` chooses by the sampling fraction.
    """

    name: ClassVar[str] = "population_uniqueness"
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "population_uniqueness: {share: 0.001, sampling_fraction: 0.01}",
            "at most this share of the population is estimated to be unique in it, by all classes together; an "
            "[estimate](#estimates-of-a-population)",
            "Dankar, El Emam, Neisa, Roffey 2012",
        ),
    )
    expected: ClassVar[str] = "{share: 0.001, sampling_fraction: 0.01}"
    definition: ClassVar[str] = (
        "At most this share of the population is estimated to be unique in it (Dankar et al. 2012)."
    )
    not_certified: ClassVar[str] = "it is an estimate of the population, not a property of the release"

    share: Annotated[float, a_share("a share of the population")] = Field(
        description="The largest estimated share of unique persons in the population."
    )
    sampling_fraction: Annotated[
        float, the_number("a sampling fraction, at least 1e-15 and at most 1", least=1e-15, most=1)
    ] = Field(description="The table's share of the population, of which it must be a random sample.")
    estimator: Annotated[Literal["dankar", "pitman", "zayatz", "snb"], chosen("estimator of uniqueness")] = Field(
        default="dankar", description="The estimator; dankar chooses one by the sampling fraction."
    )

    @property
    def attribute(self) -> None:
        """No sensitive attribute."""
        return None


@dataclass(frozen=True)
class UniquenessEstimate:
    """What an estimator says of a table.

    Attributes:
        share: of the population that is unique there; None where the estimator does not exist for the table.
        uniques: records that are unique in the table.
    """

    share: float | None
    uniques: int


@register
@dataclass(frozen=True)
class PopulationUniquenessModel(PrivacyModel):
    """The share of a population that is unique in it, estimated from the sizes of a sample's classes.

    Dankar, El Emam, Neisa and Roffey (2012). The estimate is of the whole table, so every class violates where it is
    too large. Where no record of the table is unique in it, none is unique in the population, whatever an estimator
    says of others; where one is and the estimator does not exist, or says that no person is, nothing is known.

    A table must be measured first, by :meth:`with_estimate`.
    """

    name: ClassVar[str] = "population_uniqueness"
    requirement: ClassVar = PopulationUniquenessRequirement
    figures: ClassVar = {
        "share": figure(
            "population_uniqueness: the estimated share of the population that is unique there; null where the "
            "estimator does not exist.",
            minimum=0,
        ),
        "sample_uniques": figure("population_uniqueness: records that are unique in the table.", int, minimum=0),
    }
    worst: ClassVar = "MIN"
    is_estimate: ClassVar[bool] = True
    most: float
    fraction: float
    estimator: str
    estimate: UniquenessEstimate | None = field(default=None, kw_only=True)

    @classmethod
    def of(cls, requirement: PopulationUniquenessRequirement) -> Self:
        """With the requirement's parameters."""
        return cls(requirement.share, requirement.sampling_fraction, requirement.estimator)

    @property
    def notation(self) -> str:
        """Such as ``population uniqueness of at most 0.001 by estimate (dankar)``."""
        return f"population uniqueness of at most {self.most:g} by estimate ({self.estimator})"

    @property
    def search_obstacle(self) -> str:
        """Of many generalizations, a search would take one for which the estimate happens to be low."""
        return (
            "a search over many generalizations would choose one whose estimate happens to be low; search with other "
            "requirements, such as k_map with a sampling_fraction, and use this one with check"
        )

    @property
    def assumption(self) -> str:
        """A random sample, and the estimator's model."""
        return (
            f"population uniqueness is an estimate ({self.estimator}) and not proven: the table is assumed to be a "
            f"random sample of {self.fraction:g} of its population, with class sizes distributed as the estimator "
            "assumes"
        )

    @property
    def uniqueness_estimator(self) -> tuple[str, float]:
        """Its name in a spec, and the sampling fraction."""
        return self.estimator, self.fraction

    def with_estimate(self, share: float | None, uniques: int) -> Self:
        """The model once the table was measured."""
        return replace(self, estimate=UniquenessEstimate(share, uniques))

    @property
    def satisfied(self) -> bool:
        """Whether the estimate is low enough, or no person of the table can be unique.

        Raises:
            LookupError: the table was not measured.
        """
        if self.estimate is None:
            raise LookupError("the table was not measured before it was judged")
        if not self.estimate.uniques:
            return True
        return self.estimate.share is not None and 0 < self.estimate.share <= self.most

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Never: an estimate may rise where classes are merged."""
        return Monotonicity.NEVER

    def parameters(self) -> dict[str, Any]:
        """Whether it is satisfied."""
        return {"satisfied": self.satisfied}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The estimate, and how many records are unique in the table."""
        if self.estimate is None:
            return {"share": None, "sample_uniques": None}
        return {"share": self.estimate.share, "sample_uniques": self.estimate.uniques}
