"""How many equivalence classes there are of every size: all that most risk measures look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kanon_sql.evaluate import Classes

__all__ = ["Histogram"]


@dataclass(frozen=True)
class Histogram:
    """The classes of a table by their size.

    Attributes:
        sizes: records in a class (1 or more) -> how many classes have this many.
        rows: rows of the table.
        rows_without_records: rows in classes without a record: no person is named in them.
    """

    sizes: Mapping[int, int]
    rows: int
    rows_without_records: int = 0

    @property
    def classes(self) -> int:
        """How many classes hold a record."""
        return sum(self.sizes.values())

    @property
    def records(self) -> int:
        """Records in all of them."""
        return sum(size * count for size, count in self.sizes.items())

    @property
    def uniques(self) -> int:
        """Records that are alone in their class: unique in the sample."""
        return self.sizes.get(1, 0)

    def classes_dict(self) -> Classes:
        """The classes as they stand in results."""
        return {
            "count": self.classes,
            "smallest": min(self.sizes, default=None),
            "average": self.records / self.classes if self.classes else None,
            "largest": max(self.sizes, default=None),
        }
