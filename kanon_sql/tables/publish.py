"""Write a protected table, read it back, see that it is what was proven, and publish it as a release is.

What is verified is what stands in the database: its rows are read again and compared with what may be published, and
the two tables that prove each sensitive cell must agree with these rows, in whole numbers.
"""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from importlib.metadata import version
from typing import Any

from kanon_sql.engines import Workspace, now
from kanon_sql.errors import VerificationError
from kanon_sql.release import publish, staged, under_another_id
from kanon_sql.spec import TableSpec
from kanon_sql.sql import Relation
from kanon_sql.tables.audit import Audit, requirement_of
from kanon_sql.tables.cells import MOST_CELLS
from kanon_sql.tables.protect import ProtectedTable
from kanon_sql.tables.suppress import readers
from kanon_sql.version import __version__

__all__ = ["columns_of", "publish_table", "rows_of"]

WrittenTable = tuple[str | int | None, ...]


def columns_of(spec: TableSpec) -> list[str]:
    """The columns of a published table: each dimension, its level where it has several, the value, and the mark."""
    return [*(column for name in spec.dimensions for column in _of_dimension(spec, name)), "value", "suppressed"]


def _of_dimension(spec: TableSpec, name: str) -> list[str]:
    return [name, f"{name}_level"] if len(spec.dimensions[name].levels) > 1 else [name]


def rows_of(spec: TableSpec, found: ProtectedTable) -> list[WrittenTable]:
    """The rows of a published table. Cells that are rounded to zero are left out, as empty ones are."""
    rows: list[WrittenTable] = []
    times = spec.expansion
    for cell, value in zip(found.table.cells, found.values, strict=True):
        if value == 0 and spec.protection.rounds:
            continue
        place: list[str | int | None] = []
        for dimension, path in zip(spec.dimensions.values(), cell.key, strict=True):
            place.append(path[-1] if path else spec.total_label)
            if len(dimension.levels) > 1:
                place.append(dimension.levels[-len(path)] if path else None)
        rows.append((*place, None if value is None else value * times, int(value is None)))
    return rows


def publish_table(
    workspace: Workspace,
    spec: TableSpec,
    shown: TableSpec,
    found: ProtectedTable,
    summary: dict[str, Any],
    *,
    truthful: bool = True,
) -> None:
    """Publish a protected table under the release's name, with its manifest.

    Args:
        workspace: where.
        spec: what to tabulate.
        shown: that at the levels that the table has.
        found: the table; it may be published.
        summary: what the manifest says of it; no value of a suppressed cell.
        truthful: whether the cells are those of true values; else the manifest says that the release is untrue.

    Raises:
        VerificationError: what was written is not what may be published; it was dropped.
        SpecError: something else stands under the release's name.
    """
    assert spec.release is not None
    assert found.failure is None
    id_of_its_own = nullcontext() if truthful else under_another_id(workspace.engine, "perturbed")
    with id_of_its_own, staged(workspace, spec.release) as target:
        workspace.report("writing the table", None)
        rows = rows_of(shown, found)
        _write(workspace, shown, rows, target)
        _verify(workspace, shown, found, rows, target)
        manifest = {
            "kanon_sql": __version__,
            "run_id": workspace.run_id,
            "published_at": now(),
            "release": ".".join(spec.release),
            "table": summary,
            **({} if truthful else {"truthful": False}),
            "spec": spec.redacted(),
            "spec_hash": spec.hash,
            "versions": {
                "python": platform.python_version(),
                "sqlglot": version("sqlglot"),
                "engine": f"{workspace.dialect.name} {workspace.engine.version}",
            },
        }
        publish(workspace, spec, target, manifest)


def _write(workspace: Workspace, spec: TableSpec, rows: Sequence[WrittenTable], target: Relation) -> None:
    names = columns_of(spec)
    numbers = {
        "value",
        "suppressed",
        *(f"{name}_level" for name, item in spec.dimensions.items() if len(item.levels) > 1),
    }
    columns = [{"name": name, "number": name in numbers and name not in spec.dimensions} for name in names]
    loaded = workspace.table("protected")
    texts = [
        [text for item, column in zip(row, columns, strict=True) for text in _as_text(item, bool(column["number"]))]
        for row in rows
    ]
    workspace.load(loaded, [f"l{number}" for number in range(2 * len(columns))], texts)
    workspace.execute("tables/write", target=target, loaded=loaded, columns=columns)


def _as_text(item: str | int | None, number: bool) -> tuple[str, str]:
    """Whether there is a value, and what it is."""
    if item is None:
        return "0", "0" if number else ""
    return "1", str(item)


def _verify(
    workspace: Workspace, spec: TableSpec, found: ProtectedTable, rows: Sequence[WrittenTable], target: Relation
) -> None:
    """Compare what stands in the database with what may be published, and that with the proof."""
    workspace.report("verifying what was written", None)
    read = workspace.fetch("tables/read", MOST_CELLS, table=target, names=columns_of(spec))
    if Counter(tuple(_read(item) for item in row) for row in read) != Counter(
        tuple(_read(item) for item in row) for row in rows
    ):
        raise VerificationError("verification: the written table is not the one that was protected; it was dropped")
    unproven = sum(not _proven(spec, found, index) for index, cell in enumerate(found.table.cells) if cell.sensitive)
    if unproven:
        raise VerificationError(f"verification: {unproven:,} sensitive cells are not protected; the table was dropped")


def _read(item: Any) -> str | None:
    if item is None:
        return None
    return str(item) if isinstance(item, str) else str(int(item))


def _proven(spec: TableSpec, found: ProtectedTable, index: int) -> bool:
    """Whether two other tables agree with all that is published and leave enough open about a sensitive cell."""
    audit, width, left_out = found.audit, 1, set(range(len(found.values)))
    if not spec.protection.rounds:  # from the values themselves, not from what was planned to be suppressed
        left_out = {place for place, value in enumerate(found.values) if value is None}
        audit, width = Audit.of_suppressed(found.table, left_out), spec.width
        if index not in left_out:
            return False
    for reader in readers(found.table, left_out, index):
        proof = found.proofs.get((index, reader))
        if proof is None or proof.moved & set(reader):
            return False
        requirement = requirement_of(found.table, index, width, reader)
        if not (audit.agrees(proof.down) and audit.agrees(proof.up) and requirement.of(index, proof.down, proof.up)):
            return False
    return True
