"""``publish perturbed``: publish rows whose values are changed on purpose."""

from typing import Annotated

import typer

from kanon_sql.cli.given import MEMORY, load_perturb_spec, need_database
from kanon_sql.cli.options import FailOnWarning, SpecFile
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.cli.written import exit_with, print_found
from kanon_sql.errors import SpecError

__all__ = ["perturbed"]


@verb(
    "kanon-sql publish perturbed masking.yml -d clinic.duckdb",
    "kanon-sql publish perturbed masking.yml -d clinic.duckdb --preview",
    "kanon-sql publish perturbed masking.yml -d clinic.duckdb --format json -q",
    group="publish",
    scratch=True,
)
def perturbed(
    run: Session,
    spec_file: SpecFile,
    preview: Annotated[
        bool, typer.Option("--preview", help="Publish nothing, although the spec names a release.")
    ] = False,
    fail_on_warning: FailOnWarning = False,
) -> None:
    """Publish rows with perturbed values, and measure their risk.

    The spec is a perturbation spec: source, key, perturb, keep and linkage (kanon-sql
    pipeline schema perturbed-spec). Values are changed by noise, rank swapping, data swapping or
    PRAM; what that does to means, variances, correlations and frequencies is measured, and
    how many rows record linkage by distance finds. No k-anonymity is claimed of such a
    release. Exit code 1 says that linkage finds more than the spec allows, or that a
    warning is an error: nothing was published.
    """
    from kanon_sql.verbs.perturb import perturb as run_perturb

    spec = load_perturb_spec(spec_file)
    if spec.release is not None and not preview and run.database == MEMORY:
        raise SpecError("a table in :memory: would vanish with this process; give a database with -d FILE")
    need_database(run.database)
    engine = run.connect(read_only=False)
    result = run_perturb(
        engine, spec, preview=preview, timeout=run.timeout, report=run.report, fail_on_warning=fail_on_warning
    )
    run.close()
    print_found(run, result)
    exit_with(result.passed)
