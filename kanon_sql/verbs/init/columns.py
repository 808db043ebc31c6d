"""What ``init`` knows of a column: its name, its type and a few counts; never a value."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_sql.engines import Column
from kanon_sql.verbs.init.hipaa import Kind, kind_of_form, kind_of_words, words_of

__all__ = ["ENOUGH_ROWS", "FEW_NUMBERS", "MOST_ROWS", "NEARLY_UNIQUE", "SMALL_CATEGORY", "ColumnProfile"]

SMALL_CATEGORY = 50
"""Most distinct values of a column that looks like a category."""
FEW_NUMBERS = 12
"""So few distinct whole numbers are a category, not a measure."""
NEARLY_UNIQUE = 0.9
"""Share of distinct values from which a column points at single rows or persons."""
ENOUGH_ROWS = 10
"""With fewer values, being distinct says nothing."""
MOST_ROWS = 100
"""Rows per person, on average, above which a person's key is taken for something else."""


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """What is known of a column: counts and forms, no value.

    Attributes:
        column: name, type and kind.
        rows: rows of the table.
        filled: rows that are not NULL.
        distinct: distinct values.
        shortest: length of the shortest value as text; None where it was not asked.
        longest: length of the longest.
        digits: values that hold digits alone.
        form: the form of an identifier that nearly all of its values have; None without one.
        thirds: log10 of the range of a number in thirds, rounded down; None when it has none.
    """

    column: Column
    rows: int
    filled: int
    distinct: int
    shortest: int | None = None
    longest: int | None = None
    digits: int = 0
    form: str | None = None
    thirds: int | None = None

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @property
    def is_nearly_unique(self) -> bool:
        """Whether nearly every row has a value of its own."""
        return self.filled >= ENOUGH_ROWS and self.distinct >= NEARLY_UNIQUE * self.filled

    @property
    def is_number(self) -> bool:
        """Whether intervals can hold its values."""
        return self.column.kind in ("integer", "decimal", "float")

    @property
    def is_date(self) -> bool:
        """Whether it can be truncated to months and years."""
        return self.column.kind in ("date", "timestamp")

    @property
    def is_code(self) -> bool:
        """Whether every value is digits of one length, written as text."""
        return self.column.kind == "text" and 0 < self.filled == self.digits and self.shortest == self.longest

    @property
    def hipaa(self) -> Kind | None:
        """The kind of identifier that the name or the form of the values suggests."""
        return kind_of_form(self.form) if self.form is not None else kind_of_words(self.words)

    @property
    def words(self) -> frozenset[str]:
        """The words of its name."""
        return words_of(self.name)
