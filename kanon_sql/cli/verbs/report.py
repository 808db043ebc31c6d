"""``report``: the report of a run that was made already."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from kanon_sql.cli.complete import directories, one_of, paths
from kanon_sql.cli.given import MEMORY, load_spec, need_database
from kanon_sql.cli.options import Database, Profile, Quiet, Timeout, Verbose
from kanon_sql.cli.program import examples, program
from kanon_sql.cli.session import Session, session
from kanon_sql.cli.written import exit_with, refuse_report_path, write_report
from kanon_sql.errors import SpecError

__all__ = ["report"]


@program.command(
    epilog=examples(
        "kanon-sql anonymize spec.yml -d clinic.duckdb --report report.html",
        "kanon-sql report run.json > report.html",
        "kanon-sql report visits_release.manifest.json -o report.html",
        "kanon-sql report run.json --interactive-charts -o report.html",
        "kanon-sql report run.json --pictures figures --picture-format svg",
        "kanon-sql report spec.yml --evidence -d clinic.duckdb -o evidence.html",
    )
)
def report(
    run_name: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="The JSON file of a result or a manifest, or the id of a run; with --evidence a spec.",
            show_default=False,
            autocompletion=paths(".json", ".yml", ".yaml"),
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
    evidence: Annotated[
        bool,
        typer.Option("--evidence", help="Measure the release of a spec, and write a compliance report for sign-off."),
    ] = False,
    table: Annotated[
        str | None,
        typer.Option(
            "--table", metavar="TABLE", show_default=False, help="With --evidence: the spec's release if not given."
        ),
    ] = None,
    external: Annotated[
        str | None,
        typer.Option(
            "--external", metavar="TABLE", show_default=False, help="With --evidence: a table that an attacker has."
        ),
    ] = None,
    external_is_sample: Annotated[
        bool,
        typer.Option("--external-is-sample", help="It is a random sample of the population that an attacker searches."),
    ] = False,
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on", metavar="COLUMN", show_default=False, help="A column to link on, once each; all shared by default."
        ),
    ] = None,
    earlier: Annotated[
        list[str] | None,
        typer.Option(
            "--earlier",
            metavar="TABLE",
            show_default=False,
            help="With --evidence: another release of the same people, once each.",
        ),
    ] = None,
    attacks: Annotated[
        list[str] | None,
        typer.Option(
            "--attack",
            metavar="NAME",
            show_default=False,
            help="With --evidence: an attack that audit runs only on request, once each.",
        ),
    ] = None,
    population: Annotated[
        str | None,
        typer.Option(
            "--population",
            metavar="TABLE",
            show_default=False,
            help="With --evidence: a population table, in the form of the release.",
        ),
    ] = None,
    sampling_fraction: Annotated[
        float | None,
        typer.Option(
            "--sampling-fraction",
            metavar="SHARE",
            show_default=False,
            help="With --evidence: the release's share of the population.",
        ),
    ] = None,
    zip_population: Annotated[
        str | None,
        typer.Option(
            "--zip-population",
            metavar="TABLE",
            show_default=False,
            help="With --evidence: a table of ZIP code populations, with the release's column of ZIP codes.",
        ),
    ] = None,
    zip_people: Annotated[
        str | None,
        typer.Option(
            "--zip-people",
            metavar="COLUMN",
            show_default=False,
            help="Its column of how many people; each row is a person if not given.",
        ),
    ] = None,
    output_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="html|markdown|json",
            show_default=False,
            autocompletion=one_of("html", "markdown", "json"),
            help="With --evidence: html if not given.",
        ),
    ] = None,
    timeout: Timeout = None,
    interactive: Annotated[
        bool,
        typer.Option(
            "--interactive-charts", help="Draw the charts by a script in the page, with tooltips; it adds 0.9 MB."
        ),
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Write the report of a run: one HTML file that opens offline.

    Reads the JSON that a verb printed with --format json, or the manifest of a published
    release (a file, or the run's id and the database), and asks the database nothing more.
    A run made with --report has every picture; others have those whose numbers are there.
    With --pictures, the pictures are written as files; PNG needs the extra "report", and so do
    --interactive-charts. Where scripts are off, the page shows its pictures instead.

    With --evidence, RUN is a spec: its release is checked, attacked and measured, read-only, and
    the figures are written in the terms of those who ask for them (WP216, HIPAA Safe Harbor,
    EMA policy 0070, ISO/IEC 27559), to print and to sign. Exit code 1 says that a requirement
    is not met, or that an attack goes beyond them.
    """
    options = {
        "table": table,
        "external": external,
        "external_is_sample": external_is_sample,
        "on": on or (),
        "earlier": earlier or (),
        "attacks": attacks or (),
        "population": population,
        "sampling_fraction": sampling_fraction,
        "zip_population": zip_population,
        "zip_people": zip_people,
        "timeout": timeout,
    }
    if evidence:
        others = {"--schema": schema, "--pictures": pictures, "--picture-format": picture_format}
        _write_evidence(Path(run_name), database, options, others, output, output_format, quiet, verbose)
        return
    with session(quiet=quiet, verbose=verbose) as run:
        given = {**options, "format": output_format}
        misplaced = next((name for name, value in given.items() if value not in (None, False, ())), None)
        if misplaced is not None:
            raise SpecError(f"--{_WRITTEN.get(misplaced, misplaced.replace('_', '-'))}: only for --evidence; give both")
        if picture_format is not None and pictures is None:
            raise SpecError("--picture-format is for --pictures; say where to write them with --pictures DIRECTORY")
        if interactive and pictures is not None and output is None:
            raise SpecError("--interactive-charts is for a page; name it with --output PATH beside --pictures")
        if picture_format not in (None, "svg", "png"):
            raise SpecError(f"--picture-format: expected svg or png, got {picture_format!r}")
        refuse_report_path(output, "--output")
        from kanon_sql.report.run import read_run

        found = read_run(_data(run, run_name, database, schema), run_name)
        run.close()
        if interactive:
            from kanon_sql.report.charts import charts_of_run

            if not charts_of_run(found):
                raise SpecError(f"{run_name}: the run has no numbers to draw; run its verb again with --report")
        if pictures is not None:
            from kanon_sql.report.pictures import pictures_of, write_pictures

            drawn = pictures_of(found)
            if not drawn:
                raise SpecError(f"{run_name}: the run has no numbers to draw; run its verb again with --report")
            for path in write_pictures(drawn.values(), pictures, picture_format or "svg"):
                run.message(f"picture: {path}")
        if output is not None or pictures is None:
            from kanon_sql.report.html import run_report

            write_report(run, output, run_report(found, interactive=interactive))


_WRITTEN = {"attacks": "attack"}
"""Options whose name on the command line is not their own."""


def _write_evidence(
    spec_file: Path,
    database: str,
    options: dict[str, Any],
    others: dict[str, Any],
    output: Path | None,
    form: str | None,
    quiet: bool,
    verbose: bool,
) -> None:
    """Measure a release and write the evidence; the exit code is the verdict."""
    with session(quiet=quiet, verbose=verbose, spec=spec_file) as run:
        from kanon_sql.report.evidence import FORMS, evidence_report
        from kanon_sql.verbs.evidence import evidence

        misplaced = next((name for name, value in others.items() if value is not None), None)
        if misplaced is not None:
            raise SpecError(f"{misplaced}: evidence has none; leave it out, or leave out --evidence")
        if form not in (None, *FORMS):
            raise SpecError(f"--format: expected {', '.join(FORMS[:-1])} or {FORMS[-1]}, got {form!r}")
        refuse_report_path(output, "--output")
        spec = load_spec(spec_file)
        engine = run.connect(database, read_only=True, scratch="inline")
        table = options.pop("table")
        found = evidence(engine, spec, table, **options, report=run.report)
        run.close()
        write_report(run, output, evidence_report(found, form or "html"))  # type: ignore[arg-type]
        exit_with(found.passed)


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
