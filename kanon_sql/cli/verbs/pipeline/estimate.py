"""``pipeline estimate``: what reading the source would cost."""

from kanon_sql.cli.given import load_spec
from kanon_sql.cli.options import SpecFile
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.cli.written import print_found

__all__ = ["estimate"]


@verb("kanon-sql pipeline estimate spec.yml -d clinic.duckdb", group="pipeline", scratch=True)
def estimate(run: Session, spec_file: SpecFile) -> None:
    """Ask the database what reading the source would cost.

    Reads no row: asks for the plan of the statement that plan and anonymize begin with, and
    shows the rows and bytes that the database expects. Their --max-bytes refuses a run that
    would read more.
    """
    from kanon_sql.verbs.estimate import estimate as run_estimate

    spec = load_spec(spec_file)
    engine = run.connect(read_only=True)
    found = run_estimate(engine, spec, timeout=run.timeout)
    run.close()
    print_found(run, found)
