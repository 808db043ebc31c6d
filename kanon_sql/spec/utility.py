"""What a release is to be measured by besides its metrics: how well a column can be told from it."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field, WithJsonSchema

from kanon_sql.spec.checks import Part, checked, fail, integer, text

__all__ = ["Utility"]

MOST_FOLDS = 10


def _folds(value: object) -> int:
    found = integer("a number of folds", 2)(value)
    if found > MOST_FOLDS:
        fail(f"expected 2 to {MOST_FOLDS} folds, got {found}")
    return found


class Utility(Part):
    """A classifier that is trained on the release and tested on the source (Fung, Wang, Yu 2007; Iyengar 2002).

    Attributes:
        classify: the column that is told from the quasi-identifiers, one of sensitive or keep.
        folds: this many times a part of the rows is held out, and told by what the others teach.
    """

    expected: ClassVar[str] = "{classify: diagnosis}"

    classify: Annotated[str, checked(text("a column name"))] = Field(
        description="The column that is told from the quasi-identifiers."
    )
    folds: Annotated[int, checked(_folds), WithJsonSchema({"type": "integer", "minimum": 2, "maximum": MOST_FOLDS})] = (
        Field(default=5, description="How many times a part of the rows is held out.")
    )
