"""A release of several tables beside those that its ledger holds: whether they can be compared, and how they are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kanon_sql.engines import Engine, Workspace, now
from kanon_sql.errors import Problem, SpecError
from kanon_sql.frequency import explained_if_missing, is_same_table, plain_source_of, unknown_columns
from kanon_sql.relations.joint_release import JointRelease, View, examine_jointly
from kanon_sql.relations.members import Member, Placed
from kanon_sql.relations.release import ReleasedTable, identifying, released_keys
from kanon_sql.release import (
    Addition,
    RecordedTable,
    RelatedEntry,
    ReleasedColumn,
    digest_of,
    of_several_tables,
    read_ledger,
    released_form,
)
from kanon_sql.spec import (
    PERSON,
    ChildTable,
    ItemColumn,
    PersonTable,
    QuasiIdentifier,
    RelationalSpec,
    Source,
)
from kanon_sql.sql import Relation

__all__ = ["EarlierReleases", "addition_of", "compared_together", "earlier_releases", "entry_of"]


@dataclass(frozen=True)
class EarlierReleases:
    """The releases of a ledger, all of which can be compared with one of a spec.

    Attributes:
        entries: they, oldest first.
        spec: all tables and columns that one of them has, or the spec.
        names: for each entry, what its tables are called in that spec.
    """

    entries: Sequence[RelatedEntry]
    spec: RelationalSpec
    names: Sequence[Mapping[str, str]]


def earlier_releases(workspace: Workspace, spec: RelationalSpec) -> EarlierReleases:
    """The releases of a spec's ledger.

    Raises:
        SpecError: one of them cannot be compared with a release of the spec, or the ledger is none.
    """
    assert spec.ledger is not None
    entries = of_several_tables(read_ledger(workspace, Relation(spec.ledger.table)))
    union = _Union(workspace.engine, spec)
    names = [union.add(entry) for entry in entries]
    union.refuse_problems()
    found = EarlierReleases(entries, union.spec, names)
    if entries:
        _refuse_missing(workspace, found)
    return found


def _refuse_missing(workspace: Workspace, found: EarlierReleases) -> None:
    """Refuse a source that lacks what an earlier release shows."""
    problems = list[Problem]()
    for name in (PERSON, *found.spec.ordered):
        placed = Placed(found.spec, name)
        with explained_if_missing(workspace.engine, placed.source.table):
            types = workspace.described(plain_source_of(workspace.engine, placed))
        items = [item.column for item in found.spec.items.values() if item.table == name]
        named = dict.fromkeys((*placed.table.own_keys, *placed.quasi_identifiers, *items, *placed.table.keep))
        problems += unknown_columns(placed.shown, types, named, "which this release or one of its ledger names")
    if problems:
        raise SpecError(problems)


# --- All tables and columns of several releases ----------------------------------------------


@dataclass
class _Union:
    """The tables and columns of a spec, and of the entries that were added.

    A table is known by its source: a release may call it otherwise.

    Attributes:
        engine: knows which names mean one table.
        own: the spec.
        spec: with what entries have besides; nothing but keys, quasi-identifiers, items and kept columns.
        problems: why releases cannot be compared.
    """

    engine: Engine
    own: RelationalSpec
    spec: RelationalSpec = field(init=False)
    problems: list[Problem] = field(default_factory=list)
    _shown: list[tuple[str, set[str]]] = field(default_factory=list)
    """The release, and its tables as the union calls them."""
    _others: dict[str, dict[str, str]] = field(default_factory=dict)
    """Table -> column that a release shows without labels -> that release."""

    def __post_init__(self) -> None:
        """Begin with the spec's own tables."""
        spec, plain = self.own, {"sensitive": (), "replace": (), "shift": ()}
        tables = {
            name: table.model_copy(
                update={**plain, "quasi_identifiers": _on_all_levels(table.quasi_identifiers), "most_rows": None}
            )
            for name, table in spec.tables.items()
        }
        person = {**plain, "quasi_identifiers": _on_all_levels(spec.person.quasi_identifiers)}
        items = {
            name: item.model_copy(update={"hierarchy": _on_all_levels({name: item.hierarchy})[name]})
            for name, item in spec.items.items()
        }
        self.spec = spec.model_copy(
            update={"person": spec.person.model_copy(update=person), "tables": tables, "items": items, "ledger": None}
        )
        for name in (PERSON, *spec.tables):
            table = Placed(spec, name).table
            self._note_others(name, (*table.keep, *table.replace), "this release")
        self._shown.append(("this release", {PERSON, *spec.below}))
        sources = {name: spec.source_of(name) for name in (PERSON, *spec.tables)}
        for name, source in sources.items():
            if any(name != other and self._same(source, sources[other]) for other in sources):
                self._problem(
                    f"{name}: two tables of this spec have the same source, so that a ledger cannot tell which is "
                    "which; make one of them"
                )

    def add(self, entry: RelatedEntry) -> dict[str, str]:
        """Add what an entry has; returns what its tables are called here."""
        names = dict[str, str]()
        mine = [self.own.released(name) for name in (PERSON, *self.own.below)]
        if any(is_same_table(self.engine, own, table.release) for own in mine for table in entry.tables.values()):
            self._problem(
                f"{entry.name} was published at {entry.published_at} and stays as it is, to be compared with; release "
                "into another schema, or under other names"
            )
        for table in entry.tables.values():
            if self.engine.exists(table.release) != "table":
                self._problem(
                    f"{'.'.join(table.release)} (run {entry.run_id}, {entry.published_at}) is not in the database, to "
                    "be compared with: restore it, or, if its run was killed before it published, run kanon-sql clean "
                    "--yes, which takes the row out of the ledger"
                )
        for name, table in entry.tables.items():
            if table.above is not None and table.above not in names:
                continue  # the table above it cannot be compared, which is said already
            found = self._add_table(entry, name, table, names)
            if found is not None:
                names[name] = found
                self._add_columns(entry, found, table)
        self._shown.append((entry.name, set(names.values())))
        return names

    def refuse_problems(self) -> None:
        """Refuse releases that cannot be compared.

        Raises:
            SpecError: why.
        """
        for name in (PERSON, *self.spec.ordered):
            placed, others = Placed(self.spec, name), self._others.get(name, {})
            items = [item.column for item in self.spec.items.values() if item.table == name]
            for column in (*placed.quasi_identifiers, *items):
                if column in items and column in placed.quasi_identifiers:
                    self._problem(
                        f"{name}: {column!r} is a column of items for one release, and a quasi-identifier for another: "
                        "make it one of both in all of them"
                    )
                if column.casefold() in others:
                    self._problem(
                        f"{name}: {column!r} is released as it is, or under new keys, by {others[column.casefold()]}, "
                        "and with labels by another release: make it a quasi-identifier of both"
                    )
        for name in self.spec.tables:
            lacking = [release for release, tables in self._shown if name not in tables]
            source = self.spec.source_of(name)
            if lacking and (source.table is None or self.engine.exists(source.table) != "table"):
                self._problem(
                    f"{name}: {lacking[0]} has no such table, and this one is a view, a query or a file, which may "
                    "have the rows of another table: who knows one row would know two items. Name the table itself"
                )
        if self.problems:
            raise SpecError(self.problems)

    def _problem(self, why: str) -> None:
        self.problems.append(Problem(f"ledger: {why}"))

    def _note_others(self, name: str, columns: Sequence[str], release: str) -> None:
        known = self._others.setdefault(name, {})
        for column in columns:
            known.setdefault(column.casefold(), release)

    # --- Tables ---

    def _same(self, first: Source, second: Source) -> bool:
        if first.table is not None and second.table is not None:
            return first.to_dict() == second.to_dict() or is_same_table(self.engine, first.table, second.table)
        return first.to_dict() == second.to_dict()

    def _add_table(self, entry: RelatedEntry, name: str, table: RecordedTable, names: Mapping[str, str]) -> str | None:
        """What a table of an entry is called here; None where it cannot be compared."""
        if table.item is not None:
            return self._add_items(entry, name, table, names)
        same = [own for own in (PERSON, *self.spec.tables) if self._is_source(self.spec.source_of(own), table)]
        if table.above is None and same[:1] != [PERSON]:
            self._problem(
                f"{entry.name} has other persons: its table of persons is another one than that of this spec; use "
                "another ledger"
            )
            return None
        if not same:
            return self._new_table(entry, name, table, names)
        (own,) = same[:1]
        if (own == PERSON) != (table.above is None):
            self._problem(f"{own}: in {entry.name} the same table is {'below' if own == PERSON else 'that of'} persons")
            return None
        known: PersonTable | ChildTable = self.spec.person if own == PERSON else self.spec.tables[own]
        above = None if isinstance(known, PersonTable) else known.above
        key = known.key or ()
        if (key and table.key and key != table.key) or (
            isinstance(known, ChildTable) and (known.refers_by != table.refers or above != names[str(table.above)])
        ):
            self._problem(
                f"{own}: {entry.name} identifies its rows by another key, or has them below another table; write the "
                "same key, parent and reference"
            )
            return None
        if table.key and not key:
            self._change(own, {"key": table.key})
        return own

    def _is_source(self, own: Source, table: RecordedTable) -> bool:
        if _source_digest(own) == table.source_digest:
            return True
        recorded = _recorded_source(table)
        return recorded is not None and self._same(own, recorded)

    def _new_table(self, entry: RelatedEntry, name: str, table: RecordedTable, names: Mapping[str, str]) -> str | None:
        """A table that the spec does not have."""
        source = _recorded_source(table)
        if source is None:
            self._problem(
                f"{entry.name} has a table {name!r} of a query or a file, and the ledger holds a digest of that only: "
                "write it into this spec as it was"
            )
            return None
        above = names[str(table.above)]
        refers = {"person": table.refers} if above == PERSON else {"parent": above, "by": table.refers}
        free = self._free(name)
        added = ChildTable.model_validate(
            {"table": table.source, **({"key": table.key} if table.key else {}), **refers}
        )
        self.spec = self.spec.model_copy(update={"tables": {**self.spec.tables, free: added}})
        return free

    def _add_items(self, entry: RelatedEntry, name: str, table: RecordedTable, names: Mapping[str, str]) -> str | None:
        """What a column of items is called here."""
        assert table.item is not None
        column, split = table.item
        above = names[str(table.above)]
        for own, item in self.spec.items.items():
            if (item.table, item.column) != (above, column):
                continue
            if item.split != split:
                self._problem(f"items.{own}: {entry.name} splits the column otherwise; write the same split")
                return None
            return own
        recorded = next(iter(table.columns.values()))
        if recorded.rule is None:
            self._problem(_unknown_hierarchy(entry, f"items.{name}"))
            return None
        rule = _on_all_levels({column: QuasiIdentifier.model_validate(dict(recorded.rule))})[column]
        parts = {"table": above, "column": column, **({} if split is None else {"split": split})}
        added = ItemColumn.model_validate(parts).model_copy(update={"hierarchy": rule})
        free = self._free(name)
        self.spec = self.spec.model_copy(update={"items": {**self.spec.items, free: added}})
        return free

    def _free(self, name: str) -> str:
        """A name that no table has."""
        taken, free = {PERSON, *(other.casefold() for other in self.spec.below)}, name
        while free.casefold() in taken:
            free += "_"
        return free

    # --- Columns ---

    def _add_columns(self, entry: RelatedEntry, own: str, table: RecordedTable) -> None:
        """Add the quasi-identifiers that a table has in an entry, each by the one hierarchy that all releases have."""
        known = dict(Placed(self.spec, own).quasi_identifiers)
        for column, recorded in table.columns.items():
            if (hierarchy := known.get(column)) is not None:
                if digest_of(Placed(self.spec, own), hierarchy) != recorded.digest:
                    self._problem(
                        f"{own}.{column}: {entry.name} has another hierarchy, so that its labels cannot be compared; "
                        "write the same one into this spec"
                    )
            elif recorded.rule is None:
                self._problem(_unknown_hierarchy(entry, f"{own}.{column}"))
            else:
                known[column] = QuasiIdentifier.model_validate(dict(recorded.rule))
        if own not in self.spec.items:
            kept = (*Placed(self.spec, own).table.keep, *table.keep)
            self._change(own, {"quasi_identifiers": known, "keep": tuple(dict.fromkeys(kept))})
            self._note_others(own, (*table.keep, *table.replace), entry.name)

    def _change(self, own: str, update: Mapping[str, Any]) -> None:
        if own == PERSON:
            self.spec = self.spec.model_copy(update={"person": self.spec.person.model_copy(update=update)})
            return
        changed = self.spec.tables[own].model_copy(update=update)
        self.spec = self.spec.model_copy(update={"tables": {**self.spec.tables, own: changed}})


def _unknown_hierarchy(entry: RelatedEntry, place: str) -> str:
    return (
        f"the ledger does not hold the hierarchy of {place} in {entry.name} (it holds a digest of files, trees and "
        "SQL); write the same hierarchy into the spec, with minimum_level at its top if the column should not be "
        "released"
    )


def _on_all_levels(columns: Mapping[str, QuasiIdentifier]) -> dict[str, QuasiIdentifier]:
    """Hierarchies without limits of their levels: other releases had others."""
    return {
        name: column.model_copy(update={"minimum_level": 0, "maximum_level": None}) for name, column in columns.items()
    }


def _source_digest(source: Source) -> str:
    """SHA-256 (hex) of a source as it is written."""
    return hashlib.sha256(json.dumps(source.to_dict(), sort_keys=True).encode()).hexdigest()


def _recorded_source(table: RecordedTable) -> Source | None:
    """The source of a recorded table, where that is a name; of others the ledger has no more than a digest."""
    return None if table.source is None else Source.model_validate(table.source)


# --- The comparison --------------------------------------------------------------------------


def compared_together(
    workspace: Workspace,
    spec: RelationalSpec,
    earlier: EarlierReleases,
    written: Mapping[str, ReleasedTable],
    entry: RelatedEntry,
) -> JointRelease | None:
    """Compare a written release with the earlier ones; None where there is none.

    Args:
        workspace: where.
        spec: of the release.
        earlier: they.
        written: the release, not yet published.
        entry: what the ledger is to hold of it.
    """
    if not earlier.entries:
        return None
    views = [
        _view(recorded, recorded.name, names, None)
        for recorded, names in zip(earlier.entries, earlier.names, strict=True)
    ]
    views.append(_view(entry, "this release", {name: name for name in entry.tables}, written))
    with workspace.passing():
        return examine_jointly(workspace.apart("joint_"), earlier.spec, views)


def _view(
    entry: RelatedEntry, shown: str, names: Mapping[str, str], written: Mapping[str, ReleasedTable] | None
) -> View:
    """A release, by what its tables are called in the union."""
    tables = dict[str, ReleasedTable]()
    for name, table in entry.tables.items():
        above = None if table.above is None else names[table.above]
        own = _standing(entry, name, above) if written is None else written[name]
        tables[names[name]] = replace(own, name=names[name], labels=list(table.columns), sensitive=(), above=above)
    return View(
        name=shown,
        tables=tables,
        levels={
            names[name]: {column: item.level for column, item in table.columns.items()}
            for name, table in entry.tables.items()
        },
        kept={names[name]: table.keep for name, table in entry.tables.items()},
        columns={names[name]: table.released for name, table in entry.tables.items()},
        privacy=entry.privacy,
        counted=[names[name] for name, table in entry.tables.items() if table.counted],
    )


def _standing(entry: RelatedEntry, name: str, above: str | None) -> ReleasedTable:
    """A released table of an entry, as it stands."""
    table = entry.tables[name]
    parent = None if table.above is None else entry.tables[table.above]
    key, refers = table.released_key, () if parent is None else table.released_reference
    if table.is_list:
        assert parent is not None
        key, refers = (), parent.released_key
    return ReleasedTable(name, Relation(table.release), key, refers, [], (), above, is_list=table.is_list)


# --- The new entry ---------------------------------------------------------------------------


def entry_of(
    workspace: Workspace,
    spec: RelationalSpec,
    members: Mapping[str, Member],
    nodes: Mapping[str, Sequence[int]],
    persons: Mapping[str, int],
) -> RelatedEntry:
    """What a ledger is to hold of a release.

    Args:
        workspace: of the run.
        spec: of the release.
        members: its tables.
        nodes: table -> the level of each of its columns.
        persons: of the source, and released.
    """
    return RelatedEntry(
        run_id=workspace.run_id,
        published_at=now(exact=True),  # two releases may be made in a second
        tables={name: _recorded(workspace, spec, member, nodes[name]) for name, member in members.items()},
        privacy=spec.km,
        persons=persons,
    )


def _recorded(workspace: Workspace, spec: RelationalSpec, member: Member, levels: Sequence[int]) -> RecordedTable:
    """A table of a release, as the ledger holds it."""
    name, table = member.name, Placed(spec, member.name).table
    key, refers = released_keys(spec, name)
    item = (table.column, table.split) if isinstance(table, ItemColumn) else None
    source = None if item is not None else spec.source_of(name)
    lists = [found.column for found in spec.lists_of(name).values()]
    labels = [column.name for column in member.columns]
    keep, replaced = ((), ()) if item is not None else (table.keep, table.replace)
    released = [*(column for column in (key, refers) if column is not None), *labels, *keep, *replaced, *lists]
    return RecordedTable(
        release=spec.released(name),
        source=None if source is None or source.table is None else source.to_dict(),
        source_digest=None if source is None else _source_digest(source),
        above=None if name == PERSON else spec.below[name].above,
        key=table.key or (),
        refers=table.refers_by if isinstance(table, ChildTable) else (),
        released_key=identifying(spec, name),
        released_reference=() if refers is None else (refers,),
        item=item,
        counted=name in spec.counted_tables,
        columns={
            column.name: _form(spec, name, member, number, level)
            for number, (column, level) in enumerate(zip(member.columns, levels, strict=True))
        },
        keep=keep,
        replace=replaced,
        released=() if spec.is_list(name) else tuple(dict.fromkeys(released)),
    )


def _form(spec: RelationalSpec, name: str, member: Member, number: int, level: int) -> ReleasedColumn:
    """How a column is shown, by the hierarchy of the spec, whatever levels were searched."""
    column = member.columns[number]
    placed = Placed(spec, name)
    return released_form(placed, placed.quasi_identifiers[column.name], level, column.lookup.height)


def addition_of(workspace: Workspace, spec: RelationalSpec, entry: RelatedEntry, earlier: EarlierReleases) -> Addition:
    """The new release, as it is entered into the ledger."""
    assert spec.ledger is not None
    return Addition.of(workspace, spec.ledger.table, entry, spec.hash, earlier.entries)
