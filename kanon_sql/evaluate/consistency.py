"""Which records of a source a table's rows may stand for, and which rows each record may be: counted class by class.

What (1,k)-, (k,1)-, (k,k)- and global (1,k)-anonymity are about, see
:mod:`kanon_sql.models.privacy.kk_anonymity`. The source and the table are read as they stand, so that anyone who
wrote the table, and however, is judged by what is in it: this verifies a release before it is published, and answers
``check``.

    vectors    the different records of the source, numbered
    shown      the different rows of the table, numbered by their labels
    labelled   per column: the vectors with each label that covers them, if the table has the labels so far together
    edges      which vectors are consistent with which rows

Everything is counted in the database. For global (1,k) the graph of both sides, as numbers, comes to the client where
it is no union of blocks, and the matches go back by these numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from kanon_sql.engines import Column, Workspace, refuse_incomplete
from kanon_sql.errors import Obstacle, UnsupportedError, refuse
from kanon_sql.evaluate.assignments import matches_of
from kanon_sql.frequency import Side, classes_of, refuse_lost_rows, vectors_of, why_unlabelled
from kanon_sql.hierarchies import build_lookups
from kanon_sql.models import PrivacyModel
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation, Sql, render, source_relation

__all__ = ["MOST_EDGES", "MOST_PAIRS", "Consistent", "consistent_with_source", "record_obstacles"]

MOST_PAIRS = 2**32
"""Different records times different rows that are compared at most: 65,536 of each. Most pairs are never looked at,
since a record is joined with the labels that cover it, but a table may have this many."""

MOST_EDGES = 50_000
"""A graph of more edges is not fetched: its numbers tell nothing of a person, but the client would have to hold it."""


@dataclass(frozen=True)
class Consistent:
    """What was counted.

    Attributes:
        frame: FROM form, a row per class: its columns ``q0``, ..., ``records``, ``fewest_rows`` and ``fewest_matches``.
        left_out: records of the source that no row is consistent with.
        notes: what to know about the figures.
    """

    frame: Sql
    left_out: int
    notes: tuple[str, ...]


def consistent_with_source(
    workspace: Workspace,
    spec: Spec,
    models: Sequence[PrivacyModel],
    table: Relation,
    columns: Mapping[str, Column],
    originals: Mapping[str, Column],
    *,
    raw: bool = False,
) -> Mapping[str, Consistent]:
    """Compare a table with the source, if a requirement is about both.

    Args:
        workspace: where to look; inline, if nothing is to be created. Its scratch names must be free.
        spec: the quasi-identifiers and their hierarchies.
        models: the requirements.
        table: the table, raw or generalized.
        columns: its columns by name.
        originals: the source's columns by name.
        raw: the table is the source; see :func:`kanon_sql.frequency.classes_of`.

    Returns:
        By the frame of the models; empty where none compares with the source.

    Raises:
        SpecError: the source lacks a quasi-identifier.
        HierarchyError: a value of the source has no row in its hierarchy.
        UnsupportedError: there are too many different records and rows to be compared; a label means different values
            at different levels; labels are no labels of hierarchies; or the table was not made of this source.
    """
    asked = [model for model in models if model.least_consistent is not None]
    if not asked:
        return {}
    refuse(record_obstacles(spec, models))
    compared = _Compared(workspace, spec, asked, table, columns, originals, raw)
    assert asked[0].frame is not None, "what is counted of rows and records is a frame"
    return {asked[0].frame: compared.counted()}


def record_obstacles(spec: Spec, models: Sequence[PrivacyModel]) -> Iterator[Obstacle]:
    """Labels of which no hierarchy says what they cover, where a requirement compares rows with records."""
    asked, why = [model for model in models if model.least_consistent is not None], why_unlabelled(spec)
    if asked and why is not None:
        yield Obstacle(
            f"{asked[0].label}: {why}, so that which records a row covers is not known; ask for k_anonymity, "
            "which implies it"
        )


@dataclass(frozen=True)
class _Compared:
    """A table and its source."""

    workspace: Workspace
    spec: Spec
    models: Sequence[PrivacyModel]
    table: Relation
    columns: Mapping[str, Column]
    originals: Mapping[str, Column]
    raw: bool

    @property
    def keys(self) -> list[str]:
        return [f"q{index}" for index, _ in enumerate(self.spec.quasi_identifiers)]

    @property
    def label(self) -> str:
        return self.models[0].label

    def counted(self) -> Consistent:
        """Both sides by numbers, their edges, and what is counted of these."""
        workspace, keys = self.workspace, self.keys
        workspace.report("comparing the rows with the records of the source", None)
        counts = self._vectors(source_relation(), self.originals, "the source", "records")
        rows = self._vectors(self.table, self.columns, "the table", "rows")
        columns = {name: self.originals[name] for name in self.spec.quasi_identifiers}
        # a NULL is a value here, also where its rows were left out
        spec = self.spec.model_copy(update={"nulls": "value"})
        lookups = build_lookups(workspace, spec, columns, counts)
        classes, meanings = classes_of(workspace, spec, self.table, self.columns, lookups, raw=self.raw)
        known = {lookup.column: lookup for lookup in lookups}
        refuse_lost_rows(workspace, [Side(source_relation(), counts, keys, known), Side(self.table, rows, keys)])
        vectors, shown, edges, found = map(workspace.table, ("numbered", "shown", "edges", "counted"))
        workspace.execute("evaluate/consistency/numbered", target=vectors, keys=keys, vectors=counts)
        workspace.execute("evaluate/consistency/shown", target=shown, keys=keys, classes=classes, counted=rows)
        self._refuse_too_many(vectors, shown, rows)
        labelled = vectors
        for place, _ in enumerate(meanings):
            before, labelled = labelled, workspace.table(f"labelled{place}")
            workspace.execute(
                "evaluate/consistency/labelled",
                target=labelled, vectors=before, meanings=meanings, place=place, shown=shown,
            )  # fmt: skip
        workspace.execute(
            "evaluate/consistency/edges",
            target=edges, vectors=labelled, meanings=meanings, shown=shown, all_vectors=vectors,
        )  # fmt: skip
        workspace.execute("evaluate/consistency/counted", target=found, edges=edges)
        row = workspace.row("evaluate/consistency/summary", vectors=vectors, shown=shown, edges=edges)
        return self._summed([int(value or 0) for value in row], edges, shown, found)

    def _vectors(self, table: Relation, columns: Mapping[str, Column], shown: str, what: str) -> Relation:
        """The different rows of a table, exactly as they are, with how many there are."""
        return vectors_of(self.workspace, self.spec, table, columns, shown, what, self.label)

    def _refuse_too_many(self, vectors: Relation, shown: Relation, counted: Relation) -> None:
        """Refuse more pairs than can be compared, and classes that a join lost."""
        name = "evaluate/consistency/sizes"
        records, rows, judged, there = self.workspace.row(name, vectors=vectors, shown=shown, counted=counted)
        refuse_incomplete(name, judged, there)
        if records * rows > MOST_PAIRS:
            raise UnsupportedError(
                f"{self.label}: {records:,} different records would be compared with {rows:,} different rows, more "
                f"than {MOST_PAIRS:,} pairs; raise minimum_level, so that fewer differ, or ask for k_anonymity, which "
                "implies it"
            )

    def _summed(self, row: Sequence[int], edges: Relation, shown: Relation, counted: Relation) -> Consistent:
        records, rows, known_records, known_rows, degree, missing = row
        left_out = records - known_records
        if left_out > max(0, records - rows):
            raise UnsupportedError(
                f"{self.label}: {left_out:,} records of the source are consistent with no row, and the table has only "
                f"{max(0, records - rows):,} rows fewer than the source: it was made of other records, or with other "
                "hierarchies; name the source and the hierarchies that it was made with"
            )
        notes = [] if not left_out else [f"{left_out:,} records of the source are consistent with no row: left out"]
        if known_rows < rows:
            notes.append(
                f"{rows - known_rows:,} rows are consistent with no record of the source: they were made of other "
                "records, or with other hierarchies"
            )
        matches = None
        if any(model.needs_perfect_matchings for model in self.models):
            if known_rows < rows or (degree <= 1 and missing):
                self._refuse_no_assignment()
            if degree > 1:
                matches = self._by_flow(edges, known_records)
        frame = render("evaluate/consistency/frame", keys=self.keys, shown=shown, counted=counted, matches=matches)
        return Consistent(frame, left_out, tuple(notes))

    def _by_flow(self, edges: Relation, known_records: int) -> Relation:
        """The fewest matches of a record that each row is consistent with, found by the client, by the rows' places.

        Where every record is consistent with alike rows only, as in full-domain recoding, that is not needed: in each
        block of b rows and a >= b records any edge is in an assignment, so that matches are consistent rows.
        """
        name = "evaluate/consistency/graph"
        graph = self.workspace.fetch(name, MOST_EDGES + 1, edges=edges, most=MOST_EDGES + 1)
        if len(graph) > MOST_EDGES:
            raise UnsupportedError(
                f"{self.label}: the graph of records and rows has more than {MOST_EDGES:,} edges, too many to look for "
                "all assignments; ask for k_anonymity, which implies it"
            )
        records: dict[tuple[int, int, int], int] = {}
        rows: dict[int, int] = {}
        between: list[tuple[tuple[int, int, int], int]] = []
        for own, low, high, place, released, count in graph:
            group = (int(own), int(low), int(high))
            records[group], rows[int(place)] = int(count), int(released)
            between.append((group, int(place)))
        refuse_incomplete(name, sum(records.values()), known_records)
        numbers = {group: number for number, group in enumerate(records)}
        found = matches_of(
            {numbers[group]: count for group, count in records.items()},
            rows,
            [(numbers[group], place) for group, place in between],
        )
        if found is None:
            self._refuse_no_assignment()
        fewest: dict[int, int] = {}
        for group, place in between:
            matches = found[numbers[group]]
            if matches:  # a record without any was left out: no assignment has it
                fewest[place] = min(fewest.get(place, matches), matches)
        target = self.workspace.table("matches")
        fewest_rows = [(str(place), str(fewest.get(place, 0))) for place in sorted(rows)]
        self.workspace.load(target, ["l0", "l1"], fewest_rows)
        return target

    def _refuse_no_assignment(self) -> NoReturn:
        raise UnsupportedError(
            f"{self.label}: the rows cannot all be assigned to records of their own: the table was not made of this "
            "source, or with other hierarchies; name those that it was made with"
        )
