"""``pipeline estimate``: what reading the source would cost."""

from kanon_sql.cli.inputs import load_spec
from kanon_sql.cli.options import SpecFile
from kanon_sql.cli.outputs import print_output
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session

__all__ = ["estimate"]


@verb("kanon-sql pipeline estimate spec.yml -d clinic.duckdb", group="pipeline", scratch=True)
def estimate(run: Session, spec_file: SpecFile) -> None:
    """Show the database's estimate of the cost of reading the source.

    Reads no row: asks for the query plan of the first statement of plan and anonymize, and
    shows the rows and bytes that the database expects. To limit a run, use their --set
    max_bytes=SIZE.
    """
    from kanon_sql.verbs.estimate import estimate as run_estimate

    spec = load_spec(spec_file)
    engine = run.connect(read_only=True)
    found = run_estimate(engine, spec, timeout=run.timeout)
    run.close()
    print_output(run, found)
