"""What ``certify`` wrote, as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kanon_sql.spec import Printed
from kanon_sql.verbs.result import Cost

__all__ = ["Certificate"]


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
    content: Mapping[str, Any]
    cost: Cost

    @property
    def passed(self) -> bool:
        """Whether all that is claimed holds."""
        return self.verdict == "pass"

    @property
    def claims(self) -> Sequence[Mapping[str, Any]]:
        """The claims, in the order in which they are verified."""
        found: Sequence[Mapping[str, Any]] = self.content["claims"]
        return found

    @property
    def not_certified(self) -> Sequence[Mapping[str, str]]:
        """What nothing is claimed of, and why."""
        found: Sequence[Mapping[str, str]] = self.content["not_certified"]
        return found

    @property
    def message(self) -> str:
        """What there is to say of it, in a sentence."""
        release = self.content["release"]
        if self.problems:
            return f"{release}: {len(self.problems)} of the claims do not hold: {self.problems[0]}"
        proven = "and that no other node is better" if self.content["optimality"] is not None else "without optimality"
        return f"certified {release} by {len(self.claims)} claims, {proven}"

    def to_dict(self) -> dict[str, Any]:
        """``certificate.json``, JSON-compatible."""
        return dict(self.content)
