"""Publish cloaked rows: copied without people and positions, compared with what was examined, and put under their name."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

from kanon_sql.engines import Workspace, now
from kanon_sql.errors import VerificationError
from kanon_sql.positions.staged import LEFT_OUT, Staged
from kanon_sql.release import publish, staged
from kanon_sql.spec import CloakSpec
from kanon_sql.version import __version__

__all__ = ["publish_cloaked"]


def publish_cloaked(workspace: Workspace, spec: CloakSpec, rows: Staged, summary: dict[str, Any]) -> None:
    """Publish cloaked rows under the release's name, with their manifest.

    Args:
        workspace: where.
        spec: what was cloaked.
        rows: what was examined.
        summary: what the manifest says of them.

    Raises:
        VerificationError: what was written is not what was examined; it was dropped.
        SpecError: something else stands under the release's name.
    """
    assert spec.release is not None
    with staged(workspace, spec.release) as target:
        workspace.report("writing the release", None)
        workspace.execute("release/copy", target=target, staged=rows.table, names=list(rows.names), mark=LEFT_OUT)
        if list(workspace.columns(target)) != list(rows.names):
            raise VerificationError(
                "verification: the written table does not have the promised columns; it was dropped"
            )
        (differing,) = workspace.row("positions/differing", table=target, staged=rows.table, names=list(rows.labels))
        if differing:
            raise VerificationError(
                f"verification: {int(differing):,} labels have other rows than were examined; the table was dropped"
            )
        manifest = {
            "kanon_sql": __version__,
            "run_id": workspace.run_id,
            "published_at": now(),
            "release": ".".join(spec.release),
            "cloaked": summary,
            "spec": spec.redacted(),
            "spec_hash": spec.hash,
            "versions": {
                "python": platform.python_version(),
                "sqlglot": version("sqlglot"),
                "engine": f"{workspace.dialect.name} {workspace.engine.version}",
            },
        }
        publish(workspace, spec, target, manifest)
