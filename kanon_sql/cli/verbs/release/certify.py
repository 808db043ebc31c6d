"""``release certify``: a certificate of a release, which an auditor can verify."""

from pathlib import Path
from typing import Annotated

import typer

from kanon_sql.cli.complete import directories, paths
from kanon_sql.cli.inputs import load_spec
from kanon_sql.cli.options import SpecFile
from kanon_sql.cli.outputs import exit_with, print_output
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session

__all__ = ["certify"]


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
    runs them again. Creates only temporary tables. Exit code 1: a claim does not hold.
    """
    from kanon_sql.verbs.certify import certify as run_certify

    spec = load_spec(spec_file)
    engine = run.connect(read_only=True, scratch="temp")
    found = run_certify(
        engine, spec, out, by=by, sign=sign, timeout=run.timeout, report=run.report, whole_boundary=whole_boundary
    )
    run.close()
    print_output(run, found)
    exit_with(found.passed)
