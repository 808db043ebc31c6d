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

Reduce. With the variant ``reduce``, sets are made disjoint instead (:mod:`kanon_sql.recode.disjoint`), as in the paper.
A set that needs rows takes k - 1 at most, each within its radius r of its centre. So columns in which the rows of a
part differ are counted by edges to centres: 2k - 2 of a set of 2k - 1 rows or fewer, and 3k - 4 of a larger one, which
is two parts then; e = max(2k - 2, 3k - 4). A part has 2k - 1 rows at most, so that a set costs (2k - 1) min(m, e r) at
most, with m columns. Let the rows that it covers first share that. The rows of a class cost (2k - 1) e d H together, as
above. Or all but the last J do, which cost (2k - 1) m each, while d is 1 at least (where it is 0, so is the price). The
best J gives O(k log min(k, m)): :func:`factor`.

The paper's own bound, O(k log m), is of sets of any number of rows within a radius, priced by it. Divided into classes,
a large one costs its rows times the radius, whatever they would cost by themselves; so no set counts more than 2k - 1
rows here, which is where log k comes from.

Vectors of k rows or more cover themselves at no price before the first round; of what costs nothing, nothing else is
left then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from kanon_sql.evaluate import Budget
from kanon_sql.frequency import Prepared
from kanon_sql.recode.approximate import NOT_KEPT, Vectors, approximated, approximation_faults, tree_of
from kanon_sql.recode.disjoint import CoveringSet, disjoint
from kanon_sql.recode.recoding_result import NoRecoding, RecodingResult
from kanon_sql.recode.trees import Part, Tree, largest, parts_of
from kanon_sql.spec import Spec, recoding
from kanon_sql.sql import Relation

__all__ = ["STATEMENTS_A_ROUND", "factor", "recoded_by_cover"]

STATEMENTS_A_ROUND = 12
"""No round takes more statements; each covers at least one vector that has fewer than k rows."""


def factor(k: int, columns: int | None = None) -> float:
    """What the cost is at most, times the lowest one.

    Args:
        k: the least rows of a class.
        columns: how many columns have something to lose, with the variant ``reduce``; None with ``trees``.
    """
    if columns is None:
        return largest(k) * (2 * k - 2) / k * _harmonic(0, k)
    edges = max(2 * k - 2, 3 * k - 4)
    return (2 * k - 1) * edges / k * min(_harmonic(last, k) + last * columns / edges for last in range(2 * k))


def _harmonic(last: int, k: int) -> float:
    return sum(1 / rows for rows in range(last + 1, 2 * k))


@recoding(
    "cover",
    title="Approximation by a greedy cover",
    words="a value is released as it is or suppressed, class by class",
    variants=("trees", "reduce"),
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
    divided = partial(_parts, reduces=spec.recoding.variant == "reduce")
    return approximated(given, spec, budget, divided, cells=True)


def _parts(vectors: Vectors, *, reduces: bool) -> Sequence[Part]:
    """Cover the vectors, and divide the trees of the sets, or make the sets disjoint."""
    state, pairs = vectors.state, vectors.pairs(below=vectors.k)
    trees = state.make("cover/initial", "trees0", {"vectors": state.vectors}, k=vectors.k)
    others: dict[int, dict[int, int]] | None = {} if reduces else None
    while state.row("cover/open", {"trees": trees})[0]:
        trees = _round(vectors, pairs, trees, others)
    found = tree_of(vectors, trees)
    return parts_of(found, vectors.k) if others is None else disjoint(_sets(found, others), vectors.k)


def _round(vectors: Vectors, pairs: Relation, trees: Relation, others: dict[int, dict[int, int]] | None) -> Relation:
    """What is covered after one more round; to make sets disjoint, ``others`` learns whose rows each may need."""
    state, number, k = vectors.state, vectors.state.rounds, vectors.k
    standing = {"trees": trees, "pairs": pairs}
    rings = state.make("cover/rings", f"rings{number}", standing)
    sets = state.make("cover/sets", f"sets{number}", {"rings": rings}, k=k, most=2 * k - 1)
    standing = {**standing, "sets": sets}
    members = state.make("cover/members", f"members{number}_sets", standing, most=2 * k - 1)
    taken = state.make("cover/taken", f"taken{number}", {**standing, "members": members}, k=k)
    if others is not None:
        quoted = {name: state.workspace.quoted(table) for name, table in {**standing, "taken": taken}.items()}
        statement = state.workspace.compiler.filled("recode/cover/others", quoted, k=k)
        for centre, other, rows in state.workspace.query(statement, (k - 1) * vectors.light):
            others.setdefault(int(centre), {})[int(other)] = int(rows)
    covered = state.make("cover/covered", f"trees{number + 1}", {"trees": trees, "taken": taken})
    for used in (taken, members, sets, rings, trees):
        state.workspace.drop(used)
    state.rounds += 1
    state.workspace.report(f"recoding by a cover: round {state.rounds}", None)
    return covered


def _sets(trees: Tree, others: Mapping[int, Mapping[int, int]]) -> list[CoveringSet]:
    """The sets that were taken: centres are roots, and those that joined a set before."""
    members: dict[int, dict[int, int]] = {centre: {centre: trees[centre][1]} for centre in others}
    members |= {vector: {vector: rows} for vector, (parent, rows) in trees.items() if not parent}
    for vector, (parent, rows) in trees.items():
        if vector not in members:
            members[parent][vector] = rows
    return [CoveringSet(own, others.get(centre, {})) for centre, own in members.items()]
