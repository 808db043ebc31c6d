"""``release ledger``: what was published."""

from typing import Annotated

import typer

from kanon_sql.cli.inputs import need_database
from kanon_sql.cli.outputs import print_output
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session

__all__ = ["ledger"]


@verb(
    "kanon-sql release ledger -d clinic.duckdb",
    "kanon-sql release ledger releases -d clinic.duckdb --format json",
    group="release",
)
def ledger(
    run: Session,
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="The ledger's table, as named in the spec.")
    ] = "kanon_sql_ledger",
) -> None:
    """List the releases that a ledger records.

    If a spec names a ledger, anonymize records every release in it, and refuses a release
    that violates a requirement together with earlier ones. Opens the database read-only.
    """
    from kanon_sql.verbs.ledger import ledger as run_ledger

    need_database(run.database)
    engine = run.connect(read_only=True, scratch="inline")
    result = run_ledger(engine, table, timeout=run.timeout, report=run.report)
    run.close()
    print_output(run, result)
