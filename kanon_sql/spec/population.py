"""Requirements that compare a table with a second one, a population.

Definitions: k-map (Sweeney 2001) and its estimate (El Emam, Dankar 2008), delta-presence (Nergiz, Atzori and Clifton
2007).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, WithJsonSchema

from kanon_sql.spec.checks import Fault, checked, choice, integer, share, text, the_number
from kanon_sql.spec.hierarchy import TABLE_NAME, table_name
from kanon_sql.spec.names import format_table_name
from kanon_sql.spec.requirement import Requirement

__all__ = [
    "ABOUT_FRACTION",
    "ABOUT_POPULATION",
    "DeltaPresenceRequirement",
    "KMapRequirement",
    "OfPopulation",
    "Population",
    "SamplingFraction",
    "Significance",
]

SamplingFraction = Annotated[
    float | None,
    checked(the_number("a sampling fraction, at least 1e-15 and at most 1", lambda value: 1e-15 <= value <= 1)),
    WithJsonSchema({"type": ["number", "null"], "minimum": 1e-15, "maximum": 1}),
]
Significance = Annotated[
    float | None,
    checked(the_number("a significance level, above 0 and at most 0.5", lambda value: 0 < value <= 0.5)),
    WithJsonSchema({"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 0.5}),
]
ABOUT_FRACTION = "Instead of a population table: the share of its population that is in the source, for an estimate."

Population = Annotated[tuple[str, ...], checked(table_name), WithJsonSchema(TABLE_NAME)]
ABOUT_POPULATION = "The population table: the quasi-identifiers of all the persons among which an attacker searches."


class OfPopulation(Requirement):
    """A requirement that compares with a population."""

    person: Annotated[
        str | None, checked(text("a column name")), WithJsonSchema({"type": ["string", "null"], "minLength": 1})
    ] = Field(
        default=None,
        description="The population's column that identifies a person; the unit if it has that column, else each row "
        "is a person.",
    )

    @property
    def attribute(self) -> None:
        """No sensitive attribute."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """``{name: {parameters}}``, the population by its name."""
        given = self.model_dump(exclude_none=True)
        if "population" in given:
            given["population"] = format_table_name(given["population"])
        return {self.name: given}


_SIZES = ("zero_truncated_poisson", "poisson")


class KMapRequirement(OfPopulation):
    """Every released row could be any of at least ``k`` persons of a population.

    Attributes:
        population: the population table; None for an estimate.
        person: its column of persons; None for the unit, or for rows.
        k: the fewest persons that a released row may stand for.
        sampling_fraction: rows of the source (or persons) per person of its population; None for a population table.
        estimator: how many rows the sample has of a class of the population, for an estimate.
        significance: for an estimate, the largest probability that a class of fewer than ``k`` persons passes.
    """

    name: ClassVar[str] = "k_map"
    expected: ClassVar[str] = "{population: ..., k: 5}, or {sampling_fraction: 0.01, k: 5}"

    population: Population | None = Field(default=None, description=ABOUT_POPULATION)
    k: Annotated[int, checked(integer("k", 1)), WithJsonSchema({"type": "integer", "minimum": 1})] = Field(
        description="The fewest persons of the population that a row may stand for."
    )
    sampling_fraction: SamplingFraction = Field(default=None, description=ABOUT_FRACTION)
    estimator: Annotated[
        Literal["zero_truncated_poisson", "poisson"] | None, checked(choice("estimator of class sizes", _SIZES))
    ] = Field(
        default=None,
        description="For an estimate: how many rows the source has of a class; zero_truncated_poisson by default.",
    )
    significance: Significance = Field(
        default=None,
        description="For an estimate: the largest probability that a class of fewer than k persons passes; "
        "0.01 by default.",
    )

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """Either a population table, or a sampling fraction."""
        if given.get("population") is None and given.get("sampling_fraction") is None:
            yield Fault(
                (),
                "missing 'population': a table of all its persons; or 'sampling_fraction', the share of the "
                "population that is in the source, for an estimate",
                True,
            )
        if given.get("sampling_fraction") is not None and given.get("person") is not None:
            yield Fault(("person",), "'person' is a column of a 'population' table, and there is none", True)
        for key in ("sampling_fraction", "estimator", "significance"):
            if given.get("population") is not None and given.get(key) is not None:
                yield Fault(
                    (key,), f"{key!r} is for an estimate without a 'population' table; leave one of both out", True
                )


_SHARE = WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})


class DeltaPresenceRequirement(OfPopulation):
    """The probability that a person of a population is in the table stays between two bounds.

    Attributes:
        population: the population table.
        person: its column of persons; None for the unit, or for rows.
        delta_min: the smallest probability allowed.
        delta_max: the largest probability allowed.
    """

    name: ClassVar[str] = "delta_presence"
    expected: ClassVar[str] = "{population: ..., delta_max: 0.5}"

    population: Population = Field(description=ABOUT_POPULATION)
    delta_max: Annotated[float, checked(share("delta_max")), _SHARE] = Field(
        description="The largest probability that a person of the population is in the table."
    )
    delta_min: Annotated[float, checked(share("delta_min")), _SHARE] = Field(
        default=0.0,
        description="The smallest such probability; above 0 a release leaves no person out.",
    )

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """The smallest is not above the largest."""
        if value is not None and value.delta_min > value.delta_max:
            yield Fault(("delta_min",), "delta_min is above delta_max, so nothing could satisfy both")
