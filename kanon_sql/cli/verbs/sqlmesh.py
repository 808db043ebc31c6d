"""``sqlmesh``: the requirements of a spec as audits of a SQLMesh project."""

from typing import Annotated

import typer

from kanon_sql.cli.given import MEMORY, load_spec
from kanon_sql.cli.options import Database, MemoryLimit, Profile, Quiet, SpecFile, Threads, Timeout, Verbose
from kanon_sql.cli.program import examples, program
from kanon_sql.cli.session import session

__all__ = ["sqlmesh"]


@program.command(
    epilog=examples(
        "kanon-sql sqlmesh spec.yml -d clinic.duckdb > audits/visits_release.sql",
        "kanon-sql sqlmesh spec.yml -d clinic.duckdb --table visits_release --rows",
    )
)
def sqlmesh(
    spec_file: SpecFile,
    database: Database = MEMORY,
    profile: Profile = None,
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            metavar="TABLE",
            show_default=False,
            help="A table with the columns of the audited model; the spec's release if not given.",
        ),
    ] = None,
    rows: Annotated[
        bool, typer.Option("--rows", help="Count rows although the spec names a unit; this only bounds persons.")
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """Print the requirements of a spec as SQLMesh audits.

    Each audit is a query that returns the classes which violate a requirement, as check
    finds them: their sizes, no values. Asks the database for the types of the table's
    columns and reads no row. Write the audits again when the spec or a type changes.
    """
    with session(quiet=quiet, verbose=verbose, spec=spec_file) as run:
        from kanon_sql.verbs.sqlmesh import audits

        spec = load_spec(spec_file)
        engine = run.connect(database, read_only=True, threads=threads, memory_limit=memory_limit)
        text = audits(engine, spec, table, count_rows=rows, timeout=timeout)
        run.close()
        typer.echo(text, nl=False)
