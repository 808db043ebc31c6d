"""Recodings that are kept: the classes of a release, or its levels, as a table beside it, for new rows.

Such a table is published as a release is, after it: under a scratch name first, with a mark of its own and a row in the
manifest, replaced by a later run and by nothing else. It holds the labels of the released classes, their levels and an
order of the classes; no count of rows, and no value that the release does not show. Its manifest says by which
hierarchies these labels were made, so that no one takes them for others. Where classes were divided by the order of
values, it holds the cuts instead, and with them values of the source.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kanon_sql.engines import Workspace, now
from kanon_sql.errors import KanonError, SpecError, VerificationError
from kanon_sql.recode import KeptRecoding, Mapped, hierarchies_of
from kanon_sql.release.manifest import (
    MANIFEST_TABLE,
    MAX_PENDING,
    kind_of,
    recorded_state,
    release_key,
    under_another_id,
)
from kanon_sql.release.publish import KEEP, publish, refuse_foreign_release
from kanon_sql.release.write import in_schema_of, staged
from kanon_sql.search import Node
from kanon_sql.spec import Spec, format_table_name
from kanon_sql.sql import Relation
from kanon_sql.version import __version__

__all__ = ["keep", "read_recoding", "refuse_foreign_kept"]


def refuse_foreign_kept(workspace: Workspace, spec: Spec) -> None:
    """Refuse to keep a recoding, as the spec says, in the place of a table that is none.

    Raises:
        SpecError: something else has the name.
    """
    refuse_foreign_release(workspace, _published_as(spec), key=KEEP)


def keep(workspace: Workspace, spec: Spec, what: Mapped | Node, node: Mapping[str, int] | None) -> str:
    """Publish the recoding of a release that was published just now.

    Args:
        workspace: where.
        spec: what was released; it says where to keep the recoding.
        what: the classes; or the levels, where every column has one.
        node: the levels as a mapping, where they are those of the release, or of all cells that are not suppressed.

    Returns:
        What was kept, in a sentence.

    Raises:
        KanonError: it was not kept; the release stands.
    """
    named = _published_as(spec)
    assert named.release is not None
    shown = format_table_name(named.release)
    try:
        with under_another_id(workspace.engine, "recoding"), staged(workspace, named.release) as table:
            count = _write(workspace, table, what)
            publish(workspace, named, table, _manifest(workspace, spec, shown, what, node))
    except KanonError as error:
        raise type(error)(f"{error}; the release {'.'.join(spec.release or ())} was published, but its recoding "
f"could not be kept in {shown}") from None  # fmt: skip
    if isinstance(what, Mapped) and what.cuts is not None:
        return f"the recoding is kept in {shown}: {count:,} cuts, whose values are as sensitive as the source's"
    return f"the recoding is kept in {shown}" + ("" if count is None else f": {count:,} classes")


def _published_as(spec: Spec) -> Spec:
    """The spec as if the recoding were the release."""
    assert spec.release is not None
    assert spec.recoding.save_as is not None
    parts = in_schema_of(spec.release, spec.recoding.kept_in).parts
    return spec.model_copy(update={"release": parts, "ledger": None})


def _write(workspace: Workspace, table: Relation, what: Mapped | Node) -> int | None:
    """Write the table; returns how many classes or cuts it has, None for levels."""
    workspace.report("keeping the recoding", None)
    if not isinstance(what, Mapped):
        workspace.execute("release/kept/levels", target=table, levels=list(what))
        return None
    if what.cuts is not None:
        workspace.execute("release/kept/cuts", target=table, cuts=what.cuts.table, attributes=what.cuts.attributes)
        return workspace.size([table])
    paths = [{"index": path.index, "share": path.share} for path in what.paths]
    workspace.execute("release/kept/classes", target=table, classes=what.classes, attributes=paths)
    (count,) = workspace.row("release/count", table=table, mark=None, unit=None)
    if int(count) != what.count:
        raise VerificationError(f"verification: {count} classes were kept, but {what.count} were released")
    return int(count)


def _manifest(
    workspace: Workspace, spec: Spec, shown: str, what: Mapped | Node, node: Mapping[str, int] | None
) -> dict[str, Any]:
    """What was kept and how it was made; no value of the data is in it."""
    return {
        "kanon_sql": __version__,
        "run_id": workspace.run_id,
        "published_at": now(),
        "release": shown,
        "kept": {
            "method": spec.recoding.method,
            "by_class": isinstance(what, Mapped),
            "orders": dict(what.cuts.orders) if isinstance(what, Mapped) and what.cuts is not None else None,
            "node": None if node is None else dict(node),
            "hierarchies": [{"name": name, **made} for name, made in hierarchies_of(spec).items()],
        },
    }


def read_recoding(workspace: Workspace, name: tuple[str, ...]) -> KeptRecoding:
    """A recoding that was kept.

    Args:
        workspace: where; nothing is written.
        name: its name.

    Raises:
        SpecError: there is none by this name.
    """
    shown, engine, manifest = format_table_name(name), workspace.engine, in_schema_of(name, MANIFEST_TABLE)
    run_id = engine.mark(name) if engine.shared(name) else None
    if run_id is None or kind_of(run_id) != "recoding" or not engine.shared(manifest.parts):
        raise SpecError(_no_such(name))
    if recorded_state(workspace, manifest, release_key(engine, name), run_id) is None:
        raise SpecError(_no_such(name))
    rows = workspace.fetch("release/manifest/read", MAX_PENDING, table=manifest, run_id=run_id)
    record = json.loads(str(rows[0][1]))["kept"]
    hierarchies = {made.pop("name"): made for made in record["hierarchies"]}
    table, node = Relation(name), record["node"]
    if not record["by_class"]:
        levels = workspace.row("release/kept/read", table=table, names=list(hierarchies))
        node = dict(zip(hierarchies, map(int, levels), strict=True))
    return KeptRecoding(
        shown, table, run_id, record["method"], record["by_class"], node, hierarchies, record.get("orders")
    )


def _no_such(name: tuple[str, ...]) -> str:
    return (
        f"no recoding is kept as {format_table_name(name)!r} in this database; expected the name under recoding: "
        "{save_as: ...} of a spec that kanon-sql anonymize has released, with its schema if the release has "
        "one"
    )
