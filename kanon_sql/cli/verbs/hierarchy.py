"""``hierarchy``: the lookup tables that a spec's hierarchies become."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kanon_sql.cli.complete import attributes, directories
from kanon_sql.cli.inputs import MEMORY, load_spec, need_database
from kanon_sql.cli.options import SpecFile, listed, named
from kanon_sql.cli.outputs import exit_with, print_output
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.errors import SpecError

__all__ = ["hierarchy"]


class ExportFormat(StrEnum):
    """How ``hierarchy --output`` writes a file."""

    arx = "arx"
    csv = "csv"


@verb(
    "kanon-sql hierarchy spec.yml -d clinic.duckdb",
    "kanon-sql hierarchy spec.yml -d clinic.duckdb --attribute age,zip --reveal 5",
    "kanon-sql hierarchy spec.yml -d clinic.duckdb -o hierarchies",
    "kanon-sql hierarchy spec.yml --values age=0..120 -o ages",
    scratch=True,
    product=None,
)
def hierarchy(
    run: Session,
    spec_file: SpecFile,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--attribute",
            metavar="NAME,...",
            show_default=False,
            callback=named,
            autocompletion=attributes,
            help="The attributes to show; if not given, all that have a hierarchy.",
        ),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--values",
            metavar="NAME=VALUES,...",
            callback=listed,
            show_default=False,
            autocompletion=attributes,
            help="Build these hierarchies without a database, from a range (age=0..120, "
            "born=1950-01-01..1999-12-31), from a file with a value per line (zip=zips.txt), or, with the name "
            "alone, from the values of its tree or hierarchy file.",
        ),
    ] = None,
    reveal: Annotated[
        int,
        typer.Option("--reveal", metavar="N", min=0, help="Show N values per attribute, and N missing ones."),
    ] = 0,
    export: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIRECTORY",
            show_default=False,
            autocompletion=directories,
            help="Write every hierarchy as a file, for ARX and for the spec's file:. The files hold all values.",
        ),
    ] = None,
    export_format: Annotated[
        ExportFormat | None,
        typer.Option(
            "--output-format",
            show_default=False,
            help="arx (the default): value;level 1;...;top. csv: commas and a header, for a table or a dbt seed.",
        ),
    ] = None,
) -> None:
    """Show, validate and export the hierarchies of a spec.

    Builds the lookup tables on a read-only connection and shows for each level how many
    labels the data uses and how many rows the rarest label has. Also shows how many values
    a hierarchy lacks, and whether its levels nest. Shows no values but the labels written in
    the spec, unless --reveal asks for some. Exit code 1: a hierarchy cannot be used.
    """
    from kanon_sql.verbs.hierarchy import hierarchy as run_hierarchy
    from kanon_sql.verbs.hierarchy import values_in_words

    if export_format is not None and export is None:
        raise SpecError("--output-format needs --output; add --output DIRECTORY")
    if values and names:
        raise SpecError("--values already selects the attributes; leave --attribute out")
    if values and run.named_on_the_line("database"):
        raise SpecError("--values uses no database; leave -d out")
    spec = load_spec(spec_file)
    given = dict(map(values_in_words, values)) if values else None
    if given is None and spec.source.table is not None:
        need_database(run.database)
    place = None if given is None else MEMORY
    engine = run.connect(place, read_only=given is None)
    result = run_hierarchy(
        engine,
        spec,
        names or (),
        values=given,
        reveal=reveal,
        export=export,
        style="csv" if export_format is ExportFormat.csv else "arx",
        timeout=run.timeout,
        report=run.report,
    )
    run.close()
    if reveal:
        run.message("warning: --reveal shows values of the data below; do not pass them on")
    print_output(run, result)
    for item in result.hierarchies:
        if item.file is not None:
            run.message(f"hierarchy: {item.file}")
    if any(item.file is not None for item in result.hierarchies):
        run.message("warning: these files hold all values of the data; do not publish them")
    exit_with(result.passed)
