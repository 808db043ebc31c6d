"""``pipeline render``: the SQL of every stage, without a connection."""

import re
from typing import Annotated

import typer

from kanon_sql.cli.complete import levels, one_of
from kanon_sql.cli.inputs import load_spec
from kanon_sql.cli.options import SpecFile, listed, unquoted
from kanon_sql.cli.outputs import print_json
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.errors import SpecError
from kanon_sql.registers import declared_names

__all__ = ["render"]

DIALECTS = declared_names("kanon_sql.sql.dialects")


@verb(
    "kanon-sql pipeline render spec.yml",
    "kanon-sql pipeline render spec.yml --dialect postgres --format json",
    "kanon-sql pipeline render spec.yml --node age=1,zip=2 -o visits.sql",
    group="pipeline",
    database=False,
    product="SQL",
)
def render(
    run: Session,
    spec_file: SpecFile,
    dialect: Annotated[
        str,
        typer.Option(
            "--dialect",
            metavar="NAME",
            autocompletion=one_of(*DIALECTS),
            help=f"The SQL dialect to write: {', '.join(DIALECTS)}. tsql is SQL Server.",
        ),
    ] = "duckdb",
    node: Annotated[
        list[str] | None,
        typer.Option(
            "--node",
            metavar="NAME=LEVEL,...",
            callback=listed,
            show_default=False,
            autocompletion=levels,
            help="The lattice node whose SQL to show: a level for each quasi-identifier.",
        ),
    ] = None,
) -> None:
    """Print the SQL of every stage, without a connection.

    Shows the statements in the dialect of your database: lookups, frequency set, the query
    for a lattice node, the release and its verification. Executes nothing.
    """
    from kanon_sql.verbs.render import render as run_render

    levels = dict(_level(text) for text in node) if node else None
    rendered = run_render(load_spec(spec_file), dialect, levels)
    run.close()
    if run.format == "json":
        print_json(run, rendered.to_dict())
    else:
        run.echo(rendered.text)


def _level(text: str) -> tuple[str, int]:
    name, _, level = text.rpartition("=")
    if not name or not re.fullmatch(r"[0-9]{1,6}", level):
        raise SpecError("--node: expected QUASI_IDENTIFIER=LEVEL, such as --node age=1")
    return unquoted(name), int(level)
