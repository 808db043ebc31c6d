"""``plan``: the search alone. Says which node would be chosen and what it costs; writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from typing import Any

import kanon_sql.verbs as verbs
from kanon_sql.engines import Engine, Reporter
from kanon_sql.errors import UnsupportedError, refuse
from kanon_sql.evaluate import (
    Budget,
    Chosen,
    NothingFound,
    NothingToSearch,
    distances_between,
    outlier_size,
    rows_in_words,
    searched,
)
from kanon_sql.frequency import SetCache
from kanon_sql.models import models_of
from kanon_sql.objects import accepts_objects
from kanon_sql.recode import RecodingResult, recoded
from kanon_sql.spec import Spec, parse_recoding
from kanon_sql.verbs.classify import classified
from kanon_sql.verbs.details import with_statements
from kanon_sql.verbs.distributions import details_of
from kanon_sql.verbs.preflight import Options, obstacles
from kanon_sql.verbs.recoding_comparison import (
    QUICK,
    is_quick,
    may_be_quick,
    mean_loss_of,
    notes_of_local,
    with_another,
    with_bound,
)
from kanon_sql.verbs.result import Plan, Warned, unreleased
from kanon_sql.verbs.run import running
from kanon_sql.verbs.several_tables import takes_several
from kanon_sql.verbs.steps import notes_of_steps, steps_dict
from kanon_sql.verbs.warnings import failed_by, warnings_of_plan
from kanon_sql.verbs.without_spec import takes_roles

__all__ = ["plan"]


@takes_roles(drafts=True)
@takes_several(lambda: verbs.relational.plan)
@accepts_objects
def plan(
    engine: Engine,
    spec: Spec,
    *,
    timeout: float | None = None,
    report: Reporter | None = None,
    budget: Budget | None = None,
    explain: bool = False,
    all_minimal: bool = False,
    matrix: bool = False,
    bound: bool = False,
    details: bool = False,
    distributions: bool = False,
    compare_recoding: str | Mapping[str, Any] | None = None,
    kept: SetCache | None = None,
    brief: bool = False,
    release_warnings: bool = False,
    fail_on_warning: bool = False,
) -> Plan:
    """Search for the best generalization without writing anything but scratch tables.

    Args:
        engine: from :func:`kanon_sql.connect`, where a read-only connection is enough; or a table or an open connection
            of the program's own.
        spec: what to anonymize and how; or the name of a table, with :class:`kanon_sql.Roles`; or a
            :class:`kanon_sql.RelationalSpec`: see :func:`anonymize`.
        timeout: seconds for the whole run; None for no limit.
        report: called with each stage in plain words.
        budget: when to end the search early, at the best node found so far.
        explain: also say of every node of the lattice how it was decided.
        all_minimal: also determine all k-minimal generalizations, where the algorithm and the requirements allow it.
        matrix: also fetch Samarati's matrix of distance vectors, between each vector of fewer than k rows and all
            others: numbers for vectors, levels, and no value.
        bound: also compute what no local recoding with these hierarchies loses less than.
        details: also count what a report shows, in one more statement and no scan of the source.
        distributions: also count, as part of the details, how the rows of the source and of the release are distributed
            over the labels of each column, in one or two statements per column. It shows labels; those with fewer rows
            than k are merged.
        compare_recoding: another recoding, such as ``local``: also make it, on the same frequency sets, and report
            its loss. It takes the statements of a run of its own, and no scan of the source. ``quick`` asks for
            ``local`` next to a full-domain plan that loses something, where that takes about a second: DuckDB, at most
            50,000 different vectors, and no requirement but k-anonymity.
        kept: frequency sets that several runs share, as :func:`kanon_sql.compare` has them.
        brief: leave out what takes a statement and is not what one waits for: metrics but the one that was optimized
            and the loss, and the warning ``uneven_suppression``, unless it is an error.
        release_warnings: also look for what ``anonymize`` would warn of, in the rows that it would write: they are read
            into a scratch table.
        fail_on_warning: the verdict is ``fail`` where there is a warning, whichever it is.

    Returns:
        The chosen node, what it would achieve, its metrics and the runners-up. The verdict is ``fail`` when no node
        satisfies the requirements, or when a warning is an error. What ``anonymize`` warns of besides is looked for
        where ``release_warnings`` says so.

    Raises:
        SpecError: ``compare_recoding`` is no recoding.
        UnsupportedError: ``explain``, ``matrix`` or ``distributions`` was asked for with an algorithm that chooses
            intervals, or with local recoding; ``matrix`` without a k; ``bound`` without local recoding; or
            ``release_warnings`` where there are no scratch tables.
        SearchTooLarge: ``matrix`` was asked for with more distance vectors than any reader would read.
        KanonError: any other error of :mod:`kanon_sql.errors`.

    Examples:
        >>> result = kanon_sql.plan(db, spec)
        >>> result.node
        {'age': 1, 'zip': 1}
        >>> result.achieved["k_anonymity"]["k"], result.search.proven
        (10, True)
    """
    options = Options(
        explain=explain,
        all_minimal=all_minimal,
        matrix=matrix,
        bound=bound,
        distributions=distributions,
    )
    refuse(obstacles(engine, spec, "plan", options))
    if release_warnings and engine.scratch.mode == "inline":
        raise UnsupportedError(
            f"the warnings of a release need a scratch table ({engine.scratch.reason}); anonymize looks for them"
        )
    outliers = outlier_size(models_of(spec)) if matrix else None
    quick = compare_recoding == QUICK and not (explain or all_minimal or matrix) and may_be_quick(engine, spec)
    other = None if compare_recoding is None or compare_recoding == QUICK else parse_recoding(compare_recoding)
    with running(engine, timeout, report, judges=[spec.source.table]) as run:
        with ExitStack() as opened:
            if (quick or other is not None) and kept is None:
                kept = opened.enter_context(SetCache(engine))
            made: AbstractContextManager[NothingToSearch | NothingFound | Chosen | RecodingResult]
            if not spec.recoding.is_full_domain:
                made = recoded(engine, spec, budget, kept=kept)
            else:
                made = searched(engine, spec, budget, explain=explain, all_minimal=all_minimal, kept=kept)
            with made as found:
                result = _result(found, brief=brief and not fail_on_warning)
                if release_warnings and isinstance(found, Chosen | RecodingResult):
                    result = replace(result, warnings=_of_release(found, result.rows["suppressed"]))
                if (why := failed_by(spec, result.warnings, on_any=fail_on_warning)) is not None:
                    result = replace(result, verdict="fail", message=f"nothing would be published: {why}")
                result = with_bound(result, found) if bound else result
                if result.search is not None and explain:
                    result = replace(result, search=replace(result.search, lattice=found.explained()))
                if result.search is not None and outliers is not None and isinstance(found, Chosen | NothingFound):
                    distances = distances_between(found.workspace, found.sets, outliers)
                    result = replace(result, search=replace(result.search, distances=distances))
                more = details_of(found, "distributions" if distributions else details)
                loses = result.mean_loss != 0  # else nothing can be better
                if quick and loses and isinstance(found, Chosen) and is_quick(engine, found):
                    other = parse_recoding("local")
            if other is not None:
                result = with_another(engine, spec, other, result, budget, kept)
        steps = steps_dict(engine, spec, result.rows["source"])
        ledger = [] if spec.ledger is None else ["the ledger was not read: anonymize compares with earlier releases"]
        result = replace(
            result,
            release=spec.shown,
            notes=[*engine.read_notes, *result.notes, *notes_of_steps(steps), *ledger],
            steps=steps,
            details=with_statements(more, run.meter.log),
        )
        return run.closed(result)


def _result(found: NothingToSearch | NothingFound | Chosen | RecodingResult, *, brief: bool) -> Plan:
    if isinstance(found, NothingToSearch | NothingFound):
        return unreleased(Plan, found, found.failure())
    return _planned(found, brief=brief)


def _of_release(found: Chosen | RecodingResult, suppressed_rows: int) -> list[Warned]:
    from kanon_sql.verbs.manifest_builder import choice_of  # what writes, which other plans do without
    from kanon_sql.verbs.warnings import warnings_of_planned

    return warnings_of_planned(found, choice_of(found, suppressed_rows))


def _planned(found: Chosen | RecodingResult, *, brief: bool) -> Plan:
    """What a release would be."""
    examination, rows = found.achieved(), found.rows()
    return Plan(
        verdict="pass",
        message=f"a release of {rows['released']:,} of {rows_in_words(rows['source'])} satisfies "
        f"{', '.join(model.label for model in found.models)}; {rows_in_words(rows['suppressed'])} suppressed",
        release=None,
        node=found.node_dict(found.node) if isinstance(found, Chosen) else None,
        rows=rows,
        classes=examination.classes_dict(),
        class_sizes=examination.sizes,
        achieved=examination.achieved_dict(),
        metrics=found.metrics(brief=brief) if isinstance(found, Chosen) else found.metrics(),
        max_suppressed=found.prepared.max_suppressed,
        mean_loss=mean_loss_of(found),
        search=found.summary() if isinstance(found, Chosen) else None,
        notes=[*found.notes, *notes_of_local(found)],
        intervals=found.intervals if isinstance(found, Chosen) else None,
        recoding=found.to_dict() if isinstance(found, RecodingResult) else None,
        utility=classified(found),
        warnings=warnings_of_plan(found, brief=brief),
        level_names=found.level_names,
    )
