"""``doctor``: what a connection may do."""

from typing import Annotated

import typer

from kanon_sql.cli.given import MEMORY, need_database
from kanon_sql.cli.options import (
    DATABASE_VARIABLE,
    SETTINGS,
    Database,
    Format,
    MemoryLimit,
    OutputFormat,
    Profile,
    Quiet,
    Threads,
    Timeout,
    Verbose,
)
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
    context: typer.Context,
    database: Database = MEMORY,
    profile: Profile = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Open the database read-only.")] = False,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """Check permissions and show which commands would work.

    Says which of its options are set, and where: on the command line, in the environment, or
    in a file of settings. Tries out what it reports (temporary tables, tables, rolling back,
    files) and leaves nothing behind. Exit code 1 says that anonymize would not work, unless you asked for
    a read-only connection.
    """
    with session(quiet=quiet, verbose=verbose) as run:
        from kanon_sql.engines import Deadline
        from kanon_sql.report.upkeep import doctor_text
        from kanon_sql.verbs.doctor import doctor as run_doctor

        origins = _origins(context)
        need_database(database)
        engine = run.connect(database, read_only=read_only, threads=threads, memory_limit=memory_limit)
        with engine.run(Deadline(timeout)):
            result = run_doctor(engine, report=run.report)
        run.close()
        if output is OutputFormat.json:
            print_json({**result.to_dict(), "settings": origins})
        else:
            print_text(doctor_text(result, origins))
        exit_with(read_only or result.works("anonymize"))


_BY_SOURCE = {"COMMANDLINE": "the command line", "ENVIRONMENT": f"the environment variable {DATABASE_VARIABLE}"}


def _origins(context: typer.Context) -> dict[str, str]:
    """Option -> where it is set; those that are set nowhere are left out. No value is told: it may hold a password."""
    from kanon_sql.cli.settings import KEYS

    said = context.meta[SETTINGS].said
    found = {}
    for name in KEYS:
        source = context.get_parameter_source(name)
        where = said.get(name) if source is None or source.name == "DEFAULT_MAP" else _BY_SOURCE.get(source.name)
        if where is not None:
            found[name] = where
    return found
