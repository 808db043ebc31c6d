"""What ``hierarchy`` found out: levels, coverage, and what is wrong, as values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kanon_sql.spec import Displayed
from kanon_sql.verbs.result import Cost

__all__ = ["LISTED", "AttributeHierarchy", "HierarchyResult", "Level", "Role"]

LISTED = 8
"""This many labels of a level are shown, of those that the spec itself holds."""

Role = Literal["quasi-identifier", "sensitive attribute"]


@dataclass(frozen=True)
class Level:
    """One level of a hierarchy.

    Attributes:
        level: its number; 0 is the value.
        by: how the spec makes its labels: the level's name, as in results.
        labels: how many different labels the data uses.
        fewest_rows: rows of the rarest of them; None without a row, or where values were given and no rows.
        in_spec: labels that stand in the spec itself, in its order; at most :data:`LISTED`.
    """

    level: int
    by: str
    labels: int
    fewest_rows: int | None
    in_spec: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """JSON-compatible."""
        return {
            "level": self.level,
            "by": self.by,
            "labels": self.labels,
            "fewest_rows": self.fewest_rows,
            "labels_in_spec": list(self.in_spec),
        }


@dataclass(frozen=True)
class AttributeHierarchy:
    """The hierarchy of one attribute.

    Attributes:
        name: the attribute.
        role: what the spec has it for.
        kind: of the hierarchy, as the spec names it; ``value`` where it has none.
        values: distinct values, NULL apart.
        null_rows: rows with NULL.
        missing, missing_rows: values without a row in the hierarchy, and their rows.
        unused: rows of the hierarchy that no row of the data uses; None for rules.
        levels: the value first, the top last.
        problems: why the hierarchy cannot be used; empty if it can.
        examples: labels level by level, then rows; only if asked for.
        missing_values: some of the missing values; only if asked for.
        file: what it was exported to.
    """

    name: str
    role: Role
    kind: str
    values: int
    null_rows: int
    missing: int
    missing_rows: int
    unused: int | None
    levels: Sequence[Level]
    problems: Sequence[str]
    examples: Sequence[tuple[tuple[str, ...], int]] = ()
    missing_values: Sequence[str] = ()
    file: Path | None = None

    def to_dict(self, *, revealed: bool) -> dict[str, Any]:
        """JSON-compatible; with values only if they were asked for."""
        found: dict[str, Any] = {
            "name": self.name,
            "role": self.role,
            "kind": self.kind,
            "values": self.values,
            "null_rows": self.null_rows,
            "missing": {"values": self.missing, "rows": self.missing_rows},
            "unused": self.unused,
            "levels": [level.to_dict() for level in self.levels],
            "problems": list(self.problems),
            "file": None if self.file is None else str(self.file),
        }
        if revealed:
            found["examples"] = [{"labels": list(labels), "rows": rows} for labels, rows in self.examples]
            found["missing_values"] = list(self.missing_values)
        return found


@dataclass(frozen=True, repr=False)
class HierarchyResult(Displayed):
    """What was found out about some hierarchies.

    Attributes:
        source: what the values were taken from.
        hierarchies: one per attribute.
        revealed: whether values were asked for.
        cost: what the run asked of the database.
        notes: what else to know of the source.

    Examples:
        >>> result = kanon_sql.hierarchy(db, spec)
        >>> result.message
        '2 hierarchies: every value of visits has its labels, and the levels nest'
        >>> [(item.name, item.values) for item in result.hierarchies]
        [('age', 60), ('zip', 40)]
    """

    source: str
    hierarchies: Sequence[AttributeHierarchy]
    revealed: bool
    cost: Cost
    notes: Sequence[str] = ()

    @property
    def passed(self) -> bool:
        """Whether every hierarchy covers its values and nests."""
        return not any(item.problems for item in self.hierarchies)

    @property
    def message(self) -> str:
        """The result in a sentence."""
        count = len(self.hierarchies)
        what = "1 hierarchy" if count == 1 else f"{count} hierarchies"
        wrong = sum(bool(item.problems) for item in self.hierarchies)
        if wrong:
            return f"{wrong} of {what} cannot be used with {self.source}"
        return f"{what}: every value of {self.source} has its labels, and the levels nest"

    def to_dict(self) -> dict[str, Any]:
        """Return one JSON-compatible object."""
        return {
            "verb": "hierarchy",
            "verdict": "pass" if self.passed else "fail",
            "message": self.message,
            "source": self.source,
            "hierarchies": [item.to_dict(revealed=self.revealed) for item in self.hierarchies],
            "notes": list(self.notes),
            "cost": self.cost.to_dict(),
        }
