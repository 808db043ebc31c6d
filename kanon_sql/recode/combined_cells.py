"""Cell suppression for combinations of a few columns, by greedy cover, as in mu-Argus (Hundepool, Willenborg 1996).

At a node, every vector has a label per column, or the top where the cell is suppressed. A suppressed cell is a value
like any other: it matches other suppressed ones alone. In each round every vector with a rare combination loses one
cell, that of the column which takes part in most of its rare combinations. A cell once suppressed stays so, so rounds
end; what is rare then has no cell left to suppress, and its rows are dropped (:mod:`kanon_sql.evaluate.combinations`).

Nodes are tried as for other requirements; at the best one the cells may still lose more than rows suppressed at the
full-domain optimum, which is taken then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from kanon_sql.evaluate import Budget, Combinations, Examination, Frames, LeftClasses, achieved_by, flagged_classes
from kanon_sql.models import model_of
from kanon_sql.recode.cells import NODE, CellsResult, Suppressing
from kanon_sql.recode.partitions import Partitions, begin
from kanon_sql.recode.paths import Path
from kanon_sql.recode.recoding_result import Tried
from kanon_sql.recode.release import Mapped, Suppressed, described, raised_of
from kanon_sql.search import Node, Stopped
from kanon_sql.spec import KAnonymityRequirement
from kanon_sql.sql import Relation, identifier, literal, relation, render

__all__ = ["MOST_SETS_COUNTED", "CombinedCellsResult", "SuppressingForCombinations"]

MOST_SETS_COUNTED = 12
"""Sets of columns whose rare combinations one statement looks for: a GROUP BY and a join each."""

NOT_RELEASED = -1
"""The code of a suppressed cell; those of labels are not negative."""


@dataclass(frozen=True, kw_only=True)
class CombinedCellsResult(CellsResult):
    """Cells that are suppressed so that combinations of a few columns are frequent.

    Attributes:
        standing: the released classes by the codes of their labels, ``k0`` and so on, and their rows.
        rarest: rows of the rarest combination.
    """

    standing: Relation
    rarest: int

    def achieved(self) -> Examination:
        """What is released achieves, from the frequency sets."""
        frames = Frames(
            base=render("recode/combined/frame", standing=self.standing),
            values={},
            counting="rows",
            keys=[identifier(f"k{lookup.index}") for lookup in self.sets.lookups],
            standing=LeftClasses(relation(self.standing), {0: literal(self.rarest)}),
        )
        flagged = flagged_classes(frames, self.models, with_keys=False)
        return achieved_by(self.workspace, flagged, self.models, self.mapped.rows)

    def bound(self) -> None:
        """No bound is known: what there is holds for classes of k rows."""


class SuppressingForCombinations(Suppressing):
    """Tries nodes, and suppresses cells at each in rounds."""

    def run(self, start: Node, budget: Budget) -> CellsResult | None:
        """Go from node to node as long as less is lost.

        Args:
            start: the first node.
            budget: when to end early.

        Returns:
            The best; None if at no node few enough rows have to be dropped besides.
        """
        stopped: str | None = None
        try:
            with budget.limits(self.given.workspace.engine):
                self._compare(start)
        except Stopped as reason:
            stopped = str(reason)
        return None if self.node is None else self._suppressed(self.node, "released_", stopped)

    def _estimates(self, lowest: Node, highest: Node) -> None:
        """Estimates are of classes."""

    def _divided(self, node: Node) -> tuple[float, frozenset[int]]:
        self.divided += 1
        with self.given.workspace.passing():
            made = self._suppressed(node, "tried_", None)
            return (inf if made is None else made.mean_loss), frozenset()

    def _suppressed(self, node: Node, prefix: str, stopped: str | None) -> CombinedCellsResult | None:
        """What is released at a node; None where too many rows would have to be dropped, or all."""
        sets, workspace = self.given.sets, self.given.workspace.apart(prefix)
        levels = self._levels(node, frozenset())
        tops = tuple(own[-1] for own in levels)
        anything = [model_of(KAnonymityRequirement(k=1))]  # classes are judged together, not one by one
        state = begin(workspace, sets, anything, tops, levels)
        state.paths, raised = raised_of(state)
        cells, rounds = self._in_rounds(state, raised)
        combinations = Combinations(
            workspace,
            self.given.models,
            lambda _: {
                own: [workspace.compiler.quote(f"k{place}") for place in places] for own, places in self._places()
            },
            lambda _, target: _classes_of(state, cells, target),
        )
        left = combinations.of(node)
        assert left is not None, "every set has a column"
        (rarest,) = left.rarest.values()
        if not rarest:
            return None
        mapped = self._mapped(state, _make(state, "held", {"cells": cells, "standing": left.table}))
        violating = state.kept_rows - mapped.rows
        if violating + sets.null_rows > self.given.max_suppressed:
            return None
        made = CombinedCellsResult(
            self.spec,
            self.given,
            mapped,
            state.judge,
            rounds,
            violating,
            stopped,
            NODE,
            0,
            node=node,
            nodes=len(self.tried),
            standing=left.table,
            rarest=rarest,
        )
        return replace(made, tried={NODE: Tried(made.mean_loss, rounds, 0)})

    def _places(self) -> list[tuple[tuple[str, ...], tuple[int, ...]]]:
        """Every set of columns, with their numbers."""
        (model,) = self.given.models
        numbers = {lookup.name: lookup.index for lookup in self.given.sets.lookups}
        return [(own, tuple(numbers[name] for name in own)) for own in model.sets]

    def _in_rounds(self, state: Partitions, raised: Relation | None) -> tuple[Relation, int]:
        """Every vector with the labels that it keeps, and after how many rounds no vector had one to lose."""
        (model,) = self.given.models
        places = tuple(own for _, own in self._places())
        tables = {} if raised is None else {"raised": raised}
        cells = _make(state, "initial", {"vectors": state.vectors, **tables}, "cells")
        rounds = 0
        while state.cuttable:  # each round, some vector loses a cell
            tables = {"cells": cells}
            for start in range(0, len(places), MOST_SETS_COUNTED):
                chunk = places[start : start + MOST_SETS_COUNTED]
                tables[f"hits{start}"] = _make(
                    state, "hits", {"cells": cells}, f"hits{start}", sets=chunk, k=model.parameters()["k"]
                )
            hits = tuple(name for name in tables if name != "cells")
            chosen = _make(state, "chosen", tables, hits=hits)
            (count,) = state.row("count", {"table": chosen})
            following = cells
            if count:
                rounds += 1
                following = _make(state, "suppressed", {"cells": cells, "chosen": chosen}, f"cells{rounds % 2}")
            for table in (chosen, *(tables[name] for name in hits)):
                state.workspace.drop(table)
            if not count:
                break
            state.workspace.drop(cells)
            cells = following
        return cells, rounds

    def _mapped(self, state: Partitions, held: Relation) -> Mapped:
        """Every released vector by its labels."""
        paths = state.paths
        tight = state.make(
            "kk/tight", "tight", {"held": held}, words=state.codes, attributes=tuple(paths), indexes=()
        )  # fmt: skip
        joined = state.make("joined", "joined", {"tight": tight}, attributes=tuple(paths), ranged=())
        assigned = state.make("kk/assigned", "assigned", {"held": held}, words=state.codes)
        classed = state.make(
            "classed", "classed", {"assigned": assigned, "joined": joined},
            words=state.names, by_person=False, slices=False,
        )  # fmt: skip
        tables = {"joined": joined, "labels": state.labels}
        classes = state.make("class_labels", "classes", tables, attributes=tuple(paths), ranged=())
        count, rows, squares = state.row("summary", {"classes": classes})
        columns = described(state.workspace, classes, paths, sum(path.high - path.low + 1 for path in paths))
        suppressed = [
            Suppressed(column.rows.get(path.high, 0) if len(path.levels) > 1 else 0, most)
            for column, path, most in zip(columns, paths, self._caps, strict=True)
        ]
        return Mapped(
            classed=classed,
            classes=classes,
            vectors=state.vectors,
            names=state.names,
            paths=paths,
            count=count,
            rows=rows,
            squares=squares,
            columns=columns,
            suppressed=suppressed,
        )


def _classes_of(state: Partitions, cells: Relation, target: Relation) -> int:
    """Make the classes of some cells; how many keys they have."""
    workspace = state.workspace
    fills = {"cells": workspace.quoted(cells)}
    statement = workspace.compiler.filled(
        "recode/combined/standing", fills, target=workspace.quoted(target), attributes=tuple(state.paths)
    )
    workspace.run(statement)
    return len(state.paths)


def _make(
    state: Partitions, name: str, tables: dict[str, Relation], what: str | None = None, **context: Any
) -> Relation:
    paths: Sequence[Path] = state.paths
    return state.make(
        f"combined/{name}", what or name, tables,
        words=state.codes, attributes=tuple(paths), lowered=state.cuttable, gone=NOT_RELEASED, **context,
    )  # fmt: skip
