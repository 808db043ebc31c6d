"""Average and highest risk: what an attacker may hope for, over all released records."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import Any, ClassVar, Self

from kanon_sql.models.privacy.base import TOLERANCE, Monotonicity, PrivacyModel
from kanon_sql.models.privacy.k_map_estimate import SIGNIFICANCE, critical_size
from kanon_sql.models.privacy.population import PopulationModel
from kanon_sql.spec import RiskRequirement
from kanon_sql.sql import Sql, render

__all__ = ["PopulationRiskModel", "RiskEstimateModel", "RiskModel"]


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
