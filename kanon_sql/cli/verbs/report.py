"""``report``: the report of a run that was made already."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from kanon_sql.cli.complete import directories, one_of, paths
from kanon_sql.cli.given import MEMORY, need_database
from kanon_sql.cli.options import Database, Profile, Quiet, Verbose
from kanon_sql.cli.program import examples, program
from kanon_sql.cli.session import Session, session
from kanon_sql.cli.written import refuse_report_path, write_report
from kanon_sql.errors import SpecError

__all__ = ["report"]


@program.command(
    epilog=examples(
        "kanon-sql anonymize spec.yml -d clinic.duckdb --report report.html",
        "kanon-sql report run.json > report.html",
        "kanon-sql report visits_release.manifest.json -o report.html",
        "kanon-sql report run.json --pictures figures --picture-format svg",
    )
)
def report(
    run_name: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="The JSON file of a result or a manifest, or the id of a run.",
            show_default=False,
            autocompletion=paths(".json"),
        ),
    ],
    database: Database = MEMORY,
    profile: Profile = None,
    schema: Annotated[
        str | None,
        typer.Option(
            "--schema", metavar="SCHEMA", show_default=False, help="Where the release is, if not the default schema."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="PATH", show_default=False, help="Where to write; standard output if not given."
        ),
    ] = None,
    pictures: Annotated[
        Path | None,
        typer.Option(
            "--pictures",
            metavar="DIRECTORY",
            show_default=False,
            autocompletion=directories,
            help="Write the pictures as files here instead.",
        ),
    ] = None,
    picture_format: Annotated[
        str | None,
        typer.Option(
            "--picture-format",
            metavar="svg|png",
            show_default=False,
            autocompletion=one_of("svg", "png"),
            help="svg if not given.",
        ),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Write the report of a run: one HTML file that opens offline.

    Reads the JSON that a verb printed with --format json, or the manifest of a published
    release (a file, or the run's id and the database), and asks the database nothing more.
    A run made with --report has every picture; others have those whose numbers are there.
    With --pictures, the pictures are written as files; PNG needs the extra "report".
    """
    with session(quiet=quiet, verbose=verbose) as run:
        if picture_format is not None and pictures is None:
            raise SpecError("--picture-format is for --pictures; say where to write them with --pictures DIRECTORY")
        if picture_format not in (None, "svg", "png"):
            raise SpecError(f"--picture-format: expected svg or png, got {picture_format!r}")
        refuse_report_path(output, "--output")
        from kanon_sql.report.run import read_run

        found = read_run(_data(run, run_name, database, schema), run_name)
        run.close()
        if pictures is not None:
            from kanon_sql.report.pictures import pictures_of, write_pictures

            drawn = pictures_of(found)
            if not drawn:
                raise SpecError(f"{run_name}: the run has no numbers to draw; run its verb again with --report")
            for path in write_pictures(drawn.values(), pictures, picture_format or "svg"):
                run.message(f"picture: {path}")
        if output is not None or pictures is None:
            from kanon_sql.report.html import run_report

            write_report(run, output, run_report(found))


def _data(run: Session, name: str, database: str, schema: str | None) -> Any:
    """The JSON of a file, or a manifest out of the database."""
    path = Path(name)
    if path.is_file():
        try:
            return json.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            raise SpecError(
                f"{name}: not a readable file of JSON; expected what --format json prints, or a manifest"
            ) from None
    if name.endswith(".json") or database == MEMORY:
        raise SpecError(f"{name}: no such file; for the id of a run, also name the database with -d")
    from kanon_sql.engines import Deadline
    from kanon_sql.release import published_manifest

    need_database(database)
    engine = run.connect(database, read_only=True)
    with engine.run(Deadline(None)):
        return published_manifest(engine, name, schema)
