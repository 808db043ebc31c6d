"""``cloak``: publish positions and times, each row as fine as k people together allow."""

from typing import Annotated

import typer

from kanon_sql.cli.given import MEMORY, load_cloak_spec, need_database
from kanon_sql.cli.options import (
    Database,
    FailOnWarning,
    Format,
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
from kanon_sql.cli.written import exit_with, print_found
from kanon_sql.errors import SpecError

__all__ = ["cloak"]


@program.command(
    epilog=examples(
        "kanon-sql cloak positions.yml -d clinic.duckdb",
        "kanon-sql cloak positions.yml -d clinic.duckdb --preview",
        "kanon-sql cloak positions.yml -d clinic.duckdb --check",
        "kanon-sql cloak positions.yml -d clinic.duckdb --format json -q",
    )
)
def cloak(
    spec_file: SpecFile,
    database: Database = MEMORY,
    profile: Profile = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Publish nothing, although the spec names a release.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Publish nothing: recompute, and compare with the release.")
    ] = False,
    fail_on_warning: FailOnWarning = False,
    scratch: ScratchMode = None,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """Publish positions that k people share, or publish nothing.

    The spec is a cloak spec: source, unit, position, time and k (kanon-sql schema
    --cloak-spec). Every row gets the finest cell of a quad-tree and slice of time that
    at least k people's rows are released with. Patterns of movement (LBQIDs) that the
    spec names must be shared by k people too. Without a release in the spec the result
    is only shown. Exit code 1 says that too many rows would be left out, that a pattern
    exposes a person, or that a warning is an error: nothing was published. With --check it
    says that the published table differs from what the source gives now.
    """
    with session(quiet=quiet, verbose=verbose, spec=spec_file) as run:
        from kanon_sql.verbs.cloak import cloak as run_cloak

        spec = load_cloak_spec(spec_file)
        publishes = spec.release is not None and not preview and not check
        if publishes and database == MEMORY:
            raise SpecError("a release in :memory: would vanish with this process; give a database with -d FILE")
        if publishes:
            need_database(database)
        engine = run.connect(
            database, read_only=not publishes, threads=threads, memory_limit=memory_limit, scratch=scratch
        )
        result = run_cloak(
            engine, spec, preview=preview, check=check, timeout=timeout, report=run.report,
            fail_on_warning=fail_on_warning,
        )  # fmt: skip
        run.close()
        print_found(result, output)
        exit_with(result.passed)
