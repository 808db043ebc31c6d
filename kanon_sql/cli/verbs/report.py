"""``report``: the report of a run that was made already."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kanon_sql.cli.complete import directories, one_of, paths
from kanon_sql.cli.inputs import MEMORY, load_spec, need_database, spec_of_several
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.errors import SpecError

if TYPE_CHECKING:
    from kanon_sql.engines import Engine

__all__ = ["report"]


@verb(
    "kanon-sql report spec.yml -d clinic.duckdb -o report.html",
    "kanon-sql report visits_release.manifest.json -o report.html",
    "kanon-sql report run.json > report.html",
    "kanon-sql report run.json --interactive-charts -o report.html",
    "kanon-sql report run.json --pictures figures --picture-format svg",
    formats=None,
    product="report",
)
def report(
    run: Session,
    name: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="The spec of a release, the JSON file of a result or a manifest, or the id of a run.",
            show_default=False,
            autocompletion=paths(".json", ".yml", ".yaml"),
        ),
    ],
    schema: Annotated[
        str | None,
        typer.Option(
            "--schema",
            metavar="SCHEMA",
            show_default=False,
            help="With the id of a run: the schema of the release, if not the default one.",
        ),
    ] = None,
    pictures: Annotated[
        Path | None,
        typer.Option(
            "--pictures",
            metavar="DIRECTORY",
            show_default=False,
            autocompletion=directories,
            help="Write the pictures as files into this directory; the page is written only with --output.",
        ),
    ] = None,
    picture_format: Annotated[
        str | None,
        typer.Option(
            "--picture-format",
            metavar="svg|png",
            show_default=False,
            autocompletion=one_of("svg", "png"),
            help="The format of the pictures; svg if not given.",
        ),
    ] = None,
    interactive: Annotated[
        bool,
        typer.Option(
            "--interactive-charts", help="Draw the charts with a script in the page, with tooltips; adds 0.9 MB."
        ),
    ] = False,
) -> None:
    """Write the report of a run: one HTML file that opens offline.

    Reads the manifest of a spec's release, a manifest file, the JSON output of a command, or,
    by the id of a run, the manifest in the database. Runs no other query. The manifest that
    anonymize writes has the numbers of all pictures, but for rows by label, which need
    --show distributions there; other reports have the pictures that their numbers allow. PNG
    and --interactive-charts need the extra "report". If scripts are off, the page shows its
    pictures instead.
    """
    writes_page = run.writes_output or pictures is None
    if picture_format is not None and pictures is None:
        raise SpecError("--picture-format needs --pictures; add --pictures DIRECTORY")
    if interactive and not writes_page:
        raise SpecError("--interactive-charts needs a page; add --output PATH")
    if picture_format not in (None, "svg", "png"):
        raise SpecError(f"--picture-format: expected svg or png, got {picture_format!r}")
    from kanon_sql.report.related_page import read_related

    data = _data(run, name, schema)
    related = read_related(data, name)
    run.close()
    nothing = f"{name}: this result has no figures to draw; run its command again with -o report.html"
    if related is not None:
        if interactive:
            raise SpecError("--interactive-charts: the page of several tables has its picture without; leave it out")
        drawn = list(related.pictures)
    else:
        from kanon_sql.report.pictures import pictures_of
        from kanon_sql.report.run import read_run

        found = read_run(data, name)
        if interactive:
            from kanon_sql.report.charts import charts_of_run

            if not charts_of_run(found):
                raise SpecError(nothing)
        drawn = list(pictures_of(found).values()) if pictures is not None else []
    if pictures is not None:
        from kanon_sql.report.pictures import write_pictures

        if not drawn:
            raise SpecError(nothing)
        for path in write_pictures(drawn, pictures, picture_format or "svg"):
            run.message(f"picture: {path}")
    if writes_page:
        from kanon_sql.report.html import run_report

        run.echo(related.html if related is not None else run_report(found, interactive=interactive))


def _data(run: Session, name: str, schema: str | None) -> Any:
    """The JSON of a file, or a manifest out of the database."""
    path = Path(name)
    if path.suffix.lower() in (".yml", ".yaml"):
        return _manifest_of_spec(run, path)
    if path.is_file():
        return _json(path)
    if name.endswith(".json") or run.database == MEMORY:
        raise SpecError(f"{name}: no such file; if this is the id of a run, also give the database with -d")
    from kanon_sql.release import published_manifest

    with _opened(run) as engine:
        return published_manifest(engine, name, schema)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        raise SpecError(
            f"{path}: not a readable JSON file; expected the output of --format json, a manifest, or a spec whose name "
            "ends with .yml or .yaml"
        ) from None


def _manifest_of_spec(run: Session, path: Path) -> Any:
    """The manifest of the release that a spec names."""
    from kanon_sql.release import file_manifest, file_of
    from kanon_sql.spec import PERSON

    run.spec = path
    several = spec_of_several(str(path))
    if several is not None:
        release = several.released(PERSON) if several.release is not None else None
        return _manifest_in_database(run, path, release)
    spec = load_spec(path)
    if spec.release_file is not None:
        manifest = file_manifest(file_of(spec))
        if not manifest.is_file():
            raise SpecError(f"{path}: there is no {manifest}, so the release was not published; run anonymize first")
        return _json(manifest)
    return _manifest_in_database(run, path, spec.release)


def _manifest_in_database(run: Session, path: Path, release: tuple[str, ...] | None) -> Any:
    """The manifest of a release that is a table."""
    from kanon_sql.release import manifest_of

    if release is None:
        raise SpecError(f"{path}: the spec has no 'release'; add it, or give the JSON output of a run")
    if run.database == MEMORY:
        raise SpecError(f"{path}: the manifest of its release is in the database; give the database with -d")
    with _opened(run) as engine:
        found = manifest_of(engine, release)
    if found is None:
        raise SpecError(
            f"{path}: no manifest of {'.'.join(release)} is in this database; publish it with anonymize, or give "
            "the JSON output of a run"
        )
    return found


@contextmanager
def _opened(run: Session) -> "Iterator[Engine]":
    """The database, read-only, with a run open."""
    from kanon_sql.verbs.run import running

    need_database(run.database)
    engine = run.connect(read_only=True)
    with running(engine, run.timeout, run.report):
        yield engine
