"""Average and highest risk: what an attacker may hope for, over all released records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from kanon_sql.models.privacy.base import TOLERANCE, Monotonicity, PrivacyModel
from kanon_sql.models.privacy.k_map_estimate import SIGNIFICANCE, critical_size
from kanon_sql.models.privacy.population import PopulationModel
from kanon_sql.models.privacy.registry import register
from kanon_sql.models.privacy.terms import figure
from kanon_sql.spec.checks import Fault, chosen, share, the_number
from kanon_sql.spec.population import (
    ABOUT_FRACTION,
    ABOUT_POPULATION,
    OfPopulation,
    Population,
    SamplingFraction,
    Significance,
)
from kanon_sql.spec.requirement import Form
from kanon_sql.sql import Sql, render

__all__ = ["PopulationRiskModel", "RiskEstimateModel", "RiskModel", "RiskRequirement"]


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
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "risk: {average: 0.05, highest: 0.2, records_at_risk: 0}",
            "a size of at least 1 / highest, and all classes together are at most average times the records",
            "El Emam 2013; Dankar, El Emam 2010",
        ),
        Form(
            "risk: {attacker: journalist, population: census, average: 0.05, highest: 0.2}",
            "at least 1 / highest persons of the population who look like it, and no fewer than records; all "
            "classes together have an [average risk](#risk-by-attacker) of at most average",
            "El Emam 2013; Dankar, El Emam 2010",
        ),
        Form(
            "risk: {attacker: journalist, sampling_fraction: 0.01, highest: 0.05}",
            "as many rows, or persons, as the estimated k-map for 1 / highest asks for; an "
            "[estimate](#estimates-of-a-population)",
            "El Emam, Dankar 2008",
        ),
        Form(
            "risk: {attacker: marketer, population: census, average: 0.05}",
            "no more records than persons of the population who look like it; of all classes together at most "
            "average of the records are expected to be matched",
            "Dankar, El Emam 2010",
        ),
    )
    expected: ClassVar[str] = "{average: 0.05, highest: 0.2, records_at_risk: 0}"
    definition: ClassVar[str] = (
        "The risk of being found is at or below thresholds, for the record that is easiest to find, on "
        "average, or for a share of the records, by the attacker that is named (El Emam 2013; Dankar, El Emam "
        "2010)."
    )

    average: Annotated[float | None, the_number("an average risk, above 0 and at most 1", above=0, most=1)] = Field(
        default=None, description="The largest average risk of the released records."
    )
    highest: Annotated[float | None, the_number("a highest risk, above 0 and at most 1", above=0, most=1)] = Field(
        default=None, description="The largest risk of a record that is not counted as at risk."
    )
    records_at_risk: Annotated[float, share("records_at_risk")] = Field(
        default=0.0, description="The largest share of the released records whose risk is above highest."
    )

    attacker: Annotated[Literal["prosecutor", "journalist", "marketer"], chosen("attacker")] = Field(
        default="prosecutor", description="Whose risk: what the attacker knows or wants."
    )
    population: Population | None = Field(
        default=None, description="For a journalist or a marketer. " + ABOUT_POPULATION
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
        yield Fault(
            ("person",),
            "'person' is a column of the 'population' table, which is missing; add it, or leave 'person' out",
            True,
        )


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


@dataclass(frozen=True)
class _Thresholds(PrivacyModel):
    """Thresholds on the risk of a whole release.

    Attributes:
        average: the largest average; None for any.
        highest: the largest risk of a record that is not at risk; None for any.
        at_risk: the largest share of the records that are at risk.
        attacker: as in a spec.
    """

    requirement: ClassVar = RiskRequirement
    figures: ClassVar = {
        "average": figure("The average risk of a record; null without one.", minimum=0),
        "records_at_risk": figure("The share of the records above the highest risk.", minimum=0, maximum=1),
    }
    worst: ClassVar = "MAX"
    second: ClassVar = "MAX"
    of_table: ClassVar[bool] = True
    average: float | None
    highest: float | None
    at_risk: float
    attacker: str = field(default="prosecutor", kw_only=True)

    @property
    def thresholds(self) -> str:
        """Such as ``average risk 0.05, highest risk 0.2 but for 0.01 of the records``."""
        parts = [] if self.average is None else [f"average risk {self.average:g}"]
        if self.highest is not None:
            but = f" but for {self.at_risk:g} of the records" if self.at_risk else ""
            parts.append(f"highest risk {self.highest:g}{but}")
        return ", ".join(parts)

    @property
    def safe_persons(self) -> int:
        """How many must look alike so that none of them is above the highest risk; exact: 0.05 is one twentieth."""
        return 1 if self.highest is None else ceil(1 / Fraction(Decimal(str(self.highest))))

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Without suppression for rows, never for persons."""
        return Monotonicity.NEVER if by_person else Monotonicity.WITHOUT_SUPPRESSION

    def condition(self, name: str) -> Sql:
        """True where the class and the table satisfy it."""
        return render(
            f"models/privacy/{self.name}",
            part="condition",
            measure=name,
            second=f"{name}_second",
            own=f"{name}_own",
            **self.parameters(),
        )

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """The average risk; None where there is no record."""
        return {"average": None if unbounded else worst}

    def achieved_second(self, worst: float | None) -> dict[str, float | int | None]:
        """The share of the records at risk."""
        return {"records_at_risk": worst}


@register
@dataclass(frozen=True)
class RiskModel(_Thresholds):
    """Thresholds on the prosecutor's risk, and on that of a marketer who matches the table with itself.

    El Emam, Guide to the De-Identification of Personal Health Information (2013, the chapters on measuring risk):
    a record's risk is 1 over the size of its class, and the average over the records is classes over records, which is
    what a marketer expects to match (Dankar, El Emam 2010). Classes above the highest risk are suppressed where no
    record may be at risk; elsewhere they stay, as long as few enough records are in them. The average and this share
    are of the whole release: where they are too large, no class satisfies, and nothing is released.

    Monotone without suppression: merged classes are fewer and larger, and hold the same records. With it, a class
    that was too small to be released may raise both, once it is merged with others. Not for persons:
    merging leaves fewer of them than the classes had together.
    """

    name: ClassVar[str] = "risk"

    @classmethod
    def of(cls, requirement: RiskRequirement) -> Self | None:
        """With the requirement's parameters; None where a population counts."""
        if requirement.population is not None or requirement.sampling_fraction is not None:
            return None
        thresholds = requirement.average, requirement.highest, requirement.records_at_risk
        return cls(*thresholds, attacker=requirement.attacker)

    @property
    def notation(self) -> str:
        """The thresholds, and whose if not a prosecutor's."""
        return self.thresholds if self.attacker == "prosecutor" else f"{self.attacker}: {self.thresholds}"

    @property
    def key(self) -> str:
        """``risk``, and whose if not a prosecutor's."""
        return self.name if self.attacker == "prosecutor" else f"{self.name}({self.attacker})"

    @property
    def safe_size(self) -> int:
        """The size from which on a class is not above the highest risk."""
        return self.safe_persons

    @property
    def least_size(self) -> int | None:
        """The safe size, where no record may be at risk."""
        return self.safe_size if self.highest is not None and not self.at_risk else None

    def parameters(self) -> dict[str, Any]:
        """The thresholds; a share of 0 is a size that every class must have."""
        return {
            "average": self.average,
            "safe_size": self.safe_size,
            "least_size": self.least_size or 1,
            "at_risk": self.at_risk,
        }


@register
@dataclass(frozen=True)
class RiskEstimateModel(RiskModel):
    """A threshold on the journalist's highest risk by an estimate: classes of a size that is hardly reached above it.

    The size is that of :func:`kanon_sql.models.critical_size` (El Emam, Dankar 2008) for 1 over the highest risk.
    """

    is_estimate: ClassVar[bool] = True
    fraction: float = field(default=1.0, kw_only=True)
    significance: float = field(default=SIGNIFICANCE, kw_only=True)

    @classmethod
    def of(cls, requirement: RiskRequirement) -> Self | None:
        """With the requirement's parameters; None where it is no estimate."""
        if requirement.sampling_fraction is None:
            return None
        return cls(
            None,
            requirement.highest,
            requirement.records_at_risk,
            attacker=requirement.attacker,
            fraction=requirement.sampling_fraction,
            significance=SIGNIFICANCE if requirement.significance is None else requirement.significance,
        )

    @property
    def notation(self) -> str:
        """The thresholds, that they are estimated, and the size that follows."""
        return f"{self.attacker}: {self.thresholds} by estimate: at least {self.safe_size} in a class"

    @property
    def safe_size(self) -> int:
        """The critical size of the highest risk."""
        return critical_size(self.safe_persons, self.fraction, self.significance)

    @property
    def assumption(self) -> str:
        """A random sample, and a level of significance for each class."""
        return (
            f"the journalist's risk is an estimate and not proven: the source is believed to be a random sample of "
            f"{self.fraction:g} of its population, and of the classes with a risk above {self.highest:g} there, each "
            f"passes with a probability of up to {self.significance:g}"
        )

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """Nothing: the average in the population is not estimated."""
        return {}


@register
@dataclass(frozen=True)
class PopulationRiskModel(_Thresholds, PopulationModel):
    """Thresholds on the journalist's risk, or on the marketer's average, with a table of the population.

    With f records in a class and F persons of the population who look like it, the journalist's risk of a record is
    1 / F (El Emam 2013), and the average the larger one of classes over persons in them, and of f / F added up over
    records, which is the marketer's (Dankar, El Emam 2010). A class of more records than persons violates: a person
    in it is not in the population. The average and the share of records at risk are of the whole release.

    Monotone without suppression: merged classes are fewer, with at least the same persons, and f / F of both
    together is at most the sum. Not for persons, as for the prosecutor's.
    """

    name: ClassVar[str] = "population_risk"
    measures_presence: ClassVar[bool] = True

    @classmethod
    def of(cls, requirement: RiskRequirement) -> Self | None:
        """With the requirement's parameters; None where it has no population."""
        if requirement.population is None:
            return None
        return cls(
            table=requirement.population,
            person=requirement.person,
            average=requirement.average,
            highest=requirement.highest,
            at_risk=requirement.records_at_risk,
            attacker=requirement.attacker,
        )

    @property
    def notation(self) -> str:
        """Such as ``journalist in census: highest risk 0.2``."""
        return f"{self.attacker} in {self.shown}: {self.thresholds}"

    @property
    def key(self) -> str:
        """The attacker and the population."""
        return f"risk({self.attacker}, {self.frame})"

    @property
    def least_population(self) -> int | None:
        """What the highest risk takes, where no record may be at risk."""
        return self.safe_persons if self.highest is not None and not self.at_risk else None

    def over_table(self, part: str, counted: Sql, over: Sql, own: str) -> Sql:
        """The average, or the share of the records at risk."""
        part = {"measure": self.attacker, "second": "at_risk"}[part]
        return super().over_table(part, counted, over, own)

    def parameters(self) -> dict[str, Any]:
        """The thresholds; a share of 0 is a number of persons that every class must have."""
        return {
            "average": None if self.average is None else self.average + TOLERANCE,
            "safe": self.safe_persons,
            "least": self.least_population or 1,
            "share": self.at_risk,
        }
