"""Rare categories as one label: top coding of what has no order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field

from kanon_sql.hierarchies.kind import Kind
from kanon_sql.registers import HIERARCHIES
from kanon_sql.spec import BY_COUNTS, Rare
from kanon_sql.spec.checks import Check

__all__ = ["RareHierarchy"]

_FILE = "write the labels into a file (kanon-sql hierarchy --output) and name it: {file: ...}"


@HIERARCHIES.declare
class RareHierarchy(Kind):
    """The value; then one label for the rarest values, enough of them not to be rare together; then ``*``."""

    name: ClassVar[str] = "rare"
    place: ClassVar[int] = 7
    fixed_height: ClassVar[bool] = True
    by_counts: ClassVar[bool] = True
    in_spec: ClassVar[bool] = True
    never_dimension: ClassVar[str | None] = f"{BY_COUNTS}; {_FILE}, or let protection: collapsing merge small cells"
    never_grows: ClassVar[str | None] = f"{BY_COUNTS}; with a state, {_FILE}"
    never_in_ledger: ClassVar[str | None] = (
        f"{BY_COUNTS}, so two releases would show which values became rare; with a ledger, {_FILE}"
    )
    never_in_view: ClassVar[str | None] = f"{BY_COUNTS}; {_FILE}"
    never_among_parties: ClassVar[str | None] = f"{BY_COUNTS}, and each party has others; {_FILE}"
    never_in_script: ClassVar[str | None] = f"{BY_COUNTS}, which a script does not know; {_FILE}"
    needs_database: ClassVar[str | None] = "it counts rows; leave --values out and name the database"

    rare: Annotated[Rare, Check(Rare.model_validate)] = Field(
        description="Values that fewer than k rows or persons have become one label, such as {other: Other}."
    )

    @property
    def height(self) -> int:
        """The value, the merged values, the top."""
        return 2

    def to_dict(self) -> dict[str, Any]:
        """As a spec has it."""
        return {"rare": self.rare.to_dict()}

    def level_name(self, level: int, columns: Sequence[str]) -> str:
        """What is merged."""
        return "rare values merged"

    def meaning(self, level: int) -> str:
        """The same for a reader of a release."""
        return "the value, or one label for all rare values"

    def labels_in_spec(self, level: int) -> tuple[str, ...]:
        """The label of the merged values."""
        return (self.rare.other,) if level == 1 else ()
