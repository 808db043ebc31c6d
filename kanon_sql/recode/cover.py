"""The O(k log k) approximation of optimal k-anonymity by a greedy cover, for suppressed cells.

As in Meyerson and Williams, "On the Complexity of Optimal k-Anonymity", 2004, rows are covered by balls of at least k
rows, a ball costs its radius, and the one is taken next that costs least for each row that it covers for the first
time. What is a set, and what becomes of the sets, differs, and is proven here; a class is one of the optimum, of 2k -
1 rows at most.

Sets. A set has a centre that is uncovered, and a radius within which there are k rows. It covers the centre and the
nearest uncovered vectors within it, until they have 2k - 1 rows; its price is its radius over the rows that are
uncovered within it, 2k - 1 at most. Of all rows of a class of which t are uncovered, each could be a centre, with the
diameter d of the class for a radius: so it proposes a set with a price of d / t at most. A round takes every set that
has the lowest price (and turn) of all that cover one of its vectors. So no row is covered at more than d / t, those
of a class together at no more than d (1 + 1/2 + ... + 1/(2k - 1)) = d H, and the radii of all sets add up to no more
than H times the diameters of all classes. A class costs k d at least: no fewer rows lose the d cells each by which two
of them differ.

Trees. Every vector that a set covers is joined to its centre by an edge no longer than the radius. A set of fewer than
k rows has, within its radius, some vector that was covered before, and its centre is joined to that. A set has at most
2k - 2 edges then. Every tree has k rows or more, and is divided (:mod:`kanon_sql.recode.trees`) into parts that lose at
most max(2k - 1, 3k - 5) times what the tree costs. All in all, that is at most max(2k - 1, 3k - 5) (2k - 2) H / k times
the optimum: :func:`factor`.

Vectors of k rows or more cover themselves at no price before the first round; of what costs nothing, nothing else is
left then.
"""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.evaluate import Budget
from kanon_sql.frequency import Prepared
from kanon_sql.recode.approximate import NOT_KEPT, Vectors, approximated, approximation_faults, tree_of
from kanon_sql.recode.recoding_result import NoRecoding, RecodingResult
from kanon_sql.recode.trees import Part, largest, parts_of
from kanon_sql.spec import Spec, recoding
from kanon_sql.sql import Relation

__all__ = ["STATEMENTS_A_ROUND", "factor", "recoded_by_cover"]

STATEMENTS_A_ROUND = 11
"""No round takes more statements; each covers at least one vector that has fewer than k rows."""


def factor(k: int) -> float:
    """What the cost is at most, times the lowest one."""
    return largest(k) * (2 * k - 2) / k * sum(1 / rows for rows in range(1, 2 * k))


@recoding(
    "cover",
    title="Approximation by a greedy cover",
    words="a value is released as it is or suppressed, class by class",
    any_model=False,
    faults=approximation_faults,
    not_kept=NOT_KEPT,
    parts_rows=True,
)
def recoded_by_cover(given: Prepared, spec: Spec, budget: Budget) -> NoRecoding | RecodingResult:
    """Recode by a greedy cover.

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
    return approximated(given, spec, budget, _parts, cells=True)


def _parts(vectors: Vectors) -> Sequence[Part]:
    """Cover the vectors, and divide the trees of the sets."""
    state, pairs = vectors.state, vectors.pairs(below=vectors.k)
    trees = state.make("cover/initial", "trees0", {"vectors": state.vectors}, k=vectors.k)
    while state.row("cover/open", {"trees": trees})[0]:
        trees = _round(vectors, pairs, trees)
    return parts_of(tree_of(vectors, trees), vectors.k)


def _round(vectors: Vectors, pairs: Relation, trees: Relation) -> Relation:
    """What is covered after one more round."""
    state, number, k = vectors.state, vectors.state.rounds, vectors.k
    standing = {"trees": trees, "pairs": pairs}
    rings = state.make("cover/rings", f"rings{number}", standing)
    sets = state.make("cover/sets", f"sets{number}", {"rings": rings}, k=k, most=2 * k - 1)
    standing = {**standing, "sets": sets}
    members = state.make("cover/members", f"members{number}_sets", standing, most=2 * k - 1)
    taken = state.make("cover/taken", f"taken{number}", {**standing, "members": members}, k=k)
    covered = state.make("cover/covered", f"trees{number + 1}", {"trees": trees, "taken": taken})
    for used in (taken, members, sets, rings, trees):
        state.workspace.drop(used)
    state.rounds += 1
    state.workspace.report(f"recoding by a cover: round {state.rounds}", None)
    return covered
