"""(k,k)-anonymity: the cells of a finished local recoding, lowered one by one.

After Gionis, Mazza and Tassa ("k-Anonymization Revisited", ICDE 2008), who give every record a row of its own: first
the nearest k - 1 others make it (k,1)-anonymous, then rows are generalized further until it is (1,k)-anonymous too.
Here it is done from above: the classes of a local recoding are k-anonymous, hence (k,k)-anonymous, and their labels
overlap, so that a record is consistent with more rows than those of its class. That is what rows can do without.

    held      every released vector, with the levels of its class
    pairs     every vector with the vectors that its labels cover, and the levels at which both meet
    slacks    how many of the rows that cover it a vector could still lose
    moves     the best cell of each vector to lower by one level
    taken     those of them that leave every vector k rows, all together

All rows of a vector have the same labels. A round lowers a cell of many vectors at once: moves stand in the order of
what they regain for each vector that they no longer cover, and one is refused where those before it, taken or not, and
itself would leave a vector fewer than k rows; the first is always taken. So rows and records stay (k,k)-anonymous after
each round, and no label is above that of the local recoding. A class of at least k rows that is left as it is covers
its own records, so a part of the classes can be looked at alone.

For global (1,k)-anonymity the rows so found are widened again, see :mod:`kanon_sql.recode.widening`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql.errors import UnsupportedError
from kanon_sql.evaluate import (
    Budget,
    Chosen,
    NothingFound,
    NothingToSearch,
)
from kanon_sql.frequency import Prepared
from kanon_sql.models import PrivacyModel, model_of, models_of
from kanon_sql.recode.best import OPTIMUM, Attempt
from kanon_sql.recode.kk_result import KKResult
from kanon_sql.recode.local import recoded_locally
from kanon_sql.recode.partitions import Partitions, begin, peel
from kanon_sql.recode.paths import Path
from kanon_sql.recode.recoding_result import RecodingResult, Tried, highest_levels
from kanon_sql.recode.release import Mapped, described, raised_of
from kanon_sql.recode.sweep import Prices, prices_of
from kanon_sql.recode.widening import Widened, Widening
from kanon_sql.search import Stopped
from kanon_sql.spec import Fault, KAnonymityRequirement, RecodingOptions, Spec, recoding
from kanon_sql.sql import Relation

__all__ = ["MOST_COVERED", "MOST_PLACED", "MOST_ROUNDS", "STATEMENTS_A_ROUND", "of_classes", "recoded_kk"]

MOST_PLACED = 2**27
"""Vectors times nodes of classes that are compared at most, to find which vectors the labels of a class cover."""

MOST_COVERED = 2**24
"""Pairs of a vector and one that its labels cover, at most; classes with more are left as they are."""

MOST_ROUNDS = 64
"""No more rounds are made: Adult takes 13."""

STATEMENTS_A_ROUND = 11
"""No round takes more statements."""

LOCAL, LOWERED = "local", "lowered"
"""What was tried: the local recoding that it begins with, and its cells lowered."""

NONE_LOWER = -1
"""The level below the lowest."""


def of_classes(models: Sequence[PrivacyModel]) -> list[PrivacyModel]:
    """The requirements that the local recoding satisfies which (k,k)-anonymous rows are made of: k-anonymity."""
    return [
        model if model.least_consistent is None else model_of(KAnonymityRequirement(k=model.least_consistent))
        for model in models
    ]


def _faults(spec: Spec) -> Iterator[Fault]:
    """What rows cannot promise that differ from each other: classes, and what is in them."""
    asked = [item for item in spec.privacy if item.name == "kk_anonymity"]
    others = [item.name for item in spec.privacy if item not in asked]
    variants = [getattr(item, "variant", None) for item in asked]
    why = None
    if others:
        why = f"{others[0]} is about classes of equal rows, which (k,k)-anonymous rows do not form; use recoding: local"
    elif len(asked) > 1:
        why = "privacy asks for several variants; ask for kk alone, with the largest k"
    elif variants[0] not in ("kk", "global_1k"):
        why = f"(k,k)-anonymous rows are released, and {variants[0]} is weaker; ask for variant: kk, which implies it"
    if why is not None:
        yield Fault(("recoding", "method"), f"kk releases rows for kk_anonymity alone: {why}", True)
    if spec.nulls == "suppress":
        message = (
            "with recoding: kk, a row that is left out may still be covered by some of the others, too few to hide it; "
            "use nulls: value, or leave such rows out of the source"
        )
        yield Fault(("nulls",), message, True)
    if spec.suppression.style == "mask":
        message = "recoding: kk counts which rows cover which records, and a masked row covers all; use style: drop"
        yield Fault(("suppression", "style"), message, True)


@recoding(
    "kk",
    title="(k,k)-anonymity",
    words="the level of a value differs by row; rows and records overlap, and the release is not k-anonymous",
    takes=("start",),
    variants=("fast", "best"),
    any_model=False,
    faults=_faults,
    of_rows=True,
    models=of_classes,
    not_kept=("lowers cells as far as the rows of this source cover each other, so new rows have no defined labels"),
)
def recoded_kk(given: Prepared, spec: Spec, budget: Budget) -> NothingToSearch | NothingFound | Chosen | RecodingResult:
    """Recode locally, and lower cells as long as rows and records stay (k,k)-anonymous.

    Args:
        given: the frequency sets, prepared for k-anonymity.
        spec: what to anonymize and how; it asks for (k,k)-anonymity alone.
        budget: when to end early; what is not lowered by then is released as it is.

    Returns:
        A recoding; or that there is nothing to release, where no k-anonymous one could be.
    """
    (k,) = [model.least_size for model in given.models]
    assert k is not None
    options = RecodingOptions(method="local", variant=spec.recoding.variant, start=spec.recoding.start)
    inner = spec.model_copy(update={"privacy": (KAnonymityRequirement(k=k),), "recoding": options})
    found = recoded_locally(given, inner, budget)
    if not isinstance(found, Chosen | RecodingResult):
        return replace(found, spec=spec)
    initial = _initial(given, found)
    _refuse_unclear(initial.state)
    return _Lowering(given, spec, k, initial).run(budget)


def _refuse_unclear(state: Partitions) -> None:
    """Refuse a hierarchy of which a label stands for other values at another level: what it covers is not known.

    Raises:
        UnsupportedError: there is one.
    """
    paths, _ = raised_of(state)
    names = [path.name for path in paths if path.raised]
    if names:
        raise UnsupportedError(
            f"recoding: kk: labels of {', '.join(names)} stand for different values at different levels, so which "
            "records a row covers is not known; give each group a label of its own, or use recoding: local"
        )


@dataclass(frozen=True)
class _At:
    """Where the rounds are.

    Attributes:
        cells: the vectors whose cells may be lowered, with the level of each.
        pairs: these vectors with those that their labels cover.
        unexamined_vectors: vectors whose cells are not looked at.
    """

    cells: Relation
    pairs: Relation
    unexamined_vectors: int


@dataclass(frozen=True)
class _Initial:
    """The k-anonymous recoding that cells are lowered of.

    Attributes:
        state: the numbered vectors and the labels.
        mapped: the classes.
        start: where it began.
        tried: what it lost, and took.
        violating: rows that are suppressed.
        stopped: why it ended early.
    """

    state: Partitions
    mapped: Mapped
    start: str
    tried: Tried
    violating: int
    stopped: str | None


def _initial(given: Prepared, found: Chosen | RecodingResult) -> _Initial:
    """The classes of a local recoding; of a node of the lattice, where that is taken instead."""
    workspace = given.workspace.apart("kk_")
    if isinstance(found, RecodingResult):
        state = begin(workspace, given.sets, given.models, highest_levels(given.sets))
        tried = Tried(found.mean_loss, found.rounds, found.steps)
        return _Initial(state, found.mapped, found.start, tried, found.violating, found.stopped)
    state = begin(workspace, given.sets, given.models, found.node)
    peel(state)
    attempt = Attempt(OPTIMUM, state)
    return _Initial(state, attempt.mapped, OPTIMUM, Tried(found.mean_loss, 0, 0), state.violating_rows, None)


@dataclass
class _Lowering:
    """The rounds.

    Attributes:
        given: the frequency sets, prepared for k-anonymity.
        spec: what to anonymize and how.
        k: how many rows and records.
        initial: what it begins with.
    """

    given: Prepared
    spec: Spec
    k: int
    initial: _Initial

    @property
    def state(self) -> Partitions:
        """The numbered vectors and the labels."""
        return self.initial.state

    @property
    def by_assignment(self) -> bool:
        """Whether every record needs k matches, not rows alone."""
        return any(model.needs_perfect_matchings for model in models_of(self.spec))

    @property
    def lowered(self) -> tuple[Path, ...]:
        """The columns that have levels to choose from."""
        return self.state.cuttable

    def run(self, budget: Budget) -> KKResult:
        """Lower cells until none can be, and label every vector."""
        state, initial = self.state, self.initial
        held = self._make("held", {"classed": initial.mapped.classed, "classes": initial.mapped.classes})
        if not self.lowered:
            return self._recoded(held, None, 0, initial.stopped)
        at = self._pairs(held)
        prices = prices_of(state)
        rounds, stopped = 0, initial.stopped
        try:
            with budget.limits(state.workspace.engine):
                while rounds < MOST_ROUNDS and (following := self._round(at, prices, rounds)) is not None:
                    for table in (at.cells, at.pairs):
                        state.workspace.drop(table)
                    at, rounds = following, rounds + 1
                    state.workspace.report(f"lowering cells: round {rounds}", None)
        except Stopped as reason:
            stopped = str(reason)
        if not self.by_assignment:
            return self._recoded(held, at, rounds, stopped)
        wide, stopped = Widening(state, self._make, self.k, held, prices.table).run(at.cells, budget, stopped)
        ended = None if wide is None else _At(wide.cells, wide.pairs, 0)
        return self._recoded(held, ended, rounds, stopped, wide)

    def _make(self, name: str, tables: Mapping[str, Relation], what: str | None = None, **context: Any) -> Relation:
        state = self.state
        fills = context.pop("fills", {})
        return state.make(
            f"kk/{name}", what or name, tables, fills,
            words=state.codes, attributes=tuple(state.paths), lowered=self.lowered, **context,
        )  # fmt: skip

    def _pairs(self, held: Relation) -> _At:
        """The cells that may be lowered, and what their labels cover."""
        state = self.state
        boxes = self._make("boxes", {"held": held})
        nodes, vectors = state.row("kk/node_count", {"boxes": boxes, "vectors": state.vectors})
        most = {"most_nodes": str(min(nodes, MOST_PLACED // max(1, vectors)))}
        placed = self._make("nodes", {"boxes": boxes})
        tables = {"boxes": boxes, "nodes": placed, "vectors": state.vectors}
        covered = self._make("covered", tables, fills=most)
        chosen = self._make("chosen", {"covered": covered}, most=MOST_COVERED)
        cells = self._make("cells", {"held": held, "chosen": chosen})
        tables = {"held": held, "chosen": chosen, "covered": covered, "vectors": state.vectors}
        pairs = self._make("pairs", tables)
        (unexamined_vectors,) = state.row("kk/left_whole", {"boxes": boxes, "chosen": chosen})
        for table in (chosen, covered, placed, boxes):
            state.workspace.drop(table)
        return _At(cells, pairs, unexamined_vectors)

    def _round(self, at: _At, prices: Prices, number: int) -> _At | None:
        """The cells and the pairs after one round; None where no cell can be lowered."""
        state, pairs = self.state, {"pairs": at.pairs}
        slacks = self._make("slacks", pairs, k=self.k)
        tables = {**pairs, "cells": at.cells, "slacks": slacks, "prices": prices.table}
        moves = self._make("moves", tables, k=self.k, none_lower=NONE_LOWER)
        taken = self._make("taken", {**pairs, "moves": moves, "slacks": slacks})
        (count,) = state.row("count", {"table": taken})
        following = None
        if count:
            side = number % 2
            cells = self._make("lowered_cells", {"cells": at.cells, "taken": taken}, f"cells_{side}")
            left = self._make("left_pairs", {**pairs, "taken": taken}, f"pairs_{side}")
            following = replace(at, cells=cells, pairs=left)
        for table in (taken, moves, slacks):
            state.workspace.drop(table)
        return following

    def _recoded(
        self, held: Relation, at: _At | None, rounds: int, stopped: str | None, wide: Widened | None = None
    ) -> KKResult:
        """Every vector by its labels; those with the same ones are one class."""
        state, initial, paths = self.state, self.initial, self.state.paths
        levels = {} if at is None else {"cells": at.cells}
        indexes = () if at is None else tuple(path.index for path in self.lowered)
        tight = self._make("tight", {"held": held, **levels}, indexes=indexes)
        joined = state.make("joined", "joined", {"tight": tight}, attributes=tuple(paths), ranged=())
        assigned = self._make("assigned", {"held": held})
        classed = state.make(
            "classed", "classed", {"assigned": assigned, "joined": joined},
            words=state.names, by_person=False, slices=False,
        )  # fmt: skip
        tables = {"joined": joined, "labels": state.labels}
        classes = state.make("class_labels", "classes", tables, attributes=tuple(paths), ranged=())
        pairs = {} if at is None else {"pairs": at.pairs}
        if wide is not None:
            pairs["matches"] = wide.matches
        found = self._make(
            "found", {"held": held, "classed": classed, **pairs},
            compared=at is not None, matched=wide is not None, assigned=self.by_assignment,
        )  # fmt: skip
        count, rows, squares = state.row("summary", {"classes": classes})
        kinds = sum(path.high - path.low + 1 for path in paths)
        mapped = Mapped(
            classed=classed,
            classes=classes,
            vectors=state.vectors,
            names=state.names,
            paths=paths,
            count=count,
            rows=rows,
            squares=squares,
            columns=described(state.workspace, classes, paths, kinds),
        )
        made = KKResult(
            self.spec,
            replace(self.given, models=models_of(self.spec)),
            mapped,
            state.judge,
            rounds,
            initial.violating,
            stopped,
            initial.start,
            initial.tried.steps,
            inner=self.given,
            found=found,
            unexamined_vectors=0 if at is None else at.unexamined_vectors,
            widened=None if wide is None else wide.rounds,
        )
        lost = Tried(made.mean_loss, rounds, initial.tried.steps)
        return replace(made, tried={LOCAL: initial.tried, LOWERED: lost})
