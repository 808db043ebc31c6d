"""The spec: what to anonymize, how, and what the result must satisfy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr, ValidationError, WithJsonSchema
from pydantic.json_schema import models_json_schema

from kanon_sql.errors import Problem, SpecError
from kanon_sql.spec.cautions import WarningOptions
from kanon_sql.spec.checks import AT_KEY, Fault, Faults, Part, checked, choice, fail, items, kind, text
from kanon_sql.spec.computed import ComputedColumn, computed_columns, computed_faults
from kanon_sql.spec.differential_privacy import (
    DifferentialPrivacyRequirement,
    differential_privacy_faults,
    differential_privacy_in,
)
from kanon_sql.spec.display import Displayed
from kanon_sql.spec.hierarchy import TABLE_NAME, QuasiIdentifier, table_name
from kanon_sql.spec.increments import IncrementOptions, StateSchema, state_faults
from kanon_sql.spec.ledger import LedgerOptions, ledger_faults
from kanon_sql.spec.load import Document, read_mapping, read_yaml
from kanon_sql.spec.m_invariance import MInvarianceRequirement, m_invariance_faults, m_invariance_in
from kanon_sql.spec.names import format_table_name
from kanon_sql.spec.points import point_faults
from kanon_sql.spec.positions import Point
from kanon_sql.spec.recoding import RecodingOptions
from kanon_sql.spec.recoding_faults import classify_faults, level_faults, recoding_faults
from kanon_sql.spec.redact import redact_location, redact_sql, sha256
from kanon_sql.spec.registry import parse_requirement, requirements
from kanon_sql.spec.release_file import AS_KEY, STREAM, ReleaseFile, apart, release_file_faults, together
from kanon_sql.spec.release_view import AS_VIEW_KEY, GuardedView, release_view_faults
from kanon_sql.spec.requirement import Requirement
from kanon_sql.spec.requirements import KAnonymityRequirement
from kanon_sql.spec.roles import requirement_faults, role_faults
from kanon_sql.spec.schema import tidy
from kanon_sql.spec.secret import new_secret
from kanon_sql.spec.sections import NO_SOURCE, SearchOptions, Source, Suppression
from kanon_sql.spec.steps import ReleaseSteps, sampling_key, steps_faults
from kanon_sql.spec.utility import Utility

__all__ = ["Spec"]


def _version(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        fail(f"expected version 1, got {kind(value)}")
    if value != 1:
        fail("this version of kanon_sql reads spec version 1 only; expected version: 1")
    return value


def _quasi_identifiers(value: object) -> dict[str, QuasiIdentifier]:
    if not isinstance(value, Mapping):
        fail(f"expected a mapping of column names to hierarchies, got {kind(value)}")
    if not value:
        fail("expected at least one quasi-identifier, got an empty mapping")
    faults = Faults()
    found = {}
    for name, written in value.items():
        if faults.attempt((name,), text("a column name"), name) is not None:
            found[name] = faults.attempt((name,), QuasiIdentifier.model_validate, written)
    faults.finish()
    return {name: checked for name, checked in found.items() if checked is not None}


_COLUMN_LIST = Annotated[
    tuple[str, ...],
    checked(items("column names", text("a column name"))),
    WithJsonSchema({"type": ["array", "null"], "items": {"type": "string", "minLength": 1}}),
]


class Spec(Displayed, Part):
    """A spec, checked. Make one with :meth:`load`, :meth:`parse` or :meth:`from_dict`.

    Attributes:
        version: the version of the format, 1.
        source: the table, view, query or file to anonymize; it may be left out where the table itself is given.
        release: the table or view to publish; None where nothing is published, or a file.
        release_file: the file to publish, which ``release: {file: ...}`` says; None for none.
        release_view: that the release is a view, which ``release: {view: ...}`` says; None where it is none.
        unit: the column that identifies the protected person; None to protect rows.
        identifiers: columns that are never released.
        quasi_identifiers: column -> hierarchy, in the order of a node's levels.
        sensitive: columns that the privacy requirements protect; released as they are.
        keep: insensitive columns to release as they are.
        privacy: the requirements, all of which must hold.
        suppression: how many rows may be left out.
        search: algorithm and metric.
        recoding: whether a column has one level for all rows, or levels that differ by class.
        steps: what is done to rows and columns before classes are made; None for nothing.
        utility: the column that a classifier is to tell from the release; None for none.
        nulls: whether NULL in a quasi-identifier is a value, suppresses the row, or is an error.
        ledger: where releases are recorded and compared with earlier ones; None for no ledger.
        state: the schema that keeps what later refreshes need; None where the release does not grow.
        increments: how a refresh knows new rows, and what it does when the levels no longer fit.
        warnings: what becomes of each warning: an error, a warning, or nothing.

    Examples:
        >>> other = kanon_sql.Spec.from_dict(
        ...     {
        ...         "version": 1,
        ...         "source": "visits",
        ...         "quasi_identifiers": {"age": {"intervals": [5, 10, 20]}, "zip": {"prefix": [4, 3, 2]}},
        ...         "privacy": [{"k_anonymity": {"k": 5}}],
        ...     }
        ... )
        >>> list(other.quasi_identifiers), other.suppression.limit
        (['age', 'zip'], 0.0)
    """

    expected: ClassVar[str] = "a mapping with version, source, quasi_identifiers and privacy"
    elsewhere: ClassVar[Mapping[str, str]] = {
        "perturb": (
            "what noise, swapping or PRAM makes of values is untrue, and a release of it is never called k-anonymous: "
            "k_anonymity and its like promise that true, coarser values fit k rows. Put 'perturb' into a spec of its "
            "own, for kanon-sql perturb"
        ),
        "keep_unique": "warnings say what becomes of each; write warnings: {nearly_unique_kept: error}, warn or allow",
    }

    version: Annotated[Literal[1], checked(_version)] = Field(description="The version of this format, 1.")
    source: Source = Field(
        default_factory=lambda: NO_SOURCE, description="The table or view to anonymize, {query: ...} or {file: ...}."
    )
    release: Annotated[
        tuple[str, ...] | None,
        checked(table_name),
        WithJsonSchema({"anyOf": [*TABLE_NAME["anyOf"], {"type": "null"}]}),
    ] = Field(default=None, description="The table to publish, {file: ...} or {view: ...}.")
    release_file: ReleaseFile | None = Field(default=None, description="The file to publish.")
    release_view: GuardedView | None = Field(default=None, description="The view to publish.")
    unit: Annotated[
        str | None,
        checked(text("a column name")),
        WithJsonSchema({"type": ["string", "null"], "minLength": 1}),
    ] = Field(default=None, description="The column that identifies a person, to protect persons and not rows.")
    identifiers: _COLUMN_LIST = Field(default=(), description="Columns that are never released.")
    quasi_identifiers: Annotated[dict[str, QuasiIdentifier], checked(_quasi_identifiers)] = Field(
        description="The columns to generalize, each with its hierarchy.", min_length=1
    )
    sensitive: _COLUMN_LIST = Field(default=(), description="Columns that the requirements protect.")
    keep: _COLUMN_LIST = Field(default=(), description="Insensitive columns to release as they are.")
    privacy: Annotated[tuple[Requirement, ...], checked(items("requirements", parse_requirement, least=1))] = Field(
        description="The requirements, such as '- k_anonymity: {k: 5}'.", min_length=1
    )
    suppression: Suppression = Field(default=Suppression(), description="How many rows may be left out.")
    search: SearchOptions = Field(default=SearchOptions(), description="How to search the lattice.")
    recoding: RecodingOptions = Field(
        default=RecodingOptions(), description="One level per column for all rows, or levels that differ by class."
    )
    steps: ReleaseSteps | None = Field(
        default=None, description="Truthful release steps: a sample, top and bottom coding, rounding."
    )
    utility: Utility | None = Field(default=None, description="Measure how well a column can be told from the release.")
    nulls: Annotated[
        Literal["value", "suppress", "error"],
        checked(choice("treatment of NULL", ("value", "suppress", "error"))),
    ] = Field(default="value", description="What NULL in a quasi-identifier is.")
    ledger: LedgerOptions | None = Field(default=None, description="Where releases are recorded and compared.")
    state: StateSchema = Field(default=None, description="The schema that keeps what a refresh needs.")
    increments: IncrementOptions | None = Field(default=None, description="How a refresh knows new rows.")
    warnings: WarningOptions = Field(default=WarningOptions(), description="What becomes of each warning.")

    _base_dir: Path = PrivateAttr(default_factory=Path.cwd)
    _streams: Mapping[str, Path] = PrivateAttr(default_factory=dict)
    _rows: tuple[str, ...] | None = PrivateAttr(default=None)
    _secret: str = PrivateAttr(default_factory=new_secret)

    # --- Ways in ---

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a spec file (YAML 1.2, UTF-8).

        Raises:
            SpecError: the file cannot be read or the spec is wrong; it lists all problems.
        """
        name = str(path)
        try:
            content = Path(path).read_bytes()
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a file name"
            raise SpecError(
                [Problem(f"cannot read the spec: {reason}; expected a YAML file, such as kanon-sql init writes", name)]
            ) from None
        try:
            document = read_yaml(content.decode("utf-8-sig"), name)
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
            raise SpecError([Problem("not UTF-8 text; save the spec as UTF-8", name, line)]) from None
        return cls._of(document, Path(path).absolute().parent)

    @classmethod
    def parse(cls, text: str, name: str = "<spec>") -> Self:
        """Read a spec from YAML text; ``name`` stands for the file in messages.

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

    def changed(self, mapping: Mapping[str, Any]) -> Self:
        """Check another spec that stands where this one does: paths are relative to the same file.

        A secret that was drawn for a sample stays the same, so that both draw the same rows.

        Args:
            mapping: the whole of it, as :meth:`to_dict` gives it.

        Raises:
            SpecError: it is wrong; it lists all problems.
        """
        made = self._of(read_mapping(mapping), self._base_dir)
        made._streams, made._secret = self._streams, self._secret
        return made

    @classmethod
    def _of(cls, document: Document, base_dir: Path | None = None) -> Self:
        faults: list[Fault] = []
        spec = None
        try:
            spec = cls.model_validate(document.data)
        except ValidationError as error:
            for line in error.errors(include_url=False, include_input=False):
                faults.append(Fault(together(tuple(line["loc"])), line["msg"], line["type"] == AT_KEY))
        if spec is None or document.problems:
            raise document.error(faults)
        if base_dir is not None:
            spec._base_dir = base_dir
        return spec

    @property
    def told(self) -> tuple[str, ...]:
        """The columns whose values a metric, a recoding or a classifier looks at, besides what the requirements do."""
        named = (self.recoding.classify, self.search.classify, None if self.utility is None else self.utility.classify)
        return tuple(name for name in named if name is not None)

    @property
    def computed(self) -> tuple[ComputedColumn, ...]:
        """The columns that are released beside the labels of quasi-identifiers, as numbers or dates."""
        return computed_columns(self.quasi_identifiers)

    @property
    def points(self) -> dict[str, Point]:
        """The quasi-identifiers that are made of two columns, and which."""
        return {name: item.point for name, item in self.quasi_identifiers.items() if item.point is not None}

    @classmethod
    def written(cls, value: Any) -> Any:
        """A release that is a file or a view has a field of its own: nobody takes its path for a table's name."""
        return apart(value)

    # --- What the keys say together ---

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """One role per column, requirements about sensitive columns, a release of its own."""
        yield from role_faults(given)
        yield from requirement_faults(given)
        source = given.get("source")
        if isinstance(source, Source | Mapping):
            source = source.table if isinstance(source, Source) else source.get("table")
        if _folded(given.get("release")) == _folded(source) is not None:
            yield Fault(("release",), "the release has the source's name and would replace it; choose another one")
        if value is not None and value.search.matrix:
            others = [item.name for item in value.privacy if item.name != "k_anonymity"]
            if not others and any(item.grouped_by for item in value.privacy):
                why = "the matrix counts classes by all quasi-identifiers; a k_anonymity here names some of them"
                yield Fault(("search", "matrix"), why, True)
            if others:
                why = f"the matrix counts rows, which decides k_anonymity alone; privacy also asks for {others[0]}"
                yield Fault(("search", "matrix"), why, True)
            elif any(isinstance(item, KAnonymityRequirement) and item.k is None for item in value.privacy):
                why = "the matrix counts rows, and a k_anonymity here asks for the wishes of a column; leave matrix out"
                yield Fault(("search", "matrix"), why, True)
        if value is not None and not any(column.weight for column in value.quasi_identifiers.values()):
            yield Fault(("quasi_identifiers",), "every weight is 0; at least one must be above 0", True)
        if value is not None and value.search.classify is not None:
            yield from classify_faults(value, value.search.classify, ("search", "classify"))
            if value.recoding.method != "full_domain":
                why = "the metric classification is of levels for whole columns; use recoding: full_domain"
                hint = ", or recoding: subtree with a 'classify' of its own" if value.recoding.classify is None else ""
                yield Fault(("search", "metric"), why + hint)
        if value is not None and value.search.prices is not None and value.recoding.method != "full_domain":
            why = "the metric publisher_payout is of levels for whole columns; use recoding: full_domain"
            yield Fault(("search", "metric"), why)
        if value is not None and value.search.of_intervals:
            message = f"{value.search.algorithm} chooses intervals of the values, not levels"
            yield from level_faults(value, message, value.quasi_identifiers)
        if value is not None and value.ledger is not None:
            yield from ledger_faults(value)
        if value is not None:
            yield from recoding_faults(value)
            yield from differential_privacy_faults(value)
            yield from m_invariance_faults(value)
            yield from point_faults(value)
            yield from computed_faults(value)
            yield from release_file_faults(value)
            yield from release_view_faults(value)
            yield from state_faults(value)
        if value is not None and value.utility is not None:
            yield from classify_faults(value, value.utility.classify, ("utility", "classify"))
        if value is not None and value.steps is not None:
            yield from steps_faults(value)

    # --- Where it stands ---

    @property
    def base_dir(self) -> Path:
        """The directory of the spec file; the working directory for a spec without a file."""
        return self._base_dir

    def resolve(self, path: str | Path) -> Path:
        """Return a path of the spec; relative paths are relative to the spec file."""
        return self._base_dir / path

    def over_streams(self, **files: Path) -> Self:
        """The same spec, where a source or a release that is ``-`` is kept in a file meanwhile.

        Args:
            files: ``source`` or ``release`` -> the file.
        """
        found = self.model_copy()
        found._streams = {**self._streams, **files}
        return found

    def over_rows(self, table: tuple[str, ...]) -> Self:
        """The same spec, whose rows a run reads from a table of its own instead of the source."""
        found = self.model_copy()
        found._rows = table
        return found

    @property
    def rows_in(self) -> tuple[str, ...] | None:
        """The table that a run reads instead of the source; None for the source itself."""
        return self._rows

    @property
    def source_path(self) -> Path | None:
        """Where the source is that is a file; None for a table and a query.

        Raises:
            SpecError: it is standard input, which the command line alone has.
        """
        return None if self.source.file is None else self._path("source", self.source.file)

    @property
    def release_path(self) -> Path | None:
        """Where the release is that is a file; None for others.

        Raises:
            SpecError: it is standard output, which the command line alone has.
        """
        return None if self.release_file is None else self._path("release", self.release_file.file)

    def _path(self, key: Literal["source", "release"], file: str) -> Path:
        if file != STREAM:
            return self.resolve(file)
        if key not in self._streams:
            raise SpecError(
                f"{key}.file: - is standard {'input' if key == 'source' else 'output'}, which kanon-sql anonymize has "
                "and nothing else; name a file"
            )
        return self._streams[key]

    @property
    def sampling_key(self) -> str:
        """What decides who is in the sample: made of the secret that the spec names, or of one drawn with the spec.

        Raises:
            SpecError: the environment variable holds no secret.
        """
        return sampling_key(self.steps, self._secret)

    # --- Ways out ---

    def to_dict(self) -> dict[str, Any]:
        """Return the spec as JSON-compatible plain data with all defaults; :meth:`from_dict` reads it back."""
        return {
            "version": self.version,
            "source": self.source.to_dict(),
            "release": self.publishes,
            "unit": self.unit,
            "identifiers": list(self.identifiers),
            "quasi_identifiers": {name: column.to_dict() for name, column in self.quasi_identifiers.items()},
            "sensitive": list(self.sensitive),
            "keep": list(self.keep),
            "privacy": [requirement.to_dict() for requirement in self.privacy],
            "suppression": self.suppression.model_dump(),
            "search": self.search.model_dump(),
            "recoding": self.recoding.to_dict(),
            "steps": None if self.steps is None else self.steps.to_dict(),
            "utility": None if self.utility is None else self.utility.model_dump(),
            "nulls": self.nulls,
            "ledger": None
            if self.ledger is None
            else {"table": format_table_name(self.ledger.table), "on_conflict": self.ledger.on_conflict},
            "state": None if self.state is None else {"schema": format_table_name(self.state)},
            "increments": None if self.increments is None else self.increments.model_dump(),
            "warnings": self.warnings.model_dump(),
        }

    @property
    def publishes(self) -> str | dict[str, str | bool] | None:
        """What is published, in the form a spec is written in: a name, ``{file: ...}`` or ``{view: ...}``, or None."""
        if self.release_file is not None:
            return {"file": self.release_file.file}
        if self.release_view is not None and self.release is not None:
            return {"view": format_table_name(self.release), "accept_sequence_risk": True}
        return None if self.release is None else format_table_name(self.release)

    @property
    def shown(self) -> str | None:
        """What messages call the release; None for none."""
        if self.release_file is not None:
            return self.release_file.file
        return None if self.release is None else ".".join(self.release)

    @property
    def asks_for_rows_alone(self) -> bool:
        """Whether privacy asks for classes of so many rows, and nothing else: then alike rows may go anywhere."""
        sizes = all(isinstance(item, KAnonymityRequirement) and item.k is not None for item in self.privacy)
        return sizes and self.unit is None

    @property
    def differential_privacy(self) -> DifferentialPrivacyRequirement | None:
        """The requirement of that name, which is then the only one; else None."""
        return differential_privacy_in(self.privacy)

    @property
    def m_invariance(self) -> MInvarianceRequirement | None:
        """The requirement of that name, which is then the only one; else None."""
        return m_invariance_in(self.privacy)

    @property
    def hash(self) -> str:
        """SHA-256 (hex) of the canonical JSON; the order of keys does not matter."""
        found = self.to_dict()
        if self.recoding.is_full_domain:  # what was published before there were others has the hash of then
            del found["recoding"]
        for name in ("steps", "utility", "state", "increments"):
            if found[name] is None:
                del found[name]
        if not self.warnings.given():
            del found["warnings"]
        return sha256(found)

    def redacted(self) -> dict[str, Any]:
        """Return what :meth:`to_dict` does, without literals of SQL, labels of trees and passwords, for a manifest."""
        found = self.to_dict()
        if self.source.query is not None:
            found["source"] = {"query": redact_sql(self.source.query)}
        if self.source.file is not None:
            found["source"] = {"file": redact_location(self.source.file)}
        found["quasi_identifiers"] = {name: column.redacted() for name, column in self.quasi_identifiers.items()}
        found["privacy"] = [requirement.redacted() for requirement in self.privacy]
        return found

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema (Draft 2020-12) of the forms a spec may be written in."""
        _, found = models_json_schema([(item, "validation") for item in (cls, *requirements())])
        definitions = found["$defs"]
        schema = definitions.pop(cls.__name__)
        named = [{"$ref": f"#/$defs/{item.__name__}"} for item in requirements()]
        schema["properties"]["privacy"]["items"] = {"anyOf": named}
        del definitions[Requirement.__name__]
        schema = _renamed({"$defs": definitions, **schema})
        tidy(schema)
        for key, kind_of_release in ((AS_KEY, ReleaseFile), (AS_VIEW_KEY, GuardedView)):
            del schema["properties"][key]
            schema["properties"]["release"]["anyOf"].append({"$ref": f"#/$defs/{kind_of_release.__name__}"})
        for name in ("source", "suppression", "search", "recoding", "warnings"):
            schema["properties"][name] = {"anyOf": [schema["properties"][name], {"type": "null"}]}
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **schema,
            "title": "kanon_sql spec",
            "description": "What to anonymize, how, and what the result must satisfy.",
        }

    def __eq__(self, other: object) -> bool:
        """Two specs are equal when they say the same, wherever their files are."""
        return isinstance(other, Spec) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash(self.hash)


def _folded(written: object) -> list[str] | None:
    """A table name to compare without case; None when it is not one."""
    try:
        return [part.casefold() for part in table_name(written)]
    except ValidationError:
        return None


def _renamed(schema: dict[str, Any]) -> dict[str, Any]:
    """The definitions of requirements under the names of their models."""
    found: dict[str, Any] = json.loads(re.sub(r'("|/)(\w+)Requirement"', r'\1\2"', json.dumps(schema)))
    found["$defs"] = dict(sorted(found["$defs"].items()))
    return found
