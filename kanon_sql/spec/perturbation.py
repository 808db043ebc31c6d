"""A spec of perturbation: which columns are made untrue, how, and what that protects from being found.

It is apart from the specs of anonymization: what noise, swapping and PRAM release is not what the source says, so no
requirement of :class:`kanon_sql.spec.Spec` may be claimed of it. Record linkage by distance measures its risk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr

from kanon_sql.spec.checks import Fault, Part, did_you_mean, integer, quote, share
from kanon_sql.spec.document import SpecDocument, first_version, only_kind, redacted_source
from kanon_sql.spec.fields import ColumnNames, TableName
from kanon_sql.spec.json_schema import tidied, titled
from kanon_sql.spec.keys import ColumnKey, parts_of_key, written_key
from kanon_sql.spec.masking import Masking, Shift, parse_maskings
from kanon_sql.spec.names import folded, format_table_name
from kanon_sql.spec.redact import sha256
from kanon_sql.spec.secret import KeyVariable, derived_key, new_secret, secret_in
from kanon_sql.spec.sections import Source
from kanon_sql.spec.warning_options import NamedWarnings

__all__ = ["PerturbSpec"]

_NEVER = (
    "perturbed values are not true, so their release is never k-anonymous: privacy models promise that true, coarser "
    "values fit k rows. Leave this out, or leave 'perturb' out and use kanon-sql anonymize"
)


class Linkage(Part):
    """How the risk is measured: anyone who knows true values looks for the released row that is nearest to them.

    Attributes:
        columns: the released columns whose true values are known; all of them by default.
        rows: how many released rows are looked at, at random; fewer where there would be too many pairs.
        most: the largest share of rows that may be found; with more, nothing is published. None for no limit.
    """

    expected: ClassVar[str] = "{columns: [age], rows: 1000, most: 0.05}"

    columns: ColumnNames = Field(
        default=(), description="The columns whose true values the attacker knows; all by default."
    )
    rows: Annotated[int, integer("a number of rows", 1)] = Field(
        default=1000, description="How many released rows to try to link."
    )
    most: Annotated[float | None, share("a share")] = Field(
        default=None, description="The largest share of rows that linkage may find."
    )


class PerturbSpec(SpecDocument):
    """The spec of an untruthful release, checked. Make one with :meth:`load`, :meth:`parse` or :meth:`from_dict`.

    Attributes:
        version: the version of the format, 1.
        kind: ``perturbed``, which is perturbed rows.
        source: the table, view, query or file that is masked.
        release: the table to publish; None where nothing is published.
        key: the column of whole numbers, texts or dates, with another value in every row, by which randomness is drawn;
            it is not released. A source query with ROW_NUMBER() makes one.
        unit: the column whose values are persons, or several columns; with ``shift`` alone.
        key_variable: the environment variable with the secret (16 characters or more) that decides all randomness: the
            same secret gives the same release, on every engine. None for a secret that is drawn for the run and
            forgotten.
        perturb: column -> how its values are made untrue.
        keep: columns that are released as they are.
        linkage: how the risk is measured.
        warnings: what becomes of each warning: an error, a warning, or nothing.

    Examples:
        >>> masked = kanon_sql.PerturbSpec.from_dict(
        ...     {"version": 1, "kind": "perturbed", "source": "visits", "key": "id", "perturb": {"age": {"noise": 0.1}}}
        ... )
        >>> masked.perturb["age"].method, masked.linkage.rows
        ('noise', 1000)
    """

    called: ClassVar[str] = "perturbation spec"
    of_kind: ClassVar[str] = "perturbed"
    expected: ClassVar[str] = "a mapping with version, kind, source, key and perturb"
    elsewhere: ClassVar[Mapping[str, str]] = {
        "privacy": _NEVER,
        "quasi_identifiers": _NEVER,
        "sensitive": "columns of this spec are listed under 'perturb' or 'keep'",
    }

    version: Annotated[Literal[1], first_version("perturbation spec")] = Field(
        description="The version of this format, 1."
    )
    kind: Annotated[Literal["perturbed"], only_kind("perturbed")] = Field(
        description="The kind of spec; write kind: perturbed."
    )
    source: Source = Field(description="The table or view to mask, {query: ...} or {file: ...}.")
    release: TableName | None = Field(default=None, description="The table to publish.")
    key: ColumnKey = Field(
        description="The key: a column that differs in every row, or several, such as [site, pid]; not released."
    )
    key_variable: KeyVariable = None
    unit: ColumnKey | None = Field(
        default=None, description="The column that identifies persons, or several: shift moves their dates together."
    )
    perturb: Annotated[dict[str, Masking], parse_maskings] = Field(
        description="The columns to perturb, each with its method.", min_length=1
    )
    keep: ColumnNames = Field(default=(), description="Columns that are released unchanged.")
    linkage: Linkage = Field(default=Linkage(), description="How to measure the linkage risk.")
    warnings: NamedWarnings = Field(default=NamedWarnings(), description="For each warning: error, warn or allow.")

    _secret: str = PrivateAttr(default_factory=new_secret)

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """One role per column, known columns released, a release of its own."""
        if value is None:
            return
        if {value.key, *parts_of_key(value.key)} & {*value.perturb, *value.keep}:
            yield Fault(("key",), "the key identifies rows and is never released; remove it here", True)
        for position, name in enumerate(value.keep):
            if name in value.perturb:
                yield Fault(("keep", position), "the column is already under perturb; remove it from one of the two")
            if name in value.keep[:position]:
                yield Fault(("keep", position), "the column is listed twice; list it once")
        yield from _shift_faults(value)
        for position, name in enumerate(value.linkage.columns):
            if name not in value.released:
                hint = did_you_mean(name, value.released)
                yield Fault(
                    ("linkage", "columns", position), f"the column is not released, so it cannot be compared{hint}"
                )
        source = value.source.table
        if value.release is not None and source is not None and folded(value.release) == folded(source):
            yield Fault(("release",), "the release has the source's name and would replace it; choose another name")

    @property
    def shifted(self) -> dict[str, Shift]:
        """The columns of dates that are moved, and how, which is alike in all."""
        return {name: item.shift for name, item in self.perturb.items() if item.shift is not None}

    @property
    def released(self) -> tuple[str, ...]:
        """The columns that are released: those that are untrue, then those that are kept."""
        return (*self.perturb, *self.keep)

    @property
    def linked(self) -> tuple[str, ...]:
        """The columns whose true values the attacker is taken to know."""
        return self.linkage.columns or self.released

    def key_for(self, purpose: str) -> str:
        """What decides one thing at random, see :func:`kanon_sql.spec.secret.derived_key`.

        Raises:
            SpecError: the environment variable holds no secret.
        """
        name = self.key_variable
        return derived_key(self._secret if name is None else secret_in(name, "key_variable"), purpose)

    def to_dict(self) -> dict[str, Any]:
        """Return the spec as JSON-compatible plain data with all defaults; :meth:`from_dict` reads it back."""
        return {
            "version": self.version,
            "kind": self.kind,
            "source": self.source.to_dict(),
            "release": None if self.release is None else format_table_name(self.release),
            "key": written_key(self.key),
            "key_variable": self.key_variable,
            **({} if self.unit is None else {"unit": written_key(self.unit)}),
            "perturb": {name: item.to_dict() for name, item in self.perturb.items()},
            "keep": list(self.keep),
            "linkage": self.linkage.model_dump(mode="json"),
            **({"warnings": dict(self.warnings.given())} if self.warnings.given() else {}),
        }

    @property
    def hash(self) -> str:
        """SHA-256 (hex) of the canonical JSON; the order of keys does not matter."""
        return sha256(self.to_dict())

    def redacted(self) -> dict[str, Any]:
        """Return what :meth:`to_dict` does for a manifest: no literals of SQL, categories or passwords."""
        found = self.to_dict()
        found["source"] = redacted_source(self.source)
        found["perturb"] = {name: item.redacted() for name, item in self.perturb.items()}
        return found

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema (Draft 2020-12) of the forms a perturbation spec may be written in."""
        schema = tidied(cls)
        for name in ("Noise", "RankSwap", "Swap", "Pram"):
            number = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
            schema["$defs"][name] = {"anyOf": [number, schema["$defs"][name]]}
        schema["$defs"]["Shift"] = {"anyOf": [schema["$defs"]["Shift"]["properties"]["days"], schema["$defs"]["Shift"]]}
        schema["properties"]["perturb"] = {
            **schema["properties"]["perturb"],
            "type": "object",
            "additionalProperties": {"$ref": "#/$defs/Masking"},
        }
        return titled(
            schema, "kanon_sql perturbation spec", "Which columns to perturb, how, and how to measure the risk."
        )


def _shift_faults(value: PerturbSpec) -> Iterator[Fault]:
    """Dates of a person move alike, and a person is known by a column that nothing perturbs."""
    shifted = value.shifted
    if shifted and value.unit is None:
        yield Fault((), "missing 'unit': the column that identifies persons, whose dates shift moves together", True)
    if value.unit is not None and not shifted:
        yield Fault(
            ("unit",), "unit says whose dates shift moves together, and no column has shift; leave it out", True
        )
    if any(part in value.perturb for part in parts_of_key(value.unit)):
        yield Fault(("unit",), "the column is under perturb, but its true values identify persons; leave it out there")
    first = next(iter(shifted), None)
    for name, item in shifted.items():
        if first is not None and item != shifted[first]:
            why = f"all dates of a person are moved alike: write the days and the step of {quote(first)} here, too"
            yield Fault(("perturb", name, "shift"), why)
