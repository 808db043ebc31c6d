"""The verbs that other programs build on."""

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from kanon_sql.cli.complete import directories, levels, one_of
from kanon_sql.cli.inputs import load_spec
from kanon_sql.cli.options import (
    LIMITS,
    CountRows,
    SpecFile,
    listed,
    table_option,
    unquoted,
)
from kanon_sql.cli.outputs import print_json, print_output
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.errors import ExitCode, SpecError
from kanon_sql.registers import POLICY_DIALECTS, declared_names

__all__ = ["dbt", "estimate", "functions", "policies", "render", "schema", "sqlmesh"]

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


@verb("kanon-sql pipeline estimate spec.yml -d clinic.duckdb", group="pipeline", scratch=True)
def estimate(run: Session, spec_file: SpecFile) -> None:
    """Show the database's estimate of the cost of reading the source.

    Reads no row: asks for the query plan of the first statement of plan and anonymize, and
    shows the rows and bytes that the database expects. To limit a run, use their --set
    max_bytes=SIZE.
    """
    from kanon_sql.verbs.estimate import estimate as run_estimate

    spec = load_spec(spec_file)
    engine = run.connect(read_only=True)
    found = run_estimate(engine, spec, timeout=run.timeout)
    run.close()
    print_output(run, found)


@verb(
    "kanon-sql pipeline dbt spec.yml -d clinic.duckdb -o .",
    "kanon-sql pipeline dbt spec.yml -d clinic.duckdb --source \"ref('visits')\"",
    group="pipeline",
    scratch=True,
    product=None,
    keys=LIMITS,
)
def dbt(
    run: Session,
    spec_file: SpecFile,
    project: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="DIRECTORY",
            autocompletion=directories,
            help="The dbt project, where dbt_project.yml is.",
        ),
    ] = Path(),
    source: Annotated[
        str | None,
        typer.Option(
            "--source",
            metavar="EXPRESSION",
            show_default=False,
            help="The source's name in dbt: ref('model') or source('name', 'table'). If not given, it is declared as "
            "a source.",
        ),
    ] = None,
) -> None:
    """Write a release into a dbt project: models, seeds and tests.

    Searches as plan does, on a read-only connection to the database that dbt builds in,
    and writes the chosen generalization as models. "dbt build" then makes the release and
    publishes it only while it satisfies the requirements. The project needs the dbt
    package kanon_sql. Exit code 1: no generalization that satisfies the requirements was
    found, and nothing was written.
    """
    from kanon_sql.spec import Spec
    from kanon_sql.verbs.dbt import dbt as run_dbt

    spec = Spec.load(spec_file)
    engine = run.connect(read_only=True)
    result = run_dbt(engine, spec, project, source=source, timeout=run.timeout, report=run.report, budget=run.budget())
    run.close()
    if run.format == "json":
        print_json(run, result.to_dict())
    else:
        print_output(run, result.plan)
        for path in result.files:
            run.echo(f"wrote {path}")
    if result.files:
        run.message(f"next: dbt build --select +{'.'.join(spec.release or ())}")
    raise typer.Exit(int(ExitCode.PASS if result.plan.passed else ExitCode.FAIL))


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
        table_option("A table with the columns of the audited model"),
    ] = None,
    rows: CountRows = False,
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


@verb(
    "kanon-sql pipeline functions spec.yml -d clinic.duckdb -o check.sql",
    "kanon-sql pipeline functions spec.yml -d clinic.duckdb --table visits --rows",
    group="pipeline",
    formats=None,
    product="SQL",
)
def functions(
    run: Session,
    spec_file: SpecFile,
    table: Annotated[
        str | None,
        table_option("The table that the function judges"),
    ] = None,
    rows: CountRows = False,
) -> None:
    """Print a function that checks a table inside the database.

    Run the script in the database. Then SELECT * FROM kanon_check_TABLE() returns a row for
    each requirement: what was asked and achieved, the violating classes and rows, a verdict.
    Asks the database for column types and reads no row.
    """
    from kanon_sql.verbs.functions import check_function

    spec = load_spec(spec_file)
    engine = run.connect(read_only=True)
    text = check_function(engine, spec, table, count_rows=rows, timeout=run.timeout)
    run.close()
    run.echo(text)


@verb(
    "kanon-sql pipeline policies spec.yml --dialect postgres -o policies.sql",
    "kanon-sql pipeline policies spec.yml --dialect bigquery --role group:a@b.org",
    group="pipeline",
    database=False,
    formats=None,
    product="SQL",
)
def policies(
    run: Session,
    spec_file: SpecFile,
    dialect: Annotated[
        str,
        typer.Option(
            "--dialect",
            metavar="NAME",
            autocompletion=one_of(*POLICY_DIALECTS),
            help=f"The database to write for: {', '.join(POLICY_DIALECTS)}.",
        ),
    ],
    role: Annotated[
        str,
        typer.Option(
            "--role",
            metavar="ROLE",
            help="The role that may read the release and not the source; on BigQuery a principal: group:EMAIL.",
        ),
    ] = "analyst",
    anonymizer: Annotated[
        bool,
        typer.Option("--anonymizer", help="Also write security labels for the extension PostgreSQL Anonymizer (anon)."),
    ] = False,
) -> None:
    """Print grants and policies that keep a role from the source.

    The role may read the release. Masks, row filters and minimum group sizes are written
    where the database has them; a comment on each says what it enforces and what it does not.
    Executes nothing.
    """
    from kanon_sql.verbs.policies import policies as write_policies

    text = write_policies(load_spec(spec_file), dialect, role, anonymizer=anonymizer)
    run.close()
    run.echo(text)


SPECS = ("spec", "table-spec", "positions-spec", "perturbed-spec", "tables-spec")

RESULTS = {
    "result": "result_schema",
    "audit": "audit_schema",
    "risk": "risk_schema",
    "compare": "comparison_schema",
    "evidence": "evidence_schema",
    "certificate": "certificate_schema",
    "table": "tabulation_schema",
    "positions": "cloak_schema",
    "perturbed": "perturbation_schema",
    "parties": "parties_schema",
    "tables": "relational_schema",
    "tables-audit": "relational_audit_schema",
    "tables-compare": "relational_comparison_schema",
}
"""Results, each with the function of :mod:`kanon_sql.report.json` that has its schema."""


@verb(
    "kanon-sql pipeline schema > spec.schema.json",
    "kanon-sql pipeline schema result",
    "kanon-sql pipeline schema table-spec",
    group="pipeline",
    database=False,
    formats=None,
    product="schema",
)
def schema(
    run: Session,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            autocompletion=one_of(*SPECS, *RESULTS),
            help=f"A spec ({', '.join(SPECS)}), or the JSON output of a command ({', '.join(RESULTS)}; "
            "result is that of plan, anonymize, check, release refresh and release apply).",
        ),
    ] = "spec",
) -> None:
    """Print the JSON Schema of a spec, or of a result.

    With it, an editor can check a spec while you write it, and a program can check the
    results that it reads.
    """
    if name in RESULTS:
        from kanon_sql.report import json

        print_json(run, getattr(json, RESULTS[name])())
    elif name in SPECS:
        from kanon_sql.spec import CloakSpec, PerturbSpec, RelationalSpec, Spec, TableSpec

        kinds = (Spec, TableSpec, CloakSpec, PerturbSpec, RelationalSpec)
        classes: dict[str, Any] = dict(zip(SPECS, kinds, strict=True))
        print_json(run, classes[name].json_schema())
    else:
        raise SpecError(f"{name!r}: unknown schema; expected one of {', '.join((*SPECS, *RESULTS))}")
