"""Read the manifest of a published release back from the database."""

from __future__ import annotations

import json
import re
from typing import Any

from kanon_sql.engines import Engine, open_workspace
from kanon_sql.errors import SpecError
from kanon_sql.release.publish import MANIFEST_TABLE
from kanon_sql.spec import parse_table_name
from kanon_sql.sql import Relation

__all__ = ["published_manifest"]

_RUN_ID = re.compile(r"[0-9a-z]{1,64}")


def published_manifest(engine: Engine, run_id: str, schema: str | None = None) -> dict[str, Any]:
    """The manifest that a run left beside its release.

    Args:
        engine: from :func:`kanon_sql.connect`; a read-only connection is enough.
        run_id: the run, as its manifest names it.
        schema: where the release is, if not in the default schema.

    Raises:
        SpecError: there is no such run.
    """
    if not _RUN_ID.fullmatch(run_id):
        raise SpecError(
            f"{run_id!r} is neither a file nor the id of a run; give the JSON file of a result, or a run id"
        )
    table = Relation((*(parse_table_name(schema) if schema is not None else ()), MANIFEST_TABLE))
    with open_workspace(engine, "") as workspace:
        if engine.exists(table.parts) != "table":
            raise SpecError(
                f"there is no table {'.'.join(table.parts)} here, so no release was published beside it; "
                "name its --schema, or another database"
            )
        rows = workspace.fetch("release/manifest/read", 1, table=table, run_id=run_id)
    if not rows or not rows[0][0]:
        raise SpecError(
            f"no release of the run {run_id} is recorded in {'.'.join(table.parts)}; expected the id in its result or "
            "manifest shows"
        )
    found: dict[str, Any] = json.loads(str(rows[0][0]))
    return found
