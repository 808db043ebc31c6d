"""Publish several verified tables together: all of them, or none.

Where DDL can be rolled back, one transaction drops, renames and records. Where it cannot, the steps are those of
:mod:`kanon_sql.release.publish`, for all tables at each: marks, rows of the manifest that are pending, the ledger's
entry, records of where the old releases are put, then the names. Where one statement renames several tables, or none of
them even if the server dies, that is step 4, and a kill leaves all old tables or all new ones. Elsewhere a spec has to
allow ``in_steps``: all old tables are put aside before the first new one gets its name. So no reader finds tables of
two releases, but for a moment some tables are missing, and after a kill they are until ``clean``: it settles a run
whose tables all stand, and takes those of any other back, and gives the old ones their names again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

from kanon_sql.engines import SCRATCH_TABLE, Engine, Workspace
from kanon_sql.errors import DatabaseError, UnsupportedError
from kanon_sql.release.ledger import Addition
from kanon_sql.release.manifest import MANIFEST_TABLE, Record, scratch_name
from kanon_sql.release.publish import (
    LEFT,
    mark_as_published,
    open_to_others,
    put_back,
    rename,
    replaced_run,
    reveal,
    settle_earlier,
)
from kanon_sql.release.write import in_schema_of
from kanon_sql.spec import Origin
from kanon_sql.sql import Relation, Statement

__all__ = ["never_together", "publish_together", "take_back"]


def never_together(engine: Engine, *, in_steps: bool) -> str | None:
    """Why several tables cannot be published at once; None where they can.

    Args:
        engine: where.
        in_steps: the spec allows that tables are missing for a moment.
    """
    if in_steps or engine.capabilities.transactional_ddl or engine.capabilities.renames_together:
        return None
    return (
        f"{engine.dialect.name} cannot publish several tables at once: {engine.dialect.renames_apart}, so that a kill "
        "could leave tables of two releases. release: {publish: in_steps} puts all old tables aside before the first "
        "new one comes: for a moment some are missing, and after a kill until kanon-sql clean --yes. Or publish on "
        "DuckDB, PostgreSQL, SQLite or MariaDB 10.6; plan and check work here"
    )


def publish_together(
    workspace: Workspace,
    tables: Sequence[tuple[Origin, Relation, Mapping[str, Any]]],
    addition: Addition | None = None,
    *,
    in_steps: bool,
) -> None:
    """Give several verified tables their names: all of them, or none.

    Args:
        workspace: where.
        tables: what is released, all in one schema; the verified table, and what to record of it.
        addition: the ledger's entry; None without a ledger.
        in_steps: tables may be missing for a moment, where the engine cannot publish them at once.

    Raises:
        UnsupportedError: the engine cannot publish several tables at once.
        SpecError: what now stands under a name may not be replaced; nothing was published.
        DatabaseError: another release was entered into the ledger since it was read, and nothing was published; or
            the database refused, and the message says what stands.
    """
    if (why := never_together(workspace.engine, in_steps=in_steps)) is not None:
        raise UnsupportedError(why)
    workspace.engine.refuse_shadowed_functions()  # the verification has called them
    workspace.report("publishing", None)
    parts = [_Part(workspace.run_id, number, *item) for number, item in enumerate(tables)]
    (manifest,) = {in_schema_of(part.release, MANIFEST_TABLE) for part in parts}
    workspace.create_shared("release/manifest/create", manifest)
    if addition is not None:
        addition.create(workspace)
    record = Record(workspace, manifest, workspace.run_id)
    if not workspace.capabilities.transactional_ddl:
        _InSteps(workspace, parts, addition, record).publish()
        return
    with workspace.engine.transaction():
        workspace.hold(manifest, *([] if addition is None else [addition.table]))
        if addition is not None:
            addition.take_turn(workspace)
        for part in parts:
            mark_as_published(workspace, part.made, part.number)
            if replaced_run(workspace, part.spec, part.made, None) is not None:
                workspace.execute("engines/scratch/drop", target=Relation(part.release))
            rename(workspace, part.made.parts, part.release[-1])
            open_to_others(workspace, part.release)
            record.publish(part.spec, part.manifest)
        if addition is not None:
            addition.enter(workspace)


def take_back(workspace: Workspace, releases: Iterable[tuple[str, ...]], run_id: str) -> None:
    """Drop the tables of a run that did not publish all of its tables."""
    for release in releases:
        if workspace.engine.mark(release) == run_id:
            workspace.execute("engines/scratch/drop", target=Relation(release))


@dataclass(frozen=True)
class _Part:
    """One of the tables.

    Attributes:
        run_id: the run.
        number: its place among them.
        spec: names the release.
        made: the verified table, which may be one of the session.
        manifest: what to record of it.
    """

    run_id: str
    number: int
    spec: Origin
    made: Relation
    manifest: Mapping[str, Any]

    @property
    def release(self) -> tuple[str, ...]:
        assert self.spec.release is not None
        return self.spec.release

    @property
    def written(self) -> Relation:
        """The verified table, once it is in no session any more."""
        return in_schema_of(self.release, self.made.parts[-1])

    @property
    def aside(self) -> Relation:
        """Where an old release is left."""
        return in_schema_of(self.release, scratch_name(self.run_id, "old", self.number))


@dataclass(frozen=True)
class _InSteps:
    """Publishing where DDL cannot be rolled back."""

    workspace: Workspace
    parts: Sequence[_Part]
    addition: Addition | None
    record: Record

    def publish(self) -> None:
        workspace, parts = self.workspace, self.parts
        for part in parts:
            reveal(workspace, part.made)
            mark_as_published(workspace, part.written, part.number)
        runs = [replaced_run(workspace, part.spec, part.written, None) for part in parts]
        for run_id in sorted({run_id for run_id in runs if run_id is not None}):
            settle_earlier(workspace, self.record.table, run_id)
        replacing = [part for part, run_id in zip(parts, runs, strict=True) if run_id is not None]
        try:
            for part in parts:
                self.record.announce(part.spec, {**part.manifest, "table_number": part.number})
            if self.addition is not None:
                self.addition.announce(workspace)
            for part in replacing:
                workspace.record(part.aside, in_schema_of(part.release, SCRATCH_TABLE))
            self._rename(replacing)
            self.record.settle(parts[0].manifest["published_at"])
        except BaseException as error:
            self._fail(error, replacing)
        try:
            self._drop_old(replacing)
        except DatabaseError as error:
            raise type(error)(f"{error}; the tables are nevertheless published; {LEFT}") from None

    def _rename(self, replacing: Sequence[_Part]) -> None:
        """Put the old tables aside, and then give the new ones their names."""
        workspace, dialect = self.workspace, self.workspace.dialect
        pairs = [(part.release, part.aside.parts) for part in replacing]
        pairs += [(part.written.parts, part.release) for part in self.parts]
        if workspace.capabilities.renames_together:
            workspace.run(Statement("release/replace", dialect.rename_all(pairs), quoted=dialect.quoted))
            return
        for table, name in pairs:
            rename(workspace, table, name[-1])

    def _fail(self, error: BaseException, replacing: Sequence[_Part]) -> NoReturn:
        """Undo what can be undone, and raise the error, which says so if the tables stand nevertheless."""
        stand, done = False, False
        workspace, engine = self.workspace, self.workspace.engine
        releases = [part.release for part in self.parts]
        with engine.without_deadline(), suppress(DatabaseError):
            for part in self.parts:  # so that a rename which is still on its way fails
                workspace.execute("engines/scratch/drop", target=part.written)
            stand = all(engine.mark(release) == workspace.run_id for release in releases)
            if stand:
                self.record.settle(self.parts[0].manifest["published_at"])
                self._drop_old(replacing)
            else:
                take_back(workspace, releases, workspace.run_id)
                for part in replacing:
                    put_back(workspace, part.aside, part.release)
                if self.addition is not None:
                    self.addition.withdraw(workspace)
                self.record.withdraw()
                for part in replacing:
                    if engine.exists(part.aside.parts) is None:  # else clean has to find it
                        self._forget(part)
            done = True
        if not isinstance(error, DatabaseError) or (done and not stand):
            raise error
        stands = "the tables are nevertheless published" if stand else "it is unknown which tables have the names now"
        raise type(error)(f"{error}; {stands}" if done else f"{error}; {stands}; {LEFT}") from None

    def _drop_old(self, replacing: Sequence[_Part]) -> None:
        for part in replacing:
            self.workspace.execute("engines/scratch/drop", target=part.aside)
            self._forget(part)

    def _forget(self, part: _Part) -> None:
        self.workspace.forget(part.aside, in_schema_of(part.release, SCRATCH_TABLE))
