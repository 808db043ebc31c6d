"""``check``: whether a table meets the requirements of a spec."""

from typing import Annotated

import typer

from kanon_sql.cli.given import load_spec
from kanon_sql.cli.options import CheckFormat, FailOnWarning, SpecFile
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.cli.written import exit_with, print_result, write_result_report
from kanon_sql.errors import SpecError

__all__ = ["check"]


@verb(
    "kanon-sql check spec.yml -d clinic.duckdb",
    "kanon-sql check spec.yml -d clinic.duckdb --rows",
    "kanon-sql check spec.yml -d clinic.duckdb --table visits",
    "kanon-sql check spec.yml -d clinic.duckdb --reveal 5",
    "kanon-sql check spec.yml -d clinic.duckdb --format junit -o check.xml",
    formats=CheckFormat,
    reports=True,
)
def check(
    run: Session,
    spec_file: SpecFile,
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
        int,
        typer.Option(
            "--reveal", metavar="N", min=0, help="List N classes that violate a requirement, with their values."
        ),
    ] = 0,
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
) -> None:
    """Say whether a table meets the requirements of a spec.

    Groups the table, as it stands, by its quasi-identifiers and measures every requirement:
    the release, the source, or any other table with these columns. Opens the database
    read-only; a comparison with a population may create temporary tables. Exit code 1 says
    that a requirement is not met.

    A table that changed and is to be published again: --earlier, --person and --m check
    that it is m-invariant with its earlier version. Both are internal tables, generalized,
    with the person of every row.
    """
    from kanon_sql.disclosure.invariance import Republication
    from kanon_sql.verbs.check import check as run_check

    republication = None
    if earlier is not None and person is not None and m is not None:
        republication = Republication(earlier, person, m)
    elif (earlier, person, m) != (None, None, None):
        raise SpecError("--earlier, --person and --m belong together; give all three")
    spec = load_spec(spec_file)
    engine = run.connect(read_only=True, scratch=None if spec.compares_with_population else "inline")
    result = run_check(
        engine,
        spec,
        table,
        count_rows=rows,
        reveal=reveal,
        republication=republication,
        timeout=run.timeout,
        report=run.report,
        details=run.report_file is not None,
        fail_on_warning=fail_on_warning,
    )
    if run.format in ("text", "json"):
        print_result(run, result)
    else:
        from kanon_sql.report.pipelines import PIPELINES

        run.close()
        run.echo(PIPELINES[run.format](result))
    write_result_report(run, result)
    exit_with(result.passed)
