"""Examine a table as it stands: group it by its quasi-identifiers, whoever wrote it.

The same examination verifies a release before it is published and answers ``check``. It
reads the table itself, never the frequency sets that the search used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from kanon_sql.engines import Column, Row, Workspace, refuse_incomplete
from kanon_sql.errors import SpecError
from kanon_sql.evaluate.classes import (
    SUPPRESSED,
    THERE,
    Frames,
    achieved_context,
    achieved_names,
    checks_persons,
    conditions,
    flagged_classes,
    is_alone,
    size_edges,
    size_number,
)
from kanon_sql.frequency import ValueFacts
from kanon_sql.hierarchies import exact_texts, exact_value, refuse_blank_ends
from kanon_sql.models import PrivacyModel
from kanon_sql.sql import Relation, Sql, identifier, relation, render

__all__ = [
    "Achieved",
    "ClassSizes",
    "Examination",
    "Failing",
    "Subject",
    "examine",
    "failing_classes",
    "groupings",
    "read_examination",
    "reference_in",
    "refuse_other_kind",
    "table_frames",
]


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

    def achieved_dict(self) -> dict[str, dict[str, object]]:
        """What each requirement reaches as it stands in results, by its key."""
        return {item.model.key: item.to_dict() for item in self.achieved}

    def sizes_list(self) -> list[dict[str, int | None]]:
        """The sizes of the classes as they stand in results."""
        return [item.to_dict() for item in self.sizes]

    def classes_dict(self) -> dict[str, int | float | None]:
        """The classes as they stand in results."""
        average = self.rows / self.classes if self.classes else None
        return {"count": self.classes, "smallest": self.smallest, "average": average, "largest": self.largest}


def read_examination(rows: Sequence[Row], models: Sequence[PrivacyModel], there: int | None = None) -> Examination:
    """The rows of ``evaluate/achieved``, one per size of class, as an examination.

    Args:
        rows: as they are fetched.
        models: the requirements.
        there: how many rows there are to judge; None where a row of their own says it.

    Raises:
        InternalError: other rows were judged, or other persons.
    """
    named = [dict(zip(achieved_names(models), row, strict=True)) for row in rows]
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
        ClassSizes(edges[number], ends[number], int(row["classes"]), int(row["class_rows"]))
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


_WRITTEN = ("text", "other")
"""Kinds whose values are compared as text, exactly."""

_EXACT = ("integer", "decimal")
"""Kinds whose values are the same number, or not, whichever of the two they are."""


@dataclass(frozen=True)
class Failing:
    """A class that violates a requirement: shown only to a user who asked for its values.

    Attributes:
        values: column -> value as text; None for NULL.
        rows: rows in it.
        violates: the labels of the requirements that it violates.
    """

    values: Mapping[str, str | None] = field(repr=False)
    rows: int
    violates: Sequence[str]

    def to_dict(self) -> dict[str, Any]:
        """As it stands in results."""
        return {"values": dict(self.values), "rows": self.rows, "violates": list(self.violates)}


def groupings(models: Sequence[PrivacyModel]) -> dict[tuple[str, ...] | None, list[PrivacyModel]]:
    """The requirements by what their classes are made by; None for the quasi-identifiers of the spec, first."""
    found: dict[tuple[str, ...] | None, list[PrivacyModel]] = {None: []}
    for model in models:
        found.setdefault(model.quasi_identifiers, []).append(model)
    return found


def refuse_other_kind(workspace: Workspace, own: Column, original: Column) -> None:
    """Refuse to look up values of one kind in a distribution of another.

    Databases would cast one of them: 1 is found as '1' and as '01' then, and its rows would be counted twice.

    Args:
        workspace: where they are compared.
        own: the attribute in the table.
        original: the attribute where its distribution is taken from.

    Raises:
        SpecError: the kinds differ.
    """
    kinds = {own.kind, original.kind}
    if len(kinds) == 1 or kinds <= set(_WRITTEN) or kinds <= set(_EXACT):
        return
    if own.kind == "other" and not workspace.dialect.typed:  # CREATE TABLE AS forgets what dates are
        return
    raise SpecError(
        f"{own.name!r} is {own.type} in the table and {original.type} in the source that it is compared with: which "
        "of their values are the same is not known; cast one of them in a view"
    )


def reference_in(workspace: Workspace, name: str, table: Relation, facts: ValueFacts, unit: Column | None) -> Sql:
    """A FROM form of a sensitive attribute's distribution in a table, with the facts of its values.

    A scratch table, so that it stands in front of the statements that read it: inside them, and twice, it
    would nest deeper than SQLite's parser goes.
    """
    target = workspace.table(name)
    counts = render(
        "evaluate/examine/counts",
        table=table,
        value=exact_value(facts.column, "original"),
        unit=None if unit is None else exact_value(unit, "original"),
    )
    workspace.execute(
        "evaluate/examine/reference",
        target=target,
        value_facts=facts.value_facts(),
        value_counts=facts.value_counts(counts),
    )
    return relation(target)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A table as it is examined.

    Attributes:
        table: the table.
        columns: its columns by name.
        quasi_identifiers: the columns that classes are grouped by.
        references: per sensitive attribute that a model compares with one: the reference distribution.
        facts: per sensitive attribute: what else the models ask of its values.
        unit: count distinct values of this column instead of rows.
        mark: examine only rows where this column has this number.
        populations: per frame of a model's own, such as a population: a FROM form of it by the table's classes.
    """

    table: Relation
    columns: Mapping[str, Column]
    quasi_identifiers: Sequence[str]
    references: Mapping[str, Sql]
    facts: Mapping[str, ValueFacts]
    unit: str | None = None
    mark: tuple[str, int] | None = None
    populations: Mapping[str, Sql] = field(default_factory=dict)


def examine(workspace: Workspace, subject: Subject, models: Sequence[PrivacyModel]) -> Examination:
    """Group a table by its quasi-identifiers and measure every requirement. No DDL.

    One statement, and one more for every other set of columns that a requirement's classes are made by.
    """
    found: dict[int, Achieved] = {}  # by model: requirements of several specs may share a key
    whole: Examination | None = None
    numbered = workspace.dialect.numbers_classes
    for names, own in groupings(models).items():
        edges = size_edges(own)
        frames = _frames(workspace, _over(subject, names), own, numbered=numbered)
        flagged = flagged_classes(frames, own, with_keys=False)
        rows = workspace.fetch(
            "evaluate/achieved",
            len(edges) + 1,
            flagged=render("evaluate/examine/sized", flagged=flagged, size=size_number(edges)),
            kept_only=False,
            size=Sql("size_number"),
            checks_size=checks_persons(frames, own),
            table=subject.table,
            where=_marked(subject),
            **achieved_context(own),
        )
        examination = read_examination(rows, own)
        found |= {id(item.model): item for item in examination.achieved}
        whole = whole or examination
    assert whole is not None
    return replace(whole, achieved=[found[id(model)] for model in models])


def failing_classes(workspace: Workspace, subject: Subject, models: Sequence[PrivacyModel], most: int) -> list[Failing]:
    """The classes that violate a requirement, the smallest first, with their values: for a user who asked for them.

    Args:
        workspace: where to run it.
        subject: the table.
        models: the requirements.
        most: how many, for each set of columns that classes are made by.
    """
    found = []
    for names, own in groupings(models).items():
        over = _over(subject, names)
        frames = _frames(workspace, over, own)
        rows = workspace.fetch(
            "evaluate/examine/failing",
            most,
            keys=frames.key_names,
            flagged=flagged_classes(frames, own),
            conditions=conditions(own),
            most=most,
        )
        columns = [*over.quasi_identifiers, _ROWS, *range(len(own))]
        for row in rows:
            cells = dict(zip(columns, row, strict=True))
            values = {name: None if cells[name] is None else str(cells[name]) for name in over.quasi_identifiers}
            violated = [model.label for position, model in enumerate(own) if cells[position]]
            found.append(Failing(values, int(cells[_ROWS]), violated))
    return found


_ROWS = -1
"""Stands for the column of rows beside columns that have a user's names, and flags that have numbers."""


def _over(subject: Subject, names: tuple[str, ...] | None) -> Subject:
    return subject if names is None else replace(subject, quasi_identifiers=names)


def _marked(subject: Subject) -> Sql | None:
    """Which rows of the table are examined; None for all."""
    if subject.mark is None:
        return None
    column, value = subject.mark
    return render("evaluate/examine/marked", column=column, value=value)


def _frames(
    workspace: Workspace, subject: Subject, models: Sequence[PrivacyModel], *, numbered: bool = False
) -> Frames:
    """Where the classes of a table are counted from; refuses texts that the engine would merge."""
    attributes = (model.attribute for model in models if model.attribute is not None)
    grouped = [
        *subject.quasi_identifiers,
        *dict.fromkeys(attributes),
        *([] if subject.unit is None else [subject.unit]),
    ]
    texts = exact_texts([subject.columns[name] for name in grouped], "checked")
    what = subject.table.parts[-1] if subject.table.parts else "the source"
    refuse_blank_ends(workspace, subject.table, texts, what)
    return table_frames(subject, models, numbered=numbered)


def table_frames(subject: Subject, models: Sequence[PrivacyModel], *, numbered: bool = False) -> Frames:
    """Where the classes of a table are counted from, once :func:`examine` has taken it.

    Args:
        subject: the table.
        models: the requirements whose attributes to look at.
        numbered: the classes' columns are not asked for, and a number in their place is faster. It stands for a
            class within one frame, so it is given where there is one only, and that is sorted by classes.
    """
    columns, unit = subject.columns, subject.unit
    keys = [exact_value(columns[name], "checked") for name in subject.quasi_identifiers]
    key_names = [f"q{index}" for index, _ in enumerate(keys)]
    shared: dict[str, Any] = {
        "table": subject.table,
        "keys": keys,
        "key_names": key_names,
        "unit": None if unit is None else exact_value(columns[unit], "checked"),
        "where": _marked(subject),
    }
    attributes = dict.fromkeys(model.attribute for model in models if model.attribute is not None)
    values = {}
    numbered = numbered and unit is None and bool(keys) and is_alone(models) and any(map(_needs_order, models))
    spans = any(model.spans for model in models)
    for name in attributes:
        facts, value = subject.facts[name], exact_value(columns[name], "checked")
        marks = list(facts.marks(value).items())
        form = "evaluate/examine/numbered" if numbered else "evaluate/examine/rows"
        values[name] = render(
            form, value=value, compared=name in subject.references, facts=marks, spans=spans, **shared
        )
    named: dict[str, Sequence[str]] = {name: subject.facts[name].all for name in attributes}
    for model in models:
        if model.frame is not None and model.attribute is None:
            values[model.frame] = subject.populations[model.frame]
            named[model.frame] = model.needs_facts
    return Frames(
        base=render("evaluate/examine/rows", value=None, **shared),
        values=values,
        counting="rows" if unit is None else "unit",
        keys=[identifier(name) for name in (["class_number"] if numbered else key_names)],
        facts=named,
        group_levels={name: subject.facts[name].group_levels for name in attributes},
        references=subject.references,
        compared={name: subject.facts[name].of_reference for name in attributes if name in subject.references},
        numbered=numbered and ("in order" if spans else True),
        single=True,
    )


def _needs_order(model: PrivacyModel) -> bool:
    """Whether its measure looks at each value beside all those of the class."""
    return model.needs_totals or model.needs_positions or model.spans or model.hierarchy is not None
