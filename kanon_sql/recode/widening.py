"""Global (1,k)-anonymity of (k,k)-anonymous rows: cells are raised again until every record has k matches.

After Gionis, Mazza and Tassa ("k-Anonymization Revisited", ICDE 2008, the last of their algorithms). A row is a match
of a record if some assignment of every row to a record of its own has it. Each row is its own record's, so a row that
covers a record is its match if it can get back from it along an alternating cycle. Where a record has too few matches,
its row and another are made to cover each other's records: they can be exchanged, and each is a match of the other's
record. The paper takes the other from those that cover the record already; here the cheapest of all is taken, what both
have to be widened counted. The rows of its class in the local recoding that was begun with are always among them, so
that k can be reached. A suppressed record has no row; rows that cover it are its matches (their own record is left out
instead), and either none covers it, or k do.

    compared    every vector with each that its labels may be widened to cover, and the levels at which both meet
    graph       which vectors' rows cover which vectors' records, fetched
    lacking     the vectors whose records have too few matches, loaded
    candidates  for each of them, the k cheapest vectors to be exchanged with, fetched
    widened     which rows are made to cover which records, loaded

Of all these the client sees numbers of vectors, how many rows and records they have, and their order by cost: no value,
no label. Covering more takes no match away, so rounds come to an end. Where they are ended before, or the rows cost
more than the classes of the local recoding, these are released, which are k-anonymous.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.engines import refuse_incomplete
from kanon_sql.errors import UnsupportedError, VerificationError
from kanon_sql.evaluate import MOST_EDGES, Budget, matching_edges
from kanon_sql.recode.partitions import Partitions
from kanon_sql.search import Stopped
from kanon_sql.sql import Relation

__all__ = ["MOST_COMPARED", "MOST_WIDENINGS", "Matches", "Widened", "Widening", "exchanges"]

MOST_COMPARED = 2**21
"""Pairs of different rows that are compared at most: 1,448 different rows with one another."""

MOST_WIDENINGS = 48
"""No more rounds are made: samples of Adult take two to five."""


@dataclass(frozen=True)
class Matches:
    """The graph of rows and records, as the client knows it.

    Attributes:
        rows: released vector -> its rows.
        covered: vector -> the vectors whose rows cover its records.
        matches: vector -> those of them whose rows are matches of its records.
    """

    rows: Mapping[int, int]
    covered: Mapping[int, Sequence[int]]
    matches: Mapping[int, Sequence[int]]

    def count(self, vector: int) -> int:
        """How many matches a record has."""
        return sum(self.rows[row] for row in self.matches[vector])

    def lacking(self, k: int) -> dict[int, int]:
        """The vectors whose records have fewer than k matches, with how many they lack."""
        counts = {vector: self.count(vector) for vector in sorted(self.covered)}
        return {vector: k - count for vector, count in counts.items() if count < k}


@dataclass(frozen=True)
class Widened:
    """Where the rounds ended.

    Attributes:
        cells: every released vector with the level of each cell.
        pairs: these vectors with those that their labels cover.
        matches: vector (``l0``), and how many matches its records have (``l1``).
        rounds: how many there were.
    """

    cells: Relation
    pairs: Relation
    matches: Relation
    rounds: int


def exchanges(k: int, graph: Matches, candidates: Mapping[int, Sequence[int]]) -> list[tuple[int, int]]:
    """The vectors that are to be exchanged with each other in one round.

    Those that lack most come first. A vector waits for the next round if this one widened its matches, or
    vectors that these are exchanged with: it may lack nothing any more.

    Args:
        k: how many matches a record needs.
        graph: the matches.
        candidates: vector that lacks some -> vectors, the cheapest first.

    Returns:
        The vector that lacks some, and the other.
    """
    lacking = graph.lacking(k)
    taken: list[tuple[int, int]] = []
    touched: set[int] = set()
    for vector in sorted(lacking, key=lambda own: (-lacking[own], own)):
        if vector in touched:
            continue
        left, known = lacking[vector], set(graph.matches[vector])
        for other in candidates.get(vector, ()):
            if left > 0 and other not in known:
                taken.append((vector, other))
                left -= graph.rows[other]
                touched |= {other, *graph.matches[other]}
        touched |= {vector, *known}
    return taken


@dataclass(frozen=True)
class Widening:
    """Rounds of widening.

    Attributes:
        state: the numbered vectors.
        make: creates a scratch table: the template of (k,k)-anonymity, the tables that it reads, what to call it.
        k: how many matches.
        held: every released vector with its class of the local recoding.
        prices: what labels cost.
    """

    state: Partitions
    make: Callable[[str, Mapping[str, Relation], str], Relation]
    k: int
    held: Relation
    prices: Relation

    def run(self, lowered: Relation, budget: Budget, stopped: str | None) -> tuple[Widened | None, str | None]:
        """Widen rows until every record has k matches.

        Args:
            lowered: the vectors whose cells were lowered, with the level of each.
            budget: when to end early.
            stopped: why the rounds before ended early; then no round is made.

        Returns:
            Where the rounds ended, None if the classes of the local recoding are to be released; and why they ended
            early.

        Raises:
            UnsupportedError: too many rows would have to be compared, or the graph has too many edges to be fetched.
        """
        workspace = self.state.workspace
        (vectors,) = self.state.row("count", {"table": self.state.vectors})
        if vectors**2 > MOST_COMPARED:
            raise _too_large(f"{vectors:,} different rows make more than {MOST_COMPARED:,} pairs")
        compared = self.make("compared", {"held": self.held, "vectors": self.state.vectors}, "compared")
        cells = self.make("every_cell", {"held": self.held, "cells": lowered}, "every_cell")
        pairs = self.make("wider_pairs", {"compared": compared, "cells": cells}, "every_pair")
        graph, rounds = self._graph(pairs), 0
        try:
            with budget.limits(workspace.engine):
                while stopped is None and rounds < MOST_WIDENINGS and graph.lacking(self.k):
                    wider = self._round(compared, cells, graph, rounds)
                    wider_pairs = self.make(
                        "wider_pairs", {"compared": compared, "cells": wider}, f"wider_pairs_{rounds % 2}"
                    )
                    graph = self._graph(wider_pairs)
                    self._drop(cells, pairs)
                    cells, pairs, rounds = wider, wider_pairs, rounds + 1
                    workspace.report(f"widening rows: round {rounds}", None)
        except Stopped as reason:
            stopped = str(reason)
        tables = {"held": self.held, "cells": cells, "prices": self.prices}
        before, after = self.state.row("kk/costs", tables, lowered=self.state.cuttable)
        if graph.lacking(self.k) or after > before:
            return None, stopped
        counts = self._load("matches", [(vector, graph.count(vector)) for vector in sorted(graph.covered)])
        return Widened(cells, pairs, counts, rounds), stopped

    def _graph(self, pairs: Relation) -> Matches:
        """The matches of all records."""
        edges = self._fetched("graph", {"pairs": pairs}, MOST_EDGES + 1, most=MOST_EDGES + 1)
        if len(edges) > MOST_EDGES:
            raise _too_large(f"the graph of records and rows has more than {MOST_EDGES:,} edges")
        (released,) = self.state.row("kk/released", {"held": self.held})
        rows = {row: count for row, _, count, _ in edges}
        refuse_incomplete("recode/kk/graph", sum(rows.values()), released)
        records = {record: count for _, record, _, count in edges}
        between = [(record, row) for row, record, _, _ in edges]
        found = matching_edges(records, rows, between)
        if found is None:
            raise VerificationError(
                "the rows cannot all be assigned to records of their own; please report this with the engine's version"
            )
        covered: dict[int, list[int]] = {record: [] for record in records}
        matches: dict[int, list[int]] = {record: [] for record in records}
        for (record, row), is_match in zip(between, found, strict=True):
            covered[record].append(row)
            if is_match:
                matches[record].append(row)
        return Matches(rows, covered, matches)

    def _round(self, compared: Relation, cells: Relation, graph: Matches, number: int) -> Relation:
        """The cells after one round."""
        lacking = graph.lacking(self.k)
        lacks = self._load("lacking", lacking.items())
        tables = {"lacking": lacks, "compared": compared, "cells": cells, "prices": self.prices}
        context = {"lowered": self.state.cuttable, "k": self.k}
        candidates: dict[int, list[int]] = {vector: [] for vector in lacking}
        for vector, _, other in self._fetched("candidates", tables, self.k * len(lacking), **context):
            candidates[vector].append(other)
        taken = exchanges(self.k, graph, candidates)
        both = {*taken, *((other, vector) for vector, other in taken)}
        widened = self._load("widened", sorted(pair for pair in both if pair[0] in graph.rows))
        tables = {"cells": cells, "widened": widened, "compared": compared}
        following = self.make("wider_cells", tables, f"wider_cells_{number % 2}")
        self._drop(lacks, widened)
        return following

    def _fetched(self, name: str, tables: Mapping[str, Relation], limit: int, **context: Any) -> list[tuple[int, ...]]:
        """Numbers, in their order."""
        workspace = self.state.workspace
        quoted = {slot: workspace.quoted(table) for slot, table in tables.items()}
        statement = workspace.compiler.filled(f"recode/kk/{name}", quoted, **context)
        return sorted(tuple(map(int, row)) for row in workspace.query(statement, limit))

    def _load(self, what: str, numbers: Iterable[tuple[int, int]]) -> Relation:
        workspace = self.state.workspace
        target = workspace.table(what)
        workspace.load(target, ["l0", "l1"], [(str(one), str(other)) for one, other in numbers])
        return target

    def _drop(self, *tables: Relation) -> None:
        for table in tables:
            self.state.workspace.drop(table)


def _too_large(what: str) -> UnsupportedError:
    return UnsupportedError(
        f"recoding: kk: {what}, too many to look for all assignments, which global_1k is about; raise minimum_level, "
        "so that fewer rows differ, or ask for variant: kk, or for k_anonymity with recoding: local, which implies it"
    )
