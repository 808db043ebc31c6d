"""``risk``: the re-identification risk of a table."""

from typing import Annotated

import typer

from kanon_sql.cli.given import MEMORY, load_spec
from kanon_sql.cli.options import (
    Database,
    Format,
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
from kanon_sql.cli.written import print_found, refuse_report_path, write_report

__all__ = ["risk"]


@program.command(
    epilog=examples(
        "kanon-sql risk spec.yml -d clinic.duckdb",
        "kanon-sql risk spec.yml -d clinic.duckdb --rows --report risk.html",
        "kanon-sql risk spec.yml -d clinic.duckdb --table visits",
        "kanon-sql risk spec.yml -d clinic.duckdb --sampling-fraction 0.01",
        "kanon-sql risk spec.yml -d clinic.duckdb --columns age --columns zip",
    )
)
def risk(
    spec_file: SpecFile,
    database: Database = MEMORY,
    profile: Profile = None,
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            metavar="TABLE",
            show_default=False,
            help="The table to look at. If not given: the spec's release, or the source where there is no release yet.",
        ),
    ] = None,
    population: Annotated[
        str | None,
        typer.Option(
            "--population",
            metavar="TABLE",
            show_default=False,
            help="Population table, with the same columns in the same form.",
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
            help="The table's share of the population: estimate uniques and k-map in the population.",
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
        int, typer.Option("--combinations", metavar="N", min=1, help="Look at combinations of up to N columns.")
    ] = 3,
    rows: Annotated[bool, typer.Option("--rows", help="Count rows although the spec names a unit.")] = False,
    report_file: ReportFile = None,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """Measure the re-identification risk of a table.

    Shows prosecutor, journalist and marketer re-identification risk, how many records are
    unique in the table and (estimated) in the population, and which columns distinguish
    records, alone and together. Measures the table as it stands: the release, the source or
    any other. Opens the database read-only and creates nothing. The exit code is 0 whatever
    the risk.
    """
    with session(quiet=quiet, verbose=verbose, spec=spec_file) as run:
        from kanon_sql.verbs.risk import risk as run_risk

        refuse_report_path(report_file, "--report")
        spec = load_spec(spec_file)
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
        print_found(result, output)
        if report_file is not None:
            from kanon_sql.report.html import run_report
            from kanon_sql.report.run import read_run

            write_report(run, report_file, run_report(read_run(result.to_dict(), "this measurement")))
