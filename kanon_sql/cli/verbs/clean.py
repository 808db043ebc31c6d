"""``clean``: the scratch tables of killed runs."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from kanon_sql.cli.inputs import need_database
from kanon_sql.cli.outputs import print_output
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session

__all__ = ["clean"]


@verb(
    "kanon-sql clean -d clinic.duckdb",
    "kanon-sql clean -d clinic.duckdb --yes",
    "kanon-sql clean -d clinic.duckdb --state",
    "kanon-sql clean --files . --yes",
)
def clean(
    run: Session,
    schema: Annotated[
        str | None,
        typer.Option(
            "--schema", metavar="SCHEMA", show_default=False, help="The schema of the releases, if not the default one."
        ),
    ] = None,
    states: Annotated[
        bool,
        typer.Option("--state", help="Look for states of growing releases instead, in kanon_state or in --schema."),
    ] = False,
    files: Annotated[
        Path | None,
        typer.Option(
            "--files",
            metavar="DIRECTORY",
            show_default=False,
            help="Look for leftovers in this directory of released files.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Remove without asking.")] = False,
) -> None:
    """Find and remove leftovers of interrupted runs.

    Lists the leftovers, and removes them only after --yes or your answer in the terminal. Drops
    only tables that kanon_sql recorded as its own. Ends statements of such runs that the server
    still executes (PostgreSQL, MariaDB, ClickHouse). If a run was killed while it published: keeps
    the release if it is in place under its name, and removes its entry if not.
    Do not run this while another run is active.
    """
    from kanon_sql.verbs.clean import clean as run_clean
    from kanon_sql.verbs.run import running

    asks = not yes and sys.stdin.isatty() and run.format == "text"
    need_database(run.database)
    engine = run.connect(read_only=not (yes or asks))
    with running(engine, run.timeout, run.report):
        result = run_clean(engine, schema, drop=False, states=states, files=files)
        if result.left and asks:
            run.pause()
            print_output(run, result)
            yes = typer.confirm(f"drop {result.left} of them?", err=True)
        if yes and result.left:
            result = run_clean(engine, schema, drop=True, states=states, files=files)
    run.close()
    if yes or not (asks and result.left):
        print_output(run, result)
    if result.left and not yes and not asks:
        run.message("nothing was dropped; run with --yes to drop them")
