"""Warnings of a run: their codes, and what a spec makes of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from kanon_sql.spec.checks import Part, chosen

__all__ = ["CloakWarnings", "Handling", "NamedWarnings", "RelatedWarnings", "WarningOptions"]

Handling = Literal["error", "warn", "allow"]
Graded = Literal["by_share", "error", "warn", "allow"]

_Handling = Annotated[Handling, chosen("handling")]
_Graded = Annotated[Graded, chosen("handling")]


def _warning(description: str) -> Any:
    """A warning that is reported and fails nothing, unless the spec says otherwise."""
    return Field(default="warn", description=description)


class _Handled(Part):
    """A mapping of codes to what becomes of each."""

    def of(self, code: str) -> Graded:
        """What becomes of a warning with this code."""
        return getattr(self, code)  # type: ignore[no-any-return]

    def given(self) -> Mapping[str, str]:
        """What differs from the default."""
        return self.model_dump(exclude_defaults=True)


class NamedWarnings(_Handled):
    """What becomes of each warning of a perturbed release, or of a table of counts or sums.

    Attributes:
        named_like_identifier: the name of a released column is that of an identifier.
    """

    expected: ClassVar[str] = "a mapping such as {named_like_identifier: error}"

    named_like_identifier: _Handling = _warning("The name of a released column is that of an identifier.")


class CloakWarnings(_Handled):
    """What becomes of each warning of a cloaked release: it fails the run, is reported, or is not looked for.

    Attributes:
        named_like_identifier: the name of a kept column is that of an identifier.
        kept_links_rows: a column that is kept links rows of the same few people.
    """

    expected: ClassVar[str] = "a mapping such as {kept_links_rows: error}"

    named_like_identifier: _Handling = _warning("The name of a kept column is that of an identifier.")
    kept_links_rows: _Handling = _warning("A kept column links rows of the same few people.")


_NEARLY_UNIQUE = _warning("A column that is released as it is singles rows out.")
_NAMED = _warning("The name of a released column is that of an identifier.")
_REVEALING: Any = Field(
    default="by_share",
    description="A column that is released as it is reveals more of a quasi-identifier than its labels do.",
)


class RelatedWarnings(_Handled):
    """What becomes of each warning of a release of several tables.

    Attributes:
        keys_join_releases: the new keys are those of every release that is made with the same secret.
        earlier_table_stands: a table of an earlier release of these tables stays where it is.
        nearly_unique_kept: a column that is released as it is singles rows out.
        kept_reveals_quasi_identifier: a column that is released as it is reveals more of a quasi-identifier of its
            table, or of one above or below, than the labels do; ``by_share`` makes that an error where it is so of
            many persons.
        named_like_identifier: the name of a released column is that of an identifier.
    """

    expected: ClassVar[str] = "a mapping such as {keys_join_releases: allow}"

    keys_join_releases: _Handling = _warning("The new keys are the same in every release made with one secret.")
    earlier_table_stands: _Handling = _warning("A table of an earlier release is not part of this one, and stays.")
    nearly_unique_kept: _Handling = _NEARLY_UNIQUE
    kept_reveals_quasi_identifier: _Graded = _REVEALING
    named_like_identifier: _Handling = _NAMED


class WarningOptions(_Handled):
    """What becomes of each warning: ``error`` fails the run, ``warn`` reports it, ``allow`` skips the check.

    Attributes:
        rows_not_persons: classes are counted in rows, and some have too few persons.
        nearly_unique_kept: a column that is released as it is singles rows out.
        kept_reveals_quasi_identifier: a column that is released as it is reveals more of a quasi-identifier than its
            labels do; ``by_share`` makes that an error where it is so in many rows.
        kept_links_rows: a column that is released as it is links rows of the same few people.
        named_like_identifier: the name of a released column is that of an identifier.
        identifiers_present: a checked table holds columns that the spec calls identifiers.
        unnamed_columns: a checked table has columns that the spec does not name.
        inconsistent_spelling: values that count as different differ in spelling alone, or mean 'missing'.
        values_are_lists: values that a requirement counts look like lists of several.
        column_fully_generalized: a quasi-identifier has its most general label in every row.
        fully_suppressed_columns: every quasi-identifier has its most general label in every row.
        uneven_suppression: one group of rows is suppressed much more than the others.
        numbers_as_text: ranges are of text whose values are numbers, in the order of its characters.
        births_in_future: rows of a CSV file have a date of birth after today.
        leading_zeros_lost: codes are stored as whole numbers, which have lost zeros in front.
        limit_exceeded: a release that grows has suppressed more rows than ``suppression`` allows.
        readable_by_others: other roles can read tables that a run keeps with the release, and that hold source values.
    """

    expected: ClassVar[str] = "a mapping such as {nearly_unique_kept: error}"

    rows_not_persons: _Handling = _warning("Classes are counted in rows, and some have too few persons.")
    nearly_unique_kept: _Handling = _NEARLY_UNIQUE
    kept_reveals_quasi_identifier: _Graded = _REVEALING
    kept_links_rows: _Handling = _warning("A column that is released as it is links rows of the same few people.")
    named_like_identifier: _Handling = _NAMED
    identifiers_present: _Handling = _warning("A checked table holds columns that the spec calls identifiers.")
    unnamed_columns: _Handling = _warning("A checked table has columns that the spec does not name.")
    inconsistent_spelling: _Handling = _warning(
        "Values that count as different differ in spelling alone, or mean 'missing'."
    )
    values_are_lists: _Handling = _warning("Values that a requirement counts look like lists of several.")
    column_fully_generalized: _Handling = _warning("A quasi-identifier has its most general label in every row.")
    fully_suppressed_columns: _Handling = _warning("Every quasi-identifier has its most general label in every row.")
    uneven_suppression: _Handling = _warning("One group of rows is suppressed much more than the others.")
    numbers_as_text: _Handling = _warning("Ranges are of numbers that are stored as text, which puts 10 before 9.")
    births_in_future: _Handling = _warning("Rows of a CSV file have a date of birth after today.")
    leading_zeros_lost: _Handling = _warning("Codes are stored as whole numbers, which have lost zeros in front.")
    limit_exceeded: _Handling = _warning("A release that grows has suppressed more rows than suppression allows.")
    readable_by_others: _Handling = _warning(
        "Other roles can read tables that a run keeps with the release, and that hold source values."
    )

    @property
    def fatal(self) -> list[str]:
        """The codes of those that fail a run."""
        return [code for code, handling in self.model_dump().items() if handling == "error"]
