"""The verbs of products that are not rows of a generalized table."""

from collections.abc import Callable
from typing import Any

from kanon_sql.cli.inputs import MEMORY, need_lasting
from kanon_sql.cli.options import FailOnWarning, Preview, SpecFile, TableFormat
from kanon_sql.cli.outputs import exit_with, print_output
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session

__all__ = ["check", "perturbed", "positions", "table"]


_NO_RELEASE = ", or leave 'release' out of the spec, and write the cells with -o cells.csv"


def _publish(run: Session, make: Callable[..., Any], spec: Any, *, preview: bool, fail_on_warning: bool) -> None:
    """Make a product, and publish it where its spec names a release.

    Args:
        run: the session.
        make: the verb of the library.
        spec: of the product.
        preview: publish nothing.
        fail_on_warning: take warnings for errors.
    """
    publishes = spec.release is not None and not preview
    if publishes and (run.database == MEMORY or spec.source.file is None):
        need_lasting(run.database, _NO_RELEASE if spec.of_kind == "table" else "")
    engine = run.connect(read_only=not publishes)
    result = make(
        engine, spec, preview=preview, timeout=run.timeout, report=run.report, fail_on_warning=fail_on_warning
    )
    run.close()
    if run.format == "csv" and result.passed:
        from kanon_sql.report.tables import tabulation_csv

        run.echo(tabulation_csv(result))
    elif run.format == "csv":
        run.message(f"FAIL  {result.message}")
    else:
        print_output(run, result)
    exit_with(result.passed)


@verb(
    "kanon-sql publish table table.yml -d clinic.duckdb",
    "kanon-sql publish table table.yml -d clinic.duckdb --preview",
    "kanon-sql publish table table.yml -d clinic.duckdb --preview -o cells.csv",
    group="publish",
    scratch=True,
    formats=TableFormat,
)
def table(run: Session, spec_file: SpecFile, preview: Preview = False, fail_on_warning: FailOnWarning = False) -> None:
    """Publish a table of counts or sums, or publish nothing.

    The spec is a table spec: source, dimensions, rules and protection (kanon-sql pipeline
    schema table-spec). A threshold, (n,k) dominance, p-percent or pq rule finds the sensitive
    cells. Suppression hides them together with secondary cells; rounding changes all cells.
    An audit then proves that the margins do not reveal a sensitive cell. Collapsing combines
    categories until no cell is sensitive. If the spec names no release, the table is only
    shown; -o cells.csv writes the protected cells. Exit code 1: a cell could not be
    protected, or a warning is an error; nothing was published.
    """
    from kanon_sql.spec import TableSpec
    from kanon_sql.verbs.tabulate import tabulate

    _publish(run, tabulate, TableSpec.load(spec_file), preview=preview, fail_on_warning=fail_on_warning)


@verb(
    "kanon-sql publish positions positions.yml -d clinic.duckdb",
    "kanon-sql publish positions positions.yml -d clinic.duckdb --preview",
    "kanon-sql publish positions positions.yml -d clinic.duckdb --format json -q",
    group="publish",
    scratch=True,
)
def positions(
    run: Session, spec_file: SpecFile, preview: Preview = False, fail_on_warning: FailOnWarning = False
) -> None:
    """Publish positions that k people share, or publish nothing.

    The spec is a positions spec: source, unit, position, time and k (kanon-sql pipeline
    schema positions-spec). Every row gets the finest quad-tree cell and time slice that rows of at
    least k people share. k people must also share each movement pattern (LBQID) of the spec.
    If the spec names no release, the result is only shown. Exit code 1: too many rows would
    be left out, a pattern exposes a person, or a warning is an error; nothing was published.
    """
    from kanon_sql.spec import CloakSpec
    from kanon_sql.verbs.cloak import cloak

    _publish(run, cloak, CloakSpec.load(spec_file), preview=preview, fail_on_warning=fail_on_warning)


@verb(
    "kanon-sql publish perturbed masking.yml -d clinic.duckdb",
    "kanon-sql publish perturbed masking.yml -d clinic.duckdb --preview",
    "kanon-sql publish perturbed masking.yml -d clinic.duckdb --format json -q",
    group="publish",
    scratch=True,
)
def perturbed(
    run: Session, spec_file: SpecFile, preview: Preview = False, fail_on_warning: FailOnWarning = False
) -> None:
    """Publish rows with perturbed values, and measure their risk.

    The spec is a perturbation spec: source, key, perturb, keep and linkage (kanon-sql
    pipeline schema perturbed-spec). Noise, rank swapping, data swapping or PRAM changes the values. The
    result shows the effect on means, variances, correlations and frequencies, and how many
    rows distance-based record linkage finds. Such a release is not k-anonymous. Exit code 1:
    linkage finds more rows than the spec allows, or a warning is an error; nothing was
    published.
    """
    from kanon_sql.spec import PerturbSpec
    from kanon_sql.verbs.perturb import perturb

    _publish(run, perturb, PerturbSpec.load(spec_file), preview=preview, fail_on_warning=fail_on_warning)


@verb("kanon-sql publish check positions.yml -d clinic.duckdb", group="publish", scratch=True)
def check(run: Session, spec_file: SpecFile, fail_on_warning: FailOnWarning = False) -> None:
    """Compare published positions with the source.

    Takes the spec of publish positions. Recomputes the release from the source and compares it
    with the published table; does not rely on the manifest and publishes nothing. Exit code 1:
    they differ, or publish positions would fail with the current source.
    """
    from kanon_sql.spec import CloakSpec
    from kanon_sql.verbs.cloak import cloak

    spec = CloakSpec.load(spec_file)
    engine = run.connect(read_only=True)
    result = cloak(engine, spec, check=True, timeout=run.timeout, report=run.report, fail_on_warning=fail_on_warning)
    run.close()
    print_output(run, result)
    exit_with(result.passed)
