"""Bayes-optimal privacy: what a release may change in the beliefs of an attacker.

Definition: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (l-Diversity, ACM TKDD 1(1), 2007), section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, WithJsonSchema

from kanon_sql.spec.checks import Fault, checked, share, text, the_number
from kanon_sql.spec.hierarchy import TABLE_NAME, table_name
from kanon_sql.spec.names import format_table_name
from kanon_sql.spec.requirement import ABOUT_ATTRIBUTE, Attribute, Requirement

__all__ = ["BayesOptimalRequirement"]


def _inside(what: str) -> Callable[[object], float]:
    return the_number(f"{what}, above 0 and below 1", lambda value: 0 < value < 1)


_INSIDE = WithJsonSchema({"type": ["number", "null"], "exclusiveMinimum": 0, "exclusiveMaximum": 1})


class BayesOptimalRequirement(Requirement):
    """The release changes little of what an attacker with a background distribution believes of any person.

    Attributes:
        attribute: the sensitive attribute.
        background: the table of what the attacker knows beforehand; None for the source itself.
        weight: its column of weights or probabilities; None where each of its rows counts alike.
        delta: a positive disclosure is a belief above 1 - delta in a person's value, where it was not before.
        epsilon: a negative disclosure is a belief below epsilon in a value that a person may have, where it was not.
        theta: the most that any belief may change.
    """

    name: ClassVar[str] = "bayes_optimal"
    expected: ClassVar[str] = "{attribute: ..., background: ..., theta: 0.2}"
    counts_persons: ClassVar[bool] = False

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    background: Annotated[
        tuple[str, ...] | None,
        checked(table_name),
        WithJsonSchema({"anyOf": [*TABLE_NAME["anyOf"], {"type": "null"}]}),
    ] = Field(
        default=None,
        description="A table that the attacker knows: quasi-identifiers as in the source, attribute, maybe a weight.",
    )
    weight: Annotated[
        str | None,
        checked(text("a column name")),
        WithJsonSchema({"type": ["string", "null"], "minLength": 1}),
    ] = Field(default=None, description="The background's column of weights or probabilities; its rows by default.")
    delta: Annotated[float | None, checked(_inside("delta")), _INSIDE] = Field(
        default=None, description="No person's value is believed with more than 1 - delta, unless it was before."
    )
    epsilon: Annotated[float | None, checked(_inside("epsilon")), _INSIDE] = Field(
        default=None, description="No value is believed of a person with less than epsilon, unless it was before."
    )
    theta: Annotated[
        float | None,
        checked(share("theta")),
        WithJsonSchema({"type": ["number", "null"], "minimum": 0, "maximum": 1}),
    ] = Field(default=None, description="The most that any belief may change.")

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """Some threshold is asked for; weights are a background's."""
        if not {"delta", "epsilon", "theta"} & set(given):
            why = "missing a threshold: theta (how far a belief may move), delta (positive) or epsilon (negative)"
            yield Fault((), why, True)
        if "weight" in given and "background" not in given:
            yield Fault(("weight",), "'weight' is a column of the 'background', which is missing", True)

    def to_dict(self) -> dict[str, Any]:
        """``{name: {parameters}}``, the background by its name."""
        body = self.model_dump(mode="json", exclude_none=True)
        if self.background is not None:
            body["background"] = format_table_name(self.background)
        return {self.name: body}
