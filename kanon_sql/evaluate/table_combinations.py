"""The combinations of values of a few columns that a written table has: how rare they are, and which rows have one.

Windows over all classes, one for each set of columns, would tell both; but a window sorts, and 120 of them over a
million rows take many minutes where as many GROUP BYs take seconds. So sets are grouped first. Only where something is
rare, the rows with it are looked for, by a join of the classes with the rare combinations of each such set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_sql.engines import Workspace, refuse_incomplete
from kanon_sql.evaluate.classes import Frames
from kanon_sql.models import PrivacyModel

__all__ = ["TableCombinations", "combinations_of_table", "rows_with_rare"]


@dataclass(frozen=True)
class TableCombinations:
    """The combinations that a requirement is on.

    Attributes:
        model: it.
        rarest: rows of the rarest one; None where the table has no rows.
        rare: the sets of columns of which some combination is too rare.
    """

    model: PrivacyModel
    rarest: int | None
    rare: tuple[tuple[str, ...], ...]


def combinations_of_table(
    workspace: Workspace, frames: Frames, models: Sequence[PrivacyModel]
) -> list[TableCombinations]:
    """Count every combination: one statement for each chunk of the sets of columns, over the classes of all columns.

    Args:
        workspace: where to ask.
        frames: where classes are counted from.
        models: the requirements on combinations.

    Raises:
        InternalError: the combinations of some set have other rows than those of another.
    """
    asked = [(model, own, int(model.parameters()["k"])) for model in models for own in model.sets]
    least: list[int | None] = []
    size, rows = workspace.capabilities.nodes_per_statement, None
    for start in range(0, len(asked), size):
        chunk = asked[start : start + size]
        name = "evaluate/combinations/of_table"
        found = workspace.fetch(
            name, len(chunk), base=frames.base, keys=frames.keys, key_names=frames.key_names,
            sets=[_names(frames, own) for _, own, _ in chunk],
        )  # fmt: skip
        refuse_incomplete(name, len(found), len(chunk), "sets of columns")
        for _, rarest, judged in sorted(found, key=lambda row: int(row[0])):
            rows = int(judged or 0) if rows is None else rows
            refuse_incomplete(name, judged, rows)
            least.append(None if rarest is None else int(rarest))
    return [
        _of_model(model, [item for item in zip(asked, least, strict=True) if item[0][0] is model]) for model in models
    ]


def _of_model(
    model: PrivacyModel, counted: Sequence[tuple[tuple[PrivacyModel, tuple[str, ...], int], int | None]]
) -> TableCombinations:
    rows = [(own, k, rarest) for (_, own, k), rarest in counted if rarest is not None]
    return TableCombinations(
        model,
        min((rarest for *_, rarest in rows), default=None),
        tuple(own for own, k, rarest in rows if rarest < k),
    )


def rows_with_rare(workspace: Workspace, frames: Frames, found: TableCombinations) -> tuple[int, int]:
    """How many classes have a rare combination, and their rows.

    Args:
        workspace: where to ask.
        frames: where classes are counted from.
        found: the sets of columns that have one.
    """
    classes, rows = workspace.row(
        "evaluate/combinations/with_rare", base=frames.base, keys=frames.keys, key_names=frames.key_names,
        sets=[_names(frames, own) for own in found.rare], k=found.model.parameters()["k"],
    )  # fmt: skip
    return int(classes or 0), int(rows or 0)


def _names(frames: Frames, own: tuple[str, ...]) -> list[str]:
    return [frames.key_names[place] for place in frames.set_keys[own]]
