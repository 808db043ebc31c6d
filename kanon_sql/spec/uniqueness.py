"""A requirement on how many of a population's persons are unique, by an estimate from a sample.

Definition and rule: Dankar, El Emam, Neisa and Roffey (2012); the estimators are those of ``risk``.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, WithJsonSchema

from kanon_sql.spec.checks import checked, choice, the_number
from kanon_sql.spec.checks import share as a_share
from kanon_sql.spec.requirement import Requirement

__all__ = ["PopulationUniquenessRequirement"]

_ESTIMATORS = ("dankar", "pitman", "zayatz", "snb")


class PopulationUniquenessRequirement(Requirement):
    """Few persons of the population are alone in their class there, as an estimator says. It works in check alone.

    Attributes:
        share: the largest share of the population's persons that are estimated to be unique.
        sampling_fraction: rows of the table (or persons) per person of its population.
        estimator: which one; ``dankar`` chooses by the sampling fraction.
    """

    name: ClassVar[str] = "population_uniqueness"
    expected: ClassVar[str] = "{share: 0.001, sampling_fraction: 0.01}"

    share: Annotated[
        float,
        checked(a_share("a share of the population")),
        WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1}),
    ] = Field(description="The largest share of the population that may be estimated to be unique there.")
    sampling_fraction: Annotated[
        float,
        checked(the_number("a sampling fraction, at least 1e-15 and at most 1", lambda value: 1e-15 <= value <= 1)),
        WithJsonSchema({"type": "number", "minimum": 1e-15, "maximum": 1}),
    ] = Field(description="The share of the population that is in the table, which is believed to be a random sample.")
    estimator: Annotated[
        Literal["dankar", "pitman", "zayatz", "snb"], checked(choice("estimator of uniqueness", _ESTIMATORS))
    ] = Field(default="dankar", description="The estimator; dankar chooses one by the sampling fraction.")

    @property
    def attribute(self) -> None:
        """No sensitive attribute."""
        return None
