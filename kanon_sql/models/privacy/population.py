"""Models that compare a class with the persons of a population who look like it."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_sql.models.privacy.base import PrivacyModel
from kanon_sql.spec import format_table_name

__all__ = ["PopulationModel"]


@dataclass(frozen=True)
class PopulationModel(PrivacyModel):
    """A requirement on every class and on the rows of a population that its quasi-identifiers stand for.

    Those rows come in a frame of their own, with every class in it, also one that no person in the population
    looks like. Each is taken for a person, unless a column says whose it is.
    """

    table: tuple[str, ...]
    person: str | None

    @property
    def population(self) -> tuple[str, ...]:
        """The population table."""
        return self.table

    @property
    def population_person(self) -> str | None:
        """The population's column of persons, where the requirement names it."""
        return self.person

    @property
    def frame(self) -> str:
        """The population's name; the double quotes keep it apart from a sensitive attribute of that name."""
        persons = "" if self.person is None else f" by {self.person}"
        return f'"{format_table_name(self.table)}{persons}"'

    @property
    def shown(self) -> str:
        """The population's name for messages."""
        return format_table_name(self.table)
