"""The verbs around releases: ``ledger``, ``clean``, ``doctor`` and ``schema``."""

import sys
from typing import Annotated

import typer

from kanon_sql.cli.app import app, examples
from kanon_sql.cli.given import MEMORY, need_database
from kanon_sql.cli.options import Database, Format, MemoryLimit, OutputFormat, Quiet, Threads, Timeout, Verbose
from kanon_sql.cli.session import session
from kanon_sql.cli.written import exit_with, print_json, print_text
from kanon_sql.errors import SpecError

__all__ = ["clean", "doctor", "ledger", "schema"]


@app.command(
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
        from kanon_sql.report.ledger import ledger_text
        from kanon_sql.verbs.ledger import ledger as run_ledger

        need_database(database)
        engine = run.connect(database, read_only=True, threads=threads, memory_limit=memory_limit, scratch="inline")
        result = run_ledger(engine, table, timeout=timeout, report=run.report)
        run.close()
        if output is OutputFormat.json:
            print_json(result.to_dict())
        else:
            print_text(ledger_text(result))


@app.command(
    epilog=examples(
        "kanon-sql clean -d clinic.duckdb",
        "kanon-sql clean -d clinic.duckdb --yes",
    )
)
def clean(
    database: Database = MEMORY,
    schema: Annotated[
        str | None,
        typer.Option(
            "--schema", metavar="SCHEMA", show_default=False, help="Where releases go, if not the default schema."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Drop them without asking.")] = False,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """List the scratch tables of killed runs, and drop them.

    Lists first, and drops only after --yes or your answer at the terminal; without either
    nothing is changed. Only tables that kanon_sql recorded as its own are ever dropped.
    """
    with session(quiet=quiet, verbose=verbose) as run:
        from kanon_sql.engines import Deadline
        from kanon_sql.report.upkeep import clean_text
        from kanon_sql.verbs.clean import clean as run_clean

        asks = not yes and sys.stdin.isatty() and output is OutputFormat.text
        need_database(database)
        engine = run.connect(database, read_only=not (yes or asks), threads=threads, memory_limit=memory_limit)
        with engine.run(Deadline(timeout)):
            result = run_clean(engine, schema, drop=False, report=run.report)
            if result.left and asks:
                run.pause()
                print_text(clean_text(result))
                yes = typer.confirm(f"drop {result.left} of them?", err=True)
            if yes and result.left:
                result = run_clean(engine, schema, drop=True, report=run.report)
        run.close()
        if output is OutputFormat.json:
            print_json(result.to_dict())
        elif yes or not (asks and result.left):
            print_text(clean_text(result))
        if result.left and not yes and not asks:
            run.message("nothing was dropped; run with --yes to drop them")


@app.command(
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


@app.command(
    epilog=examples(
        "kanon-sql schema",
        "kanon-sql schema --result",
        "kanon-sql schema --audit",
        "kanon-sql schema --risk",
    )
)
def schema(
    result: Annotated[bool, typer.Option("--result", help="The schema of a result instead of that of a spec.")] = False,
    of_audit: Annotated[bool, typer.Option("--audit", help="The schema of the result of an audit.")] = False,
    of_risk: Annotated[bool, typer.Option("--risk", help="The schema of what risk measures.")] = False,
) -> None:
    """Print the JSON Schema of the spec, or of a result.

    Editors that know JSON Schema check a spec while you write it; programs that read
    results can rely on theirs.
    """
    with session(quiet=True, verbose=False):
        if result + of_audit + of_risk > 1:
            raise SpecError("--result, --audit and --risk exclude each other; give one of them")
        if result or of_audit or of_risk:
            from kanon_sql.report.json import audit_schema, result_schema, risk_schema

            print_json(audit_schema() if of_audit else risk_schema() if of_risk else result_schema())
        else:
            from kanon_sql.spec import Spec

            print_json(Spec.json_schema())
