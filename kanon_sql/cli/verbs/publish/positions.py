"""``publish positions``: publish positions and times, each row as fine as k people together allow."""

from kanon_sql.cli.inputs import load_cloak_spec
from kanon_sql.cli.options import FailOnWarning, Preview, SpecFile
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.cli.verbs.publish import publish

__all__ = ["positions"]


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
    from kanon_sql.verbs.cloak import cloak

    publish(run, cloak, load_cloak_spec(spec_file), preview=preview, fail_on_warning=fail_on_warning)
