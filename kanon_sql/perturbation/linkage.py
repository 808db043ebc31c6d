"""Record linkage by distance: how many released rows an attacker finds who knows true values.

The attacker takes each released row to be the record whose true values are nearest to it (Pagliuca, Seri 1999;
Domingo-Ferrer, Torra 2001). Where several records are as near, one of them is guessed. All pairs of the rows that are
looked at and of all records are compared in the database; sums come back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_sql.engines import Workspace
from kanon_sql.errors import VerificationError
from kanon_sql.perturbation.masks import MaskedTable, moments_of
from kanon_sql.spec import PerturbSpec
from kanon_sql.sql import Sql, render

__all__ = ["Linked", "linked"]

MOST_PAIRS = 20_000_000
"""Pairs of rows that are compared at most."""

MOST = 1.7e308
"""No number is greater; a number that is not known is looked for among all."""


@dataclass(frozen=True)
class Linked:
    """What record linkage finds.

    Attributes:
        columns: whose true values the attacker knows.
        looked_at: released rows that were looked at, at random.
        records: rows of the source, among which each is looked for.
        found: of those that were looked at, how many are expected to be found (one of n that are as near counts 1/n).
        certain: how many have no other record as near as their own.
    """

    columns: Sequence[str]
    looked_at: int
    records: int
    found: float
    certain: int

    @property
    def share(self) -> float:
        """The share of rows that is expected to be found."""
        return self.found / self.looked_at


def linked(workspace: Workspace, spec: PerturbSpec, table: MaskedTable) -> Linked:
    """Link released rows with the records of the source.

    Raises:
        VerificationError: the database did not find a row at its own distance, so its arithmetic cannot be trusted.
    """
    workspace.report("linking released rows with the source by distance", None)
    rows = min(spec.linkage.rows, table.rows, max(1, MOST_PAIRS // table.rows))
    columns = []
    for item in (item for item in table.columns if item.name in spec.linked):
        weight = None
        if item.is_number and item.known:
            _, deviation, _ = moments_of(workspace, table.table, item)
            weight = 1 / deviation if deviation else 1.0
        columns.append({"source": item.source, "masked": item.masked, "weight": weight})
    looked_at, found, certain, lost = workspace.row(
        "perturbation/linkage",
        table=table.table,
        columns=columns,
        draw=render("frequency/draw", key=spec.key_for("linkage"), text=Sql("base.row_key")),
        rows=rows,
        most=MOST,
    )
    if int(looked_at) != rows or int(lost):
        raise VerificationError("verification: rows were lost while they were linked; nothing was published")
    return Linked(spec.linked, rows, table.rows, round(float(found), 9), int(certain))
