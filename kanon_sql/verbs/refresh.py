"""``refresh``: a release that grows takes the new rows, at the cost of these and of no others."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace

from kanon_sql.engines import Column, Engine, Reporter, Workspace, open_workspace
from kanon_sql.errors import SpecError, refuse
from kanon_sql.evaluate import rows_in_words
from kanon_sql.frequency import explained_if_missing, plain_source_of
from kanon_sql.objects import accepts_objects
from kanon_sql.release import (
    State,
    day_of,
    departures_of,
    leaving_rows,
    open_state_schema,
    refuse_later,
    refuse_other_state,
    refuse_other_types,
    state_of,
    take_rows,
    value_forms,
)
from kanon_sql.spec import Source, Spec, format_table_name
from kanon_sql.verbs.growth import Growth
from kanon_sql.verbs.growth_result import grow_release, left_out
from kanon_sql.verbs.growth_state import watermark_of
from kanon_sql.verbs.preflight import Options, obstacles
from kanon_sql.verbs.result import RefreshedRelease
from kanon_sql.verbs.run import running
from kanon_sql.verbs.warnings import failed_by

__all__ = ["refresh"]


@accepts_objects
def refresh(
    engine: Engine,
    spec: Spec,
    *,
    inserted: str | None = None,
    deleted: str | None = None,
    batch: str | None = None,
    verify_all: bool = False,
    timeout: float | None = None,
    report: Reporter | None = None,
    fail_on_warning: bool = False,
) -> RefreshedRelease:
    """Add the rows that are new since the last run to a release, and take out those that left, or change nothing.

    What is added satisfies the requirements by itself, and is made of rows that were never released: a reader who
    subtracts one version from the next finds classes as safe as those of a release. What goes goes in classes of the
    batch that it was released in, k of each at least.

    Args:
        engine: from :func:`kanon_sql.connect`, or a connection of a program, with the right to write.
        spec: what :func:`kanon_sql.anonymize` has released, with ``state`` and, for new rows by a watermark,
            ``increments``.
        inserted: a table or query of new rows, instead of those above the last watermark.
        deleted: a table or query of rows that have left the source. A changed row is in both.
        batch: a name for these rows, which are taken once however often it is given; needed with ``inserted`` and
            ``deleted``, since nothing else would tell that they were taken.
        verify_all: examine the whole release afterwards, not only what is added; not where persons are protected.
        timeout: seconds for the whole run; None for no limit.
        report: called with each stage in plain words.
        fail_on_warning: change nothing where there is a warning, whichever it is.

    Returns:
        A result whose ``refresh`` says how many rows were taken, added and removed, how many wait, and what became of
        the levels. The verdict is ``fail``, and nothing is changed, when a warning is an error.

    Raises:
        SpecError: the release has no state, or that of another spec; a table lacks a column; others may read the
            state; or rows are to leave that were never taken.
        VerificationError: what was written failed its verification; nothing was changed.
        DatabaseError: another run has changed the release meanwhile; nothing was changed.
        KanonError: any other error of :mod:`kanon_sql.errors`.

    Examples:
        >>> growing = kanon_sql.Spec.from_dict({**spec.to_dict(), "release": "visits_growing", "state": "kanon_state"})
        >>> _ = kanon_sql.anonymize(db, growing)
        >>> result = kanon_sql.refresh(db, growing, inserted="SELECT * FROM visits WHERE age < 30", batch="young")
        >>> result.refresh["taken"], result.refresh["added"], result.refresh["waiting"]
        (100, 100, 0)
        >>> kanon_sql.refresh(db, growing, inserted="SELECT * FROM visits WHERE age < 30", batch="young").message
        'nothing was changed: the batch was already added'
    """
    options = Options(inserted=inserted, deleted=deleted, batch=batch, verify_all=verify_all)
    refuse(obstacles(engine, spec, "refresh", options))
    with running(engine, timeout, report, publishes=spec, judges=[spec.source.table]) as run:
        reads = spec if inserted is None else spec.model_copy(update={"source": _source(inserted)})
        relation = plain_source_of(engine, reads)
        with open_workspace(engine, relation) as workspace, ExitStack() as others:
            assert spec.state is not None
            assert spec.release is not None
            with engine.transaction():  # whether there can be one is known before anything is read
                state = state_of(workspace, spec.state, spec.release)
            open_state_schema(workspace, spec.state)
            if state is None:
                raise SpecError(
                    f"state: {format_table_name(spec.release)} has none in {format_table_name(spec.state)}; create it "
                    "with kanon-sql anonymize and the same spec"
                )
            if batch is not None and batch in state.taken:
                unchanged = _unchanged(spec, state, "the batch was already added", fail_on_warning=fail_on_warning)
                return replace(unchanged, cost=run.cost, notes=list(engine.read_notes))
            with explained_if_missing(engine, reads.source.table):
                columns = workspace.described(relation)
            takes_source = inserted is not None or deleted is None
            result = _refreshed(
                workspace, others, spec, state, columns, deleted, batch, takes_source=takes_source,
                verify_all=verify_all, fail_on_warning=fail_on_warning,
            )  # fmt: skip
            return run.closed(result)


def _source(written: str) -> Source:
    """A table, or a query where it has more than one word."""
    text = written.strip()
    return Source.model_validate({"query": text} if text[:6].upper() in ("SELECT", "WITH (") or " " in text else text)


def _refreshed(
    workspace: Workspace,
    others: ExitStack,
    spec: Spec,
    state: State,
    columns: Mapping[str, Column],
    deleted: str | None,
    batch: str | None,
    *,
    takes_source: bool,
    verify_all: bool,
    fail_on_warning: bool,
) -> RefreshedRelease:
    """Take the rows, see what goes, and let the release grow."""
    engine, watermark = workspace.engine, watermark_of(spec)
    refuse_other_state(spec, state, list(columns))
    compared = _named(state, columns, watermark)
    by_watermark = batch is None
    refuse_other_types(state, columns, compared, "--inserted" if takes_source and not by_watermark else "the source")
    departures = None
    if deleted is not None:
        form = plain_source_of(engine, spec.model_copy(update={"source": _source(deleted)}))
        apart = others.enter_context(open_workspace(engine, form))
        workspace.report("finding the rows to remove", None)
        leaving = leaving_rows(apart, state, apart.described(form))
        departures = departures_of(workspace, spec, state, leaving, columns)
    workspace.report("reading the new rows", None)
    taken, forms = None, state.forms
    if takes_source:
        taken = take_rows(
            workspace, columns, _named(state, columns, watermark), watermark if by_watermark else None,
            state.watermark if by_watermark else None,
        )  # fmt: skip
        if not by_watermark:
            refuse_later(workspace, columns, taken, watermark, state.watermark)
        forms = value_forms(workspace, columns, state.columns, taken.table, forms)
    still, changes = (None, None) if departures is None else (departures.waiting, departures.changes)
    growth = Growth(
        spec=spec,
        state=state,
        columns=columns,
        taken=taken,
        forms=forms,
        day=day_of(workspace, spec, state, taken, columns, still, changes),
        departures=departures,
        batch=batch,
        verify_all=verify_all,
        fail_on_warning=fail_on_warning,
    )
    if growth.is_idle:
        unchanged = _unchanged(spec, state, "there are no new rows", fail_on_warning=fail_on_warning)
        return replace(unchanged, notes=list(engine.read_notes))
    return grow_release(workspace, growth)


def _named(state: State, columns: Mapping[str, Column], watermark: str | None) -> list[str]:
    """The columns to take: those of the state, and the watermark, by which late rows are told from later ones."""
    extra = [watermark] if watermark is not None and watermark in columns and watermark not in state.columns else []
    return [*state.columns, *extra]


def _unchanged(spec: Spec, state: State, why: str, *, fail_on_warning: bool) -> RefreshedRelease:
    """The result of a run that had nothing to do."""
    rows = state.rows
    most = spec.suppression.most(rows["source"])
    drifts = rows["waiting"] > most
    above = f"; {rows_in_words(rows['waiting'])} wait, and suppression allows {most:,}" if drifts else ""
    warned = left_out(spec, state)
    failed = failed_by(spec, warned, on_any=fail_on_warning)
    return RefreshedRelease(
        verdict="pass" if failed is None else "fail",
        message=f"nothing was changed: {why}{above}" if failed is None else f"nothing was changed: {why}; {failed}",
        warnings=warned,
        release=".".join(state.release),
        node=state.node,
        rows={
            "source": rows["source"],
            "released": rows["published"],
            "suppressed": rows["source"] - rows["published"],
        },
        classes={},
        achieved={},
        refresh={
            "batch": state.batch,
            "taken": 0,
            "left": 0,
            "added": 0,
            "added_classes": {},
            "added_achieved": {},
            "removed": 0,
            "waiting": rows["waiting"],
            "held": 0,
            "retired": rows["retired"],
            "on_drift": "hold" if spec.increments is None else spec.increments.on_drift,
            "drift": drifts,
            "levels": "kept",
            "verified": "nothing",
        },
    )
