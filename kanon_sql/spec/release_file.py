"""A release that is a file instead of a table: what a spec says of it, and what it cannot stand beside.

What other keys keep beside a release is kept in tables of its database: a file has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field, ValidationError

from kanon_sql.spec.checks import Fault, Part, fail, kind, shaped, text
from kanon_sql.spec.fields import table_name
from kanon_sql.spec.release_view import AS_VIEW_KEY

if TYPE_CHECKING:
    from kanon_sql.spec.model import Spec

__all__ = ["AS_KEY", "FILE_ENDINGS", "STREAM", "ReleaseFile", "apart", "release_file_faults", "together"]

STREAM = "-"
"""In the place of a file: standard input or output, which only the command line has."""

AS_KEY = "release_file"
"""The field of a spec that holds what ``release: {file: ...}`` says; as a key of its own it is not written."""

FILE_ENDINGS = (".parquet", ".csv", ".xlsx", ".dta", ".sav")
"""How the names of files end that a release can be."""

_PATTERNS = "*?["
"""Who reads a file by a name with one of these gets all files that fit."""


@shaped({"type": "string", "minLength": 1})
def _file(value: object) -> str:
    name = text("a file name")(value)
    if name == STREAM:
        return name
    if "://" in name:
        fail("expected a local file, got a URL; write a local file, then copy it")
    if any(character in name for character in _PATTERNS):
        fail(f"a name with one of {' '.join(_PATTERNS)} would be read as a pattern; choose another name")
    if not name.lower().endswith(FILE_ENDINGS) or Path(name).name.startswith("."):
        fail(f"expected a name that ends in one of {', '.join(FILE_ENDINGS)}, or - for standard output (CSV)")
    return name


class ReleaseFile(Part):
    """Where a release is published that is a file.

    Attributes:
        file: a path, relative to the spec file, of a Parquet or CSV file, or one for Excel, Stata or SPSS; ``-`` for
            standard output.
    """

    expected: ClassVar[str] = "a table name, {file: ...} or {view: ...}"

    file: Annotated[str, _file] = Field(
        description="The file: Parquet, CSV, .xlsx (Excel), .dta (Stata) or .sav (SPSS); - for standard output."
    )

    @classmethod
    def written(cls, value: Any) -> Any:
        """Without its one key, nothing says that a file is meant."""
        if isinstance(value, Mapping) and "file" not in value:
            fail(f"expected {cls.expected}, got {kind(value)}")
        return value


def apart(value: Any) -> Any:
    """A spec as it is written, with a release that is a file or a view under a key of its own."""
    if not isinstance(value, Mapping):
        return value
    if AS_KEY in value:
        fail(f"unknown key {AS_KEY!r}; write release: {{file: out.parquet}}")
    if AS_VIEW_KEY in value:
        fail(f"unknown key {AS_VIEW_KEY!r}; write release: {{view: NAME, accept_sequence_risk: true}}")
    release = value.get("release")
    if isinstance(release, Mapping):
        if "view" in release:
            return {**value, "release": _named(release["view"]), AS_VIEW_KEY: release}
        return {**value, "release": None, AS_KEY: release}
    return value


def _named(view: object) -> object:
    """A view's name, where it is one: what is wrong with it is said of the view alone."""
    try:
        return table_name(view)
    except ValidationError:
        return None


def together(loc: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Where in the spec as it is written a problem lies."""
    return ("release", *loc[1:]) if loc[:1] in ((AS_KEY,), (AS_VIEW_KEY,)) else loc


def release_file_faults(spec: Spec) -> Iterator[Fault]:
    """What a release cannot have that is a file."""
    if spec.release_file is None:
        return
    unsupported = {
        "ledger": (spec.ledger is not None, "a ledger compares tables of one database"),
        "recoding": (spec.recoding.save_as is not None, "recoding.save_as is a table in the release's schema"),
    }
    for key, (asked, why) in unsupported.items():
        if asked:
            yield Fault((key,), f"{why}, and this release is a file; publish a table, or leave it out", True)
    for named in (spec.m_invariance, spec.differential_privacy):
        if named is not None:
            why = f"{named.name} keeps a history in a table of the release's schema"
            yield Fault(("release",), f"{why}; publish a table")
    source, release = spec.source.file, spec.release_file.file
    if source is not None and source != STREAM and Path(source) == Path(release):
        yield Fault(("release", "file"), "the release would replace the source file; choose another name")
