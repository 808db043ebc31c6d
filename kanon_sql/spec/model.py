"""The spec: what to anonymize, how, and what the result must satisfy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr

from kanon_sql.errors import SpecError
from kanon_sql.spec.checks import Fault, chosen, integer, items
from kanon_sql.spec.computed import ComputedColumn, computed_columns
from kanon_sql.spec.cross_checks import faults_between
from kanon_sql.spec.differential_privacy import (
    DifferentialPrivacyRequirement,
    differential_privacy_in,
)
from kanon_sql.spec.document import SpecDocument, first_version, in_kind, only_kind, redacted_source
from kanon_sql.spec.fields import ColumnName, ColumnNames, TableName
from kanon_sql.spec.hierarchy import QuasiIdentifier, hierarchies_by_column
from kanon_sql.spec.increments import IncrementOptions, StateSchema
from kanon_sql.spec.json_schema import schema_of
from kanon_sql.spec.k_anonymity import KAnonymityRequirement
from kanon_sql.spec.keys import ColumnKey, written_key
from kanon_sql.spec.ledger import LedgerOptions
from kanon_sql.spec.load import read_mapping
from kanon_sql.spec.m_invariance import MInvarianceRequirement, m_invariance_in
from kanon_sql.spec.missing import MissingCodes, missing_codes, written_codes
from kanon_sql.spec.names import format_table_name
from kanon_sql.spec.positions import Point
from kanon_sql.spec.recoding import RecodingOptions
from kanon_sql.spec.redact import sha256
from kanon_sql.spec.registry import parse_requirement
from kanon_sql.spec.release_file import AS_KEY, STREAM, ReleaseFile, apart, together
from kanon_sql.spec.release_view import AS_VIEW_KEY, GuardedView
from kanon_sql.spec.release_year import RELEASE_YEAR, YEARS, this_year
from kanon_sql.spec.requirement import Requirement
from kanon_sql.spec.secret import new_secret
from kanon_sql.spec.sections import NO_SOURCE, SearchOptions, Source, Suppression, Utility
from kanon_sql.spec.steps import ReleaseSteps, sampling_key
from kanon_sql.spec.warning_options import WarningOptions

__all__ = ["Spec"]


class Spec(SpecDocument):
    """A spec, checked. Make one with :meth:`load`, :meth:`parse` or :meth:`from_dict`.

    Attributes:
        version: the version of the format, 1.
        kind: ``release``, for rows to release; other kinds are specs of their own.
        source: the table, view, query or file to anonymize; it may be left out where the table itself is given.
        release: the table or view to publish; None where nothing is published, or a file.
        release_file: the file to publish, which ``release: {file: ...}`` says; None for none.
        release_view: that the release is a view, which ``release: {view: ...}`` says; None where it is none.
        unit: the column that identifies the protected person, or the columns that do together, whose parts may be
            quasi-identifiers; None to protect rows.
        count: the column that says for how many persons a row stands, each of whom counts; it is under ``keep`` too.
            None where a row stands for one.
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
        missing: missing codes, which are read as NULL: a list for all quasi-identifiers and sensitive attributes, or
            lists by column. A text equals texts only, and a number numbers only.
        nulls: whether NULL in a quasi-identifier is a value, suppresses the row, or is an error.
        ledger: where releases are recorded and compared with earlier ones; None for no ledger.
        state: the schema that keeps what later refreshes need; None where the release does not grow.
        increments: how a refresh knows new rows, and what it does when the levels no longer fit.
        release_year: the year that ``release_year`` stands for in ``sql`` hierarchies; None for the year in which the
            spec is loaded.
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
        >>> list(other.quasi_identifiers), other.suppression.max_share
        (['age', 'zip'], None)
    """

    called: ClassVar[str] = "spec"
    made_by: ClassVar[str] = ", such as kanon-sql init writes"
    expected: ClassVar[str] = "a mapping with version, source, quasi_identifiers and privacy"
    not_written: ClassVar[frozenset[str]] = frozenset({AS_KEY, AS_VIEW_KEY})
    elsewhere: ClassVar[Mapping[str, str]] = {
        "perturb": (
            "perturbed values are not true, so their release is never k-anonymous: privacy models promise that true, "
            "coarser values fit k rows. Put 'perturb' into a separate spec, for kanon-sql publish perturbed"
        ),
        "dimensions": in_kind("table"),
        "rules": in_kind("table"),
        "position": in_kind("positions"),
        "lbqids": in_kind("positions"),
        "keep_unique": "expected error, warn or allow for each code; write warnings: {nearly_unique_kept: error}",
    }

    version: Annotated[Literal[1], first_version("spec")] = Field(description="The version of this format, 1.")
    kind: Annotated[Literal["release"], only_kind("release")] = Field(
        default="release", description="The kind of spec; release is the default."
    )
    source: Source = Field(
        default_factory=lambda: NO_SOURCE, description="The table or view to anonymize, {query: ...} or {file: ...}."
    )
    release: TableName | None = Field(default=None, description="The table to publish, {file: ...} or {view: ...}.")
    release_file: ReleaseFile | None = Field(default=None, description="The file to publish.")
    release_view: GuardedView | None = Field(default=None, description="The view to publish.")
    unit: ColumnKey | None = Field(
        default=None,
        description="The column that identifies a person, or several, such as [site, pid]: protect persons, not rows.",
    )
    count: ColumnName | None = Field(
        default=None, description="The column that says for how many persons a row stands, as in a table of counts."
    )
    identifiers: ColumnNames = Field(default=(), description="Columns that are never released.")
    quasi_identifiers: Annotated[dict[str, QuasiIdentifier], hierarchies_by_column] = Field(
        description="The columns to generalize, each with its hierarchy.", min_length=1
    )
    sensitive: ColumnNames = Field(
        default=(), description="Sensitive attributes, which the requirements protect; released unchanged."
    )
    keep: ColumnNames = Field(default=(), description="Insensitive columns to release unchanged.")
    privacy: Annotated[tuple[Requirement, ...], items("requirements", parse_requirement, least=1)] = Field(
        description="The privacy requirements, such as '- k_anonymity: {k: 5}'.", min_length=1
    )
    suppression: Suppression = Field(default=Suppression(), description="How many rows may be suppressed.")
    search: SearchOptions = Field(default=SearchOptions(), description="How to search the lattice.")
    recoding: RecodingOptions = Field(
        default=RecodingOptions(),
        description="The recoding: one level per column (full domain), or levels that differ by class.",
    )
    steps: ReleaseSteps | None = Field(
        default=None, description="Truthful release steps: sampling, top and bottom coding, rounding."
    )
    utility: Utility | None = Field(
        default=None, description="Measure how well a classifier predicts a column from the release."
    )
    missing: MissingCodes = Field(
        default=None, description="Codes that mean NULL, such as ['?', 999], or {column: [codes]}."
    )
    nulls: Annotated[Literal["value", "suppress", "error"], chosen("treatment of NULL")] = Field(
        default="value", description="How to treat NULL in a quasi-identifier."
    )
    ledger: LedgerOptions | None = Field(
        default=None, description="The ledger, where releases are recorded and compared."
    )
    state: StateSchema = Field(default=None, description="The schema that keeps the data that a refresh needs.")
    increments: IncrementOptions | None = Field(default=None, description="How a refresh identifies new rows.")
    release_year: Annotated[int | None, integer("a year", *YEARS)] = Field(
        default=None, description="The value of release_year in sql: hierarchies; the current year by default."
    )
    warnings: WarningOptions = Field(default=WarningOptions(), description="For each warning: error, warn or allow.")

    _streams: Mapping[str, Path] = PrivateAttr(default_factory=dict)
    _rows: tuple[str, ...] | None = PrivateAttr(default=None)
    _secret: str = PrivateAttr(default_factory=new_secret)
    _year: int | None = PrivateAttr(default=None)

    # --- Ways in ---

    def model_post_init(self, context: Any, /) -> None:
        """Read the year of the release, where the spec names it."""
        super().model_post_init(context)
        if any(item.names_release_year for item in self.quasi_identifiers.values()):
            self._year = self.release_year or this_year()
            dated = {name: item.in_year(self._year) for name, item in self.quasi_identifiers.items()}
            self.quasi_identifiers.update(dated)

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

    @property
    def kept_values(self) -> tuple[str, ...]:
        """The columns under ``keep`` but the one that says for how many persons a row stands."""
        return tuple(name for name in self.keep if name != self.count)

    @property
    def inspected_columns(self) -> tuple[str, ...]:
        """The columns whose values a metric, a recoding or a classifier looks at, besides what the requirements do."""
        named = (self.recoding.classify, self.search.classify, None if self.utility is None else self.utility.classify)
        return tuple(name for name in named if name is not None)

    @property
    def computed(self) -> tuple[ComputedColumn, ...]:
        """The columns that are released beside the labels of quasi-identifiers, as numbers or dates."""
        return computed_columns(self.quasi_identifiers)

    @property
    def compares_with_population(self) -> bool:
        """Whether a requirement is about a population's table."""
        return any(getattr(item, "population", None) is not None for item in self.privacy)

    @property
    def points(self) -> dict[str, Point]:
        """The quasi-identifiers that are made of two columns, and which."""
        return {name: item.point for name, item in self.quasi_identifiers.items() if item.point is not None}

    @classmethod
    def place(cls, location: tuple[str | int, ...]) -> tuple[str | int, ...]:
        """A fault of a release that is a file or a view is in the one key that is written."""
        return together(location)

    @classmethod
    def written(cls, value: Any) -> Any:
        """A release that is a file or a view has a field of its own: no one takes its path for a table's name."""
        return apart(super().written(value))

    # --- What the keys say together ---

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """One role per column, requirements about sensitive columns, a release of its own."""
        yield from faults_between(given, value)

    # --- When it is released ---

    @property
    def year(self) -> int | None:
        """The year that ``release_year`` stands for; None where the spec does not name it."""
        return self._year

    @property
    def follows_the_calendar(self) -> bool:
        """Whether another year makes other labels, since the spec names the year and does not say which."""
        return self._year is not None and self.release_year is None

    def in_year(self, year: int | None) -> Self:
        """The same spec for a release of another year, where it names the year.

        Args:
            year: that of a release, as its manifest says; None where it says none.
        """
        if year is None or self._year is None:
            return self
        found = self.model_copy(
            update={
                "release_year": year,
                "quasi_identifiers": {name: item.in_year(year) for name, item in self.quasi_identifiers.items()},
            }
        )
        found._year = year
        return found

    def refuse_past_year(self) -> None:
        """Refuse to go on with a spec that was loaded in another year.

        Raises:
            SpecError: its labels would be those of then.
        """
        if self.follows_the_calendar and self._year != this_year():
            raise SpecError(
                f"release_year: the spec was loaded in {self._year}, but it is {this_year()} now; load it again, or "
                f"write release_year: {self._year} to keep the labels of that year"
            )

    # --- Where it stands ---

    def with_streams(self, **files: Path) -> Self:
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
                f"{key}.file: - is standard {'input' if key == 'source' else 'output'}, which only kanon-sql anonymize "
                "supports; give a file"
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
            "kind": self.kind,
            "source": self.source.to_dict(),
            "release": self.publishes,
            "unit": written_key(self.unit),
            "count": self.count,
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
            "missing": written_codes(self),
            "nulls": self.nulls,
            "ledger": None
            if self.ledger is None
            else {"table": format_table_name(self.ledger.table), "on_conflict": self.ledger.on_conflict},
            "state": None if self.state is None else {"schema": format_table_name(self.state)},
            "increments": None if self.increments is None else self.increments.model_dump(),
            RELEASE_YEAR: self.release_year,
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
    def needs_class_size_only(self) -> bool:
        """Whether privacy asks for classes of this many rows, and nothing else: then alike rows may go anywhere."""
        sizes = all(isinstance(item, KAnonymityRequirement) and item.asks_for_classes for item in self.privacy)
        return sizes and self.unit is None and self.count is None

    @property
    def differential_privacy(self) -> DifferentialPrivacyRequirement | None:
        """The requirement of that name, which is then the only one; else None."""
        return differential_privacy_in(self.privacy)

    @property
    def m_invariance(self) -> MInvarianceRequirement | None:
        """The requirement of that name, which is then the only one; else None."""
        return m_invariance_in(self.privacy)

    def __eq__(self, other: object) -> bool:
        """Two specs are equal when they say the same, of releases of the same year."""
        return isinstance(other, Spec) and super().__eq__(other) and self.year == other.year

    __hash__ = SpecDocument.__hash__

    @property
    def hash(self) -> str:
        """SHA-256 (hex) of the canonical JSON; the order of keys does not matter."""
        found = {**self.to_dict(), RELEASE_YEAR: self._year}
        if self.recoding.is_full_domain:  # what was published before there were others has the hash of then
            del found["recoding"]
        for name in ("count", "steps", "utility", "missing", "state", "increments", RELEASE_YEAR):
            if found[name] is None:
                del found[name]
        if not self.warnings.given():
            del found["warnings"]
        return sha256(found)

    def redacted(self) -> dict[str, Any]:
        """Return what :meth:`to_dict` does, without literals of SQL, labels of trees and passwords, for a manifest."""
        found = self.to_dict()
        found["source"] = redacted_source(self.source)
        found[RELEASE_YEAR] = self._year
        found["quasi_identifiers"] = {name: column.redacted() for name, column in self.quasi_identifiers.items()}
        found["privacy"] = [requirement.redacted() for requirement in self.privacy]
        if self.missing is not None:
            found["missing"] = {"codes": sum(map(len, missing_codes(self).values()))}
        return found

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema (Draft 2020-12) of the forms a spec may be written in."""
        return schema_of(cls)
