"""The main job: ``plan``, ``anonymize``, and ``render`` for its SQL alone."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kanon_sql.cli.app import app, examples
from kanon_sql.cli.complete import DIALECTS, levels, one_of
from kanon_sql.cli.given import MEMORY, load_spec, need_database
from kanon_sql.cli.options import (
    AllMinimal,
    Database,
    Format,
    MaxBytes,
    MaxSeconds,
    MaxStatements,
    MemoryLimit,
    OutputFormat,
    Quiet,
    ReportFile,
    ScratchMode,
    SpecFile,
    Threads,
    Timeout,
    Verbose,
)
from kanon_sql.cli.session import INTERRUPTED, Session, session
from kanon_sql.cli.written import (
    exit_with,
    print_json,
    print_result,
    print_text,
    refuse_report_path,
    write_result_report,
)
from kanon_sql.errors import SpecError

if TYPE_CHECKING:
    from kanon_sql.engines import Engine
    from kanon_sql.spec import Spec

__all__ = ["anonymize", "plan", "render"]


@app.command(
    epilog=examples(
        "kanon-sql plan spec.yml -d clinic.duckdb",
        "kanon-sql plan spec.yml -d clinic.duckdb --estimate",
        "kanon-sql plan spec.yml -d clinic.duckdb --all-minimal --format json",
        "kanon-sql plan spec.yml -d clinic.duckdb --explain",
        "kanon-sql plan spec.yml -d clinic.duckdb --max-seconds 30",
    )
)
def plan(
    spec_file: SpecFile,
    database: Database = MEMORY,
    all_minimal: AllMinimal = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only ask the database what reading the source would cost.")
    ] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show what is known about every node of the lattice, and why."),
    ] = False,
    max_seconds: MaxSeconds = None,
    max_statements: MaxStatements = None,
    max_bytes: MaxBytes = None,
    scratch: ScratchMode = None,
    report_file: ReportFile = None,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """Search for the best generalization and show what it costs.

    Opens the database read-only and writes nothing but temporary tables: builds the
    frequency set, searches the generalization lattice and prints the chosen levels, what
    they achieve, what they lose, and the runners-up. Exit code 1 says that no generalization
    that meets the requirements was found.

    Ctrl-C during the search shows the best generalization so far, with exit code 130; a
    second Ctrl-C ends at once.
    """
    with session(quiet=quiet, verbose=verbose, spec=spec_file) as run:
        from kanon_sql.verbs.plan import plan as run_plan

        refuse_report_path(report_file, "--report")
        if estimate and report_file is not None:
            raise SpecError("--estimate and --report exclude each other; an estimate has nothing to report")
        spec = load_spec(spec_file)
        engine = run.connect(database, read_only=True, threads=threads, memory_limit=memory_limit, scratch=scratch)
        if estimate:
            _print_estimate(run, engine, spec, output, timeout)
            return
        run.keep_below(max_bytes, spec, "plan")
        result = run_plan(
            engine,
            spec,
            timeout=timeout,
            report=run.report,
            budget=run.patient_budget(max_seconds, max_statements),
            explain=explain,
            all_minimal=all_minimal,
            details=report_file is not None,
        )
        print_result(run, result, output, all_minimal=all_minimal)
        write_result_report(run, result, report_file)
        if run.interrupts.pressed and result.search is not None and result.search.stopped is not None:
            raise typer.Exit(INTERRUPTED)
        exit_with(result.passed)


@app.command(
    epilog=examples(
        "kanon-sql anonymize spec.yml -d clinic.duckdb",
        "kanon-sql anonymize spec.yml -d clinic.duckdb --manifest manifest.json",
        "kanon-sql anonymize spec.yml -d clinic.duckdb --format json -q",
        "kanon-sql anonymize spec.yml -d clinic.duckdb --max-seconds 600",
    )
)
def anonymize(
    spec_file: SpecFile,
    database: Database = MEMORY,
    all_minimal: AllMinimal = False,
    manifest: Annotated[
        Path | None,
        typer.Option(
            "--manifest",
            metavar="PATH",
            show_default=False,
            help="Where to write the manifest; RELEASE.manifest.json beside the spec if not given.",
        ),
    ] = None,
    no_manifest_file: Annotated[
        bool, typer.Option("--no-manifest-file", help="Keep the manifest in the database only.")
    ] = False,
    max_seconds: MaxSeconds = None,
    max_statements: MaxStatements = None,
    max_bytes: MaxBytes = None,
    scratch: ScratchMode = None,
    report_file: ReportFile = None,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """Publish a verified anonymous release, or publish nothing.

    Searches as plan does, writes the generalized table under a scratch name, verifies what
    was written by an independent query, and then publishes it under the release's name in
    one step, replacing an earlier release. The manifest says how, and holds no value of
    the data. Exit code 1 says that no generalization that meets the requirements was found:
    nothing was published. Ctrl-C publishes nothing.
    """
    with session(quiet=quiet, verbose=verbose, spec=spec_file) as run:
        from kanon_sql.evaluate import Budget
        from kanon_sql.verbs.anonymize import anonymize as run_anonymize

        refuse_report_path(report_file, "--report")
        if manifest is not None and no_manifest_file:
            raise SpecError("--manifest and --no-manifest-file exclude each other; leave one out")
        if database == MEMORY:
            raise SpecError("a release in :memory: would vanish with this process; give a database with -d FILE")
        spec = load_spec(spec_file)
        path = None if no_manifest_file else manifest or _manifest_path(spec_file, spec)
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            raise SpecError(f"--manifest {path}: expected a file in an existing directory")
        if spec.source.table is not None:
            need_database(database)
        engine = run.connect(database, threads=threads, memory_limit=memory_limit, scratch=scratch)
        run.keep_below(max_bytes, spec, "anonymize")
        budget = Budget(max_seconds, max_statements)
        result = run_anonymize(
            engine,
            spec,
            timeout=timeout,
            report=run.report,
            budget=budget,
            all_minimal=all_minimal,
            details=report_file is not None,
        )
        print_result(run, result, output, all_minimal=all_minimal)
        if path is not None and result.manifest is not None:
            _write_manifest(path, result.manifest)
            run.message(f"manifest: {path}")
        write_result_report(run, result, report_file)
        exit_with(result.passed)


@app.command(
    epilog=examples(
        "kanon-sql render spec.yml",
        "kanon-sql render spec.yml --dialect postgres --format json",
        "kanon-sql render spec.yml --node age=1 --node zip=2",
    )
)
def render(
    spec_file: SpecFile,
    dialect: Annotated[
        str,
        typer.Option(
            "--dialect",
            metavar="NAME",
            autocompletion=one_of(*DIALECTS),
            help="The SQL dialect to write: bigquery, clickhouse, databricks, duckdb, mariadb, mysql, oracle, "
            "postgres, redshift, snowflake, spark, sqlite, trino, or tsql (SQL Server).",
        ),
    ] = "duckdb",
    node: Annotated[
        list[str] | None,
        typer.Option(
            "--node",
            metavar="NAME=LEVEL",
            show_default=False,
            autocompletion=levels,
            help="A level of the node whose SQL to show; once per quasi-identifier.",
        ),
    ] = None,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Print the SQL of every stage, without a connection.

    Shows what would run, in the dialect of your database: lookups, frequency set, the
    query for a lattice node, the release and its verification. Nothing is executed.
    """
    with session(quiet=quiet, verbose=verbose, spec=spec_file) as run:
        from kanon_sql.verbs.render import render as run_render

        levels = dict(_level(text) for text in node) if node else None
        rendered = run_render(load_spec(spec_file), dialect, levels)
        run.close()
        if output is OutputFormat.json:
            print_json(rendered.to_dict())
        else:
            typer.echo(rendered.text, nl=not rendered.text.endswith("\n"))


def _print_estimate(run: Session, engine: "Engine", spec: "Spec", output: OutputFormat, timeout: float | None) -> None:
    from kanon_sql.report.upkeep import estimate_text
    from kanon_sql.verbs.estimate import estimate

    found = estimate(engine, spec, timeout=timeout)
    run.close()
    if output is OutputFormat.json:
        print_json(found.to_dict())
    else:
        print_text(estimate_text(found))


def _level(text: str) -> tuple[str, int]:
    name, _, level = text.rpartition("=")
    if not name or not re.fullmatch(r"[0-9]{1,6}", level):
        raise SpecError("--node: expected a quasi-identifier and its level, such as --node age=1")
    return name, int(level)


def _manifest_path(spec_file: Path, spec: "Spec") -> Path:
    """Beside the spec, named after the release, whatever characters that has."""
    name = re.sub(r"[^\w.-]+", "_", ".".join(spec.release or ("release",)))
    return spec_file.absolute().parent / f"{name}.manifest.json"


def _write_manifest(path: Path, manifest: Any) -> None:
    from kanon_sql.report.json import to_json

    try:
        path.write_text(to_json(dict(manifest)) + "\n", encoding="utf-8")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SpecError(
            f"the release is published, but its manifest cannot be written to {path}: {reason}; it is in the database "
            "too, and kanon-sql report reads it there by the run's id"
        ) from None
