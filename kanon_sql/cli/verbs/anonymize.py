"""``anonymize``: publish a verified release, or nothing."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kanon_sql.cli.given import MEMORY, load_spec, need_database
from kanon_sql.cli.options import (
    AllMinimal,
    At,
    Database,
    Distributions,
    FailOnWarning,
    Format,
    Key,
    MaxBytes,
    MaxSeconds,
    MaxStatements,
    MemoryLimit,
    OutputFormat,
    Parties,
    Profile,
    Quiet,
    ReportFile,
    ScratchMode,
    SpecFile,
    Split,
    SplitOption,
    Threads,
    Timeout,
    Verbose,
)
from kanon_sql.cli.program import examples, program
from kanon_sql.cli.session import session
from kanon_sql.cli.written import (
    exit_with,
    print_result,
    refuse_report_path,
    refuse_unshown,
    write_manifest,
    write_result_report,
)
from kanon_sql.errors import SpecError

if TYPE_CHECKING:
    from kanon_sql.spec import Spec

__all__ = ["anonymize"]


@program.command(
    epilog=examples(
        "kanon-sql anonymize spec.yml -d clinic.duckdb",
        "kanon-sql anonymize spec.yml -d clinic.duckdb --manifest manifest.json",
        "kanon-sql anonymize spec.yml -d clinic.duckdb --format json -q",
        "kanon-sql anonymize spec.yml -d clinic.duckdb --max-seconds 600",
        "kanon-sql anonymize files.yml",
        "kanon-sql anonymize parties.yml --party north.duckdb --party south.duckdb",
    )
)
def anonymize(
    spec_file: SpecFile,
    database: Database = MEMORY,
    profile: Profile = None,
    party: Parties = None,
    split: SplitOption = Split.horizontal,
    key: Key = None,
    at: At = 1,
    all_minimal: AllMinimal = False,
    manifest: Annotated[
        Path | None,
        typer.Option(
            "--manifest",
            metavar="PATH",
            show_default=False,
            help="Where to write the manifest; RELEASE.manifest.json beside the spec, or FILE.manifest.json beside a "
            "released file, if not given.",
        ),
    ] = None,
    no_manifest_file: Annotated[
        bool, typer.Option("--no-manifest-file", help="Keep the manifest in the database only.")
    ] = False,
    max_seconds: MaxSeconds = None,
    max_statements: MaxStatements = None,
    max_bytes: MaxBytes = None,
    scratch: ScratchMode = None,
    fail_on_warning: FailOnWarning = False,
    report_file: ReportFile = None,
    distributions: Distributions = False,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """Publish a verified anonymous release, or publish nothing.

    Searches as plan does, writes the generalized table under a scratch name, verifies what
    was written by an independent query, and then publishes it under the release's name in
    one step, replacing an earlier release. The manifest says how, and holds no value of
    the data. With release: {file: out.parquet} in the spec, the release is a Parquet or CSV
    file: it is read back and verified, and needs no database where the source is a file.
    Exit code 1 says that no generalization that meets the requirements was found:
    nothing was published. Ctrl-C publishes nothing.

    With --party for each of several databases, the table is split between them. Split
    horizontally, every party's part is published in its own database; split vertically, the
    joined release is published at one party. Manifests are in the databases only.
    """
    with session(quiet=quiet, verbose=verbose, spec=spec_file) as run:
        from kanon_sql.cli.streams import kept_apart, over_streams, write_release
        from kanon_sql.evaluate import Budget
        from kanon_sql.release import file_of, manifest_beside
        from kanon_sql.verbs.anonymize import anonymize as run_anonymize

        refuse_report_path(report_file, "--report")
        refuse_unshown(distributions, report_file, output)
        if manifest is not None and no_manifest_file:
            raise SpecError("--manifest and --no-manifest-file exclude each other; leave one out")
        if party is not None or key is not None or split is Split.vertical or at != 1:
            from kanon_sql.cli.parties import refuse_other_options, run_parties

            refuse_other_options(
                {
                    "--database": database != MEMORY,
                    "--all-minimal": all_minimal,
                    "--manifest": manifest is not None,
                    "--max-seconds": max_seconds is not None,
                    "--max-statements": max_statements is not None,
                    "--max-bytes": max_bytes is not None,
                    "--report": report_file is not None,
                    "--distributions": distributions,
                    "--fail-on-warning": fail_on_warning,
                    "--threads": threads is not None,
                    "--memory-limit": memory_limit is not None,
                }
            )
            parties = party or []
            run_parties(
                run,
                load_spec(spec_file),
                parties,
                output,
                split=split,
                key=key,
                scratch=scratch,
                timeout=timeout,
                at=at,
            )
        spec = load_spec(spec_file)
        is_file = spec.release_file is not None
        if is_file and no_manifest_file:
            raise SpecError(
                "--no-manifest-file: the manifest of a file is a file beside it, by which a later run knows that it "
                "may replace it; leave the option out"
            )
        if database == MEMORY and not is_file:
            raise SpecError(
                "a release in :memory: would vanish with this process; give a database with -d FILE, or publish a "
                "file: release: {file: out.parquet}"
            )
        beside_spec = None if is_file else _manifest_path(spec_file, spec)  # a file has its own beside it
        path = None if no_manifest_file else manifest or beside_spec
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            raise SpecError(f"--manifest {path}: expected a file in an existing directory")
        if spec.source.table is not None or is_file:
            need_database(database)
        with over_streams(spec) as spec:
            engine = run.connect(
                database, read_only=is_file, threads=threads, memory_limit=memory_limit, scratch=scratch
            )
            run.keep_below(max_bytes, spec, "anonymize")
            result = run_anonymize(
                engine,
                spec,
                timeout=timeout,
                report=run.report,
                budget=Budget(max_seconds, max_statements),
                all_minimal=all_minimal,
                details=report_file is not None,
                distributions=distributions,
                fail_on_warning=fail_on_warning,
            )
            with kept_apart(spec) as streams:
                if not (streams and quiet):
                    print_result(run, result, output, all_minimal=all_minimal)
            if streams and result.passed:
                run.close()
                write_release(spec)
            elif is_file and result.manifest is not None:
                run.message(f"manifest: {manifest_beside(file_of(spec))}")
        if path is not None and result.manifest is not None:
            write_manifest(path, result.manifest)
            run.message(f"manifest: {path}")
        write_result_report(run, result, report_file)
        exit_with(result.passed)


def _manifest_path(spec_file: Path, spec: "Spec") -> Path:
    """Beside the spec, named after the release, whatever characters that has."""
    name = re.sub(r"[^\w.-]+", "_", ".".join(spec.release or ("release",)))
    return spec_file.absolute().parent / f"{name}.manifest.json"
