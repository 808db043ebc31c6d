"""``anonymize`` for ``m_invariance``: make classes, write, verify, compare with the history, publish both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql.disclosure.invariance import Invariance, Republication, measure_invariance
from kanon_sql.engines import Column, Workspace, open_workspace
from kanon_sql.errors import VerificationError
from kanon_sql.evaluate import Classes, Rows, rows_in_words
from kanon_sql.frequency import explained_if_missing, source_columns, source_of
from kanon_sql.recode import InvariantClasses, NoInvariantClasses, invariant_classes
from kanon_sql.release import (
    History,
    extended_history,
    history_of,
    invariant_release,
    publish,
    publish_history,
    refuse_other_release,
)
from kanon_sql.spec import CLASS_COLUMN, MInvarianceRequirement, QuasiIdentifier, Spec, format_table_name
from kanon_sql.sql import Relation
from kanon_sql.verbs.manifest_builder import manifest_frame
from kanon_sql.verbs.preflight import Options
from kanon_sql.verbs.result import InvarianceSummary, Release, Warned, unpublished
from kanon_sql.verbs.run import Run
from kanon_sql.verbs.warnings import failed_by, readable_by_others

__all__ = ["invariantly_released"]


@dataclass(frozen=True)
class _Run:
    """One release under way."""

    workspace: Workspace
    spec: Spec
    requirement: MInvarianceRequirement
    columns: Mapping[str, Column]
    history: History | None
    run: Run

    @property
    def names_history(self) -> str:
        """The history's name, as the release's schema has it."""
        assert self.spec.release is not None
        return format_table_name((*self.spec.release[:-1], self.requirement.history[-1]))

    def facts(self, found: InvariantClasses) -> InvarianceSummary:
        """What results and manifests say of the sequence and its counterfeits."""
        return {
            "m": self.requirement.m,
            "attribute": self.requirement.attribute,
            "history": self.names_history,
            "earlier": [] if self.history is None else list(self.history.releases),
            "persons": {"released_before": found.old, "new": found.rows - found.old},
            "signatures": found.signatures,
            "counterfeits": found.counterfeits,
            "classes_by_counterfeits": [
                {"counterfeits": count, "classes": classes} for count, classes in found.by_counterfeits.items()
            ],
            "rounds": found.rounds,
        }


def invariantly_released(opened: Run, spec: Spec, options: Options) -> Release:
    """Publish the next release of an m-invariant sequence, or publish nothing.

    Args:
        opened: the run.
        spec: what to anonymize and how.
        options: whether to publish nothing where others may read the history.

    Raises:
        SpecError: something else stands under a name, or the source does not have one row per person.
        KanonError: whatever the stages raise.
    """
    requirement, engine = spec.m_invariance, opened.engine
    assert requirement is not None
    relation = source_of(engine, spec)
    with open_workspace(engine, relation) as workspace:
        with explained_if_missing(engine, spec.source.table):
            columns = source_columns(workspace, spec, relation)
        with engine.transaction():
            refuse_other_release(workspace, spec)
            history = history_of(workspace, spec, requirement, columns)
        run = _Run(workspace, spec, requirement, columns, history, opened)
        found = invariant_classes(workspace, spec, requirement, columns, None if history is None else history.past)
        if isinstance(found, NoInvariantClasses):
            return _result(run, found, "fail", f"nothing was published: {found.why}", list(engine.read_notes))
        what = "persons and their values, and is as sensitive as the source"
        warned = readable_by_others(engine, spec, run.names_history, what)
        if (why := failed_by(spec, warned, on_any=options.fail_on_warning)) is not None:
            result = _result(run, found, "fail", "", list(engine.read_notes))
            return unpublished(replace(result, release=None, warnings=warned), why)
        return _released(run, found, warned)


def _released(run: _Run, found: InvariantClasses, warned: list[Warned]) -> Release:
    """Write, verify, compare, publish."""
    spec, workspace = run.spec, run.workspace
    with invariant_release(workspace, spec, run.columns, found) as released:
        measured = _compared(run, released.internal, None if run.history is None else run.history.past.table)
        with extended_history(workspace, spec, run.requirement, run.history, released) as table:
            _compared(run, table, None if run.history is None else run.history.past.table)
            publish_history(workspace, spec, run.requirement, run.history, table)
        notes = _notes(run, found)
        label = measured.label if run.history is not None else run.requirement.notation
        message = (
            f"published {rows_in_words(found.rows)} and {found.counterfeits:,} counterfeits in {found.count:,} "
            f"classes, verified for {label}; every person is released"
        )
        achieved = {measured.key: {**measured.to_dict(), "requirement": label}}  # which names no scratch table
        result = replace(_result(run, found, "pass", message, notes), achieved=achieved, warnings=warned)
        manifest = _manifest(run, result)
        publish(workspace, spec, released.table, manifest)
    return replace(result, manifest=manifest)


def _compared(run: _Run, table: Relation, earlier: Relation | None) -> Invariance:
    """What two versions have of m-invariance, by the check that any user can make; one alone is compared with itself.

    Raises:
        VerificationError: they are not m-invariant.
    """
    workspace, spec = run.workspace, run.spec
    assert spec.unit is not None
    by_class = spec.model_copy(update={"quasi_identifiers": {CLASS_COLUMN: QuasiIdentifier()}})
    asked = Republication(format_table_name((earlier or table).parts), spec.unit, run.requirement.m)
    (measured,) = measure_invariance(workspace, by_class, table, workspace.columns(table), asked)
    if not measured.passed:
        raise VerificationError(f"verification: {measured.problem()}; nothing was published")
    return measured


def _notes(run: _Run, found: InvariantClasses) -> list[str]:
    notes = list(run.workspace.engine.read_notes)
    if run.history is None:
        notes.append(
            f"this is the first release of its sequence: {run.names_history} was created, which later releases use; it "
            "holds persons and their values, and is as sensitive as the source"
        )
    if found.counterfeits:
        notes.append(
            f"{found.counterfeits:,} of the rows are counterfeits, which belong to no person; the column counterfeits "
            "has their number per class, to subtract from counts"
        )
    return notes


def _result(
    run: _Run, found: InvariantClasses | NoInvariantClasses, verdict: Any, message: str, notes: list[str]
) -> Release:
    made = found if isinstance(found, InvariantClasses) else None
    assert run.spec.release is not None
    rows: Rows = {"source": found.rows, "released": found.rows if made is not None else 0, "suppressed": 0}
    return Release(
        verdict=verdict,
        message=message,
        release=".".join(run.spec.release) if made is not None else None,
        node=None,
        rows=rows,
        classes={} if made is None else _classes(made),
        achieved={},
        metrics={},
        mean_loss=None if made is None else made.mean_loss,
        search=None,
        cost=run.run.cost,
        notes=notes,
        m_invariance=None if made is None else run.facts(made),
    )


def _classes(found: InvariantClasses) -> Classes:
    average = (found.rows + found.counterfeits) / found.count
    return {"count": found.count, "smallest": found.smallest, "average": average, "largest": found.largest}


def _manifest(run: _Run, result: Release) -> dict[str, Any]:
    """What was published and how; no value of the data is in it."""
    return manifest_frame(
        run.spec,
        run.workspace,
        result,
        rows=dict(result.rows),
        cost=result.cost.to_dict(),
        notes=list(result.notes),
        warnings=result.to_dict()["warnings"],
        m_invariance=result.to_dict()["m_invariance"],
    )
