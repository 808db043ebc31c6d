"""``publish positions``: publish positions and times, each row as fine as k people together allow."""

from typing import Annotated

import typer

from kanon_sql.cli.given import MEMORY, load_cloak_spec, need_database
from kanon_sql.cli.options import FailOnWarning, SpecFile
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.cli.written import exit_with, print_found
from kanon_sql.errors import SpecError

__all__ = ["positions"]


@verb(
    "kanon-sql publish positions positions.yml -d clinic.duckdb",
    "kanon-sql publish positions positions.yml -d clinic.duckdb --preview",
    "kanon-sql publish positions positions.yml -d clinic.duckdb --format json -q",
    group="publish",
    scratch=True,
)
def positions(
    run: Session,
    spec_file: SpecFile,
    preview: Annotated[
        bool, typer.Option("--preview", help="Publish nothing, although the spec names a release.")
    ] = False,
    fail_on_warning: FailOnWarning = False,
) -> None:
    """Publish positions that k people share, or publish nothing.

    The spec is a positions spec: source, unit, position, time and k (kanon-sql pipeline
    schema positions-spec). Every row gets the finest cell of a quad-tree and slice of time that
    at least k people's rows are released with. Patterns of movement (LBQIDs) that the
    spec names must be shared by k people too. Without a release in the spec the result
    is only shown. Exit code 1 says that too many rows would be left out, that a pattern
    exposes a person, or that a warning is an error: nothing was published.
    """
    from kanon_sql.verbs.cloak import cloak as run_cloak

    spec = load_cloak_spec(spec_file)
    publishes = spec.release is not None and not preview
    if publishes and run.database == MEMORY:
        raise SpecError("a release in :memory: would vanish with this process; give a database with -d FILE")
    if publishes:
        need_database(run.database)
    engine = run.connect(read_only=not publishes)
    result = run_cloak(
        engine, spec, preview=preview, timeout=run.timeout, report=run.report,
        fail_on_warning=fail_on_warning,
    )  # fmt: skip
    run.close()
    print_found(run, result)
    exit_with(result.passed)
