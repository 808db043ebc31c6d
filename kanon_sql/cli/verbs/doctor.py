"""``doctor``: what a connection may do, and what of a spec cannot be there."""

from pathlib import Path
from typing import Annotated

import typer

from kanon_sql.cli.complete import paths
from kanon_sql.cli.inputs import load_any_spec, need_database
from kanon_sql.cli.outputs import exit_with, print_json, print_text
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session

__all__ = ["doctor"]


@verb(
    "kanon-sql doctor -d clinic.duckdb",
    "kanon-sql doctor spec.yml -d clinic.duckdb",
    "kanon-sql doctor -d clinic.duckdb --read-only --format json",
)
def doctor(
    run: Session,
    spec_file: Annotated[
        Path | None,
        typer.Argument(
            metavar="SPEC",
            help="A spec: also show what stands in the way of each command.",
            show_default=False,
            autocompletion=paths(".yml", ".yaml"),
        ),
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Open the database read-only.")] = False,
) -> None:
    """Check permissions and show which commands would work.

    Shows which options are set, and where: on the command line, in the environment, or in a
    settings file. Tests temporary tables, tables, rollback and files, and leaves nothing
    behind. With a spec, lists all that stands in the way of each command, without a
    statement. Exit code 1: anonymize (or what publishes a spec of another kind) would not
    work, and you did not ask for a read-only connection.
    """
    from kanon_sql.report.maintenance import doctor_text
    from kanon_sql.verbs.doctor import doctor as run_doctor
    from kanon_sql.verbs.run import running

    spec = None if spec_file is None else load_any_spec(spec_file)
    origins = run.origins()
    need_database(run.database)
    engine = run.connect(read_only=read_only)
    with running(engine, run.timeout, run.report):
        result = run_doctor(engine, spec)
    run.close()
    if run.format == "json":
        print_json(run, {**result.to_dict(), "settings": origins})
    else:
        print_text(run, doctor_text(result, origins))
    publishing = "anonymize" if spec is None or spec.kind == "release" else f"publish {spec.kind}"
    exit_with(read_only or result.works(publishing))
