"""What cannot go together: every obstacle of a run, before its first statement.

A rule looks at the spec, the options and what the engine declares of itself. It asks the database nothing, and finds
obstacles or none. What only a statement tells (what stands under a release's name, what a ledger holds) is refused
where that statement runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kanon_sql.engines import Engine
from kanon_sql.errors import Obstacle, SpecError, obstacles_in
from kanon_sql.evaluate import (
    Budget,
    class_obstacles,
    cut_obstacles,
    matrix_obstacles,
    overlap_obstacles,
    record_obstacles,
    search_obstacles,
)
from kanon_sql.frequency import refuse_counts, source_obstacles, width_obstacles
from kanon_sql.models import model_obstacles, models_of
from kanon_sql.recode import recoding_obstacles
from kanon_sql.spec import Spec, composite_keys, secret_in
from kanon_sql.verbs.classify import utility_obstacles

if TYPE_CHECKING:
    from kanon_sql.spec import CloakSpec, Origin, PerturbSpec, RelationalSpec, TableSpec

__all__ = [
    "RULES",
    "Options",
    "fatal_warning_obstacles",
    "file_release_obstacles",
    "local_obstacles",
    "obstacles",
    "parent_obstacles",
    "reading_obstacles",
    "step_obstacles",
    "view_release_obstacles",
    "zone_obstacles",
]


@dataclass(frozen=True)
class Options:
    """What a verb is asked for besides its spec; each verb has some of these.

    Attributes:
        explain: say of every node how it was decided.
        all_minimal: determine all k-minimal generalizations.
        matrix: fetch the matrix of distance vectors.
        bound: compute a lower bound on the loss of a local recoding.
        details: count what a report shows.
        distributions: count the rows of each label.
        comments: write comments on the columns of the release.
        fail_on_warning: fail where there is a warning.
        budget: when to end the search early.
        preview: publish nothing, although the spec names a release.
        compare: verify what stands under the release's name, and publish nothing.
        table: the table to look at.
        source: the table of other rows.
        release: the name to publish under, in the place of the spec's.
        node: the levels to write the statements of.
        inserted: a table or query of new rows.
        deleted: a table or query of rows that have left.
        batch: a name for these rows.
        verify_all: examine the whole release afterwards.
        directory: where a certificate is to be written.
    """

    explain: bool = False
    all_minimal: bool = False
    matrix: bool = False
    bound: bool = False
    details: bool = False
    distributions: bool = False
    comments: bool = False
    fail_on_warning: bool = False
    budget: Budget | None = None
    preview: bool = False
    compare: bool = False
    table: str | None = None
    source: str | None = None
    release: str | None = None
    node: Mapping[str, int] | None = None
    inserted: str | None = None
    deleted: str | None = None
    batch: str | None = None
    verify_all: bool = False
    directory: Path | None = None

    @property
    def counted(self) -> bool | Literal["distributions"]:
        """What a report counts: nothing, its details, or these and the distributions of the columns."""
        return "distributions" if self.distributions else self.details

    @property
    def limits_search(self) -> bool:
        """Whether the search may end early."""
        return self.budget is not None and (self.budget.seconds is not None or self.budget.statements is not None)


Rule = Callable[[Engine, Any, Options], Iterable[Obstacle]]


def obstacles(engine: Engine, spec: Any, verb: str, options: Options | None = None) -> Iterator[Obstacle]:
    """Why a verb cannot do what it is asked for, as far as no statement is needed to know it.

    Args:
        engine: where it is to run.
        spec: what it is to do; of the kind that the verb takes.
        verb: its name, one of :data:`RULES`.
        options: what else it is asked for; None for nothing else.
    """
    for rule in RULES[verb]:
        yield from rule(engine, spec, options or Options())


# --- Sources and secrets ------------------------------------------------------------------------


def _read(engine: Engine, spec: Origin, options: Options) -> Iterable[Obstacle]:
    """A source that is missing, or that this engine does not read."""
    return source_obstacles(engine, spec) if options.source is None else ()


def _sampled(engine: Engine, spec: Spec | TableSpec, options: Options) -> Iterable[Obstacle]:
    """A sample that is drawn by a secret, where the secret is not there."""
    if spec.steps is None or spec.steps.sample is None:
        return ()
    return obstacles_in(lambda: spec.sampling_key)


def _rounded(engine: Engine, spec: TableSpec, options: Options) -> Iterable[Obstacle]:
    """Rounding that a secret directs, where the secret is not there."""
    name = spec.protection.key_variable
    return () if name is None else obstacles_in(lambda: secret_in(name, "protection.key_variable"))


def _noisy(engine: Engine, spec: TableSpec, options: Options) -> Iterator[Obstacle]:
    """A preview of noise, which would show what the budget pays for."""
    if spec.protection.noise is not None and options.preview:
        yield Obstacle(
            "--preview: every table with noise that is shown spends privacy budget, so that it is published and "
            "recorded; leave it out",
            SpecError,
        )


def _masked(engine: Engine, spec: PerturbSpec, options: Options) -> Iterable[Obstacle]:
    """Values that a secret perturbs, where the secret is not there."""
    return obstacles_in(lambda: spec.key_for(""))


# --- Requirements and the search --------------------------------------------------------------


def _looked_at(engine: Engine, spec: Spec, options: Options) -> Iterator[Obstacle]:
    """Requirements that cannot be judged by a table."""
    return model_obstacles(spec)


def _searched(engine: Engine, spec: Spec, options: Options) -> Iterable[Obstacle]:
    """What no search finds, and no recoding makes."""
    if any(model_obstacles(spec)):
        return ()  # these are made without a search
    if spec.recoding.is_full_domain:
        return search_obstacles(engine, spec, models_of(spec))
    return recoding_obstacles(engine, spec)


def _nodes(engine: Engine, spec: Spec, options: Options) -> Iterator[Obstacle]:
    """Nodes of a lattice, where none is searched."""
    if options.explain and spec.search.of_intervals:
        yield Obstacle(f"{spec.search.algorithm} searches partitions, not lattice nodes; leave --show nodes out")
    if options.matrix and spec.search.of_intervals:
        yield Obstacle(
            f"--show matrix: {spec.search.algorithm} searches partitions, not levels of hierarchies; leave --show "
            "matrix out"
        )
    shown = (("nodes", options.explain), ("minimal", options.all_minimal), ("matrix", options.matrix))
    for what in (name for name, asked in shown if asked):
        yield from local_obstacles(
            spec,
            f"--show {what}",
            "labels differ by class or value, so there is no chosen lattice node",
        )


def local_obstacles(spec: Spec, what: str, why: str) -> Iterator[Obstacle]:
    """A recoding that is not full-domain, where one level per column is needed.

    Args:
        spec: what was asked.
        what: what cannot be done.
        why: the reason.
    """
    if not spec.recoding.is_full_domain:
        yield Obstacle(f"{what}: {why}; use recoding: full_domain")


def _matrix(engine: Engine, spec: Spec, options: Options) -> Iterable[Obstacle]:
    """A matrix of distance vectors, where no vector is an outlier."""
    return matrix_obstacles(models_of(spec)) if options.matrix and not any(model_obstacles(spec)) else ()


def _utility(engine: Engine, spec: Spec, options: Options) -> Iterable[Obstacle]:
    """A classifier, where labels of rows are not known."""
    return () if any(model_obstacles(spec)) else utility_obstacles(spec)


def _bound(engine: Engine, spec: Spec, options: Options) -> Iterator[Obstacle]:
    """A lower bound on what labels of hierarchies lose, where others are released."""
    if not options.bound:
        return
    if spec.recoding.is_full_domain:
        why = "it is a bound for other recodings than full_domain"
    elif spec.recoding.releases_ranges:
        own = spec.recoding.method if spec.recoding.declared.of_ranges else "recoding.ranges"
        why = f"the ranges of {own} are not hierarchy labels"
    elif any(column.parents == "several" for column in spec.quasi_identifiers.values()):
        why = "the parent of a value with several parents is not known before the run"
    elif spec.recoding.declared.of_numbers:
        why = f"the numbers of {spec.recoding.method} are not hierarchy labels"
    else:
        return
    yield Obstacle(
        f"--show bound: it bounds the loss of hierarchy labels that differ by class, and {why}; leave it out, or use "
        "recoding: local without ranges"
    )


def _distributions(engine: Engine, spec: Spec, options: Options) -> Iterator[Obstacle]:
    """Distributions that may not be shown: of rows without one label each at one level, or where more is promised."""
    if not options.distributions:
        return
    if (special := spec.differential_privacy or spec.m_invariance) is not None:
        yield Obstacle(
            f"distributions: {special.name} does not allow exact counts of the source; leave distributions out"
        )
    elif spec.ledger is not None:
        yield Obstacle(
            "distributions: a ledger judges releases together, but not with counts of the source; leave distributions "
            "out"
        )
    if not spec.recoding.is_full_domain:
        yield Obstacle(
            f"distributions: recoding: {spec.recoding.method} releases labels of several levels, which overlap; leave "
            "distributions out, or use recoding: full_domain"
        )
    elif spec.search.of_intervals:
        yield Obstacle(
            f"distributions: {spec.search.algorithm} chooses its own intervals, which are not hierarchy labels; use "
            "another algorithm"
        )


# --- Releases -----------------------------------------------------------------------------------


def _named(engine: Engine, spec: Spec, options: Options) -> Iterator[Obstacle]:
    """A release without a name."""
    if spec.publishes is None:
        yield Obstacle("release: missing; add the name of the table to publish, {file: ...} or {view: ...}", SpecError)


def _names(engine: Engine, spec: Origin, options: Options) -> Iterable[Obstacle]:
    """Names that no lasting table can have."""
    if spec.release is None or options.preview or options.compare or options.release is not None:
        return ()
    from kanon_sql.release import name_obstacles

    return name_obstacles(engine.dialect, spec)


def _written(what: str) -> Rule:
    """A connection that cannot write.

    Args:
        what: what has to.
    """

    def rule(engine: Engine, spec: Any, options: Options) -> Iterator[Obstacle]:
        if engine.read_only:
            yield Obstacle(
                f"the connection to {engine.label} is read-only, but {what} needs to write; connect without read_only",
                SpecError,
            )

    return rule


def _released(engine: Engine, spec: Spec, options: Options) -> Iterable[Obstacle]:
    """A connection that cannot write, where the release is in the database."""
    return () if spec.release_file is not None else _written("anonymize")(engine, spec, options)


def _published(what: str) -> Rule:
    """A connection that cannot write, where a table is to be published."""
    writes = _written(what)

    def rule(engine: Engine, spec: Any, options: Options) -> Iterable[Obstacle]:
        publishes = spec.release is not None and not options.preview and not options.compare
        return writes(engine, spec, options) if publishes else ()

    return rule


def _view(engine: Engine, spec: Spec, options: Options) -> Iterable[Obstacle]:
    """A guarded view, where it cannot be."""
    if spec.release_view is None or any(model_obstacles(spec)):
        return ()
    from kanon_sql.release import view_obstacles  # all that writes and publishes, which a plan does without

    return view_obstacles(engine, spec, models_of(spec))


def _file(engine: Engine, spec: Spec, options: Options) -> Iterable[Obstacle]:
    """A file, where it cannot be."""
    if spec.release_file is None:
        return ()
    from kanon_sql.release import file_obstacles

    return file_obstacles(engine, spec)


def _ledger(engine: Engine, spec: Spec, options: Options) -> Iterator[Obstacle]:
    """A ledger of releases that are compared, without a table to compare them in."""
    if spec.ledger is not None and spec.differential_privacy is None and engine.scratch.mode == "inline":
        yield Obstacle(
            "ledger: comparing releases needs a scratch table, which the scratch mode 'inline' does not have; use "
            "--set scratch=temp or schema:NAME"
        )


def _state(engine: Engine, spec: Spec, options: Options) -> Iterator[Obstacle]:
    """A state, where it cannot be made, or where it is not known who may read it."""
    if spec.state is None:
        return
    schema = spec.state
    yield from obstacles_in(lambda: engine.dialect.readers(schema))
    if engine.scratch.mode == "inline":
        yield Obstacle(
            "state: the state needs scratch tables, which the scratch mode 'inline' does not have; use --set "
            "scratch=temp or schema:NAME"
        )


def _private(engine: Engine, spec: Spec, options: Options) -> Iterator[Obstacle]:
    """What tells more of the rows than a differentially private release."""
    if (requirement := spec.differential_privacy) is None:
        return
    from kanon_sql.release import sampling_for

    left = requirement.spends[0] - requirement.of_search
    yield from obstacles_in(lambda: sampling_for(left, requirement.spends[1], requirement.asked_sampling))
    if options.fail_on_warning:
        yield Obstacle("--fail-on-warning: with differential_privacy no warnings are computed; leave it out")
    if options.all_minimal:
        yield Obstacle("--show minimal: depends on the data, which differential_privacy does not allow; leave it out")
    if options.details:
        yield Obstacle(
            "--output PATH.html: a report shows figures of the source, which differential_privacy does not protect; "
            "leave it out"
        )
    if options.limits_search:
        yield Obstacle(
            "a search that stops early would change the probabilities of the levels, which differential_privacy does "
            "not allow; leave max_seconds and max_statements out, and use --set timeout=SECONDS to stop the run"
        )
    if engine.scratch.mode == "inline":
        yield Obstacle(
            "differential_privacy: sampling needs scratch tables, which the scratch mode 'inline' does not have; use "
            "--set scratch=temp or schema:NAME"
        )


def _invariant(engine: Engine, spec: Spec, options: Options) -> Iterator[Obstacle]:
    """What is about the nodes of a lattice, or about classes of rows that all are a person's."""
    if spec.m_invariance is None:
        return
    if options.all_minimal:
        yield Obstacle(
            "--show minimal: with m_invariance labels differ by class, and no levels are searched; leave it out"
        )
    if options.details:
        yield Obstacle(
            "--output PATH.html: a report compares released and source rows, but with m_invariance some released rows "
            "are counterfeits; leave it out"
        )
    if options.limits_search:
        yield Obstacle(
            "an unfinished m_invariance run has no release; leave max_seconds and max_statements out, and use --set "
            "timeout=SECONDS to stop the run"
        )
    if engine.scratch.mode == "inline":
        yield Obstacle(
            "m_invariance: making classes needs scratch tables, which the scratch mode 'inline' does not have; use "
            "--set scratch=temp or schema:NAME"
        )


def view_release_obstacles(spec: Spec) -> Iterator[Obstacle]:
    """A spec of a view, where a table is made."""
    if spec.release_view is not None:
        yield Obstacle("release.view: only kanon-sql anonymize publishes a guarded view; give a table")


def file_release_obstacles(spec: Spec, verb: str) -> Iterator[Obstacle]:
    """A release that is a file, where a verb needs a table."""
    if spec.release_file is not None:
        yield Obstacle(f"release.file: {verb} needs the name of a table; only anonymize publishes files", SpecError)


# --- Releases that are there ------------------------------------------------------------------


def _commented(engine: Engine, spec: Spec, options: Options) -> Iterator[Obstacle]:
    """Comments on the columns of what has none, or what is made in another way."""
    if not options.comments:
        return
    special = spec.differential_privacy or spec.m_invariance
    if spec.release is None or spec.release_view is not None:
        yield Obstacle("comment: only a table has comments; write the dictionary into a file: --set dictionary=FILE.md")
    elif special is not None:
        yield Obstacle(
            f"comment: not with {special.name}; publish without it, and then use kanon-sql release dictionary"
        )
    else:
        release = spec.release
        yield from obstacles_in(lambda: engine.dialect.comment_on_column(release, "column", "text"))


def _target(engine: Engine, spec: Spec, options: Options) -> Iterator[Obstacle]:
    """No table to look at, or a file on an engine that reads none."""
    if options.table is not None or spec.release is not None:
        return
    if spec.release_file is None:
        yield Obstacle("release: missing; name the table to check with --table", SpecError)
    elif not engine.capabilities.files:
        yield Obstacle(
            f"release.file: {engine.dialect.name} reads no files; read {spec.release_file.file} with DuckDB, as "
            "-d :memory: does"
        )


def _records(engine: Engine, spec: Spec, options: Options) -> Iterator[Obstacle]:
    """Labels that a requirement compares with the source, and of which no hierarchy says what they are."""
    if not any(model_obstacles(spec)):
        yield from record_obstacles(spec, models_of(spec))
        yield from width_obstacles(spec, models_of(spec))


def _other_rows(engine: Engine, spec: Spec, options: Options) -> Iterator[Obstacle]:
    """Other rows without a name to publish them under, or under the name of what is no table."""
    if spec.state is not None:
        yield Obstacle(
            "state: to add rows to a growing release, use kanon-sql release refresh; for release apply, leave the "
            "state out",
            SpecError,
        )
    if options.release is not None:
        return
    if options.source is not None:
        yield Obstacle(
            "release: missing; with --source, also give --release, so that the original release is not replaced",
            SpecError,
        )
    yield from view_release_obstacles(spec)
    yield from file_release_obstacles(spec, "apply")
    if spec.publishes is None and options.source is None:
        yield Obstacle("release: missing; give the table to publish with --release", SpecError)


def _increments(engine: Engine, spec: Spec, options: Options) -> Iterator[Obstacle]:
    """New rows that nothing tells from others, or that may be taken twice."""
    if spec.state is None:
        yield Obstacle("state: missing; a growing release needs it, such as state: {schema: kanon_state}", SpecError)
    by_table = options.inserted is not None or options.deleted is not None
    if not by_table and (spec.increments is None or spec.increments.watermark is None):
        yield Obstacle(
            "increments: without a watermark, new rows cannot be identified; add one, or give the new rows as a "
            "table: --inserted TABLE",
            SpecError,
        )
    if by_table and options.batch is None:
        yield Obstacle(
            "batch: missing; give this batch a unique name, such as --batch 2026-11-25, so that it is added once",
            SpecError,
        )
    if options.batch is not None and not by_table:
        yield Obstacle(
            "batch: the watermark already identifies the rows; leave --batch out, or give --inserted TABLE", SpecError
        )
    if options.verify_all and spec.unit is not None:
        yield Obstacle(
            "verify_all: the release does not identify persons, so its classes cannot be counted in persons; leave "
            "it out, since each batch was verified before it was added",
            SpecError,
        )


def _certified(engine: Engine, spec: Spec, options: Options) -> Iterator[Obstacle]:
    """What cannot be certified, or not here."""
    if spec.release_file is not None:
        yield from file_release_obstacles(spec, "certify")
    elif spec.release is None:
        yield Obstacle("release: missing; certify needs a release that anonymize has published", SpecError)
    for requirement in (spec.differential_privacy, spec.m_invariance):
        if requirement is not None:
            yield Obstacle(
                f"privacy: {requirement.name} is a property of the mechanism, which a release does not show, so there "
                "is nothing to certify; use the manifest of the run"
            )
    if spec.steps is not None and spec.steps.sample is not None:
        yield Obstacle(
            "steps.sample: a secret decides the sample, and a certificate would have to contain it; save the sample "
            "as a table, and certify a release of that table"
        )


def _certified_together(engine: Engine, spec: RelationalSpec, options: Options) -> Iterator[Obstacle]:
    """Several tables that were not released."""
    if spec.release is None:
        why = "release: missing; certify needs a release that anonymize has published: release: {schema: released}"
        yield Obstacle(why, SpecError)
    if spec.shifted:
        yield Obstacle(
            "shift: no certificate claims anything of moved dates, which are untrue on purpose; check measures the rest"
        )
    if any(item.is_list for item in spec.items.values()):
        yield Obstacle("items: a column of lists is not read by the plain SQL of certificates; check measures it")


def _certified_here(engine: Engine, spec: object, options: Options) -> Iterator[Obstacle]:
    """An engine without temporary tables."""
    if engine.scratch.mode != "temp":
        yield Obstacle(
            f"certify needs temporary tables, which {engine.label} does not have here ({engine.scratch.reason}); use "
            "--set scratch=temp, or another engine"
        )


def _directory(engine: Engine, spec: object, options: Options) -> Iterator[Obstacle]:
    """A directory that holds something else than a certificate."""
    directory = options.directory
    if directory is None:
        return
    if directory.exists() and not directory.is_dir():
        yield Obstacle(f"{directory}: it is a file; expected a directory to write", SpecError)
    elif directory.is_dir() and any(directory.iterdir()) and not (directory / "certificate.json").is_file():
        yield Obstacle(
            f"{directory}: it holds other files than a certificate; give a new or empty directory", SpecError
        )


# --- Positions and perturbed rows ---------------------------------------------------------------


def _compared(engine: Engine, spec: CloakSpec, options: Options) -> Iterator[Obstacle]:
    """A published table to compare with, without a name, or together with a preview."""
    if options.compare and options.preview:
        yield Obstacle("preview shows the next release, and check the published one; give one of them", SpecError)
    elif options.compare and spec.release is None:
        yield Obstacle("release: missing; name the table to check", SpecError)


def _cells(engine: Engine, spec: CloakSpec, options: Options) -> Iterator[Obstacle]:
    """Cells of positions, without a table for them."""
    if engine.scratch.mode == "inline":
        yield Obstacle(
            "cloak: cells need scratch tables, which the scratch mode 'inline' does not have; use --set scratch=temp "
            "or schema:NAME"
        )


def _masks(engine: Engine, spec: PerturbSpec, options: Options) -> Iterator[Obstacle]:
    """Perturbed rows, without a table for them."""
    if engine.scratch.mode == "inline" and engine.read_only:
        yield Obstacle(
            f"the connection to {engine.label} is read-only and cannot create temporary tables, which perturb needs; "
            "connect without read_only, or use an engine whose read-only connections can",
            SpecError,
        )
    elif engine.scratch.mode == "inline":
        yield Obstacle(
            "perturb: perturbation needs scratch tables, which the scratch mode 'inline' does not have; use --set "
            "scratch=temp or schema:NAME"
        )


# --- SQL that is handed over --------------------------------------------------------------------


def step_obstacles(spec: Spec, what: str) -> Iterator[Obstacle]:
    """Release steps and points, where SQL is handed over to be run elsewhere.

    Args:
        spec: what was asked.
        what: what is written, such as ``a script``.
    """
    for name in spec.points:
        yield Obstacle(
            f"quasi_identifiers.{name}: {what} cannot compute the cells of a point; use kanon-sql anonymize, or "
            "compute the cells in a source query"
        )
    yield from reading_obstacles(spec, what)
    if spec.steps is not None:
        yield Obstacle(
            f"steps: {what} would contain the key of the sample, or omit the steps; use kanon-sql anonymize, or apply "
            "the steps in a source query"
        )


def reading_obstacles(spec: Spec, what: str) -> Iterator[Obstacle]:
    """Counts, missing codes and keys of several columns, where SQL is handed over that reads the tables as they stand.

    Args:
        spec: what was asked.
        what: what is written, such as ``a script``.
    """
    yield from obstacles_in(lambda: refuse_counts(spec, what))
    if spec.missing is not None:
        yield Obstacle(
            f"missing: {what} reads tables as they stand, and would take codes for values; use kanon-sql anonymize, or "
            "replace the codes by NULL in a source query"
        )
    for key in composite_keys(spec):
        yield Obstacle(
            f"unit: {what} reads one column, and the key is made of {' and '.join(key.parts)}; use kanon-sql "
            "anonymize, or make one column of them in a source query"
        )


def zone_obstacles(spec: Spec, what: str) -> Iterator[Obstacle]:
    """Dates of a time zone, where labels are made elsewhere: some engines take them from the zone of the session."""
    for name, item in spec.quasi_identifiers.items():
        if item.hierarchy.zone is not None:
            yield Obstacle(
                f"quasi_identifiers.{name}: {what} cannot set the zone of its session, nor know whether the database "
                "has this one; use kanon-sql anonymize, or compute local dates in a source query"
            )


def fatal_warning_obstacles(spec: Spec, what: str) -> Iterator[Obstacle]:
    """Warnings that are errors, where SQL is handed over and nothing looks for them."""
    if spec.warnings.fatal:
        yield Obstacle(
            f"warnings.{spec.warnings.fatal[0]}: {what} computes no warnings; leave it out, or use kanon-sql anonymize"
        )


def _script(engine: Engine, spec: Spec, options: Options) -> Iterator[Obstacle]:
    """What statements cannot be written of without a connection."""
    yield from step_obstacles(spec, "a script")
    yield from zone_obstacles(spec, "a script")
    if spec.follows_the_calendar:
        yield Obstacle(
            "release_year: the labels depend on the year, and the script may run in another one; write release_year: "
            f"{spec.year} in the spec and render a script each year, or publish with kanon-sql anonymize",
            SpecError,
        )
    yield from fatal_warning_obstacles(spec, "a script")
    yield from local_obstacles(
        spec, "render", "each round of such a recoding depends on the results of the round before"
    )
    for name in options.node or {}:
        if name not in spec.quasi_identifiers:
            yield Obstacle(
                f"node: {name!r} is no quasi-identifier; expected {', '.join(spec.quasi_identifiers)}", SpecError
            )
    if spec.search.of_intervals and options.node:
        yield Obstacle(f"node: {spec.search.algorithm} chooses intervals, not levels; leave --node out", SpecError)
    for name, quasi_identifier in spec.quasi_identifiers.items():
        if (never := quasi_identifier.hierarchy.never_in_script) is not None:
            yield Obstacle(f"quasi_identifiers.{name}: {never}")
    yield from parent_obstacles(spec, "a script")


def parent_obstacles(spec: Spec, what: str) -> Iterator[Obstacle]:
    """Parents that are chosen by the rows, where these are not read yet."""
    for name, column in spec.quasi_identifiers.items():
        if column.parents == "several":
            yield Obstacle(
                f"quasi_identifiers.{name}.parents: {what} cannot choose among several parents, which takes the rows; "
                "give each value one row, or publish with kanon-sql anonymize",
                SpecError,
            )


def _script_models(engine: Engine, spec: Spec, options: Options) -> Iterator[Obstacle]:
    """Requirements whose statements follow from what is in the tables."""
    if any(model_obstacles(spec)):
        return
    models = models_of(spec)
    if spec.search.of_intervals:
        yield from cut_obstacles(spec, models)
    yield from _view(engine, spec, options)
    for requirement, model in zip(spec.privacy, models, strict=True):
        yield from class_obstacles(model, requirement.name)
        if model.to_fixpoint:
            yield Obstacle(
                f"{model.label}: which rows to suppress is found in rounds, each of which depends on the answers of "
                "the one before, and a script has none; use anonymize"
            )
        if model.penalizes_missing_persons:
            yield Obstacle(
                f"{model.label}: with delta_min above 0, a script needs the size of the population, which is not known "
                "without a connection; use anonymize, or delta_max alone"
            )
        if model.hierarchy is not None and not model.hierarchy.hierarchy.fixed_height:
            yield Obstacle(
                f"{model.label}: distances need the height of the hierarchy, which depends on the values and is not "
                "known without a connection; write the hierarchy as a tree or a file, or use anonymize"
            )
        if model.uses_label_width:
            yield Obstacle(
                f"{model.label}: the loss of labels depends on the size of the domain, which is not known without a "
                "connection; use anonymize, or no_attack"
            )
    yield from overlap_obstacles(spec, models)


def _dbt(engine: Engine, spec: Spec, options: Options) -> Iterable[Obstacle]:
    """What no dbt project holds."""
    from kanon_sql.verbs.dbt.obstacles import dbt_obstacles  # which takes what is above

    return dbt_obstacles(engine, spec, options.source)


def _audits(engine: Engine, spec: Spec, options: Options) -> Iterable[Obstacle]:
    """What no audit of SQLMesh's is written for."""
    from kanon_sql.verbs.sqlmesh import audit_obstacles

    return audit_obstacles(engine, spec, options.table)


def _functions(engine: Engine, spec: Spec, options: Options) -> Iterable[Obstacle]:
    """What no function in the database judges."""
    from kanon_sql.verbs.functions import function_obstacles

    return function_obstacles(engine, spec, options.table)


def _policies(engine: Engine, spec: Spec, options: Options) -> Iterable[Obstacle]:
    """What no policies are written for."""
    from kanon_sql.verbs.policies import policy_obstacles

    return policy_obstacles(spec)


RULES: Mapping[str, tuple[Rule, ...]] = {
    "plan": (_read, _sampled, _nodes, _bound, _distributions, _looked_at, _matrix, _utility, _searched),
    "anonymize": (
        _named, _names, _read, _sampled, _nodes, _released, _distributions, _private, _invariant, _view, _file,
        _ledger, _state, _utility, _commented, _searched,
    ),
    "check": (_looked_at, _target, _records),
    "apply": (_other_rows, _names, _read, _sampled, _written("apply"), _ledger),
    "refresh": (_increments, _names, _read, _sampled, _written("refresh"), _state),
    "certify": (_certified, _certified_here, _directory),
    "certify_tables": (_certified_together, _certified_here, _directory),
    "tabulate": (_names, _read, _sampled, _rounded, _noisy, _published("publishing a table")),
    "cloak": (_compared, _names, _read, _published("publishing a release"), _cells),
    "perturb": (_names, _read, _masked, _published("publishing rows"), _masks),
    "render": (_read, _script, _looked_at, _script_models),
    "dbt": (_dbt, _read, _utility, _searched),
    "sqlmesh": (_audits, _read),
    "functions": (_functions, _read),
    "policies": (_policies,),
}  # fmt: skip
"""What every verb looks for, in the order of messages."""
