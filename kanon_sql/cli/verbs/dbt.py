"""``dbt``: a release as part of a dbt project."""

from pathlib import Path
from typing import Annotated

import typer

from kanon_sql.cli.complete import directories
from kanon_sql.cli.given import MEMORY
from kanon_sql.cli.options import (
    Database,
    Format,
    MaxSeconds,
    MaxStatements,
    MemoryLimit,
    OutputFormat,
    Profile,
    Quiet,
    ScratchMode,
    SpecFile,
    Threads,
    Timeout,
    Verbose,
)
from kanon_sql.cli.program import examples, program
from kanon_sql.cli.session import session
from kanon_sql.cli.written import print_found, print_json
from kanon_sql.errors import ExitCode

__all__ = ["dbt"]


@program.command(
    epilog=examples(
        "kanon-sql dbt spec.yml -d clinic.duckdb --project .",
        "kanon-sql dbt spec.yml -d clinic.duckdb --source \"ref('visits')\"",
    )
)
def dbt(
    spec_file: SpecFile,
    database: Database = MEMORY,
    profile: Profile = None,
    project: Annotated[
        Path,
        typer.Option(
            "--project",
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
            help="How dbt names the source: ref('model') or source('name', 'table'). "
            "If not given, it is declared as a source.",
        ),
    ] = None,
    max_seconds: MaxSeconds = None,
    max_statements: MaxStatements = None,
    scratch: ScratchMode = None,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """Write a release into a dbt project: models, seeds and tests.

    Searches as plan does, on a read-only connection to the database that dbt builds in,
    and writes the chosen generalization as models. "dbt build" then makes the release and
    publishes it only while it satisfies the requirements. The project needs the dbt
    package kanon_sql. Exit code 1 says that no generalization that meets the requirements
    was found: nothing was written.
    """
    with session(quiet=quiet, verbose=verbose, spec=spec_file) as run:
        from kanon_sql.evaluate import Budget
        from kanon_sql.spec import Spec
        from kanon_sql.verbs.dbt import dbt as run_dbt

        spec = Spec.load(spec_file)
        engine = run.connect(database, read_only=True, threads=threads, memory_limit=memory_limit, scratch=scratch)
        budget = Budget(max_seconds, max_statements)
        result = run_dbt(engine, spec, project, source=source, timeout=timeout, report=run.report, budget=budget)
        run.close()
        if output is OutputFormat.json:
            print_json(result.to_dict())
        else:
            print_found(result.plan, output)
            for path in result.files:
                typer.echo(f"wrote {path}")
        if result.files:
            run.message(f"next: dbt build --select +{'.'.join(spec.release or ())}")
        raise typer.Exit(int(ExitCode.PASS if result.plan.passed else ExitCode.FAIL))
