"""Examine a table as it stands: group it by its quasi-identifiers, whoever wrote it.

The same examination verifies a release before it is published and answers ``check``. It
reads the table itself, never the frequency sets that the search used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.blanks import refuse_blank_ends
from kanon_sql.classes import Frames, achieved_columns, flagged_classes
from kanon_sql.engines.base import Column, Row
from kanon_sql.frequency import exact_texts, exact_value
from kanon_sql.privacy import PrivacyModel
from kanon_sql.sql.templates import render
from kanon_sql.sql.text import Relation, Sql, identifier
from kanon_sql.workspace import Workspace

__all__ = ["Achieved", "Examination", "examine", "read_examination", "reference_in", "table_frames"]


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
class Examination:
    """The equivalence classes of a table.

    Attributes:
        rows: rows in all classes.
        classes: how many classes there are.
        smallest, largest: rows in the smallest and the largest class; None without a class.
        violating_rows: rows in classes that violate some requirement.
        achieved: per requirement.
    """

    rows: int
    classes: int
    smallest: int | None
    largest: int | None
    violating_rows: int
    achieved: Sequence[Achieved]

    @property
    def passed(self) -> bool:
        """Whether every class satisfies every requirement. A table without rows does."""
        return not any(item.violating_classes for item in self.achieved)

    def classes_dict(self) -> dict[str, int | float | None]:
        """The classes as they stand in results."""
        average = self.rows / self.classes if self.classes else None
        return {"count": self.classes, "smallest": self.smallest, "average": average, "largest": self.largest}


def read_examination(row: Row, models: Sequence[PrivacyModel]) -> Examination:
    """The row of ``evaluate/achieved`` as an examination."""
    classes, _, rows, violating_rows, smallest, largest = row[:6]
    if not rows:  # a table without rows: one empty group at most
        empty = [Achieved(model, model.achieved(None, False), 0, 0) for model in models]
        return Examination(0, 0, None, None, 0, empty)
    achieved = []
    for index, model in enumerate(models):
        worst, unbounded, violating_classes, violating = row[6 + 4 * index : 10 + 4 * index]
        value = None if worst is None else float(worst)
        achieved.append(Achieved(model, model.achieved(value, bool(unbounded)), int(violating_classes), int(violating)))
    return Examination(int(rows), int(classes), int(smallest), int(largest), int(violating_rows), achieved)


def reference_in(table: Relation, column: Column, unit: Column | None) -> Sql:
    """A FROM form of a sensitive attribute's distribution in a table."""
    return render(
        "check/reference",
        table=table,
        value=exact_value(column, "original"),
        unit=None if unit is None else exact_value(unit, "original"),
    )


def table_frames(
    table: Relation,
    columns: Mapping[str, Column],
    quasi_identifiers: Sequence[str],
    attributes: Sequence[str],
    references: Mapping[str, Sql],
    unit: str | None,
    mark: tuple[str, int] | None = None,
) -> Frames:
    """The classes of a written table, to count from.

    Args:
        table: the table.
        columns: its columns by name.
        quasi_identifiers: the columns that classes are grouped by.
        attributes: the sensitive attributes to look at.
        references: per attribute that t-closeness looks at: the reference distribution.
        unit: count distinct values of this column instead of rows.
        mark: count only rows where this column has this number.
    """
    keys = [exact_value(columns[name], "checked") for name in quasi_identifiers]
    key_names = [f"q{index}" for index, _ in enumerate(keys)]
    shared: dict[str, Any] = {
        "table": table,
        "keys": keys,
        "key_names": key_names,
        "unit": None if unit is None else exact_value(columns[unit], "checked"),
        "where": None if mark is None else render("check/marked", column=mark[0], value=mark[1]),
    }
    return Frames(
        base=render("check/rows", value=None, reference=None, **shared),
        values={
            name: render(
                "check/rows",
                value=exact_value(columns[name], "checked"),
                reference=references.get(name),
                **shared,
            )
            for name in attributes
        },
        counting="rows" if unit is None else "unit",
        keys=[identifier(name) for name in key_names],
    )


def examine(
    workspace: Workspace,
    table: Relation,
    columns: Mapping[str, Column],
    quasi_identifiers: Sequence[str],
    models: Sequence[PrivacyModel],
    references: Mapping[str, Sql],
    unit: str | None,
    mark: tuple[str, int] | None = None,
) -> Examination:
    """Group a table by its quasi-identifiers and measure every requirement. One statement, no DDL.

    Args:
        workspace: where to run it.
        table: the table.
        columns: its columns by name.
        quasi_identifiers: the columns that classes are grouped by.
        models: the requirements.
        references: per sensitive attribute that t-closeness looks at: the reference distribution.
        unit: count distinct values of this column instead of rows.
        mark: examine only rows where this column has this number.
    """
    attributes = list(dict.fromkeys(model.attribute for model in models if model.attribute is not None))
    grouped = [*quasi_identifiers, *attributes, *([] if unit is None else [unit])]
    texts = exact_texts([columns[name] for name in grouped], "checked")
    refuse_blank_ends(workspace, table, texts, table.parts[-1] if table.parts else "the source")
    frames = table_frames(table, columns, quasi_identifiers, attributes, references, unit, mark)
    row = workspace.row(
        "evaluate/achieved",
        flagged=flagged_classes(frames, models),
        models=achieved_columns(models),
        kept_only=False,
    )
    return read_examination(row, models)
