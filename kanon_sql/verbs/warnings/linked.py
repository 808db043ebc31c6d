"""The warning that a column which is kept beside cloaked positions links the rows of a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kanon_sql.engines import Column, Workspace, refuse_incomplete
from kanon_sql.hierarchies import shown_keys
from kanon_sql.sql import Relation
from kanon_sql.verbs.result import Warned

if TYPE_CHECKING:
    from kanon_sql.spec import CloakSpec

__all__ = ["linked_rows"]

SHARE = 0.05
"""The share of rows that can be linked to others of the same few people, from which a column is named."""


def linked_rows(
    workspace: Workspace, spec: CloakSpec, rows: Relation, columns: Mapping[str, Column], released: int
) -> list[Warned]:
    """Kept columns whose values say which rows are of the same few people: a pseudonym, a device, a trip.

    Every label is shared by k people. Anyone who sees that several rows are of one person knows all of their labels
    together, which no other person may share. Values differ as a reader sees them: 1.5 and 1.50 are two. If no kept
    column links by itself, all of them together are looked at.

    Args:
        workspace: where.
        spec: what is kept; with fewer than its k people a value is taken to be of few (one, where each row has a k).
        rows: all rows of the source, each with who it is about and the number of its cell; NULL for those left out.
        columns: the source's columns by name.
        released: rows with a cell.
    """
    if not spec.keep or spec.warnings.kept_links_rows == "allow":
        return []
    workspace.report("looking for what links rows of a person", None)
    kept = [replace(columns[name], name=f"kept{index}") for index, name in enumerate(spec.keep)]
    found = [item for number in range(len(kept)) if (item := _linked(workspace, spec, rows, kept, [number], released))]
    if not found and len(kept) > 1:
        together = _linked(workspace, spec, rows, kept, list(range(len(kept))), released)
        found += [] if together is None else [together]
    return found


def _linked(
    workspace: Workspace,
    spec: CloakSpec,
    rows: Relation,
    kept: Sequence[Column],
    numbers: Sequence[int],
    released: int,
) -> Warned | None:
    least = spec.k.k or 2
    values = shown_keys([kept[number] for number in numbers], "assigned")
    judged, linked = workspace.row("verbs/warnings/linked", rows=rows, values=values, least=least)
    refuse_incomplete("verbs/warnings/linked", judged, released)
    share = int(linked or 0) / released
    if share < SHARE:
        return None
    names = [spec.keep[number] for number in numbers]
    few = "no other person has" if least == 2 else f"fewer than {least:,} people have"
    message = (
        f"{' and '.join(names)}: {100 * share:.1f} % of the released rows have a value that {few}, and that a person "
        "has in several rows: an attacker who knows one of these rows finds the others. Leave the column out, or keep "
        "a coarser one"
    )
    return Warned("kept_links_rows", message, names, {"rows": released, "linked": share, "least": least})
