"""``explore``: a page where one moves the controls and sees what it costs."""

from pathlib import Path
from typing import Annotated

import typer

from kanon_sql.cli.inputs import load_spec, need_database, spec_of_several
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session

__all__ = ["explore"]


@verb(
    "kanon-sql explore spec.yml -d clinic.duckdb",
    "kanon-sql explore spec.yml -d clinic.duckdb --allow-publish",
    "kanon-sql explore --table visits.csv -d clinic.duckdb",
    "kanon-sql explore spec.yml -d clinic.duckdb --port 8700 --no-browser",
    scratch=True,
    formats=None,
    product=None,
)
def explore(
    run: Session,
    spec_file: Annotated[
        Path | None,
        typer.Argument(
            metavar="SPEC", show_default=False, help="The spec to start from; leave it out to start from a table."
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

    The printed address holds a token, so other users of this machine cannot use the page. The
    source is read once; every control then uses the counts. Writes only temporary tables,
    unless --allow-publish is given. Ctrl-C stops the server.
    """
    from kanon_sql.engines import Engine, connect
    from kanon_sql.errors import SpecError
    from kanon_sql.explore import Settings, serve

    if spec_file is not None and table is not None:
        raise SpecError("the spec already names a table; give either a spec or --table")
    if spec_file is not None and spec_of_several(str(spec_file)) is not None:
        raise SpecError(
            f"explore shows one table; for several, kanon-sql plan {spec_file} -o page.html writes a page with what "
            "each loses, and report one of a release"
        )
    need_database(run.database)
    spec = None if spec_file is None else load_spec(spec_file)

    def opened() -> Engine:
        return connect(run.database, read_only=not allow_publish, **run.resources())

    with opened() as engine:  # what is wrong with the connection is said here, not on the page
        name = engine.label
    settings = Settings(name, may_publish=allow_publish, reveals=allow_reveal, table=table)
    serve(opened, spec, settings, port=port, browser=browser, announce=typer.echo)
