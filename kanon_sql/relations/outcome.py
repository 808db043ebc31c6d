"""What became of the rows and columns of each table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.engines import Workspace
from kanon_sql.relations.members import Member, States
from kanon_sql.spec import PERSON
from kanon_sql.sql import Relation

__all__ = ["TableOutcome", "constant_states", "outcomes"]


@dataclass(frozen=True)
class TableOutcome:
    """One table.

    Attributes:
        rows: its rows in the source.
        released: those that are released.
        losses: column -> what a released row loses on average, from 0 to 1.
        levels: column -> level -> rows that are released on it.
        sampled_out: rows that were left out by random choice.
    """

    rows: int
    released: int
    losses: Mapping[str, float]
    levels: Mapping[str, Mapping[int, int]]
    sampled_out: int = 0

    @property
    def loss(self) -> float:
        """The mean loss of the columns, where a row that is left out loses all; 0 without columns or rows."""
        if not self.losses or not self.rows:
            return 0.0
        kept = sum(self.losses.values()) / len(self.losses) * self.released
        return (kept + self.rows - self.released) / self.rows


def constant_states(
    workspace: Workspace,
    members: Mapping[str, Member],
    nodes: Mapping[str, Sequence[int]],
    persons: Relation,
) -> dict[str, Relation]:
    """The rows of some persons, all at the levels of a node.

    Args:
        workspace: where.
        members: the tables.
        nodes: table -> levels, for the tables that are wanted.
        persons: who stays; a scratch table with ``person``.
    """
    found = {}
    for name, node in nodes.items():
        found[name] = workspace.table(f"constant{list(members).index(name)}")
        workspace.execute(
            "relations/state",
            target=found[name],
            coded=members[name].coded,
            classes=persons,
            levels=list(node),
            is_child=name != PERSON,
        )
    return found


def outcomes(workspace: Workspace, members: Mapping[str, Member], states: States) -> dict[str, TableOutcome]:
    """Count what the rows that stay lose, table by table."""
    return {name: _outcome(workspace, member, states[name]) for name, member in members.items()}


def _outcome(workspace: Workspace, member: Member, state: Relation) -> TableOutcome:
    found = workspace.row("relations/losses", state=state, rows=member.rows, items=member.items())
    released = int(found[0])
    levels: dict[str, dict[int, int]] = {column.name: {} for column in member.columns}
    if member.columns:
        statements = [
            workspace.compiler.statement(
                "relations/level_counts", state=state, number_literal=column.number, level=f"level{column.number}"
            )
            for column in member.columns
        ]
        most = sum(len(column.levels) for column in member.columns)
        for number, level, rows in workspace.query(workspace.compiler.union(statements), most):
            levels[member.columns[int(number)].name][int(level)] = int(rows)
    losses = {
        column.name: round(float(value) / released, 9) if released else 0.0
        for column, value in zip(member.columns, found[1:], strict=True)
    }
    return TableOutcome(
        member.count + member.sampled_out,
        released,
        losses,
        {name: dict(sorted(item.items())) for name, item in levels.items()},
        member.sampled_out,
    )
