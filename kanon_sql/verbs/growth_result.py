"""What a refresh does with the rows of a day: choose levels, write, verify, let release and state grow, and warn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from kanon_sql.engines import Workspace
from kanon_sql.errors import VerificationError
from kanon_sql.evaluate import Chosen, Examination, rows_in_words, searched
from kanon_sql.release import (
    Choice,
    Growing,
    JudgedRows,
    State,
    WrittenTable,
    coarser_labels,
    grow,
    judged_rows,
    refuse_unequal,
    staged_release,
    unreleased_rows,
)
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation
from kanon_sql.verbs.growth import Found, Growth, at_node, coarser_node, waiting
from kanon_sql.verbs.manifest_builder import choice_of, manifest_of
from kanon_sql.verbs.result import RefreshedRelease, Warned
from kanon_sql.verbs.warnings import failed_by, warnings_of_release
from kanon_sql.verbs.warnings.handling import heeded

if TYPE_CHECKING:
    from kanon_sql.release import State

__all__ = ["grow_release", "left_out"]


def grow_release(workspace: Workspace, growth: Growth) -> RefreshedRelease:
    """Choose the levels, write what can be released of the day, and let the release grow.

    Args:
        workspace: where the day's rows are.
        growth: what is to be done.
    """
    engine = workspace.engine
    with searched(engine, at_node(growth, growth.node)) as found:
        drifts = waiting(growth, found) > growth.most_waiting
        if not drifts or growth.policy == "hold":
            return _grow_at(growth, found, drifts=drifts, looked_for=False)
    coarser = coarser_node(workspace, growth)
    with searched(engine, at_node(growth, coarser or growth.node)) as found:
        return _grow_at(growth, found, drifts=drifts, looked_for=coarser is None)


def _grow_at(growth: Growth, found: Found, *, drifts: bool, looked_for: bool) -> RefreshedRelease:
    """Write what was found, verify it, and let release and state grow."""
    workspace, names = found.workspace, list(growth.state.columns)
    if not isinstance(found, Chosen):
        judged = unreleased_rows(workspace, growth.day, names, growth.spec.unit)
        return _changed(growth, found, None, judged, [], drifts=drifts, looked_for=looked_for)
    choice = choice_of(found, found.rows()["suppressed"])
    with staged_release(workspace, choice, "added") as written:
        warned = warnings_of_release(found, choice, written)
        judged = judged_rows(workspace, choice, names, growth.day.person)
        refuse_unequal(workspace, choice, judged, names, written.table, written.rows)
        return _changed(growth, found, written, judged, warned, drifts=drifts, looked_for=looked_for)


def _changed(
    growth: Growth,
    found: Found,
    written: WrittenTable | None,
    judged: JudgedRows,
    warned: Sequence[Warned],
    *,
    drifts: bool,
    looked_for: bool,
) -> RefreshedRelease:
    spec, state, workspace = growth.spec, growth.state, found.workspace
    added = 0 if written is None else written.rows
    removed = 0 if growth.departures is None else growth.departures.removed_rows
    node = found.node if isinstance(found, Chosen) else growth.node
    still = waiting(growth, found)
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
            "waiting": still,
            "retired": growth.source_rows - published - still,
        },
    )
    warned = [*warned, *left_out(spec, after)]
    result = _result(growth, found, written, after, warned, drifts=drifts, looked_for=looked_for)
    if (why := failed_by(spec, warned, on_any=growth.fail_on_warning)) is not None:
        return replace(result, verdict="fail", message=f"nothing was changed: {why}")
    coarser = None if node == growth.node else coarser_labels(workspace, spec, state, growth.columns, node)
    examined: list[Examination] = []
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
        examine=lambda table: examined.append(_examine(growth, found, table)),
        examine_all=growth.verify_all,
    )
    manifest = manifest_of(spec, workspace, result)
    grow(workspace, growing, manifest)
    result = replace(result, manifest=manifest)
    if not examined or spec.unit is not None:
        return result
    (whole,) = examined
    return replace(
        result,
        classes=whole.classes_dict(),
        class_sizes=whole.sizes,
        achieved=whole.achieved_dict(),
    )


def _examine(growth: Growth, found: Found, table: Relation) -> Examination:
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
    return examination


def _result(
    growth: Growth,
    found: Found,
    written: WrittenTable | None,
    after: State,
    warned: Sequence[Warned],
    *,
    drifts: bool,
    looked_for: bool,
) -> RefreshedRelease:
    state, examination = growth.state, None if written is None else written.examination
    added = 0 if written is None else written.rows
    removed = 0 if growth.departures is None else growth.departures.removed_rows
    models = ", ".join(model.label for model in found.models)
    message = f"added {rows_in_words(added)}"
    if added:
        message += f", verified separately for {models}"
    if growth.departures is not None:
        message += f"; removed {rows_in_words(removed)}"
    message += f"; {rows_in_words(after.rows['waiting'])} wait"
    if after.rows["waiting"] > growth.most_waiting:
        message += f", and suppression allows {growth.most_waiting:,}"
    coarsened = after.node != state.node
    return RefreshedRelease(
        verdict="pass",
        message=message,
        release=".".join(state.release),
        node=after.node,
        rows={
            "source": after.rows["source"],
            "released": after.rows["published"],
            "suppressed": after.rows["source"] - after.rows["published"],
        },
        classes={},
        achieved={},
        notes=[
            *found.workspace.engine.read_notes,
            *_notes(growth, after, drifts=drifts, coarsened=coarsened, looked_for=looked_for),
        ],
        warnings=warned,
        level_names=found.level_names,
        refresh={
            "batch": after.batch,
            "taken": growth.new_rows,
            "left": growth.leaving,
            "added": added,
            "added_classes": {} if examination is None else examination.classes_dict(),
            "added_achieved": {} if examination is None else examination.achieved_dict(),
            "removed": removed,
            "waiting": after.rows["waiting"],
            "held": growth.day.held,
            "retired": after.rows["retired"],
            "on_drift": growth.policy,
            "drift": drifts,
            "levels": "coarser" if coarsened else "kept",
            "verified": _verified(growth, added, coarsened=coarsened),
        },
    )


def _verified(
    growth: Growth, added: int, *, coarsened: bool
) -> Literal["nothing", "what was added", "the whole release"]:
    """What a GROUP BY has looked at, besides the classes that rows were taken out of."""
    if growth.verify_all or (coarsened and growth.spec.unit is None):
        return "the whole release"
    return "what was added" if added else "nothing"


def _notes(growth: Growth, after: State, *, drifts: bool, coarsened: bool, looked_for: bool) -> list[str]:
    """Why the levels are what they are, and what became of rows that are not shown."""
    notes, policy = [], growth.policy
    most = f"suppression lets {growth.most_waiting:,} of {rows_in_words(growth.source_rows)} wait"
    if coarsened:
        of = "all rows" if policy == "research" else "the rows that waited"
        notes.append(f"on_drift: {policy}: {most}; the release was made coarser, to the best levels for {of}")
    elif drifts and looked_for:
        why = "at no higher levels would few enough rows wait"
        if growth.day.held > growth.most_waiting:
            why = f"{rows_in_words(growth.day.held)} are held at any levels"
        elif not growth.safe_at_coarser_levels:
            why = (
                "at none of the best higher levels would few enough rows wait and the release satisfy the requirements"
            )
        notes.append(f"on_drift: {policy}: {most}; {why}, and the levels are kept")
    elif drifts:
        notes.append(
            f"on_drift: hold: {most}; the levels are kept, and rows wait until enough new rows have the same labels"
        )
    if growth.day.held:
        notes.append(
            f"{rows_in_words(growth.day.held)} of persons who were released before are held back: a second class of "
            "theirs would reveal which values both classes share"
        )
    if after.rows["retired"]:
        notes.append(
            f"{rows_in_words(after.rows['retired'])} of the source were removed from the release with the class of a "
            "deleted row, and are not released again"
        )
    return notes


def left_out(spec: Spec, state: State) -> list[Warned]:
    """Rows that were taken and are not in the release, where they are more than ``suppression``.

    Args:
        spec: what is released.
        state: after the run.
    """
    rows = state.rows
    count, most = rows["source"] - rows["published"], spec.suppression.most(rows["source"])
    if count <= most:
        return []
    retired = f", {rows['retired']:,} were removed with deleted rows" if rows["retired"] else ""
    if spec.increments is None or spec.increments.on_drift == "hold":
        advice = "Allow coarser levels (increments: {on_drift: coarsen})"
    else:
        advice = "Coarser levels would not help: start a release under another name"
    message = (
        f"the release lacks {count:,} of {rows_in_words(rows['source'])} ({rows['waiting']:,} wait{retired}), and "
        f"suppression allows {most:,}. {advice}, or raise the limit"
    )
    figures = {"rows": rows["source"], "left_out": count, "waiting": rows["waiting"], "allowed": most}
    return heeded(spec, [Warned("limit_exceeded", message, [], figures)])
