"""``release apply``: release new rows by a recoding that was kept."""

from typing import Annotated

import typer

from kanon_sql.cli.given import load_spec, need_lasting
from kanon_sql.cli.options import FailOnWarning, Manifest, SpecFile
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.cli.written import exit_with, manifest_path, print_result, write_manifest, write_result_report

__all__ = ["apply"]


@verb(
    "kanon-sql release apply spec.yml learned -d clinic.duckdb",
    "kanon-sql release apply spec.yml learned -d clinic.duckdb -o r.json",
    group="release",
    scratch=True,
    reports=True,
)
def apply(
    run: Session,
    spec_file: SpecFile,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The recoding, as a spec named it: recoding: {save_as: NAME}.",
            show_default=False,
        ),
    ],
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
    manifest: Manifest = None,
    fail_on_warning: FailOnWarning = False,
) -> None:
    """Release new rows by a recoding that was kept, or nothing.

    A spec with recoding: {save_as: NAME} leaves the levels or the classes of its release
    beside it. New rows of the same columns get the labels of the class that covers them and
    loses least; the release is verified as every other, by itself. Rows that no class
    covers are suppressed, and so are rows of classes that would violate a requirement.
    Exit code 1 says that these are more than the spec allows: nothing was published.
    """
    from kanon_sql.verbs.apply import apply as run_apply

    spec = load_spec(spec_file)
    path = manifest_path(manifest)
    need_lasting(run.database)
    engine = run.connect()
    result = run_apply(
        engine,
        spec,
        name,
        source=source,
        release=release,
        timeout=run.timeout,
        report=run.report,
        details=run.report_file is not None,
        fail_on_warning=fail_on_warning,
    )
    print_result(run, result)
    if path is not None and result.manifest is not None:
        write_manifest(path, result.manifest)
        run.message(f"manifest: {path}")
    write_result_report(run, result)
    exit_with(result.passed)
