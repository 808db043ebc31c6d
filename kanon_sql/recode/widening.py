"""Global (1,k)-anonymity of (k,k)-anonymous rows: cells are raised again until every record has k matches.

After Gionis, Mazza and Tassa ("k-Anonymization Revisited", ICDE 2008, the last of their algorithms). A row is a match
of a record if some assignment of every row to a record of its own has it. Each row is its own record's, so a row that
covers a record is its match if it can get back from it along an alternating cycle. Where a record has too few matches,
its row and one that covers it are made to cover each other's records: they can be exchanged, and each is a match of the
other's record. The paper takes the cheapest row among those that cover the record already. Here it is the cheapest
whose class of the local recoding covers the record, and whose record is covered by that of the record: so no cell rises
above its label there, and the other rows of the record's own class are always among them. A suppressed record has no
row; either none covers it, or k do, each of which is its match (its own record is left out instead).

    graph       which vectors' rows cover which vectors' records, fetched
    lacking     the vectors whose records have too few matches, loaded
    candidates  for each of them, the k cheapest vectors to be exchanged with, fetched
    widened     the rows that are made to cover a record, loaded

Of all these the client sees numbers of vectors, how many rows they have, and their order by cost: no value, no label.
More edges never take a match away. Where rounds end early, the classes of the records that still lack some get back the
labels of the local recoding, which is k-anonymous.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.engines import refuse_incomplete
from kanon_sql.errors import UnsupportedError, VerificationError
from kanon_sql.evaluate import MOST_EDGES, Budget, matching_edges
from kanon_sql.recode.partitions import Partitions
from kanon_sql.search import Stopped
from kanon_sql.sql import Relation

__all__ = ["MOST_WIDENINGS", "Matches", "Widened", "Widening", "exchanges"]

MOST_WIDENINGS = 48
"""No more rounds of widening are made; each takes nine statements, and the rows of its tables that are loaded."""


@dataclass(frozen=True)
class Matches:
    """What the client knows of the graph.

    Attributes:
        covered: vector -> the vectors whose rows cover its records.
        rows: vector -> its rows; those that are released.
        matches: vector -> the vectors whose rows are matches of its records.
    """

    covered: Mapping[int, Sequence[int]]
    rows: Mapping[int, int]
    matches: Mapping[int, Sequence[int]]

    def count(self, vector: int) -> int:
        """How many matches a record has."""
        return sum(self.rows[row] for row in self.matches[vector])

    def lacking(self, k: int) -> dict[int, int]:
        """The vectors whose records have fewer than k matches, with how many they lack."""
        return {vector: k - self.count(vector) for vector in sorted(self.covered) if self.count(vector) < k}


def exchanges(k: int, graph: Matches, candidates: Mapping[int, Sequence[int]]) -> list[tuple[int, int]]:
    """The vectors that are to be exchanged with each other in one round.

    Those that lack most come first. One whose matches, or those of whom they are exchanged with, were widened in this
    round waits for the next: it may lack nothing any more.

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
class Widened:
    """Where the rounds ended.

    Attributes:
        cells: the vectors with the level of each cell.
        pairs: these vectors with those that their labels cover.
        matches: vector (``l0``), and how many matches its records have (``l1``).
        rounds: how many there were.
        stopped: why they ended early.
    """

    cells: Relation
    pairs: Relation
    matches: Relation
    rounds: int
    stopped: str | None


@dataclass(frozen=True)
class Widening:
    """Rounds of widening.

    Attributes:
        state: the numbered vectors.
        make: creates a scratch table: the template of (k,k)-anonymity, the tables that it reads, what to call it.
        k: how many matches.
        held: every vector with its class of the local recoding.
        reachable: the vectors that are covered by the labels of each vector's class.
        prices: what labels cost.
    """

    state: Partitions
    make: Callable[[str, Mapping[str, Relation], str], Relation]
    k: int
    held: Relation
    reachable: Relation
    prices: Relation

    def run(self, cells: Relation, pairs: Relation, budget: Budget, stopped: str | None) -> Widened:
        """Widen rows until every record has k matches.

        Args:
            cells: the vectors whose cells were lowered, with the level of each.
            pairs: these vectors with those that their labels cover.
            budget: when to end early.
            stopped: why the rounds before ended early; then this is not begun.

        Raises:
            UnsupportedError: the graph has too many edges to be fetched.
        """
        graph, rounds = self._graph(cells, pairs), 0
        try:
            with budget.limits(self.state.workspace.engine):
                while stopped is None and rounds < MOST_WIDENINGS and graph.lacking(self.k):
                    wider_cells, wider_pairs = self._widened(cells, graph, rounds)
                    graph = self._graph(wider_cells, wider_pairs)
                    self._drop(cells, *([pairs] if pairs != self.reachable else []))
                    cells, pairs, rounds = wider_cells, wider_pairs, rounds + 1
                    self.state.workspace.report(f"widening rows: round {rounds}", None)
        except Stopped as reason:
            stopped = str(reason)
        if graph.lacking(self.k):
            cells, pairs = self._restored(cells, graph)
            graph = self._graph(cells, pairs)
        counts = [(vector, graph.count(vector)) for vector in sorted(graph.covered)]
        return Widened(cells, pairs, self._load("matches", counts), rounds, stopped)

    def _graph(self, cells: Relation, pairs: Relation) -> Matches:
        """The matches of all records.

        Raises:
            UnsupportedError: the graph has too many edges to be fetched.
        """
        tables = {"cells": cells, "pairs": pairs, "held": self.held, "vectors": self.state.vectors}
        edges = self._fetched("graph", tables, MOST_EDGES + 1, most=MOST_EDGES + 1)
        if len(edges) > MOST_EDGES:
            raise UnsupportedError(
                f"recoding: kk: the graph of records and rows has more than {MOST_EDGES:,} edges, too many to look for "
                "all assignments, which global_1k is about; ask for kind: kk, or for k_anonymity with recoding: local, "
                "which implies it"
            )
        (released,) = self.state.row("kk/released", {"held": self.held})
        rows = {row: released for row, _, released, _ in edges}
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
        return Matches(covered, rows, matches)

    def _widened(self, cells: Relation, graph: Matches, number: int) -> tuple[Relation, Relation]:
        """The cells and the pairs after one round."""
        told = self._load("lacking", graph.lacking(self.k).items())
        tables = {"lacking": told, "reachable": self.reachable, "cells": cells, "prices": self.prices}
        most = self.k * len(graph.covered)
        candidates: dict[int, list[int]] = {}
        for vector, _, other in self._fetched("candidates", tables, most, lowered=self.state.cuttable, k=self.k):
            candidates.setdefault(vector, []).append(other)
        taken = exchanges(self.k, graph, candidates)
        both = {*taken, *((other, vector) for vector, other in taken)}
        arcs = self._load("widened", sorted(pair for pair in both if pair[0] in graph.rows))
        tables = {"cells": cells, "widened": arcs, "reachable": self.reachable}
        following = self._after("wider_cells", tables, f"wider{number % 2}")
        self._drop(told, arcs)
        return following

    def _restored(self, cells: Relation, graph: Matches) -> tuple[Relation, Relation]:
        """The cells and the pairs: as before, where the class of a row covers a record that lacks matches."""
        rows = {row for vector in graph.lacking(self.k) for row in graph.covered[vector]}
        told = self._load("restored", [(row, 0) for row in sorted(rows)])
        following = self._after("restored_cells", {"cells": cells, "lacking": told, "held": self.held}, "restored")
        self._drop(told)
        return following

    def _after(self, name: str, tables: Mapping[str, Relation], what: str) -> tuple[Relation, Relation]:
        cells = self.make(name, tables, f"{what}_cells")
        return cells, self.make("wider_pairs", {"cells": cells, "reachable": self.reachable}, f"{what}_pairs")

    def _fetched(
        self, name: str, tables: Mapping[str, Relation], limit: int, **context: object
    ) -> list[tuple[int, ...]]:
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
