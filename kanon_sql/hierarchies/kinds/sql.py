"""Labels by the user's own SQL, an expression per level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, PrivateAttr

from kanon_sql.engines import Column
from kanon_sql.hierarchies.kind import Kind, clipped
from kanon_sql.registers import HIERARCHIES
from kanon_sql.spec import names_release_year, redact_sql
from kanon_sql.spec.checks import items, text
from kanon_sql.sql import Sql, level_expression

__all__ = ["SqlHierarchy"]


@HIERARCHIES.declare
class SqlHierarchy(Kind):
    """The user's own expression per level, over the value ``x``."""

    name: ClassVar[str] = "sql"
    place: ClassVar[int] = 8
    drawn: ClassVar[bool] = True
    holds_labels: ClassVar[bool] = True
    never_in_view: ClassVar[str | None] = (
        "an expression can fail on a later row, and its error may quote the value; use a rule"
    )
    needs_database: ClassVar[str | None] = (
        "the label that an SQL expression gives depends on the column's type; leave --values out and name the database"
    )

    sql: Annotated[tuple[str, ...], items("SQL expressions", text("an SQL expression"), least=1)] = Field(
        description="An SQL expression per level over the value x."
    )

    _year: int | None = PrivateAttr(default=None)

    @property
    def height(self) -> int:
        """A level per expression, and the top."""
        return 1 + len(self.sql)

    @property
    def names_release_year(self) -> bool:
        """Whether an expression names the year of the release."""
        return names_release_year(self.sql)

    @property
    def year(self) -> int | None:
        """The year that the name stands for."""
        return self._year

    def in_year(self, year: int) -> Self:
        """The same, for a release of this year."""
        found = self.model_copy()
        found._year = year
        return found

    def to_dict(self) -> dict[str, Any]:
        """As a spec has it."""
        return {"sql": list(self.sql)}

    def redacted(self) -> dict[str, Any]:
        """Without the literals."""
        return {"sql": [redact_sql(expression) for expression in self.sql]}

    def labels_above(self, column: Column, where: str) -> list[Sql]:
        """The expressions, checked."""
        return [
            level_expression(written, f"{where}.sql[{position}]", self.year)
            for position, written in enumerate(self.sql)
        ]

    def level_name(self, level: int, columns: Sequence[str]) -> str:
        """The expression without its literals."""
        return f"sql {level}: {clipped(' '.join(redact_sql(self.sql[level - 1]).split()))}"
