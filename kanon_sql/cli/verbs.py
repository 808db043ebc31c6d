"""The verbs of ``kanon-sql``: each parses its options, calls one function, prints, and exits.

Whatever is heavy (the driver, the SQL parser, the spec) is imported by the verb that needs
it, so that ``--help`` and ``--version`` answer at once.
"""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kanon_sql.cli.options import (
    AllMinimal,
    CheckFormat,
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
from kanon_sql.cli.written import refuse_report_path, write_report
from kanon_sql.errors import DatabaseError, ExitCode, SpecError
from kanon_sql.version import __version__

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kanon_sql.engines.base import Engine
    from kanon_sql.pipeline.result import Result
    from kanon_sql.spec import Spec

__all__ = ["MEMORY", "app", "examples"]

MEMORY = ":memory:"

REVEALED = 20
"""How many classes ``check --reveal`` lists."""

app = typer.Typer(
    name="kanon-sql",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def examples(*lines: str) -> str:
    """The end of a verb's help; the mark keeps the lines as they are."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kanon-sql {__version__}")
        raise typer.Exit()


@app.callback()
def kanon_sql(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Anonymize a table where it lives: k-anonymity, l-diversity and t-closeness by generated SQL.

    A spec (YAML) names the table, its quasi-identifiers and what must hold. Start with
    "kanon-sql demo", or with "kanon-sql init TABLE -d FILE" for a spec of your own.

    Results go to standard output, progress and messages to standard error. Exit codes:
    0 pass, 1 a requirement is not met, 2 wrong usage or a wrong spec, 3 a database error,
    130 interrupted.
    """


# --- The main job ----------------------------------------------------------------------------


@app.command(
    epilog=examples(
        "kanon-sql demo",
        "kanon-sql demo clinic --format json",
    )
)
def demo(
    directory: Annotated[
        Path, typer.Argument(metavar="DIRECTORY", help="Where to write; created if it does not exist.")
    ] = Path(),
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Make a small clinic, anonymize it, and show the result.

    Writes demo.duckdb (generated visits of generated patients), the spec demo.yml and its
    hierarchies into a directory, runs anonymize on them and prints its result. Everything
    is there to be read, changed and run again.
    """
    with session(quiet=quiet, verbose=verbose) as run:
        from kanon_sql.pipeline.demo import demo as make_demo

        spec_path, result = make_demo(directory, report=run.report)
        if verbose:
            for sql in result.sql:
                run.statement(sql)
        _print_result(run, result, output)
        following = ["kanon-sql", "plan", str(spec_path), "-d", str(spec_path.parent / "demo.duckdb")]
        run.message(f"\nnext: {shlex.join(following)}")
        _exit(result.passed)


@app.command(
    epilog=examples(
        "kanon-sql init visits -d clinic.duckdb",
        "kanon-sql init visits -d clinic.duckdb > draft.yml",
    )
)
def init(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The table to profile.", show_default=False)],
    database: Database = MEMORY,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """Profile a table and write a commented spec to start from.

    The profile is made in the database, on a read-only connection; only counts and ranges
    reach this process. The spec goes to standard output: read it before you use it, since
    which columns identify a person is for you to decide.
    """
    with session(quiet=quiet, verbose=verbose) as run:
        from kanon_sql.engines.base import Deadline
        from kanon_sql.pipeline.init import write_spec

        engine = run.connect(database, read_only=True, threads=threads, memory_limit=memory_limit, scratch="inline")
        with engine.run(Deadline(timeout)):
            text = write_spec(engine, table, report=run.report)
        run.close()
        if output is OutputFormat.json:
            _print_json({"verb": "init", "table": table, "spec": text})
        else:
            typer.echo(text, nl=not text.endswith("\n"))


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
        from kanon_sql.pipeline.plan import plan as run_plan

        refuse_report_path(report_file, "--report")
        if estimate and report_file is not None:
            raise SpecError("--estimate and --report exclude each other: an estimate has nothing to report")
        spec = _load(spec_file)
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
        _print_result(run, result, output, all_minimal=all_minimal)
        _write_report(run, result, report_file)
        if run.interrupts.pressed and result.search is not None and result.search.stopped is not None:
            raise typer.Exit(INTERRUPTED)
        _exit(result.passed)


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
        from kanon_sql.pipeline.anonymize import anonymize as run_anonymize
        from kanon_sql.pipeline.budget import Budget

        refuse_report_path(report_file, "--report")
        if manifest is not None and no_manifest_file:
            raise SpecError("--manifest and --no-manifest-file exclude each other")
        if database == MEMORY:
            raise SpecError("a release in :memory: would vanish with this process; give a database with -d FILE")
        spec = _load(spec_file)
        path = None if no_manifest_file else manifest or _manifest_path(spec_file, spec)
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            raise SpecError(f"--manifest {path}: expected a file in an existing directory")
        if spec.source.table is not None:
            _need_database(database)
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
        _print_result(run, result, output, all_minimal=all_minimal)
        if path is not None and result.manifest is not None:
            _write_manifest(path, result.manifest)
            run.message(f"manifest: {path}")
        _write_report(run, result, report_file)
        _exit(result.passed)


@app.command(
    epilog=examples(
        "kanon-sql check spec.yml -d clinic.duckdb",
        "kanon-sql check spec.yml -d clinic.duckdb --rows",
        "kanon-sql check spec.yml -d clinic.duckdb --table visits",
        "kanon-sql check spec.yml -d clinic.duckdb --reveal",
        "kanon-sql check spec.yml -d clinic.duckdb --format junit > check.xml",
    )
)
def check(
    spec_file: SpecFile,
    database: Database = MEMORY,
    table: Annotated[
        str | None,
        typer.Option(
            "--table", metavar="TABLE", show_default=False, help="The table to check; the spec's release if not given."
        ),
    ] = None,
    rows: Annotated[
        bool, typer.Option("--rows", help="Count rows although the spec names a unit; this only bounds persons.")
    ] = False,
    reveal: Annotated[
        bool,
        typer.Option(
            "--reveal",
            help=f"List classes that violate a requirement, at most {REVEALED}, with the values that make them.",
        ),
    ] = False,
    earlier: Annotated[
        str | None,
        typer.Option(
            "--earlier",
            metavar="TABLE",
            show_default=False,
            help="An earlier version of the table; both then need to be m-invariant. With --person and --m.",
        ),
    ] = None,
    person: Annotated[
        str | None,
        typer.Option(
            "--person", metavar="COLUMN", show_default=False, help="The person of every row, in both versions."
        ),
    ] = None,
    m: Annotated[
        int | None,
        typer.Option("--m", metavar="M", min=1, show_default=False, help="The m of m-invariance."),
    ] = None,
    report_file: ReportFile = None,
    output: Annotated[
        CheckFormat,
        typer.Option("--format", help="How to write the result to standard output; junit, github and markdown for CI."),
    ] = CheckFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """Say whether a table meets the requirements of a spec.

    Groups the table, as it stands, by its quasi-identifiers and measures every requirement:
    the release, the source, or any other table with these columns, whoever wrote it. Opens
    the database read-only and creates nothing. Exit code 1 says that a requirement is not
    met.

    A table that changed and is to be published again: --earlier, --person and --m check
    that it is m-invariant with its earlier version. Both are internal tables, generalized,
    with the person of every row.
    """
    with session(quiet=quiet, verbose=verbose, spec=spec_file) as run:
        from kanon_sql.pipeline.check import check as run_check
        from kanon_sql.pipeline.invariance import Republication

        refuse_report_path(report_file, "--report")
        republication = None
        if earlier is not None and person is not None and m is not None:
            republication = Republication(earlier, person, m)
        elif (earlier, person, m) != (None, None, None):
            raise SpecError("--earlier, --person and --m belong together; give all three")
        spec = _load(spec_file)
        engine = run.connect(database, read_only=True, threads=threads, memory_limit=memory_limit, scratch="inline")
        result = run_check(
            engine,
            spec,
            table,
            count_rows=rows,
            reveal=REVEALED if reveal else 0,
            republication=republication,
            timeout=timeout,
            report=run.report,
            details=report_file is not None,
        )
        if output is CheckFormat.text or output is CheckFormat.json:
            _print_result(run, result, OutputFormat(output.value))
        else:
            from kanon_sql.report.pipelines import PIPELINES

            run.close()
            typer.echo(PIPELINES[output.value](result))
        _write_report(run, result, report_file)
        _exit(result.passed)


@app.command(
    epilog=examples(
        "kanon-sql audit spec.yml -d clinic.duckdb",
        "kanon-sql audit spec.yml -d clinic.duckdb --external visits --on age",
        "kanon-sql audit spec.yml -d clinic.duckdb --earlier visits_release",
        "kanon-sql audit spec.yml -d clinic.duckdb --attack homogeneity --reveal 5",
    )
)
def audit(
    spec_file: SpecFile,
    database: Database = MEMORY,
    table: Annotated[
        str | None,
        typer.Option(
            "--table", metavar="TABLE", show_default=False, help="The table to attack; the spec's release if not given."
        ),
    ] = None,
    external: Annotated[
        str | None,
        typer.Option(
            "--external", metavar="TABLE", show_default=False, help="A table that an attacker links the release with."
        ),
    ] = None,
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on",
            metavar="COLUMN",
            show_default=False,
            help="A column to link on, once per column; all that both have if not given.",
        ),
    ] = None,
    earlier: Annotated[
        list[str] | None,
        typer.Option(
            "--earlier", metavar="TABLE", show_default=False, help="Another release of the same people, once each."
        ),
    ] = None,
    negations: Annotated[
        int,
        typer.Option("--negations", metavar="N", min=1, help="Values that background knowledge rules out."),
    ] = 1,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(
            "--hierarchy",
            metavar="COLUMN=FILE",
            show_default=False,
            help="A hierarchy of a sensitive attribute, in ARX's format, for the attack by similarity.",
        ),
    ] = None,
    attack: Annotated[
        list[str] | None,
        typer.Option(
            "--attack",
            metavar="NAME",
            show_default=False,
            help="An attack to run, once each: linking, homogeneity, background, skewness, similarity, "
            "complementary, composition, unsorted. All that can be run if not given.",
        ),
    ] = None,
    rows: Annotated[
        bool, typer.Option("--rows", help="Count rows although the spec names a unit; this only bounds persons.")
    ] = False,
    reveal: Annotated[
        int,
        typer.Option("--reveal", metavar="N", min=0, help="Show so many exposed cases per attack, with their values."),
    ] = 0,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """Attack a release, and count whom that exposes.

    Linking with a table of names, homogeneous classes, background knowledge, skewed and
    similar values, other releases, the order of rows: says how many people each attack
    exposes, and who only with --reveal. Opens the database read-only and creates nothing.
    Exit code 1 says that an attack exposes people whom the requirements protect.
    """
    with session(quiet=quiet, verbose=verbose, spec=spec_file) as run:
        from kanon_sql.pipeline.audit import audit as run_audit
        from kanon_sql.report.audit import audit_text

        spec = _load(spec_file)
        engine = run.connect(database, read_only=True, threads=threads, memory_limit=memory_limit, scratch="inline")
        result = run_audit(
            engine,
            spec,
            table,
            external=external,
            on=on or (),
            earlier=earlier or (),
            negations=negations,
            hierarchies=dict(map(_hierarchy, hierarchy or ())),
            attacks=attack,
            count_rows=rows,
            reveal=reveal,
            timeout=timeout,
            report=run.report,
        )
        run.close()
        if reveal:
            run.message("warning: values of persons follow, as --reveal asks")
        if output is OutputFormat.json:
            _print_json(result.to_dict())
        else:
            _print(audit_text(result))
        _exit(result.passed)


@app.command(
    epilog=examples(
        "kanon-sql risk spec.yml -d clinic.duckdb",
        "kanon-sql risk spec.yml -d clinic.duckdb --table visits_release --rows",
        "kanon-sql risk spec.yml -d clinic.duckdb --sampling-fraction 0.01",
        "kanon-sql risk spec.yml -d clinic.duckdb --columns age --columns zip",
    )
)
def risk(
    spec_file: SpecFile,
    database: Database = MEMORY,
    table: Annotated[
        str | None,
        typer.Option(
            "--table", metavar="TABLE", show_default=False, help="The table to look at; the spec's source if not given."
        ),
    ] = None,
    population: Annotated[
        str | None,
        typer.Option(
            "--population",
            metavar="TABLE",
            show_default=False,
            help="A table of everybody among whom the persons are sought, with the same columns in the same form.",
        ),
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", metavar="RISK", min=0, max=1, help="Count the records with a risk above it.")
    ] = 0.05,
    sampling_fraction: Annotated[
        float | None,
        typer.Option(
            "--sampling-fraction",
            metavar="SHARE",
            show_default=False,
            help="The table's share of the population: estimate how many are unique in the population.",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            metavar="NAME",
            show_default=False,
            help="A column that others may know, once each; the quasi-identifiers if not given.",
        ),
    ] = None,
    combinations: Annotated[
        int, typer.Option("--combinations", metavar="N", min=1, help="Look at combinations of up to so many columns.")
    ] = 3,
    rows: Annotated[bool, typer.Option("--rows", help="Count rows although the spec names a unit.")] = False,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """Measure how easily persons can be found again in a table.

    Shows what a prosecutor, a journalist and a marketer may hope for, how many records are
    unique in the table and (estimated) in the population, and which columns tell records
    apart, alone and together. Measures the table as it stands: the source, a release or any
    other. Opens the database read-only and creates nothing. It measures and does not judge:
    the exit code is 0 whatever the risk.
    """
    with session(quiet=quiet, verbose=verbose, spec=spec_file) as run:
        from kanon_sql.pipeline.risk import risk as run_risk
        from kanon_sql.report.risk import risk_text

        spec = _load(spec_file)
        engine = run.connect(database, read_only=True, threads=threads, memory_limit=memory_limit, scratch="inline")
        result = run_risk(
            engine,
            spec,
            table,
            population=population,
            threshold=threshold,
            sampling_fraction=sampling_fraction,
            columns=columns or (),
            largest_combination=combinations,
            count_rows=rows,
            timeout=timeout,
            report=run.report,
        )
        run.close()
        if output is OutputFormat.json:
            _print_json(result.to_dict())
        else:
            _print(risk_text(result))


# --- Besides ---------------------------------------------------------------------------------


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
        from kanon_sql.pipeline.render import render as run_render

        levels = dict(_level(text) for text in node) if node else None
        rendered = run_render(_load(spec_file), dialect, levels)
        run.close()
        if output is OutputFormat.json:
            _print_json(rendered.to_dict())
        else:
            typer.echo(rendered.text, nl=not rendered.text.endswith("\n"))


@app.command(
    epilog=examples(
        "kanon-sql ledger -d clinic.duckdb",
        "kanon-sql ledger releases -d clinic.duckdb --format json",
    )
)
def ledger(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="The ledger's table, as the spec names it.")
    ] = "kanon_sql_ledger",
    database: Database = MEMORY,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """List what was published, as a ledger records it.

    Specs that name a ledger enter every release into it, and anonymize refuses a release
    that together with earlier ones breaks a requirement. Opens the database read-only.
    """
    with session(quiet=quiet, verbose=verbose) as run:
        from kanon_sql.pipeline.ledger import ledger as run_ledger
        from kanon_sql.report.ledger import ledger_text

        _need_database(database)
        engine = run.connect(database, read_only=True, threads=threads, memory_limit=memory_limit, scratch="inline")
        result = run_ledger(engine, table, timeout=timeout, report=run.report)
        run.close()
        if output is OutputFormat.json:
            _print_json(result.to_dict())
        else:
            _print(ledger_text(result))


@app.command(
    epilog=examples(
        "kanon-sql clean -d clinic.duckdb",
        "kanon-sql clean -d clinic.duckdb --yes",
    )
)
def clean(
    database: Database = MEMORY,
    schema: Annotated[
        str | None,
        typer.Option(
            "--schema", metavar="SCHEMA", show_default=False, help="Where releases go, if not the default schema."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Drop them without asking.")] = False,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """List the scratch tables of killed runs, and drop them.

    Lists first, and drops only after --yes or your answer at the terminal; without either
    nothing is changed. Only tables that kanon_sql recorded as its own are ever dropped.
    """
    with session(quiet=quiet, verbose=verbose) as run:
        from kanon_sql.engines.base import Deadline
        from kanon_sql.pipeline.clean import clean as run_clean
        from kanon_sql.report.text import clean_text

        asks = not yes and sys.stdin.isatty() and output is OutputFormat.text
        _need_database(database)
        engine = run.connect(database, read_only=not (yes or asks), threads=threads, memory_limit=memory_limit)
        with engine.run(Deadline(timeout)):
            result = run_clean(engine, schema, drop=False, report=run.report)
            if result.left and asks:
                run.pause()
                _print(clean_text(result))
                yes = typer.confirm(f"drop {result.left} of them?", err=True)
            if yes and result.left:
                result = run_clean(engine, schema, drop=True, report=run.report)
        run.close()
        if output is OutputFormat.json:
            _print_json(result.to_dict())
        elif yes or not (asks and result.left):
            _print(clean_text(result))
        if result.left and not yes and not asks:
            run.message("nothing was dropped; run with --yes to drop them")


@app.command(
    epilog=examples(
        "kanon-sql doctor -d clinic.duckdb",
        "kanon-sql doctor -d clinic.duckdb --read-only --format json",
    )
)
def doctor(
    database: Database = MEMORY,
    read_only: Annotated[bool, typer.Option("--read-only", help="Open the database read-only.")] = False,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """Say what this connection may do, and which verbs would work.

    Tries out what it reports (temporary tables, tables, rolling back, files) and leaves
    nothing behind. Exit code 1 says that anonymize would not work, unless you asked for
    a read-only connection.
    """
    with session(quiet=quiet, verbose=verbose) as run:
        from kanon_sql.engines.base import Deadline
        from kanon_sql.pipeline.doctor import doctor as run_doctor
        from kanon_sql.report.text import doctor_text

        _need_database(database)
        engine = run.connect(database, read_only=read_only, threads=threads, memory_limit=memory_limit)
        with engine.run(Deadline(timeout)):
            result = run_doctor(engine, report=run.report)
        run.close()
        if output is OutputFormat.json:
            _print_json(result.to_dict())
        else:
            _print(doctor_text(result))
        _exit(read_only or result.works("anonymize"))


@app.command(
    epilog=examples(
        "kanon-sql schema",
        "kanon-sql schema --result",
        "kanon-sql schema --audit",
        "kanon-sql schema --risk",
    )
)
def schema(
    result: Annotated[bool, typer.Option("--result", help="The schema of a result instead of that of a spec.")] = False,
    of_audit: Annotated[bool, typer.Option("--audit", help="The schema of the result of an audit.")] = False,
    of_risk: Annotated[bool, typer.Option("--risk", help="The schema of what risk measures.")] = False,
) -> None:
    """Print the JSON Schema of the spec, or of a result.

    Editors that know JSON Schema check a spec while you write it; programs that read
    results can rely on theirs.
    """
    with session(quiet=True, verbose=False):
        if result + of_audit + of_risk > 1:
            raise SpecError("--result, --audit and --risk exclude each other")
        if result or of_audit or of_risk:
            from kanon_sql.report.json import audit_schema, result_schema, risk_schema

            _print_json(audit_schema() if of_audit else risk_schema() if of_risk else result_schema())
        else:
            from kanon_sql.spec import Spec

            _print_json(Spec.json_schema())


# --- What the verbs share --------------------------------------------------------------------


def _print_estimate(run: Session, engine: Engine, spec: Spec, output: OutputFormat, timeout: float | None) -> None:
    from kanon_sql.pipeline.estimate import estimate
    from kanon_sql.report.text import estimate_text

    found = estimate(engine, spec, timeout=timeout)
    run.close()
    if output is OutputFormat.json:
        _print_json(found.to_dict())
    else:
        _print(estimate_text(found))


def _load(path: Path) -> Spec:
    from kanon_sql.spec import Spec

    return Spec.load(path)


def _need_database(database: str) -> None:
    """Refuse to create a database where one has to be there already."""
    if database != MEMORY and "://" not in database and not Path(database).exists():
        raise DatabaseError(f"there is no database file {database}; give an existing one with -d FILE")


def _level(text: str) -> tuple[str, int]:
    name, _, level = text.rpartition("=")
    if not name or not re.fullmatch(r"[0-9]{1,6}", level):
        raise SpecError("--node: expected a quasi-identifier and its level, such as --node age=1")
    return name, int(level)


def _hierarchy(text: str) -> tuple[str, dict[str, str]]:
    name, _, file = text.partition("=")
    if not name or not file:
        raise SpecError("--hierarchy: expected a sensitive attribute and a file, such as --hierarchy diagnosis=FILE")
    return name, {"file": str(Path(file).absolute())}


def _manifest_path(spec_file: Path, spec: Spec) -> Path:
    """Beside the spec, named after the release, whatever characters that has."""
    name = re.sub(r"[^\w.-]+", "_", ".".join(spec.release or ("release",)))
    return spec_file.absolute().parent / f"{name}.manifest.json"


def _write_manifest(path: Path, manifest: Any) -> None:
    from kanon_sql.report.json import to_json

    try:
        path.write_text(to_json(dict(manifest)) + "\n", encoding="utf-8")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SpecError(f"the release is published, but its manifest cannot be written to {path}: {reason}") from None


def _print_result(run: Session, result: Result, output: OutputFormat, *, all_minimal: bool = False) -> None:
    run.close()
    if output is OutputFormat.json:
        _print_json(result.to_dict(all_minimal=all_minimal))
    else:
        from kanon_sql.report.text import result_text

        _print(result_text(result, all_minimal=all_minimal))


def _write_report(run: Session, result: Result, path: Path | None) -> None:
    if path is not None:
        from kanon_sql.report.html import html_report

        write_report(run, path, html_report(result))


def _print_json(data: Any) -> None:
    from kanon_sql.report.json import to_json

    typer.echo(to_json(data))


def _print(content: RenderableType) -> None:
    from kanon_sql.report.text import print_text

    print_text(content)


def _exit(passed: bool) -> None:
    raise typer.Exit(int(ExitCode.PASS if passed else ExitCode.FAIL))
