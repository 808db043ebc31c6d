"""Publish cloaked rows: written without people and positions, compared with what was examined, and renamed."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

from kanon_sql.engines import Workspace, now
from kanon_sql.errors import VerificationError
from kanon_sql.positions.assign import Assigned
from kanon_sql.positions.keys import Points
from kanon_sql.release import publish, staged
from kanon_sql.spec import CloakSpec
from kanon_sql.sql import Sql
from kanon_sql.version import __version__

__all__ = ["publish_cloaked"]


def publish_cloaked(
    workspace: Workspace, spec: CloakSpec, found: Points, written: Assigned, summary: dict[str, Any]
) -> None:
    """Publish cloaked rows under the release's name, with their manifest.

    Args:
        workspace: where.
        spec: what was cloaked.
        found: the source's columns.
        written: what was examined.
        summary: what the manifest says of it.

    Raises:
        VerificationError: what was written is not what was examined; it was dropped.
        SpecError: something else stands under the release's name.
    """
    assert spec.release is not None
    labels = dict(zip(spec.position.columns, ("x_label", "y_label"), strict=True))
    if spec.time is not None:
        labels[spec.time.column] = "t_label"
    kept = {name: f"assigned.kept{index}" for index, name in enumerate(spec.keep)}
    names = [name for name in found.columns if name in labels or name in kept]
    labelled = [name for name in names if name in labels]
    with staged(workspace, spec.release) as target:
        workspace.report("writing the release", None)
        outputs = [{"name": name, "value": Sql(kept.get(name) or f"labels.{labels[name]}")} for name in names]
        workspace.execute("positions/release", target=target, outputs=outputs, rows=written.rows, labels=written.labels)
        if list(workspace.columns(target)) != names:
            raise VerificationError("verification: the written table has other columns than promised; it was dropped")
        differing, ambiguous = workspace.row(
            "positions/differing",
            table=target,
            names=labelled,
            labelled=[Sql(f"labels.{labels[name]}") for name in labelled],
            labels=written.labels,
            classes=written.classes,
        )
        if differing or ambiguous:
            raise VerificationError(
                f"verification: {int(differing or ambiguous):,} labels have other rows than were examined; the table "
                "was dropped"
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
