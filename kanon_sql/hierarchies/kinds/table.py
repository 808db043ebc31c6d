"""A hierarchy in a table of the database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field

from kanon_sql.hierarchies.kind import Kind
from kanon_sql.registers import HIERARCHIES
from kanon_sql.spec import format_table_name
from kanon_sql.spec.fields import TableName

__all__ = ["TableHierarchy"]


@HIERARCHIES.declare
class TableHierarchy(Kind):
    """A table in the database: the value in its first column, a column per level after it."""

    name: ClassVar[str] = "table"
    place: ClassVar[int] = 6
    drawn: ClassVar[bool] = True
    takes_parents: ClassVar[bool] = True
    never_grows: ClassVar[str | None] = (
        "a hierarchy table may change unnoticed between two runs; with a state, use a file, a tree or a rule"
    )
    never_in_ledger: ClassVar[str | None] = (
        "a hierarchy table may change unnoticed between two releases; with a ledger, use a file, a tree or a rule"
    )
    never_in_view: ClassVar[str | None] = (
        "a change of the hierarchy table would change the view unnoticed; use a file or a tree"
    )
    never_among_parties: ClassVar[str | None] = (
        "a hierarchy in a table may differ from party to party; give it as a file or a tree"
    )
    never_in_script: ClassVar[str | None] = (
        "the levels of a hierarchy table are not known without a connection; render needs rules, a file or a tree"
    )
    needs_database: ClassVar[str | None] = "its rows are in the database; leave --values out and name the database"

    table: TableName = Field(description="A hierarchy table in the database: the value, then a column per level.")

    @property
    def height(self) -> None:
        """Only the table says it."""

    def to_dict(self) -> dict[str, Any]:
        """As a spec has it."""
        return {"table": format_table_name(self.table)}

    def level_name(self, level: int, columns: Sequence[str]) -> str:
        """Its column."""
        return columns[level] if level < len(columns) else f"column {level + 1} of the table"
