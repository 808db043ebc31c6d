"""Released rows beside the values that their labels stand for, with those of the rows above them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.engines import Workspace
from kanon_sql.relations.members import Member, States, unchanged_columns
from kanon_sql.relations.outcome import TableOutcome
from kanon_sql.release import Labelled
from kanon_sql.spec import PERSON

__all__ = ["RowsWithValues", "rows_with_values"]


@dataclass(frozen=True)
class RowsWithValues:
    """The rows of one table, each with those above it.

    Attributes:
        rows: them, with names of their own; the unit is the person.
        unchanged: the columns that are released as they are.
        coarse: the quasi-identifiers that have lost detail in some row.
        own: those of the table itself, of both.
        shown: column -> what it is called: the table in the spec, and the column.
        count: how many rows there are.
    """

    rows: Labelled
    unchanged: Sequence[str]
    coarse: Sequence[str]
    own: Collection[str]
    shown: Mapping[str, str]
    count: int


@dataclass(frozen=True)
class _Names:
    """What the columns of one table are called beside those of others.

    Attributes:
        member: the table.
        number: its place among all.
    """

    member: Member
    number: int

    @property
    def labels(self) -> list[str]:
        """The quasi-identifiers."""
        return [f"label{self.number}_{place}" for place, _ in enumerate(self.member.columns)]

    @property
    def unchanged(self) -> list[str]:
        """The columns that are released as they are."""
        return [f"kept{self.number}_{place}" for place, _ in enumerate(unchanged_columns(self.member.placed))]

    @property
    def comparable(self) -> list[str]:
        """Those of them whose values have one text each."""
        names = zip(self.unchanged, unchanged_columns(self.member.placed), strict=True)
        return [own for own, name in names if self.member.types[name].kind != "ambiguous"]

    def coarse(self, outcome: TableOutcome) -> list[str]:
        """The quasi-identifiers that have lost detail in some row."""
        names = zip(self.labels, self.member.columns, strict=True)
        return [own for own, column in names if any(level > 0 for level in outcome.levels[column.name])]

    @property
    def shown(self) -> dict[str, str]:
        """Column -> the table in the spec, and the column."""
        names = [column.name for column in self.member.columns]
        own = [*self.labels, *self.unchanged]
        return {
            column: f"{self.member.name}.{name}"
            for column, name in zip(own, [*names, *unchanged_columns(self.member.placed)], strict=True)
        }

    def all(self) -> list[str]:
        """All columns that hold something of the table."""
        return [*self.labels, *map(value_of, self.labels), *map(finer_of, self.labels), *self.unchanged]


def value_of(label: str) -> str:
    """The column with the values of a quasi-identifier."""
    return f"{label}_value"


def finer_of(label: str) -> str:
    """The column with the labels of a quasi-identifier, one level finer."""
    return f"{label}_finer"


def rows_with_values(
    workspace: Workspace, members: Mapping[str, Member], states: States, counted: Mapping[str, TableOutcome]
) -> Iterator[RowsWithValues]:
    """The rows of each table in which a column that is released as it is may reveal a quasi-identifier.

    Args:
        workspace: where.
        members: the tables, each after its parent.
        states: the rows that stay, with their levels.
        counted: what became of them.
    """
    names = {name: _Names(member, number) for number, (name, member) in enumerate(members.items())}
    tables = {}
    for name, member in members.items():
        path = _path(member)
        above = [names[item.name] for item in path[:-1]]
        on_path = [*above, names[name]]
        unchanged = [column for item in on_path for column in item.comparable]
        coarse = [column for item in on_path for column in item.coarse(counted[item.member.name])]
        below = any(item.parent is not None and item.parent.name == name for item in members.values())
        if not below and not (unchanged and coarse):
            continue
        tables[name] = workspace.table(f"with_values{names[name].number}")
        workspace.execute(
            "relations/rows_with_values",
            target=tables[name],
            rows=member.rows,
            state=states[name],
            is_person=name == PERSON,
            parent=None if member.parent is None else tables[member.parent.name],
            inherited=[column for item in above for column in item.all()],
            items=[
                {**item, "label": label, "value": value_of(label), "finer": finer_of(label)}
                for item, label in zip(member.items(), names[name].labels, strict=True)
            ],
            unchanged=names[name].unchanged,
        )
        if not (unchanged and coarse):
            continue
        rows = Labelled(
            table=tables[name],
            columns=workspace.columns(tables[name]),
            labels=[label for item in on_path for label in item.labels],
            values={label: value_of(label) for label in coarse},
            finer={label: finer_of(label) for label in coarse},
            unit="person",
        )
        shown = {column: text for item in on_path for column, text in item.shown.items()}
        own = {*names[name].labels, *names[name].unchanged}
        yield RowsWithValues(rows, unchanged, coarse, own, shown, counted[name].released)


def _path(member: Member) -> list[Member]:
    """A table after those above it."""
    return [*(_path(member.parent) if member.parent is not None else []), member]
