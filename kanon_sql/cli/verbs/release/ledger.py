"""``release ledger``: what was published."""

from typing import Annotated

import typer

from kanon_sql.cli.given import need_database
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.cli.written import print_found

__all__ = ["ledger"]


@verb(
    "kanon-sql release ledger -d clinic.duckdb",
    "kanon-sql release ledger releases -d clinic.duckdb --format json",
    group="release",
)
def ledger(
    run: Session,
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="The ledger's table, as the spec names it.")
    ] = "kanon_sql_ledger",
) -> None:
    """List what was published, as a ledger records it.

    Specs that name a ledger enter every release into it, and anonymize refuses a release
    that together with earlier ones breaks a requirement. Opens the database read-only.
    """
    from kanon_sql.verbs.ledger import ledger as run_ledger

    need_database(run.database)
    engine = run.connect(read_only=True, scratch="inline")
    result = run_ledger(engine, table, timeout=run.timeout, report=run.report)
    run.close()
    print_found(run, result)
