"""``check``: whether a table meets the requirements of a spec, or those on the command line."""

from typing import TYPE_CHECKING, Annotated

from kanon_sql.cli.inputs import key_from, refuse_no_task, roles_from_options, run_if_several, spec_from_options
from kanon_sql.cli.options import (
    CSV_TEXT_KEYS,
    ROLE_KEYS,
    CheckFormat,
    CountRows,
    FailOnWarning,
    K,
    L,
    QuasiIdentifiers,
    SpecOrTable,
    T,
    table_option,
)
from kanon_sql.cli.outputs import exit_with, print_result, write_result_report
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.errors import SpecError

if TYPE_CHECKING:
    from kanon_sql.disclosure.invariance import Republication

__all__ = ["check"]


@verb(
    "kanon-sql check spec.yml -d clinic.duckdb",
    "kanon-sql check spec.yml -d clinic.duckdb --rows",
    "kanon-sql check spec.yml -d clinic.duckdb --table visits",
    "kanon-sql check spec.yml -d clinic.duckdb --set reveal=5",
    "kanon-sql check visits -d clinic.duckdb --quasi-identifiers age,zip --k 5",
    "kanon-sql check spec.yml -d clinic.duckdb --format junit -o check.xml",
    formats=CheckFormat,
    reports=True,
    keys={
        "reveal": "N; show N violating classes, with their values",
        "earlier": "an earlier version of the table, for m-invariance; needs person and m",
        "person": "the column that identifies the person in both versions, or several",
        "m": "the m of m-invariance",
        **ROLE_KEYS,
        **CSV_TEXT_KEYS,
    },
)
def check(
    run: Session,
    spec_or_table: SpecOrTable,
    table: Annotated[
        str | None,
        table_option("The table to check"),
    ] = None,
    rows: CountRows = False,
    fail_on_warning: FailOnWarning = False,
    quasi_identifiers: QuasiIdentifiers = None,
    k: K = None,
    l: L = None,  # noqa: E741 - the name that the literature gives it
    t: T = None,
) -> None:
    """Check whether a table satisfies the requirements of a spec.

    Groups a table by its quasi-identifiers, without changing it, and measures every
    requirement. The table can be the release, the source or any other with these columns.
    Opens the database read-only; a comparison with a population may create temporary tables.
    Exit code 1: a requirement is not satisfied.

    Without a spec, name the table, its --quasi-identifiers, and --k, --l or --t. Columns that
    you do not name are not checked; a warning lists them.

    Before you publish a changed table again, --set earlier=TABLE,person=COLUMN,m=M checks that
    it is m-invariant with its earlier version. Both are internal, generalized tables with a
    column that identifies the person of each row.
    """
    from kanon_sql.verbs.check import check as run_check

    reveal = run.number("reveal", 0, 0)
    republication = _republication(run)
    roles = roles_from_options(run, spec_or_table, quasi_identifiers, k, l, t)
    one_table = {"--table": table is not None, "--rows": rows, "--fail-on-warning": fail_on_warning}
    run_if_several(run, "check", spec_or_table, one_table)
    refuse_no_task(roles)
    spec = None if roles else spec_from_options(run, spec_or_table)
    lasting = spec is not None and spec.compares_with_population
    engine = run.connect(read_only=True, scratch=None if lasting else "inline")
    result = run_check(
        engine,
        spec_or_table if spec is None else spec,
        table=table,
        count_rows=rows,
        reveal=reveal,
        republication=republication,
        timeout=run.timeout,
        report=run.report,
        details=run.report_file is not None,
        fail_on_warning=fail_on_warning,
        **roles,
    )
    if run.format in ("text", "json"):
        print_result(run, result)
    else:
        from kanon_sql.report.pipelines import PIPELINES

        run.close()
        run.echo(PIPELINES[run.format](result))
    write_result_report(run, result)
    exit_with(result.passed)


def _republication(run: Session) -> "Republication | None":
    """The version that the table is to be m-invariant with.

    Raises:
        SpecError: a part of what names it is missing.
    """
    from kanon_sql.disclosure.invariance import Republication

    earlier, person, m = run.one("earlier"), key_from(run, "person"), run.one("m")
    if earlier is not None and person is not None and m is not None:
        return Republication(earlier, person, run.number("m", 1, 1))
    if (earlier, person, m) != (None, None, None):
        raise SpecError("--set earlier, person and m belong together; give all three")
    return None
