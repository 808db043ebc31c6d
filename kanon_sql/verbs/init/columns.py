"""What ``init`` knows of a column: its name, its type and a few counts; never a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
        looks_like: what nearly all values of a text read as; None for what they read as in most texts.
        odd: how many values do not read as that.
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
    looks_like: Literal["dates", "numbers"] | None = None
    odd: int = 0

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @property
    def is_nearly_unique(self) -> bool:
        """Whether nearly every row has a different value."""
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
    def is_dates_as_text(self) -> bool:
        """Whether it is a text of nearly nothing but dates, written as 2000-12-31."""
        return self.looks_like == "dates"

    @property
    def is_numbers_as_text(self) -> bool:
        """Whether it is a text of nearly nothing but numbers, which are not the digits of codes of one length."""
        return self.looks_like == "numbers" and not self.is_code

    @property
    def stored_as_text(self) -> str | None:
        """What to say of a text that should be of another type; None of every other column."""
        if not (self.is_dates_as_text or self.is_numbers_as_text):
            return None
        others = f" but for {self.odd:,} of {self.filled:,} values" if self.odd else ""
        correct = "correct these, or make them NULL, and " if self.odd else ""
        kind, better = ("dates", "dates") if self.is_dates_as_text else ("numbers", "intervals")
        return f"text that looks like {kind}{others}: {correct}cast it in a source query, so that {better} can group it"

    @property
    def hipaa(self) -> Kind | None:
        """The kind of identifier that the name or the form of the values suggests."""
        return kind_of_form(self.form) if self.form is not None else kind_of_words(self.words)

    @property
    def words(self) -> frozenset[str]:
        """The words of its name."""
        return words_of(self.name)
