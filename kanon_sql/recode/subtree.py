"""Subtree recoding: a cut through each column's hierarchy, the same for all rows, whose labels are on several levels.

Top-down specialization (Fung, Wang, Yu 2005 and 2007) divides one label of a cut at a time into the labels below it;
bottom-up generalization (Wang, Yu, Chakraborty 2004) replaces the labels below one by it. A round takes one step:

    judged        the classes as they are, by the class query that verifies a release as well
    cells         what labels would be after each step that one of them could take
    judged_after  the classes after each of these steps
    chosen        the best step, by what it tells of a class label, or by the detail that rows regain or lose
    moved         the vectors with the labels after it

The information that a step tells does not depend on other columns, so it is counted once. Upwards every label has one
parent; bottom-up ends as soon as all classes satisfy, and what can be specialized again then is.

There are hundreds of steps upwards, and each changes few classes. What a step upwards is worth follows from how many
rows are in classes of each size, so a round judges the classes of the rows under the step alone, as they were and as
they are, and adds the difference to these tallies. No vector is written meanwhile: its labels follow from the numbers
of the steps taken.

A column that is released as ranges begins with one interval of all its values. Its steps are splits of an interval in
two, which are found again in each round (continuous attributes of Fung, Wang, Yu 2005, section 4): the best place of
each part of the interval's rows is offered.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kanon_sql.errors import UnsupportedError, VerificationError
from kanon_sql.evaluate import Budget, Chosen, NothingFound, NothingToSearch, out_of_reach, search_in
from kanon_sql.frequency import Prepared
from kanon_sql.recode.partitions import Partitions, begin
from kanon_sql.recode.paths import PRICE, Path
from kanon_sql.recode.range_labels import KINDS, ranges_of
from kanon_sql.recode.ranges import orders_of, with_places
from kanon_sql.recode.recoding_result import NoRecoding, RecodingResult, RecodingSummary, Tried, highest_levels
from kanon_sql.recode.release import Mapped, described
from kanon_sql.search import Stopped
from kanon_sql.spec import Spec, recoding
from kanon_sql.sql import Relation, render, slot

__all__ = ["MOST_STEPS", "STATEMENTS_A_ROUND", "STATEMENTS_FOR_RANGES", "SubtreeResult", "recoded_by_subtrees"]

STATEMENTS_A_ROUND = 12
"""No round takes more statements, whatever the table, its columns or the requirements are."""

STATEMENTS_FOR_RANGES = 2
"""No round takes more besides, where columns are released as ranges."""

MOST_STEPS = 4096
"""How many labels above the lowest may have rows: each is a step, and a round takes one; the most rounds downwards."""

OFFERS, MOST_OFFERS = 4, 64
"""In how many parts of an interval's rows a place to split it is offered: at first, and once none can be taken."""

PRECISION = 1e12
"""What all detail of all rows is worth where steps are compared by it, in whole numbers."""

BITS = 1e3
"""How many steps between two billionths of a bit are distinguished once they are divided by a loss of anonymity."""

TOP, BOTTOM = "top", "bottom"
"""Where it begins: with the highest labels allowed, or with the lowest."""


@dataclass(frozen=True)
class SubtreeResult(RecodingResult):
    """A cut through each hierarchy."""

    def to_dict(self) -> RecodingSummary:
        """The recoding as it stands in results and manifests."""
        return {**super().to_dict(), "classify": self.spec.recoding.classify}


@recoding(
    "subtree",
    title="Subtree recoding",
    words="a value has one label for all rows, and the levels of labels differ by value",
    takes=("ranges", "classify"),
    variants=("top_down", "bottom_up"),
    chooses_parents=True,
    optimum_instead="has no label to specialize: every column allows one level only",
)
def recoded_by_subtrees(
    given: Prepared, spec: Spec, budget: Budget
) -> NothingToSearch | NothingFound | Chosen | RecodingResult:
    """Specialize labels from the top, or generalize them from the values, one at a time.

    Args:
        given: the frequency sets.
        spec: what to anonymize and how.
        budget: when to end the rounds early; top-down what was made by then is released, bottom-up the highest labels.

    Returns:
        The recoding; or nothing, where too many rows violate even with the highest labels allowed; or the one node of
        the lattice, where no column has more than one level to choose from.

    Raises:
        UnsupportedError: a hierarchy does not fit.
        HierarchyError: two ranges of a quasi-identifier would have the same label.
        VerificationError: the classes do not hold all rows, or one of them does not satisfy.
    """
    sets, most = given.sets, given.max_suppressed
    infeasible = out_of_reach(given)
    if infeasible is not None or sets.rows == sets.null_rows:
        return NoRecoding(spec, given, infeasible)
    given.workspace.report("recoding by subtrees", None)
    orders = orders_of(given, spec, spec.recoding.ranges or ())
    state = begin(given.workspace, sets, given.models, highest_levels(sets), ranged=orders)
    state = with_places(given, spec, state, orders)
    if not state.cuttable:
        return search_in(given, spec, budget)
    hidden = state.violating_rows + sets.null_rows
    if hidden > most or not state.kept_rows:
        share = "every row violates" if not state.kept_rows else f"{hidden} rows violate"
        limit = "" if hidden <= most else f"; {most} may be suppressed"
        why = f"{share} the requirements with the highest labels allowed, of which all others are specialized{limit}"
        return NoRecoding(spec, given, why)
    cut = _Cut(state, spec, budget, most - hidden)
    start = TOP if spec.recoding.variant == "top_down" else BOTTOM
    stopped = cut.found(start)
    made = cut.mapped()
    violating = state.violating_rows + state.kept_rows - made.rows
    found = SubtreeResult(spec, given, made, state.judge, state.rounds, violating, stopped, start, 0)
    return replace(found, tried={start: Tried(found.mean_loss, found.rounds, 0)})


class _Upwards(NamedTuple):
    """A step up.

    Attributes:
        number: its number.
        complete: that of the step above it, if all labels below that one are released then; 0 if not.
    """

    number: int
    complete: int


class _Tallied(NamedTuple):
    """How many rows are in classes of each size, per step up, before a step."""

    tallies: Relation
    step: _Upwards


@dataclass
class _Cut:
    """The labels of every vector, and the steps that they can take.

    Attributes:
        state: the vectors; ``open`` has the label of every column, as bits of a number and as a level.
        spec: what to anonymize and how.
        budget: when to end early.
        most: how many rows may be suppressed where a label is specialized.
        rungs: the levels of the columns.
        steps: every label above the lowest that a row has.
        barred: those of them that may not be specialized; None if all may.
        unclear: the columns that have such labels.
        count: how many steps there are, splits left out.
        spans: the columns that are released as ranges; None without one.
        offers: in how many parts of an interval's rows a place to split it is offered.
    """

    state: Partitions
    spec: Spec
    budget: Budget
    most: int
    offers: int = OFFERS
    rungs: Relation = field(init=False)
    steps: Relation = field(init=False)
    barred: Relation | None = field(init=False)
    unclear: frozenset[int] = field(init=False)
    count: int = field(init=False)
    spans: Relation | None = field(init=False)

    def __post_init__(self) -> None:
        state = self.state
        self.rungs = self._with_weights("subtree/rungs", "rungs", self.climbed)
        self.spans = self._with_weights("subtree/spans", "spans", self.ranged) if self.ranged else None
        self._find_unclear()
        state.open = self._at_top("at_top")
        tables = {"open": state.open, "rungs": self.rungs, "labels": state.labels, **self._members}
        self.steps = state.make(
            "subtree/steps", "label_steps",
            tables if self.barred is None else {**tables, "barred": self.barred},
            words=state.codes, classify=bool(self._members), barred=self.barred is not None,
        )  # fmt: skip
        (self.count,) = state.row("count", {"table": self.steps})
        if self.count > MOST_STEPS:
            raise UnsupportedError(
                f"recoding: subtree takes one step a round, between a label and those below it, and the hierarchies "
                f"have {self.count} labels to step from; at most {MOST_STEPS} are possible: raise minimum_level, leave "
                "levels out, or use recoding: local"
            )

    @property
    def ranged(self) -> tuple[Path, ...]:
        """The columns that are released as ranges."""
        return tuple(self.state.paths[item.index] for item in self.state.ranged)

    @property
    def climbed(self) -> tuple[Path, ...]:
        """The columns that have several labels of a hierarchy to choose from."""
        return tuple(path for path in self.state.cuttable if path not in self.ranged)

    @property
    def _members(self) -> dict[str, Relation]:
        """The values of the class label, if the release is to tell one."""
        classified = self.spec.recoding.classify
        return {} if classified is None else {"members": self.state.judge.members[classified]}

    def _with_weights(self, name: str, what: str, paths: tuple[Path, ...]) -> Relation:
        """A table of some columns, with what their information is worth."""
        weights = {lookup.index: lookup.quasi_identifier.weight for lookup in self.state.sets.lookups}
        return self.state.make(name, what, {}, attributes=paths, weights=tuple(weights[path.index] for path in paths))

    def _find_unclear(self) -> None:
        """Find labels whose text stands for other values too, and bar what is above them from being specialized."""
        state = self.state
        unclear = state.make("unclear", "unclear", {"labels": state.labels})
        statement = state.workspace.compiler.filled(
            "recode/unclear_columns", {"unclear": state.workspace.quoted(unclear)}
        )
        found = {int(index) for (index,) in state.workspace.query(statement, len(state.paths))}
        self.unclear = frozenset(found & {path.index for path in self.climbed})
        tables = {"unclear": unclear, "rungs": self.rungs}
        self.barred = state.make("subtree/barred", "barred", tables) if self.unclear else None

    @property
    def _cuts(self) -> tuple[str, ...]:
        """The columns that hold the labels: one per word of a vector, and one per column of intervals."""
        words = (f"cut{word}" for word, _ in enumerate(self.state.words))
        return (*words, *(f"range{path.index}" for path in self.ranged))

    def found(self, start: str) -> str | None:
        """Take steps until none is left; returns why it ended early, None if it did not."""
        state, satisfies = self.state, start == TOP
        try:
            with self.budget.limits(state.workspace.engine):
                if not satisfies:
                    self._generalize()
                    satisfies = True
                state.open = state.make(
                    "subtree/weighed", "weighed", {"open": state.open, "labels": state.labels},
                    attributes=tuple(path for path in state.paths if path not in self.ranged), ranged=self.ranged,
                )  # fmt: skip
                rounds_before = state.rounds
                while self._specialize():
                    state.workspace.report(f"specializing labels: round {state.rounds}", None)
                    if state.rounds - rounds_before == MOST_STEPS:
                        return f"it took {MOST_STEPS} steps, the most that a run takes"
        except Stopped as stopped:
            if not satisfies:
                state.open = self._at_top("at_top_again")
            return str(stopped)
        return None

    def _specialize(self) -> bool:
        """Take the best step down; where no interval can be split at the places offered, offer more of them."""
        if self._step():
            return True
        if self.spans is None or self.offers == MOST_OFFERS:
            return False
        self.offers = MOST_OFFERS
        return self._step()

    def _generalize(self) -> None:
        """Begin with the lowest labels, and generalize until all classes satisfy.

        Raises:
            VerificationError: no step is left, although the highest labels satisfy.
        """
        state = self.state
        tables = {"open": state.open, "labels": state.labels, "rungs": self.rungs}
        state.open = state.make(
            "subtree/at_bottom", "at_bottom",
            tables if self.barred is None else {**tables, "barred": self.barred},
            attributes=tuple(replace(path, raised=path.index in self.unclear) for path in self.climbed),
            words=state.codes, masks=self._masks(cuttable=False), by_person=state.judge.by_person,
        )  # fmt: skip
        tallies = self._tallied(state.open, None)
        taken: list[int] = []
        while (step := self._cheapest(tallies)) is not None:
            taken.append(step.number)
            state.rounds += 1
            changed = self._raised(f"changed{state.rounds}", taken, step)
            before, tallies = tallies, self._tallied(changed, _Tallied(tallies, step))
            for used in (changed, before):
                state.workspace.drop(used)
            state.workspace.report(f"generalizing labels: round {state.rounds}", None)
        state.workspace.drop(tallies)
        bottom, state.open = state.open, self._raised("generalized", taken, None)
        state.workspace.drop(bottom)
        if self._violating("judged_generalized"):
            raise VerificationError(
                "no label is left to generalize, and the classes do not satisfy; please report this with the engine's "
                "version"
            )

    def _violating(self, what: str) -> int:
        """How many rows are in classes that do not satisfy."""
        judged = self._judged(what)
        _, violating = self.state.row("verdict", {"judged": judged})
        self.state.workspace.drop(judged)
        return violating

    def _cheapest(self, tallies: Relation) -> _Upwards | None:
        """The best step up; None if there is none, or if every class satisfies."""
        workspace = self.state.workspace
        quoted = {
            "tallies": workspace.quoted(tallies), "steps": workspace.quoted(self.steps),
            "rungs": workspace.quoted(self.rungs), "factor": self._factor,
        }  # fmt: skip
        statement = workspace.compiler.filled("recode/subtree/generalized", quoted, worth=self._worth("detail"))
        found = workspace.query(statement, 1)
        return _Upwards(int(found[0][0]), int(found[0][1])) if found else None

    def _raised(self, what: str, taken: Sequence[int], step: _Upwards | None) -> Relation:
        """The vectors after some steps up; of one step, those alone that it changes, before and after it."""
        state = self.state
        fills = {"taken": ", ".join(map(str, taken or [0]))}
        if step is not None:
            fills |= {"number": str(step.number), "reached": str(step.complete or step.number)}
        return state.make(
            "subtree/raised", what, {"open": state.open, "steps": self.steps, "rungs": self.rungs}, fills,
            attributes=self.climbed, words=state.codes, masks=self._masks(cuttable=False),
            by_person=state.judge.by_person, signed=step is not None,
        )  # fmt: skip

    def _tallied(self, changed: Relation, before: _Tallied | None) -> Relation:
        """How many rows are in classes of each size, per step up.

        Args:
            changed: the vectors whose classes a step changes, before and after it; or all vectors.
            before: the tallies until then, and the step; None where all vectors are counted.
        """
        state, signed = self.state, before is not None
        cuts = ("sign", *self._cuts) if signed else self._cuts
        what = f"{state.rounds}_up"
        judged = state.judge.judged(f"judged{what}", slot("grouped"), cuts, {"grouped": changed})
        cells = self._cells(what, {"open": changed, "judged": judged, "steps": self.steps}, cuts, down=False)
        after = self._after(f"judged_after{what}", cells, cuts)
        tables = {"cells": cells, "judged_after": after}
        tables |= {} if before is None else {"tallies": before.tallies}
        fills = {} if before is None else {"complete": str(before.step.complete)}
        tallies = state.make("subtree/tallies", f"tallies{state.rounds}", tables, fills, signed=signed)
        for used in (after, cells, judged):
            state.workspace.drop(used)
        return tallies

    def _step(self) -> bool:
        """Take the best step down; False if there is none."""
        state, number = self.state, f"{self.state.rounds}_of_{self.offers}"
        judged = self._judged(f"judged{number}")
        offered = {"splits": self._splits(number)} if self.spans is not None else {}
        tables = {"open": state.open, "judged": judged, "steps": self.steps, "labels": state.labels, **offered}
        tables |= {"spans": self.spans} if self.spans is not None else {}
        cells = self._cells(number, tables, self._cuts, down=True)
        after = self._after(f"judged_after{number}", cells, self._cuts)
        chosen = self._chosen(number, judged, cells, after, offered)
        found, splits = state.row("subtree/found", {"chosen": chosen})
        if found:
            tables = {"open": state.open, "chosen": chosen}
            tables |= {} if splits else {"labels": state.labels, "rungs": self.rungs}
            name = "subtree/split" if splits else "subtree/moved"
            shape: dict[str, Hashable] = {"attributes": self.climbed, "ranged": self.ranged}
            following = state.make(
                name, f"open{state.rounds + 1}", tables, words=state.codes, by_person=state.judge.by_person, **shape
            )
            state.advance(following, 0)
        for used in (chosen, after, cells, *offered.values(), judged):
            state.workspace.drop(used)
        return bool(found)

    def _cells(self, number: str, tables: Mapping[str, Relation], cuts: Sequence[str], *, down: bool) -> Relation:
        """What every label could be replaced by."""
        judge = self.state.judge
        return self.state.make(
            "subtree/cells", f"cells{number}", tables,
            cuts=tuple(cuts), by_vector=bool(judge.members) or judge.persons is not None,
            attributes=self.climbed, words=self.state.codes, by_person=judge.by_person, down=down,
            ranged=self.ranged if down else (),
        )  # fmt: skip

    def _splits(self, number: str) -> Relation:
        """The places where intervals could be split."""
        assert self.spans is not None
        tables = {"open": self.state.open, "spans": self.spans, **self._members}
        fills = {"parts": str(self.offers), "first": str(self.count)}
        return self.state.make(
            "subtree/splits", f"splits{number}", tables, fills, ranged=self.ranged, classify=bool(self._members)
        )

    def _after(self, what: str, cells: Relation, cuts: Sequence[str]) -> Relation:
        """The classes after each step."""
        taken = render("recode/subtree/taken")
        return self.state.judge.judged(what, taken, ("number", *cuts), {"cells": cells})

    def _chosen(
        self, number: str, judged: Relation, cells: Relation, after: Relation, offered: Mapping[str, Relation]
    ) -> Relation:
        """The best step down: none or one."""
        tables = {"steps": self.steps, "cells": cells, "judged": judged, "judged_after": after, **offered}
        return self.state.make(
            "subtree/specialized", f"chosen{number}", tables, {"factor": self._factor, "most": str(self.most)},
            worth=self._worth("regained"), cuts=self._cuts, splits=bool(offered),
        )  # fmt: skip

    @property
    def _factor(self) -> str:
        """What worth is multiplied by, so that steps can be compared by whole numbers."""
        classified = self.spec.recoding.classify is not None
        return repr(BITS if classified else PRECISION / (PRICE * self.state.kept_rows))

    def _worth(self, detail: str) -> str:
        """The column of what a step is worth: the information about a class label, or the one of the detail."""
        return detail if self.spec.recoding.classify is None else "majority_gain"

    def _judged(self, what: str) -> Relation:
        """The classes of the labels as they are."""
        return self.state.judge.judged(what, slot("grouped"), self._cuts, {"grouped": self.state.open})

    def _masks(self, *, cuttable: bool) -> tuple[int, ...]:
        """Per word, the bits of the highest labels; or of those columns alone that have no other. None of ranges."""
        labelled = [path for path in self.state.paths if path not in self.ranged]
        paths = [path for path in labelled if cuttable or path.low == path.high]
        return tuple(
            sum(path.masks[path.high] for path in paths if path.word == word) for word, _ in enumerate(self.state.words)
        )

    def _at_top(self, what: str) -> Relation:
        """The vectors with the highest labels allowed."""
        state = self.state
        return state.make(
            "subtree/at_top", what, {"vectors": state.vectors, "roots": state.roots},
            attributes=self.climbed, words=state.codes, masks=self._masks(cuttable=True),
            by_person=state.judge.by_person, ranged=self.ranged,
        )  # fmt: skip

    def mapped(self) -> Mapped:
        """The classes of the labels.

        Raises:
            HierarchyError: two ranges of a column would have the same label.
            VerificationError: they hold too few rows.
        """
        state, workspace = self.state, self.state.workspace
        tables = {"open": state.open, "judged": self._judged("judged_at_last")}
        classed = state.make(
            "subtree/classed", "classed", tables,
            attributes=self.climbed, words=state.names, cuts=self._cuts, by_person=state.judge.by_person,
        )  # fmt: skip
        labelled = tuple(path for path in state.paths if path not in self.ranged)
        joined = state.make(
            "subtree/joined", "joined", {"classed": classed}, attributes=labelled, ranged=tuple(state.ranged)
        )
        ranges = ranges_of(state, state.ranged, state.orders, joined)
        tables = {"joined": joined, "labels": state.labels}
        tables |= {f"ranges_{index}": own.table for index, own in ranges.items()}
        classes = state.make("class_labels", "classes", tables, attributes=tuple(state.paths), ranged=tuple(ranges))
        count, rows, squares = state.row("summary", {"classes": classes})
        if not 0 <= state.kept_rows - rows <= self.most:
            raise VerificationError(
                f"the classes of the recoding hold {rows} rows of {state.kept_rows}, {self.most} may be suppressed; "
                "please report this with the engine's version"
            )
        levels = sum(KINDS if path.index in ranges else path.high - path.low + 1 for path in state.paths)
        return Mapped(
            classed=classed,
            classes=classes,
            names=state.names,
            paths=state.paths,
            count=count,
            rows=rows,
            squares=squares,
            columns=described(workspace, classes, state.paths, levels),
            vectors=state.vectors,
            ranges=ranges,
        )
