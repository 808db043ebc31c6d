"""``refresh``: new rows for a release that grows."""

from pathlib import Path
from typing import Annotated

import typer

from kanon_sql.cli.given import MEMORY, load_spec, need_database
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
from kanon_sql.cli.written import exit_with, print_result, write_manifest
from kanon_sql.errors import SpecError

__all__ = ["refresh"]


@program.command(
    epilog=examples(
        "kanon-sql refresh spec.yml -d clinic.duckdb",
        "kanon-sql refresh spec.yml -d clinic.duckdb --inserted late --batch a",
        "kanon-sql refresh spec.yml -d clinic.duckdb --deleted gone --batch b",
    )
)
def refresh(
    spec_file: SpecFile,
    inserted: Annotated[
        str | None,
        typer.Option(
            "--inserted",
            metavar="TABLE",
            show_default=False,
            help="A table or query of new rows; those above the last watermark if not given.",
        ),
    ] = None,
    deleted: Annotated[
        str | None,
        typer.Option(
            "--deleted",
            metavar="TABLE",
            show_default=False,
            help="A table or query of rows that have left the source.",
        ),
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(
            "--batch",
            metavar="NAME",
            show_default=False,
            help="Idempotency key of these rows: rows of one name are added once.",
        ),
    ] = None,
    verify_all: Annotated[
        bool, typer.Option("--verify-all", help="Examine the whole release, not only what is added.")
    ] = False,
    database: Database = MEMORY,
    profile: Profile = None,
    manifest: Annotated[
        Path | None,
        typer.Option(
            "--manifest",
            metavar="PATH",
            show_default=False,
            help="Where to write the manifest as well; it is in the database.",
        ),
    ] = None,
    scratch: ScratchMode = None,
    fail_on_warning: FailOnWarning = False,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """Add new rows to a release that grows, and take rows out.

    A spec with state: {schema: ...} keeps what it takes beside its first release; increments:
    {watermark: COLUMN} says which rows are new. What is added is verified as a release by
    itself: a reader who subtracts one version from the next finds classes as safe as
    those of a release. Rows that do not fit yet wait. Rows that left the source go in
    classes of k. A changed row is in both tables.
    """
    with session(quiet=quiet, verbose=verbose, spec=spec_file) as run:
        from kanon_sql.verbs.refresh import refresh as run_refresh

        if database == MEMORY:
            raise SpecError("a release in :memory: would vanish with this process; give a database with -d FILE")
        spec = load_spec(spec_file)
        if manifest is not None and (manifest.is_dir() or not manifest.parent.is_dir()):
            raise SpecError(f"--manifest {manifest}: expected a file in an existing directory")
        need_database(database)
        engine = run.connect(database, threads=threads, memory_limit=memory_limit, scratch=scratch)
        result = run_refresh(
            engine,
            spec,
            inserted=inserted,
            deleted=deleted,
            batch=batch,
            verify_all=verify_all,
            timeout=timeout,
            report=run.report,
            fail_on_warning=fail_on_warning,
        )
        print_result(run, result, output)
        if manifest is not None and result.manifest is not None:
            write_manifest(manifest, result.manifest)
            run.message(f"manifest: {manifest}")
        exit_with(result.passed)
