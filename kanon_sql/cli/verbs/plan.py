"""``plan``: what the best generalization is, and what it costs."""

from typing import Annotated

import typer

from kanon_sql.cli.complete import one_of
from kanon_sql.cli.inputs import (
    drafted,
    print_drafted,
    refuse_no_draft,
    roles_from_options,
    run_if_several,
    spec_from_options,
)
from kanon_sql.cli.options import (
    CSV_KEYS,
    DRAFT_KEYS,
    LIMITS,
    MAX_BYTES,
    FailOnWarning,
    K,
    L,
    QuasiIdentifiers,
    SpecOrTable,
    T,
    listed,
    parse_show,
)
from kanon_sql.cli.outputs import exit_with, print_result, refuse_unshown, write_result_report
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import INTERRUPTED, Session

__all__ = ["plan"]

SHOWN = ("nodes", "minimal", "matrix", "bound", "distributions", "spec")


@verb(
    "kanon-sql plan spec.yml -d clinic.duckdb",
    "kanon-sql plan spec.yml -d clinic.duckdb --show minimal --format json",
    "kanon-sql plan spec.yml -d clinic.duckdb --show nodes,matrix",
    "kanon-sql plan spec.yml -d clinic.duckdb --compare-recoding local",
    "kanon-sql plan spec.yml -d clinic.duckdb --set max_seconds=30 -o plan.html",
    "kanon-sql plan visits -d clinic.duckdb --quasi-identifiers age,zip --k 5",
    scratch=True,
    reports=True,
    keys={**LIMITS, **MAX_BYTES, **DRAFT_KEYS, **CSV_KEYS},
)
def plan(
    run: Session,
    spec_or_table: SpecOrTable,
    show: Annotated[
        list[str] | None,
        typer.Option(
            "--show",
            metavar="WHAT,...",
            show_default=False,
            callback=listed,
            autocompletion=one_of(*SHOWN),
            help="Show more: nodes (the state of each node, and the reason), minimal (all k-minimal and locally "
            "minimal generalizations), matrix (Samarati's distance matrix for classes below k; small tables only), "
            "bound (a lower bound on the loss of a local recoding), distributions (rows by label, before and after; "
            "this shows labels), spec (the draft, if no spec was given).",
        ),
    ] = None,
    compare_recoding: Annotated[
        str,
        typer.Option(
            "--compare-recoding",
            metavar="METHOD",
            help="Also report the loss of this recoding, or of none; quick: of local, if that takes about a second.",
        ),
    ] = "quick",
    fail_on_warning: FailOnWarning = False,
    quasi_identifiers: QuasiIdentifiers = None,
    k: K = None,
    l: L = None,  # noqa: E741 - the name that the literature gives it
    t: T = None,
) -> None:
    """Search for the best generalization and show what it costs.

    Opens the database read-only and writes only temporary tables. Builds the frequency set,
    searches the generalization lattice and prints the chosen levels, the achieved privacy,
    the information loss and the runners-up. Exit code 1: no generalization that satisfies the
    requirements was found.

    Without a spec, name the table and its --quasi-identifiers; init drafts the spec, and
    --show spec prints it.

    Ctrl-C during the search shows the best generalization found so far, with exit code 130;
    a second Ctrl-C stops at once.
    """
    from kanon_sql.verbs.plan import plan as run_plan

    shown = parse_show(show, SHOWN)
    refuse_unshown(run, "distributions" in shown)
    roles = roles_from_options(run, spec_or_table, quasi_identifiers, k, l, t)
    one_table = {
        "--show": bool(show),
        "--compare-recoding": compare_recoding != "quick",
        "--fail-on-warning": fail_on_warning,
    }
    run_if_several(run, "plan", spec_or_table, one_table)
    refuse_no_draft(run, "spec" in shown, roles)
    budget = run.budget(patient=True)
    if roles:
        engine = run.connect(read_only=True)
        spec, draft = drafted(run, engine, "plan", spec_or_table, roles)
    else:
        spec, draft = spec_from_options(run, spec_or_table), ""
        engine = run.connect(read_only=True)
    run.keep_below(spec, "plan")
    result = run_plan(
        engine,
        spec,
        timeout=run.timeout,
        report=run.report,
        budget=budget,
        explain="nodes" in shown,
        all_minimal="minimal" in shown,
        matrix="matrix" in shown,
        bound="bound" in shown,
        compare_recoding=None if compare_recoding == "none" else compare_recoding,
        details=run.report_file is not None,
        distributions="distributions" in shown,
        fail_on_warning=fail_on_warning,
    )
    if roles:
        result = print_drafted(run, result, spec, draft if "spec" in shown else None)
    print_result(run, result, all_minimal="minimal" in shown)
    write_result_report(run, result)
    if run.interrupts.pressed and result.stopped is not None:
        raise typer.Exit(INTERRUPTED)
    exit_with(result.passed)
