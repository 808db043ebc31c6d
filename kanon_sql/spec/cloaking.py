"""The spec of a cloaked release: positions and times, each row as fine as k people together allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from kanon_sql.spec.checks import Fault, Part, chosen, integer, items, text
from kanon_sql.spec.document import SpecDocument, first_version, in_kind, only_kind, redacted_source
from kanon_sql.spec.fields import ColumnName, TableName
from kanon_sql.spec.json_schema import tidied, titled
from kanon_sql.spec.keys import ColumnKey, parts_of_key, written_key
from kanon_sql.spec.names import folded, format_table_name
from kanon_sql.spec.positions import Lbqid, Position, Slices, digits_of, parse_lbqids
from kanon_sql.spec.redact import sha256
from kanon_sql.spec.sections import Source, Suppression
from kanon_sql.spec.warning_options import CloakWarnings

__all__ = ["CloakSpec", "PersonalK"]

BITS = 61
"""Of a key: both coordinates, and the slices of time within each other, whose last index takes what is left."""

FEWEST_SLICES = 12
"""Bits for the coarsest slices: a few thousand of them after the origin."""

MOST_GRIDS = 200
"""Grids that are tried at most: each takes some statements."""


class PersonalK(Part):
    """How many people each row is to be cloaked among: a number for all, or a column with the k of each row.

    Attributes:
        k: people for every row; None with a column.
        column: the column of whole numbers with the k of each row.
        default: the k of a row without one (NULL).
    """

    expected: ClassVar[str] = "a whole number of at least 2, or {column: wanted_k, default: 5}"

    k: Annotated[int | None, integer("k", 2)] = None
    column: ColumnName | None = Field(
        default=None, description="The column that holds the k of each row (personalized k-anonymity)."
    )
    default: Annotated[int | None, integer("a default", 1)] = Field(
        default=None, description="The k of rows whose column is NULL."
    )

    @classmethod
    def written(cls, value: Any) -> Any:
        """A number alone is k."""
        return {"k": value} if isinstance(value, int) and not isinstance(value, bool) else value

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """A number, or a column with a default."""
        if ("k" in given) == ("column" in given):
            yield Fault((), f"expected {cls.expected}", True)
        elif ("column" in given) != ("default" in given):
            yield Fault((), "a column needs a default, and a default a column: {column: wanted_k, default: 5}", True)

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = dict(handler.resolve_ref_schema(handler(core)))
        schema["properties"].pop("k")
        for item in schema["properties"].values():
            item.pop("default", None)
        return {"anyOf": [{"type": "integer", "minimum": 2}, {**schema, "required": ["column", "default"]}]}

    @property
    def notation(self) -> str:
        """Such as ``5`` or ``wanted_k (5 where NULL)``."""
        return str(self.k) if self.column is None else f"{self.column} ({self.default} where NULL)"

    def to_dict(self) -> int | dict[str, Any]:
        """JSON that reads back as this k."""
        return self.k if self.k is not None else {"column": self.column, "default": self.default}


class CloakSpec(SpecDocument):
    """The spec of a cloaked release, checked. Make one with :meth:`load`, :meth:`parse` or :meth:`from_dict`.

    Attributes:
        version: the version of the format, 1.
        kind: ``positions``, which is cloaked positions.
        source: the table, view, query or file of positions.
        release: the table to publish; None where nothing is published.
        unit: the column that identifies the person whose position a row is. It is never released.
        position: the columns of the position, and their quad-tree.
        time: the column of time, and its slices; None where time does not matter.
        coarsen: what is coarsened first, space or time.
        k: how many people each row is cloaked among.
        anonymity_set: who counts: ``released``, the people whose rows are released with the very same label; or
            ``present``, all people who were in the cell and slice, whatever their own rows say.
        suppression: how many rows may be left out, those outside of the bounds included.
        keep: columns that are released as they are; nothing is required of them.
        lbqids: patterns of movement; whose rows show one must share them with k people.
        warnings: what becomes of each warning: an error, a warning, or nothing.

    Examples:
        >>> spec = kanon_sql.CloakSpec.from_dict(
        ...     {
        ...         "version": 1,
        ...         "kind": "positions",
        ...         "source": "requests",
        ...         "unit": "phone",
        ...         "position": {"columns": ["x", "y"], "bounds": [0, 0, 16, 16], "depth": 4},
        ...         "k": 5,
        ...     }
        ... )
        >>> spec.anonymity_set, spec.position.outside
        ('released', 'refuse')
    """

    expected: ClassVar[str] = "a mapping with version, kind, source, unit, position and k"
    called: ClassVar[str] = "positions spec"
    elsewhere: ClassVar[Mapping[str, str]] = {"quasi_identifiers": in_kind("release"), "privacy": in_kind("release")}
    of_kind: ClassVar[str] = "positions"

    version: Annotated[Literal[1], first_version("positions spec")] = Field(
        description="The version of this format, 1."
    )
    kind: Annotated[Literal["positions"], only_kind("positions")] = Field(
        description="The kind of spec; write kind: positions."
    )
    source: Source = Field(description="The table or view of positions, {query: ...} or {file: ...}.")
    release: TableName | None = Field(default=None, description="The table to publish.")
    unit: ColumnKey = Field(description="The column that identifies a person, or several, such as [site, pid].")
    position: Position = Field(description="The columns of the position, and their quad-tree.")
    time: Slices | None = Field(default=None, description="The column of time, and its slices.")
    coarsen: Annotated[Literal["space", "time"], chosen("coarsen")] = Field(
        default="space", description="Whether to coarsen space or time first."
    )
    k: PersonalK = Field(description="The k: how many people must share the label of each row, such as 5.")
    anonymity_set: Annotated[Literal["released", "present"], chosen("anonymity set")] = Field(
        default="released", description="Which people count: people with the same label, or all people who were there."
    )
    suppression: Suppression = Field(default=Suppression(), description="How many rows may be suppressed.")
    keep: Annotated[tuple[str, ...], items("columns", text("a column name"))] = Field(
        default=(), description="Columns that are released unchanged."
    )
    lbqids: Annotated[dict[str, Lbqid], parse_lbqids] = Field(
        default_factory=dict, description="Movement patterns that k people must share."
    )
    warnings: CloakWarnings = Field(default=CloakWarnings(), description="For each warning: error, warn or allow.")

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """One role per column, keys that fit, and what needs a time."""
        if value is None:
            return
        seen = {name.casefold() for name in (value.unit, *parts_of_key(value.unit))}
        for loc, name in value._roles():
            if name.casefold() in seen:
                yield Fault(loc, "the column already has another role; give each column one role")
            seen.add(name.casefold())
        if value.suppression.style == "mask":
            yield Fault(("suppression", "style"), "rows that are left out have no cell to mask them with; use drop")
        if value.time is None:
            if "coarsen" in given:
                yield Fault(("coarsen",), "without 'time' only space is coarsened; leave this out", True)
            if value.lbqids:
                yield Fault(("lbqids",), "an LBQID needs the time; add its column under 'time'", True)
        yield from value._size_faults()
        source = value.source.table
        if value.release is not None and source is not None and folded(value.release) == folded(source):
            yield Fault(("release",), "the release has the source's name and would replace it; choose another name")

    def _roles(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        for index, name in enumerate(self.position.columns):
            yield ("position", "columns", index), name
        if self.time is not None:
            yield ("time", "column"), self.time.column
        for index, name in enumerate(self.keep):
            yield ("keep", index), name
        if self.k.column is not None and self.k.column not in self.keep:
            yield ("k", "column"), self.k.column

    def _size_faults(self) -> Iterator[Fault]:
        """Keys that fit into a word, and grids that can be tried."""
        if self.index_bits < FEWEST_SLICES and self.time is not None:
            why = (
                f"the combination of depth {self.position.depth} and this number of slices exceeds the size of a key; "
                "lower the depth"
            )
            yield Fault(("position", "depth"), f"{why}, or choose fewer or nearer widths")
        if self.grids > MOST_GRIDS:
            why = f"there are {self.grids} combinations of cells and slices, more than the limit of {MOST_GRIDS}"
            yield Fault(("position", "depth"), f"{why}; lower the depth, raise coarsest, or leave out a width")
        if self.lbqids and self.digits is None:
            yield Fault(
                ("lbqids",),
                "the areas have too many digits after the point to give the same result on "
                "every engine; use fewer digits",
            )

    @property
    def grids(self) -> int:
        """How many combinations of cells and slices there are."""
        steps = self.position.depth - self.position.coarsest
        return (steps * (3 if self.position.neighbours else 1) + 1) * (
            1 if self.time is None else len(self.time.widths)
        )

    @property
    def digits(self) -> int | None:
        """The digits after the point of the coordinates' units; None where these are too many."""
        boxes = [element.area for lbqid in self.lbqids.values() for element in lbqid.elements]
        edges = (*self.position.bounds[:2], *self.position.sides, *(bound for box in boxes for bound in box))
        return digits_of(edges, (*self.position.bounds, *edges))

    @property
    def slice_bits(self) -> tuple[int, ...]:
        """Per step from a width to the next, the bits of a slice's number within the wider one."""
        if self.time is None:
            return ()
        return tuple((wide // narrow - 1).bit_length() for narrow, wide in pairwise(self.time.widths))

    @property
    def index_bits(self) -> int:
        """The bits of the coarsest slice's number."""
        return BITS - 2 * self.position.depth - sum(self.slice_bits)

    def to_dict(self) -> dict[str, Any]:
        """Return the spec as JSON-compatible plain data with all defaults; :meth:`from_dict` reads it back."""
        return {
            "version": self.version,
            "kind": self.kind,
            "source": self.source.to_dict(),
            "release": None if self.release is None else format_table_name(self.release),
            "unit": written_key(self.unit),
            "position": self.position.to_dict(),
            "time": None if self.time is None else self.time.to_dict(),
            **({} if self.time is None else {"coarsen": self.coarsen}),
            "k": self.k.to_dict(),
            "anonymity_set": self.anonymity_set,
            "suppression": self.suppression.model_dump(mode="json"),
            "keep": list(self.keep),
            "lbqids": {name: lbqid.to_dict() for name, lbqid in self.lbqids.items()},
            **({"warnings": dict(self.warnings.given())} if self.warnings.given() else {}),
        }

    @property
    def hash(self) -> str:
        """SHA-256 (hex) of the canonical JSON; the order of keys does not matter."""
        return sha256(self.to_dict())

    def redacted(self) -> dict[str, Any]:
        """Return what :meth:`to_dict` does for a manifest: no literals of SQL, no passwords, no pattern of movement.

        Where and when a person goes by is what a pattern says, so that only its name is left.
        """
        return {**self.to_dict(), "source": redacted_source(self.source), "lbqids": sorted(self.lbqids)}

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema (Draft 2020-12) of the forms a positions spec may be written in."""
        about = "Which positions to release, in which cells and time slices, and with which k."
        return titled(tidied(cls), "kanon_sql positions spec", about)
