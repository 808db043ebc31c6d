"""A spec of perturbation: which columns are made untrue, how, and whom that protects from being found.

It is apart from the specs of anonymization: what noise, swapping and PRAM release is not what the source says, so no
requirement of :class:`kanon_sql.spec.Spec` may be claimed of it. Record linkage by distance measures its risk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr, ValidationError, WithJsonSchema

from kanon_sql.errors import Problem, SpecError
from kanon_sql.spec.checks import AT_KEY, Fault, Part, checked, did_you_mean, fail, integer, items, share, text
from kanon_sql.spec.display import Displayed
from kanon_sql.spec.hierarchy import TABLE_NAME, table_name
from kanon_sql.spec.load import Document, read_mapping, read_yaml
from kanon_sql.spec.masking import Masking, parse_maskings
from kanon_sql.spec.names import format_table_name
from kanon_sql.spec.redact import redact_location, redact_sql, sha256
from kanon_sql.spec.schema import tidy
from kanon_sql.spec.secret import KeyVariable, derived_key, new_secret, secret_in
from kanon_sql.spec.sections import Source

__all__ = ["PerturbSpec"]

_COLUMNS = Annotated[
    tuple[str, ...],
    checked(items("column names", text("a column name"))),
    WithJsonSchema({"type": ["array", "null"], "items": {"type": "string", "minLength": 1}}),
]

_NEVER = (
    "values under 'perturb' are untrue, and a release of them is never called k-anonymous: that true, coarser values "
    "fit k rows is what such a requirement promises, and here they need not fit the right ones. Leave it out, or leave "
    "'perturb' out and use kanon-sql anonymize"
)


def _version(value: object) -> int:
    if value != 1 or isinstance(value, bool):
        fail("this version of kanon_sql reads perturbation specs of version 1 only; expected version: 1")
    return 1


class Linkage(Part):
    """How the risk is measured: whoever knows true values looks for the released row that is nearest to them.

    Attributes:
        columns: the released columns whose true values are known; all of them by default.
        rows: how many released rows are looked at, at random; fewer where there would be too many pairs.
        most: the largest share of rows that may be found; with more, nothing is published. None for no limit.
    """

    expected: ClassVar[str] = "{columns: [age], rows: 1000, most: 0.05}"

    columns: _COLUMNS = Field(default=(), description="The columns whose true values are known; all by default.")
    rows: Annotated[int, checked(integer("a number of rows", 1)), WithJsonSchema({"type": "integer", "minimum": 1})] = (
        Field(default=1000, description="How many released rows are looked at.")
    )
    most: Annotated[
        float | None,
        checked(share("a share")),
        WithJsonSchema({"type": ["number", "null"], "minimum": 0, "maximum": 1}),
    ] = Field(default=None, description="The largest share of rows that may be found.")


class PerturbSpec(Displayed, Part):
    """The spec of an untruthful release, checked. Make one with :meth:`load`, :meth:`parse` or :meth:`from_dict`.

    Attributes:
        version: the version of the format, 1.
        source: the table, view, query or file that is masked.
        release: the table to publish; None where nothing is published.
        key: the column with another value in every row, by which randomness is drawn; it is not released.
        key_variable: the environment variable with the secret that decides all randomness: the same secret gives the
            same release, on every engine. None for a secret that is drawn for the run and forgotten.
        perturb: column -> how its values are made untrue.
        keep: columns that are released as they are.
        linkage: how the risk is measured.

    Examples:
        >>> masked = kanon_sql.PerturbSpec.from_dict(
        ...     {"version": 1, "source": "visits", "key": "id", "perturb": {"age": {"noise": 0.1}}}
        ... )
        >>> masked.perturb["age"].method, masked.linkage.rows
        ('noise', 1000)
    """

    expected: ClassVar[str] = "a mapping with version, source, key and perturb"
    elsewhere: ClassVar[Mapping[str, str]] = {
        "privacy": _NEVER,
        "quasi_identifiers": _NEVER,
        "sensitive": "every column here is under 'perturb' or under 'keep'",
    }

    version: Annotated[Literal[1], checked(_version)] = Field(description="The version of this format, 1.")
    source: Source = Field(description="The table or view to mask, {query: ...} or {file: ...}.")
    release: Annotated[
        tuple[str, ...] | None,
        checked(table_name),
        WithJsonSchema({"anyOf": [*TABLE_NAME["anyOf"], {"type": "null"}]}),
    ] = Field(default=None, description="The table to publish.")
    key: Annotated[str, checked(text("a column name")), WithJsonSchema({"type": "string", "minLength": 1})] = Field(
        description="The column with another value in every row; it is not released."
    )
    key_variable: KeyVariable = None
    perturb: Annotated[dict[str, Masking], checked(parse_maskings)] = Field(
        description="The columns whose values are made untrue, each with its method.", min_length=1
    )
    keep: _COLUMNS = Field(default=(), description="Columns that are released as they are.")
    linkage: Linkage = Field(default=Linkage(), description="How the risk is measured.")

    _base_dir: Path = PrivateAttr(default_factory=Path.cwd)
    _secret: str = PrivateAttr(default_factory=new_secret)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a perturbation spec from a file (YAML 1.2, UTF-8).

        Raises:
            SpecError: the file cannot be read or the spec is wrong; it lists all problems.
        """
        name = str(path)
        try:
            content = Path(path).read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise SpecError([Problem("not UTF-8 text; save the perturbation spec as UTF-8", name)]) from None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a file name"
            raise SpecError(
                [Problem(f"cannot read the perturbation spec: {reason}; expected a YAML file", name)]
            ) from None
        return cls._of(read_yaml(content, name), Path(path).absolute().parent)

    @classmethod
    def parse(cls, text: str, name: str = "<spec>") -> Self:
        """Read a perturbation spec from YAML text; ``name`` stands for the file in messages.

        Raises:
            SpecError: the spec is wrong; it lists all problems.
        """
        return cls._of(read_yaml(text, name))

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any]) -> Self:
        """Check a perturbation spec given as plain data, in the form that :meth:`to_dict` gives.

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
                faults.append(Fault(tuple(line["loc"]), line["msg"], line["type"] == AT_KEY))
        if spec is None or document.problems:
            raise document.error(faults)
        if base_dir is not None:
            spec._base_dir = base_dir
        return spec

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """One role per column, known columns released, a release of its own."""
        if value is None:
            return
        if value.key in (*value.perturb, *value.keep):
            yield Fault(("key",), "the key tells rows apart and is never released; list it nowhere else", True)
        for position, name in enumerate(value.keep):
            if name in value.perturb:
                yield Fault(("keep", position), "the column is under perturb already; a column has one role")
            if name in value.keep[:position]:
                yield Fault(("keep", position), "the column is listed twice")
        for position, name in enumerate(value.linkage.columns):
            if name not in value.released:
                hint = did_you_mean(name, value.released)
                yield Fault(
                    ("linkage", "columns", position), f"the column is not released, so it is not compared{hint}"
                )
        source = value.source.table
        if value.release is not None and source is not None and _folded(value.release) == _folded(source):
            yield Fault(("release",), "the release has the source's name and would replace it; choose another one")

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

    @property
    def base_dir(self) -> Path:
        """The directory of the spec's file; the working directory for a spec without a file."""
        return self._base_dir

    def resolve(self, path: str | Path) -> Path:
        """Return a path of the spec; relative paths are relative to its file."""
        return self._base_dir / path

    def to_dict(self) -> dict[str, Any]:
        """Return the spec as JSON-compatible plain data with all defaults; :meth:`from_dict` reads it back."""
        return {
            "version": self.version,
            "source": self.source.to_dict(),
            "release": None if self.release is None else format_table_name(self.release),
            "key": self.key,
            "key_variable": self.key_variable,
            "perturb": {name: item.to_dict() for name, item in self.perturb.items()},
            "keep": list(self.keep),
            "linkage": self.linkage.model_dump(mode="json"),
        }

    @property
    def hash(self) -> str:
        """SHA-256 (hex) of the canonical JSON; the order of keys does not matter."""
        return sha256(self.to_dict())

    def redacted(self) -> dict[str, Any]:
        """Return what :meth:`to_dict` does for a manifest: no literals of SQL, categories or passwords."""
        found = self.to_dict()
        if self.source.query is not None:
            found["source"] = {"query": redact_sql(self.source.query)}
        if self.source.file is not None:
            found["source"] = {"file": redact_location(self.source.file)}
        found["perturb"] = {name: item.redacted() for name, item in self.perturb.items()}
        return found

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema (Draft 2020-12) of the forms a perturbation spec may be written in."""
        schema = cls.model_json_schema()
        tidy(schema)
        for name in ("Noise", "RankSwap", "Swap", "Pram"):
            number = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
            schema["$defs"][name] = {"anyOf": [number, schema["$defs"][name]]}
        schema["properties"]["perturb"] = {
            **schema["properties"]["perturb"],
            "type": "object",
            "additionalProperties": {"$ref": "#/$defs/Masking"},
        }
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **schema,
            "title": "kanon_sql perturbation spec",
            "description": "What to mask with untrue values, how, and how the risk is measured.",
        }

    def __eq__(self, other: object) -> bool:
        """Two specs are equal when they say the same, wherever their files are."""
        return isinstance(other, PerturbSpec) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash(self.hash)


def _folded(parts: tuple[str, ...]) -> list[str]:
    return [part.casefold() for part in parts]
