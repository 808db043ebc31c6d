"""What the approximations of optimal k-anonymity share: distances of vectors, and rows of alike ones in several parts.

They were published for tables in which rows are apart by a number of cells, and promise a cost of at most a factor
times the lowest one. Here the cost of a release is, summed over rows and columns, what each cell loses: in the forest
the steps of its label above the lowest level allowed, as a share of all that there are to the top; in the others 1
where it is suppressed. The distance of two vectors is what a row loses by the lowest labels that they have in common.

The optimum may give rows of the same vector to several classes, so a method gives each part this many of them. What is
asked must be class sizes in rows, so that it does not matter which ones go where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import lcm

from kanon_sql.errors import UnsupportedError
from kanon_sql.evaluate import Budget, out_of_reach
from kanon_sql.frequency import Prepared
from kanon_sql.recode.partitions import Partitions, begin
from kanon_sql.recode.paths import Path
from kanon_sql.recode.recoding_result import NoRecoding, RecodingResult, Tried
from kanon_sql.recode.release import mapped
from kanon_sql.recode.trees import Part, Tree
from kanon_sql.search import Stopped
from kanon_sql.spec import Fault, Spec, why_not_parted
from kanon_sql.sql import Relation

__all__ = ["MOST_PAIRS", "NOT_KEPT", "Vectors", "approximated", "approximation_faults", "tree_of"]

NOT_KEPT = "divides equal rows among classes as this source needs, so new rows have no defined class"
"""Why no approximation can be kept for new rows."""

MOST_PAIRS = 10_000_000
"""The most pairs of vectors whose distances are written down: those of some 3,000 vectors."""

_TOP = "top"
"""Where it begins: nothing is known of how rows belong together."""


@dataclass
class Vectors:
    """The vectors, and how far they are apart.

    Attributes:
        state: the partitions; all rows are one.
        k: the least size of a class.
        cells: whether a cell is released as it is or suppressed; else at any level.
        light: how many vectors have fewer than k rows.
    """

    state: Partitions
    k: int
    cells: bool
    light: int = 0

    def pairs(self, below: int | None = None) -> Relation:
        """The distances of vectors from all others.

        Args:
            below: only those of vectors that have fewer rows; None for those of all.

        Raises:
            UnsupportedError: there are too many.
        """
        ones = self.state.count if below is None else self.light
        count = ones * (self.state.count - 1)
        if count > MOST_PAIRS:
            raise UnsupportedError(
                f"recoding: the distances of {ones:,} distinct rows from {self.state.count:,} are {count:,}, and "
                f"at most {MOST_PAIRS:,} are compared; raise the minimum_level of quasi-identifiers, so that "
                "fewer rows differ, or use recoding: local, which compares no pairs"
            )
        tables = {"vectors": self.state.vectors}
        return self.state.make("pairs", "pairs", tables, attributes=self._attributes, below=below)

    @property
    def _attributes(self) -> tuple[tuple[Path, tuple[int, ...]], ...]:
        """The quasi-identifiers that have something to lose, with what a row loses per level, in whole numbers."""
        steps = {path.index: 1 if self.cells else path.high - path.low for path in self.state.cuttable}
        whole = lcm(*steps.values())
        return tuple(
            (path, tuple(whole * place // steps[path.index] for place, _ in enumerate(path.levels)))
            for path in self.state.cuttable
        )


def approximated(
    given: Prepared,
    spec: Spec,
    budget: Budget,
    divided: Callable[[Vectors], Sequence[Part]],
    *,
    cells: bool,
) -> NoRecoding | RecodingResult:
    """Release the rows in the parts that a method gives them.

    Args:
        given: the frequency sets.
        spec: what to anonymize and how; k-anonymity of rows, and nothing else.
        budget: when to end early; all rows are released as one class then.
        divided: the method: the parts of the vectors that share one with others. Those that it leaves out stay by
            themselves.
        cells: whether a cell is released as it is or suppressed; else at any level.

    Returns:
        The recoding; or nothing, where all rows together are fewer than k.

    Raises:
        UnsupportedError: there are too many different rows.
        VerificationError: the parts are not what they have to be.
    """
    sets = given.sets
    infeasible = out_of_reach(given)
    if infeasible is not None or sets.rows == sets.null_rows:
        return NoRecoding(spec, given, infeasible)
    given.workspace.report(f"recoding: {spec.recoding.method}", None)
    levels = [_levels(lookup.quasi_identifier.minimum_level, lookup.height, cells) for lookup in sets.lookups]
    tops = tuple(own[-1] for own in levels)
    state = begin(given.workspace, sets, given.models, tops, levels)
    if state.violating_rows:
        return NoRecoding(spec, given, "all rows together are fewer than k")
    vectors, stopped = Vectors(state, state.judge.least_size, cells), None
    try:
        with budget.limits(given.workspace.engine):
            state.count, vectors.light = state.row("weights", {"vectors": state.vectors}, k=vectors.k)
            parts = divided(vectors) if vectors.light else []
            state.open = _parted(state, parts)
    except Stopped as reason:
        stopped = str(reason)
    released = mapped(state, slices=stopped is None)
    found = RecodingResult(spec, given, released, state.judge, state.rounds, 0, stopped, _TOP, 0)
    return replace(found, tried={_TOP: Tried(found.mean_loss, found.rounds, 0)})


def _levels(low: int, top: int, cells: bool) -> tuple[int, ...]:
    return tuple(range(low, top + 1)) if not cells or low == top else (low, top)


def _parted(state: Partitions, parts: Sequence[Part]) -> Relation:
    """Every vector's rows in their parts: slices of them, each this many after the first ones."""
    taken: dict[int, int] = {}
    rows = []
    for number, part in enumerate(parts, 1):
        for vector, count in sorted(part):
            first = taken.setdefault(vector, 0)
            rows.append(tuple(map(str, (vector, number, first, count))))
            taken[vector] = first + count
    tables = {"vectors": state.vectors}
    if rows:
        tables["given"] = state.workspace.table("given")
        state.workspace.load(tables["given"], ["l0", "l1", "l2", "l3"], rows)
    fills = {"first": str(len(parts))}
    return state.make("parted", "parted", tables, fills, words=state.names, by_others=bool(rows))


def tree_of(vectors: Vectors, trees: Relation) -> Tree:
    """The trees of several vectors, by opaque numbers: fetched, at most twice as many as vectors of fewer than k rows.

    Every edge begins at one of these, and a tree of several vectors is made of edges.
    """
    state = vectors.state
    statement = state.workspace.compiler.filled("recode/trees/edges", {"trees": state.workspace.quoted(trees)})
    rows = state.workspace.query(statement, 2 * vectors.light)
    return {int(vector): (int(parent), int(count)) for vector, parent, count in rows}


def approximation_faults(spec: Spec) -> Iterator[Fault]:
    """What an approximation cannot promise: its factor is about rows, and it gives alike ones to several classes."""
    method = spec.recoding.method
    why = why_not_parted(spec, single=True)
    if why is not None:
        message = (
            f"the approximation factor of {method} holds for one k_anonymity of rows over all quasi-identifiers, "
            f"and {why}; use local"
        )
        yield Fault(("recoding", "method"), message, True)
    for name, column in spec.quasi_identifiers.items():
        if column.maximum_level is not None:
            message = f"{method} generalizes to the top where rows differ; leave maximum_level out"
            yield Fault(("quasi_identifiers", name, "maximum_level"), message, True)
