"""``certify``: make the claims, sign them, and write them into a directory with the verifier."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kanon_sql.engines import (
    Engine,
    Reporter,
    Workspace,
    now,
    open_workspace,
    session_statements,
    write_private,
)
from kanon_sql.errors import SpecError, UnsupportedError, refuse
from kanon_sql.frequency import open_table, source_columns, source_of
from kanon_sql.hierarchies import refuse_mixed_forms
from kanon_sql.relations import Placed
from kanon_sql.release import published_manifest
from kanon_sql.spec import PERSON, Origin, RelationalSpec, Spec, format_table_name
from kanon_sql.sql import source_relation
from kanon_sql.verbs.certify.book import Book, as_json, digest
from kanon_sql.verbs.certify.definitions import NotCertified, attributes_of, definitions_of
from kanon_sql.verbs.certify.ground import lay_ground
from kanon_sql.verbs.certify.optimality import prove, why_unproven
from kanon_sql.verbs.certify.provenance import claim_provenance
from kanon_sql.verbs.certify.release import claim_release
from kanon_sql.verbs.certify.result import Certificate
from kanon_sql.verbs.certify.several import claim_several
from kanon_sql.verbs.certify.verify_certificate import FORMAT, check_lattice, wrong
from kanon_sql.verbs.preflight import Options, obstacles
from kanon_sql.verbs.run import refuse_perturbed, running
from kanon_sql.verbs.target_table import as_published
from kanon_sql.version import __version__, how_to_install

__all__ = ["Signer", "certify"]

VERIFIER = ("verify_certificate.py", "open_database.py")
"""The verifier, and what opens a database for it."""

_OWN = ("certificate.json", "certificate.sha256", "certificate.sig", *VERIFIER)


def certify(
    engine: Engine,
    spec: Spec | RelationalSpec,
    out: str | Path,
    *,
    by: str | None = None,
    sign: str | Path | None = None,
    timeout: float | None = None,
    report: Reporter | None = None,
    whole_boundary: bool = False,
) -> Certificate:
    """Write a certificate of a release: plain SQL, what it says, and a verifier that needs none of this package.

    What is certified: that the classes of the release satisfy the requirements, straight from their definitions; that
    its cells are labels and its rows the source's; of full-domain recoding whose search is proven, that no
    other node of the lattice is better; and where the release comes from. What is not is named, with the reason.

    Args:
        engine: from :func:`kanon_sql.connect`, with temporary tables; nothing else is created.
        spec: the spec that the release was published by; of several tables too.
        out: the directory to write: a new or an empty one, or that of an earlier certificate, which is replaced.
        by: who certifies, as the certificate is to name them.
        sign: a PEM file with an Ed25519 private key; the signature is written beside the certificate.
        timeout: seconds for the whole run; None for no limit.
        report: called with each stage in plain words.
        whole_boundary: also prove of every node of the lattice whether it satisfies, where the requirements allow
            that; of a small lattice it is done anyhow.

    Returns:
        The certificate. Its verdict is ``fail`` where something that was to be certified does not hold; it is
        written all the same, and its verifier says the same.

    Raises:
        SpecError: there is no release or no manifest of it, another spec published it, or the directory holds
            something else.
        UnsupportedError: the engine has no temporary tables that are read twice; the release is a sample, or made
            by differential privacy or m-invariance; or cryptography is not installed.
        KanonError: any other error of :mod:`kanon_sql.errors`.

    Examples:
        >>> from tempfile import mkdtemp
        >>> _ = kanon_sql.anonymize(db, spec)
        >>> certificate = kanon_sql.certify(db, spec, mkdtemp())
        >>> certificate.passed, certificate.claims[1]["rows"][0][:3]
        (True, [600, 600, 0])
    """
    directory = Path(out)
    several = isinstance(spec, RelationalSpec)
    refuse(obstacles(engine, spec, "certify_tables" if several else "certify", Options(directory=directory)))
    if several and whole_boundary:
        raise SpecError("--whole-boundary: nothing is proven of the lattice of several tables; leave it out")
    signer = None if sign is None else Signer(Path(sign))
    with running(engine, timeout, report) as run:
        if isinstance(spec, RelationalSpec):
            manifest = _manifest_of_several(engine, spec)
            with open_workspace(engine, "") as workspace:
                book, content = claim_several(workspace, spec, manifest)
        else:
            assert spec.release is not None
            refuse_perturbed(engine, spec.source.table, spec.release)
            spec = as_published(engine, spec, spec.release)
            assert spec.release is not None
            manifest = _manifest(engine, spec, spec.release)
            with open_workspace(engine, source_of(engine, spec)) as workspace:
                book, content = _claimed(workspace, spec, manifest, whole_boundary=whole_boundary)
    proof = content["optimality"]
    rows_of = {claim.id: claim.rows for claim in book.claims}
    problems = [
        *book.problems,
        *(f"{claim.says}: {why}" for claim in book.claims for why in wrong(claim.to_dict(), claim.columns, claim.rows)),
        *(
            []
            if proof is None
            else [f"{proof['says']}: {why}" for why in list(check_lattice(proof, rows_of, manifest["spec"]))[:5]]
        ),
    ]
    verifier = {name: Path(__file__).with_name(name).read_text(encoding="utf-8") for name in VERIFIER}
    files = {**book.files, **verifier}
    content = {
        "format": FORMAT,
        "verdict": "fail" if problems else "pass",
        "problems": problems,
        "made": {
            "at": now(), "by": by, "kanon_sql": __version__,
            "engine": f"{engine.dialect.name} {engine.version}".strip(), "dialect": engine.dialect.name,
        },
        "release": manifest["release"],
        "spec": manifest["spec"],  # with the same hash, and as it is in the database
        "spec_hash": spec.hash,
        "session": session_statements(engine),
        "setup": book.setup,
        "files": {path: digest(text) for path, text in files.items()},
        **content,
    }  # fmt: skip
    text = as_json(content)
    _write(directory, files, text, signer)
    return Certificate("fail" if problems else "pass", problems, directory, digest(text), json.loads(text), run.cost)


def _manifest(engine: Engine, spec: Origin, release: tuple[str, ...]) -> Mapping[str, Any]:
    """What the run that published a table left beside it.

    Raises:
        SpecError: nothing is known of the table, or another spec published it.
    """
    run_id = engine.mark(release)
    if run_id is None:
        open_table(engine, spec, release)  # which says so if there is none
        if engine.exists(release) == "view":
            raise SpecError(
                f"release: {'.'.join(release)} is a view, whose rows change with its source, and a certificate is "
                "about rows that stay; certify a released table"
            )
        raise SpecError(
            f"release: {'.'.join(release)} has no run mark, so its origin is unknown; certify a release that "
            "anonymize has published"
        )
    schema = format_table_name(release[:-1]) if release[:-1] else None
    manifest = published_manifest(engine, run_id, schema)
    if manifest["spec_hash"] != spec.hash:
        raise SpecError(
            f"release: {'.'.join(release)} was published by another spec (its hash is "
            f"{manifest['spec_hash'][:12]}, and that of this one {spec.hash[:12]}); give the spec that published it"
        )
    return manifest


def _manifest_of_several(engine: Engine, spec: RelationalSpec) -> Mapping[str, Any]:
    """What the run that published several tables left beside them, with the name of the released persons.

    Raises:
        SpecError: nothing is known of one of the tables, another spec published it, or another run than the others.
    """
    found = {name: _manifest(engine, Placed(spec, name), spec.released(name)) for name in (PERSON, *spec.below)}
    if len({item["run_id"] for item in found.values()}) > 1:
        names = ", ".join(".".join(spec.released(name)) for name in found)
        raise SpecError(f"release: {names} were not published by one run; publish them together again")
    return {**found[PERSON], "release": ".".join(spec.released(PERSON))}


def _claimed(
    workspace: Workspace, spec: Spec, manifest: Mapping[str, Any], *, whole_boundary: bool
) -> tuple[Book, dict[str, Any]]:
    """All claims, and the parts of the certificate that are no claims."""
    assert spec.release is not None
    engine = workspace.engine
    columns = source_columns(workspace, spec, source_of(engine, spec))
    definitions, left = definitions_of(spec)
    looked_at = attributes_of(definitions)
    opened = open_table(engine, spec, spec.release)
    _need(spec, opened.columns, looked_at)
    used = [*spec.quasi_identifiers, *looked_at, *([] if spec.unit is None else [spec.unit])]
    refuse_mixed_forms(workspace, source_relation(), {name: columns[name] for name in used})
    opened.refuse_inexact(workspace, list(opened.columns))
    book = Book(workspace)
    ground = lay_ground(book, spec, columns, opened.relation, looked_at)
    limit = spec.suppression.most(int(manifest["rows"]["source"]))
    left += claim_release(book, ground, opened.relation, definitions, manifest, limit)
    proof = None
    why = why_unproven(spec, manifest, definitions, left_requirements(left, spec))
    if why is None:
        made = prove(book, ground, definitions, manifest["node"], limit, boundary_of_all=whole_boundary)
        if isinstance(made, NotCertified):
            left.append(made)
        else:
            proof = made
    else:
        left.append(NotCertified("that no other release is better", why))
    provenance = claim_provenance(book, ground, manifest)
    return book, {
        "claims": [claim.to_dict() for claim in book.claims],
        "optimality": proof,
        "not_certified": [item.to_dict() for item in left],
        "provenance": provenance,
    }


def left_requirements(left: Sequence[NotCertified], spec: Spec) -> list[NotCertified]:
    """Those of what is not certified that are requirements."""
    _, requirements = definitions_of(spec)
    return [item for item in left if item in requirements]


def _need(spec: Spec, released: Mapping[str, Any], looked_at: Sequence[str]) -> None:
    missing = [name for name in (*spec.quasi_identifiers, *looked_at) if name not in released]
    if missing:
        raise SpecError(
            f"release: it has no column {missing[0]!r}, which the spec releases, so it is not the published table; "
            "publish again"
        )


def _write(directory: Path, files: Mapping[str, str], text: str, signer: Signer | None) -> None:
    """Write everything, for its owner alone to read, after what an earlier certificate left."""
    try:
        for path in _earlier(directory):
            path.unlink(missing_ok=True)
        (directory / "sql").mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            write_private(directory / name, content)
        write_private(directory / "certificate.json", text)
        write_private(directory / "certificate.sha256", f"{digest(text)}  certificate.json\n")
        if signer is not None:
            write_private(directory / "certificate.sig", signer.sign(text.encode()))
    except OSError as error:
        raise SpecError(
            f"--output {directory}: the certificate cannot be written: {error.strerror or type(error).__name__}; give "
            "a writable directory"
        ) from None


def _earlier(directory: Path) -> Iterator[Path]:
    if directory.is_dir():
        yield from (directory / name for name in _OWN)
        yield from (directory / "sql").glob("[0-9][0-9][0-9]_*.sql")


class Signer:
    """A private key.

    Args:
        path: a PEM file of it, without a password, as ``openssl genpkey -algorithm ed25519`` writes it.

    Raises:
        UnsupportedError: the package cryptography is not installed.
        SpecError: the file holds no such key.
    """

    def __init__(self, path: Path) -> None:
        try:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
            from cryptography.hazmat.primitives.serialization import load_pem_private_key
        except ImportError:
            raise UnsupportedError(
                f"signing a certificate needs cryptography, which is not installed; {how_to_install('certify')}"
            ) from None
        expected = (
            "expected an Ed25519 private key in PEM format without a password, as made by: openssl genpkey "
            "-algorithm ed25519"
        )
        try:
            key = load_pem_private_key(path.read_bytes(), None)
        except OSError as error:
            raise SpecError(f"--sign {path}: {error.strerror or type(error).__name__}; {expected}") from None
        except (ValueError, TypeError):
            raise SpecError(f"--sign {path}: the file holds no such key; {expected}") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise SpecError(f"--sign {path}: the file holds another kind of key; {expected}")
        self._key = key

    def sign(self, content: bytes) -> bytes:
        """The signature, 64 bytes."""
        return self._key.sign(content)
