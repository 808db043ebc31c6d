"""Write a protected table, read it back, see that it is what was proven, and publish it as a release is.

What is verified is what stands in the database: its rows are read again and compared with what may be published, and
the two tables that prove each sensitive cell must agree with these rows, in whole numbers.
"""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from decimal import Decimal
from importlib.metadata import version
from typing import Any

from kanon_sql.engines import Workspace, now
from kanon_sql.errors import VerificationError
from kanon_sql.release import Addition, publish, staged, under_another_id
from kanon_sql.spec import Dimension, TableSpec
from kanon_sql.sql import Relation
from kanon_sql.tables.audit import Audit, requirement_of
from kanon_sql.tables.cells import MOST_CELLS
from kanon_sql.tables.protect import ProtectedTable
from kanon_sql.tables.structure import Key, Path, group_of
from kanon_sql.tables.suppress import readers
from kanon_sql.version import __version__

__all__ = [
    "columns_of",
    "digits_of",
    "expanded",
    "further_of",
    "level_of",
    "place_columns",
    "place_of",
    "publish_table",
    "read_row",
    "rows_of",
]

WrittenTable = tuple[str | int | Decimal | None, ...]

MORE_DIGITS = 2
"""Digits of a mean after those that a value has."""

PERCENT_DIGITS = 2
"""Digits of a percentage after the point."""


def columns_of(spec: TableSpec) -> list[str]:
    """The columns of a published table: each dimension, its level where it has several, and what a cell says."""
    return [*place_columns(spec), *_numbers(spec)]


def place_columns(spec: TableSpec) -> list[str]:
    """The columns that say which cell a row is."""
    return [column for name in spec.dimensions for column in _of_dimension(spec, name)]


def place_of(spec: TableSpec, key: Key) -> tuple[str | None, ...]:
    """What these columns say of a cell, as text."""
    digits = [digits_of(spec).get(name) for name in place_columns(spec)]
    return read_row(_place(spec, key), digits)


def _place(spec: TableSpec, key: Key) -> list[str | int | None]:
    place: list[str | int | None] = []
    for dimension, path in zip(spec.dimensions.values(), key, strict=True):
        place.append(path[-1] if path else spec.total_label)
        if dimension.hierarchies:
            group = group_of(path)
            place.append(None if group is None else group[0])
        if dimension.hierarchies or len(dimension.levels) > 1:
            place.append(level_of(dimension, path))
    return place


def _of_dimension(spec: TableSpec, name: str) -> list[str]:
    item = spec.dimensions[name]
    several = [f"{name}_hierarchy"] if item.hierarchies else []
    return [name, *several, f"{name}_level"] if several or len(item.levels) > 1 else [name]


def _numbers(spec: TableSpec) -> dict[str, int]:
    """What a cell says -> its digits after the point."""
    digits = {"count": 0, "mean": spec.decimals + MORE_DIGITS, "percent": PERCENT_DIGITS}
    mark = "suppressed" if spec.protection.noise is None else "error"
    return {"value": spec.decimals, mark: 0, **{name: digits[name] for name in spec.further}}


def rows_of(spec: TableSpec, found: ProtectedTable) -> list[WrittenTable]:
    """The rows of a published table. Cells that are rounded to zero are left out, as empty ones are."""
    rows: list[WrittenTable] = []
    further = further_of(spec, found)
    for index, (cell, value) in enumerate(zip(found.table.cells, found.values, strict=True)):
        if value == 0 and spec.protection.rounds:
            continue
        rows.append(
            (
                *_place(spec, cell.key),
                expanded(spec, value),
                int(value is None) if spec.protection.noise is None else found.errors[index],
                *(own[index] for own in further.values()),
            )
        )
    return rows


def level_of(dimension: Dimension, path: Path) -> int | None:
    """The level of a path's last label; None for a total."""
    group = group_of(path)
    if group is not None:
        return group[1]
    return dimension.levels[-len(path)] if path else None


def expanded(spec: TableSpec, value: int | None) -> Decimal | None:
    """A published value in units of the measure, of a sample as the estimate for all."""
    return None if value is None else Decimal(value * spec.expansion).scaleb(-spec.decimals)


def further_of(spec: TableSpec, found: ProtectedTable) -> dict[str, list[Decimal | None]]:
    """Counts, means and percentages of the cells, made of what is published and of nothing else.

    So every reader of the published sums and counts can work them out. They are None where any of these is left out:
    a mean beside the sum, or a percentage beside the total, would give the other number.
    """
    values, made = found.values, dict[str, list[Decimal | None]]()
    counts = [None] * len(values) if found.counts is None else found.counts.values
    if spec.mean:
        made["count"] = [None if count is None else Decimal(count * spec.expansion) for count in counts]
        made["mean"] = [
            _ratio(value, count, spec.decimals, MORE_DIGITS) for value, count in zip(values, counts, strict=True)
        ]
    if spec.percent_of is not None:
        kept = [name in spec.percent_of for name in spec.dimensions]
        made["percent"] = []
        for cell, value in zip(found.table.cells, values, strict=True):
            whole = tuple(path if keeps else () for path, keeps in zip(cell.key, kept, strict=True))
            place = found.table.position.get(whole)
            share = None if place is None else _ratio(value, values[place], -2, 2 + PERCENT_DIGITS)
            made["percent"].append(share)
    return made


def _ratio(above: int | None, below: int | None, decimals: int, more: int) -> Decimal | None:
    """A quotient with some more digits after the point than its dividend has, halves rounded upwards."""
    if above is None or not below:
        return None
    return Decimal((2 * above * 10**more + below) // (2 * below)).scaleb(-decimals - more)


def publish_table(
    workspace: Workspace,
    spec: TableSpec,
    shown: TableSpec,
    found: ProtectedTable,
    summary: dict[str, Any],
    *,
    truthful: bool = True,
    addition: Addition | None = None,
) -> None:
    """Publish a protected table under the release's name, with its manifest.

    Args:
        workspace: where.
        spec: what to tabulate.
        shown: that at the levels that the table has.
        found: the table; it may be published.
        summary: what the manifest says of it; no value of a suppressed cell.
        addition: the ledger's entry.
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
        publish(workspace, spec, target, manifest, addition)


def _write(workspace: Workspace, spec: TableSpec, rows: Sequence[WrittenTable], target: Relation) -> None:
    numbers = digits_of(spec)
    columns = [{"name": name, "digits": numbers.get(name)} for name in columns_of(spec)]
    loaded = workspace.table("protected")
    texts = [
        [
            text
            for item, column in zip(row, columns, strict=True)
            for text in _as_text(item, column["digits"] is not None)
        ]
        for row in rows
    ]
    workspace.load(loaded, [f"l{number}" for number in range(2 * len(columns))], texts)
    workspace.execute("tables/write", target=target, loaded=loaded, columns=columns)


def digits_of(spec: TableSpec) -> dict[str, int]:
    """The columns of numbers -> digits after the point."""
    levels = {f"{name}_level": 0 for name in spec.dimensions if f"{name}_level" in _of_dimension(spec, name)}
    return {name: digits for name, digits in {**levels, **_numbers(spec)}.items() if name not in spec.dimensions}


def _as_text(item: str | int | Decimal | None, number: bool) -> tuple[str, str]:
    """Whether there is a value, and what it is."""
    if item is None:
        return "0", "0" if number else ""
    return "1", f"{item:f}" if isinstance(item, Decimal) else str(item)


def _verify(
    workspace: Workspace, spec: TableSpec, found: ProtectedTable, rows: Sequence[WrittenTable], target: Relation
) -> None:
    """Compare what stands in the database with what may be published, and that with the proof."""
    workspace.report("verifying what was written", None)
    read = workspace.fetch("tables/read", max(MOST_CELLS, len(rows) + 1), table=target, names=columns_of(spec))
    digits = [digits_of(spec).get(name) for name in columns_of(spec)]
    if Counter(read_row(row, digits) for row in read) != Counter(read_row(row, digits) for row in rows):
        raise VerificationError("verification: the written table is not the one that was protected; it was dropped")
    tables = [found] if found.counts is None else [found, found.counts]
    unproven = sum(
        not _proven(spec, one, index) for one in tables for index, cell in enumerate(one.table.cells) if cell.sensitive
    )
    if found.joint is not None:
        unproven += found.joint.unproven(found.values)
    if unproven:
        raise VerificationError(f"verification: {unproven:,} sensitive cells are not protected; the table was dropped")


def read_row(row: Sequence[Any], digits: Sequence[int | None]) -> tuple[str | None, ...]:
    """A row as text, so that numbers are equal whatever type an engine gives them."""
    return tuple(
        None if item is None else str(item) if own is None else f"{Decimal(str(item)):.{own}f}"
        for item, own in zip(row, digits, strict=True)
    )


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
