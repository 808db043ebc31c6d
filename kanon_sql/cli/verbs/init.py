"""``init``: a spec to start from, out of a table's profile."""

from pathlib import Path
from typing import Annotated

import typer

from kanon_sql.cli.complete import directories
from kanon_sql.cli.given import MEMORY
from kanon_sql.cli.options import Database, Format, MemoryLimit, OutputFormat, Profile, Quiet, Threads, Timeout, Verbose
from kanon_sql.cli.program import examples, program
from kanon_sql.cli.session import session
from kanon_sql.cli.written import print_json

__all__ = ["init"]


@program.command(
    epilog=examples(
        "kanon-sql init visits -d clinic.duckdb",
        "kanon-sql init visits -d clinic.duckdb > draft.yml",
        "kanon-sql init visits -d clinic.duckdb --skeletons hierarchies > draft.yml",
        "kanon-sql init visits.parquet > draft.yml",
    )
)
def init(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="The table to profile, or a Parquet or CSV file.", show_default=False)
    ],
    database: Database = MEMORY,
    profile: Profile = None,
    combinations: Annotated[
        int,
        typer.Option(
            "--combinations",
            metavar="N",
            min=0,
            max=4,
            help="Look at what up to so many columns tell apart together; 0 reads the table fewer times.",
        ),
    ] = 2,
    skeleton_directory: Annotated[
        Path | None,
        typer.Option(
            "--skeletons",
            metavar="DIRECTORY",
            show_default=False,
            autocompletion=directories,
            help="Write the values of short lists of categories as hierarchy files to fill in. Holds all of them, "
            "also those that a single row has.",
        ),
    ] = None,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """Profile a table and write a commented spec to start from.

    The profile is made in the database, on a read-only connection; only counts and ranges
    reach this process, unless --skeletons asks for values. The spec goes to standard
    output: read it before you use it, since which columns identify a person is for you to
    decide.
    """
    with session(quiet=quiet, verbose=verbose) as run:
        from kanon_sql.engines import Deadline
        from kanon_sql.verbs.init import write_spec

        engine = run.connect(database, read_only=True, threads=threads, memory_limit=memory_limit, scratch="inline")
        with engine.run(Deadline(timeout)):
            text = write_spec(
                engine,
                table,
                largest_combination=combinations,
                skeleton_directory=skeleton_directory,
                report=run.report,
            )
        run.close()
        if skeleton_directory is not None:
            run.message(f"warning: the files in {skeleton_directory} hold values of the table; fill in their groups")
        if output is OutputFormat.json:
            print_json({"verb": "init", "table": table, "spec": text})
        else:
            typer.echo(text, nl=not text.endswith("\n"))
