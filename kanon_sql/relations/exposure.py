"""Who could be found in released tables by some items of a person that are known: in all of them, and in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.engines import Workspace
from kanon_sql.relations.release import ReadRelease, ReleasedTable, read_release
from kanon_sql.spec import PERSON, RelationalSpec
from kanon_sql.sql import Relation

__all__ = ["KNOWN", "Exposed", "Exposure", "exposure"]

KNOWN = ("0", "1", "2", "3", "all")
"""How many items of a person may be known."""


@dataclass(frozen=True)
class Exposed:
    """Persons who could be found by what is known.

    Attributes:
        m: how many items are known, one of :data:`KNOWN`.
        unique: persons who have something that may be known and that no other person shares.
        few: those who have something that may be known and that fewer than k persons share.
        joined: those who are unique, and would not be so in any table alone.
    """

    m: str
    unique: int
    few: int
    joined: int


@dataclass(frozen=True)
class Exposure:
    """What was counted.

    Attributes:
        persons: of the release.
        together: what all tables tell, joined.
        alone: table -> what it tells by itself.
    """

    persons: int
    together: Sequence[Exposed]
    alone: Mapping[str, Sequence[Exposed]]


@dataclass(frozen=True)
class _RarePersons:
    """Scratch tables of persons: who is unique, and who shares with fewer than k, for each of :data:`KNOWN`."""

    unique: Sequence[Relation]
    few: Sequence[Relation]


def exposure(workspace: Workspace, tables: Mapping[str, ReleasedTable], spec: RelationalSpec) -> Exposure:
    """Count who could be found, for each number of items that may be known.

    Args:
        workspace: where; its names must be free.
        tables: the released tables, each after its parent.
        spec: says how many persons share what is known, and which numbers of rows are known.

    Raises:
        VerificationError: keys are not unique, or rows refer to no row.
        UnsupportedError: this engine could not compare some values exactly.
    """
    read = read_release(workspace, tables, spec)
    together = _found(workspace.apart("all_"), read.persons, read.items, spec.k)
    alone = {PERSON: _found(workspace.apart("persons_"), read.persons, None, spec.k)}
    for number, (name, item) in enumerate(tables.items()):
        if name != PERSON:
            alone[name] = _alone(workspace.apart(f"alone{number}_"), read, name, len(item.labels), spec.k)
    return Exposure(
        persons=read.rows[PERSON],
        together=[
            Exposed(
                known,
                workspace.size([together.unique[place]]),
                workspace.size([together.few[place]]),
                _only_joined(workspace, together.unique[place], [own.unique[place] for own in alone.values()]),
            )
            for place, known in enumerate(KNOWN)
        ],
        alone={
            name: [
                Exposed(known, workspace.size([own.unique[place]]), workspace.size([own.few[place]]), 0)
                for place, known in enumerate(KNOWN)
            ]
            for name, own in alone.items()
        },
    )


def _alone(workspace: Workspace, read: ReadRelease, name: str, width: int, k: int) -> _RarePersons:
    """One table by itself: its rows by its own labels, and whose they are, without the persons' own values."""
    workspace.report(f"counting who could be found in {name} alone", None)
    rows, persons, items = workspace.table("rows"), workspace.table("persons"), workspace.table("items")
    first = read.widths[name] - width
    workspace.execute("relations/rows_alone", target=rows, rows=read.joined[name], first=first, width=width)
    workspace.execute("relations/persons_alone", target=persons, rows=rows)
    workspace.execute("relations/items", target=items, rows=rows, width=width, number=0, tables=1, once=False)
    return _found(workspace, persons, items, k)


def _found(workspace: Workspace, persons: Relation, items: Relation | None, k: int) -> _RarePersons:
    return _RarePersons(*(_rare(workspace.apart(f"{workspace.prefix}{what}_"), persons, items, fewest)
                    for what, fewest in (("unique", 2), ("few", k))))  # fmt: skip


def _rare(workspace: Workspace, persons: Relation, items: Relation | None, k: int) -> list[Relation]:
    """For each of :data:`KNOWN`, the persons with that many items, or fewer, that fewer than k persons share."""
    found: list[Relation] = []
    for known in KNOWN:
        tables = found[-1:]
        target = workspace.table(f"rare{known}")
        if known == "0":
            workspace.execute("relations/rare_persons_of_class", target=target, classes=persons, k=k)
            tables = [target]
        elif items is not None and known == "all":
            sums, firsts = workspace.table("sums"), workspace.table("firsts")
            workspace.execute("relations/set_sums", target=sums, persons=persons, items=items)
            workspace.execute("relations/set_firsts", target=firsts, sums=sums)
            workspace.execute("relations/rare_sets", target=target, items=items, firsts=firsts, k=k)
            tables = [*tables, target]
        elif items is not None:
            workspace.report(f"counting who could be found by {known} items", None)
            workspace.execute("relations/rare_persons", target=target, items=items, m=int(known), k=k)
            tables = [*tables, target]
        together = workspace.table(f"known{known}")
        workspace.execute("relations/persons_of", target=together, tables=tables)
        found.append(together)
    return found


def _only_joined(workspace: Workspace, together: Relation, alone: Sequence[Relation]) -> int:
    (count,) = workspace.row("relations/only_joined", together=together, alone=list(alone))
    return int(count)
