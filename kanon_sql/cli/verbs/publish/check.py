"""``publish check``: whether published positions are those that the source gives now."""

from kanon_sql.cli.inputs import load_cloak_spec
from kanon_sql.cli.options import FailOnWarning, SpecFile
from kanon_sql.cli.outputs import exit_with, print_output
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session

__all__ = ["check"]


@verb("kanon-sql publish check positions.yml -d clinic.duckdb", group="publish", scratch=True)
def check(run: Session, spec_file: SpecFile, fail_on_warning: FailOnWarning = False) -> None:
    """Compare published positions with the source.

    Takes the spec of publish positions. Recomputes the release from the source and compares it
    with the published table; does not rely on the manifest and publishes nothing. Exit code 1:
    they differ, or publish positions would fail with the current source.
    """
    from kanon_sql.verbs.cloak import cloak

    spec = load_cloak_spec(spec_file)
    engine = run.connect(read_only=True)
    result = cloak(engine, spec, check=True, timeout=run.timeout, report=run.report, fail_on_warning=fail_on_warning)
    run.close()
    print_output(run, result)
    exit_with(result.passed)
