"""The mechanism in the database: classes of k or more, how many rows of each are drawn, and the release of these.

Drawing every row of a class of n with probability beta and counting is drawing one number, from the binomial
distribution of n and beta; and a release whose columns are all generalized shows of a class nothing but that number.
So the sizes of classes of k rows or more are fetched, one number is drawn for each, and the labels of the class are
written this many times. No key or hash of a row is in any statement, and every engine draws alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from kanon_sql.engines import Workspace
from kanon_sql.errors import SearchTooLarge, UnsupportedError
from kanon_sql.evaluate import Evaluator
from kanon_sql.frequency import FrequencySets
from kanon_sql.release.differential.parameters import BITS, Sampling
from kanon_sql.release.differential.randomness import Coins, binomial, chosen_by_score
from kanon_sql.release.differential.scores import Score
from kanon_sql.search import MAX_NODES, Lattice, Node
from kanon_sql.sql import PORTABLE, Relation, Sql

__all__ = [
    "Drawn",
    "choose_levels",
    "draw",
    "expected_size",
    "lattice_to_choose_from",
    "write_drawn",
]

MOST_CLASSES = 200_000
"""The most classes of k rows or more that are drawn from: a row of each is fetched, and one is sent back."""

_PART = 1_000
"""The most copies that one row of what was drawn asks for."""


@dataclass(frozen=True)
class Drawn:
    """What is released.

    Attributes:
        classes: the numbered classes of k rows or more.
        copies: a class's number, and how many rows of it to write: several rows for a class that has many.
        numbers: from 0 on, as many as the largest of these asks for.
        words: the columns that hold the classes' codes.
        rows: how many rows are released.
    """

    classes: Relation
    copies: Relation
    numbers: Relation
    words: Sequence[str]
    rows: int


def draw(workspace: Workspace, evaluator: Evaluator, node: Node, sampling: Sampling, coins: Coins) -> Drawn:
    """Draw rows of every class of a node, and leave out those of which fewer than k were drawn.

    Args:
        workspace: where.
        evaluator: of the whole source.
        node: the levels, fixed or chosen with a budget of their own.
        sampling: the probability, and k.
        coins: where randomness comes from.

    Raises:
        UnsupportedError: there are too many classes.
    """
    workspace.report("drawing a random sample of the rows", None)
    words = [f"code{word}" for word, _ in enumerate(evaluator.sets.codes.held(node))]
    classes = workspace.table("drawn_classes")
    workspace.execute(
        "release/differential/classes",
        target=classes,
        vectors=evaluator.frequency_set(node),
        words=words,
        k=sampling.k,
    )
    if workspace.size([classes]) > MOST_CLASSES:
        raise UnsupportedError(
            f"differential_privacy: more than {MOST_CLASSES:,} classes have k = {sampling.k} rows or more, and "
            "their sizes are fetched to draw the rows; choose higher levels"
        )
    parts, rows = [], 0
    for number, size in sorted(workspace.fetch("release/differential/sizes", MOST_CLASSES, classes=classes)):
        copies = binomial(int(size), sampling.threshold, BITS, coins)
        if copies < sampling.k:
            continue
        rows += copies
        parts += [(number, _PART)] * (copies // _PART)
        parts += [(number, copies % _PART)] if copies % _PART else []
    copies_table, numbers = workspace.table("drawn_copies"), workspace.table("drawn_numbers")
    if rows:
        workspace.load(copies_table, ["l0", "l1"], [(str(number), str(copies)) for number, copies in parts])
        largest = max(copies for _, copies in parts)
        workspace.load(numbers, ["l0"], [(str(number),) for number in range(largest)])
    return Drawn(classes, copies_table, numbers, words, rows)


def write_drawn(
    workspace: Workspace,
    target: Relation,
    *,
    names: Sequence[str],
    drawn: Drawn,
    sets: FrequencySets,
    node: Node,
    temporary: bool = False,
) -> None:
    """Write the release.

    Args:
        workspace: where.
        target: the table to create.
        names: the released columns, in order.
        drawn: what to write.
        sets: the lookup tables that the classes' codes stand for.
        node: the levels.
        temporary: the table is copied afterwards, and belongs to the session.
    """
    keyed = sets.keyed(node)
    position = {lookup.name: lookup.index for lookup in sets.lookups}
    workspace.execute(
        "release/differential/write",
        target=target,
        temporary=temporary,
        classes=drawn.classes,
        drawn=drawn.copies,
        numbers=drawn.numbers,
        outputs=[_output(name, position[name], keyed, sets) for name in names],
        lookups=[
            {
                "index": index,
                "table": sets.lookups[index].table,
                "level": node[index],
                "code": Sql(sets.codes.code(index, node[index], PORTABLE, "classes")),
                "of_lookup": Sql(sets.codes.from_lookup(index, node[index], PORTABLE)),
            }
            for index in keyed
        ],
    )


def _output(name: str, index: int, keyed: Sequence[int], sets: FrequencySets) -> Mapping[str, Any]:
    """A released column: a label by the class's code, or the one label of the top."""
    if index in keyed:
        return {"name": name, "index": index, "top": None}
    return {"name": name, "index": None, "top": sets.lookups[index].top}


# --- The choice of the levels ---


def expected_size(sampling: Sampling) -> int:
    """The rows that a class needs so that k of them may be expected to be drawn: what the search counts as kept."""
    return ceil(sampling.k / sampling.probability)


def lattice_to_choose_from(evaluator: Evaluator) -> Lattice:
    """The nodes that are scored, which do not depend on the rows.

    Raises:
        SearchTooLarge: there are too many.
    """
    lattice = evaluator.question().lattice
    if lattice.size > MAX_NODES:
        raise SearchTooLarge(
            f"this lattice has {lattice.size:,} nodes, and differential_privacy scores all of them, at most "
            f"{MAX_NODES:,}; limit the levels (minimum_level, maximum_level), or fix them (generalization)"
        )
    return lattice


def choose_levels(
    evaluator: Evaluator, lattice: Lattice, score: Score, epsilon: Fraction, sampling: Sampling, coins: Coins
) -> Node:
    """Levels by the exponential mechanism over all nodes of a lattice.

    Args:
        evaluator: whose only requirement is classes of :func:`expected_size`, over the whole source.
        lattice: of the spec.
        score: what makes a node likelier.
        epsilon: what the choice may spend.
        sampling: what comes after it.
        coins: where randomness comes from.
    """
    evaluator.workspace.report("choosing the levels (exponential mechanism)", None)
    nodes = list(lattice)
    forms: dict[Score, list[Node]] = {}
    for node in nodes:
        forms.setdefault(score.at(node), []).append(node)
    scores = {
        measured.node: form.score(evaluator.sets.rows, measured)
        for form, own in forms.items()
        for measured in evaluator.measured(own, form)
    }
    ordered = [scores[node] for node in nodes]
    return nodes[chosen_by_score(ordered, epsilon, score.sensitivity(expected_size(sampling)), coins)]
