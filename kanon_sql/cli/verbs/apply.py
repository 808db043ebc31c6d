"""``apply``: release new rows by a recoding that was kept."""

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
    ReportFile,
    ScratchMode,
    SpecFile,
    Threads,
    Timeout,
    Verbose,
)
from kanon_sql.cli.program import examples, program
from kanon_sql.cli.session import session
from kanon_sql.cli.written import exit_with, print_result, refuse_report_path, write_manifest, write_result_report
from kanon_sql.errors import SpecError

__all__ = ["apply"]


@program.command(
    epilog=examples(
        "kanon-sql apply learned spec.yml -d clinic.duckdb",
        "kanon-sql apply learned spec.yml -d clinic.duckdb --source may --release r5",
        "kanon-sql apply learned spec.yml -d clinic.duckdb --format json -q",
    )
)
def apply(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The recoding, as a spec named it: recoding: {keep: NAME}.",
            show_default=False,
        ),
    ],
    spec_file: SpecFile,
    source: Annotated[
        str | None,
        typer.Option(
            "--source", metavar="TABLE", show_default=False, help="The new rows; the spec's source if not given."
        ),
    ] = None,
    release: Annotated[
        str | None,
        typer.Option(
            "--release",
            metavar="TABLE",
            show_default=False,
            help="The table to publish; the spec's release if not given. Needed with --source.",
        ),
    ] = None,
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
    report_file: ReportFile = None,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """Release new rows by a recoding that was kept, or nothing.

    A spec with recoding: {keep: NAME} leaves the levels or the classes of its release
    beside it. New rows of the same columns get the labels of the class that covers them and
    loses least; the release is verified as every other, by itself. Rows that no class
    covers are suppressed, and so are rows of classes that would violate a requirement.
    Exit code 1 says that these are more than the spec allows: nothing was published.
    """
    with session(quiet=quiet, verbose=verbose, spec=spec_file) as run:
        from kanon_sql.verbs.apply import apply as run_apply

        refuse_report_path(report_file, "--report")
        if database == MEMORY:
            raise SpecError("a release in :memory: would vanish with this process; give a database with -d FILE")
        spec = load_spec(spec_file)
        if manifest is not None and (manifest.is_dir() or not manifest.parent.is_dir()):
            raise SpecError(f"--manifest {manifest}: expected a file in an existing directory")
        need_database(database)
        engine = run.connect(database, threads=threads, memory_limit=memory_limit, scratch=scratch)
        result = run_apply(
            engine,
            spec,
            name,
            source=source,
            release=release,
            timeout=timeout,
            report=run.report,
            details=report_file is not None,
            fail_on_warning=fail_on_warning,
        )
        print_result(run, result, output)
        if manifest is not None and result.manifest is not None:
            write_manifest(manifest, result.manifest)
            run.message(f"manifest: {manifest}")
        write_result_report(run, result, report_file)
        exit_with(result.passed)
