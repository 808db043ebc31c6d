"""Classification metric: rows whose class value cannot be told from their equivalence class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from kanon_sql.models.privacy.base import Monotonicity, PrivacyModel
from kanon_sql.models.quality.base import Counts, Measured, Metric
from kanon_sql.registers import QUALITY_METRICS
from kanon_sql.search import Node
from kanon_sql.spec import Requirement, SearchOptions
from kanon_sql.sql import Sql, render

__all__ = ["Classification"]

TEMPLATE = "models/quality/classification"


@dataclass(frozen=True)
class _Majority(PrivacyModel):
    """How many rows of a class have its most frequent class value: a measure alone, which asks for nothing.

    Attributes:
        class_column: the column of class values.
    """

    name: ClassVar[str] = "majority"
    requirement: ClassVar = Requirement
    worst: ClassVar = "MIN"
    class_column: str

    @classmethod
    def of(cls, requirement: Any) -> None:
        """No requirement asks for it."""
        return

    @property
    def attribute(self) -> str:
        """The column of class values."""
        return self.class_column

    @property
    def notation(self) -> str:
        """What it measures."""
        return f"the most frequent {self.class_column}"

    def measure(self, name: str) -> Sql:
        """The rows of the most frequent value; NULL is a value like any other."""
        return render(TEMPLATE, part="measure")

    def condition(self, name: str) -> Sql:
        """Always true."""
        return Sql("1 = 1")

    def monotonicity(self, by_person: bool) -> Monotonicity:
        """Always: it asks for nothing."""
        return Monotonicity.ALWAYS

    def parameters(self) -> dict[str, Any]:
        """None."""
        return {}

    def achieved(self, worst: float | None, unbounded: bool) -> dict[str, float | int | None]:
        """Nothing."""
        return {}


@QUALITY_METRICS.declare
@dataclass(frozen=True)
class Classification(Metric):
    """Classification metric CM (Iyengar, Transforming data to satisfy privacy constraints, KDD 2002, section 4.2).

    The share of rows that are suppressed, or whose class value is not the most frequent one of their equivalence class:
    the errors of a classifier that predicts the majority of each class. Monotone: of all classes, as if none were
    suppressed, with rows that are suppressed for a NULL. It counts rows, also where a class counts persons.

    Attributes:
        class_column: the column of class values.
    """

    name: ClassVar[str] = "classification"
    words: ClassVar[str] = "share of rows suppressed, or not of their class's majority"
    formula: ClassVar[str] = (
        "(rows whose class value is not the most frequent one of their released class, plus S) / N; `classify` "
        "names the column"
    )
    source: ClassVar[str] = "Iyengar 2002"
    place: ClassVar[int] = 8
    takes: ClassVar[Mapping[str, str]] = {"classify": "the column of class values, one of sensitive or keep"}
    largest: ClassVar[int | None] = 1
    class_column: str
    monotone: bool = False

    @classmethod
    def of(cls, search: SearchOptions) -> Self:
        """Of the column that the search names."""
        assert search.classify is not None
        return cls(search.classify, search.monotone)

    @property
    def shape(self) -> str:
        """Its statements name the class column's frequency set by its place, which distinguishes them, too."""
        return f"{super().shape}, {self.class_column}"

    @property
    def measures(self) -> Sequence[PrivacyModel]:
        """The rows of each class's most frequent class value."""
        return [_Majority(self.class_column)]

    def aggregates(self, kept: Sql, carried: Sequence[str]) -> dict[str, Sql]:
        """Rows of other values than the majority's, of the released classes and of all."""
        (majority,) = carried
        others = {"others": render(TEMPLATE, part="others", majority=majority, kept=kept, kept_only=False)}
        if self.monotone:
            return others
        kept_others = render(TEMPLATE, part="others", majority=majority, kept=kept, kept_only=True)
        return {"kept_others": kept_others, **others}

    def value(self, counts: Counts, measured: Measured) -> float:
        """Rows of other values and suppressed rows, as a share of all."""
        if self.monotone:
            return self.floor(counts, measured)
        return _share(counts, int(measured.values["kept_others"] or 0) + measured.suppressed)

    def whole(self, counts: Counts, combined: float) -> float:
        """At least the rows that are always suppressed."""
        return _share(counts, counts.null_rows)

    def least(self, counts: Counts, node: Node, suppressed: int) -> float:
        """Suppressed rows count fully."""
        return self.bound(counts, node) if self.monotone else _share(counts, suppressed)

    def floor(self, counts: Counts, measured: Measured) -> float:
        """Of all classes: merging leaves no more rows to the majorities, and suppressing takes theirs as well."""
        return _share(counts, int(measured.values["others"] or 0) + counts.null_rows)


def _share(counts: Counts, rows: int) -> float:
    return rows / counts.rows if counts.rows else 0.0
