"""Exhaustive search: every node of the lattice is asked about, none is inferred.

Sources: MinGen (Sweeney 2002, "Achieving k-anonymity privacy protection using
generalization and suppression", section 4) and the definition of k-minimal generalization
(Samarati 2001, section 3). It is the yardstick the other strategies are tested against.

Proven for every privacy model and every metric, because nothing is assumed about either.
"""

from __future__ import annotations

from kanon_sql.errors import SearchTooLarge
from kanon_sql.search.base import MAX_NODES, Outcome, Question, Strategy, algorithm
from kanon_sql.search.tags import Tags, ask

__all__ = ["exhaustive"]


@algorithm(
    finds="what `optimal` finds and proves, by asking about every node",
    when="small lattices; to check the others",
    source="MinGen: Sweeney 2002",
)
def exhaustive(question: Question) -> Strategy:
    """Ask about the whole lattice; the best node by ``question.rank``.

    Returns:
        A strategy whose outcome has ``solutions`` (all satisfying nodes) and ``minimal``.

    Raises:
        SearchTooLarge: the lattice has more than ``MAX_NODES`` nodes. Raised before the
            first question.
    """
    lattice = question.lattice
    if lattice.size > MAX_NODES:
        raise SearchTooLarge(
            f"exhaustive search asks about every node, and this lattice has {lattice.size:,} nodes "
            f"(at most {MAX_NODES:,}). Limit the levels (minimum_level, maximum_level), use fewer "
            "quasi-identifiers, or choose the algorithm 'incognito'."
        )
    verdicts = yield from ask(list(lattice), metrics=True, left=lattice.size)
    solutions = sorted((v for v in verdicts.values() if v.satisfied), key=question.rank)
    satisfying = {verdict.node for verdict in solutions}

    tags = Tags(lattice)
    minimal = []
    # Lexicographic order visits every specialization of a node before the node itself.
    for number, node in enumerate(lattice):
        if node in satisfying and not tags.marks[number]:
            minimal.append(node)
            tags.mark_above(number, 1)

    return Outcome(
        algorithm="exhaustive",
        best=solutions[0] if solutions else None,
        proven=True,
        criterion="lowest metric, ties broken by the preference",
        solutions=tuple(solutions),
        minimal=tuple(minimal),
        inferred=0,
    )
