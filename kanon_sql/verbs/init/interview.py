"""What ``init`` asks a table once roles are suggested: what columns distinguish together, how far numbers spread.

Shares of rows and powers of ten come back, no value, unless the user wants files of values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kanon_sql.disclosure.risk import Combination, RiskFrames, combination_measures, combinations
from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SpecError
from kanon_sql.hierarchies import TOP, exact_value, file_names, value_text, write_hierarchy
from kanon_sql.sql import Sql, identifier, source_relation
from kanon_sql.verbs.init.suggest import Suggestion, spreads, with_file, with_spread

__all__ = ["DISTINGUISHING", "ColumnsTogether", "by_spread", "columns_together", "skeletons"]

_ALIAS = "kanon_source"

MOST_COLUMNS = 12
"""Combinations of this many columns are looked at: the quasi-identifiers first, then what is left out."""

DISTINGUISHING = 0.05
"""Share of rows that a pair sets apart from which it is a reason to name a column."""


@dataclass(frozen=True)
class ColumnsTogether:
    """What columns distinguish together.

    Attributes:
        records: rows, or persons where the table has several rows of each.
        everything: the classes by all quasi-identifiers; None with fewer than two.
        pairs: the columns of each combination that was measured -> its classes.
        minimal: the smallest combinations that set all records apart.
    """

    records: str
    everything: Combination | None
    pairs: Mapping[tuple[str, ...], Combination]
    minimal: Sequence[tuple[str, ...]]

    def best_with(self, name: str, others: Sequence[str]) -> tuple[str, Combination] | None:
        """The other column with which one sets most records apart."""
        found = [
            (left if right == name else right, combination)
            for (left, right), combination in self._of_two()
            if name in (left, right) and {left, right} - {name} <= set(others)
        ]
        return max(found, key=lambda item: item[1].uniques, default=None)

    def best_of(self, names: Sequence[str]) -> tuple[tuple[str, str], Combination] | None:
        """The pair of some columns that sets most records apart."""
        found = [(pair, combination) for pair, combination in self._of_two() if set(pair) <= set(names)]
        return max(found, key=lambda item: item[1].uniques, default=None)

    def _of_two(self) -> list[tuple[tuple[str, str], Combination]]:
        return [((pair[0], pair[1]), found) for pair, found in self.pairs.items() if len(pair) == 2]


def columns_together(workspace: Workspace, found: Sequence[Suggestion], largest: int) -> ColumnsTogether | None:
    """Measure what the likely columns distinguish, alone, together, and in combinations.

    Args:
        workspace: its source is the table; each statement reads it once.
        found: the suggestions.
        largest: the most columns in a combination; 0 to ask nothing.

    Returns:
        What was measured; None where nothing was asked, or there are fewer than two columns.
    """
    likely = [item for role in ("quasi_identifier", "left_out") for item in found if item.role == role]
    names = [item.profile for item in likely if item.profile.distinct > 1][:MOST_COLUMNS]
    if largest < 1 or len(names) < 2:
        return None
    workspace.report("looking for columns that distinguish rows together", None)
    unit = next((item.profile.column for item in found if item.role == "unit"), None)
    frames = RiskFrames(source_relation(), [profile.column for profile in names], unit)

    def measure(asked: Sequence[tuple[int, ...]]) -> Mapping[tuple[int, ...], Combination]:
        return combination_measures(workspace, frames, asked)

    measured, minimal = combinations(len(names), largest, measure)
    known = {item.columns: item for item in measured}
    quasi = {item.profile.name for item in likely if item.role == "quasi_identifier"}
    own = tuple(position for position, profile in enumerate(names) if profile.name in quasi)
    everything = None
    if len(own) > 1:
        everything = known.get(own) or measure([own])[own]

    def named(columns: Sequence[int]) -> tuple[str, ...]:
        return tuple(names[position].name for position in columns)

    return ColumnsTogether(
        "rows" if unit is None else "persons",
        everything,
        {named(item.columns): item for item in measured},
        [named(item) for item in minimal],
    )


def by_spread(workspace: Workspace, found: Sequence[Suggestion]) -> list[Suggestion]:
    """The suggestions, with intervals about a fifteenth as wide as where nine of ten rows lie.

    Args:
        workspace: its source is the table; it is read once for each number with intervals.
        found: the suggestions.
    """
    changed = []
    for item in found:
        if spreads(item):
            workspace.report(f"looking how far {item.profile.name} spreads", None)
            number = Sql(f"CAST({identifier(_ALIAS)}.{identifier(item.profile.name)} AS DOUBLE)")
            (thirds,) = workspace.row("verbs/init/spread", source=source_relation(), number=number)
            if thirds is not None and math.isfinite(thirds):
                item = with_spread(item, int(thirds))
        changed.append(item)
    return changed


def skeletons(workspace: Workspace, found: Sequence[Suggestion], directory: Path) -> list[Suggestion]:
    """Write a hierarchy file to fill in for each short list of categories: value;group;top, each its own group.

    Args:
        workspace: its source is the table; it is read once for each file.
        found: the suggestions.
        directory: where to write; the spec will name the files as they are found from here.

    Returns:
        The suggestions, with the files as hierarchies.

    Raises:
        SpecError: the directory cannot be made.
        HierarchyError: a file is there already.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SpecError(f"--set skeletons={directory}: {reason}; name another directory") from None
    files = file_names(item.profile.name for item in found if item.is_list)
    changed = []
    for item in found:
        if item.is_list:
            path = directory / files[item.profile.name]
            workspace.report(f"writing the values of {item.profile.name}", None)
            values = _values(workspace, item.profile.column, item.profile.distinct)
            write_hierarchy(path, [(value, value, TOP) for value in values])
            item = with_file(item, path)
        changed.append(item)
    return changed


def _values(workspace: Workspace, column: Column, most: int) -> list[str]:
    rows = workspace.fetch(
        "verbs/init/values",
        most,
        source=source_relation(),
        value=exact_value(column, _ALIAS),
        text=value_text(column, Sql("found.value")),
    )
    return sorted(str(row[0]) for row in rows)
