"""The tables of a refresh: the rows that it takes, which of them are released, and what a state remembers of them.

Whatever a refresh adds is a release by itself: its rows were never released before, and its classes satisfy the
requirements without those that stand. A reader who subtracts one version from the next finds such a class, or none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import UnsupportedError, VerificationError
from kanon_sql.hierarchies import exact_texts, exact_value
from kanon_sql.release.choice import Choice
from kanon_sql.release.rows_of_run import NewRows
from kanon_sql.release.state import State
from kanon_sql.release.write_source import MARK, free_name, outputs_of, write_from_source
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation, Sql, render

__all__ = [
    "Day",
    "JudgedRows",
    "day_of",
    "judged_rows",
    "kept_columns",
    "protects_values",
    "refuse_unequal",
    "remember",
    "unreleased_rows",
    "wait",
]

RELEASED, LEFT = 1, 2
"""How a person is known: released before; or with rows that have left the release since."""


@dataclass(frozen=True)
class Day:
    """The rows that a run may release.

    Attributes:
        table: them, under the source's names.
        person: the column of the persons where some are replaced by no person; else None.
        known: them and the rows that are held, with how the person of each is known; None where no persons are
            protected.
        known_as: the column there that says how.
        held_from: rows are held from this value of it on.
        held: how many rows are held, since whose they are is known.
    """

    table: Relation
    person: str | None = None
    known: Relation | None = None
    known_as: str | None = None
    held_from: int = LEFT
    held: int = 0


@dataclass(frozen=True)
class JudgedRows:
    """The rows of a day, each with its labels and whether it is left out.

    Attributes:
        table: columns ``cN``, ``lN`` and the mark.
        left_out: the name of the mark: 1 for what is left out.
    """

    table: Relation
    left_out: str


def kept_columns(spec: Spec, columns: Mapping[str, Column]) -> tuple[str, ...]:
    """The source's columns that a state keeps, in the source's order.

    Raises:
        UnsupportedError: values of one of them cannot be distinguished, or grouped.
    """
    named = {*spec.quasi_identifiers, *spec.sensitive, *spec.keep, *([] if spec.unit is None else [spec.unit])}
    for name in named & set(columns):
        exact_value(columns[name], "kanon_source")  # which refuses what has no text of its own
        if columns[name].type.upper() in ("JSON", "XML"):
            raise UnsupportedError(
                f"{name}: a state compares values, and values of type {columns[name].type} cannot be compared; "
                "cast the column to text in a view"
            )
    return tuple(name for name in columns if name in named)


def day_of(
    workspace: Workspace,
    spec: Spec,
    state: State,
    taken: NewRows | None,
    columns: Mapping[str, Column],
    waiting: Relation | None,
    changes: Relation | None,
) -> Day:
    """What was taken, together with what waits, without rows of persons who stay as they are known.

    Args:
        workspace: where.
        spec: what is released.
        state: so far.
        taken: the new rows, if there are any.
        columns: the source's columns.
        waiting: the rows that wait, where they are not all of the state's.
        changes: what becomes of rows that were released, where some leave now.
    """
    if taken is not None and spec.unit is None and waiting is None and not state.rows["waiting"]:
        return Day(taken.table)  # a copy of it would cost a seventh of all that a day costs
    known_as = None if spec.unit is None else free_name("kanon_known", columns)
    target = workspace.table("day")
    remembered = changed = None
    if spec.unit is not None:
        stored = _called(columns[spec.unit], f"c{state.position[spec.unit]}")
        remembered, changed = (exact_value(stored, table) for table in ("published", "changes"))
    workspace.execute(
        "release/state/day",
        target=target,
        names=list(state.columns),
        taken=None if taken is None else taken.table,
        waiting=waiting or state.waiting,
        published=state.published,
        person=None if spec.unit is None else exact_value(columns[spec.unit], "rows_now"),
        remembered=remembered,
        changes=changes,
        changed=changed,
        known=known_as,
    )
    if spec.unit is None:
        return Day(target)
    person = free_name("kanon_person", columns)
    held_from = RELEASED if protects_values(spec) else LEFT
    candidates = workspace.table("candidates")
    workspace.execute(
        "release/state/candidates",
        target=candidates,
        rows=target,
        others=[name for name in state.columns if name != spec.unit],
        unit=spec.unit,
        person=person,
        known=known_as,
        held_from=held_from,
    )
    (held,) = workspace.row("release/state/held", rows=target, known=known_as, held_from=held_from)
    return Day(candidates, person, target, known_as, held_from, int(held))


def _called(column: Column, name: str) -> Column:
    return replace(column, name=name)


def protects_values(spec: Spec) -> bool:
    """Whether a requirement is about the values of a sensitive attribute."""
    return any(requirement.attribute is not None for requirement in spec.privacy)


def judged_rows(workspace: Workspace, choice: Choice, columns: Sequence[str], person: str | None) -> JudgedRows:
    """Every row of the day with its labels, and whether the chosen node leaves it out.

    Args:
        workspace: that of the search, whose lookup tables are still there.
        choice: what is released of them.
        columns: the columns that a state keeps.
        person: the column that says whose a row is, where the unit's own does not; else None.
    """
    target, left_out = workspace.table("judged"), free_name(MARK, choice.columns)
    unit = choice.spec.unit
    outputs: list[dict[str, Any]] = [
        {
            "name": f"c{number}",
            "lookup": None,
            "level": None,
            "value": render("release/column", name=person if name == unit and person is not None else name),
        }
        for number, name in enumerate(columns)
    ]
    outputs += [
        {"name": f"l{index}", "lookup": index, "level": level, "value": None}
        for index, level in enumerate(choice.levels)
    ]
    write_from_source(workspace, choice, target, outputs, {"masked": left_out}, temporary=True)
    return JudgedRows(target, left_out)


def unreleased_rows(workspace: Workspace, day: Day, columns: Sequence[str], unit: str | None) -> JudgedRows:
    """The rows of a day of which none is released.

    Args:
        workspace: where.
        day: them.
        columns: the columns that a state keeps.
        unit: the column of the persons, if there is one.
    """
    target = workspace.table("judged")
    names = [day.person if name == unit and day.person is not None else name for name in columns]
    workspace.execute(
        "release/state/unreleased",
        target=target,
        rows=day.table,
        values=[render("release/column", name=name) for name in names],
        left_out=MARK,
    )
    return JudgedRows(target, MARK)


def refuse_unequal(
    workspace: Workspace, choice: Choice, judged: JudgedRows, names: Sequence[str], written: Relation, rows: int
) -> None:
    """See that a state remembers the very rows that were written, each as often: labels and all other values.

    Args:
        workspace: where.
        choice: what was released.
        judged: the day's rows.
        names: the columns that a state keeps.
        written: the verified table.
        rows: how many rows it has.

    Raises:
        VerificationError: it does not.
    """
    columns, labels = workspace.columns(written), list(choice.spec.quasi_identifiers)
    others = [item["name"] for item in outputs_of(choice) if item["lookup"] is None]
    numbers = {name: number for number, name in enumerate(names)}
    remembered = [exact_value(_called(columns[name], f"l{index}"), "judged") for index, name in enumerate(labels)]
    remembered += [exact_value(_called(columns[name], f"c{numbers[name]}"), "judged") for name in others]
    standing = [exact_value(columns[name], "written") for name in (*labels, *others)]
    unequal, found = workspace.row(
        "release/state/unequal",
        names=[Sql(f"v{number}") for number, _ in enumerate(standing)],
        remembered=remembered,
        standing=standing,
        judged=judged.table,
        left_out=judged.left_out,
        written=written,
    )
    if int(unequal) or int(found) != rows:
        raise VerificationError(
            f"verification: {int(unequal)} distinct rows were written more or less often than the state would "
            "record them (did the source change while it was read?); nothing was published"
        )


def remember(
    workspace: Workspace,
    spec: Spec,
    columns: Mapping[str, Column],
    names: Sequence[str],
    judged: JudgedRows | None,
    batch: int,
    *,
    into: Relation,
    insert: bool = False,
    old: Relation | None = None,
    changes: Relation | None = None,
) -> None:
    """Write what is released of a day into a state's table: a new one, with an old one's rows or without, or in place.

    Args:
        workspace: where.
        spec: what is released.
        columns: the source's columns.
        names: those that a state keeps.
        judged: the day's rows; None where none of them is released.
        batch: its number.
        into: the table.
        insert: it is there already.
        old: whose rows are taken over.
        changes: what else has become of rows that were released.
    """
    if judged is None and old is None and changes is None:
        return
    stored = [_called(columns[name], f"c{number}") for number, name in enumerate(names)]
    workspace.execute(
        "release/state/published",
        target=into,
        names=list(names),
        labelled=list(spec.quasi_identifiers),
        insert=insert,
        old=old,
        changes=changes,
        judged=None if judged is None else judged.table,
        left_out=None if judged is None else judged.left_out,
        batch=batch,
        exact=exact_texts(stored, "judged"),
    )


def wait(
    workspace: Workspace, names: Sequence[str], judged: JudgedRows, day: Day, *, into: Relation, insert: bool = False
) -> None:
    """Write what is not released of a day into a state's table, as :func:`remember` does with the rest."""
    workspace.execute(
        "release/state/waiting",
        target=into,
        names=list(names),
        insert=insert,
        judged=judged.table,
        left_out=judged.left_out,
        held=day.known,
        known=day.known_as,
        held_from=day.held_from,
    )
