"""The O(k) approximation of optimal k-anonymity by a forest, for labels of hierarchies.

After Aggarwal, Feder, Kenthapadi, Motwani, Panigrahy, Thomas and Zhu, "Approximation Algorithms for k-Anonymity", 2005.
The rows are the vertices of a graph. As long as a tree has fewer than k of them, its only row without an edge of its
own gets one, to the nearest row outside. At most k - 2 others are inside, so that is no longer than the distance of
that row's (k - 1)-th nearest, which it loses in every release, also the best: its class has k - 1 others. Every row has
one edge at most, so the forest costs at most what the best release does. Alike rows are 0 apart, so those of a vector
are a tree from the start, of which one row has no edge yet, and only vectors are looked at.

The trees are then divided (:mod:`kanon_sql.recode.trees`) into parts that lose at most ``max(2k - 1, 3k - 5)`` times
what the forest costs, which is the factor of the paper. A label that all rows of a part have in common is at most as
high as the highest one that two neighbours need, so what holds of suppressed cells holds of labels.

A round gives all trees that are too small their edges at once:

    hooks    the edges of this round: into a tree of k rows or more; or, alternately, into trees of higher and of lower
             numbers, so that no circle is made
    jumped   where each tree comes to lie, by doubling, since it may be hooked into one that is hooked as well
    joined   the trees after it, by the lowest number of those that they consist of

In two rounds every tree that is too small is joined with another: what it was not hooked into in the first, since that
has a lower number, it is hooked into in the second, where that has a lower one still. So 2 log2 k rounds are enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2

from kanon_sql.errors import VerificationError
from kanon_sql.evaluate import Budget
from kanon_sql.frequency import Prepared
from kanon_sql.recode.approximate import NOT_KEPT, Vectors, approximated, approximation_faults, tree_of
from kanon_sql.recode.recoding_result import NoRecoding, RecodingResult
from kanon_sql.recode.trees import Part, parts_of
from kanon_sql.spec import Spec, recoding
from kanon_sql.sql import Relation

__all__ = ["most_rounds", "most_statements", "recoded_by_forest"]


def most_rounds(k: int) -> int:
    """No forest takes more rounds."""
    return 2 * ceil(log2(k))


def most_statements(k: int, light: int) -> int:
    """No forest over this many vectors of fewer than k rows takes more statements for its rounds."""
    return most_rounds(k) * (5 + 3 * (1 + ceil(log2(max(1, light)))))


@recoding(
    "forest",
    title="Approximation by a forest",
    words="the level of a value differs by class",
    any_model=False,
    faults=approximation_faults,
    not_kept=NOT_KEPT,
    parts_rows=True,
    lowest_labels=True,
)
def recoded_by_forest(given: Prepared, spec: Spec, budget: Budget) -> NoRecoding | RecodingResult:
    """Recode by a forest of nearest vectors.

    Args:
        given: the frequency sets.
        spec: what to anonymize and how.
        budget: when to end early; all rows are released as one class then.

    Returns:
        The recoding; or nothing, where all rows together are fewer than k.

    Raises:
        UnsupportedError: there are too many different rows.
        VerificationError: the parts are not what they have to be.
    """
    return approximated(given, spec, budget, _parts, cells=False)


def _parts(vectors: Vectors) -> Sequence[Part]:
    """Grow the trees, and divide them."""
    state, pairs = vectors.state, vectors.pairs(below=vectors.k)
    trees = state.make("trees/planted", "trees0", {"vectors": state.vectors})
    while state.row("trees/small", {"trees": trees}, k=vectors.k)[0]:
        if state.rounds == most_rounds(vectors.k):
            raise VerificationError(
                f"trees of fewer than {vectors.k} rows are left after {state.rounds} rounds; please report this with "
                "the engine's version"
            )
        trees = _round(vectors, pairs, trees)
    return parts_of(tree_of(vectors, trees), vectors.k)


def _round(vectors: Vectors, pairs: Relation, trees: Relation) -> Relation:
    """The trees after one more round."""
    state, number = vectors.state, vectors.state.rounds
    tables = {"trees": trees, "pairs": pairs}
    hooks = state.make("trees/hooks", f"hooks{number}", tables, k=vectors.k, upwards=number % 2 == 0)
    doubled = 0
    while state.row("trees/chained", {"hooks": hooks})[0]:
        jumped = state.make("trees/jumped", f"hooks{number}_{doubled}", {"hooks": hooks})
        state.workspace.drop(hooks)
        hooks, doubled = jumped, doubled + 1
    joined = state.make("trees/joined", f"trees{number + 1}", {"trees": trees, "hooks": hooks})
    for used in (hooks, trees):
        state.workspace.drop(used)
    state.rounds += 1
    state.workspace.report(f"recoding by a forest: round {state.rounds}", None)
    return joined
