"""Rare categories: what a spec says of values that few rows or persons have, and what it cannot have beside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from kanon_sql.spec.checks import Fault, Part, fail, integer, shaped, text

if TYPE_CHECKING:
    from kanon_sql.spec.model import Spec

__all__ = ["BY_COUNTS", "Rare", "rare_faults"]


@shaped({"type": "string", "minLength": 1})
def _other(value: object) -> str:
    label = text("the label of rare values")(value)
    if label == "*":
        fail("'*' is the top value, which stands for all values; choose another label")
    return label


class Rare(Part):
    """The values that few rows, or persons, have become one label.

    Attributes:
        other: the label.
        below: values of fewer rows, or persons, are merged; by default the k that the requirements ask for.
    """

    expected: ClassVar[str] = "{other: Other}"

    other: Annotated[str, _other] = Field(description="The label of the merged values.")
    below: Annotated[int | None, integer("the size below which a value is rare", 2)] = Field(
        default=None, description="Values of fewer rows, or persons, are merged; k by default."
    )

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as this."""
        return {"other": self.other, **({} if self.below is None else {"below": self.below})}


BY_COUNTS = "which values are rare depends on the rows of one moment"
"""Why such labels stand in nothing that other rows are compared with."""


def rare_faults(spec: Spec) -> Iterator[Fault]:
    """What counts other rows than the source's, or promises what labels must not depend on."""
    named = [name for name, item in spec.quasi_identifiers.items() if item.by_counts]
    if not named:
        return
    others = {
        "m_invariance": spec.m_invariance is not None,
        "differential_privacy": spec.differential_privacy is not None,
        "recoding.save_as": spec.recoding.save_as is not None,
        "a population": spec.compares_with_population,
        "a background distribution": any(getattr(item, "background", None) is not None for item in spec.privacy),
    }
    for name in named:
        for what in (what for what, asked in others.items() if asked):
            why = (
                f"{BY_COUNTS}, which does not fit {what}; write the labels into a file (kanon-sql hierarchy "
                "--output) and name it: {file: ...}"
            )
            yield Fault(("quasi_identifiers", name, "rare"), why, True)
