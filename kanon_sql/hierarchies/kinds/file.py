"""A hierarchy in a file of ARX's format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field

from kanon_sql.hierarchies.files import read_hierarchy
from kanon_sql.hierarchies.kind import Kind
from kanon_sql.registers import HIERARCHIES
from kanon_sql.spec import Origin, redact_location
from kanon_sql.spec.fields import FileName

__all__ = ["FileHierarchy"]


@HIERARCHIES.declare
class FileHierarchy(Kind):
    """A file in ARX's format: ``value;level 1;...;top`` per line."""

    name: ClassVar[str] = "file"
    place: ClassVar[int] = 4
    drawn: ClassVar[bool] = True
    lists_values: ClassVar[bool] = True
    fixed_height: ClassVar[bool] = True
    holds_labels: ClassVar[bool] = True
    takes_parents: ClassVar[bool] = True

    file: FileName = Field(description="A file in ARX's format: value;level 1;...;top.")

    @property
    def height(self) -> None:
        """Only the file says it."""

    def to_dict(self) -> dict[str, Any]:
        """As a spec has it."""
        return {"file": self.file}

    def redacted(self) -> dict[str, Any]:
        """Without a password in the path."""
        return {"file": redact_location(self.file)}

    def listed_rows(self, spec: Origin, *, several: bool = False) -> Sequence[tuple[str, ...]]:
        """The file's lines."""
        return read_hierarchy(spec.resolve(self.file), several=several)

    def level_name(self, level: int, columns: Sequence[str]) -> str:
        """Its column: labels of a file may be the data's own."""
        return f"column {level + 1} of the file"
