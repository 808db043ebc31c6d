"""``pipeline sqlmesh``: the requirements of a spec as audits of a SQLMesh project."""

from typing import Annotated

import typer

from kanon_sql.cli.inputs import load_spec
from kanon_sql.cli.options import SpecFile
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session

__all__ = ["sqlmesh"]


@verb(
    "kanon-sql pipeline sqlmesh spec.yml -d clinic.duckdb -o visits_release.sql",
    "kanon-sql pipeline sqlmesh spec.yml -d clinic.duckdb --table visits --rows",
    group="pipeline",
    formats=None,
    product="SQL",
)
def sqlmesh(
    run: Session,
    spec_file: SpecFile,
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            metavar="TABLE",
            show_default=False,
            help="A table with the columns of the audited model; if not given, the spec's release.",
        ),
    ] = None,
    rows: Annotated[
        bool,
        typer.Option(
            "--rows", help="Count rows instead of persons, although the spec names a unit; this gives upper bounds."
        ),
    ] = False,
) -> None:
    """Print the requirements of a spec as SQLMesh audits.

    Each audit is a query that returns the classes that violate a requirement, as check finds
    them: sizes, no values. Asks the database for the table's column types and reads no row.
    Write the audits again when the spec or a type changes.
    """
    from kanon_sql.verbs.sqlmesh import audits

    spec = load_spec(spec_file)
    engine = run.connect(read_only=True)
    text = audits(engine, spec, table, count_rows=rows, timeout=run.timeout)
    run.close()
    run.echo(text)
