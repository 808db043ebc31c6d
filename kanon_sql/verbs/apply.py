"""``apply``: release new rows by a recoding that was kept, verified as every release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import kanon_sql.verbs as verbs
from kanon_sql.engines import Engine, Reporter, open_workspace
from kanon_sql.errors import refuse
from kanon_sql.evaluate import Chosen, NothingFound, NothingToSearch, rows_in_words, searched
from kanon_sql.frequency import source_of
from kanon_sql.recode import KeptRecoding, RecodingResult, applied
from kanon_sql.release import (
    comparable_releases,
    read_recoding,
    refuse_other_release,
)
from kanon_sql.search import Batch
from kanon_sql.spec import RecodingOptions, Source, Spec, parse_table_name
from kanon_sql.verbs.details import with_statements
from kanon_sql.verbs.preflight import Options, obstacles
from kanon_sql.verbs.publication import Publication
from kanon_sql.verbs.result import AppliedRelease
from kanon_sql.verbs.run import running
from kanon_sql.verbs.several_tables import takes_several

__all__ = ["apply"]


@takes_several(lambda: verbs.relational_apply.apply)
def apply(
    engine: Engine,
    spec: Spec,
    name: str,
    *,
    source: str | None = None,
    release: str | None = None,
    timeout: float | None = None,
    report: Reporter | None = None,
    details: bool = False,
    fail_on_warning: bool = False,
) -> AppliedRelease:
    """Release other rows by the recoding of an earlier release, or release nothing.

    Args:
        engine: from :func:`kanon_sql.connect`, with the right to write.
        spec: the quasi-identifiers and hierarchies that the recoding was learned with, and what the new release must
            satisfy by itself; or a :class:`kanon_sql.RelationalSpec`: see :func:`anonymize`.
        name: what the recoding is kept as, ``recoding: {save_as: NAME}``; beside the spec's release, unless it has a
            schema. For several tables, the released persons of an earlier ``full_domain`` release, whose levels are
            taken.
        source: the table of the new rows; the spec's source by default.
        release: the table to publish; the spec's release by default, which ``source`` does not allow.
        timeout: seconds for the whole run; None for no limit.
        report: called with each stage in plain words.
        details: also count what a report shows, and put it into the manifest.
        fail_on_warning: publish nothing where there is a warning, whichever it is.

    Returns:
        A result with verdict ``pass`` and the verified figures of the published table. The verdict is ``fail``, and
        nothing is published, when more rows than the spec allows would have to be suppressed, or when the release
        violates the requirements together with those of the ledger.

    Raises:
        SpecError: there is no such recoding; it was learned with other columns or hierarchies; or a name is missing.
        VerificationError: the written table failed its verification and was dropped.
        KanonError: any other error of :mod:`kanon_sql.errors`.

    Examples:
        >>> learning = kanon_sql.Spec.from_dict({**spec.to_dict(), "recoding": {"save_as": "learned"}})
        >>> _ = kanon_sql.anonymize(db, learning)
        >>> result = kanon_sql.apply(db, spec, "learned", source="visits", release="visits_again")
        >>> result.node, result.rows["suppressed"]
        ({'age': 1, 'zip': 1}, 0)
    """
    options = Options(source=source, release=release, details=details, fail_on_warning=fail_on_warning)
    refuse(obstacles(engine, spec, "apply", options))
    own = _of_new_rows(spec, source, release)
    parts = _in_schema_of_release(spec, name)
    with running(engine, timeout, report, publishes=own, judges=[own.source.table]) as run:
        with open_workspace(engine, source_of(engine, own)) as workspace, engine.transaction():
            kept = read_recoding(workspace, parts)
            kept.refuse_others(own)
            refuse_other_release(workspace, own)
            earlier = None if own.ledger is None else comparable_releases(workspace, own)
        with _recoded(engine, own, kept) as found:
            result, _ = Publication(AppliedRelease, run, options, earlier, applied=kept).released(found)
            if isinstance(found, NothingFound):
                result = replace(result, message=f"nothing was published: {_failure(found, kept)}")
        notes = [*result.notes, *_notes(result, kept)]
        more = with_statements(result.details, run.meter.log)
        return run.closed(replace(result, details=more, notes=notes))


def _of_new_rows(spec: Spec, source: str | None, release: str | None) -> Spec:
    """The spec with the source and the release of this run; its own recoding is not kept again."""
    changes: dict[str, object] = {"recoding": spec.recoding.model_copy(update={"save_as": None})}
    if source is not None:
        changes["source"] = Source.model_validate(source)
    if release is not None:
        changes |= {"release": parse_table_name(release), "release_file": None, "release_view": None}
    return spec.model_copy(update=changes)


def _in_schema_of_release(spec: Spec, name: str) -> tuple[str, ...]:
    """The full name of the recoding: beside the release of the spec, unless it has a schema."""
    parts = parse_table_name(name)
    return (*(spec.release or ())[:-1], *parts) if len(parts) == 1 else parts


@contextmanager
def _recoded(
    engine: Engine, spec: Spec, kept: KeptRecoding
) -> Iterator[NothingToSearch | NothingFound | Chosen | RecodingResult]:
    """The rows in the classes of the recoding, or at its levels."""
    if kept.by_class:
        with applied(engine, spec, kept) as found:
            yield found
        return
    assert kept.node is not None
    columns = {
        name: column.model_copy(update={"minimum_level": kept.node[name], "maximum_level": kept.node[name]})
        for name, column in spec.quasi_identifiers.items()
    }
    kept_options = ("metric", "classify", "prices", "aggregate", "gs_factor", "monotone")
    search = type(spec.search)(**{name: getattr(spec.search, name) for name in kept_options})  # there is one node
    held = {"quasi_identifiers": columns, "recoding": RecodingOptions(), "search": search}
    with searched(engine, spec.model_copy(update=held)) as chosen:
        yield chosen


def _failure(found: NothingFound, kept: KeptRecoding) -> str:
    """Why the levels do not do for these rows."""
    if found.infeasible is not None:
        return found.infeasible
    (verdict,) = found.evaluator.ask(Batch((found.evaluator.question().lattice.top,)))
    wanted = ", ".join(model.label for model in found.models)
    return (
        f"at the levels of {kept.shown}, {verdict.suppressed:,} of {rows_in_words(found.sets.rows)} violate {wanted}, "
        f"and at most {found.prepared.max_suppressed:,} may be suppressed"
    )


def _notes(result: AppliedRelease, kept: KeptRecoding) -> Sequence[str]:
    """Which recoding it was."""
    return [f"recoded by {kept.shown}, which a release of the run {kept.run_id[:-2]} left"] if result.passed else ()
