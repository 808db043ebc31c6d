"""The verbs for a table that is split between several databases."""

from typing import Annotated

import typer

from kanon_sql.cli.inputs import load_spec, need_parties
from kanon_sql.cli.options import Key, SpecFile, Split, SplitOption
from kanon_sql.cli.outputs import exit_with, print_output
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session

__all__ = ["anonymize", "plan"]


@verb(
    "kanon-sql parties plan parties.yml -d north.duckdb -d south.duckdb",
    "kanon-sql parties plan parties.yml -d north.duckdb,south.duckdb -o plan.json",
    group="parties",
    parties=True,
    scratch=True,
    resources=False,
)
def plan(run: Session, spec_file: SpecFile, split: SplitOption = Split.horizontal, key: Key = None) -> None:
    """Plan a release of a table that is split over several databases.

    Name the database of each party. No party's rows leave its database. Exit code 1: no
    generalization that satisfies the requirements was found.
    """
    from kanon_sql.verbs.parties import plan_parties

    spec = load_spec(spec_file)
    need_parties(run.databases)
    engines = run.connect_parties(read_only=[True for _ in run.databases])
    result = plan_parties(engines, spec, split=split.value, key=key, timeout=run.timeout, report=run.report)
    run.close()
    print_output(run, result)
    exit_with(result.passed)


@verb(
    "kanon-sql parties anonymize parties.yml -d north.duckdb -d south.duckdb",
    "kanon-sql parties anonymize parties.yml -d north.duckdb,south.duckdb -q",
    group="parties",
    parties=True,
    scratch=True,
    resources=False,
)
def anonymize(
    run: Session,
    spec_file: SpecFile,
    split: SplitOption = Split.horizontal,
    key: Key = None,
    at: Annotated[
        int,
        typer.Option(
            "--at",
            metavar="N",
            min=1,
            help="With --split vertical: the number of the party that publishes the joined release.",
        ),
    ] = 1,
) -> None:
    """Publish a release of a table that is split over several databases.

    Name the database of each party. Split horizontally, each party's part is published in
    its own database; split vertically, the joined release is published at one party. The
    manifests are in the databases only. Exit code 1: no generalization that satisfies the
    requirements was found, and nothing was published.
    """
    from kanon_sql.verbs.parties import anonymize_parties

    spec = load_spec(spec_file)
    need_parties(run.databases)
    writes = [split is Split.horizontal or number == at for number, _ in enumerate(run.databases, 1)]
    engines = run.connect_parties(read_only=[not own for own in writes])
    result = anonymize_parties(engines, spec, split=split.value, key=key, at=at, timeout=run.timeout, report=run.report)
    run.close()
    print_output(run, result)
    exit_with(result.passed)
