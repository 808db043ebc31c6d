"""Requirements on the re-identification risk of a whole release: the average, and how many records are at risk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, WithJsonSchema

from kanon_sql.spec.checks import Fault, checked, choice, share, the_number
from kanon_sql.spec.hierarchy import TABLE_NAME
from kanon_sql.spec.population import (
    ABOUT_FRACTION,
    ABOUT_POPULATION,
    OfPopulation,
    Population,
    SamplingFraction,
    Significance,
)

__all__ = ["RiskRequirement"]

_RISK = WithJsonSchema({"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 1})


_ATTACKERS = ("prosecutor", "journalist", "marketer")


class RiskRequirement(OfPopulation):
    """The risk of the released records that an attacker finds whose they are.

    Attributes:
        average: the largest average over the records; None for any.
        highest: the largest risk of a record that is not counted as at risk; None for any.
        records_at_risk: the largest share of the records that may be above ``highest``.
        attacker: who knows that the person is in the table (prosecutor) or in the population (journalist), or wants as
            many right matches as possible (marketer).
        population: the population table, for a journalist or a marketer; None for an estimate, or for a marketer who
            matches with the table itself.
        person: its column of persons; None for the unit, or for rows.
        sampling_fraction: for a journalist's risk by an estimate: rows of the source per person of its population.
        significance: for an estimate, the largest probability that a class passes whose risk is above ``highest``.
    """

    name: ClassVar[str] = "risk"
    expected: ClassVar[str] = "{average: 0.05, highest: 0.2, records_at_risk: 0}"

    average: Annotated[
        float | None, checked(the_number("an average risk, above 0 and at most 1", lambda value: 0 < value <= 1)), _RISK
    ] = Field(default=None, description="The largest average risk of the released records.")
    highest: Annotated[
        float | None, checked(the_number("a highest risk, above 0 and at most 1", lambda value: 0 < value <= 1)), _RISK
    ] = Field(default=None, description="The largest risk of a record that is not counted as at risk.")
    records_at_risk: Annotated[
        float, checked(share("records_at_risk")), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})
    ] = Field(default=0.0, description="The largest share of the released records whose risk is above highest.")

    attacker: Annotated[Literal["prosecutor", "journalist", "marketer"], checked(choice("attacker", _ATTACKERS))] = (
        Field(default="prosecutor", description="Whose risk: what the attacker knows or wants.")
    )
    population: Annotated[Population | None, WithJsonSchema({"anyOf": [*TABLE_NAME["anyOf"], {"type": "null"}]})] = (
        Field(default=None, description="For a journalist or a marketer. " + ABOUT_POPULATION)
    )
    sampling_fraction: SamplingFraction = Field(default=None, description="For a journalist. " + ABOUT_FRACTION)
    significance: Significance = Field(
        default=None,
        description="For an estimate: the largest probability that a class above highest passes; 0.01 by default.",
    )

    @property
    def identity(self) -> tuple[object, ...]:
        """One for each attacker, and what the attacker is measured with."""
        return (self.name, self.attacker, self.population, self.person)

    def to_dict(self) -> dict[str, Any]:
        """``{name: {parameters}}``, the attacker and the share at risk where they say more than nothing."""
        found = super().to_dict()[self.name]
        if self.highest is None:
            del found["records_at_risk"]
        if self.attacker == "prosecutor":
            del found["attacker"]
        return {self.name: found}

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """One of both thresholds at least, and what the attacker needs for it."""
        if given.get("average") is None and given.get("highest") is None:
            yield Fault((), "missing 'average' or 'highest': a risk such as 0.05, or both", True)
        elif given.get("records_at_risk") is not None and given.get("highest") is None:
            yield Fault(
                ("records_at_risk",), "'records_at_risk' counts records above 'highest', which is missing", True
            )
        yield from _of_attacker({key for key, item in given.items() if item is not None}, given.get("attacker"))


def _of_attacker(given: set[str], attacker: object) -> Iterator[Fault]:
    """What an attacker's risk is measured with, and what it is not."""
    attacker = attacker or "prosecutor"
    if attacker == "prosecutor":
        for key in ("population", "person", "sampling_fraction", "significance"):
            if key in given:
                why = "a prosecutor knows that the person is in the table, so no population counts"
                yield Fault((key,), f"{why}; leave {key!r} out, or name another 'attacker'", True)
        return
    if attacker == "marketer":
        if "highest" in given:
            why = "a marketer wants many right matches and no record in particular; ask for 'average' alone"
            yield Fault(("highest",), why, True)
        for key in ("sampling_fraction", "significance"):
            if key in given:
                why = "what a marketer matches with a population is no estimate; name the 'population', or leave it out"
                yield Fault((key,), f"{why}", True)
    if attacker == "journalist":
        yield from _of_journalist(given)
    if "person" in given and "population" not in given:
        yield Fault(("person",), "'person' is a column of a 'population' table, and there is none", True)


def _of_journalist(given: set[str]) -> Iterator[Fault]:
    """A population, or an estimate of the highest risk."""
    if not {"population", "sampling_fraction"} & given:
        yield Fault(
            ("attacker",),
            "a journalist's risk is about every person in the population: name a 'population' table, or the "
            "'sampling_fraction', the share of the population that is in the source, for an estimate",
            True,
        )
    if {"population", "sampling_fraction"} <= given:
        yield Fault(("sampling_fraction",), "a 'population' table needs no estimate; leave one of both out", True)
    elif "sampling_fraction" in given and "average" in given:
        why = "by an estimate there is a highest risk alone; name a 'population' table for the average"
        yield Fault(("average",), why, True)
    if "significance" in given and "sampling_fraction" not in given:
        yield Fault(("significance",), "'significance' is for an estimate by 'sampling_fraction'", True)
