"""``release apply``: release new rows by a recoding that was kept."""

from typing import Annotated

import typer

from kanon_sql.cli.inputs import load_spec, need_lasting
from kanon_sql.cli.options import FailOnWarning, Manifest, SpecFile
from kanon_sql.cli.outputs import exit_with, manifest_path, print_result, write_manifest, write_result_report
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session

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
            help="The name of the saved recoding, from recoding: {save_as: NAME} in the spec.",
            show_default=False,
        ),
    ],
    source: Annotated[
        str | None,
        typer.Option(
            "--source",
            metavar="TABLE",
            show_default=False,
            help="The table of new rows; if not given, the spec's source.",
        ),
    ] = None,
    release: Annotated[
        str | None,
        typer.Option(
            "--release",
            metavar="TABLE",
            show_default=False,
            help="The table to publish; if not given, the spec's release. Required with --source.",
        ),
    ] = None,
    manifest: Manifest = None,
    fail_on_warning: FailOnWarning = False,
) -> None:
    """Release new rows with a saved recoding, or publish nothing.

    With recoding: {save_as: NAME} in the spec, anonymize saves the levels or the classes of
    its release. Each new row gets the labels of the class that covers it with the least loss.
    The new release is verified by itself, like every release. Rows that no class covers are
    suppressed, as are rows of classes that would violate a requirement. Exit code 1: more rows
    would be suppressed than the spec allows, and nothing was published.
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
