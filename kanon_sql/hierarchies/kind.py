"""What a kind of hierarchy does in a database: its labels as SQL, what its levels are called, and what it refuses."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.engines import Column, Workspace
from kanon_sql.spec import Hierarchy, Origin, QuasiIdentifier
from kanon_sql.sql import Relation, Sql, render

__all__ = [
    "AS_IN_SOURCE",
    "CHOSEN_INTERVALS",
    "LONGEST",
    "RANGES",
    "TEXT",
    "WITHHELD",
    "Kind",
    "clipped",
    "kind_of",
    "level_names",
    "rule_labels",
    "value_text",
]

AS_IN_SOURCE = "as in the source"

LONGEST = 40
"""Characters of a label or an expression that are shown."""

TEXT = Column("", "VARCHAR", "text")


class Kind(Hierarchy):
    """A kind of hierarchy, which a file of :mod:`kanon_sql.hierarchies.kinds` declares.

    A rule says its labels as SQL (:meth:`labels_above`). What is given as rows says them (:meth:`listed_rows`), or
    names the table that has them.
    """

    def labels_above(self, column: Column, where: str) -> list[Sql]:
        """The label expressions of a rule over ``value``, level 1 first, the top left out.

        Args:
            column: the column that it is for.
            where: what to call it in messages.

        Raises:
            SpecError: the rule does not fit the column's type.
        """
        return []

    def refuse_values(self, workspace: Workspace, where: str, column: Column, raw: Relation, raw_column: str) -> None:
        """Refuse values that a rule has no label for.

        Args:
            workspace: where they are.
            where: what to call the hierarchy in messages.
            column: the source's column.
            raw: the raw frequency table.
            raw_column: the column's name there.

        Raises:
            HierarchyError: there are some; they are counted, not shown.
        """

    def listed_rows(self, spec: Origin, *, several: bool = False) -> Sequence[tuple[str, ...]] | None:
        """The rows of a hierarchy that lists its values: the value, then a label per level, as they are written.

        None where a rule makes the labels, or a table in the database holds them.

        Args:
            spec: where a file is.
            several: a value may have several rows.

        Raises:
            HierarchyError: a file holds no hierarchy.
        """
        return None

    def bound(self, column: Column) -> int | None:
        """Values have a label between the negative and the positive of this; None where all have one."""
        return None

    def typed(self, values: Sequence[str], where: str) -> Column:
        """The type that values have to have which are given as text, without a table.

        Args:
            values: they.
            where: what to call the hierarchy in messages.

        Raises:
            SpecError: some are not of that type; they are counted, not shown.
        """
        return TEXT

    @property
    def digits(self) -> int:
        """The digits after the point that every number in a label can be written with."""
        return 0

    @property
    def value_name(self) -> str:
        """What level 0 is called."""
        return AS_IN_SOURCE

    def level_name(self, level: int, columns: Sequence[str]) -> str:
        """What a level above 0 and below the top is called; made of no value of the data.

        Args:
            level: it.
            columns: of a hierarchy table, that of the values first; none where they are not known.
        """
        return f"level {level}"

    def meaning(self, level: int) -> str | None:
        """What the labels of a level above 0 are, in words for a data dictionary; None for groups of a list."""
        return None

    def labels_in_spec(self, level: int) -> tuple[str, ...]:
        """Labels above level 0 that the spec itself holds, in its order."""
        return ()


def kind_of(quasi_identifier: QuasiIdentifier) -> Kind:
    """The hierarchy of a quasi-identifier, as what it does in a database."""
    found = quasi_identifier.hierarchy
    assert isinstance(found, Kind), "what is declared as a hierarchy is a Kind"
    return found


def clipped(text: str) -> str:
    """A label or an expression, as much of it as is shown."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


WITHHELD = "withheld"

CHOSEN_INTERVALS = (AS_IN_SOURCE, "intervals that the search chose", WITHHELD)
"""The levels of a column whose intervals an algorithm chose."""

RANGES = (AS_IN_SOURCE, "ranges of the classes", WITHHELD)
"""The levels of a column that is released as ranges of its values."""


def level_names(hierarchy: QuasiIdentifier, height: int, columns: Sequence[str] = ()) -> tuple[str, ...]:
    """The name of every level, level 0 first and the top, which is ``withheld``, last; made of no value.

    A level that a rule makes is named by the rule. A tree stands in the spec, and its first labels name its levels; a
    hierarchy table names them by its columns. A file has no such names, and its labels may be the data's own
    (``hierarchy --output`` writes those of a rule), so its levels are named by their columns.

    Args:
        hierarchy: as the spec writes it.
        height: the level of the top.
        columns: of a hierarchy table, that of the values first; none where they are not known.

    Examples:
        >>> level_names(QuasiIdentifier(intervals=(5, 10)), 3)
        ('as in the source', 'bands of 5', 'bands of 10', 'withheld')
    """
    rule = kind_of(hierarchy)
    names = (rule.level_name(level, columns) if level else rule.value_name for level in range(height))
    return (*names, WITHHELD)


def rule_labels(column: Column, quasi_identifier: QuasiIdentifier, where: str | None = None) -> list[Sql]:
    """The label expressions of a rule-based hierarchy, level 0 first, the top left out.

    Raises:
        SpecError: the rule does not fit the column's kind.
    """
    where = where or f"quasi_identifiers.{column.name}"
    return [value_text(column, Sql("value")), *kind_of(quasi_identifier).labels_above(column, where)]


def value_text(column: Column, value: Sql) -> Sql:
    """A value of a column as text, the same on every engine, and of equal values the same."""
    if column.kind == "moment":
        return render("hierarchies/levels/time", written=render("hierarchies/levels/moment", value=value), zone="+00")
    written = render(
        "hierarchies/levels/value",
        value=value,
        is_float=column.kind == "float",
        scale=column.scale,
        keeps_digits=column.varies == "digits",
    )
    return render("hierarchies/levels/time", written=written, zone=None) if column.kind == "timestamp" else written
