"""``publish table``: publish a table of counts or sums in which no sensitive cell can be worked out."""

from typing import Annotated

import typer

from kanon_sql.cli.given import MEMORY, load_table_spec, need_database
from kanon_sql.cli.options import FailOnWarning, SpecFile
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.cli.written import exit_with, print_found
from kanon_sql.errors import SpecError

__all__ = ["table"]


@verb(
    "kanon-sql publish table table.yml -d clinic.duckdb",
    "kanon-sql publish table table.yml -d clinic.duckdb --preview",
    "kanon-sql publish table table.yml -d clinic.duckdb --format json -q",
    group="publish",
    scratch=True,
)
def table(
    run: Session,
    spec_file: SpecFile,
    preview: Annotated[
        bool, typer.Option("--preview", help="Publish nothing, although the spec names a release.")
    ] = False,
    fail_on_warning: FailOnWarning = False,
) -> None:
    """Publish a table of counts or sums, or publish nothing.

    The spec is a table spec: source, dimensions, rules and protection (kanon-sql pipeline
    schema table-spec). Sensitive cells are found by a threshold, (n,k) dominance, p-percent or
    pq, and suppressed together with as many others as it takes, or rounded, and audited
    against all that the margins tell; or categories are collapsed until no cell is
    sensitive. Without a release in the spec the table is only shown. Exit code 1 says that
    some cell could not be protected, or that a warning is an error: nothing was published.
    """
    from kanon_sql.verbs.tabulate import tabulate as run_tabulate

    spec = load_table_spec(spec_file)
    publishes = spec.release is not None and not preview
    if publishes and run.database == MEMORY:
        raise SpecError("a table in :memory: would vanish with this process; give a database with -d FILE")
    if publishes:
        need_database(run.database)
    engine = run.connect(read_only=not publishes)
    result = run_tabulate(
        engine, spec, preview=preview, timeout=run.timeout, report=run.report, fail_on_warning=fail_on_warning
    )
    run.close()
    print_found(run, result)
    exit_with(result.passed)
