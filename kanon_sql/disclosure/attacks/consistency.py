"""Consistency: who of the source may be behind each row of a release, one by one and all together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from kanon_sql.disclosure.attacks.base import Attack, AuditInput, Cases, Scene, Target, Unmeasured
from kanon_sql.disclosure.attacks.method import AttackMethod, Threat
from kanon_sql.disclosure.attacks.registry import attack
from kanon_sql.disclosure.attacks.vectors import covered, covers_of, kinds_of, labels_of, lookups_of, vectors_of
from kanon_sql.engines import refuse_incomplete
from kanon_sql.evaluate import MOST_EDGES, matches_of
from kanon_sql.frequency import refuse_lost
from kanon_sql.sql import Sql, identifier, render

__all__ = ["MOST_EDGES", "Consistency"]

_GLOBAL = "consistency, global (1,k)"


@attack
class Consistency(AttackMethod):
    """(1,k)-, (k,1)-, (k,k)- and global (1,k)-anonymity (Gionis, Mazza, Tassa: k-Anonymization revisited, ICDE 2008).

    A record of the source and a row of the release are consistent if each of the row's labels is one that some level
    of the hierarchies gives the record's value. The release is (1,k)-anonymous if every record is consistent with k
    rows at least, (k,1)-anonymous if every row is with k records, (k,k)-anonymous if both. An attacker who has the
    whole source (its quasi-identifiers) assigns every row to a record of its own, in any consistent way: a row
    *matches* a record if some such assignment makes the pair. Globally (1,k)-anonymous: every record has k matches.

    Every k-anonymous release is globally (1,k)-anonymous, and every such one (1,k)-anonymous; (k,k) implies (1,k) and
    (k,1), but not global (1,k). More general labels only add edges to the graph, hence matches.

    The paper's release has a row for every record. Here suppressed records may be left out: the assignment is then of
    the rows to some of the records, and a record that no row is consistent with has no row to be found in: it is
    counted in a note, and exposed by none of this.

    Where every record is consistent with rows of one class only, which holds of every full-domain generalization, the
    graph falls into complete bipartite blocks, of b rows and a >= b records. Any edge of a block is in an assignment:
    without its two ends there are b - 1 rows and a - 1 records, all still consistent. So matches are consistent rows,
    and global (1,k) is (1,k). Otherwise (masked rows, cell by cell recoding) the graph of the *groups* of equal
    records and equal rows, numbered, comes to the client, which finds the matches by a flow, up to ``MOST_EDGES``.

    k is the largest that k-anonymity, or one of these notions, requires; 2 without one.
    """

    name: ClassVar[str] = "consistency"
    place: ClassVar[int] = 10
    attacker: ClassVar[str] = "has the whole source, and assigns every row to a record of its own"
    exposes: ClassVar[str] = (
        "records that fewer than k rows may stand for, rows that fewer than k records may be behind, records left "
        "with fewer than k by the assignments"
    )
    asks_for: ClassVar[str] = "the source"
    source: ClassVar[str] = "Gionis, Mazza, Tassa 2008"
    threat: ClassVar[Threat] = "singling_out"
    reads_labels: ClassVar[bool] = True
    results: ClassVar[tuple[str, ...]] = ("consistency (1,k)", "consistency (k,1)", _GLOBAL)

    def columns(self, given: AuditInput) -> Iterable[tuple[Target, Sequence[str]]]:
        """The source lists the records."""
        return [(given.source, [*given.spec.quasi_identifiers])]

    def run(self, scene: Scene) -> list[Cases | Attack | Unmeasured]:
        """Count who may be behind each row."""
        quasi, source = list(scene.spec.quasi_identifiers), scene.source
        keys = {f"q{index}": name for index, name in enumerate(quasi)}
        people = vectors_of(scene, source, "consistent_people", quasi, [])
        kinds = kinds_of(keys, [source, scene.release])
        labels = labels_of(scene, scene.release, "consistent_rows", keys, [], kinds=kinds)
        lookups = lookups_of(scene, people, source.columns, scene.spec.quasi_identifiers)
        covers = covers_of(scene, lookups, labels, "consistent", kinds)
        matched = covered(scene, "consistent", people, covers, labels, names=list(keys), carried=[*keys, "row_count"])
        row = scene.workspace.row(
            "disclosure/attacks/consistent", people=people, labels=labels, matched=matched, names=list(keys),
            sides=list(scene.sides.values()),
        )  # fmt: skip
        refuse_lost("disclosure/attacks/consistent", row[4:])
        there = int(row[4])  # of the source, the first side
        alone, without_candidates, degree, missing = (int(value or 0) for value in row[:4])
        if without_candidates:
            why = f"{without_candidates:,} rows of {scene.release.shown} are consistent with no record of the source"
            return [Unmeasured(self.name, f"{why}: it was made of other records, or with other hierarchies")]
        notes = [f"{alone:,} records of the source are consistent with no row: they were left out"] if alone else []

        def cases(name: str, measure: str, *, reverse: bool, notes: list[str]) -> Cases:
            return Cases(
                name=name,
                about=None,
                query=render(
                    "disclosure/attacks/linking",
                    matched=matched,
                    keys=[identifier(key) for key in keys],
                    k=_asked(scene),
                    reverse=reverse,
                ),
                keys=keys,
                measure=measure,
                examined=render("disclosure/attacks/records", vectors=labels if reverse else people),
                notes=notes,
            )

        found: list[Cases | Attack | Unmeasured] = [
            cases("consistency (1,k)", "1 / the rows that a record is consistent with", reverse=False, notes=notes),
            cases("consistency (k,1)", "1 / the records that a row is consistent with", reverse=True, notes=[]),
        ]
        if degree > 1:
            return [*found, _by_flow(scene, matched, list(keys), alone, there - alone)]
        if missing:
            return [*found, Unmeasured(_GLOBAL, _no_assignment(scene, missing))]
        blocks = "each record is consistent with one class only, so that its consistent rows are its matches"
        return [
            *found,
            cases(_GLOBAL, "one over the rows that a record matches", reverse=False, notes=[*notes, blocks]),
        ]


def _asked(scene: Scene) -> int:
    """The largest k that a requirement promises to a class, or to records and rows."""
    return max([scene.k, *(model.least_consistent or 0 for model in scene.models)])


def _no_assignment(scene: Scene, missing: int | None = None) -> str:
    several = "rows" if missing is None else f"{missing:,} rows"
    return f"{several} of {scene.release.shown} have no record of their own left in the source: it is made of others"


def _by_flow(scene: Scene, matched: Sql, names: list[str], alone: int, consistent: int) -> Attack | Unmeasured:
    """The matches of a graph that is no union of blocks.

    Args:
        scene: the tables.
        matched: the graph's edges, in FROM form.
        names: the columns of both.
        alone: records that are consistent with no row.
        consistent: all others.
    """
    graph = scene.workspace.fetch(
        "disclosure/attacks/graph", MOST_EDGES + 1, matched=matched, names=names, most=MOST_EDGES + 1
    )  # fmt: skip
    if len(graph) > MOST_EDGES:
        return Unmeasured(
            _GLOBAL,
            f"records are consistent with rows of several classes, and the graph of both has more than {MOST_EDGES:,} "
            "edges, too many to look for all assignments",
            too_large=True,
        )
    records: dict[tuple[int, int, int], int] = {}
    rows: dict[int, int] = {}
    edges = []
    for own, low, high, place, released, count in graph:
        group = (int(own), int(low), int(high))
        records[group], rows[int(place)] = int(count), int(released)
        edges.append((group, int(place)))
    refuse_incomplete("disclosure/attacks/graph", sum(records.values()), consistent)
    numbers = {group: number for number, group in enumerate(records)}
    matches = matches_of(
        {numbers[group]: count for group, count in records.items()},
        rows,
        [(numbers[group], place) for group, place in edges],
    )
    if matches is None:
        return Unmeasured(_GLOBAL, _no_assignment(scene))
    found = [(matches[numbers[group]], count) for group, count in records.items()]
    exposed = sum(count for matching, count in found if 0 < matching < _asked(scene))
    unmatched = alone + sum(count for matching, count in found if not matching)
    fewest = min((matching for matching, _ in found if matching), default=None)
    notes = [f"{unmatched:,} records of the source match no row: they were left out"] if unmatched else []
    if scene.reveal:
        notes.append("who is exposed is not shown: matches were found by groups, without values")
    return Attack(
        name=_GLOBAL,
        about=None,
        examined=sum(records.values()) + alone,
        exposed=exposed,
        beyond=exposed,
        risk=None if fewest is None else 1 / fewest,
        measure="one over the rows that a record matches",
        notes=notes,
    )
