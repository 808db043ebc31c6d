"""What an examination of a table finds: its equivalence classes, and what every requirement reaches on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.classes import size_edges
from kanon_sql.engines.base import Row
from kanon_sql.privacy import PrivacyModel

__all__ = ["Achieved", "ClassSizes", "Examination", "read_examination"]


@dataclass(frozen=True)
class Achieved:
    """What one requirement reaches on a table.

    Attributes:
        model: the requirement.
        values: the thresholds reached, such as ``{"k": 7}``.
        violating_classes: classes that violate it.
        violating_rows: rows in those classes.
    """

    model: PrivacyModel
    values: Mapping[str, float | int | None]
    violating_classes: int
    violating_rows: int

    def to_dict(self) -> dict[str, Any]:
        """As it stands in results, under the requirement's key."""
        return {
            "requirement": self.model.label,
            **self.values,
            "violating_classes": self.violating_classes,
            "violating_rows": self.violating_rows,
        }


@dataclass(frozen=True)
class ClassSizes:
    """The classes of about one size, in what a class counts: rows, or persons.

    Attributes:
        least, most: the sizes, both included; no ``most`` where there is no end.
        classes: how many classes have such a size.
        rows: rows in them.
    """

    least: int
    most: int | None
    classes: int
    rows: int

    def to_dict(self) -> dict[str, int | None]:
        """As it stands in results."""
        return {"from": self.least, "to": self.most, "classes": self.classes, "rows": self.rows}


@dataclass(frozen=True)
class Examination:
    """The equivalence classes of a table.

    Attributes:
        rows: rows in all classes.
        classes: how many classes there are.
        smallest, largest: rows in the smallest and the largest class; None without a class.
        violating_rows: rows in classes that violate some requirement.
        achieved: per requirement.
        sizes: how many classes there are of every size, the smallest first.
    """

    rows: int
    classes: int
    smallest: int | None
    largest: int | None
    violating_rows: int
    achieved: Sequence[Achieved]
    sizes: Sequence[ClassSizes] = ()

    @property
    def passed(self) -> bool:
        """Whether every class satisfies every requirement. A table without rows does."""
        return not any(item.violating_classes for item in self.achieved)

    def sizes_list(self) -> list[dict[str, int | None]]:
        """The sizes of the classes as they stand in results."""
        return [item.to_dict() for item in self.sizes]

    def classes_dict(self) -> dict[str, int | float | None]:
        """The classes as they stand in results."""
        average = self.rows / self.classes if self.classes else None
        return {"count": self.classes, "smallest": self.smallest, "average": average, "largest": self.largest}


def read_examination(rows: Sequence[Row], models: Sequence[PrivacyModel]) -> Examination:
    """The rows of ``evaluate/achieved``, one per size of class, as an examination."""
    found = sorted(([int(row[0]), *row[1:]] for row in rows if row[3]), key=lambda row: row[0])
    if not found:  # a table without rows: one empty group at most
        empty = [
            Achieved(model, {**model.achieved(None, False), **model.achieved_second(None)}, 0, 0) for model in models
        ]
        return Examination(0, 0, None, None, 0, empty)
    achieved, place = [], 7
    for model in models:
        extreme = min if model.worst == "MIN" else max
        worst = _extreme(extreme, found, place)
        unbounded, violating_classes, violating_rows = (_total(found, place + offset) for offset in (1, 2, 3))
        values = dict(model.achieved(worst, bool(unbounded)))
        place += 4
        if model.second is not None:
            values |= model.achieved_second(_extreme(min if model.second == "MIN" else max, found, place))
            place += 1
        achieved.append(Achieved(model, values, violating_classes, violating_rows))
    edges = size_edges(models)
    ends = [*(edge - 1 for edge in edges[1:]), None]
    sizes = [ClassSizes(edges[row[0]], ends[row[0]], int(row[1]), int(row[3])) for row in found]
    return Examination(
        rows=_total(found, 3),
        classes=_total(found, 1),
        smallest=min(int(row[5]) for row in found),
        largest=max(int(row[6]) for row in found),
        violating_rows=_total(found, 4),
        achieved=achieved,
        sizes=sizes,
    )


def _extreme(of: Callable[[Iterable[float]], float], rows: Sequence[Sequence[Any]], place: int) -> float | None:
    values = [float(row[place]) for row in rows if row[place] is not None]
    return of(values) if values else None


def _total(rows: Sequence[Sequence[Any]], place: int) -> int:
    return sum(int(row[place]) for row in rows)
