"""What all specs share: they are of a kind, and are read from a file, a text or plain data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import PrivateAttr, ValidationError

from kanon_sql.errors import Problem, SpecError
from kanon_sql.spec.checks import AT_KEY, Check, Fault, Faults, Part, choice, fail
from kanon_sql.spec.checks import kind as kind_of
from kanon_sql.spec.display import Displayed, as_yaml
from kanon_sql.spec.load import Document, read_mapping, read_yaml
from kanon_sql.spec.redact import redact_location, redact_sql
from kanon_sql.spec.sections import Source

__all__ = [
    "KINDS",
    "NEVER_GROWS",
    "SpecDocument",
    "first_version",
    "in_kind",
    "only_kind",
    "redacted_source",
]


KINDS: Mapping[str, str] = {
    "release": "kanon-sql anonymize",
    "table": "kanon-sql publish table",
    "positions": "kanon-sql publish positions",
    "perturbed": "kanon-sql publish perturbed",
}
"""What a spec is of -> the verb that makes it."""

NEVER_GROWS = (
    "a release of several tables does not grow, since its keys would show which rows of a person are new; release new "
    "persons with kanon-sql release apply"
)
"""Why a spec of several tables is not for ``refresh``."""


def in_kind(kind: str) -> str:
    """The message about a key that belongs into a spec of this kind."""
    return f"this key belongs in a spec of kind: {kind}, for {KINDS[kind]}; leave it out, or move it there"


def only_kind(kind: str) -> Check[str]:
    """A check that a spec is of this kind, which names the verb that reads one of another kind."""
    known = choice("kind of spec", tuple(KINDS))

    def check(value: object) -> str:
        given = known(value)
        if given != kind:
            fail(f"expected {kind}, got {given}; run this spec with {KINDS[given]}")
        return given

    return Check(check)


def first_version(kind: str) -> Check[int]:
    """A check for the number of a format's only version."""

    def check(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            fail(f"expected version 1, got {kind_of(value)}")
        if value != 1:
            fail(f"this version of kanon_sql reads {kind}s of version 1 only; expected version: 1")
        return 1

    return Check(check)


def _binary_kind(content: bytes) -> str | None:
    """What a file is that is no text, by its first bytes; None if they do not say."""
    known = (
        (8, b"DUCK", "a DuckDB database"),
        (0, b"SQLite format 3\0", "an SQLite database"),
        (0, b"PAR1", "a Parquet file"),
        (0, b"PK\x03\x04", "a spreadsheet or an archive"),
    )
    return next((what for start, mark, what in known if content[start : start + len(mark)] == mark), None)


def redacted_source(source: Source) -> Any:
    """What a manifest says of a source: no literals of SQL, and no passwords."""
    if source.query is not None:
        return {"query": redact_sql(source.query)}
    if source.file is None:
        return source.to_dict()
    shown = source.to_dict()
    assert isinstance(shown, dict)
    return {**shown, "file": redact_location(source.file)}


class SpecDocument(Displayed, Part):
    """A spec that a user writes a file for.

    Attributes:
        called: what messages call it.
        of_kind: the value of its key ``kind``.
        of_several: whether it is of several tables.
        made_by: who else writes such files, for messages.
    """

    called: ClassVar[str]
    of_kind: ClassVar[str] = "release"
    of_several: ClassVar[bool] = False
    made_by: ClassVar[str] = ""
    __repr__ = Part.__repr__

    _base_dir: Path = PrivateAttr(default_factory=Path.cwd)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read the spec from a file (YAML 1.2, UTF-8).

        Raises:
            SpecError: the file cannot be read or the spec is wrong; it lists all problems.
        """
        name = str(path)
        try:
            content = Path(path).read_bytes()
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a file name"
            expected = f"expected a YAML file{cls.made_by}"
            raise SpecError([Problem(f"cannot read the {cls.called}: {reason}; {expected}", name)]) from None
        try:
            document = read_yaml(content.decode("utf-8-sig"), name)
        except UnicodeDecodeError as error:
            if (what := _binary_kind(content)) is not None:
                why = f"it is {what} and no {cls.called}; the {cls.called} comes first, and a database after -d"
                raise SpecError([Problem(why, name)]) from None
            line = content[: error.start].count(b"\n") + 1
            raise SpecError([Problem(f"not UTF-8 text; save the {cls.called} as UTF-8", name, line)]) from None
        if isinstance(document.data, dict) and "run_id" in document.data:
            raise SpecError(
                [Problem("this is a manifest, which holds no value of a hierarchy; give the spec of its release", name)]
            )
        return cls._of(document, Path(path).absolute().parent)

    @classmethod
    def parse(cls, text: str, name: str = "<spec>") -> Self:
        """Read the spec from YAML text; ``name`` stands for the file in messages.

        Raises:
            SpecError: the spec is wrong; it lists all problems.
        """
        return cls._of(read_yaml(text, name))

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any]) -> Self:
        """Check a spec given as plain data, in the form that :meth:`to_dict` gives.

        Raises:
            SpecError: the spec is wrong; it lists all problems.
        """
        return cls._of(read_mapping(mapping))

    @classmethod
    def _of(cls, document: Document, base_dir: Path | None = None) -> Self:
        faults: list[Fault] = []
        spec = None
        try:
            spec = cls.model_validate(document.data)
        except ValidationError as error:
            for line in error.errors(include_url=False, include_input=False):
                faults.append(Fault(cls.place(tuple(line["loc"])), line["msg"], line["type"] == AT_KEY))
        if spec is None or document.problems:
            raise document.error(faults)
        if base_dir is not None:
            spec._base_dir = base_dir
        return spec

    @classmethod
    def written(cls, value: Any) -> Any:
        """A spec of another kind has other keys: that it is one is the only problem then."""
        given = value.get("kind") if isinstance(value, Mapping) else None
        faults = Faults()
        if isinstance(given, str) and given in KINDS:
            faults.attempt(("kind",), only_kind(cls.of_kind), given)
        if not cls.of_several and SpecDocument.is_of_several(value):
            verbs = "plan, anonymize, check, audit, compare, report, explore, release apply and release certify"
            why = (
                f"this is a spec of several tables, which only {verbs} read; for other commands write a spec of each "
                "table, without person and tables (doctor needs no spec)"
            )
            faults.add(("person",), why, at_key=True)
        faults.finish()
        return value

    @staticmethod
    def is_of_several(value: object) -> bool:
        """Whether plain data is a spec of several tables: it says which is that of persons."""
        return isinstance(value, Mapping) and isinstance(value.get("person"), Mapping)

    @classmethod
    def place(cls, location: tuple[str | int, ...]) -> tuple[str | int, ...]:
        """Where in the file a fault of a field is."""
        return location

    def to_yaml(self) -> str:
        """The whole spec as YAML, without passwords, literals of SQL, and labels of hierarchies.

        Without these, :meth:`parse` reads it back.
        """
        return as_yaml(self.redacted())

    @abstractmethod
    def redacted(self) -> dict[str, Any]:
        """Return what :meth:`to_dict` does for a manifest."""

    @property
    def base_dir(self) -> Path:
        """The directory of the spec's file; the working directory for a spec without a file."""
        return self._base_dir

    def resolve(self, path: str | Path) -> Path:
        """Return a path of the spec; relative paths are relative to its file."""
        return self._base_dir / path

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the spec as JSON-compatible plain data with all defaults; :meth:`from_dict` reads it back."""

    @property
    @abstractmethod
    def hash(self) -> str:
        """SHA-256 (hex) of what distinguishes specs."""

    def __eq__(self, other: object) -> bool:
        """Two specs are equal when they say the same, wherever their files are."""
        return isinstance(other, type(self)) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash(self.hash)
