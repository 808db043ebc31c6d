"""``init``: a spec to start from, out of a table's profile."""

from enum import StrEnum
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


class PresetName(StrEnum):
    """The presets, written out since what defines them imports the engines."""

    safe_harbor = "hipaa-safe-harbor"
    ema_0070 = "ema-0070"
    wp216 = "gdpr-wp216"


@program.command(
    epilog=examples(
        "kanon-sql init visits -d clinic.duckdb",
        "kanon-sql init visits -d clinic.duckdb > draft.yml",
        "kanon-sql init visits -d clinic.duckdb --quasi-identifiers age,zip",
        "kanon-sql init visits -d clinic.duckdb --preset ema-0070 > draft.yml",
        "kanon-sql init visits -d clinic.duckdb --skeletons hierarchies > draft.yml",
        "kanon-sql init visits.parquet > draft.yml",
    )
)
def init(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="The table to profile, or a Parquet or CSV file.", show_default=False)
    ],
    database: Database = MEMORY,
    quasi_identifiers: Annotated[
        list[str] | None,
        typer.Option(
            "--quasi-identifiers",
            metavar="COLUMNS",
            show_default=False,
            help="Quasi-identifier columns, comma-separated; they replace the suggestions.",
        ),
    ] = None,
    sensitive: Annotated[
        list[str] | None,
        typer.Option(
            "--sensitive",
            metavar="COLUMNS",
            show_default=False,
            help="Sensitive columns, comma-separated; they replace the suggestions.",
        ),
    ] = None,
    identifiers: Annotated[
        list[str] | None,
        typer.Option(
            "--identifiers",
            metavar="COLUMNS",
            show_default=False,
            help="Columns never released, in addition to the suggestions.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COLUMNS", show_default=False, help="Released as they are."),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            "--unit", metavar="COLUMN", show_default=False, help="Person identifier, if a person can have several rows."
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("--k", metavar="K", min=2, show_default=False, help="k of k-anonymity; 5, or the preset's."),
    ] = None,
    preset: Annotated[
        PresetName | None,
        typer.Option("--preset", show_default=False, help="Follow the rules of a regulation or guideline."),
    ] = None,
    population: Annotated[
        str | None,
        typer.Option(
            "--population",
            metavar="TABLE",
            show_default=False,
            help="With --preset hipaa-safe-harbor: a table of postal codes and the number of people of each.",
        ),
    ] = None,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Ask about roles in the terminal; suggestions are defaults.")
    ] = False,
    profile: Profile = None,
    combinations: Annotated[
        int,
        typer.Option(
            "--combinations",
            metavar="N",
            min=0,
            max=4,
            help="Measure how well combinations of up to N columns distinguish rows; 0 reads the table fewer times.",
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
        from kanon_sql.verbs.init import init as draft

        ask = None
        if interactive:
            from kanon_sql.cli.questions import Questions

            ask = Questions(run).ask
        engine = run.connect(database, read_only=True, threads=threads, memory_limit=memory_limit, scratch="inline")
        text = draft(
            engine,
            table,
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            identifiers=identifiers or (),
            keep=keep or (),
            unit=unit,
            k=k,
            preset=None if preset is None else preset.value,
            population=population,
            largest_combination=combinations,
            skeleton_directory=skeleton_directory,
            ask=ask,
            timeout=timeout,
            report=run.report,
        )
        run.close()
        if skeleton_directory is not None:
            run.message(f"warning: the files in {skeleton_directory} hold values of the table; fill in their groups")
        if output is OutputFormat.json:
            print_json({"verb": "init", "table": table, "spec": text})
        else:
            typer.echo(text, nl=not text.endswith("\n"))
