"""Publish a guarded view whose query was verified: create it, examine it as its readers see it, and record it.

Where DDL rolls back, all of that is one transaction, and a failure leaves the earlier view as it was. Elsewhere the
view is recorded as pending, created or put in the place of the earlier one by one statement, examined, and settled; if
the examination fails, or is interrupted, the view is dropped, and no earlier one comes back. A kill in between leaves a
view whose query was verified, and that judges its rows whenever it is read: ``clean`` settles it by its mark.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from kanon_sql.engines import Workspace
from kanon_sql.errors import DatabaseError, SpecError
from kanon_sql.release.choice import Choice
from kanon_sql.release.file import refuse_foreign_file
from kanon_sql.release.guarded_view import created_view, refuse_temporary_source
from kanon_sql.release.manifest import MANIFEST_TABLE, Record, pending_records
from kanon_sql.release.publish import refuse_foreign_release
from kanon_sql.release.state import refuse_growing
from kanon_sql.release.write import in_schema_of, verify_view
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation, Statement

__all__ = ["publish_view", "refuse_other_release"]


def refuse_other_release(workspace: Workspace, spec: Spec) -> None:
    """Refuse to replace what kanon_sql did not publish, be the release a table, a file or a view.

    Raises:
        SpecError: something else stands under its name, or under that of a recoding that is to be kept; or a release
            that grows.
    """
    if spec.release_view is not None:
        refuse_temporary_source(workspace.engine, spec)
    if spec.release_file is None:
        refuse_growing(workspace, spec, refuse_foreign_release(workspace, spec))
    else:
        refuse_foreign_file(spec)
    if spec.recoding.save_as is not None:
        from kanon_sql.release.kept_recoding import refuse_foreign_kept

        refuse_foreign_kept(workspace, spec)


def publish_view(workspace: Workspace, choice: Choice, manifest: Mapping[str, Any], *, unseen: bool = False) -> None:
    """Create the view under its name, and record its manifest.

    Args:
        workspace: where.
        choice: what it shows.
        manifest: what to record of it.
        unseen: there is no database to look into; the statements replace an earlier view, if there is one.

    Raises:
        SpecError: what now stands under the name may not be replaced.
        VerificationError: the view does not show what was promised; it was dropped.
        DatabaseError: the database refused.
    """
    spec = choice.spec
    assert spec.release is not None
    engine = workspace.engine
    engine.refuse_shadowed_functions()
    workspace.report("creating the view, and verifying it", None)
    table = in_schema_of(spec.release, MANIFEST_TABLE)
    workspace.create_shared("release/manifest/create", table)
    record = Record(workspace, table, workspace.run_id)
    statement = created_view(workspace, choice)
    if workspace.capabilities.transactional_ddl:
        with engine.transaction():
            if not unseen:
                workspace.hold(table)
            rights = []
            if unseen or refuse_foreign_release(workspace, spec) is not None:
                rights = engine.rights(spec.release)
                workspace.execute("release/drop_view", view=Relation(spec.release))
            workspace.run(statement)
            if rights:  # else its readers would have to be granted them again after each run
                workspace.run(Statement("release/rights", "; ".join(rights), quoted=workspace.dialect.quoted))
            if not unseen:
                _examine(workspace, choice)
            record.publish(spec, manifest)
        return
    earlier = refuse_foreign_release(workspace, spec)
    for item in pending_records(workspace, table) if earlier is not None else ():
        if item.run_id == earlier:  # it was cut off after its view got the name
            Record(workspace, table, earlier).settle(item.published_at)
    record.announce(spec, manifest)
    try:
        workspace.run(statement)
        if not unseen:
            _examine(workspace, choice)
    except BaseException:
        with engine.without_deadline(), suppress(DatabaseError):
            if engine.view_mark(spec.release) == workspace.run_id:
                workspace.execute("release/drop_view", view=Relation(spec.release))
            record.withdraw()
        raise
    record.settle(manifest["published_at"])


def _examine(workspace: Workspace, choice: Choice) -> None:
    """See that the view stands under its name for every user, and shows what was promised."""
    assert choice.spec.release is not None
    if workspace.engine.view_mark(choice.spec.release) != workspace.run_id:
        raise SpecError(
            f"release.view: {choice.spec.shown!r} was created, but this name leads to another table or view; "
            "write it with its schema"
        )
    verify_view(workspace, choice)
