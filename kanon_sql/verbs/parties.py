"""``parties plan`` and ``parties anonymize``: one release of a table that is split between several databases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from kanon_sql.engines import Engine, Reporter, Workspace, open_workspace
from kanon_sql.errors import Obstacle, SpecError, refuse
from kanon_sql.evaluate import rows_in_words
from kanon_sql.frequency import source_of
from kanon_sql.models import model_obstacles, models_of
from kanon_sql.parties import (
    Horizontal,
    Part,
    Vertical,
    demand_obstacles,
    party_obstacles,
    searched_horizontally,
    searched_vertically,
    vertical_obstacles,
)
from kanon_sql.release import refuse_other_release
from kanon_sql.spec import Spec
from kanon_sql.verbs.manifest_builder import manifest_frame
from kanon_sql.verbs.parties_result import PartiesResult, Split, result_of, wanted_of
from kanon_sql.verbs.preflight import file_release_obstacles
from kanon_sql.verbs.run import Run, running

__all__ = ["PartiesResult", "anonymize_parties", "plan_parties"]


def plan_parties(
    engines: Sequence[Engine],
    spec: Spec,
    *,
    split: Split = "horizontal",
    key: str | None = None,
    timeout: float | None = None,
    report: Reporter | None = None,
) -> PartiesResult:
    """Find the best generalization of a table that is split between parties, and publish nothing.

    The result is the one that the pooled (horizontal) or joined (vertical) table would have: the same node, verdict and
    figures. Zhong, Yang, Wright 2005; Jiang, Clifton 2006; Wang, Fung, Dong 2005.

    Args:
        engines: one for each party, from :func:`kanon_sql.connect`; a read-only connection is enough. Each database has
            a table of the name that the spec's source has.
        spec: what to anonymize and how; the same for all.
        split: whether each party has rows of its own, or columns of its own.
        key: in a vertical split the column that every party has: one of the spec's identifiers.
        timeout: seconds for the statements of each party; None for no limit.
        report: called with each stage in plain words.

    Raises:
        SpecError: there are fewer than two parties, two are one database, or their columns do not fit.
        UnsupportedError: the spec asks for what only a table in one place can tell.
        KanonError: any other error of :mod:`kanon_sql.errors`.

    Examples:
        >>> kanon_sql.plan_parties([db], spec)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        kanon_sql.errors.SpecError: parties: expected at least two databases, got 1; give each with --database
        parties: search.metric: loss needs the counts of values, ...
    """
    refuse(_obstacles(engines, spec, split, key))
    with _running(engines, spec, timeout, report) as runs:
        with _searched(engines, spec, split, key, report or _silent) as found:
            result = _with_read_notes(result_of("plan", found, _names(engines), split), runs)
        return _closed(result, runs)


def anonymize_parties(
    engines: Sequence[Engine],
    spec: Spec,
    *,
    split: Split = "horizontal",
    key: str | None = None,
    at: int = 1,
    timeout: float | None = None,
    report: Reporter | None = None,
) -> PartiesResult:
    """Publish one release of a table that is split between parties, or publish nothing.

    Horizontal: every party's part is published in its own database; the parts are verified together, and satisfy the
    requirement together, not each by itself. Vertical: the joined release is published at one party, with all columns
    as text. Sources as in :func:`plan_parties`.

    Args:
        engines: one for each party, with the right to write; in a vertical split that of the release alone needs it.
        spec: what to anonymize and how; ``release`` is required.
        split: whether each party has rows of its own, or columns of its own.
        key: in a vertical split the column that every party has: one of the spec's identifiers.
        at: in a vertical split the number of the party, from 1 on, where the joined release is published.
        timeout: seconds for the statements of each party; None for no limit.
        report: called with each stage in plain words.

    Raises:
        SpecError: the spec names no release, something else stands under its name, or as in :func:`plan_parties`.
        VerificationError: what was written is not what may be published; it was dropped.
        DatabaseError: a party refused after others have published; the message says which.
        KanonError: any other error of :mod:`kanon_sql.errors`.

    Examples:
        >>> import duckdb
        >>> north, south = duckdb.connect(), duckdb.connect()
        >>> for site, half in ((north, 0), (south, 1)):
        ...     rows = connection.sql(f"SELECT * FROM visits WHERE CAST(zip AS INTEGER) % 2 = {half}").fetchall()
        ...     _ = site.execute("CREATE TABLE visits (age INTEGER, zip VARCHAR, diagnosis VARCHAR)")
        ...     _ = site.executemany("INSERT INTO visits VALUES (?, ?, ?)", rows)
        >>> split = kanon_sql.Spec.from_dict({**spec.to_dict(), "search": {"metric": "precision"}})
        >>> result = kanon_sql.anonymize_parties([kanon_sql.connect(north), kanon_sql.connect(south)], split)
        >>> result.message
        'published 600 of 600 rows in 2 parts, verified together for 8-anonymity; 0 rows suppressed'
        >>> [site.sql("SELECT COUNT(*) FROM visits_release").fetchall() for site in (north, south)]
        [[(300,)], [(300,)]]
    """
    refuse(_obstacles(engines, spec, split, key, at))
    places = [engine for engine, _ in _publishing(engines, split, at)]
    with _running(engines, spec, timeout, report, places) as runs:
        for engine in places:
            with open_workspace(engine, source_of(engine, spec)) as workspace, engine.transaction():
                refuse_other_release(workspace, spec)
        with _searched(engines, spec, split, key, report or _silent) as found:
            result = _with_read_notes(result_of("anonymize", found, _names(engines), split), runs)
            if result.passed and isinstance(found, Horizontal):
                result = _published_in_parts(found, result)
            elif result.passed and isinstance(found, Vertical):
                result = _published_joined(found, result, at)
        return _closed(result, runs)


def _silent(stage: str, nodes: int | None = None) -> None:
    """Report nothing."""


def _named(report: Reporter | None, name: str) -> Reporter | None:
    """A reporter of one party's stages."""
    return None if report is None else lambda stage, nodes: report(f"{name}: {stage}", nodes)


def _obstacles(
    engines: Sequence[Engine], spec: Spec, split: str, key: str | None, at: int | None = None
) -> Iterator[Obstacle]:
    """What parties cannot do together.

    Args:
        engines: one for each party.
        spec: what to anonymize and how.
        split: how the table is split.
        key: what rows belong together by.
        at: the number of the party where a joined release is published; None where nothing is published.
    """
    names = _names(engines)
    if at is not None:
        yield from _places(engines, spec, split, at)
    if len(engines) < 2:
        yield Obstacle(
            f"parties: expected at least two databases, got {len(engines)}; give each with --database", SpecError
        )
    if split not in ("horizontal", "vertical"):
        yield Obstacle(f"--split {split}: expected horizontal (rows) or vertical (columns)", SpecError)
    if key is None and split == "vertical":
        yield Obstacle("--key: a vertical split needs a join column that every party has; give --key COLUMN", SpecError)
    if key is not None and split == "horizontal":
        yield Obstacle("--key: only for a vertical split; leave it out, or give --split vertical", SpecError)
    for name in spec.points:
        yield Obstacle(
            f"parties: quasi_identifiers.{name}: parties cannot compute the cells of a point; add the cells as a "
            "column, in a view of each party's database"
        )
    yield from _twice(engines, names)
    if at is not None:
        for engine, name in _publishing(engines, split, at):
            if engine.read_only:
                yield Obstacle(
                    f"the connection to {name} ({engine.label}) is read-only, but anonymize needs to write; connect "
                    "without read_only",
                    SpecError,
                )
    yield from party_obstacles(spec)
    if split == "vertical" and key is not None:
        yield from vertical_obstacles(spec, key)
    yield from model_obstacles(spec)
    if not any(model_obstacles(spec)):
        yield from demand_obstacles(models_of(spec))


def _places(engines: Sequence[Engine], spec: Spec, split: str, at: int) -> Iterator[Obstacle]:
    """A release without a name, or at no party."""
    if spec.release_file is not None:
        yield from file_release_obstacles(spec, "anonymize with several parties")
    elif spec.release is None:
        yield Obstacle("release: missing; add the name of the table to publish", SpecError)
    if not 1 <= at <= len(engines):
        yield Obstacle(f"--at {at}: expected the number of a party, from 1 to {len(engines)}", SpecError)
    if split == "horizontal" and at != 1:
        yield Obstacle(
            f"--at {at}: with a horizontal split every party publishes its own part; leave --at out", SpecError
        )


def _names(engines: Sequence[Engine]) -> list[str]:
    return [f"party {number}" for number, _ in enumerate(engines, 1)]


def _publishing(engines: Sequence[Engine], split: str, at: int) -> list[tuple[Engine, str]]:
    """Where something is published: at all parties, or where a joined release is."""
    places = list(zip(engines, _names(engines), strict=True))
    return places if split == "horizontal" else places[at - 1 : at]


@contextmanager
def _running(
    engines: Sequence[Engine],
    spec: Spec,
    timeout: float | None,
    report: Reporter | None,
    publishing: Sequence[Engine] = (),
) -> Iterator[list[Run]]:
    """A run of every party.

    Args:
        engines: one for each party.
        spec: what to anonymize; each party has the table that it names.
        timeout: seconds for the statements of each party.
        report: called with each stage of a party, after its name.
        publishing: where something is published.
    """
    with ExitStack() as opened:
        yield [
            opened.enter_context(
                running(
                    engine,
                    timeout,
                    _named(report, name),
                    publishes=spec if engine in publishing else None,
                    judges=[spec.source.table],
                )
            )
            for engine, name in zip(engines, _names(engines), strict=True)
        ]


def _with_read_notes(result: PartiesResult, runs: Sequence[Run]) -> PartiesResult:
    """The result with what is to know of the tables that were read at each party."""
    names = _names([run.engine for run in runs])
    read = [f"{name}: {note}" for run, name in zip(runs, names, strict=True) for note in run.engine.read_notes]
    return replace(result, notes=[*read, *result.notes])


def _closed(result: PartiesResult, runs: Sequence[Run]) -> PartiesResult:
    """The result with what each party's run took, and its statements."""
    return replace(result, costs=[run.cost for run in runs], sql=[run.sql for run in runs])


def _twice(engines: Sequence[Engine], names: Sequence[str]) -> Iterator[Obstacle]:
    """One database as two parties: its rows would be counted twice."""
    seen: dict[object, str] = {}
    for engine, name in zip(engines, names, strict=True):
        for place in {id(engine), _place(engine)} - {None}:
            if place in seen:
                yield Obstacle(
                    f"parties: {seen[place]} and {name} are the same database, {engine.label}, so its rows would be "
                    "counted twice; give each database once",
                    SpecError,
                )
            seen.setdefault(place, name)


def _place(engine: Engine) -> str | None:
    """Where a database is, the same for two ways of writing a file's name; None where its label does not tell."""
    label = engine.label
    if engine.ephemeral:
        return None
    if "://" in label:
        return label
    return str(Path(label).resolve()) if Path(label).exists() else None


def _searched(
    engines: Sequence[Engine], spec: Spec, split: str, key: str | None, report: Reporter
) -> AbstractContextManager[Horizontal | Vertical]:
    names = _names(engines)
    if key is None:
        return searched_horizontally(engines, names, spec, report)
    return searched_vertically(engines, names, spec, key, report)


def _published_in_parts(found: Horizontal, result: PartiesResult) -> PartiesResult:
    """Every party's part, published in its own database."""
    assert found.spec.release is not None
    name = ".".join(found.spec.release)
    manifests: list[Mapping[str, Any]] = []
    with found.written() as parts:
        result = replace(
            result,
            message=f"published {result.rows['released']:,} of {rows_in_words(result.rows['source'])} in "
            f"{len(parts)} parts, verified together for {wanted_of(found.spec)}; "
            f"{rows_in_words(result.rows['suppressed'])} suppressed",
            release=name,
            exchanged=found.transcript.totals(),
        )
        run = parts[0].site.workspace.run_id

        def manifest(part: Part, number: int) -> Mapping[str, Any]:
            split = {"split": "horizontal", "run": run, "part": number, "of": len(parts)}
            manifests.append(_manifest(part.site.workspace, found.spec, result, part.rows, split))
            return manifests[-1]

        found.publish(parts, manifest)
    return replace(result, manifests=manifests)


def _published_joined(found: Vertical, result: PartiesResult, at: int) -> PartiesResult:
    """The joined release, published at one party."""
    assert found.spec.release is not None
    holder = found.holders[at - 1]
    with found.written(at - 1) as joined:
        result = replace(
            result,
            message=f"published {result.rows['released']:,} of {result.rows['source']:,} joined rows at {holder.name}, "
            f"verified for {wanted_of(found.spec)}; {rows_in_words(result.rows['suppressed'])} suppressed",
            release=".".join(found.spec.release),
            at=holder.name,
            classes=joined.examination.classes_dict(),
            achieved=cast("Any", joined.examination.achieved_dict()),
            exchanged=found.transcript.totals(),
        )
        split = {"split": "vertical", "run": holder.workspace.run_id, "part": 1, "of": 1}
        manifest = _manifest(holder.workspace, found.spec, result, result.rows, split)
        found.publish(at - 1, joined, manifest)
    return replace(result, manifests=[manifest])


def _manifest(
    workspace: Workspace, spec: Spec, result: PartiesResult, rows: Mapping[str, Any], split: Mapping[str, Any]
) -> dict[str, Any]:
    """What was published and how. Of the other parties' rows it holds what the result says, and nothing by party."""
    return manifest_frame(
        spec,
        workspace,
        result,
        rows=dict(rows),
        metrics={} if result.metric is None else {result.metric["name"]: result.metric["value"]},
        search=dict(result.search),
        notes=list(result.notes),
        parties={**split, "rows": dict(result.rows), "learns": dict(result.learns)},
    )
