"""``check``: whether a table meets the requirements of a spec."""

from typing import Annotated

import typer

from kanon_sql.cli.given import MEMORY, load_spec
from kanon_sql.cli.options import (
    CheckFormat,
    Database,
    FailOnWarning,
    MemoryLimit,
    OutputFormat,
    Profile,
    Quiet,
    ReportFile,
    SpecFile,
    Threads,
    Timeout,
    Verbose,
)
from kanon_sql.cli.program import examples, program
from kanon_sql.cli.session import session
from kanon_sql.cli.written import exit_with, print_result, refuse_report_path, write_result_report
from kanon_sql.errors import SpecError

__all__ = ["check"]

REVEALED = 20
"""How many classes ``check --reveal`` lists."""


@program.command(
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
    profile: Profile = None,
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
    fail_on_warning: FailOnWarning = False,
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
    the release, the source, or any other table with these columns. Opens
    the database read-only and creates nothing. Exit code 1 says that a requirement is not
    met.

    A table that changed and is to be published again: --earlier, --person and --m check
    that it is m-invariant with its earlier version. Both are internal tables, generalized,
    with the person of every row.
    """
    with session(quiet=quiet, verbose=verbose, spec=spec_file) as run:
        from kanon_sql.disclosure.invariance import Republication
        from kanon_sql.verbs.check import check as run_check

        refuse_report_path(report_file, "--report")
        republication = None
        if earlier is not None and person is not None and m is not None:
            republication = Republication(earlier, person, m)
        elif (earlier, person, m) != (None, None, None):
            raise SpecError("--earlier, --person and --m belong together; give all three")
        spec = load_spec(spec_file)
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
            fail_on_warning=fail_on_warning,
        )
        if output is CheckFormat.text or output is CheckFormat.json:
            print_result(run, result, OutputFormat(output.value))
        else:
            from kanon_sql.report.pipelines import PIPELINES

            run.close()
            typer.echo(PIPELINES[output.value](result))
        write_result_report(run, result, report_file)
        exit_with(result.passed)
