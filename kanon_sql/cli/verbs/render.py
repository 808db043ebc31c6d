"""``render``: the SQL of every stage, without a connection."""

import re
from typing import Annotated

import typer

from kanon_sql.cli.complete import DIALECTS, levels, one_of
from kanon_sql.cli.given import load_spec
from kanon_sql.cli.options import Format, OutputFormat, Quiet, SpecFile, Verbose
from kanon_sql.cli.program import examples, program
from kanon_sql.cli.session import session
from kanon_sql.cli.written import print_json
from kanon_sql.errors import SpecError

__all__ = ["render"]


@program.command(
    epilog=examples(
        "kanon-sql render spec.yml",
        "kanon-sql render spec.yml --dialect postgres --format json",
        "kanon-sql render spec.yml --node age=1 --node zip=2",
    )
)
def render(
    spec_file: SpecFile,
    dialect: Annotated[
        str,
        typer.Option(
            "--dialect",
            metavar="NAME",
            autocompletion=one_of(*DIALECTS),
            help="The SQL dialect to write: bigquery, clickhouse, databricks, duckdb, mariadb, mysql, oracle, "
            "postgres, redshift, snowflake, spark, sqlite, trino, or tsql (SQL Server).",
        ),
    ] = "duckdb",
    node: Annotated[
        list[str] | None,
        typer.Option(
            "--node",
            metavar="NAME=LEVEL",
            show_default=False,
            autocompletion=levels,
            help="A level of the node whose SQL to show; once per quasi-identifier.",
        ),
    ] = None,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Print the SQL of every stage, without a connection.

    Shows what would run, in the dialect of your database: lookups, frequency set, the
    query for a lattice node, the release and its verification. Nothing is executed.
    """
    with session(quiet=quiet, verbose=verbose, spec=spec_file) as run:
        from kanon_sql.verbs.render import render as run_render

        levels = dict(_level(text) for text in node) if node else None
        rendered = run_render(load_spec(spec_file), dialect, levels)
        run.close()
        if output is OutputFormat.json:
            print_json(rendered.to_dict())
        else:
            typer.echo(rendered.text, nl=not rendered.text.endswith("\n"))


def _level(text: str) -> tuple[str, int]:
    name, _, level = text.rpartition("=")
    if not name or not re.fullmatch(r"[0-9]{1,6}", level):
        raise SpecError("--node: expected a quasi-identifier and its level, such as --node age=1")
    return name, int(level)
