"""``explore``: a page where one moves the controls and sees what it costs."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from kanon_sql.cli.inputs import load_spec, need_database, spec_of_several
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session

__all__ = ["explore"]


@verb(
    "kanon-sql explore spec.yml -d clinic.duckdb",
    "kanon-sql explore strict.yml lax.yml -d clinic.duckdb",
    "kanon-sql explore spec.yml -d clinic.duckdb --allow-publish",
    "kanon-sql explore --table visits.csv -d clinic.duckdb",
    "kanon-sql explore spec.yml -d clinic.duckdb --port 8700 --no-browser",
    scratch=True,
    formats=None,
    product=None,
)
def explore(
    run: Session,
    spec_files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="SPEC",
            show_default=False,
            help="The spec to start from, and others to compare with it; none, to start from a table.",
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            "--table", metavar="TABLE", show_default=False, help="Without a spec: the table, or a Parquet or CSV file."
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            metavar="PORT",
            min=1,
            max=65535,
            show_default=False,
            help="The port, on this machine only; if not given, 8642 or a free one.",
        ),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser, or just print its address.")
    ] = True,
    allow_publish: Annotated[
        bool,
        typer.Option(
            "--allow-publish",
            help="Let the page publish and certify the release; otherwise the database is opened read-only.",
        ),
    ] = False,
    allow_reveal: Annotated[
        bool,
        typer.Option(
            "--allow-reveal", help="Let previews of hierarchies show values of the table, even of single rows."
        ),
    ] = False,
) -> None:
    """Open a page in the browser that shows what k, limits and levels cost.

    A spec of several tables opens the page of its plan, without controls.

    The printed address holds a token, so other users of this machine cannot use the page. The
    source is read once; every control then uses the counts. Writes only temporary tables,
    unless --allow-publish is given. Ctrl-C stops the server.
    """
    from kanon_sql.engines import Engine, connect
    from kanon_sql.errors import SpecError
    from kanon_sql.explore import MOST_CANDIDATES, Settings, serve
    from kanon_sql.spec import RelationalSpec

    files = spec_files or []
    if files and table is not None:
        raise SpecError("the spec already names a table; give either a spec or --table")
    if len(files) > MOST_CANDIDATES:
        raise SpecError(f"{len(files)} specs were given; the page compares at most {MOST_CANDIDATES}")
    related = [path for path in files if spec_of_several(str(path)) is not None]
    if related and (len(files) > 1 or allow_publish):
        what = "compares specs of one table" if len(files) > 1 else "publishes releases of one table"
        verb = "compare" if len(files) > 1 else "anonymize"
        raise SpecError(f"{related[0]} is a spec of several tables, and the page {what}; use kanon-sql {verb}")
    need_database(run.database)
    specs = [load_spec(path) for path in files if path not in related]

    def opened() -> Engine:
        return connect(run.database, read_only=not allow_publish, **run.resources())

    with opened() as engine:  # what is wrong with the connection is said here, not on the page
        name = engine.label
    several = partial(RelationalSpec.load, related[0]) if related else None
    settings = Settings(name, may_publish=allow_publish, reveals=allow_reveal, table=table, several=several)
    spec = specs[0] if specs else None
    kept = dict(zip(_names_of(files), specs, strict=True)) if len(specs) > 1 else None
    serve(opened, spec, settings, port=port, candidates=kept, browser=browser, announce=typer.echo)


def _names_of(files: list[Path]) -> list[str]:
    """What candidates are called: the name of the file, with a number where several files have it."""
    names: list[str] = []
    for path in files:
        name = found = "".join(char if char.isprintable() else "?" for char in path.stem)[:50].strip() or "spec"
        while found.casefold() in {other.casefold() for other in names}:
            found = f"{name} ({len(names) + 1})"
        names.append(found)
    return names
