"""delta-presence: no attacker can be sure whether a person of a population is in the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field

from kanon_sql.errors import UnsupportedError
from kanon_sql.models.privacy.base import TOLERANCE, Monotonicity
from kanon_sql.models.privacy.population import PopulationModel
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import figure
from kanon_sql.spec.checks import Fault, share
from kanon_sql.spec.population import (
    ABOUT_POPULATION,
    OfPopulation,
    Population,
)
from kanon_sql.spec.requirement import Form
from kanon_sql.sql import Sql, render

__all__ = ["DeltaPresenceModel", "DeltaPresenceRequirement"]


class DeltaPresenceRequirement(OfPopulation):
    """The probability that a person of a population is in the table stays between two bounds.

    Attributes:
        population: the population table.
        person: its column of persons; None for the unit, or for rows.
        delta_min: the smallest probability allowed.
        delta_max: the largest probability allowed.
    """

    name: ClassVar[str] = "delta_presence"
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "delta_presence: {population: census, delta_max: 0.5}",
            "rows of a class / persons of the population with its labels, at most delta_max (and at least "
            "`delta_min`, with no person of the population left out)",
            "Nergiz, Atzori, Clifton 2007",
        ),
    )
    expected: ClassVar[str] = "{population: ..., delta_max: 0.5}"
    definition: ClassVar[str] = (
        "The probability that a person of the population is in the release lies between two bounds (Nergiz, "
        "Atzori, Clifton 2007)."
    )
    not_certified: ClassVar[str] = "it compares each class with a population table"

    population: Population = Field(description=ABOUT_POPULATION)
    delta_max: Annotated[float, share("delta_max")] = Field(
        description="The largest probability that a person of the population is in the table."
    )
    delta_min: Annotated[float, share("delta_min")] = Field(
        default=0.0,
        description="The smallest such probability; if above 0, a release covers every person of the population.",
    )

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """The smallest is not above the largest."""
        if value is not None and value.delta_min > value.delta_max:
            yield Fault(("delta_min",), "delta_min is above delta_max, so nothing can satisfy both; lower delta_min")


@register
@dataclass(frozen=True)
class DeltaPresenceModel(PopulationModel):
    """(delta_min, delta_max)-presence (Nergiz, Atzori, Clifton, SIGMOD 2007, definition 2).

    With f rows (or persons) in a class, and F persons of the population who look like it, each of these is in the
    table with probability f / F. Persons that no row stands for have 0, which only delta_min minds. A class with
    more rows than the population has persons for it violates: a person in it is not in the population.

    Monotone without suppression (the paper, theorem 1: a merged class's ratio lies between those of its parts),
    also for persons, since a merged class has at most as many as its parts together; not with it.
    """

    name: ClassVar[str] = "delta_presence"
    requirement: ClassVar = DeltaPresenceRequirement
    figures: ClassVar = {
        "delta_max": figure(
            "The largest probability that a person of the population is in the table; null where a class looks "
            "like no person.",
            minimum=0,
        )
    }
    worst: ClassVar = "MAX"
    measures_presence: ClassVar[bool] = True
    delta_min: float
    delta_max: float

    @classmethod
    def of(cls, requirement: DeltaPresenceRequirement) -> Self | None:
        """With the requirement's parameters."""
        return cls(requirement.population, requirement.person, requirement.delta_min, requirement.delta_max)

    @property
    def notation(self) -> str:
        """Such as ``(0, 0.5)-presence in census``."""
        return f"({self.delta_min:g}, {self.delta_max:g})-presence in {self.shown}"

    @property
    def penalizes_missing_persons(self) -> bool:
        """With delta_min above 0: they are surely absent."""
        return self.delta_min > 0

    def with_population_size(self, persons: int) -> DeltaPresenceModel:
        """With delta_min above 0: the requirement on all classes together that they stand for all of these."""
        if not self.delta_min or isinstance(self, CoveringDeltaPresenceModel):
            return self
        return CoveringDeltaPresenceModel(self.table, self.person, self.delta_min, self.delta_max, persons)

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Without suppression; with delta_min, for rows only."""
        return Monotonicity.NEVER if by_person and self.delta_min else Monotonicity.WITHOUT_SUPPRESSION

    def refuse_unknown(self, rows: int, unit: str) -> None:
        """Refuse rows without a person: they would make a probability look smaller, where they may be further persons.

        Args:
            rows: how many have no person.
            unit: the column that identifies persons.

        Raises:
            UnsupportedError: there are such rows.
        """
        if rows:
            raise UnsupportedError(
                f"{self.label}: {rows:,} rows have no {unit} (NULL), so their persons cannot be matched with "
                f"{self.shown}; leave these rows out, or fill {unit} in, in a view"
            )

    def parameters(self) -> dict[str, Any]:
        """Both bounds with the tolerance."""
        return {"delta_min": self.delta_min - TOLERANCE, "delta_max": self.delta_max + TOLERANCE}

    def reached(self, name: str) -> Sql:
        """The probability; NULL where no person of the population looks like the class."""
        return render(f"models/privacy/{self.name}", part="reached", measure=name)

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The largest probability; None when some class has none."""
        return {"delta_max": None if unbounded else worst}


@dataclass(frozen=True)
class CoveringDeltaPresenceModel(DeltaPresenceModel):
    """delta-presence with delta_min above 0, where a release is made: every person of the population is in a class.

    Anyone who is in no released class is surely absent, which delta_min forbids, so the classes that satisfy stand for
    the whole population or none of them satisfies. Suppressing a class would leave its persons absent: only rows that
    no person of the population looks like can be suppressed.

    Attributes:
        population_size: persons of the population.
    """

    name: ClassVar[str] = "covering_delta_presence"
    of_table: ClassVar[bool] = True
    population_size: int

    @classmethod
    def of(cls, requirement: DeltaPresenceRequirement) -> None:
        """None: it is made of the other model once the population is counted."""
        return

    @property
    def key(self) -> str:
        """As that of the other model: it is the same requirement."""
        return f"{DeltaPresenceModel.name}({self.frame})"

    def parameters(self) -> dict[str, Any]:
        """Both bounds with the tolerance, and the persons of the population."""
        return {**super().parameters(), "population_size": self.population_size}

    def reached(self, name: str) -> Sql:
        """The probability in a class; NULL where no person of the population looks like it."""
        return render("models/privacy/delta_presence", part="reached", measure=f"{name}_own")

    def condition(self, name: str) -> Sql:
        """Of each class as without a lower bound, and of all that they stand for every person."""
        return render(
            f"models/privacy/{self.name}", part="condition", measure=name, own=f"{name}_own", **self.parameters()
        )
