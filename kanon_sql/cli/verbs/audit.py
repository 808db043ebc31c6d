"""``audit``: simulate attacks on a release and count the people exposed."""

from pathlib import Path
from typing import Annotated

import typer

from kanon_sql.cli.complete import ATTACKS, one_of
from kanon_sql.cli.given import MEMORY, load_spec
from kanon_sql.cli.options import (
    Database,
    Format,
    MemoryLimit,
    OutputFormat,
    Profile,
    Quiet,
    ReportFile,
    SpecFile,
    Threads,
    Timeout,
    Verbose,
)
from kanon_sql.cli.program import examples, program
from kanon_sql.cli.session import session
from kanon_sql.cli.written import exit_with, print_found, refuse_report_path, write_report
from kanon_sql.errors import SpecError

__all__ = ["audit"]


@program.command(
    epilog=examples(
        "kanon-sql audit spec.yml -d clinic.duckdb",
        "kanon-sql audit spec.yml -d clinic.duckdb --external visits --on age",
        "kanon-sql audit spec.yml -d clinic.duckdb --earlier visits_release",
        "kanon-sql audit spec.yml -d clinic.duckdb --attack homogeneity --reveal 5",
    )
)
def audit(
    spec_file: SpecFile,
    database: Database = MEMORY,
    profile: Profile = None,
    table: Annotated[
        str | None,
        typer.Option(
            "--table", metavar="TABLE", show_default=False, help="The table to attack; the spec's release if not given."
        ),
    ] = None,
    external: Annotated[
        str | None,
        typer.Option(
            "--external", metavar="TABLE", show_default=False, help="A table that an attacker links the release with."
        ),
    ] = None,
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on",
            metavar="COLUMN",
            show_default=False,
            help="A column to link on, once per column; all that both have if not given.",
        ),
    ] = None,
    earlier: Annotated[
        list[str] | None,
        typer.Option(
            "--earlier", metavar="TABLE", show_default=False, help="Another release of the same people, once each."
        ),
    ] = None,
    view: Annotated[
        list[str] | None,
        typer.Option(
            "--view",
            metavar="TABLE",
            show_default=False,
            help="Another published projection of the release's rows, once each; joined on equal columns.",
        ),
    ] = None,
    negations: Annotated[
        int,
        typer.Option("--negations", metavar="N", min=1, help="Values that background knowledge rules out."),
    ] = 1,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(
            "--hierarchy",
            metavar="COLUMN=FILE",
            show_default=False,
            help="A hierarchy of a sensitive attribute, in ARX's format, for the attack by similarity.",
        ),
    ] = None,
    attack: Annotated[
        list[str] | None,
        typer.Option(
            "--attack",
            metavar="NAME",
            show_default=False,
            autocompletion=one_of(*ATTACKS),
            help=f"An attack to run, once each: {', '.join(ATTACKS)}. If not given, all that can be run but the "
            "last six.",
        ),
    ] = None,
    rows: Annotated[
        bool, typer.Option("--rows", help="Count rows although the spec names a unit; this only bounds persons.")
    ] = False,
    reveal: Annotated[
        int,
        typer.Option("--reveal", metavar="N", min=0, help="Show N exposed cases per attack, with their values."),
    ] = 0,
    report_file: ReportFile = None,
    output: Format = OutputFormat.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    timeout: Timeout = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
) -> None:
    """Simulate attacks on a release and count the people exposed.

    Linking with a table of names, homogeneous classes, background knowledge, skewed and
    similar values, other releases, the order of rows, who of the source may be behind each
    row: says how many people each attack exposes, and who only with --reveal. Opens the
    database read-only and creates nothing. Exit code 1 says that an attack exposes people
    the requirements protect.
    """
    with session(quiet=quiet, verbose=verbose, spec=spec_file) as run:
        from kanon_sql.verbs.audit import audit as run_audit

        refuse_report_path(report_file, "--report")
        spec = load_spec(spec_file)
        engine = run.connect(database, read_only=True, threads=threads, memory_limit=memory_limit, scratch="inline")
        result = run_audit(
            engine,
            spec,
            table,
            external=external,
            on=on or (),
            earlier=earlier or (),
            other_views=view or (),
            negations=negations,
            hierarchies=dict(map(_hierarchy, hierarchy or ())),
            attacks=attack,
            count_rows=rows,
            reveal=reveal,
            timeout=timeout,
            report=run.report,
        )
        run.close()
        if reveal:
            run.message("warning: values of persons follow, as --reveal asks")
        print_found(result, output)
        if report_file is not None:
            from kanon_sql.report.html import run_report
            from kanon_sql.report.run import read_run

            write_report(run, report_file, run_report(read_run(result.to_dict(), "this audit")))
        exit_with(result.passed)


def _hierarchy(text: str) -> tuple[str, dict[str, str]]:
    name, _, file = text.partition("=")
    if not name or not file:
        raise SpecError("--hierarchy: expected a sensitive attribute and a file, such as --hierarchy diagnosis=FILE")
    return name, {"file": str(Path(file).absolute())}
