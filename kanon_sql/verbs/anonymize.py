"""``anonymize``: search, write, verify, publish, and leave a manifest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

import kanon_sql.verbs as verbs
from kanon_sql.engines import Engine, Reporter, open_workspace
from kanon_sql.errors import refuse
from kanon_sql.evaluate import Budget, Chosen, NothingFound, NothingToSearch, searched, searched_again
from kanon_sql.frequency import source_of
from kanon_sql.objects import accepts_objects
from kanon_sql.recode import recoded
from kanon_sql.release import (
    Entry,
    UnsafeNodes,
    coarsened,
    comparable_releases,
    lowest_released_levels,
    refuse_other_release,
)
from kanon_sql.search import MAX_NODES
from kanon_sql.spec import Spec
from kanon_sql.verbs.details import with_statements
from kanon_sql.verbs.growth_state import state_source
from kanon_sql.verbs.preflight import Options, obstacles
from kanon_sql.verbs.publication import Publication
from kanon_sql.verbs.result import Release
from kanon_sql.verbs.run import Run, running
from kanon_sql.verbs.several_tables import takes_several
from kanon_sql.verbs.without_spec import takes_roles

__all__ = ["PRODUCERS", "anonymize"]

MOST_COMPARED = 32
"""This many generalizations are written and compared with the earlier releases, where these are to be coarsened."""


@takes_roles(drafts=True)
@takes_several(lambda: verbs.relational.anonymize)
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
    comments: bool = False,
    fail_on_warning: bool = False,
) -> Release:
    """Publish a release that satisfies the spec's requirements, or publish nothing.

    Args:
        engine: from :func:`kanon_sql.connect`, with the right to write; or a table of the program's own (pandas,
            polars, Arrow, a DuckDB relation, ibis, Spark) or an open connection. A table comes back as one, by
            :meth:`Release.to_frame` and its like, and the spec then names no source.
        spec: what to anonymize and how; ``release`` is required, but for a table in memory: a table, or a file where
            DuckDB reads the source. Or the name of a table
            (nothing where the table came first), with ``quasi_identifiers`` and more of :class:`kanon_sql.Roles`: the
            spec is then what :func:`kanon_sql.init` drafts from these. Or a :class:`kanon_sql.RelationalSpec`, which
            takes ``timeout`` and ``report`` alone and gives a
            :class:`kanon_sql.results.RelationalResult`; ``plan``, ``apply`` and ``check`` do so, too.
        timeout: seconds for the whole run; None for no limit.
        report: called with each stage in plain words.
        budget: when to end the search early; the best node found so far is then released.
        all_minimal: also determine all k-minimal generalizations, where the algorithm and the requirements allow it.
        details: also count what a report shows, and put it into the manifest. This takes one more statement
            and no scan of the source.
        distributions: also count, as part of the details, how the rows of the source and of the release are distributed
            over the labels of each column, in one or two statements per column. It shows labels; those with fewer rows
            than k are merged.
        comments: also write a comment on each column of the released table, which says what its values are, before the
            table gets its name. Two statements or one per column, no scan of the source.
        fail_on_warning: publish nothing where there is a warning, whichever it is.

    Returns:
        A result with verdict ``pass`` and the verified figures of the published table. The verdict is ``fail``,
        and nothing is published, when no generalization satisfies the requirements, when the one that was found
        violates them together with the releases of the ledger, or when a warning is an error.

    Raises:
        SpecError: the spec names no release, something else stands under the release's name, or the ledger
            holds a release that cannot be compared with.
        UnsupportedError: the release is a file, and the engine writes none, or a view that it cannot guard; or
            ``distributions`` was asked for where labels overlap, or counts of the source may not be shown; or
            ``comments`` where the release is no table, or the engine has none.
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
        comments=comments,
        fail_on_warning=fail_on_warning,
        budget=budget,
    )
    refuse(obstacles(engine, spec, "anonymize", options))
    produce = next(producer for applies, producer in PRODUCERS if applies(spec))
    with running(engine, timeout, report, publishes=spec, judges=[spec.source.table]) as run:
        result = run.closed(produce(run, spec, options))
        return replace(result, details=with_statements(result.details, run.meter.log))


Producer = Callable[[Run, Spec, Options], Release]
"""Chooses, writes, verifies and publishes one kind of release, or nothing; what it says of it is the result."""


def _privately(run: Run, spec: Spec, options: Options) -> Release:
    """Rows that are drawn, by differential privacy."""
    from kanon_sql.verbs.private import privately_released

    return privately_released(run, spec, options)


def _invariantly(run: Run, spec: Spec, options: Options) -> Release:
    """The next release of an m-invariant sequence."""
    from kanon_sql.verbs.invariant import invariantly_released

    return invariantly_released(run, spec, options)


def _by_search(run: Run, spec: Spec, options: Options) -> Release:
    """The best node, published; or a coarser one, where it conflicts with a ledger that wants that."""
    earlier = _earlier(run, spec)

    def search(wanted: Spec) -> AbstractContextManager[NothingToSearch | NothingFound | Chosen]:
        return searched(run.engine, wanted, options.budget, all_minimal=options.all_minimal)

    with state_source(run.engine, spec) as state:
        spec = state.spec
        publication = Publication(Release, run, options, earlier, remember=state.remember)
        with search(spec) as found:
            result, together = publication.released(found)
        coarsens = spec.ledger is not None and spec.ledger.on_conflict == "coarsen"
        if coarsens and together is not None and together.conflict and isinstance(found, Chosen):
            unsafe = UnsafeNodes(spec, earlier or (), lowest_released_levels(spec, earlier or ()), found.sets.rows)
            unsafe.add(found.best)
            publication = replace(publication, remember=None)
            with search(coarsened(spec, earlier or ())) as above:
                if isinstance(above, Chosen):
                    result = _coarser(publication, above, unsafe, result)
                else:
                    result, _ = publication.released(above)
    return result


def _by_recoding(run: Run, spec: Spec, options: Options) -> Release:
    """The classes of a recoding, published."""
    publication = Publication(Release, run, options, _earlier(run, spec))
    with recoded(run.engine, spec, options.budget) as found:
        return publication.released(found)[0]


PRODUCERS: tuple[tuple[Callable[[Spec], bool], Producer], ...] = (
    (lambda spec: spec.differential_privacy is not None, _privately),
    (lambda spec: spec.m_invariance is not None, _invariantly),
    (lambda spec: spec.recoding.is_full_domain, _by_search),
    (lambda spec: True, _by_recoding),
)
"""Which kind of release a spec asks for, and who makes it; the first one that applies."""


def _earlier(run: Run, spec: Spec) -> Sequence[Entry] | None:
    """The releases of the ledger, once nothing else stands under the names; None without a ledger.

    Publishing takes a transaction of its own: whether there can be one is known before the search.
    """
    with open_workspace(run.engine, source_of(run.engine, spec, counts=True)) as workspace, run.engine.transaction():
        refuse_other_release(workspace, spec)
        return None if spec.ledger is None else comparable_releases(workspace, spec)


def _coarser(publication: Publication[Release], found: Chosen, unsafe: UnsafeNodes, result: Release) -> Release:
    """The best node at or above the levels of the earlier releases that is safe beside them, published.

    What the search finds is compared, then the best of what is left, until one is safe. The search proves each to be
    the best of what is left; what follows from a node that is not safe is left out.

    Args:
        publication: the run, and the releases of the ledger; the budget is that of each search.
        found: the search there.
        unsafe: the node that a search of all levels found, and what follows from it.
        result: what became of that one.
    """
    tried: NothingFound | Chosen = found
    while isinstance(tried, Chosen):
        if tried.node not in unsafe:
            with tried.workspace.passing():
                result, together = publication.released(tried, refused=len(unsafe))
            if together is None or not together.conflict:
                return result
            unsafe.add(tried.best)
        if len(unsafe) == MOST_COMPARED or tried.evaluator.question().lattice.size > MAX_NODES:
            break
        wanted = "among those that are safe beside earlier releases"
        tried = searched_again(tried, unsafe, wanted, publication.options.budget)
    return replace(result, message=f"{result.message}; {_why_no_other(tried, unsafe)}")


def _why_no_other(found: NothingFound | Chosen, unsafe: UnsafeNodes) -> str:
    """Why no coarser node is released: too many were compared, the search was stopped, or none is safe."""
    if isinstance(found, Chosen):
        size = found.evaluator.question().lattice.size
        compared = f"of the {size:,} generalizations at or above earlier levels, the {len(unsafe)} best were compared"
        why = f"{compared}, and whether another one is safe is not known"
    elif found.outcome.stopped is not None:
        why = f"{found.outcome.stopped} after {len(unsafe)} generalizations, none of them safe"
    else:
        why = f"none of the generalizations at or above earlier levels is safe ({len(unsafe)} compared)"
    return why
