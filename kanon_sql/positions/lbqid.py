"""Historical k-anonymity: whose rows show an LBQID must share them with k people (Bettini, Wang and Jajodia 2005).

A person matches an LBQID if their whole exact history does, with what is left out of the release. What a reader may
then link are the rows that this person's part of the pattern is released with. Another person's history is consistent
with these if it has a row with each of their labels: that is stricter than the paper, where being in the cell is
enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kanon_sql.engines import Workspace
from kanon_sql.positions.assign import Assigned
from kanon_sql.positions.keys import Points
from kanon_sql.spec import CloakSpec, Lbqid
from kanon_sql.sql import Relation

__all__ = ["History", "histories"]


@dataclass(frozen=True)
class History:
    """What an LBQID tells of a release.

    Attributes:
        name: the LBQID's.
        matching: people whose history matches it, with at least one of their rows of it released.
        exposed: of these, those whose rows too few people have.
        fewest: the fewest people whose histories are consistent with the rows of one of them; None where no person
            matches.
    """

    name: str
    matching: int
    exposed: int
    fewest: int | None


def histories(workspace: Workspace, spec: CloakSpec, found: Points, written: Assigned) -> list[History]:
    """Look for every LBQID of a spec in what is to be released.

    Args:
        workspace: where.
        spec: its LBQIDs, and how many people have to be consistent with each.
        found: the units of coordinates.
        written: the rows and whose they are.
    """
    if not spec.lbqids:
        return []
    released = workspace.table("histories")
    workspace.execute("positions/histories", target=released, rows=written.rows)
    return [
        _history(workspace.apart(f"lbqid{number}_"), spec, found, written, released, name, lbqid)
        for number, (name, lbqid) in enumerate(spec.lbqids.items())
    ]


def _history(
    workspace: Workspace, spec: CloakSpec, found: Points, written: Assigned, released: Relation, name: str, lbqid: Lbqid
) -> History:
    workspace.report("looking for patterns of movement", None)
    events = workspace.table("events")
    workspace.execute(
        "positions/events",
        target=events,
        rows=written.rows,
        elements=[_element(lbqid, index, found.layout.digits) for index in range(len(lbqid.elements))],
        per_row_k=found.per_row_k,
    )
    days = workspace.table("days0")
    workspace.execute("positions/first", target=days, events=events, weekdays=lbqid.weekdays)
    for number in range(1, len(lbqid.elements)):
        before, days = days, workspace.table(f"days{number}")
        workspace.execute("positions/next", target=days, events=events, before=before, number=number)
    requests = workspace.table("requests")
    workspace.execute(
        "positions/requests",
        target=requests,
        events=events,
        days=days,
        days_needed=lbqid.days,
        weeks_needed=lbqid.weeks,
        per_row_k=found.per_row_k,
    )
    matching, fewest, exposed = workspace.row(
        "positions/consistent", requests=requests, histories=released, per_row_k=found.per_row_k, k=spec.k.k
    )
    return History(name, int(matching), int(exposed), None if fewest is None else int(fewest))


def _element(lbqid: Lbqid, index: int, digits: int) -> dict[str, Any]:
    element = lbqid.elements[index]
    x_from, y_from, x_to, y_to = (int(bound * 10**digits) for bound in element.area)
    low, high = element.between
    return {"x_from": x_from, "x_to": x_to, "y_from": y_from, "y_to": y_to, "t_from": low, "t_to": high}
