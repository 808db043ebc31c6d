"""k-map: every released row could be any of k persons of a population."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from kanon_sql.models.privacy.base import Monotonicity
from kanon_sql.models.privacy.population import PopulationModel
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import SMALLEST_CLASS
from kanon_sql.spec.checks import Fault, chosen, text
from kanon_sql.spec.fields import K
from kanon_sql.spec.population import (
    ABOUT_FRACTION,
    ABOUT_POPULATION,
    OfPopulation,
    Population,
    SamplingFraction,
    Significance,
)
from kanon_sql.spec.requirement import (
    Form,
    Requirement,
)

__all__ = ["KMapModel", "KMapRequirement"]


class KMapRequirement(OfPopulation):
    """Every released row could be any of at least ``k`` persons of a population.

    Attributes:
        population: the population table; None for an estimate.
        person: its column of persons; None for the unit, or for rows.
        k: the fewest persons that a released row may stand for.
        sampling_fraction: rows of the source (or persons) per person of its population; None for a population table.
        estimator: how many rows the sample has of a class of the population, for an estimate.
        significance: for an estimate, the largest probability that a class of fewer than ``k`` persons passes.
        weight: for an estimate, the column of sampling weights: for how many persons of the population each row stands.
    """

    name: ClassVar[str] = "k_map"
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "k_map: {population: census, k: 5}",
            "at least k persons of a population with its labels",
            "Sweeney 2001",
        ),
        Form(
            "k_map: {sampling_fraction: 0.01, k: 20}",
            "enough rows, or persons, that it [probably](#estimates-of-a-population) stands for at least k of the "
            "population; an estimate",
            "El Emam, Dankar 2008",
        ),
        Form(
            "k_map: {weight: w, k: 5}",
            "sampling weights that add up to at least k; an [estimate](#estimates-of-a-population)",
            "Benedetti, Franconi 1998",
        ),
    )
    expected: ClassVar[str] = "{population: ..., k: 5}, {sampling_fraction: 0.01, k: 5}, or {weight: w, k: 5}"
    definition: ClassVar[str] = (
        "Every row stands for at least k persons of a population; without a population table this is estimated "
        "(Sweeney 2001; El Emam, Dankar 2008; by sampling weights: Benedetti, Franconi 1998)."
    )
    not_certified: ClassVar[str] = "it counts, or estimates, the persons of a population under each class"

    population: Population | None = Field(default=None, description=ABOUT_POPULATION)
    k: K = Field(description="The smallest number of persons of the population that a row may stand for.")
    sampling_fraction: SamplingFraction = Field(default=None, description=ABOUT_FRACTION)
    estimator: Annotated[Literal["zero_truncated_poisson", "poisson"] | None, chosen("estimator of class sizes")] = (
        Field(
            default=None,
            description="For an estimate: the distribution of a class's rows in the source; zero_truncated_poisson "
            "by default.",
        )
    )
    significance: Significance = Field(
        default=None,
        description="For an estimate: the largest probability that a class of fewer than k persons passes; "
        "0.01 by default.",
    )
    weight: Annotated[str | None, text("the name of a column of sampling weights")] = Field(
        default=None,
        description="Instead of a population table, for an estimate: the kept column of sampling weights, for how many "
        "persons of the population each row stands.",
    )

    @property
    def identity(self) -> tuple[object, ...]:
        """By other weights it is another requirement."""
        return (*super().identity, self.weight)

    @property
    def never_grows(self) -> str | None:
        """Weights of a sample that grows are others."""
        if self.weight is None:
            return super().never_grows
        return (
            "with a state, rows are added to a sample whose weights were made for the rows that it had; leave 'weight' "
            "out, or release without a state"
        )

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """Either a population table, or a sampling fraction, or weights."""
        if given.get("weight") is not None:
            for key in ("population", "person", "sampling_fraction", "estimator", "significance"):
                if given.get(key) is not None:
                    why = f"'weight' is for an estimate that {key!r} has no part in; leave one of both out"
                    yield Fault((key,), why, True)
            return
        if given.get("population") is None and given.get("sampling_fraction") is None:
            yield Fault(
                (),
                "missing 'population': a table of all its persons; or 'sampling_fraction', the share of the "
                "population that is in the source, or 'weight', a column of sampling weights, for an estimate",
                True,
            )
        if given.get("sampling_fraction") is not None and given.get("person") is not None:
            yield Fault(
                ("person",),
                "'person' is a column of the 'population' table, which is missing; add it, or leave 'person' out",
                True,
            )
        for key in ("sampling_fraction", "estimator", "significance"):
            if given.get("population") is not None and given.get(key) is not None:
                yield Fault(
                    (key,), f"{key!r} is for an estimate without a 'population' table; leave one of both out", True
                )


@register
@dataclass(frozen=True)
class KMapModel(PopulationModel):
    """k-map (Sweeney, Computational Disclosure Control, PhD thesis, MIT 2001): the journalist's k-anonymity.

    Monotone also under suppression: a generalized class stands for at least as many persons as each part.
    """

    name: ClassVar[str] = "k_map"
    requirement: ClassVar[type[Requirement]] = KMapRequirement
    figures: ClassVar = {"k": SMALLEST_CLASS}
    worst: ClassVar = "MIN"
    k: int

    @classmethod
    def of(cls, requirement: KMapRequirement) -> Self | None:
        """With the requirement's parameters; None where it asks for an estimate."""
        if requirement.population is None:
            return None
        return cls(requirement.population, requirement.person, k=requirement.k)

    @property
    def notation(self) -> str:
        """Such as ``5-map to census``."""
        return f"{self.k}-map to {self.shown}"

    @property
    def least_population(self) -> int:
        """``k``."""
        return self.k

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Always: it looks at the population alone, and merging adds."""
        return Monotonicity.ALWAYS

    def parameters(self) -> dict[str, Any]:
        """``k``."""
        return {"k": self.k}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The fewest persons that a class stands for; None when there is none."""
        return {"k": None if worst is None else int(worst)}
