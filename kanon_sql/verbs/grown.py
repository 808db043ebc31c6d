"""What a refresh does with the rows of a day: choose levels, write and verify, and let release and state grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql.engines import Column, Engine, Reporter, Workspace
from kanon_sql.errors import VerificationError
from kanon_sql.evaluate import (
    Chosen,
    Examination,
    NothingFound,
    NothingToSearch,
    rows_in_words,
    searched,
    searched_again,
)
from kanon_sql.release import (
    Choice,
    Day,
    Departures,
    Growing,
    Judged,
    State,
    Taken,
    Written,
    coarser_labels,
    grow,
    judged_rows,
    refuse_unequal,
    unreleased_rows,
    written_release,
)
from kanon_sql.search import Node
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation
from kanon_sql.verbs.released import choice_of, manifest_of
from kanon_sql.verbs.result import Cost, Result, Warned
from kanon_sql.verbs.warnings import failed_by, warnings_of_release

__all__ = ["Growth", "grown"]

MOST_SEARCHED = 8
"""So many of the best levels for all rows are tried for those that wait."""


@dataclass(frozen=True)
class Growth:
    """What a refresh is to do.

    Attributes:
        spec: what is released.
        state: so far.
        columns: the source's columns.
        taken: the new rows; None where rows leave only.
        forms: column -> the form of its values then, where its type promises none.
        day: those and what waits.
        departures: what leaves; None for nothing.
        batch: the name of these rows; None where they are known by the watermark.
        verify_all: examine the whole release.
        fail_on_warning: change nothing where there is a warning.
    """

    spec: Spec
    state: State
    columns: Mapping[str, Column]
    taken: Taken | None
    forms: Mapping[str, str]
    day: Day
    departures: Departures | None
    batch: str | None
    verify_all: bool
    fail_on_warning: bool

    @property
    def new_rows(self) -> int:
        """How many rows were taken."""
        return 0 if self.taken is None else self.taken.rows

    @property
    def leaving(self) -> int:
        """How many rows leave the source."""
        return 0 if self.departures is None else self.departures.leaving

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do."""
        return self.new_rows == 0 and self.leaving == 0

    @property
    def source_rows(self) -> int:
        """Rows that the source has then, as far as they were taken."""
        return self.state.rows["source"] + self.new_rows - self.leaving

    @property
    def most_waiting(self) -> int:
        """How many rows may wait for others before the levels are said not to fit any more."""
        return self.spec.suppression.max_rows(self.source_rows)

    @property
    def node(self) -> Node:
        """The levels so far."""
        return tuple(self.state.node[name] for name in self.spec.quasi_identifiers)


Found = Chosen | NothingFound | NothingToSearch


def grown(workspace: Workspace, growth: Growth) -> Result:
    """Choose the levels, write what can be released of the day, and let the release grow.

    Args:
        workspace: where the day's rows are.
        growth: what is to be done.
    """
    engine, report = workspace.engine, workspace.report
    with searched(engine, _held(growth, growth.node), report) as found:
        drifts = _left_out(found) > growth.most_waiting
        if not drifts or _policy(growth) == "hold":
            return _grown(growth, found, drifts=drifts, looked_for=False)
    coarser = _coarser(engine, report, growth)
    with searched(engine, _held(growth, coarser or growth.node), report) as found:
        return _grown(growth, found, drifts=drifts, looked_for=coarser is None)


def _policy(growth: Growth) -> str:
    return "hold" if growth.spec.increments is None else growth.spec.increments.on_drift


def _left_out(found: Found) -> int:
    """How many rows of the day would wait for others; those that are held wait at any levels."""
    return found.rows()["suppressed"]


def _at(growth: Growth, lowest: Node, highest: Node | None, **changes: Any) -> Spec:
    """The spec at some levels, over the day's rows."""
    columns = {
        name: column.model_copy(
            update={"minimum_level": low, **({} if highest is None else {"maximum_level": highest[index]})}
        )
        for index, ((name, column), low) in enumerate(zip(growth.spec.quasi_identifiers.items(), lowest, strict=True))
    }
    return growth.spec.model_copy(update={"quasi_identifiers": columns, "identifiers": (), **changes})


def _held(growth: Growth, node: Node) -> Spec:
    """The spec at one node: what satisfies is released, and all else waits."""
    # There is one node, so that no option of the search has anything to decide.
    found = _at(growth, node, node, suppression=_limit(growth.spec, 1.0), search=type(growth.spec.search)())
    return found.over_rows(growth.day.table.parts)


def _limit(spec: Spec, limit: float) -> Any:
    """The section of the spec that says how many rows may be left out."""
    return type(spec.suppression)(limit=limit)


def _limited(growth: Growth, lowest: Node) -> Spec:
    """The spec from some levels on, so that no more rows of the day wait than may."""
    return _at(growth, lowest, None, suppression=_limit(growth.spec, growth.most_waiting)).over_rows(
        growth.day.table.parts
    )


def _coarser(engine: Engine, report: Reporter, growth: Growth) -> Node | None:
    """The best levels at or above those of the release at which few enough rows wait; None where there are none."""
    if _policy(growth) == "research" and (node := _searched_anew(engine, report, growth)) is not None:
        return node
    with searched(engine, _limited(growth, growth.node), report) as found:
        return found.node if isinstance(found, Chosen) else None


def _searched_anew(engine: Engine, report: Reporter, growth: Growth) -> Node | None:
    """The best levels for all rows of the source, among the first few at which few enough of the day's rows wait."""
    tried: set[Node] = set()
    source = _at(growth, growth.node, None)
    while len(tried) < MOST_SEARCHED:
        with searched(engine, source, report) as best:
            if tried and isinstance(best, Chosen):
                best = searched_again(best, tried, "among those at which few enough rows wait")
            if not isinstance(best, Chosen):
                return None
            node = best.node
        with searched(engine, _held(growth, node), report) as found:
            if _left_out(found) <= growth.most_waiting:
                return node
        tried.add(node)
    return None


def _grown(growth: Growth, found: Found, *, drifts: bool, looked_for: bool) -> Result:
    """Write what was found, verify it, and let release and state grow."""
    workspace, names = found.workspace, list(growth.state.columns)
    if not isinstance(found, Chosen):
        judged = unreleased_rows(workspace, growth.day, names, growth.spec.unit)
        return _changed(growth, found, None, judged, [], drifts=drifts, looked_for=looked_for)
    choice = choice_of(found, found.rows()["suppressed"])
    with written_release(workspace, choice, "added") as written:
        warned = warnings_of_release(found, choice, written)
        judged = judged_rows(workspace, choice, names, growth.day.person)
        refuse_unequal(workspace, choice, judged, names, written.table, written.rows)
        return _changed(growth, found, written, judged, warned, drifts=drifts, looked_for=looked_for)


def _changed(
    growth: Growth,
    found: Found,
    written: Written | None,
    judged: Judged,
    warned: Sequence[Warned],
    *,
    drifts: bool,
    looked_for: bool,
) -> Result:
    spec, state, workspace = growth.spec, growth.state, found.workspace
    added = 0 if written is None else written.rows
    removed = 0 if growth.departures is None else growth.departures.removed_rows
    node = found.node if isinstance(found, Chosen) else growth.node
    waiting = _left_out(found) + growth.day.held
    published = state.rows["published"] + added - removed
    after = state.after(
        workspace.run_id,
        node=dict(zip(spec.quasi_identifiers, node, strict=True)),
        forms=growth.forms,
        watermark=state.watermark if growth.batch is not None or growth.taken is None else growth.taken.watermark,
        batch=state.batch + (written is not None),
        whole_until=state.whole_until if node == growth.node else state.batch,
        taken=(*state.taken, *([] if growth.batch is None else [growth.batch])),
        rows={
            "source": growth.source_rows,
            "published": published,
            "waiting": waiting,
            "retired": growth.source_rows - published - waiting,
        },
    )
    result = _result(growth, found, written, after, warned, drifts=drifts, looked_for=looked_for)
    if (why := failed_by(spec, warned, on_any=growth.fail_on_warning)) is not None:
        return replace(result, verdict="fail", message=f"nothing was changed: {why}")
    coarser = None if node == growth.node else coarser_labels(workspace, spec, state, growth.columns, node)
    growing = Growing(
        spec=spec,
        columns=growth.columns,
        before=state,
        after=after,
        day=growth.day,
        judged=judged,
        written=None if written is None else written.table,
        departures=growth.departures,
        coarser=coarser,
        examine=lambda table: _examine(growth, found, table),
        examine_all=growth.verify_all,
    )
    manifest = manifest_of(spec, workspace, result)
    grow(workspace, growing, manifest)
    return replace(result, manifest=manifest)


def _examine(growth: Growth, found: Found, table: Relation) -> None:
    """Look at the whole release as at any written table.

    Raises:
        VerificationError: a class violates a requirement.
    """
    workspace, levels = found.workspace, growth.node
    choice = Choice(
        spec=growth.spec, columns=found.columns, sets=found.sets, models=found.models, node=levels, suppressed=None,
        suppressed_rows=0, vectors=None,
    )  # fmt: skip
    examination: Examination = choice.examine(workspace, table, workspace.columns(table), None)
    if growth.spec.unit is None and not examination.passed:
        failing = ", ".join(item.model.label for item in examination.achieved if item.violating_classes)
        raise VerificationError(f"verification: the release would not satisfy {failing}; nothing was changed")


def _result(
    growth: Growth,
    found: Found,
    written: Written | None,
    after: State,
    warned: Sequence[Warned],
    *,
    drifts: bool,
    looked_for: bool,
) -> Result:
    state, examination = growth.state, None if written is None else written.examination
    added = 0 if written is None else written.rows
    removed = 0 if growth.departures is None else growth.departures.removed_rows
    models = ", ".join(model.label for model in found.models)
    message = f"added {rows_in_words(added)}"
    if added:
        message += f", verified by themselves for {models}"
    if growth.departures is not None:
        message += f"; took {rows_in_words(removed)} out"
    message += f"; {rows_in_words(after.rows['waiting'])} wait"
    coarsened = after.node != state.node
    return Result(
        verb="refresh",
        verdict="pass",
        message=message,
        release=".".join(state.release),
        node=after.node,
        rows={
            "source": after.rows["source"],
            "released": after.rows["published"],
            "suppressed": after.rows["source"] - after.rows["published"],
        },
        classes={} if examination is None else examination.classes_dict(),
        class_sizes=[] if examination is None else examination.sizes_list(),
        achieved={} if examination is None else examination.achieved_dict(),
        metrics={},
        search=None,
        cost=Cost(),
        notes=_notes(growth, after, drifts=drifts, coarsened=coarsened, looked_for=looked_for),
        warnings=warned,
        level_names=found.level_names,
        refresh={
            "batch": after.batch,
            "taken": growth.new_rows,
            "left": growth.leaving,
            "added": added,
            "removed": removed,
            "waiting": after.rows["waiting"],
            "held": growth.day.held,
            "retired": after.rows["retired"],
            "on_drift": _policy(growth),
            "drift": drifts,
            "levels": "coarser" if coarsened else "kept",
            "verified": _verified(growth, added, coarsened=coarsened),
        },
    )


def _verified(growth: Growth, added: int, *, coarsened: bool) -> str:
    """What a GROUP BY has looked at, besides the classes that rows were taken out of."""
    if growth.verify_all or (coarsened and growth.spec.unit is None):
        return "the whole release"
    return "what was added" if added else "nothing"


def _notes(growth: Growth, after: State, *, drifts: bool, coarsened: bool, looked_for: bool) -> list[str]:
    """Why the levels are what they are, and what became of rows that are not shown."""
    notes, policy = [], _policy(growth)
    most = f"suppression.limit lets {growth.most_waiting:,} of {rows_in_words(growth.source_rows)} wait"
    if coarsened:
        of = "all rows" if policy == "research" else "the rows that waited"
        notes.append(f"on_drift: {policy}: {most}; the release was made coarser, to the best levels for {of}")
    elif drifts and looked_for:
        notes.append(f"on_drift: {policy}: {most}; at no levels above would few enough wait, and the levels are kept")
    elif drifts:
        notes.append(f"on_drift: hold: {most}; the levels are kept, and rows wait until enough like them are new")
    if growth.day.held:
        notes.append(
            f"{rows_in_words(growth.day.held)} of persons who were released before are held: with a second class of "
            "theirs, what both have in common could be told of them"
        )
    if after.rows["retired"]:
        notes.append(
            f"{rows_in_words(after.rows['retired'])} of the source have gone from the release with others that left, "
            "and are not released again"
        )
    return notes
