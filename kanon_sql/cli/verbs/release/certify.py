"""``release certify``: a certificate of a release, which an auditor can verify."""

from pathlib import Path
from typing import Annotated

import typer

from kanon_sql.cli.complete import directories, paths
from kanon_sql.cli.given import load_spec
from kanon_sql.cli.options import SpecFile
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.cli.written import exit_with, print_found

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
            help="The directory to write: a new or an empty one, or that of a certificate, which is replaced.",
        ),
    ],
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="NAME", show_default=False, help="Who certifies, for the certificate to name."),
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option(
            "--sign",
            metavar="KEY",
            show_default=False,
            autocompletion=paths(".pem"),
            help="Sign it with an Ed25519 private key, a PEM file without a password. Needs cryptography.",
        ),
    ] = None,
    whole_boundary: Annotated[
        bool,
        typer.Option(
            "--whole-boundary",
            help="Also prove of every node of the lattice whether it satisfies, where the requirements allow it.",
        ),
    ] = False,
) -> None:
    """Certify a release: plain SQL, what it says, and a verifier.

    Writes into DIRECTORY everything an independent auditor needs: statements that measure the
    release straight from the definitions, compare it with its source, and prove that no other
    generalization is better; their results; and verify_certificate.py, which runs them again.
    Creates tables of the session alone. The exit code is 1 if something does not hold.
    """
    from kanon_sql.verbs.certify import certify as run_certify

    spec = load_spec(spec_file)
    engine = run.connect(read_only=True, scratch="temp")
    found = run_certify(
        engine, spec, out, by=by, sign=sign, timeout=run.timeout, report=run.report, whole_boundary=whole_boundary
    )
    run.close()
    print_found(run, found)
    exit_with(found.passed)
