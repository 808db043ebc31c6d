"""Publish a verified release: put it in the place of the old one, and leave a manifest.

Until the last step nothing stands under the release's name but what stood there before.
Where DDL can be rolled back, dropping, renaming and the manifest are one transaction. Where
it cannot, the tables are exchanged as atomically as the engine can; an unverified or partial
table never has the release's name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from kanon_sql.engines import SCRATCH_TABLE, Engine, Workspace, now
from kanon_sql.errors import DatabaseError, SpecError
from kanon_sql.frequency import is_same_table
from kanon_sql.release.ledger import Addition
from kanon_sql.release.write import Written, beside
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation, Statement

__all__ = ["MANIFEST_TABLE", "publish", "refuse_foreign_release"]

MANIFEST_TABLE = "kanon_sql_manifest"


def refuse_foreign_release(workspace: Workspace, spec: Spec) -> bool:
    """Refuse to replace a table or view that kanon_sql did not publish, or the source itself.

    Returns:
        Whether an earlier release stands under the name.

    Raises:
        SpecError: the source, or something else, stands under the release's name.
    """
    assert spec.release is not None
    release = spec.release
    dialect = workspace.dialect
    if dialect.longest_name is not None:
        most, unit = dialect.longest_name
        if any(len(part.encode() if unit == "bytes" else part) > most for part in release):
            raise SpecError(
                f"release: {dialect.name} takes names of {most} {unit} at most, and this one is longer; "
                "choose a shorter one"
            )
    kind = workspace.engine.exists(release)
    if kind is None:
        return False
    shown = ".".join(release)
    if spec.source.table is not None and is_same_table(workspace.engine, spec.source.table, release):
        raise SpecError(f"release: {shown!r} is the source itself, which is never replaced; choose another name")
    manifest = beside(release, MANIFEST_TABLE)
    if kind == "table" and workspace.engine.exists(manifest.parts) == "table":
        (published,) = workspace.row(
            "release/manifest/find", table=manifest, release_name=release_key(workspace.engine, release)
        )
        # A plain name is looked up in several places, a manifest speaks for its own only.
        if published and _place(workspace.engine, release) == _place(workspace.engine, manifest.parts):
            return True
    raise SpecError(
        f"release: there is already a {kind} {shown!r} that kanon_sql did not publish; "
        "choose another name, or drop or rename it first"
    )


def _place(engine: Engine, name: tuple[str, ...]) -> tuple[str, ...] | None:
    """Where what stands under a name is: its full name without the last part."""
    found = engine.full_name(name)
    return None if found is None else found[:-1]


def _replaces(workspace: Workspace, spec: Spec, written: Written) -> bool:
    """Whether an earlier release has to make room. Asked once more: anybody may have used the name since the run began.

    Raises:
        SpecError: something else stands there now, or the earlier release is where the new one would not be.
    """
    assert spec.release is not None
    engine = workspace.engine
    if not refuse_foreign_release(workspace, spec):
        return False
    old, new = _place(engine, spec.release), _place(engine, written.table.parts)
    if old != new:
        shown = spec.release[-1]
        raise SpecError(
            f"release: {shown!r} was published in {'.'.join(old or ())}, but this connection makes new tables in "
            f"{'.'.join(new or ())}; write the name with its schema"
        )
    return True


def release_key(engine: Engine, release: tuple[str, ...]) -> str:
    """A release's name in the manifest: its last part, as the database compares names."""
    return engine.capabilities.folded(release[-1])


def publish(
    workspace: Workspace,
    spec: Spec,
    written: Written,
    manifest: Mapping[str, Any],
    addition: Addition | None = None,
    *,
    unseen: bool = False,
) -> None:
    """Give the verified table the release's name, record its manifest, and enter it into a ledger if there is one.

    Args:
        workspace: where.
        spec: what is released.
        written: the verified table.
        manifest: what to record of it.
        addition: the ledger's entry.
        unseen: there is no database to look into; the statements replace an earlier release, if there is one.

    Raises:
        SpecError: what now stands under the release's name may not be replaced; nothing was published.
        DatabaseError: another release was entered into the ledger since it was read; nothing was published.
    """
    assert spec.release is not None
    workspace.engine.refuse_other_meanings()  # the verification has called them
    workspace.report("publishing", None)
    table = beside(spec.release, MANIFEST_TABLE)
    if workspace.capabilities.transactional_ddl:
        with workspace.engine.transaction():
            if addition is not None:
                addition.create(workspace)
                addition.take_turn(workspace)
            workspace.execute("release/manifest/create", table=table)
            if unseen or _replaces(workspace, spec, written):
                workspace.execute("engines/scratch/drop", target=Relation(spec.release))
            _rename(workspace, written.table.parts, spec.release[-1])
            if addition is not None:
                addition.enter(workspace)
            _record(workspace, spec, manifest)
        return
    workspace.execute("release/manifest/create", table=table)
    if addition is None:
        _publish_in_steps(workspace, spec, written, manifest)
        return
    addition.create(workspace)
    addition.announce(workspace)
    try:
        _publish_in_steps(workspace, spec, written, manifest)
    except BaseException:
        addition.withdraw(workspace)
        raise


def _publish_in_steps(workspace: Workspace, spec: Spec, written: Written, manifest: Mapping[str, Any]) -> None:
    """Where DDL cannot be rolled back."""
    assert spec.release is not None
    if _replaces(workspace, spec, written):
        _publish_again(workspace, spec, written, manifest)
    else:
        _publish_first(workspace, spec, written, manifest)


def _publish_first(workspace: Workspace, spec: Spec, written: Written, manifest: Mapping[str, Any]) -> None:
    """The name first: a manifest row without a release would call ours whatever is put there later."""
    assert spec.release is not None
    _rename(workspace, written.table.parts, spec.release[-1])
    try:
        _record(workspace, spec, manifest)
    except BaseException:
        with workspace.engine.without_deadline(), suppress(DatabaseError):
            workspace.execute("engines/scratch/drop", target=Relation(spec.release))
        raise


def _publish_again(workspace: Workspace, spec: Spec, written: Written, manifest: Mapping[str, Any]) -> None:
    """The manifest first, so that a release never stands without one."""
    assert spec.release is not None
    _record(workspace, spec, manifest)
    try:
        aside = _exchange(workspace, written, spec.release)
    except BaseException:
        with workspace.engine.without_deadline(), suppress(DatabaseError):
            table = beside(spec.release, MANIFEST_TABLE)
            workspace.execute("release/manifest/withdraw", table=table, run_id=workspace.run_id)
        raise
    workspace.execute("engines/scratch/drop", target=aside)
    _forget(workspace, aside)


def _exchange(workspace: Workspace, written: Written, release: tuple[str, ...]) -> Relation:
    """As few steps as the engine knows. Returns where the old release was left."""
    aside = beside(release, f"kanon_{workspace.run_id}_old")
    record, name = beside(release, SCRATCH_TABLE), json.dumps(aside.parts)
    workspace.execute(
        "engines/scratch/record", table=record, run_id=workspace.run_id, object_name=name, created_at=now()
    )
    dialect = workspace.dialect
    try:
        for sql in dialect.replace(written.table.parts, release, aside.parts):
            workspace.run(Statement("release/replace", sql, quoted=dialect.quoted))
    except BaseException:
        with workspace.engine.without_deadline(), suppress(DatabaseError):
            _put_back(workspace, aside, release)
        raise
    return aside


def _put_back(workspace: Workspace, aside: Relation, release: tuple[str, ...]) -> None:
    """The old release under its name again, if the new one did not get there."""
    engine = workspace.engine
    if engine.exists(release) is None and engine.exists(aside.parts) is not None:
        _rename(workspace, aside.parts, release[-1])
    if engine.exists(aside.parts) is None:
        _forget(workspace, aside)


def _forget(workspace: Workspace, aside: Relation) -> None:
    record = beside(aside.parts, SCRATCH_TABLE)
    workspace.execute("engines/scratch/forget", table=record, object_name=json.dumps(aside.parts))


def _rename(workspace: Workspace, table: tuple[str, ...], name: str) -> None:
    dialect = workspace.dialect
    workspace.run(Statement("release/rename", dialect.rename(table, name), quoted=dialect.quoted))


def _record(workspace: Workspace, spec: Spec, manifest: Mapping[str, Any]) -> None:
    assert spec.release is not None
    workspace.execute(
        "release/manifest/insert",
        table=beside(spec.release, MANIFEST_TABLE),
        release_name=release_key(workspace.engine, spec.release),
        run_id=workspace.run_id,
        published_at=manifest["published_at"],
        spec_hash=spec.hash,
        manifest=json.dumps(manifest, sort_keys=True),
    )
