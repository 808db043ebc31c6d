"""Write an untruthful release, see that it is what was masked, and publish it as one that is untrue."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

from kanon_sql.engines import Workspace, now
from kanon_sql.errors import VerificationError
from kanon_sql.perturbation.masks import MaskedTable
from kanon_sql.release import publish, staged, under_another_id
from kanon_sql.spec import PerturbSpec
from kanon_sql.version import __version__

__all__ = ["publish_perturbed"]


def publish_perturbed(workspace: Workspace, spec: PerturbSpec, table: MaskedTable, summary: dict[str, Any]) -> None:
    """Publish the untrue values under the release's name, with a manifest that calls them so.

    Args:
        workspace: where.
        spec: what was masked.
        table: the masked rows.
        summary: what the manifest says of utility and risk.

    Raises:
        VerificationError: the written table is not the one that was measured; it was dropped.
    """
    assert spec.release is not None
    with under_another_id(workspace.engine, "perturbed"), staged(workspace, spec.release) as target:
        workspace.report("writing the release", None)
        columns = [{"name": item.name, "masked": item.masked} for item in table.columns]
        workspace.execute("perturbation/release", target=target, table=table.table, columns=columns)
        workspace.report("verifying the written table", None)
        written = workspace.columns(target)
        (rows,) = workspace.row("release/count", table=target, mark=None, unit=None)
        if list(written) != [item.name for item in table.columns] or int(rows) != table.rows:
            raise VerificationError("verification: the written table is not the one that was masked; it was dropped")
        for item in table.columns:
            # Exchanged and kept values are those of the source, whichever row has them; others are what was measured.
            exchanged = item.masking is None or item.masking.method in ("swap", "rank_swap")
            moved, _ = workspace.row(
                "perturbation/shifted",
                table=table.table,
                released=target,
                source=item.source if exchanged else item.masked,
                other=item.name,
            )
            if moved:
                raise VerificationError(
                    f"verification: the written values of {item.name!r} are not those that were measured; the table "
                    "was dropped"
                )
        manifest = {
            "kanon_sql": __version__,
            "run_id": workspace.run_id,
            "published_at": now(),
            "release": ".".join(spec.release),
            "truthful": False,
            "perturbed": list(spec.perturb),
            "perturbation": summary,
            "spec": spec.redacted(),
            "spec_hash": spec.hash,
            "versions": {
                "python": platform.python_version(),
                "sqlglot": version("sqlglot"),
                "engine": f"{workspace.dialect.name} {workspace.engine.version}",
            },
        }
        publish(workspace, spec, target, manifest)
