"""Change a published release in its place, in one transaction, where the engine has those.

The table stays, so that rows which are out need not be written again. Its mark becomes that of the run which changed
it, the manifest has a row of that run, and the state is changed with both: a run that is cut off has changed nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kanon_sql.engines import Engine, Workspace
from kanon_sql.errors import DatabaseError
from kanon_sql.release.manifest import MANIFEST_TABLE, Record
from kanon_sql.release.publish import mark_as_published
from kanon_sql.release.state import State, forget_state, registry, states_in, write_state
from kanon_sql.release.write import in_schema_of
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation, Statement

__all__ = ["amend", "amends"]


def amends(engine: Engine) -> bool:
    """Whether a release can be changed in its place: at once with its mark, and row by row."""
    return engine.capabilities.transactional_ddl and engine.capabilities.row_id is not None


def amend(
    workspace: Workspace,
    spec: Spec,
    before: State,
    after: State,
    manifest: Mapping[str, Any],
    change: Callable[[], None],
) -> None:
    """Change a release and its state.

    Args:
        workspace: where.
        spec: names the release.
        before: the state that was read.
        after: the state then.
        manifest: what to record.
        change: makes the changes of the release's rows and the state's.

    Raises:
        DatabaseError: another run has changed the release since the state was read; nothing was changed.
    """
    assert spec.release is not None
    engine = workspace.engine
    engine.refuse_shadowed_functions()  # the verification has called them
    workspace.report("publishing", None)
    manifests = in_schema_of(spec.release, MANIFEST_TABLE)
    workspace.create_shared("release/manifest/create", manifests)
    with engine.transaction():
        workspace.hold(manifests, registry(before.schema), Relation(spec.release))
        forget_state(workspace, before)
        write_state(workspace, after)
        # Who waited for another run finds that one's row here, and not the one that was read.
        others = [item for item in states_in(workspace, before.schema) if item.tables == before.tables]
        if [item.run_id for item in others] != [after.run_id] or engine.mark(spec.release) != before.run_id:
            raise DatabaseError(
                f"{'.'.join(spec.release)!r} is not the release that this run read, since another run has "
                "changed it; nothing was changed: run it again"
            )
        change()
        if (sql := workspace.dialect.unmark(spec.release, before.run_id)) is not None:
            workspace.run(Statement("release/state/unmark", sql, quoted=workspace.dialect.quoted))
        mark_as_published(workspace, Relation(spec.release))
        Record(workspace, manifests, workspace.run_id).publish(spec, manifest)
