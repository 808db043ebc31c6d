"""``risk``: the re-identification risk of a table."""

from typing import Annotated

import typer

from kanon_sql.cli.inputs import load_spec
from kanon_sql.cli.options import Population, SamplingFraction, SpecFile, named
from kanon_sql.cli.outputs import print_output, write_report
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session

__all__ = ["risk"]


@verb(
    "kanon-sql risk spec.yml -d clinic.duckdb",
    "kanon-sql risk spec.yml -d clinic.duckdb --rows -o risk.html",
    "kanon-sql risk spec.yml -d clinic.duckdb --table visits",
    "kanon-sql risk spec.yml -d clinic.duckdb --sampling-fraction 0.01",
    "kanon-sql risk spec.yml -d clinic.duckdb --columns age,zip",
    "kanon-sql risk spec.yml -d clinic.duckdb --set suda=3",
    reports=True,
    keys={
        "suda": "N; special uniques: rows that are unique by up to N columns, with SUDA and DIS-SUDA scores",
        "weight": "a column of sampling weights; the individual risk, and the re-identifications to expect",
        "household": "a column that identifies households; with weight, the risk that some member is found",
    },
)
def risk(
    run: Session,
    spec_file: SpecFile,
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            metavar="TABLE",
            show_default=False,
            help="The table to measure. If not given, the spec's release, or the source if there is no release yet.",
        ),
    ] = None,
    population: Population = None,
    threshold: Annotated[
        float,
        typer.Option("--threshold", metavar="RISK", min=0, max=1, help="Count the records whose risk is above this."),
    ] = 0.05,
    sampling_fraction: SamplingFraction = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            metavar="COLUMN,...",
            show_default=False,
            callback=named,
            help="The columns that an attacker may know; if not given, the quasi-identifiers.",
        ),
    ] = None,
    combinations: Annotated[
        int, typer.Option("--combinations", metavar="N", min=1, help="Measure combinations of up to N columns.")
    ] = 3,
    rows: Annotated[
        bool, typer.Option("--rows", help="Count rows instead of persons, although the spec names a unit.")
    ] = False,
) -> None:
    """Measure the re-identification risk of a table.

    Shows prosecutor, journalist and marketer risk, how many records are unique in the table
    and (estimated) in the population, and which columns distinguish records, alone and
    combined. The table can be the release, the source or any other. Opens the database
    read-only and creates nothing. The exit code is 0, however high the risk is.
    """
    from kanon_sql.verbs.risk import risk as run_risk

    spec = load_spec(spec_file)
    engine = run.connect(read_only=True, scratch="inline")
    result = run_risk(
        engine,
        spec,
        table,
        population=population,
        threshold=threshold,
        sampling_fraction=sampling_fraction,
        columns=columns or (),
        largest_combination=combinations,
        special_uniques=run.number("suda", 0, 1) or None,
        weight=run.one("weight"),
        household=run.one("household"),
        count_rows=rows,
        timeout=run.timeout,
        report=run.report,
    )
    run.close()
    print_output(run, result)
    if run.report_file is not None:
        from kanon_sql.report.html import run_report
        from kanon_sql.report.run import read_run

        write_report(run, run_report(read_run(result.to_dict(), "this measurement")))
