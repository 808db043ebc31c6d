"""Requirements that compare a table with a second one, a population.

Definitions: k-map (Sweeney 2001) and its estimate (El Emam, Dankar 2008), delta-presence (Nergiz, Atzori and Clifton
2007).
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from kanon_sql.spec.checks import the_number
from kanon_sql.spec.fields import TableName
from kanon_sql.spec.keys import ColumnKey, written_key
from kanon_sql.spec.names import format_table_name
from kanon_sql.spec.requirement import Requirement

__all__ = ["ABOUT_FRACTION", "ABOUT_POPULATION", "OfPopulation", "Population", "SamplingFraction", "Significance"]

SamplingFraction = Annotated[
    float | None, the_number("a sampling fraction, at least 1e-15 and at most 1", least=1e-15, most=1)
]


Significance = Annotated[float | None, the_number("a significance level, above 0 and at most 0.5", above=0, most=0.5)]


ABOUT_FRACTION = (
    "Instead of a population table: the sampling fraction, the source's share of its population, for an estimate."
)


Population = TableName


ABOUT_POPULATION = "The population table, with the quasi-identifiers of all persons of the population."


class OfPopulation(Requirement):
    """A requirement that compares with a population."""

    person: ColumnKey | None = Field(
        default=None,
        description="The population's column that identifies a person, or several; by default the unit, if the table "
        "has it, otherwise each row is a person.",
    )

    @property
    def attribute(self) -> None:
        """No sensitive attribute."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """``{name: {parameters}}``, the population by its name."""
        given = self.model_dump(exclude_none=True)
        if self.person is not None:
            given["person"] = written_key(self.person)
        if "population" in given:
            given["population"] = format_table_name(given["population"])
        return {self.name: given}
