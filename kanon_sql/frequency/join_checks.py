"""Tables that are matched with others: rows that a join drops look like rows without a match, and must stop the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kanon_sql.engines import Workspace, refuse_incomplete
from kanon_sql.hierarchies import Lookup
from kanon_sql.sql import Relation

__all__ = ["Side", "refuse_lost", "refuse_lost_rows"]


@dataclass(frozen=True)
class Side:
    """A table whose vectors are matched with those of others.

    That a row matches no person is a result. That its own values are not found is a defect: so each value is looked up
    among the different values of its own column, and the rows whose values are all found are the rows of the table.

    Attributes:
        table: the table.
        vectors: its vectors.
        keys: their columns.
        lookups: column -> the lookup table of its values, in which each has to be found once.
        weighted: a vector stands for ``row_count`` rows of the table; else for one.
    """

    table: Relation
    vectors: Relation
    keys: Sequence[str]
    lookups: Mapping[str, Lookup] = field(default_factory=dict)
    weighted: bool = True


def refuse_lost(statement: str, counts: Sequence[Any]) -> None:
    """Stop where a side does not find all of its rows again.

    Args:
        statement: the template that includes ``frequency/join_checks``.
        counts: what that returns: per side its rows, and those that were found.

    Raises:
        InternalError: rows were lost, or found several times.
    """
    for there, found in zip(counts[::2], counts[1::2], strict=True):
        refuse_incomplete(statement, found, there)


def refuse_lost_rows(workspace: Workspace, sides: Sequence[Side]) -> None:
    """The same in a statement of its own, where those that match the sides return many rows or none.

    Raises:
        InternalError: rows were lost, or found several times.
    """
    refuse_lost("frequency/all_found", workspace.row("frequency/all_found", sides=sides)[1:])
