"""The verbs of a release that is out: new rows, evidence, a certificate, and the list of what was published."""

from pathlib import Path
from typing import Annotated

import typer

from kanon_sql.cli.complete import directories, paths
from kanon_sql.cli.inputs import load_spec, need_database, need_lasting, run_if_several, spec_of_several
from kanon_sql.cli.options import (
    EvidenceFormat,
    External,
    FailOnWarning,
    Manifest,
    On,
    OtherReleases,
    Population,
    SamplingFraction,
    SpecFile,
    listed,
    table_option,
)
from kanon_sql.cli.outputs import (
    exit_with,
    manifest_path,
    print_output,
    print_result,
    write_manifest,
    write_result_report,
)
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.errors import SpecError

__all__ = ["apply", "certify", "dictionary", "evidence", "ledger", "refresh"]


@verb(
    "kanon-sql release refresh spec.yml -d clinic.duckdb",
    "kanon-sql release refresh spec.yml --inserted new --batch a -d clinic.duckdb",
    "kanon-sql release refresh spec.yml --deleted gone --batch b -d clinic.duckdb",
    group="release",
    scratch=True,
)
def refresh(
    run: Session,
    spec_file: SpecFile,
    inserted: Annotated[
        str | None,
        typer.Option(
            "--inserted",
            metavar="TABLE",
            show_default=False,
            help="A table or query of new rows; if not given, the rows above the last watermark.",
        ),
    ] = None,
    deleted: Annotated[
        str | None,
        typer.Option(
            "--deleted",
            metavar="TABLE",
            show_default=False,
            help="A table or query of rows that have left the source.",
        ),
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(
            "--batch",
            metavar="NAME",
            show_default=False,
            help="Idempotency key of this batch: a batch is added once.",
        ),
    ] = None,
    verify_all: Annotated[
        bool, typer.Option("--verify-all", help="Verify the whole release, not only the added rows.")
    ] = False,
    manifest: Manifest = None,
    fail_on_warning: FailOnWarning = False,
) -> None:
    """Add new rows to a growing release, and remove rows from it.

    The spec needs state: {schema: ...}, which keeps the data for later refreshes; increments:
    {watermark: COLUMN} identifies new rows. The added rows are verified like a release of
    their own, so a reader who compares two versions finds only classes that satisfy the
    requirements. Rows that do not fit yet wait for a later refresh. Rows that left the source
    are removed in classes of at least k. List a changed row in both --inserted and --deleted.
    """
    from kanon_sql.spec import NEVER_GROWS
    from kanon_sql.verbs.refresh import refresh as run_refresh

    if spec_of_several(str(spec_file)) is not None:
        raise SpecError(f"release refresh: {NEVER_GROWS}")
    spec = load_spec(spec_file)
    path = manifest_path(manifest)
    need_lasting(run.database)
    engine = run.connect()
    result = run_refresh(
        engine,
        spec,
        inserted=inserted,
        deleted=deleted,
        batch=batch,
        verify_all=verify_all,
        timeout=run.timeout,
        report=run.report,
        fail_on_warning=fail_on_warning,
    )
    print_result(run, result)
    if path is not None and result.manifest is not None:
        write_manifest(path, result.manifest)
        run.message(f"manifest: {path}")
    exit_with(result.passed)


@verb(
    "kanon-sql release apply spec.yml learned -d clinic.duckdb",
    "kanon-sql release apply spec.yml learned -d clinic.duckdb -o r.json",
    group="release",
    scratch=True,
    reports=True,
)
def apply(
    run: Session,
    spec_file: SpecFile,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The name of the saved recoding, from recoding: {save_as: NAME} in the spec; of several tables, the "
            "released table of persons of the earlier release.",
            show_default=False,
        ),
    ],
    source: Annotated[
        str | None,
        typer.Option(
            "--source",
            metavar="TABLE",
            show_default=False,
            help="The table of new rows; if not given, the spec's source.",
        ),
    ] = None,
    release: Annotated[
        str | None,
        typer.Option(
            "--release",
            metavar="TABLE",
            show_default=False,
            help="The table to publish; if not given, the spec's release. Required with --source.",
        ),
    ] = None,
    manifest: Manifest = None,
    fail_on_warning: FailOnWarning = False,
) -> None:
    """Release new rows with a saved recoding, or publish nothing.

    With recoding: {save_as: NAME} in the spec, anonymize saves the levels or the classes of
    its release. Each new row gets the labels of the class that covers it with the least loss.
    The new release is verified by itself, like every release. Rows that no class covers are
    suppressed, as are rows of classes that would violate a requirement. Exit code 1: more rows
    would be suppressed than the spec allows, and nothing was published.

    Several tables are released at the levels of an earlier release with recoding: full_domain,
    under the names of the spec, as anonymize does.
    """
    from kanon_sql.verbs.apply import apply as run_apply
    from kanon_sql.verbs.details import counted_anyway

    given = {"--source": source is not None, "--release": release is not None, "--fail-on-warning": fail_on_warning}
    run_if_several(run, "apply", str(spec_file), given, manifest, name)
    spec = load_spec(spec_file)
    path = manifest_path(manifest)
    need_lasting(run.database)
    engine = run.connect()
    result = run_apply(
        engine,
        spec,
        name,
        source=source,
        release=release,
        timeout=run.timeout,
        report=run.report,
        details=run.report_file is not None or counted_anyway(engine, spec),
        fail_on_warning=fail_on_warning,
    )
    print_result(run, result)
    if path is not None and result.manifest is not None:
        write_manifest(path, result.manifest)
        run.message(f"manifest: {path}")
    write_result_report(run, result)
    exit_with(result.passed)


@verb(
    "kanon-sql release dictionary spec.yml -d clinic.duckdb -o visits_release.md",
    "kanon-sql release dictionary spec.yml -d clinic.duckdb --comment",
    group="release",
    formats=None,
    product="dictionary",
)
def dictionary(
    run: Session,
    spec_file: SpecFile,
    table: Annotated[
        str | None,
        table_option("The release to describe"),
    ] = None,
    comment: Annotated[
        bool,
        typer.Option("--comment", help="Also write a comment on each column of the spec's release in the database."),
    ] = False,
) -> None:
    """Write the data dictionary of a release, as Markdown, for those who receive it.

    Checks the release, then lists its columns, and each label of a quasi-identifier with its
    level, the number of values that it stands for, and its rows. A label of fewer than k rows
    is not named; values that are released unchanged are not listed.
    """
    from kanon_sql.report.evidence import dictionary_markdown
    from kanon_sql.verbs.evidence import data_dictionary, write_comments

    if comment and table is not None:
        raise SpecError("--comment: only the spec's own release gets comments; leave --table out")
    spec = load_spec(spec_file)
    if comment:
        need_database(run.database)
    engine = run.connect(read_only=not comment)
    found = data_dictionary(engine, spec, table, timeout=run.timeout, report=run.report)
    if comment:
        write_comments(engine, spec, found, timeout=run.timeout)
    run.close()
    run.echo(dictionary_markdown(found))


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
        table_option("The table to measure"),
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
            help="Attacks to add, of those that run only if you name them.",
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


@verb(
    "kanon-sql release certify spec.yml -d clinic.duckdb -o certificate",
    "kanon-sql release certify spec.yml -d clinic.duckdb -o signed --sign key.pem",
    "python certificate/verify_certificate.py certificate -d clinic.duckdb",
    group="release",
    product=None,
)
def certify(
    run: Session,
    spec_file: SpecFile,
    out: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="DIRECTORY",
            show_default=False,
            autocompletion=directories,
            help="The directory to write: new, empty, or that of an earlier certificate, which is replaced.",
        ),
    ],
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="NAME",
            show_default=False,
            help="The name of the certifying person or organization, for the certificate.",
        ),
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option(
            "--sign",
            metavar="KEY",
            show_default=False,
            autocompletion=paths(".pem"),
            help="Sign the certificate with this Ed25519 private key, a PEM file without a password. Needs "
            "cryptography.",
        ),
    ] = None,
    whole_boundary: Annotated[
        bool,
        typer.Option(
            "--whole-boundary",
            help="Also prove for every lattice node whether it satisfies the requirements, if they allow such a proof.",
        ),
    ] = False,
) -> None:
    """Certify a release: plain SQL, its results, and a verifier.

    Writes everything that an independent auditor needs into a directory: statements that
    measure the release straight from the definitions, compare it with its source and prove
    that no other generalization is better; their results; and verify_certificate.py, which
    runs them again. The spec may be one of several tables. Creates only temporary tables.
    Exit code 1: a claim does not hold.
    """
    from kanon_sql.verbs.certify import certify as run_certify

    spec = spec_of_several(str(spec_file)) or load_spec(spec_file)
    engine = run.connect(read_only=True, scratch="temp")
    found = run_certify(
        engine, spec, out, by=by, sign=sign, timeout=run.timeout, report=run.report, whole_boundary=whole_boundary
    )
    run.close()
    print_output(run, found)
    exit_with(found.passed)


@verb(
    "kanon-sql release ledger -d clinic.duckdb",
    "kanon-sql release ledger releases -d clinic.duckdb --format json",
    group="release",
)
def ledger(
    run: Session,
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="The ledger's table, as named in the spec.")
    ] = "kanon_sql_ledger",
) -> None:
    """List the releases that a ledger records.

    If a spec names a ledger, anonymize records every release in it, and refuses a release
    that violates a requirement together with earlier ones. Opens the database read-only.
    """
    from kanon_sql.verbs.ledger import ledger as run_ledger

    need_database(run.database)
    engine = run.connect(read_only=True, scratch="inline")
    result = run_ledger(engine, table, timeout=run.timeout, report=run.report)
    run.close()
    print_output(run, result)
