"""What ``certify`` wrote, as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

from kanon_sql.spec import Keywords, Like, Printed
from kanon_sql.verbs.certify.book import Claim, Digest
from kanon_sql.verbs.certify.definitions import NotCertified
from kanon_sql.verbs.certify.optimality import Optimality
from kanon_sql.verbs.certify.provenance import Provenance
from kanon_sql.verbs.certify.verify_certificate import FORMAT
from kanon_sql.verbs.result import Cost

__all__ = ["Certificate", "Content"]


class MadeBy(TypedDict):
    """When a certificate was made, its author, and the program that made it.

    Attributes:
        at: when, UTC, ISO 8601.
        by: who certifies, as they asked to be named; None where no one is named.
        kanon_sql: the version.
        engine: the database's name and version.
        dialect: of the SQL files.
    """

    at: str
    by: str | None
    kanon_sql: str
    engine: str
    dialect: str


class Content(TypedDict):
    """``certificate.json``, and what certify prints with --format json: claims of a release, each with its SQL.

    Attributes:
        format: of this file.
        verdict: ``pass`` where all that is claimed holds.
        problems: what does not hold, in words.
        made: when it was made, and by what.
        release: the name of the released table.
        spec: the spec that published it, without literals of SQL and labels of trees.
        spec_hash: SHA-256 of the whole spec.
        session: statements that a session runs first, so that the files mean the same to it.
        setup: the files that make the tables of the session, in order.
        files: file -> its SHA-256.
        claims: in the order in which they are verified.
        optimality: that no other node is better; None where that is not claimed.
        not_certified: what nothing is claimed of, and why.
        provenance: where the release comes from.
    """

    format: Annotated[str, Keywords(const=FORMAT)]
    verdict: Literal["pass", "fail"]
    problems: Sequence[str]
    made: MadeBy
    release: str
    spec: Mapping[str, Any]
    spec_hash: Digest
    session: Sequence[str]
    setup: Sequence[str]
    files: Mapping[str, Digest]
    claims: Sequence[Annotated[Mapping[str, Any], Like(Claim)]]
    optimality: Optimality | None
    not_certified: Sequence[Annotated[Mapping[str, Any], Like(NotCertified)]]
    provenance: Provenance


@dataclass(frozen=True, repr=False)
class Certificate(Printed):
    """A certificate that was written.

    Attributes:
        verdict: ``pass`` where all that is claimed holds.
        problems: what does not, in words.
        directory: where its files are.
        sha256: the digest of ``certificate.json``, to be noted where no one can change it.
        content: ``certificate.json``.
        cost: what making it took.

    Examples:
        >>> from tempfile import mkdtemp
        >>> _ = kanon_sql.anonymize(db, spec)
        >>> certificate = kanon_sql.certify(db, spec, mkdtemp())
        >>> certificate.verdict, certificate.problems, certificate.not_certified
        ('pass', [], [])
        >>> sorted(path.name for path in certificate.directory.iterdir())
        ['certificate.json', 'certificate.sha256', 'open_database.py', 'sql', 'verify_certificate.py']
    """

    verdict: Literal["pass", "fail"]
    problems: Sequence[str]
    directory: Path
    sha256: str
    content: Content
    cost: Cost

    @property
    def passed(self) -> bool:
        """Whether all that is claimed holds."""
        return self.verdict == "pass"

    @property
    def claims(self) -> Sequence[Mapping[str, Any]]:
        """The claims, in the order in which they are verified."""
        return self.content["claims"]

    @property
    def not_certified(self) -> Sequence[Mapping[str, Any]]:
        """What nothing is claimed of, and why."""
        return self.content["not_certified"]

    @property
    def message(self) -> str:
        """What there is to say of it, in a sentence."""
        release = self.content["release"]
        if self.problems:
            return f"{release}: {len(self.problems)} of the claims do not hold: {self.problems[0]}"
        spec = self.content["spec"]
        below = len(spec["tables"]) + len(spec["items"]) if "person" in spec else 0
        if below:
            release = f"{release} and {below} tables below it" if below > 1 else f"{release} and the table below it"
        proven = "and that no other node is better" if self.content["optimality"] is not None else "without optimality"
        return f"certified {release} by {len(self.claims)} claims, {proven}"

    def to_dict(self) -> dict[str, Any]:
        """``certificate.json``, JSON-compatible."""
        return dict(self.content)
