"""What classes achieve: what each requirement reaches, and the classes by their sizes.

The columns of ``evaluate/achieved``, which asks it, are named here and read here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypedDict

from kanon_sql.engines import Row, Workspace, refuse_incomplete
from kanon_sql.evaluate.classes import measure_name, second_name
from kanon_sql.models import PrivacyModel
from kanon_sql.spec import Count, Keywords, Like, Positive
from kanon_sql.sql import Sql, identifier, render

__all__ = [
    "SUPPRESSED",
    "THERE",
    "Achieved",
    "AllReached",
    "ClassSizes",
    "Classes",
    "CountedClasses",
    "Examination",
    "MaybeClasses",
    "Reached",
    "achieved_by",
    "achieved_context",
    "read_examination",
    "size_edges",
    "size_number",
]

_STEPS = frozenset(step * 10**decade for decade in range(19) for step in (1, 2, 5))
"""Where ranges of class sizes begin, as far as 64 bits count."""

SUPPRESSED, THERE = -1, -2
"""Instead of a range's number: classes that are not looked at; what there is to judge, in a row of its own."""


class Reached(TypedDict):
    """What a requirement reaches on a table, and what violates it.

    Attributes:
        requirement: what was asked, in the field's notation.
        violating_classes: classes that violate it.
        violating_rows: rows in these.
    """

    requirement: str
    violating_classes: Count
    violating_rows: Count


AllReached = Mapping[str, Annotated[Mapping[str, Any], Like(Reached)]]
"""Requirement -> what is reached of it: with the keys of :class:`Reached` also the figures that its model declares."""


@dataclass(frozen=True)
class Achieved:
    """What one requirement reaches on a table.

    Attributes:
        model: the requirement.
        values: the thresholds reached, such as ``{"k": 7}``, and what a verb shows beside them.
        violating_classes: classes that violate it.
        violating_rows: rows in those classes.
    """

    model: PrivacyModel
    values: Mapping[str, Any]
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


class Classes(TypedDict, total=False):
    """Equivalence classes, by what a class counts: rows, or persons.

    Attributes:
        count: how many there are.
        smallest: the size of the smallest one; None without a class.
        average: the mean size; None without a class.
        largest: the size of the largest one; None without a class.
    """

    count: Count
    smallest: Positive | None
    average: Annotated[float, Keywords(minimum=1)] | None
    largest: Positive | None


_FIGURES = ["smallest", "average", "largest"]
CountedClasses = Annotated[Classes, Keywords(required=["count", *_FIGURES])]
"""Of a table that is there."""
MaybeClasses = Annotated[Classes, Keywords(dependentRequired={"count": _FIGURES})]
"""Empty where there is no table to look at."""


ClassSizes = TypedDict("ClassSizes", {"from": Count, "to": Count | None, "classes": Count, "rows": Count})
ClassSizes.__doc__ = """The classes of about one size, in what a class counts: rows, or persons.

    Attributes:
        from: the least size, included: 0, 1, 2, 5, 10, 20 and so on, or a size that was asked for.
        to: the largest size, included; None where there is no upper end.
        classes: how many classes have such a size.
        rows: rows in them.
    """


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
    sizes: Sequence[ClassSizes] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether every class satisfies every requirement. A table without rows does."""
        return not any(item.violating_classes for item in self.achieved)

    def achieved_dict(self) -> dict[str, dict[str, object]]:
        """What each requirement reaches as it is in results, by its key."""
        return {item.model.key: item.to_dict() for item in self.achieved}

    def classes_dict(self) -> Classes:
        """The classes as they stand in results."""
        average = self.rows / self.classes if self.classes else None
        return {"count": self.classes, "smallest": self.smallest, "average": average, "largest": self.largest}


def size_edges(models: Sequence[PrivacyModel]) -> list[int]:
    """Where the ranges of class sizes begin: 0, 1, 2, 5, 10, 20, ..., and each size that a model asks for.

    A range ends before the next one begins, so none holds both verdicts; the last one has no end.
    """
    return sorted({0, *_STEPS, *(model.least_size for model in models if model.least_size is not None)})


def size_number(edges: Sequence[int]) -> Sql:
    """The number of the range that a class's size is in; ``edges`` is where they begin, all of :func:`size_edges`."""
    return render("evaluate/size_number", sizes=[edge for edge in edges if edge and edge not in _STEPS])


def _achieved_names(models: Sequence[PrivacyModel]) -> list[str]:
    """The columns of ``evaluate/achieved``, in their order."""
    names = [
        "size_number",
        "classes",
        "kept_classes",
        "class_rows",
        "class_sizes",
        "all_size",
        "violating_rows",
        "smallest_class",
        "largest_class",
    ]
    for index, model in enumerate(models):
        own = ("worst", "unbounded", "violating_classes", "violating_rows", *(["second"] if model.second else []))
        names += [f"{name}{index}" for name in own]
    return names


def achieved_context(models: Sequence[PrivacyModel]) -> dict[str, Any]:
    """What ``evaluate/achieved`` needs of the models: its columns, and the numbers that are no range's."""
    after = _achieved_names(models).index("class_rows") + 1
    return {
        "models": _achieved_columns(models),
        "suppressed": SUPPRESSED,
        "there": THERE,
        "columns_after": len(_achieved_names(models)) - after,
    }


def _achieved_columns(models: Sequence[PrivacyModel]) -> list[dict[str, Sql | None]]:
    """What ``evaluate/achieved`` needs per model."""
    columns: list[dict[str, Sql | None]] = []
    for index, model in enumerate(models):
        name = measure_name(index, model)
        second = second_name(name, model)
        columns.append(
            {
                "extreme": Sql(model.worst),
                "measure": model.reached(name),
                "condition": model.condition(name),
                "second": None if second is None else Sql(f"{model.second}({identifier(second)})"),
            }
        )
    return columns


def achieved_by(workspace: Workspace, flagged: Sql, models: Sequence[PrivacyModel], rows: int) -> Examination:
    """What classes achieve that are counted from frequency sets and all kept.

    Args:
        workspace: where to ask.
        flagged: them, with a column ``satisfied``.
        models: the requirements that this column tells of.
        rows: how many rows the classes have to hold.

    Raises:
        InternalError: they hold other rows, or other persons.
    """
    edges = size_edges(models)
    found = workspace.fetch(
        "evaluate/achieved",
        len(edges) + 1,
        flagged=flagged,
        kept_only=False,
        size=size_number(edges),
        checks_size=False,
        table=None,
        where=None,
        **achieved_context(models),
    )
    return read_examination(found, models, rows)


def read_examination(rows: Sequence[Row], models: Sequence[PrivacyModel], there: int | None = None) -> Examination:
    """The rows of ``evaluate/achieved``, one per size of class, as an examination.

    Args:
        rows: as they are fetched.
        models: the requirements.
        there: how many rows there are to judge; None where a row of their own says it.

    Raises:
        InternalError: other rows were judged, or other persons.
    """
    named = [dict(zip(_achieved_names(models), row, strict=True)) for row in rows]
    named = [row for row in named if row["size_number"] is not None]  # of no rows and no columns: one empty group
    if there is None:
        (there,) = (int(row["class_rows"]) for row in named if int(row["size_number"]) == THERE)
    judged = [row for row in named if int(row["size_number"]) != THERE]
    _refuse_incomplete(judged, there)
    found = sorted(
        (row for row in judged if row["class_rows"] and int(row["size_number"]) != SUPPRESSED),
        key=lambda row: int(row["size_number"]),
    )
    if not found:  # a table without rows: one empty group at most
        empty = [
            Achieved(model, {**model.achieved(None, False), **model.achieved_second(None)}, 0, 0) for model in models
        ]
        return Examination(0, 0, None, None, 0, empty)
    edges = size_edges(models)
    ends = [*(edge - 1 for edge in edges[1:]), None]
    sizes = [
        ClassSizes(
            {"from": edges[number], "to": ends[number], "classes": int(row["classes"]), "rows": int(row["class_rows"])}
        )
        for number, row in ((int(row["size_number"]), row) for row in found)
    ]
    return Examination(
        rows=_total(found, "class_rows"),
        classes=_total(found, "classes"),
        smallest=min(int(row["smallest_class"]) for row in found),
        largest=max(int(row["largest_class"]) for row in found),
        violating_rows=_total(found, "violating_rows"),
        achieved=[_achieved(found, index, model) for index, model in enumerate(models)],
        sizes=sizes,
    )


def _refuse_incomplete(judged: Sequence[Mapping[str, Any]], there: int) -> None:
    """Every row of the table is in a class that was judged, and every person of a class is still in it."""
    refuse_incomplete("evaluate/achieved", sum(int(row["class_rows"] or 0) for row in judged), there)
    for all_size in {int(row["all_size"]) for row in judged if row["all_size"] is not None}:
        refuse_incomplete("evaluate/achieved", _total(judged, "class_sizes"), all_size, "persons in classes")


def _achieved(rows: Sequence[Mapping[str, Any]], index: int, model: PrivacyModel) -> Achieved:
    """What one requirement reaches; its columns end in its number."""
    unbounded = _total(rows, f"unbounded{index}") > 0
    values = dict(model.achieved(_extreme(model.worst, rows, f"worst{index}"), unbounded))
    if model.second is not None:
        values |= model.achieved_second(_extreme(model.second, rows, f"second{index}"))
    violating = (_total(rows, f"{name}{index}") for name in ("violating_classes", "violating_rows"))
    return Achieved(model, values, *violating)


def _extreme(which: Literal["MIN", "MAX"], rows: Sequence[Mapping[str, Any]], name: str) -> float | None:
    values = [float(row[name]) for row in rows if row[name] is not None]
    return (min if which == "MIN" else max)(values) if values else None


def _total(rows: Sequence[Mapping[str, Any]], name: str) -> int:
    return sum(int(row[name]) for row in rows)
