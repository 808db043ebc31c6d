"""``doctor``: what a connection may do."""

from typing import Annotated

import typer

from kanon_sql.cli.given import MEMORY, need_database
from kanon_sql.cli.options import Database, Format, MemoryLimit, OutputFormat, Quiet, Threads, Timeout, Verbose
from kanon_sql.cli.program import examples, program
from kanon_sql.cli.session import session
from kanon_sql.cli.written import exit_with, print_json, print_text

__all__ = ["doctor"]


@program.command(
    epilog=examples(
        "kanon-sql doctor -d clinic.duckdb",
        "kanon-sql doctor -d clinic.duckdb --read-only --format json",
    )
)
def doctor(
    database: Database = MEMORY,
    read_only: Annotated[bool, typer.Option("--read-only", help="Open the database read-only.")] = False,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """Say what this connection may do, and which verbs would work.

    Tries out what it reports (temporary tables, tables, rolling back, files) and leaves
    nothing behind. Exit code 1 says that anonymize would not work, unless you asked for
    a read-only connection.
    """
    with session(quiet=quiet, verbose=verbose) as run:
        from kanon_sql.engines import Deadline
        from kanon_sql.report.upkeep import doctor_text
        from kanon_sql.verbs.doctor import doctor as run_doctor

        need_database(database)
        engine = run.connect(database, read_only=read_only, threads=threads, memory_limit=memory_limit)
        with engine.run(Deadline(timeout)):
            result = run_doctor(engine, report=run.report)
        run.close()
        if output is OutputFormat.json:
            print_json(result.to_dict())
        else:
            print_text(doctor_text(result))
        exit_with(read_only or result.works("anonymize"))
