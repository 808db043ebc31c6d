"""``ledger``: what was published."""

from typing import Annotated

import typer

from kanon_sql.cli.given import MEMORY, need_database
from kanon_sql.cli.options import Database, Format, MemoryLimit, OutputFormat, Profile, Quiet, Threads, Timeout, Verbose
from kanon_sql.cli.program import examples, program
from kanon_sql.cli.session import session
from kanon_sql.cli.written import print_found

__all__ = ["ledger"]


@program.command(
    epilog=examples(
        "kanon-sql ledger -d clinic.duckdb",
        "kanon-sql ledger releases -d clinic.duckdb --format json",
    )
)
def ledger(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="The ledger's table, as the spec names it.")
    ] = "kanon_sql_ledger",
    database: Database = MEMORY,
    profile: Profile = None,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """List what was published, as a ledger records it.

    Specs that name a ledger enter every release into it, and anonymize refuses a release
    that together with earlier ones breaks a requirement. Opens the database read-only.
    """
    with session(quiet=quiet, verbose=verbose) as run:
        from kanon_sql.verbs.ledger import ledger as run_ledger

        need_database(database)
        engine = run.connect(database, read_only=True, threads=threads, memory_limit=memory_limit, scratch="inline")
        result = run_ledger(engine, table, timeout=timeout, report=run.report)
        run.close()
        print_found(result, output)
