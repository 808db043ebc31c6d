"""Samarati's distance-vector matrix: the suppression of every node, without a generalized table.

Source: Samarati 2001, "Protecting respondents' identities in microdata release", section 4.
The distance vector of two rows has, per quasi-identifier, the lowest level at which both have
the same generalized value; a node puts them into one class exactly when it is at least that
high everywhere. So the class of an outlier (a distinct vector with fewer than k rows) at a node
is what lies within the node's levels, and only outliers can ever have to be suppressed: a
vector with k rows is a class that is large enough at every node.

The matrix is outliers x distinct vectors, computed and folded to one row per outlier and
distance vector by the database, from the frequency set alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from kanon_sql.engines import Workspace, refuse_incomplete
from kanon_sql.errors import SearchTooLarge, UnsupportedError
from kanon_sql.frequency import FrequencySets
from kanon_sql.hierarchies import Codes, Lookup
from kanon_sql.search import Node
from kanon_sql.spec import Count
from kanon_sql.sql import PORTABLE, Relation, Sql, Statement, render, slot

__all__ = ["MOST_PAIRS", "DistanceMatrix", "MatrixSizes", "distances_of"]

MOST_PAIRS = 100_000_000
"""The most pairs of an outlier and a vector; DuckDB compares about ten million in a second on two cores."""


class MatrixSizes(TypedDict):
    """How large the matrix of distance vectors is that a search counted with.

    Attributes:
        outliers: distinct vectors of values with fewer than k rows.
        vectors: distinct vectors of values.
        rows: outliers with the distance vectors that occur for them.
    """

    outliers: Count
    vectors: Count
    rows: Count


class DistanceMatrix:
    """The distances of all outliers from all vectors, as a scratch table.

    Args:
        workspace: where to build it.
        sets: the frequency sets.
        k: of k-anonymity, the one requirement.

    Attributes:
        vectors: distinct vectors of values.
        outliers: those with fewer than k rows (or persons).
        rows: of the matrix: outliers with the distance vectors that occur for them.
        base_reads: how often building it read the first frequency set.

    Raises:
        SearchTooLarge: too many pairs.
        UnsupportedError: classes cannot be counted by adding up vectors.
    """

    base_reads = 3

    def __init__(self, workspace: Workspace, sets: FrequencySets, k: int) -> None:
        if sets.counting == "unit":
            raise UnsupportedError(
                "search.distance_vectors adds up the persons of different vectors, but here one person has rows with "
                "several; leave search.distance_vectors out, and the frequency sets answer"
            )
        self._workspace = workspace
        self._codes = sets.codes
        self._lookups = [lookup for lookup in sets.lookups if lookup.height]
        self._shared = {
            "frequency": sets.base,
            "lookups": self._lookups,
            "words": sets.codes.words,
            "size": "row_count" if sets.counting == "rows" else "person_count",
            "k": k,
        }
        sizes = workspace.row("evaluate/distance_vectors/size", **self._shared)
        self.vectors, self.outliers, rows, self._outlier_rows = (int(size or 0) for size in sizes)
        refuse_incomplete("evaluate/distance_vectors/size", rows, sets.kept_rows)
        pairs = self.vectors * self.outliers
        if pairs > MOST_PAIRS:
            raise SearchTooLarge(
                f"search.distance_vectors would compare {self.outliers:,} outliers with {self.vectors:,} distinct "
                f"vectors: {pairs:,} pairs (at most {MOST_PAIRS:,}). Leave search.distance_vectors out (the frequency "
                "sets give the same answers), or use fewer quasi-identifiers."
            )
        self._matrix = self._build()
        self.rows = workspace.size([self._matrix])

    @property
    def sizes(self) -> MatrixSizes:
        """The three numbers by name."""
        return {"outliers": self.outliers, "vectors": self.vectors, "rows": self.rows}

    def _build(self) -> Relation:
        workspace, shared = self._workspace, self._shared
        outliers, matrix = workspace.table("outliers"), workspace.table("matrix")
        workspace.execute("evaluate/distance_vectors/outliers", target=outliers, **shared)
        distances = distances_of(self._codes, self._lookups)
        workspace.execute(
            "evaluate/distance_vectors/distances", target=matrix, outliers=outliers, distances=distances, **shared
        )
        workspace.drop(outliers)
        return matrix

    def suppressed(self, nodes: Sequence[Node]) -> dict[Node, int]:
        """Rows in classes of fewer than k, by node, in one statement; a NULL that suppresses its row is not counted.

        Args:
            nodes: at least one, at most as many as the engine takes in a statement.
        """
        questions = [self._question(number, node) for number, node in enumerate(nodes)]
        rows = self._workspace.query(self._workspace.compiler.union(questions), len(nodes))
        judged = {int(number): outlier_rows for number, _, outlier_rows in rows}
        for number, _ in enumerate(nodes):
            refuse_incomplete("evaluate/distance_vectors/node", judged.get(number), self._outlier_rows)
        return {nodes[int(number)]: int(suppressed or 0) for number, suppressed, _ in rows}

    def _question(self, number: int, node: Node) -> Statement:
        compiler = self._workspace.compiler
        names = {lookup.index: f"level_{lookup.index}" for lookup in self._lookups}
        shape = compiler.shape(
            "evaluate/distance_vectors/node",
            (),
            lambda: {"matrix": self._matrix, "levels": [slot(name) for name in names.values()], **self._shared},
        )
        levels = {name: str(node[index]) for index, name in names.items()}
        return compiler.fill("evaluate/distance_vectors/node", shape, {"node": str(number), **levels})


def distances_of(codes: Codes, lookups: Sequence[Lookup]) -> dict[int, Sql]:
    """Per quasi-identifier, the distance of the vectors ``outliers`` and ``vectors``: the lowest level they share.

    Args:
        codes: how the vectors are written.
        lookups: of the quasi-identifiers that have a level to climb.
    """
    return {
        lookup.index: render(
            "evaluate/distance_vectors/distance",
            levels=lookup.levels,
            height=lookup.height,
            outlier_codes=[Sql(codes.code(lookup.index, level, PORTABLE, "outliers")) for level in lookup.levels],
            vector_codes=[Sql(codes.code(lookup.index, level, PORTABLE, "vectors")) for level in lookup.levels],
        )
        for lookup in lookups
    }
