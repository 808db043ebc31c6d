"""The state that a recoding works on: the numbered vectors, and which partition each of them is in.

vectors   every vector with its codes, its counts, and its class at the node that the recoding begins with
open      every vector that will be released: its partition, and whether a round may still divide that (``live``)
steps     the columns that can be cut along their hierarchies, with the bits that each level of them keeps

Columns that are released as ranges are cut anywhere in the order of their values: a vector then has, beside its codes,
the places of its values in these orders.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kanon_sql.engines import Workspace, refuse_incomplete
from kanon_sql.evaluate import Order
from kanon_sql.frequency import FrequencySets
from kanon_sql.models import PrivacyModel
from kanon_sql.recode.coins import Coins, coins_of
from kanon_sql.recode.judge import Judge, judge_of
from kanon_sql.recode.paths import Dimension, Path, Word, paths_of, words_of
from kanon_sql.search import Node
from kanon_sql.sql import PORTABLE, Relation, Sql, render, slot

__all__ = ["Partitions", "begin", "peel"]


@dataclass
class Partitions:
    """Partitions of the frequency set.

    Attributes:
        workspace: where they are.
        sets: the frequency sets.
        paths: the quasi-identifiers.
        words: what a vector's codes are.
        judge: whether groups of vectors satisfy.
        labels: the table of all labels.
        roots: the classes of the node that the recoding begins with, and whether they satisfy.
        kept_rows: rows in those that do.
        violating_rows: rows in those that do not; they are suppressed.
        open: the released vectors with their partitions.
        steps: the columns that can be cut along their hierarchies; None without one.
        last: the highest number of a partition so far.
        count: how many vectors there are.
        rounds: rounds so far.
        ranged: the quasi-identifiers that are released as ranges.
        orders: the order of each of them, by its number.
        key: of the coins, as a literal, where vectors are in slices (:mod:`kanon_sql.recode.resist`); None without.
    """

    workspace: Workspace
    sets: FrequencySets
    paths: Sequence[Path]
    words: Sequence[Word]
    judge: Judge
    labels: Relation
    roots: Relation
    kept_rows: int
    violating_rows: int
    open: Relation
    steps: Relation | None
    last: int
    count: int = 0
    rounds: int = 0
    ranged: Sequence[Dimension] = ()
    orders: Mapping[int, Order] = field(default_factory=dict)
    key: str | None = None

    @property
    def vectors(self) -> Relation:
        """The numbered vectors."""
        return self.judge.vectors

    @property
    def codes(self) -> tuple[str, ...]:
        """The columns of the codes."""
        return tuple(word.name for word in self.words)

    @property
    def values(self) -> tuple[str, ...]:
        """What a vector is: its codes, and the places of its values."""
        return (*self.codes, *(f"place{item.index}" for item in self.ranged))

    @property
    def names(self) -> tuple[str, ...]:
        """What goes with a vector wherever it goes; with a slice also where it begins, and whether it is loose."""
        return self.values if self.key is None else (*self.values, "first_row", "loose")

    @property
    def fills(self) -> dict[str, str]:
        """What the templates of the rounds are filled with besides tables."""
        return {} if self.key is None else {"key": self.key}

    def coins(self, spans: str) -> Coins | None:
        """The coins that decide with the counts; None where the counts decide alone."""
        return None if self.key is None else coins_of(self.judge.least_size, spans)

    def replace_vectors(self, vectors: Relation) -> None:
        """Go on with other vectors."""
        self.judge = replace(self.judge, vectors=vectors)

    @property
    def cuttable(self) -> tuple[Path, ...]:
        """The quasi-identifiers that have more than one level to choose from."""
        return _cuttable(self.paths)

    @property
    def climbed(self) -> tuple[Path, ...]:
        """Those of them that are cut along their hierarchies, the columns of ``steps``."""
        ranged = {item.index for item in self.ranged}
        return tuple(path for path in self.cuttable if path.index not in ranged)

    @property
    def depth(self) -> int:
        """The most levels that a column can be divided by."""
        return max((len(path.levels) - 1 for path in self.paths), default=0)

    @property
    def width(self) -> int:
        """More than there are labels."""
        return 1 + sum((path.domain_rows + 2) * (path.height + 1) for path in self.paths)

    def make(
        self, name: str, what: str, tables: Mapping[str, Relation], fills: Mapping[str, str] | None = None, /,
        **context: Hashable,
    ) -> Relation:  # fmt: skip
        """Create a scratch table from a template of this room."""
        return self.workspace.make(f"recode/{name}", what, tables, fills or {}, **context)

    def row(self, name: str, tables: Mapping[str, Relation], /, **context: Any) -> tuple[int, ...]:
        """The one row of figures that a template of this room returns."""
        compiler = self.workspace.compiler
        quoted = {key: self.workspace.quoted(table) for key, table in tables.items()}
        ((*figures,),) = self.workspace.query(compiler.filled(f"recode/{name}", quoted, **context), 1)
        return tuple(int(figure or 0) for figure in figures)  # a sum over no classes is NULL

    def apart(self, prefix: str) -> Partitions:
        """The same partitions; what is made of them from now on has names of its own."""
        workspace = self.workspace.apart(prefix)
        return replace(self, workspace=workspace, judge=replace(self.judge, workspace=workspace))

    def advance(self, following: Relation, last: int) -> None:
        """A round is over: what the partitions are now."""
        self.workspace.drop(self.open)
        self.open, self.last = following, last
        self.rounds += 1


def _cuttable(paths: Sequence[Path]) -> tuple[Path, ...]:
    return tuple(path for path in paths if path.low < path.high)


def begin(
    workspace: Workspace,
    sets: FrequencySets,
    models: Sequence[PrivacyModel],
    start: Node,
    levels: Sequence[tuple[int, ...]] | None = None,
    ranged: Collection[int] = (),
) -> Partitions:
    """The partitions that a recoding begins with: the classes of a node, and each vector that satisfies alone.

    Args:
        workspace: where to make them.
        sets: the frequency sets.
        models: the requirements.
        start: the node; no label of the release is above its levels.
        levels: per quasi-identifier, those that may be released, its level of the node the highest; None for all
            levels allowed up to there.
        ranged: the quasi-identifiers that are not cut along their hierarchies.
    """
    if levels is None:
        lowest = [lookup.quasi_identifier.minimum_level for lookup in sets.lookups]
        levels = [tuple(range(low, high + 1)) for low, high in zip(lowest, start, strict=True)]
    words = words_of(sets, tuple(own[0] for own in levels))
    lookups = [Relation(slot=f"lookup{lookup.index}") for lookup in sets.lookups]
    paths = paths_of(sets, levels, lookups)
    by_person = sets.counting == "persons"
    roots = [Sql(key) for key in sets.codes.keys(start, PORTABLE)]
    vectors = workspace.make(
        "recode/vectors", "vectors", {"base": sets.base}, {},
        words=tuple(words), roots=Sql(", ".join(roots)) if roots else None, by_person=by_person,
    )  # fmt: skip
    tables = {f"lookup{lookup.index}": lookup.table for lookup in sets.lookups}
    labels = workspace.make("recode/labels", "labels", tables, {}, attributes=tuple(paths))
    judge = judge_of(workspace, sets, models, vectors, words)
    judged = judge.judged("roots", slot("grouped"), ["part"], {"grouped": vectors})
    climbed = tuple(path for path in _cuttable(paths) if path.index not in ranged)
    depth = max(len(path.levels) - 1 for path in paths)
    steps = workspace.make("recode/steps", "steps", {}, {}, attributes=climbed, depth=depth) if climbed else None
    state = Partitions(workspace, sets, paths, words, judge, labels, judged, 0, 0, vectors, steps, 0)
    state.kept_rows, state.violating_rows = state.row("verdict", {"judged": judged})
    refuse_incomplete("recode/verdict", state.kept_rows + state.violating_rows, sets.kept_rows)
    return state


def peel(state: Partitions) -> None:
    """Begin: close every vector that satisfies alone, where those that stay behind satisfy together; open the rest."""
    judge = state.judge
    tables = {"vectors": state.vectors, "roots": state.roots}
    alone = judge.judged("alone", slot("grouped"), ["vector"], {"grouped": state.vectors})
    behind = render("recode/rest")
    rest = judge.judged("rest", behind, ["part"], {"vectors": state.vectors, "alone": alone})
    (state.count,) = state.row("count", {"table": state.vectors})
    first = {"first": str(state.count)}  # no class of the first node has a number above
    peeled = state.make("peeled", "peeled", {**tables, "alone": alone, "rest": rest}, first)
    context = {"words": state.names, "by_person": judge.by_person}
    state.open = state.make("initial", "open0", {**tables, "peeled": peeled}, **context)
    state.last = 2 * state.count
    for table in (alone, rest, peeled):
        state.workspace.drop(table)
