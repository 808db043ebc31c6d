"""Requirements that compare a table with a second one, a population.

Definitions: k-map (Sweeney 2001), delta-presence (Nergiz, Atzori and Clifton 2007).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, WithJsonSchema

from kanon_sql.spec.checks import Fault, checked, integer, share
from kanon_sql.spec.hierarchy import TABLE_NAME, table_name
from kanon_sql.spec.names import format_table_name
from kanon_sql.spec.requirement import Requirement

__all__ = ["DeltaPresenceRequirement", "KMapRequirement"]

_Population = Annotated[tuple[str, ...], checked(table_name), WithJsonSchema(TABLE_NAME)]
_ABOUT_POPULATION = "A table with a row and the quasi-identifiers of everybody among whom persons are sought."


class _OfPopulation(Requirement):
    """A requirement that compares with a second table."""

    population: _Population = Field(description=_ABOUT_POPULATION)

    @property
    def attribute(self) -> None:
        """No sensitive attribute."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """``{name: {parameters}}``, the population by its name."""
        return {self.name: {**self.model_dump(), "population": format_table_name(self.population)}}


class KMapRequirement(_OfPopulation):
    """Every released row could be any of at least ``k`` persons of a population.

    Attributes:
        population: the population table.
        k: the fewest persons that a released row may stand for.
    """

    name: ClassVar[str] = "k_map"
    expected: ClassVar[str] = "{population: ..., k: 5}"

    k: Annotated[int, checked(integer("k", 1)), WithJsonSchema({"type": "integer", "minimum": 1})] = Field(
        description="The fewest persons of the population that a row may stand for."
    )


_SHARE = WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})


class DeltaPresenceRequirement(_OfPopulation):
    """Nobody can tell with more (or less) than a probability whether a person of a population is in the table.

    Attributes:
        population: the population table.
        delta_min: the smallest probability allowed.
        delta_max: the largest probability allowed.
    """

    name: ClassVar[str] = "delta_presence"
    expected: ClassVar[str] = "{population: ..., delta_max: 0.5}"

    delta_max: Annotated[float, checked(share("delta_max")), _SHARE] = Field(
        description="The largest probability that a person of the population is in the table."
    )
    delta_min: Annotated[float, checked(share("delta_min")), _SHARE] = Field(
        default=0.0, description="The smallest such probability; above 0 it works in check alone."
    )

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """The smallest is not above the largest."""
        if value is not None and value.delta_min > value.delta_max:
            yield Fault(("delta_min",), "delta_min is above delta_max, so nothing could satisfy both")
