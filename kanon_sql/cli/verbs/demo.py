"""``demo``: a small clinic, made and anonymized."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from kanon_sql.cli.complete import directories
from kanon_sql.cli.outputs import exit_with, print_output, print_result
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session

__all__ = ["demo"]


@verb(
    "kanon-sql demo",
    "kanon-sql demo --tables",
    "kanon-sql demo -o clinic --format json",
    database=False,
    product=None,
)
def demo(
    run: Session,
    directory: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="DIRECTORY",
            autocompletion=directories,
            help="The directory to write to; created if it does not exist.",
        ),
    ] = Path(),
    tables: Annotated[
        bool,
        typer.Option("--tables", help="Make patients, visits and prescriptions, and release the three together."),
    ] = False,
) -> None:
    """Make a small clinic, anonymize it, and show the result.

    Writes demo.duckdb (generated visits of generated patients), the spec demo.yml and its
    hierarchies into a directory, runs anonymize on them and prints its result. Read the
    files, change them and run the commands again.

    With --tables, the database has patients, visits and prescriptions. The spec tables.yml
    releases the three together, with new keys, in the schema named released.
    """
    from kanon_sql.verbs.demo import demo as make_demo
    from kanon_sql.verbs.demo import demo_tables

    if tables:
        path, several = demo_tables(directory, report=run.report)
        run.close()
        print_output(run, several)
        run.message(f"\nnext: {shlex.join(['kanon-sql', 'check', str(path), '-d', str(path.parent / 'demo.duckdb')])}")
        exit_with(several.passed)
    spec_path, result = make_demo(directory, report=run.report)
    if run.verbose:
        for sql in result.sql:
            run.statement(sql)
    print_result(run, result)
    following = ["kanon-sql", "plan", str(spec_path), "-d", str(spec_path.parent / "demo.duckdb")]
    run.message(f"\nnext: {shlex.join(following)}")
    exit_with(result.passed)
