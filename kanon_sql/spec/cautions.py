"""Warnings of a run: their codes, and what a spec makes of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from kanon_sql.spec.checks import Part, checked, choice

__all__ = ["CloakWarnings", "Handling", "WarningOptions"]

Handling = Literal["error", "warn", "allow"]

_HANDLING = checked(choice("handling", ("error", "warn", "allow")))


class _Handled(Part):
    """A mapping of codes to what becomes of each."""

    def of(self, code: str) -> Handling:
        """What becomes of a warning with this code."""
        return getattr(self, code)  # type: ignore[no-any-return]

    def given(self) -> Mapping[str, str]:
        """What differs from the default."""
        return self.model_dump(exclude_defaults=True)


class CloakWarnings(_Handled):
    """What becomes of each warning of a cloaked release: it fails the run, is said, or is not looked for.

    Attributes:
        kept_links_rows: a column that is kept says which rows are of the same few people.
    """

    expected: ClassVar[str] = "a mapping such as {kept_links_rows: error}"

    kept_links_rows: Annotated[Handling, _HANDLING] = Field(
        default="warn", description="A kept column says which rows are of the same few people."
    )


class WarningOptions(_Handled):
    """What becomes of each warning: ``error`` fails the run, ``warn`` says it, ``allow`` does not look.

    Attributes:
        rows_not_persons: classes are counted in rows, and some have too few persons.
        nearly_unique_kept: a column that is released as it is singles rows out.
        withheld_column: a quasi-identifier is at its top in every row.
        nothing_told: all of them are.
        uneven_suppression: one group of rows is suppressed much more than the others.
    """

    expected: ClassVar[str] = "a mapping such as {nearly_unique_kept: error}"

    rows_not_persons: Annotated[Handling, _HANDLING] = Field(
        default="warn", description="Classes are counted in rows, and some have too few persons."
    )
    nearly_unique_kept: Annotated[Handling, _HANDLING] = Field(
        default="warn", description="A column that is released as it is singles rows out."
    )
    withheld_column: Annotated[Handling, _HANDLING] = Field(
        default="warn", description="A quasi-identifier is at its top in every row."
    )
    nothing_told: Annotated[Handling, _HANDLING] = Field(
        default="warn", description="Every quasi-identifier is at its top in every row."
    )
    uneven_suppression: Annotated[Handling, _HANDLING] = Field(
        default="warn", description="One group of rows is suppressed much more than the others."
    )

    @property
    def fatal(self) -> list[str]:
        """The codes of those that fail a run."""
        return [code for code, handling in self.model_dump().items() if handling == "error"]
