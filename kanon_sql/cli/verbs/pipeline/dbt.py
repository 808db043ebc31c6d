"""``pipeline dbt``: a release as part of a dbt project."""

from pathlib import Path
from typing import Annotated

import typer

from kanon_sql.cli.complete import directories
from kanon_sql.cli.options import LIMITS, SpecFile
from kanon_sql.cli.outputs import print_json, print_output
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.errors import ExitCode

__all__ = ["dbt"]


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
