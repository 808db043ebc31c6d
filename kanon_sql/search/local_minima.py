"""Locally minimal generalizations: the first that satisfy on some way from the values up.

A generalization strategy is a path from the bottom of the lattice to its top, a step of one level at a time; the first
node on it that satisfies is locally minimal (Samarati 2001, section 4). Every k-minimal generalization is locally
minimal, on all paths through it. The converse does not hold: another path may satisfy below.
"""

from __future__ import annotations

from kanon_sql.search.base import MAX_NODES, Outcome, Question
from kanon_sql.search.lattice import Node

__all__ = ["locally_minimal"]


def locally_minimal(question: Question, outcome: Outcome) -> tuple[Node, ...] | None:
    """All locally minimal generalizations, in lexicographic order.

    No question is asked: where satisfying is monotone, the k-minimal nodes say of every node whether it satisfies;
    elsewhere, an exhaustive search has asked.

    Args:
        question: the lattice, and whether satisfying is monotone.
        outcome: what the search found.

    Returns:
        The nodes; None where it is not known of every node whether it satisfies, or the lattice has more than
        ``MAX_NODES`` nodes.
    """
    lattice = question.lattice
    if outcome.minimal is None or lattice.size > MAX_NODES:
        return None
    if not question.monotone and outcome.algorithm != "exhaustive":
        return None
    known = outcome.minimal if question.monotone else [verdict.node for verdict in outcome.solutions]
    satisfying, open_ways, found = set(known), set(), []
    # Lexicographic order visits every specialization of a node before the node itself.
    for node in lattice:
        below = list(lattice.predecessors(node))
        if question.monotone and any(lower in satisfying for lower in below):
            satisfying.add(node)
        if below and not any(lower in open_ways for lower in below):
            continue  # every way to it satisfies before
        if node in satisfying:
            found.append(node)
        else:
            open_ways.add(node)
    return tuple(found)
