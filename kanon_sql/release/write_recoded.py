"""Write and verify what is not full-domain: the label of a cell is that of its row's class, not that of a level.

write     one join of the source with the vectors' classes and their labels
verify    the written classes and those of the recoding have the same rows, in both directions, and every label
          stands, in its lookup table, on the path of each value that is released as it; a range, for the places of
          these values in their order; a number is the mean, a median or a mode of the class; where single cells are
          suppressed, each column has as many of them as was said, and no more than its cap allows
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import VerificationError
from kanon_sql.frequency import FrequencySets
from kanon_sql.hierarchies import TOP, exact_value
from kanon_sql.recode import Mapped, Path
from kanon_sql.sql import PORTABLE, Relation, Sql, Statement, exact_text

__all__ = ["join_of", "refuse_other_cells"]


def join_of(
    sets: FrequencySets,
    mapped: Mapped,
    columns: Mapping[str, Column],
    others: Sequence[str],
    free: Callable[[str], str],
) -> dict[str, Any]:
    """What ``release/write`` needs to find the class of a row: the tables, and a vector's codes on both sides.

    Args:
        sets: the frequency sets.
        mapped: the recoding.
        columns: the source's columns by name.
        others: the columns that are released as they are.
        free: a name -> one like it that no column has.
    """
    bottom = tuple(path.low for path in mapped.paths)
    codes = [Sql(key) for key in sets.codes.from_lookups(bottom, PORTABLE, lambda index: f"lookup{index}")]
    return {
        "classed": mapped.classed,
        "classes": mapped.classes,
        "slices": _slices(sets, columns, others, None if not any(bottom) else codes, free) if mapped.slices else None,
        "words": [f"code{word}" for word in sets.codes.keyed(bottom)],
        "codes": codes,
    }


def _slices(
    sets: FrequencySets,
    columns: Mapping[str, Column],
    others: Sequence[str],
    codes: Sequence[Sql] | None,
    free: Callable[[str], str],
) -> dict[str, Any]:
    """How ``release/write`` numbers the rows of each vector, of which a class has those from one number to another.

    They are numbered in the order of what is released beside them, then spread evenly, so that every class gets a
    share of each value. The same rows have the same numbers on every engine.

    Args:
        sets: the frequency sets.
        columns: the source's columns by name.
        others: the columns that are released as they are.
        codes: what the rows of a vector have in common; None where these are the values themselves, so that no lookup
            table is needed to see it.
        free: a name -> one like it that no column has.
    """
    own = [lookup.name for lookup in sets.lookups]
    values = [exact_value(columns[name], "kanon_source") for name in own]
    return {
        "number": free("kanon_row"),
        "names": list(dict.fromkeys([*own, *others])),
        "raw": values if codes is None else None,
        "codes": {free(f"kanon_code{place}"): code for place, code in enumerate(codes or ())},
        "missing": free("kanon_missing"),
        "order": [exact_value(columns[name], "kanon_source") for name in others] or values,
    }


def refuse_other_cells(
    workspace: Workspace,
    sets: FrequencySets,
    mapped: Mapped,
    target: Relation,
    columns: Mapping[str, Column],
    masked: int,
    row_persons: Sql | None = None,
) -> None:
    """Compare the written table with the recoding.

    Args:
        workspace: where.
        sets: the frequency sets.
        mapped: the recoding.
        target: the written table.
        columns: its columns by name.
        masked: suppressed rows that are in it, every quasi-identifier masked.
        row_persons: for how many persons a row of the table stands, over the alias ``checked``; None where each is one.

    Raises:
        VerificationError: a class has other rows, a label does not cover a value that is released as it, or other cells
            are suppressed than was said, or more than their cap allows.
    """
    paths = [path for path in mapped.paths if path.low < path.height]  # the top covers every value
    foreign = workspace.query(_uncovered(workspace, sets, mapped, paths), len(paths)) if paths else []
    for attribute, count in sorted(foreign):
        if count:
            raise VerificationError(
                f"verification: {count} cells of {mapped.paths[attribute].name!r} have a label that does not cover "
                "their value; the table was dropped"
            )
    (different,) = workspace.row(
        "release/recoded_classes",
        written=target,
        classes=mapped.classes,
        values=[exact_value(columns[path.name], "checked") for path in mapped.paths],
        labels=[_label(mapped, path.index) for path in mapped.paths],
        masked=masked,
        row_persons=row_persons,
    )
    if different:
        raise VerificationError(
            f"verification: {different} classes do not have the rows that the recoding gave them "
            "(did the source change while it was read?); the table was dropped"
        )
    if mapped.suppressed:
        _refuse_other_suppressed(workspace, mapped, target, columns, masked, row_persons)


def _label(mapped: Mapped, index: int) -> Sql:
    """A class's label as the written table is grouped by it: exact text, or a number."""
    own = Sql(f"classes.label{index}")
    return own if index in mapped.aggregated else exact_text(Sql(f"CAST({own} AS VARCHAR)"))


def _refuse_other_suppressed(
    workspace: Workspace,
    mapped: Mapped,
    target: Relation,
    columns: Mapping[str, Column],
    masked: int,
    row_persons: Sql | None,
) -> None:
    """Count the suppressed cells of the written table: what a masked row has is no cell that was suppressed alone.

    Raises:
        VerificationError: a column has other ones than was said, or more than its cap allows.
    """
    found = [
        (path, recorded) for path, recorded in zip(mapped.paths, mapped.suppressed, strict=True) if len(path.levels) > 1
    ]
    if not found:
        return
    counts = workspace.row(
        "release/recoded_suppressed",
        written=target,
        cells=[{"value": exact_value(columns[path.name], "checked"), "top": path.top} for path, _ in found],
        row_persons=row_persons,
    )
    for (path, recorded), count in zip(found, counts, strict=True):
        cells = int(count or 0) - (masked if path.top == TOP else 0)
        if cells != recorded.cells or cells > recorded.most:
            raise VerificationError(
                f"verification: {cells} cells of {path.name!r} are suppressed where the recoding suppressed "
                f"{recorded.cells} and at most {recorded.most} may be; the table was dropped"
            )


def _uncovered(workspace: Workspace, sets: FrequencySets, mapped: Mapped, paths: Sequence[Path]) -> Statement:
    """Per quasi-identifier, the rows whose label is not on the path of their value, or a range without it."""
    compiler, codes = workspace.compiler, sets.codes
    branches = []
    for path in paths:
        fills = {
            "attribute": str(path.index),
            "code": codes.code(path.index, path.low, compiler.dialect, "classed"),
            "label": compiler.quote(f"label{path.index}"),
            "classed": workspace.quoted(mapped.classed),
            "classes": workspace.quoted(mapped.classes),
        }
        ranges = mapped.ranges.get(path.index)
        if ranges is not None:
            tables = {"ranges": workspace.quoted(ranges.table), "order": workspace.quoted(ranges.order)}
            branches.append(compiler.filled("release/recoded_ranges", {**fills, **tables}))
            continue
        fills["lookup"] = workspace.quoted(sets.lookups[path.index].table)
        if path.index in mapped.aggregated:
            own = mapped.aggregated[path.index]
            fills["of_lookup"] = codes.from_lookup(path.index, path.low, compiler.dialect)
            found = compiler.filled("release/recoded_aggregates", fills, function=own.function, amount=own.amount)
            branches.append(found)
            continue
        fills["value"] = codes.from_lookup(path.index, path.low, compiler.dialect, "lookup")
        branches.append(compiler.filled("release/recoded_cells", fills, levels=path.levels))
    return compiler.union(branches)
