"""What was published before: the ledger, one row per release, in the manifest's form.

An entry says how a release was made, so that its labels can be made again from the source and
the release compared with them. It holds names, levels, thresholds and digests, and no value of
the data: of hierarchies that hold labels (files, trees) or the user's SQL there is a digest
only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, Self

from kanon_sql.engines import Workspace, now
from kanon_sql.errors import DatabaseError, Problem, SpecError
from kanon_sql.hierarchies import WITHHELD, kind_of, level_names, with_top
from kanon_sql.release.manifest import release_key
from kanon_sql.spec import (
    DifferentialPrivacyRequirement,
    Origin,
    QuasiIdentifier,
    Requirement,
    differential_privacy_in,
    parse_requirement,
)
from kanon_sql.sql import Relation

if TYPE_CHECKING:
    from kanon_sql.spec import KmAnonymity, Spec, TableSpec

__all__ = [
    "Addition",
    "Entry",
    "RecordedTable",
    "RelatedEntry",
    "ReleasedColumn",
    "Spending",
    "SpentOnNoise",
    "digest_of",
    "of_one_table",
    "of_several_tables",
    "read_ledger",
    "released_form",
    "withdraw_entry",
]

MAX_ENTRIES = 1_000
"""More releases of one table than this are not compared in one statement each."""

COLUMNS = ("release_name", "run_id", "published_at", "spec_hash", "manifest")
_TURN = "turn"
_LIMITS = ("minimum_level", "maximum_level", "weight", "as")


@dataclass(frozen=True)
class ReleasedColumn:
    """How a release shows one quasi-identifier.

    Attributes:
        level: of its labels.
        height: the level of the top.
        digest: of its hierarchy.
        rule: the hierarchy itself, as a spec writes it, where it holds no label; else None.
    """

    level: int
    height: int
    digest: str
    rule: Mapping[str, Any] | None

    @property
    def level_name(self) -> str | None:
        """What the level is called; None below the top where the ledger holds a digest of the hierarchy alone."""
        if self.level >= self.height:
            return WITHHELD
        if self.rule is None:
            return None
        return level_names(QuasiIdentifier.model_validate(dict(self.rule)), self.height)[self.level]

    def to_dict(self) -> dict[str, Any]:
        """What the ledger stores."""
        return {"level": self.level, "height": self.height, "digest": self.digest, "rule": self.rule}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ReleasedColumn:
        """A column as :meth:`to_dict` wrote it."""
        return cls(int(data["level"]), int(data["height"]), data["digest"], data["rule"])


class Spending(Protocol):
    """What a differentially private release says of its privacy budget."""

    @property
    def spends(self) -> tuple[Fraction, Fraction]:
        """Its epsilon and delta, exactly."""

    @property
    def may_spend(self) -> tuple[Fraction, Fraction]:
        """The epsilon and delta that all releases of its ledger may spend together."""


@dataclass(frozen=True)
class SpentOnNoise:
    """What a table with noise spent.

    Attributes:
        spends: its epsilon and delta.
        may_spend: those that all releases of the ledger may spend together.
    """

    spends: tuple[Fraction, Fraction]
    may_spend: tuple[Fraction, Fraction]

    @property
    def notation(self) -> str:
        """Such as ``(1, 0)-differential privacy (noise)``."""
        epsilon, delta = map(float, self.spends)
        return f"({epsilon:g}, {delta:g})-differential privacy (noise)"

    def to_dict(self) -> dict[str, str]:
        """As the ledger stores it; fractions, so that sums are exact."""
        names = ("epsilon", "delta", "total_epsilon", "total_delta")
        return {name: str(item) for name, item in zip(names, (*self.spends, *self.may_spend), strict=True)}

    @classmethod
    def from_dict(cls, data: Mapping[str, str]) -> SpentOnNoise:
        """What :meth:`to_dict` wrote."""
        epsilon, delta, total_epsilon, total_delta = (
            Fraction(data[name]) for name in ("epsilon", "delta", "total_epsilon", "total_delta")
        )
        return cls((epsilon, delta), (total_epsilon, total_delta))


@dataclass(frozen=True)
class Entry:
    """One release of the ledger.

    Attributes:
        release: its name parts.
        run_id: of the run that published it.
        published_at: UTC, ISO 8601.
        source: what it was made of, without literals and passwords.
        unit: the column of the protected person, if there is one.
        drops_nulls: rows with a NULL quasi-identifier were suppressed.
        masked: suppressed rows are in the release, masked.
        quasi_identifiers: how each is shown.
        sensitive, keep: the columns that are shown as they are.
        privacy: what was required of it.
        rows: rows of the source, released and suppressed.
        table: of a table of counts the spec, its levels and a digest of its source; None for any other release.
        noise: what a table with noise spent; None for any other release.
    """

    release: tuple[str, ...]
    run_id: str
    published_at: str
    source: Any
    unit: str | None
    drops_nulls: bool
    masked: bool
    quasi_identifiers: Mapping[str, ReleasedColumn]
    sensitive: tuple[str, ...]
    keep: tuple[str, ...]
    privacy: tuple[Requirement, ...]
    rows: Mapping[str, int]
    table: Mapping[str, Any] | None = None
    noise: SpentOnNoise | None = None

    @classmethod
    def bare(cls, workspace: Workspace, spec: Spec | TableSpec) -> Self:
        """What every entry says, and nothing of how the release was made."""
        assert spec.release is not None
        return cls(
            release=spec.release,
            run_id=workspace.run_id,
            published_at=now(exact=True),  # two releases may be made in a second
            source=spec.redacted()["source"],
            unit=spec.unit,
            drops_nulls=False,
            masked=False,
            quasi_identifiers={},
            sensitive=(),
            keep=(),
            privacy=(),
            rows={},
        )

    @property
    def name(self) -> str:
        """The release's name, for messages."""
        return ".".join(self.release)

    @property
    def differential_privacy(self) -> DifferentialPrivacyRequirement | None:
        """What it spent, where it is the output of a differentially private mechanism."""
        return differential_privacy_in(self.privacy)

    @property
    def spending(self) -> Spending | None:
        """The privacy budget that it spent; None where it is no differentially private release."""
        return self.differential_privacy or self.noise

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns that are released as they are."""
        return (*self.sensitive, *self.keep)

    def to_dict(self) -> dict[str, Any]:
        """What the ledger stores, and what ``kanon-sql release ledger`` prints."""
        return {
            "release": list(self.release),
            "run_id": self.run_id,
            "published_at": self.published_at,
            "source": self.source,
            "unit": self.unit,
            "drops_nulls": self.drops_nulls,
            "masked": self.masked,
            "quasi_identifiers": {name: item.to_dict() for name, item in self.quasi_identifiers.items()},
            "sensitive": list(self.sensitive),
            "keep": list(self.keep),
            "privacy": [requirement.to_dict() for requirement in self.privacy],
            "rows": dict(self.rows),
            **({} if self.table is None else {"table": dict(self.table)}),
            **({} if self.noise is None else {"noise": self.noise.to_dict()}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Entry:
        """An entry as :meth:`to_dict` wrote it."""
        return cls(
            release=tuple(data["release"]),
            run_id=data["run_id"],
            published_at=data["published_at"],
            source=data["source"],
            unit=data["unit"],
            drops_nulls=data["drops_nulls"],
            masked=data["masked"],
            quasi_identifiers={
                name: ReleasedColumn.from_dict(item) for name, item in data["quasi_identifiers"].items()
            },
            sensitive=tuple(data["sensitive"]),
            keep=tuple(data["keep"]),
            privacy=tuple(parse_requirement(item) for item in data["privacy"]),
            rows=data["rows"],
            table=data.get("table"),
            noise=SpentOnNoise.from_dict(data["noise"]) if "noise" in data else None,
        )


@dataclass(frozen=True)
class RecordedTable:
    """One table of a release of several, or a column of items.

    Attributes:
        release: the released table's name parts; of a column of lists, those of its table.
        source: the table that its rows are in; None for a query, a file, or items.
        source_digest: of the source as it was written; of items, None.
        above: the name of its parent in the entry; None for the table of persons.
        key: the columns of the source that identify a row; none where nothing refers to it.
        refers: the columns of the source that refer to the parent's key.
        released_key, released_reference: the columns of the released table that identify a row, and refer to the
            parent's.
        item: of a column of items, the column and what stands between two of them (None for lists); else None.
        counted: how many rows a person has here is known.
        columns: its quasi-identifiers, and how each is shown.
        keep: the columns that are released as they are.
        replace: those whose values get new keys.
        released: all columns of the released table.
    """

    release: tuple[str, ...]
    source: Any
    source_digest: str | None
    above: str | None
    key: tuple[str, ...]
    refers: tuple[str, ...]
    released_key: tuple[str, ...]
    released_reference: tuple[str, ...]
    item: tuple[str, str | None] | None
    counted: bool
    columns: Mapping[str, ReleasedColumn]
    keep: tuple[str, ...]
    replace: tuple[str, ...]
    released: tuple[str, ...]

    @property
    def is_list(self) -> bool:
        """Whether it is a column of lists in its parent's released table."""
        return self.item is not None and self.item[1] is None

    def to_dict(self) -> dict[str, Any]:
        """What the ledger stores."""
        return {
            "release": list(self.release),
            "source": self.source,
            "source_digest": self.source_digest,
            "above": self.above,
            "key": list(self.key),
            "refers": list(self.refers),
            "released_key": list(self.released_key),
            "released_reference": list(self.released_reference),
            "item": None if self.item is None else list(self.item),
            "counted": self.counted,
            "columns": {name: item.to_dict() for name, item in self.columns.items()},
            "keep": list(self.keep),
            "replace": list(self.replace),
            "released": list(self.released),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RecordedTable:
        """A table as :meth:`to_dict` wrote it."""
        column, split = data["item"] or (None, None)
        return cls(
            release=tuple(data["release"]),
            source=data["source"],
            source_digest=data["source_digest"],
            above=data["above"],
            key=tuple(data["key"]),
            refers=tuple(data["refers"]),
            released_key=tuple(data["released_key"]),
            released_reference=tuple(data["released_reference"]),
            item=None if column is None else (column, split),
            counted=data["counted"],
            columns={name: ReleasedColumn.from_dict(item) for name, item in data["columns"].items()},
            keep=tuple(data["keep"]),
            replace=tuple(data["replace"]),
            released=tuple(data["released"]),
        )


@dataclass(frozen=True)
class RelatedEntry:
    """One release of several tables.

    Attributes:
        run_id: of the run that published it.
        published_at: UTC, ISO 8601.
        tables: by their names in its spec, each after its parent; that of persons first.
        privacy: what was required of it.
        persons: of the source, and released.
    """

    run_id: str
    published_at: str
    tables: Mapping[str, RecordedTable]
    privacy: tuple[KmAnonymity, ...]
    persons: Mapping[str, int]

    @property
    def release(self) -> tuple[str, ...]:
        """The released table of persons."""
        return next(iter(self.tables.values())).release

    @property
    def name(self) -> str:
        """The release's name, for messages: that of its persons."""
        return ".".join(self.release)

    @property
    def spending(self) -> None:
        """No privacy budget: its classes are counted."""
        return

    def to_dict(self) -> dict[str, Any]:
        """What the ledger stores, and what ``kanon-sql release ledger`` prints."""
        return {
            "release": list(self.release),
            "run_id": self.run_id,
            "published_at": self.published_at,
            "tables": [{"name": name, **table.to_dict()} for name, table in self.tables.items()],
            "privacy": [requirement.to_dict() for requirement in self.privacy],
            "persons": dict(self.persons),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RelatedEntry:
        """An entry as :meth:`to_dict` wrote it."""
        from kanon_sql.spec import KmAnonymity  # the specs of several tables, which those of one do without

        return cls(
            run_id=data["run_id"],
            published_at=data["published_at"],
            tables={item["name"]: RecordedTable.from_dict(item) for item in data["tables"]},
            privacy=tuple(KmAnonymity.model_validate(item[KmAnonymity.name]) for item in data["privacy"]),
            persons=data["persons"],
        )


def digest_of(spec: Origin, quasi_identifier: QuasiIdentifier) -> str:
    """SHA-256 (hex) of what a hierarchy says: of its rows or rule, wherever these are written.

    Raises:
        HierarchyError: its file cannot be read.
    """
    rows = kind_of(quasi_identifier).listed_rows(spec)
    description: Any = _written(quasi_identifier) if rows is None else sorted(with_top(rows))
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()


def released_form(spec: Origin, quasi_identifier: QuasiIdentifier, level: int, height: int) -> ReleasedColumn:
    """How a release of a spec shows a quasi-identifier at a level."""
    rule = None if quasi_identifier.hierarchy.holds_labels else _written(quasi_identifier)
    return ReleasedColumn(level, height, digest_of(spec, quasi_identifier), rule)


def _written(quasi_identifier: QuasiIdentifier) -> dict[str, Any]:
    """The hierarchy as a spec writes it, without the limits of its levels."""
    return {key: value for key, value in quasi_identifier.what_labels().items() if key not in _LIMITS}


def read_ledger(workspace: Workspace, table: Relation) -> tuple[Entry | RelatedEntry, ...]:
    """The entries of a ledger, oldest first; none if the table is not there yet.

    Raises:
        SpecError: the table is no ledger.
    """
    shown = ".".join(table.parts)
    if not workspace.engine.shared(table.parts):
        return ()
    if [column.lower() for column in workspace.columns(table)] != list(COLUMNS):
        raise SpecError(f"ledger: {shown!r} is a table, but not a ledger of kanon_sql; choose another name")
    rows = workspace.fetch("release/ledger/entries", MAX_ENTRIES, table=table)
    try:
        return tuple(_entry(json.loads(row[0])) for row in rows)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SpecError(
            f"ledger: {shown!r} holds a row that this version of kanon_sql cannot read; upgrade kanon_sql, or "
            "name another ledger"
        ) from None


def _entry(data: Mapping[str, Any]) -> Entry | RelatedEntry:
    return RelatedEntry.from_dict(data) if "tables" in data else Entry.from_dict(data)


def of_one_table(entries: Sequence[Entry | RelatedEntry]) -> tuple[Entry, ...]:
    """The entries of a ledger, all of which are releases of a single table.

    Raises:
        SpecError: some are not.
    """
    problems = [_of_other_kind(entry, "several tables") for entry in entries if isinstance(entry, RelatedEntry)]
    if problems:
        raise SpecError(problems)
    return tuple(entry for entry in entries if isinstance(entry, Entry))


def of_several_tables(entries: Sequence[Entry | RelatedEntry]) -> tuple[RelatedEntry, ...]:
    """The entries of a ledger, all of which are releases of several tables.

    Raises:
        SpecError: some are not.
    """
    problems = [_of_other_kind(entry, "a single table") for entry in entries if isinstance(entry, Entry)]
    if problems:
        raise SpecError(problems)
    return tuple(entry for entry in entries if isinstance(entry, RelatedEntry))


def _of_other_kind(entry: Entry | RelatedEntry, kind: str) -> Problem:
    return Problem(
        f"ledger: {entry.name} is a release of {kind}, and is not compared with the other kind of release; do not "
        "release the same persons in both ways, and name another ledger for this spec"
    )


def withdraw_entry(workspace: Workspace, table: Relation, run_id: str) -> None:
    """Take a run's entry back: its release was not published."""
    workspace.execute("release/manifest/withdraw", table=table, run_id=run_id)


@dataclass(frozen=True)
class Addition:
    """A release to be entered into a ledger while it is published.

    Attributes:
        table: the ledger.
        entry: the new release.
        release_name: as the database compares names.
        spec_hash: of the spec.
        earlier: the run ids of the releases that it was compared with.
    """

    table: Relation
    entry: Entry | RelatedEntry
    release_name: str
    spec_hash: str
    earlier: frozenset[str]

    @classmethod
    def of(
        cls,
        workspace: Workspace,
        table: tuple[str, ...],
        entry: Entry | RelatedEntry,
        spec_hash: str,
        earlier: Iterable[Entry | RelatedEntry],
    ) -> Self:
        """The new release, under its name as the database compares names.

        Args:
            workspace: where.
            table: the ledger.
            entry: the release.
            spec_hash: of its spec.
            earlier: what it was compared with.
        """
        name = release_key(workspace.engine, entry.release)
        return cls(Relation(table), entry, name, spec_hash, frozenset(item.run_id for item in earlier))

    def create(self, workspace: Workspace) -> None:
        """Make the ledger unless it is there, with the row that transactions take turns by.

        That row is there before any transaction is: in a new ledger two of them would find nothing to wait for, and
        enter releases that were not compared.
        """
        workspace.create_shared("release/manifest/create", self.table)
        if workspace.capabilities.transactional_ddl and not workspace.fetch(
            "release/manifest/find", MAX_ENTRIES, table=self.table, release_name=_TURN, run_id=_TURN
        ):
            self._insert(workspace, _TURN, _TURN, _TURN, _TURN)

    def take_turn(self, workspace: Workspace) -> None:
        """Wait for any other release that is being entered, inside a transaction.

        One row of the ledger is deleted and written again by every run: a second transaction waits here or fails.

        Raises:
            DatabaseError: another release was entered since the ledger was read.
        """
        workspace.execute("release/ledger/turn", table=self.table, run_id=_TURN)
        self._insert(workspace, _TURN, _TURN, _TURN, _TURN)
        self._refuse_others(workspace, self.earlier)

    def enter(self, workspace: Workspace) -> None:
        """Write the entry."""
        text = json.dumps(self.entry.to_dict(), sort_keys=True)
        self._insert(workspace, self.release_name, self.entry.run_id, self.entry.published_at, text)

    def announce(self, workspace: Workspace) -> None:
        """Where there is no transaction: write the entry first, then look for others.

        Two runs that announce at once see each other, and neither publishes.

        Raises:
            DatabaseError: another release was entered since the ledger was read; the entry is to be withdrawn.
        """
        self.enter(workspace)
        self._refuse_others(workspace, self.earlier | {self.entry.run_id})

    def withdraw(self, workspace: Workspace) -> None:
        """Take the entry back: the release was not published."""
        withdraw_entry(workspace, self.table, self.entry.run_id)

    def _insert(self, workspace: Workspace, name: str, run_id: str, published_at: str, text: str) -> None:
        workspace.execute(
            "release/manifest/insert",
            table=self.table,
            release_name=name,
            run_id=run_id,
            published_at=published_at,
            spec_hash=self.spec_hash,
            manifest=text,
        )

    def _refuse_others(self, workspace: Workspace, known: frozenset[str]) -> None:
        rows = workspace.fetch("release/ledger/entries", MAX_ENTRIES, table=self.table)
        if {json.loads(row[0])["run_id"] for row in rows} != known:
            raise DatabaseError(
                "ledger: another run entered a release meanwhile, and this one was not compared with it; "
                "nothing was published: run it again"
            )
