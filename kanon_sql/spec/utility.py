"""What a release is to be measured by besides its metrics: how well a column can be told from it."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from kanon_sql.spec.checks import Part, integer
from kanon_sql.spec.fields import ColumnName

__all__ = ["Utility"]

MOST_FOLDS = 10


class Utility(Part):
    """A classifier that is trained on the release and tested on the source (Fung, Wang, Yu 2007; Iyengar 2002).

    Attributes:
        classify: the column that is told from the quasi-identifiers, one of sensitive or keep.
        folds: this many times a part of the rows is held out, and told by what the others teach.
    """

    expected: ClassVar[str] = "{classify: diagnosis}"

    classify: ColumnName = Field(description="The column that is told from the quasi-identifiers.")
    folds: Annotated[int, integer("a number of folds", 2, MOST_FOLDS)] = Field(
        default=5, description="How many times a part of the rows is held out."
    )
