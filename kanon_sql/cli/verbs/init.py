"""``init``: a spec to start from, out of a table's profile."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kanon_sql.cli.inputs import MEMORY, csv_options
from kanon_sql.cli.options import CSV_KEYS, unquoted
from kanon_sql.cli.outputs import print_json
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session

__all__ = ["init"]


class PresetName(StrEnum):
    """The presets, written out since what defines them imports the engines."""

    safe_harbor = "hipaa-safe-harbor"
    ema_0070 = "ema-0070"
    wp216 = "gdpr-wp216"


@verb(
    "kanon-sql init visits -d clinic.duckdb",
    "kanon-sql init visits -d clinic.duckdb -o draft.yml",
    "kanon-sql init visits -d clinic.duckdb --quasi-identifiers age,zip",
    "kanon-sql init patients stays drugs -d hospital.duckdb",
    "kanon-sql init visits -d clinic.duckdb --preset ema-0070 -o draft.yml",
    "kanon-sql init visits -d clinic.duckdb --set skeletons=hierarchies",
    "kanon-sql init visits.parquet > draft.yml",
    "kanon-sql init project.deid -o project.yml",
    product="spec",
    keys={
        "keep": "columns to release as they are",
        "combinations": "N, from 0 to 4; measure how well combinations of up to N columns distinguish rows",
        "population": "with --preset hipaa-safe-harbor, a table of postal codes and their populations",
        **CSV_KEYS,
        "skeletons": "a directory for hierarchy files to fill in; they hold the values of columns with few categories",
    },
)
def init(
    run: Session,
    tables: Annotated[
        list[str],
        typer.Argument(
            metavar="TABLE",
            help="The table to profile, or a Parquet or CSV file. To release several tables together: the table with a "
            "row for each person, then the tables that belong to persons, by foreign keys or by names and values. "
            "From ARX: the project file (.deid), whose input and hierarchies are written to a directory beside the "
            "spec.",
            show_default=False,
        ),
    ],
    quasi_identifiers: Annotated[
        list[str] | None,
        typer.Option(
            "--quasi-identifiers",
            metavar="COLUMN,...",
            show_default=False,
            help="Quasi-identifier columns; they replace the suggestions.",
        ),
    ] = None,
    sensitive: Annotated[
        list[str] | None,
        typer.Option(
            "--sensitive",
            metavar="COLUMN,...",
            show_default=False,
            help="Sensitive columns; they replace the suggestions.",
        ),
    ] = None,
    identifiers: Annotated[
        list[str] | None,
        typer.Option(
            "--identifiers",
            metavar="COLUMN,...",
            show_default=False,
            help="Columns that are never released, in addition to the suggestions.",
        ),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            "--unit",
            metavar="COLUMN",
            show_default=False,
            help="Person identifier, if a person can have several rows; for a key of several columns, site,patient.",
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("--k", metavar="K", min=1, show_default=False, help="k of k-anonymity; 5, or the preset's."),
    ] = None,
    preset: Annotated[
        PresetName | None,
        typer.Option("--preset", show_default=False, help="Draft by the rules of a regulation or guideline."),
    ] = None,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Ask about roles in the terminal; suggestions are defaults.")
    ] = False,
) -> None:
    """Profile a table and write a commented spec to start from.

    The database computes the profile, on a read-only connection; only counts and ranges
    reach this process, unless --set skeletons asks for values. The spec goes to standard
    output. Read it before you use it: you decide which columns identify a person.
    """
    from kanon_sql.errors import SpecError
    from kanon_sql.verbs.init import init as draft

    table, *others = tables
    # In no database there is no schema that has a table by this name.
    is_project = table.lower().endswith(".deid") and (Path(table).is_file() or run.database == MEMORY) and not others
    if others or is_project:
        of_one_table = {
            "--quasi-identifiers": quasi_identifiers,
            "--sensitive": sensitive,
            "--identifiers": identifiers,
            "--unit": unit,
            "--preset": preset,
            "--interactive": interactive,
            **{f"--set {key}": True for key in run.own},
        }
        if given := [name for name, value in of_one_table.items() if value]:
            what = "an ARX project" if is_project else "several tables"
            raise SpecError(f"{', '.join(given)}: with {what} only --k can be set; leave it out")
        if is_project:
            _project(run, table, k)
        else:
            _several(run, table, others, k)
        return
    directory = run.one("skeletons")
    skeleton_directory = None if directory is None else Path(directory)
    ask = None
    if interactive:
        from kanon_sql.cli.questions import Questions

        ask = Questions(run).ask
    engine = run.connect(read_only=True, scratch="inline")
    text = draft(
        engine,
        table,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        identifiers=identifiers or (),
        keep=[unquoted(name) for name in run.own.get("keep", ())],
        unit=unit,
        k=k,
        preset=None if preset is None else preset.value,
        population=run.one("population"),
        largest_combination=run.number("combinations", 2, 0, 4),
        skeleton_directory=skeleton_directory,
        csv=csv_options(run),
        ask=ask,
        timeout=run.timeout,
        report=run.report,
    )
    run.close()
    if skeleton_directory is not None:
        run.message(f"warning: the files in {skeleton_directory} hold values of the table; fill in their groups")
    if run.format == "json":
        print_json(run, {"verb": "init", "table": table, "spec": text})
    else:
        run.echo(text)


def _project(run: Session, path: str, k: int | None) -> None:
    """Draft the release that an ARX project asks for, and say what the spec does not hold."""
    from kanon_sql.verbs.init import draft_of_arx

    drafted = draft_of_arx(Path(path), run.output_directory, k=k)
    for line in drafted.left:
        run.message(f"warning: not in the spec: {line}")
    run.message(f"warning: {drafted.directory} holds the rows of the project; only you can read it")
    if run.format == "json":
        print_json(run, {"verb": "init", "table": path, "spec": drafted.text})
    else:
        run.echo(drafted.text)


def _several(run: Session, person: str, tables: list[str], k: int | None) -> None:
    """Draft a release of several tables."""
    from kanon_sql.verbs.init import init_tables

    engine = run.connect(read_only=True, scratch="inline")
    text = init_tables(engine, person, tables, k=k, timeout=run.timeout, report=run.report)
    run.close()
    if run.format == "json":
        print_json(run, {"verb": "init", "table": person, "spec": text})
    else:
        run.echo(text)
