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
from kanon_sql.sql import Relation, Sql, exact_text, identifier
from kanon_sql.version import __version__

__all__ = ["differing_labels", "publish_cloaked", "released_columns"]


def released_columns(spec: CloakSpec) -> tuple[str, ...]:
    """The columns of a release: labels of positions and times, and what is kept."""
    return (*_labels(spec), *spec.keep)


def _labels(spec: CloakSpec) -> dict[str, str]:
    """The columns of a release that hold labels -> what these are called among the examined ones."""
    found = dict(zip(spec.position.columns, ("x_label", "y_label"), strict=True))
    return found if spec.time is None else {**found, spec.time.column: "t_label"}


def differing_labels(workspace: Workspace, spec: CloakSpec, written: Assigned, table: Relation) -> int:
    """How many labels a table has more or fewer rows of than were examined, or that two cells have.

    Args:
        workspace: where.
        spec: what was cloaked.
        written: what was examined.
        table: the released rows.
    """
    labels = _labels(spec)
    differing, ambiguous = workspace.row(
        "positions/differing",
        table=table,
        names=list(labels),
        cells=[exact_text(Sql(f"CAST(released.{identifier(name)} AS VARCHAR)")) for name in labels],
        labelled=[exact_text(Sql(f"CAST(labels.{label} AS VARCHAR)")) for label in labels.values()],
        labels=written.labels,
        classes=written.classes,
    )
    return int(differing or ambiguous)


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
    labels = _labels(spec)
    kept = {name: f"shuffled.kept{index}" for index, name in enumerate(spec.keep)}
    names = [name for name in found.columns if name in labels or name in kept]
    workspace.report("writing the release", None)
    shuffled = workspace.table("shuffled")
    workspace.execute("positions/shuffled", target=shuffled, rows=written.rows, kept=len(spec.keep))
    with staged(workspace, spec.release) as target:
        outputs = [{"name": name, "value": Sql(kept.get(name) or f"labels.{labels[name]}")} for name in names]
        workspace.execute("positions/release", target=target, outputs=outputs, rows=shuffled, labels=written.labels)
        if list(workspace.columns(target)) != names:
            raise VerificationError(
                "verification: the written table does not have the promised columns; it was dropped"
            )
        differing = differing_labels(workspace, spec, written, target)
        if differing:
            raise VerificationError(
                f"verification: {differing:,} labels do not have the rows that were examined; the table was dropped"
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
