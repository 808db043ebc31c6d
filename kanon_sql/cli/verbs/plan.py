"""``plan``: what the best generalization is, and what it costs."""

from typing import TYPE_CHECKING, Annotated

import typer

from kanon_sql.cli.given import MEMORY, load_spec
from kanon_sql.cli.options import (
    AllMinimal,
    Database,
    Distributions,
    FailOnWarning,
    Format,
    Key,
    MaxBytes,
    MaxSeconds,
    MaxStatements,
    MemoryLimit,
    OutputFormat,
    Parties,
    Profile,
    Quiet,
    ReportFile,
    ScratchMode,
    SpecFile,
    Split,
    SplitOption,
    Threads,
    Timeout,
    Verbose,
)
from kanon_sql.cli.program import examples, program
from kanon_sql.cli.session import INTERRUPTED, Session, session
from kanon_sql.cli.written import (
    exit_with,
    print_found,
    print_result,
    refuse_report_path,
    refuse_unshown,
    write_result_report,
)
from kanon_sql.errors import SpecError

if TYPE_CHECKING:
    from kanon_sql.engines import Engine
    from kanon_sql.spec import Spec

__all__ = ["plan"]


@program.command(
    epilog=examples(
        "kanon-sql plan spec.yml -d clinic.duckdb",
        "kanon-sql plan spec.yml -d clinic.duckdb --estimate",
        "kanon-sql plan spec.yml -d clinic.duckdb --all-minimal --format json",
        "kanon-sql plan spec.yml -d clinic.duckdb --explain",
        "kanon-sql plan spec.yml -d clinic.duckdb --matrix",
        "kanon-sql plan spec.yml -d clinic.duckdb --beside local",
        "kanon-sql plan spec.yml -d clinic.duckdb --max-seconds 30",
        "kanon-sql plan parties.yml --party north.duckdb --party south.duckdb",
    )
)
def plan(
    spec_file: SpecFile,
    database: Database = MEMORY,
    profile: Profile = None,
    party: Parties = None,
    split: SplitOption = Split.horizontal,
    key: Key = None,
    all_minimal: AllMinimal = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only ask the database what reading the source would cost.")
    ] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show what is known about every node of the lattice, and why."),
    ] = False,
    matrix: Annotated[
        bool,
        typer.Option("--matrix", help="Show Samarati's distance matrix for classes below k; small tables only."),
    ] = False,
    bound: Annotated[
        bool,
        typer.Option("--bound", help="For local recoding: show a lower bound on information loss."),
    ] = False,
    beside: Annotated[
        str | None,
        typer.Option(
            "--beside",
            metavar="METHOD",
            help="Also report the loss of another recoding, or none; quick: local, where it takes a second.",
        ),
    ] = "quick",
    max_seconds: MaxSeconds = None,
    max_statements: MaxStatements = None,
    max_bytes: MaxBytes = None,
    scratch: ScratchMode = None,
    fail_on_warning: FailOnWarning = False,
    report_file: ReportFile = None,
    distributions: Distributions = False,
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

    With --party for each of several databases, the table is split between them, and no
    party's rows leave its database.
    """
    with session(quiet=quiet, verbose=verbose, spec=spec_file) as run:
        from kanon_sql.verbs.plan import plan as run_plan

        refuse_report_path(report_file, "--report")
        refuse_unshown(distributions, report_file, output)
        if estimate and report_file is not None:
            raise SpecError("--estimate and --report exclude each other; an estimate has nothing to report")
        if estimate and (explain or matrix):
            option = "--explain" if explain else "--matrix"
            raise SpecError(f"--estimate and {option} exclude each other; an estimate asks about no node")
        if estimate and fail_on_warning:
            raise SpecError("--estimate and --fail-on-warning exclude each other; an estimate looks for no warnings")
        spec = load_spec(spec_file)
        if party is not None or key is not None or split is Split.vertical:
            from kanon_sql.cli.parties import refuse_other_options, run_parties

            refuse_other_options(
                {
                    "--database": database != MEMORY,
                    "--all-minimal": all_minimal,
                    "--estimate": estimate,
                    "--explain": explain,
                    "--matrix": matrix,
                    "--bound": bound,
                    "--beside": beside not in ("quick", "none"),
                    "--max-seconds": max_seconds is not None,
                    "--max-statements": max_statements is not None,
                    "--max-bytes": max_bytes is not None,
                    "--report": report_file is not None,
                    "--distributions": distributions,
                    "--fail-on-warning": fail_on_warning,
                    "--threads": threads is not None,
                    "--memory-limit": memory_limit is not None,
                }
            )
            run_parties(run, spec, party or [], output, split=split, key=key, scratch=scratch, timeout=timeout)
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
            matrix=matrix,
            bound=bound,
            beside=None if beside == "none" else beside,
            details=report_file is not None,
            distributions=distributions,
            fail_on_warning=fail_on_warning,
        )
        print_result(run, result, output, all_minimal=all_minimal)
        write_result_report(run, result, report_file)
        if run.interrupts.pressed and result.stopped is not None:
            raise typer.Exit(INTERRUPTED)
        exit_with(result.passed)


def _print_estimate(run: Session, engine: "Engine", spec: "Spec", output: OutputFormat, timeout: float | None) -> None:
    from kanon_sql.verbs.estimate import estimate

    found = estimate(engine, spec, timeout=timeout)
    run.close()
    print_found(found, output)
