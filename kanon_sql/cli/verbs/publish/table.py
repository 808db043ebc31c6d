"""``publish table``: publish a table of counts or sums in which no sensitive cell can be worked out."""

from kanon_sql.cli.inputs import load_table_spec
from kanon_sql.cli.options import FailOnWarning, Preview, SpecFile
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.cli.verbs.publish import publish

__all__ = ["table"]


@verb(
    "kanon-sql publish table table.yml -d clinic.duckdb",
    "kanon-sql publish table table.yml -d clinic.duckdb --preview",
    "kanon-sql publish table table.yml -d clinic.duckdb --format json -q",
    group="publish",
    scratch=True,
)
def table(run: Session, spec_file: SpecFile, preview: Preview = False, fail_on_warning: FailOnWarning = False) -> None:
    """Publish a table of counts or sums, or publish nothing.

    The spec is a table spec: source, dimensions, rules and protection (kanon-sql pipeline
    schema table-spec). A threshold, (n,k) dominance, p-percent or pq rule finds the sensitive
    cells. They are suppressed, with secondary cells, or rounded, and the result is audited
    against all that the margins reveal; or categories are collapsed until no cell is
    sensitive. If the spec names no release, the table is only shown. Exit code 1: a cell
    could not be protected, or a warning is an error; nothing was published.
    """
    from kanon_sql.verbs.tabulate import tabulate

    publish(run, tabulate, load_table_spec(spec_file), preview=preview, fail_on_warning=fail_on_warning)
