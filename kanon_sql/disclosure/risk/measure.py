"""The statements that risk is measured with: one pass over the table each, no DDL, aggregates only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.disclosure.risk.attackers import Matches
from kanon_sql.disclosure.risk.combinations import Columns, Combination
from kanon_sql.disclosure.risk.dankar import ESTIMATORS
from kanon_sql.disclosure.risk.histogram import Histogram
from kanon_sql.engines import Column, Workspace, refuse_incomplete
from kanon_sql.evaluate import Frames, classes
from kanon_sql.hierarchies import exact_value, shown_keys
from kanon_sql.models import PrivacyModel
from kanon_sql.sql import Relation, Sql, identifier, render

__all__ = ["RiskFrames", "combination_measures", "histogram_of", "population_matches", "with_estimates"]

MOST_SIZES = 1_000_000

_THERE = -1
"""Instead of a size: the rows of the table."""
"""Different class sizes that may reach the client; a table of 10^11 rows has fewer."""


@dataclass(frozen=True)
class RiskFrames:
    """Where records are counted.

    Attributes:
        table: the table.
        columns: the columns that make records alike.
        unit: the column that identifies persons; None to count rows.
        count: for how many persons a row stands, over the alias ``checked``; None where each is one.
    """

    table: Relation
    columns: Sequence[Column]
    unit: Column | None
    count: Sql | None = None

    @property
    def keys(self) -> list[Sql]:
        """The columns as they are compared, over the alias ``checked``, and then what a reader sees besides."""
        return shown_keys(self.columns, "checked")

    @property
    def key_names(self) -> list[str]:
        """What they are called inside the statements: ``q0``, ``q1``, ..."""
        return [f"q{position}" for position, _ in enumerate(self.keys)]

    def names_of(self, positions: Columns) -> list[str]:
        """What is compared of some of the columns."""
        seen = (position for position, column in enumerate(self.columns) if column.varies is not None)
        further = {position: f"q{len(self.columns) + number}" for number, position in enumerate(seen)}
        return [f"q{position}" for position in positions] + [further[item] for item in positions if item in further]

    @property
    def person(self) -> Sql | None:
        """The unit as it is compared."""
        return None if self.unit is None else exact_value(self.unit, "checked")

    def classes(self, *, of_values: bool = False) -> Sql:
        """The classes, one row each: ``k0``, ..., ``class_rows`` and ``class_size``.

        Args:
            of_values: however equal numbers are written, as classes of two tables are compared.
        """
        whole = len(self.columns) if of_values else None
        keys, key_names = self.keys[:whole], self.key_names[:whole]
        rows = render(
            "evaluate/examine/rows",
            table=self.table,
            keys=keys,
            key_names=key_names,
            value=None,
            unit=self.person,
            where=None,
            counted=False,
            row_persons=self.count,
        )
        counting = "rows" if self.unit is None else "unit"
        return classes(Frames(rows, {}, counting, [identifier(name) for name in key_names]), [])


def histogram_of(workspace: Workspace, frames: RiskFrames) -> Histogram:
    """The sizes of a table's classes."""
    name = "disclosure/risk/histogram"
    answer = workspace.fetch(
        name, MOST_SIZES, classes=frames.classes(), table=frames.table, there=_THERE, row_persons=frames.count
    )
    there = sum(int(rows) for size, _, rows in answer if size == _THERE)
    found = [(int(size), count, int(rows)) for size, count, rows in answer if size != _THERE]
    sizes = {size: int(count) for size, count, _ in sorted(found) if size}
    rows = sum(rows for *_, rows in found)
    refuse_incomplete(name, rows, there)
    empty_rows = sum(rows for size, _, rows in found if not size)
    return Histogram(sizes, rows, empty_rows)


def with_estimates(workspace: Workspace, frames: RiskFrames, models: Sequence[PrivacyModel]) -> list[PrivacyModel]:
    """The privacy models, those that an estimator judges with what it says of a table's population."""
    histogram = histogram_of(workspace, frames)

    def estimated(model: PrivacyModel) -> PrivacyModel:
        if model.uniqueness_estimator is None:
            return model
        name, fraction = model.uniqueness_estimator
        return model.with_estimate(ESTIMATORS[name](histogram, fraction).share, histogram.uniques)

    return [estimated(model) for model in models]


def population_matches(workspace: Workspace, frames: RiskFrames, population: RiskFrames, most: int) -> Matches:
    """The classes of a table beside those of a population with the same columns.

    Args:
        workspace: where to run the statement.
        frames: the table.
        population: the population.
        most: the largest class of the population whose records are at risk.
    """
    row = workspace.row(
        "disclosure/risk/population",
        classes=frames.classes(of_values=True),
        population=population.classes(of_values=True),
        keys=[f"k{position}" for position, _ in enumerate(frames.columns)],
        tables=[frames.table, population.table],
        most=most,
    )
    found, records, smallest, held, expected, at_risk, uniques, missing, missing_records, judged, there = row
    refuse_incomplete("disclosure/risk/population", judged, there)
    return Matches(
        classes=int(found or 0),
        records=int(records or 0),
        smallest=None if smallest is None else int(smallest),
        population_records=int(held or 0),
        expected=float(expected or 0),
        at_risk=int(at_risk or 0),
        uniques=int(uniques or 0),
        missing_classes=int(missing or 0),
        missing_records=int(missing_records or 0),
    )


def combination_measures(
    workspace: Workspace, frames: RiskFrames, asked: Sequence[Columns]
) -> Mapping[Columns, Combination]:
    """The classes by each of some combinations of columns, from one set of distinct vectors per statement."""
    found = {}
    size = workspace.capabilities.nodes_per_statement
    for start in range(0, len(asked), size):
        chunk = asked[start : start + size]
        rows = workspace.fetch(
            "disclosure/risk/combinations",
            len(chunk),
            table=frames.table,
            keys=frames.keys,
            key_names=frames.key_names,
            unit=frames.person,
            row_persons=frames.count,
            combinations=[frames.names_of(columns) for columns in chunk],
        )
        refuse_incomplete("disclosure/risk/combinations", len(rows), len(chunk), "combinations of columns")
        (there,) = (row[-1] for row in rows if not int(row[0]))
        for number, count, records, uniques, pairs, judged, _ in rows:
            refuse_incomplete("disclosure/risk/combinations", judged, there)
            columns = chunk[int(number)]
            found[columns] = Combination(
                columns, int(count or 0), int(records or 0), int(uniques or 0), float(pairs or 0)
            )
    return found
