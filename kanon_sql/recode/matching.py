"""Approximations of optimal 2- and 3-anonymity of columns with two values, by factors of least weight.

After Aggarwal et al., "Approximation Algorithms for k-Anonymity", 2005: at most 1.5 times, and twice, the cells that
have to be suppressed. The weight of an edge is the number of cells in which two rows differ. In a column of two values,
a circle through rows that are not all alike there has at least two edges that change it.

k = 2: an edge cover of least weight. A class of the optimum is two rows with d cells between them, which cost 2d, or
three, of which one differs from the others in each of s columns: their distances add up to 2s, the shorter two to 4s/3
at most, and they cost 3s. So the cover weighs at most half of the optimum. It consists of stars. Two leaves of a star
are as near as their two edges are long, so pairs of them cost twice their edges at most; what is left are two rows
(twice their edge) or three (three times their edges w, since the distances add up to 2w at most). So all in all 3 times
the cover at most: 1.5 times the optimum.

k = 3: a 2-factor of least weight. Classes of the optimum have 3 to 5 rows. With s columns to suppress, a circle of 3
rows weighs 2s (and they cost 3s); of 4, the three circles weigh 8s/3 at most in the mean (4s); of 5, all circles 3s at
most in the mean (5s). So the factor weighs at most 2/3 of the optimum. A circle of weight w and 3, 4 or 5 rows becomes
a class, in which a row loses w/2 at most: 2.5 w for all. A longer one is divided into paths of 3 rows, which cost 3
times their edges, and of 4, one or two, which cost 4 times theirs. In the mean over all places to begin that is 3w at
most, and the best of them is taken. So all in all 3 times the factor at most: twice the optimum.

Alike rows are 0 apart. For k = 2 only vectors of a single row have to be matched: the others have an edge of weight 0.
For k = 3 at most three rows of a vector are looked at. Of four or more, one can be left out: out of a circle of four or
more rows; or what is left of its three is put beside another one of these rows, in the circle of that. Neither makes
the factor heavier, so the lightest factor of fewer rows is no heavier. Rows that were left out come back in the place
of one that is alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from kanon_sql.errors import UnsupportedError
from kanon_sql.evaluate import Budget
from kanon_sql.frequency import Prepared
from kanon_sql.models import models_of
from kanon_sql.recode.approximate import NOT_KEPT, Vectors, approximated, approximation_faults
from kanon_sql.recode.factors import circles, needs_networkx, paired
from kanon_sql.recode.recoding_result import NoRecoding, RecodingResult
from kanon_sql.recode.trees import Part
from kanon_sql.spec import Fault, Spec, recoding
from kanon_sql.sql import Relation

__all__ = ["MOST_EDGES", "MOST_VERTICES", "parts_of_circles", "parts_of_stars", "recoded_by_matching"]

MOST_EDGES = 50_000
"""The most pairs of vectors that are fetched for k = 2: matching takes some 20 seconds for them."""

MOST_VERTICES = 60
"""The most rows for k = 3, three of a vector at most: any two of them are two vertices of the graph that is matched."""


def _faults(spec: Spec) -> Iterator[Fault]:
    """What an approximation cannot promise, and other classes than of two and three rows."""
    faults = list(approximation_faults(spec))
    refused = any(fault.loc == ("recoding", "method") for fault in faults)
    if not refused and (k := models_of(spec)[0].least_size) not in (2, 3):
        message = f"matching supports k = 2 and k = 3, and privacy asks for k = {k}; use forest or cover"
        yield Fault(("recoding", "method"), message, True)
    yield from faults


@recoding(
    "matching",
    title="Approximation by matching",
    words="a value is released as it is or suppressed, class by class",
    any_model=False,
    faults=_faults,
    not_kept=NOT_KEPT,
    parts_rows=True,
)
def recoded_by_matching(given: Prepared, spec: Spec, budget: Budget) -> NoRecoding | RecodingResult:
    """Recode by a factor of least weight.

    Args:
        given: the frequency sets.
        spec: what to anonymize and how; k is 2 or 3.
        budget: when to end early; all rows are released as one class then.

    Returns:
        The recoding; or nothing, where all rows together are fewer than k.

    Raises:
        UnsupportedError: a column has more than two values, there are too many different rows, or networkx is not
            installed.
        VerificationError: the parts are not what they have to be.
    """
    needs_networkx()
    return approximated(given, spec, budget, _parts, cells=True)


def _parts(vectors: Vectors) -> Sequence[Part]:
    _refuse_values(vectors)
    return _of_two(vectors) if vectors.k == 2 else _of_three(vectors)


def _refuse_values(vectors: Vectors) -> None:
    """Refuse columns of three values or more: the factor is for two."""
    state = vectors.state
    counts = state.row("matching/values", {"vectors": state.vectors}, attributes=state.cuttable)
    for path, count in zip(state.cuttable, counts, strict=True):
        if count > 2:
            raise UnsupportedError(
                "recoding: the approximation factor of matching holds for columns of two values, and "
                f"{path.name!r} has {count:,}; raise its minimum_level, or use recoding: cover"
            )


def _fetched(vectors: Vectors, name: str, tables: Mapping[str, Relation], most: int) -> list[tuple[int, ...]]:
    """Numbers, in their order."""
    workspace = vectors.state.workspace
    quoted = {slot: workspace.quoted(table) for slot, table in tables.items()}
    statement = workspace.compiler.filled(f"recode/matching/{name}", quoted)
    return sorted(tuple(map(int, row)) for row in workspace.query(statement, most))


def _of_two(vectors: Vectors) -> list[Part]:
    state, pairs = vectors.state, vectors.pairs(below=2)
    nearest = state.make("matching/nearest", "nearest", {"pairs": pairs})
    gains = state.make("matching/gains", "gains", {"pairs": pairs, "nearest": nearest})
    edges = state.workspace.size([gains])
    if edges > MOST_EDGES:
        raise UnsupportedError(
            f"recoding: matching would fetch {edges:,} pairs of rows that are near to each other, and at most "
            f"{MOST_EDGES:,} are matched; use recoding: forest or cover"
        )
    matched = paired((one, other, gain) for one, other, gain in _fetched(vectors, "edges", {"gains": gains}, edges))
    return parts_of_stars(_fetched(vectors, "neighbours", {"nearest": nearest}, vectors.light), matched)


def parts_of_stars(nearest: Sequence[tuple[int, ...]], matched: Sequence[tuple[int, int]]) -> list[Part]:
    """The parts of an edge cover of least weight.

    Args:
        nearest: every vertex, the nearest vector, and how many rows that has.
        matched: the vertices that share an edge; the others have that to their nearest.
    """
    rows = {vector: 1 for vector, _, _ in nearest} | {other: count for _, other, count in nearest}
    shared = {vector for pair in matched for vector in pair}
    edges = {*matched, *((min(one, near), max(one, near)) for one, near, _ in nearest if one not in shared)}
    neighbours: dict[int, list[int]] = {vector: [] for vector in rows}
    for one, other in sorted(edges):
        neighbours[one].append(other)
        neighbours[other].append(one)
    parts: list[Part] = []
    done: set[int] = set()
    for centre in sorted(neighbours, key=lambda vector: (rows[vector] == 1, -len(neighbours[vector]), vector)):
        if centre not in done and neighbours[centre]:
            done |= {centre, *neighbours[centre]}
            parts += _of_star(centre, rows[centre], neighbours[centre])
    return parts


def _of_star(centre: int, rows: int, leaves: Sequence[int]) -> Iterator[Part]:
    """Pairs of leaves; and the centre's rows, with the leaf that is left over, or without one by themselves."""
    rest = list(leaves)
    kept = 1 if len(leaves) % 2 else 2 if rows == 1 else 0
    while len(rest) > kept:
        yield [(rest.pop(), 1), (rest.pop(), 1)]
    own = 1 if rest and rows != 2 else rows  # of two rows, one cannot stay alone
    yield [(centre, own), *((leaf, 1) for leaf in rest)]
    if rows > own:
        yield [(centre, rows - own)]


def _of_three(vectors: Vectors) -> list[Part]:
    state = vectors.state
    (vertices,) = state.row("matching/rows", {"vectors": state.vectors}, k=vectors.k)
    if vertices > MOST_VERTICES:
        raise UnsupportedError(
            f"recoding: matching with k = 3 compares pairs of rows as a graph with {vertices:,} vertices (at "
            f"most three equal rows count), and at most {MOST_VERTICES} are matched; use recoding: forest or "
            "cover"
        )
    most = state.count * state.count
    distances = _fetched(vectors, "distances", {"pairs": vectors.pairs()}, most)
    counts = _fetched(vectors, "counts", {"vectors": state.vectors}, state.count)
    return parts_of_circles(
        {row[0]: row[1] for row in counts}, {(one, other): distance for one, other, distance in distances}
    )


def parts_of_circles(counts: Mapping[int, int], distances: Mapping[tuple[int, int], int]) -> list[Part]:
    """The parts of a 2-factor of least weight.

    Args:
        counts: vector -> its rows.
        distances: two vectors, the lower one first -> how far they are apart.
    """

    def apart(one: int, other: int) -> int:
        return 0 if one == other else distances[min(one, other), max(one, other)]

    def bound(path: Sequence[int]) -> int:
        return len(path) * sum(apart(one, other) for one, other in pairwise(path))

    vector_of = [vector for vector, rows in sorted(counts.items()) for _ in range(min(rows, 3))]
    weights = {
        (one, other): apart(vector_of[one], vector_of[other]) for other in range(len(vector_of)) for one in range(other)
    }
    surplus = {vector: rows - 3 for vector, rows in counts.items() if rows > 3}
    parts: list[Part] = [[(vector, rows)] for vector, rows in sorted(surplus.items()) if rows >= 3]
    for found in circles(range(len(vector_of)), weights):
        circle = []
        for vector in (vector_of[vertex] for vertex in found):
            more = surplus.pop(vector, 0)
            circle += [vector] * (1 + (more if more < 3 else 0))
        best = min(_divisions(circle), key=lambda paths: sum(map(bound, paths)))
        parts += [[(vector, path.count(vector)) for vector in dict.fromkeys(path)] for path in best]
    return parts


def _divisions(circle: Sequence[int]) -> Iterator[list[list[int]]]:
    """The ways to divide a circle into paths of three rows and one or two of four; of five rows at most, it is one."""
    size = len(circle)
    lengths = [size] if size <= 5 else [4] * (size % 3) + [3] * (size // 3 - size % 3)
    for begin in range(size):
        left = [*circle[begin:], *circle[:begin]]
        paths = []
        for length in lengths:
            paths.append(left[:length])
            left = left[length:]
        yield paths
