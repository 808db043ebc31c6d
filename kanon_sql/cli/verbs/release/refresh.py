"""``release refresh``: new rows for a release that grows."""

from typing import Annotated

import typer

from kanon_sql.cli.inputs import load_spec, need_lasting
from kanon_sql.cli.options import FailOnWarning, Manifest, SpecFile
from kanon_sql.cli.outputs import exit_with, manifest_path, print_result, write_manifest
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session

__all__ = ["refresh"]


@verb(
    "kanon-sql release refresh spec.yml -d clinic.duckdb",
    "kanon-sql release refresh spec.yml --inserted new --batch a -d clinic.duckdb",
    "kanon-sql release refresh spec.yml --deleted gone --batch b -d clinic.duckdb",
    group="release",
    scratch=True,
)
def refresh(
    run: Session,
    spec_file: SpecFile,
    inserted: Annotated[
        str | None,
        typer.Option(
            "--inserted",
            metavar="TABLE",
            show_default=False,
            help="A table or query of new rows; if not given, the rows above the last watermark.",
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
            help="Idempotency key of this batch: a batch is added once.",
        ),
    ] = None,
    verify_all: Annotated[
        bool, typer.Option("--verify-all", help="Verify the whole release, not only the added rows.")
    ] = False,
    manifest: Manifest = None,
    fail_on_warning: FailOnWarning = False,
) -> None:
    """Add new rows to a growing release, and remove rows from it.

    The spec needs state: {schema: ...}, which keeps the data for later refreshes; increments:
    {watermark: COLUMN} identifies new rows. The added rows are verified like a release of
    their own, so a reader who compares two versions finds only classes that satisfy the
    requirements. Rows that do not fit yet wait. Rows that left the source are removed in
    classes of at least k. List a changed row in both --inserted and --deleted.
    """
    from kanon_sql.verbs.refresh import refresh as run_refresh

    spec = load_spec(spec_file)
    path = manifest_path(manifest)
    need_lasting(run.database)
    engine = run.connect()
    result = run_refresh(
        engine,
        spec,
        inserted=inserted,
        deleted=deleted,
        batch=batch,
        verify_all=verify_all,
        timeout=run.timeout,
        report=run.report,
        fail_on_warning=fail_on_warning,
    )
    print_result(run, result)
    if path is not None and result.manifest is not None:
        write_manifest(path, result.manifest)
        run.message(f"manifest: {path}")
    exit_with(result.passed)
