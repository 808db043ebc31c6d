"""``plan``: what the best generalization is, and what it costs."""

from typing import Annotated

import typer

from kanon_sql.cli.complete import one_of
from kanon_sql.cli.given import load_spec
from kanon_sql.cli.options import FailOnWarning, MaxBytes, MaxSeconds, MaxStatements, SpecFile, listed, shown_of
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import INTERRUPTED, Session
from kanon_sql.cli.written import exit_with, print_result, refuse_unshown, write_result_report

__all__ = ["plan"]

SHOWN = ("nodes", "minimal", "matrix", "bound", "distributions")


@verb(
    "kanon-sql plan spec.yml -d clinic.duckdb",
    "kanon-sql plan spec.yml -d clinic.duckdb --show minimal --format json",
    "kanon-sql plan spec.yml -d clinic.duckdb --show nodes,matrix",
    "kanon-sql plan spec.yml -d clinic.duckdb --compare-recoding local",
    "kanon-sql plan spec.yml -d clinic.duckdb --max-seconds 30 -o plan.html",
    scratch=True,
    reports=True,
)
def plan(
    run: Session,
    spec_file: SpecFile,
    show: Annotated[
        list[str] | None,
        typer.Option(
            "--show",
            metavar="WHAT,...",
            show_default=False,
            callback=listed,
            autocompletion=one_of(*SHOWN),
            help="Show more: nodes (what is known about each node, and why), minimal (all k-minimal and locally "
            "minimal generalizations), matrix (Samarati's distance matrix for classes below k; small tables only), "
            "bound (a lower bound on the loss of a local recoding), distributions (rows by label, before and after; "
            "this shows labels).",
        ),
    ] = None,
    compare_recoding: Annotated[
        str,
        typer.Option(
            "--compare-recoding",
            metavar="METHOD",
            help="Also report the loss of another recoding, or none; quick: local, where it takes a second.",
        ),
    ] = "quick",
    max_seconds: MaxSeconds = None,
    max_statements: MaxStatements = None,
    max_bytes: MaxBytes = None,
    fail_on_warning: FailOnWarning = False,
) -> None:
    """Search for the best generalization and show what it costs.

    Opens the database read-only and writes nothing but temporary tables: builds the
    frequency set, searches the generalization lattice and prints the chosen levels, what
    they achieve, what they lose, and the runners-up. Exit code 1 says that no generalization
    that meets the requirements was found.

    Ctrl-C during the search shows the best generalization so far, with exit code 130; a
    second Ctrl-C ends at once.
    """
    from kanon_sql.verbs.plan import plan as run_plan

    shown = shown_of(show, SHOWN)
    refuse_unshown(run, "distributions" in shown)
    spec = load_spec(spec_file)
    engine = run.connect(read_only=True)
    run.keep_below(max_bytes, spec, "plan")
    result = run_plan(
        engine,
        spec,
        timeout=run.timeout,
        report=run.report,
        budget=run.patient_budget(max_seconds, max_statements),
        explain="nodes" in shown,
        all_minimal="minimal" in shown,
        matrix="matrix" in shown,
        bound="bound" in shown,
        beside=None if compare_recoding == "none" else compare_recoding,
        details=run.report_file is not None,
        distributions="distributions" in shown,
        fail_on_warning=fail_on_warning,
    )
    print_result(run, result, all_minimal="minimal" in shown)
    write_result_report(run, result)
    if run.interrupts.pressed and result.stopped is not None:
        raise typer.Exit(INTERRUPTED)
    exit_with(result.passed)
