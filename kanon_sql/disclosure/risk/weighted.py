"""Individual risk by sampling weights, and the risk of households.

A weight says how many persons of the population a record of the sample stands for. With f records in a class and F, the
sum of their weights, as an estimate of the persons there, p = f / F, and the risk of a record is the mean of 1 / F when
the others of the population are distributed negative binomially (Benedetti and Franconi, Statistical and
technological solutions for controlled data dissemination, 1998; Franconi and Polettini, Individual risk estimation in
mu-Argus, 2004):

    f = 1    p / (1 - p) ln(1 / p)
    f = 2    p / (1 - p) - (p / (1 - p))^2 ln(1 / p)
    else     p / (f - (1 - p)), an approximation as in sdcMicro's measure_risk

and 1 / f where the weights add up to no more than f. The risk of a household is that of any of its members being found,
1 minus the product of (1 - risk). The risks of all records add up to the expected number of re-identifications.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kanon_sql.disclosure.risk.measure import RiskFrames
from kanon_sql.engines import Column, Workspace, refuse_incomplete
from kanon_sql.errors import SpecError
from kanon_sql.hierarchies import exact_value
from kanon_sql.spec import Count, Document, Keywords, Share, Text

__all__ = ["HouseholdRisk", "WeightedRisk", "weighted_risk"]

Expected = Annotated[float, Keywords(minimum=0)]


@dataclass(frozen=True)
class HouseholdRisk(Document):
    """The risk that some member of a record's household is found.

    Attributes:
        key: the column that identifies households; a record without one is a household of its own.
        households: how many there are.
        highest: of any household; None without a record.
        average: over the records; None without a record.
        expected: over the records, added up.
        at_risk: records of households whose risk is above the threshold.
    """

    key: Text
    households: Count
    highest: Share | None
    average: Share | None
    expected: Expected
    at_risk: Count


@dataclass(frozen=True)
class WeightedRisk(Document):
    """The individual risk, estimated from sampling weights: an estimate, and nothing is proven.

    Attributes:
        weight: the column of weights.
        population: their sum, the estimated size of the population.
        highest: of any record; None without a record.
        average: over the records; None without a record.
        expected: re-identifications to expect, the risks of all records added up.
        at_risk: records whose risk is above the threshold.
        household: the same for households; None without a key.
    """

    weight: Text
    population: Expected
    highest: Share | None
    average: Share | None
    expected: Expected
    at_risk: Count
    household: HouseholdRisk | None


def weighted_risk(
    workspace: Workspace, frames: RiskFrames, weight: Column, household: Column | None, threshold: float
) -> WeightedRisk:
    """Estimate the individual risk of a table's rows, in one statement.

    Args:
        workspace: where to ask.
        frames: the table; rows are counted.
        weight: the column of weights, numbers above 0.
        household: the column that identifies households; None for none.
        threshold: a record with a risk above it is at risk.

    Raises:
        SpecError: some weights are missing, or not above 0.
    """
    rows = workspace.fetch(
        "disclosure/risk/weighted",
        2,
        table=frames.table,
        keys=frames.keys,
        key_names=frames.key_names,
        weight=weight.name,
        household=None if household is None else exact_value(household, "checked"),
        threshold=threshold,
    )
    found = {int(row[0]): row[1:] for row in rows}
    records, groups, total, highest, at_risk, population, wrong, there = found[0]
    if int(wrong or 0):
        raise SpecError(
            f"weight: {int(wrong):,} rows have no weight above 0 in {weight.name!r}; expected how many persons of the "
            "population each row stands for: leave such rows out in a view"
        )
    refuse_incomplete("disclosure/risk/weighted", records, there)
    of_households = None
    if household is not None:
        members, groups, together, most, above, *_ = found[1]
        refuse_incomplete("disclosure/risk/weighted", members, there)
        of_households = HouseholdRisk(
            household.name,
            int(groups or 0),
            _share(most),
            _mean(together, members),
            float(together or 0),
            int(above or 0),
        )
    return WeightedRisk(
        weight=weight.name,
        population=float(population or 0),
        highest=_share(highest),
        average=_mean(total, records),
        expected=float(total or 0),
        at_risk=int(at_risk or 0),
        household=of_households,
    )


def _share(value: float | None) -> float | None:
    return None if value is None else min(1.0, max(0.0, float(value)))


def _mean(total: float | None, records: int) -> float | None:
    return _share(float(total) / int(records)) if records and total is not None else None
