"""What a search found, as the writers take it, and what a manifest records of it: shared by the verbs that publish."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from kanon_sql.engines import Workspace, now
from kanon_sql.evaluate import Chosen
from kanon_sql.recode import RecodingResult
from kanon_sql.release import Choice, WrittenFile
from kanon_sql.spec import Spec
from kanon_sql.verbs.result import PublishedRelease, RefreshedRelease, names_for_manifest
from kanon_sql.version import __version__

if TYPE_CHECKING:
    from kanon_sql.recode import KeptRecoding
    from kanon_sql.verbs.parties_result import PartiesResult

__all__ = ["choice_of", "manifest_frame", "manifest_of"]

_CHOSEN = ("class_sizes", "intervals", "recoding", "metrics", "mean_loss", "search", "steps", "utility", "details")
"""What the results of searches and recodings have of what was chosen."""


def choice_of(found: Chosen | RecodingResult, suppressed_rows: int) -> Choice:
    """What to write.

    Args:
        found: what was chosen.
        suppressed_rows: how many rows it leaves out, those for NULL included.
    """
    node = suppressed = vectors = mapped = None
    if isinstance(found, RecodingResult):
        mapped = found.mapped
        vectors = found.releasable()
    else:
        node = found.node
        vectors = found.evaluator.releasable(found.spec, found.columns, node)
        if suppressed_rows > found.sets.null_rows:
            suppressed = found.evaluator.suppressed_classes(node)
    return Choice(
        spec=found.spec,
        columns=found.columns,
        sets=found.sets,
        models=found.models,
        node=node,
        suppressed=suppressed,
        suppressed_rows=suppressed_rows,
        vectors=vectors,
        mapped=mapped,
    )


def manifest_of(
    spec: Spec,
    workspace: Workspace,
    result: PublishedRelease | RefreshedRelease,
    *,
    file: WrittenFile | None = None,
    applied: KeptRecoding | None = None,
) -> dict[str, Any]:
    """What was published and how; no value of the data is in it.

    Args:
        spec: what was released.
        workspace: where.
        result: what is said of it.
        file: the file that it is, if it is one.
        applied: the recoding that was applied, where none was looked for.
    """
    read = _read_version(spec, workspace)
    found = result.to_dict()
    if file is not None and isinstance(result, PublishedRelease) and result.details is not None:
        found["details"] = result.details.of_release_alone().to_dict()  # who reads the file reads its manifest
    return manifest_frame(
        spec,
        workspace,
        result,
        **({} if file is None else {"file": file.to_dict()}),
        **({} if read is None else {"source_version": dict(read)}),
        level_names=names_for_manifest(spec, result.level_names or {}),
        rows=dict(result.rows),
        **{"steps": None, "utility": None, **{key: found[key] for key in _CHOSEN if key in found}},
        applied=None if applied is None else {"recoding": applied.shown, "run_id": applied.run_id},
        cost=result.cost.to_dict(),
        notes=list(result.notes),
        warnings=found["warnings"],
        **({"refresh": dict(result.refresh)} if isinstance(result, RefreshedRelease) else {}),
    )


def manifest_frame(
    spec: Spec, workspace: Workspace, result: PublishedRelease | RefreshedRelease | PartiesResult, **section: Any
) -> dict[str, Any]:
    """What all manifests hold: the run, the spec, and what can be read from the published table itself.

    What tells more of the source (its rows, the search, what the run took) is there where its kind of release says so.

    Args:
        spec: what was released.
        workspace: where.
        result: what is said of it.
        section: what this kind of release adds, by key.
    """
    return {
        "kanon_sql": __version__,
        "run_id": workspace.run_id,
        "published_at": now(),
        "release": result.release,
        "spec": spec.redacted(),
        "spec_hash": spec.hash,
        "node": None if result.node is None else dict(result.node),
        "intervals": None,
        "recoding": None,
        "classes": dict(result.classes),
        "achieved": {key: dict(value) for key, value in result.achieved.items()},
        "metrics": {},
        "search": None,
        "applied": None,
        "cost": {},
        "details": None,
        "versions": {
            "python": platform.python_version(),
            "sqlglot": version("sqlglot"),
            "engine": f"{workspace.dialect.name} {workspace.engine.version}",
        },
        **section,
    }


def _read_version(spec: Spec, workspace: Workspace) -> Mapping[str, str | int] | None:
    """The version of the source that was read; None where its format has none."""
    versions: Mapping[str, Mapping[str, str | int]] = getattr(workspace.engine, "read_versions", {})
    if spec.source.file is not None:
        return versions.get(str(spec.source_path))
    return None if spec.source.table is None else versions.get(spec.source.table[-1])
