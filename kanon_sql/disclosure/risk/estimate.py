"""What an estimator of population uniqueness says, or why it says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kanon_sql.spec import Document, Nonnegative, Share

__all__ = ["Estimate", "population_size"]

Estimator = Literal["zayatz", "pitman", "snb", "dankar"]


@dataclass(frozen=True)
class Estimate(Document):
    """How many records of the population are unique there.

    Attributes:
        estimator: its name.
        uniques: records alone in their class of the population; None where the estimator does not exist.
        share: of the population's records; None likewise.
        reason: why it does not exist; None where it does.
        parameters: of the model that was fitted.
        chosen: the estimator that a decision rule took; None for an estimator itself.
    """

    estimator: Estimator
    uniques: Nonnegative | None
    share: Share | None
    reason: str | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    chosen: str | None = None

    @classmethod
    def of(cls, estimator: Estimator, uniques: float, population: int, **parameters: float) -> Estimate:
        """The estimate as a number and as a share of the population."""
        return cls(estimator, uniques, uniques / population, None, parameters)

    @classmethod
    def missing(cls, estimator: Estimator, reason: str) -> Estimate:
        """The estimator does not exist for this table."""
        return cls(estimator, None, None, reason)


def population_size(records: int, sampling_fraction: float) -> int:
    """How many records the population has of which the table is a sample."""
    return max(records, round(records / sampling_fraction))
