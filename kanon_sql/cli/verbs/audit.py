"""``audit``: simulate attacks on a release and count the people exposed."""

from pathlib import Path
from typing import Annotated

import typer

from kanon_sql.cli.complete import one_of
from kanon_sql.cli.inputs import load_spec, run_if_several
from kanon_sql.cli.options import (
    CountRows,
    External,
    On,
    OtherReleases,
    SpecFile,
    listed,
    table_option,
)
from kanon_sql.cli.outputs import exit_with, print_output, write_report
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.errors import SpecError
from kanon_sql.registers import declared_names

__all__ = ["audit"]

ATTACKS = declared_names("kanon_sql.disclosure.attacks")


@verb(
    "kanon-sql audit spec.yml -d clinic.duckdb",
    "kanon-sql audit spec.yml -d clinic.duckdb --external visits --on age,zip",
    "kanon-sql audit spec.yml -d clinic.duckdb --earlier visits_release",
    "kanon-sql audit spec.yml -d clinic.duckdb --set negations=2",
    "kanon-sql audit spec.yml -d clinic.duckdb --attack homogeneity --reveal 5",
    reports=True,
    keys={
        "view": "another published table of the same rows with other columns, joined on the columns that both have",
        "negations": "how many values the background knowledge rules out",
        "hierarchy": "COLUMN=FILE, a hierarchy of a sensitive attribute, for the similarity attack",
        "made_by": "arx, for a release of its local recoding, for the refinement attack",
    },
)
def audit(
    run: Session,
    spec_file: SpecFile,
    table: Annotated[
        str | None,
        table_option("The table to attack"),
    ] = None,
    external: External = None,
    on: On = None,
    earlier: OtherReleases = None,
    attack: Annotated[
        list[str] | None,
        typer.Option(
            "--attack",
            metavar="NAME,...",
            show_default=False,
            callback=listed,
            autocompletion=one_of(*ATTACKS),
            help=f"The attacks to run: {', '.join(ATTACKS)}. If not given, all that apply, except those that run "
            "only if you name them.",
        ),
    ] = None,
    rows: CountRows = False,
    reveal: Annotated[
        int,
        typer.Option("--reveal", metavar="N", min=0, help="Show N exposed cases per attack, with their values."),
    ] = 0,
) -> None:
    """Simulate attacks on a release and count the people exposed.

    The attacks use a table of names, homogeneous classes, background knowledge, skewed and
    similar values, other releases, the order of rows, and matches between the source and the
    release. Shows how many people each attack exposes; --reveal shows cases. Opens the
    database read-only and writes only temporary tables. Exit code 1: an attack exposes people
    that the requirements protect.
    """
    from kanon_sql.verbs.audit import audit as run_audit

    one_table = {
        "--table": table is not None,
        "--external": external is not None,
        "--on": bool(on),
        "--earlier": bool(earlier),
        "--attack": bool(attack),
        "--rows": rows,
        "--reveal": bool(reveal),
    }
    run_if_several(run, "audit", str(spec_file), one_table)
    spec = load_spec(spec_file)
    engine = run.connect(read_only=True)
    result = run_audit(
        engine,
        spec,
        table,
        external=external,
        on=on or (),
        earlier=earlier or (),
        other_views=run.own.get("view", ()),
        negations=run.number("negations", 1, 1),
        hierarchies=dict(map(_hierarchy, run.own.get("hierarchy", ()))),
        attacks=attack or None,
        count_rows=rows,
        reveal=reveal,
        made_by=next(reversed(run.own.get("made_by", ())), None),
        timeout=run.timeout,
        report=run.report,
    )
    run.close()
    if reveal:
        run.message("warning: --reveal shows values of persons below; do not pass them on")
    print_output(run, result)
    if run.report_file is not None:
        from kanon_sql.report.html import run_report
        from kanon_sql.report.run import read_run

        write_report(run, run_report(read_run(result.to_dict(), "this audit")))
    exit_with(result.passed)


def _hierarchy(text: str) -> tuple[str, dict[str, str]]:
    name, _, file = text.partition("=")
    if not name or not file:
        raise SpecError(
            "--set hierarchy: expected a sensitive attribute and a file, such as --set hierarchy=diagnosis=FILE"
        )
    return name, {"file": str(Path(file).absolute())}
