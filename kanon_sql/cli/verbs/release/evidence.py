"""``release evidence``: a document on a release, for sign-off."""

from typing import Annotated

import typer

from kanon_sql.cli.inputs import load_spec
from kanon_sql.cli.options import (
    EvidenceFormat,
    External,
    On,
    OtherReleases,
    Population,
    SamplingFraction,
    SpecFile,
    listed,
)
from kanon_sql.cli.outputs import exit_with
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session

__all__ = ["evidence"]


@verb(
    "kanon-sql release evidence spec.yml -d clinic.duckdb -o evidence.html",
    "kanon-sql release evidence spec.yml -d clinic.duckdb -o evidence.json",
    group="release",
    formats=EvidenceFormat,
    product="report",
    keys={
        "external_is_sample": "true if the external table is a random sample of the population",
        "zip_population": "a table of ZIP codes; its ZIP column has the same name as the release's",
        "zip_people": "the column of that table with the number of people; if not given, each row is a person",
    },
)
def evidence(
    run: Session,
    spec_file: SpecFile,
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            metavar="TABLE",
            show_default=False,
            help="The table to measure; if not given, the spec's release.",
        ),
    ] = None,
    external: External = None,
    on: On = None,
    earlier: OtherReleases = None,
    attacks: Annotated[
        list[str] | None,
        typer.Option(
            "--attack",
            metavar="NAME,...",
            show_default=False,
            callback=listed,
            help="Attacks to add that run on request only.",
        ),
    ] = None,
    population: Population = None,
    sampling_fraction: SamplingFraction = None,
) -> None:
    """Measure a release and write a document for sign-off.

    Checks, attacks and measures the release, read-only, and writes the figures in the terms of
    WP216, HIPAA Safe Harbor, EMA policy 0070 and ISO/IEC 27559, to print and sign. Exit code
    1: a requirement is not satisfied, or an attack exposes more than the requirements allow.
    """
    from kanon_sql.report.evidence import evidence_report
    from kanon_sql.verbs.evidence import evidence as measured

    spec = load_spec(spec_file)
    engine = run.connect(read_only=True)
    found = measured(
        engine,
        spec,
        table,
        external=external,
        external_is_sample=run.flag("external_is_sample"),
        on=on or (),
        earlier=earlier or (),
        attacks=attacks or (),
        population=population,
        sampling_fraction=sampling_fraction,
        zip_population=run.one("zip_population"),
        zip_people=run.one("zip_people"),
        timeout=run.timeout,
        report=run.report,
    )
    run.close()
    run.echo(evidence_report(found, run.format))  # type: ignore[arg-type]
    exit_with(found.passed)
