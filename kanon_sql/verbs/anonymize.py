"""``anonymize``: search, write, verify, publish, and leave a manifest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from kanon_sql.engines import Engine, Reporter, open_workspace
from kanon_sql.errors import refuse
from kanon_sql.evaluate import (
    Budget,
    Chosen,
    NothingFound,
    NothingToSearch,
    Rows,
    rows_in_words,
    searched,
    searched_again,
)
from kanon_sql.frequency import source_of
from kanon_sql.objects import accepts_objects
from kanon_sql.recode import CellsRecoded, Kept, Recoded, recoded
from kanon_sql.release import (
    Choice,
    Entry,
    JointVerdict,
    UnsafeNodes,
    Written,
    addition,
    coarsened,
    comparable_releases,
    compared,
    held_levels,
    keep,
    publish,
    publish_file,
    publish_view,
    refuse_other_release,
    written_release,
)
from kanon_sql.search import MAX_NODES
from kanon_sql.spec import Spec
from kanon_sql.verbs.classify import classified
from kanon_sql.verbs.details import with_statements
from kanon_sql.verbs.distributions import details_of
from kanon_sql.verbs.growth_state import StateSource, state_source
from kanon_sql.verbs.invariant import invariantly_released
from kanon_sql.verbs.manifest_builder import choice_of, manifest_of
from kanon_sql.verbs.preflight import Options, obstacles
from kanon_sql.verbs.private import privately_released
from kanon_sql.verbs.recoding import mean_loss_of, notes_of_local
from kanon_sql.verbs.result import LedgerSummary, Result, unreleased
from kanon_sql.verbs.run import Run, running
from kanon_sql.verbs.steps import notes_of_steps, steps_dict
from kanon_sql.verbs.warnings import failed_by, warnings_of_release
from kanon_sql.verbs.without_spec import takes_roles

__all__ = ["anonymize", "released"]

MOST_COMPARED = 32
"""This many generalizations are written and compared with the earlier releases, where these are to be coarsened."""


@takes_roles(drafts=True)
@accepts_objects
def anonymize(
    engine: Engine,
    spec: Spec,
    *,
    timeout: float | None = None,
    report: Reporter | None = None,
    budget: Budget | None = None,
    all_minimal: bool = False,
    details: bool = False,
    distributions: bool = False,
    fail_on_warning: bool = False,
) -> Result:
    """Publish a release that satisfies the spec's requirements, or publish nothing.

    Args:
        engine: from :func:`kanon_sql.connect`, with the right to write; or a table of the program's own (pandas,
            polars, Arrow, a DuckDB relation, ibis, Spark) or an open connection. A table comes back as one, by
            :meth:`Result.to_frame` and its like, and the spec then names no source.
        spec: what to anonymize and how; ``release`` is required, but for a table in memory: a table, or a file where
            DuckDB reads the source. Or the name of a table
            (nothing where the table came first), with ``quasi_identifiers`` and more of :class:`kanon_sql.Roles`: the
            spec is then what :func:`kanon_sql.init` drafts from these.
        timeout: seconds for the whole run; None for no limit.
        report: called with each stage in plain words.
        budget: when to end the search early; the best node found so far is then released.
        all_minimal: also determine all k-minimal generalizations, where the algorithm and the requirements allow it.
        details: also count what a report shows, and put it into the manifest. This takes one more statement
            and no scan of the source.
        distributions: also count, as part of the details, how the rows of the source and of the release are distributed
            over the labels of each column, in one or two statements per column. It shows labels; those with fewer rows
            than k are merged.
        fail_on_warning: publish nothing where there is a warning, whichever it is.

    Returns:
        A result with verdict ``pass`` and the verified figures of the published table. The verdict is ``fail``,
        and nothing is published, when no generalization satisfies the requirements, when the one that was found
        violates them together with the releases of the ledger, or when a warning is an error.

    Raises:
        UnsupportedError: the release is a file, and the engine writes none; or a view that it cannot guard.
        SpecError: the spec names no release, something else stands under the release's name, or the ledger
            holds a release that cannot be compared with.
        UnsupportedError: ``distributions`` was asked for where labels overlap or persons are protected.
        VerificationError: the written table failed its verification and was dropped.
        KanonError: any other error of :mod:`kanon_sql.errors`.

    Examples:
        >>> result = kanon_sql.anonymize(db, spec)
        >>> result.message
        'published 600 of 600 rows, verified for 8-anonymity; 0 rows suppressed'
        >>> connection.sql("SELECT DISTINCT zip FROM visits_release ORDER BY zip").fetchall()
        [('9410*',), ('9411*',), ('9412*',), ('9413*',)]
    """
    options = Options(
        all_minimal=all_minimal,
        details=details,
        distributions=distributions,
        fail_on_warning=fail_on_warning,
        budget=budget,
    )
    refuse(obstacles(engine, spec, "anonymize", options))
    with running(engine, timeout, publishes=spec, judges=[spec.source.table]) as run:
        result = run.closed(_made(run, spec, options, report))
        return replace(result, details=with_statements(result.details, run.meter.log))


def _made(run: Run, spec: Spec, options: Options, report: Reporter | None) -> Result:
    """A release of the kind that the spec asks for."""
    if (private := spec.differential_privacy) is not None:
        return privately_released(run, spec, private, report)
    if (invariance := spec.m_invariance) is not None:
        return invariantly_released(run, spec, invariance, report, fail_on_warning=options.fail_on_warning)
    # Publishing takes a transaction of its own: whether there can be one is known before the search.
    with open_workspace(run.engine, source_of(run.engine, spec), report) as workspace, run.engine.transaction():
        refuse_other_release(workspace, spec)
        earlier = None if spec.ledger is None else comparable_releases(workspace, spec)
    if spec.recoding.is_full_domain:
        with state_source(run.engine, spec, report) as state:
            return _searched(run, state, options, report, earlier)
    with recoded(run.engine, spec, report, options.budget) as found:
        return released(run, found, options, earlier)[0]


def _searched(
    run: Run, state: StateSource, options: Options, report: Reporter | None, earlier: Sequence[Entry] | None
) -> Result:
    """The best node, published; or a coarser one, where it conflicts with a ledger that wants that."""
    spec, engine = state.spec, run.engine
    with searched(engine, spec, report, options.budget, all_minimal=options.all_minimal) as found:
        result, together = released(run, found, options, earlier, remember=state.remember)
    coarsen = spec.ledger is not None and spec.ledger.on_conflict == "coarsen"
    if coarsen and together is not None and together.conflict and isinstance(found, Chosen):
        unsafe = UnsafeNodes(spec, earlier or (), held_levels(spec, earlier or ()), found.sets.rows)
        unsafe.add(found.best)
        above = coarsened(spec, earlier or ())
        with searched(engine, above, report, options.budget, all_minimal=options.all_minimal) as coarser:
            result = _coarser(run, coarser, unsafe, result, options, earlier or ())
    return result


def _coarser(
    run: Run,
    found: NothingToSearch | NothingFound | Chosen,
    unsafe: UnsafeNodes,
    result: Result,
    options: Options,
    earlier: Sequence[Entry],
) -> Result:
    """The best node at or above the levels of the earlier releases that is safe beside them, published.

    What the search finds is compared, then the best of what is left, until one is safe. The search proves each to be
    the best of what is left; what follows from a node that is not safe is left out.

    Args:
        run: the run.
        found: the search there.
        unsafe: the node that a search of all levels found, and what follows from it.
        result: what became of that one.
        options: what was asked for; the budget is that of each search.
        earlier: the releases of the ledger.
    """
    if not isinstance(found, Chosen):
        return released(run, found, options, earlier)[0]
    while isinstance(found, Chosen):
        if found.node not in unsafe:
            with found.workspace.passing():
                result, together = released(run, found, options, earlier, refused=len(unsafe))
            if together is None or not together.conflict:
                return result
            unsafe.add(found.best)
        lattice = found.evaluator.question().lattice
        if len(unsafe) == MOST_COMPARED or lattice.size > MAX_NODES:
            why = (
                f"of the {lattice.size:,} generalizations at or above earlier levels, the {len(unsafe)} best were "
                "compared"
            )
            return replace(result, message=f"{result.message}; {why}, and whether another one is safe is not known")
        found = searched_again(found, unsafe, "among those that are safe beside earlier releases", options.budget)
    none = f"none of the generalizations at or above earlier levels is safe ({len(unsafe)} compared)"
    if found.outcome.stopped is not None:
        none = f"{found.outcome.stopped} after {len(unsafe)} generalizations, none of them safe"
    return replace(result, message=f"{result.message}; {none}")


def released(
    run: Run,
    found: NothingToSearch | NothingFound | Chosen | Recoded,
    options: Options,
    earlier: Sequence[Entry] | None,
    *,
    refused: int | None = None,
    applied: Kept | None = None,
    remember: Callable[[Choice, Written], str] | None = None,
) -> tuple[Result, JointVerdict | None]:
    """What the search found, published; or why not.

    Args:
        run: the run.
        found: the search.
        options: what to count, and whether a warning is an error.
        earlier: the releases of the ledger; None without a ledger.
        refused: the search was held at the levels of the earlier releases, or above, and this many nodes were compared
            there before; None where it was not.
        applied: the recoding that was applied, where none was looked for.
        remember: keeps what later refreshes need, right before the release is published, and says so.
    """
    spec = found.spec
    verb: Literal["anonymize", "apply"] = "anonymize" if applied is None else "apply"
    more = details_of(found, options.counted)
    if isinstance(found, NothingToSearch | NothingFound):
        result = unreleased(verb, found, f"nothing was published: {found.failure()}")
        return replace(result, details=more, notes=[*found.workspace.engine.read_notes, *result.notes]), None
    metrics, rows = found.metrics(), found.rows()
    choice = choice_of(found, rows["suppressed"])
    utility = classified(found)
    steps = steps_dict(found.workspace.engine, spec, rows["source"])
    with written_release(found.workspace, choice) as written:
        if written.masked:
            rows["masked"] = written.masked
        together = None
        if isinstance(found, Chosen) and earlier is not None:
            together = compared(found, written, earlier, refused=refused)
        warned = warnings_of_release(found, choice, written)
        result = Result(
            verb=verb,
            verdict="pass",
            message=_message(found, rows, written),
            release=spec.shown,
            node=found.node_dict(found.node) if isinstance(found, Chosen) else None,
            rows=rows,
            classes=written.examination.classes_dict(),
            class_sizes=written.examination.sizes,
            achieved=written.examination.achieved_dict(),
            metrics=metrics,
            mean_loss=mean_loss_of(found),
            search=found.summary() if isinstance(found, Chosen) else None,
            cost=run.cost,
            notes=[
                *found.workspace.engine.read_notes,
                *found.notes,
                *notes_of_steps(steps),
                *notes_of_local(found),
                *written.all_notes,
            ],
            intervals=found.intervals if isinstance(found, Chosen) else None,
            recoding=found.to_dict() if isinstance(found, Recoded) else None,
            details=with_statements(more, found.workspace.engine.meter.log),
            ledger=None if together is None else _ledger(together),
            steps=steps,
            utility=utility,
            warnings=warned,
            level_names=found.level_names,
        )
        if (why := failed_by(spec, warned, on_any=options.fail_on_warning)) is not None:
            return replace(result, verdict="fail", message=f"nothing was published: {why}"), together
        if together is not None and not together.passed:
            message = f"nothing was published: {together.failure()}"
            assert spec.ledger is not None
            notes = [*result.notes, *together.remedies(spec.ledger.on_conflict)]
            return replace(result, verdict="fail", message=message, notes=notes), together
        if remember is not None:
            result = replace(result, notes=[*result.notes, remember(choice, written)])
        manifest = manifest_of(spec, found.workspace, result, file=written.file, applied=applied)
        entry = None
        if isinstance(found, Chosen) and earlier is not None:
            entry = addition(found, written, earlier, rows)
        if spec.release_view is not None:
            publish_view(found.workspace, choice, manifest)
        elif written.file is None:
            publish(found.workspace, spec, written.table, manifest, entry)
        else:
            found.workspace.report("publishing", None)
            found.workspace.engine.refuse_shadowed_functions()  # the verification has called them
            publish_file(written.file, manifest)
    return replace(result, manifest=manifest, notes=[*result.notes, *_kept(found)]), together


def _ledger(found: JointVerdict) -> LedgerSummary:
    """What the release and those of its ledger tell together, as it stands in results."""
    joint = found.joint
    return {
        "table": found.table,
        "earlier": [entry.name for entry in found.earlier],
        "coarsened": found.coarsened,
        "refused": found.refused,
        "changed": [] if joint is None else list(joint.changed),
        "classes": joint.examinations[0].classes_dict() if joint is not None and joint.examinations else {},
        "achieved": {} if joint is None else {item.model.label: item.to_dict() for item in joint.achieved},
    }


def _kept(found: Chosen | Recoded) -> Sequence[str]:
    """Keep the recoding of what was published, if the spec says so; what to say of it."""
    if found.spec.recoding.save_as is None:
        return ()
    if isinstance(found, Chosen):
        return [keep(found.workspace, found.spec, found.node, found.node_dict(found.node))]
    node = found.node_dict(found.node) if isinstance(found, CellsRecoded) else None
    return [keep(found.workspace, found.spec, found.mapped, node)]


def _message(found: Chosen | Recoded, rows: Rows, written: Written) -> str:
    dropped = written.note is not None  # what says why
    return (
        f"published {rows['released']:,} of {rows_in_words(rows['source'])}, verified for "
        f"{', '.join(model.label for model in found.models)}; {rows_in_words(rows['suppressed'])} "
        f"suppressed{', and dropped instead of masked' if dropped else ''}"
    )
