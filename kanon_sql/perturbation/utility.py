"""What untrue values leave of the statistics: moments, correlations, frequencies. Aggregates of all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import sqrt
from typing import Annotated, TypedDict

from kanon_sql.engines import Workspace
from kanon_sql.perturbation.masks import FEWEST, MaskedColumn, MaskedTable, moments_of
from kanon_sql.spec import Count, Keywords, Share

__all__ = ["Correlation", "Frequencies", "Moments", "Utility", "utility_of"]

Coefficient = Annotated[float, Keywords(minimum=-1, maximum=1)]

MOST_PAIRS = 120
"""Pairs of columns whose correlation is compared; each is two branches of a statement."""


class Moments(TypedDict):
    """The mean and the variance of a column of numbers, true and untrue.

    Attributes:
        column: the column.
        mean: the mean in the source.
        released_mean: the mean in the release.
        variance: the variance in the source.
        released_variance: the variance in the release.
    """

    column: str
    mean: float
    released_mean: float
    variance: float
    released_variance: float


class Correlation(TypedDict):
    """The correlation of two columns of numbers.

    Attributes:
        columns: both columns.
        source: their correlation in the source; None where a column is constant.
        released: their correlation in the release; None likewise.
    """

    columns: Annotated[Sequence[str], Keywords(minItems=2, maxItems=2)]
    source: Coefficient | None
    released: Coefficient | None


class Frequencies(TypedDict):
    """How far the shares of a column's categories moved.

    Attributes:
        column: the column.
        categories: how many categories the source and the release have together.
        distance: half the sum of the differences of the categories' shares.
    """

    column: str
    categories: Count
    distance: Share


@dataclass(frozen=True)
class Utility:
    """How statistics of the source and of the release compare.

    Attributes:
        changed: untrue column -> rows whose value is another one than the true one.
        moments: of columns of numbers that are untrue: mean and variance, true and untrue.
        correlations: of pairs of columns of numbers, one of them untrue at least.
        frequencies: of untrue columns that are categories: half the sum of the differences of their shares.
        left_out: pairs of columns whose correlation was not compared, there being too many.
    """

    changed: Mapping[str, int]
    moments: Sequence[Moments]
    correlations: Sequence[Correlation]
    frequencies: Sequence[Frequencies]
    left_out: int


def utility_of(workspace: Workspace, table: MaskedTable) -> Utility:
    """Compare true and untrue values. Columns with fewer than ten values have no figures, which would show them."""
    workspace.report("comparing statistics of the source and of the release", None)
    perturbed = [item for item in table.columns if item.masking is not None]
    listed = [{"source": item.source, "masked": item.masked} for item in perturbed]
    changed = workspace.row("perturbation/changed", table=table.table, columns=listed)
    numbers = [item for item in table.columns if item.is_number and item.known >= FEWEST]
    pairs = [
        pair for pair in combinations_with_replacement(numbers, 2) if any(item.masking is not None for item in pair)
    ]
    moments, correlations = _pairs(workspace, table, pairs[:MOST_PAIRS])
    frequencies: list[Frequencies] = []
    for item in perturbed:
        if item.masking is not None and item.masking.noise is None and table.rows >= FEWEST:
            moved, categories = workspace.row(
                "perturbation/shifted", table=table.table, released=table.table, source=item.source, other=item.masked
            )
            frequencies.append(
                {"column": item.name, "categories": int(categories), "distance": int(moved) / 2 / table.rows}
            )
    return Utility(
        changed={item.name: int(count) for item, count in zip(perturbed, changed, strict=True)},
        moments=moments,
        correlations=correlations,
        frequencies=frequencies,
        left_out=max(0, len(pairs) - MOST_PAIRS),
    )


def _pairs(
    workspace: Workspace, table: MaskedTable, pairs: Sequence[tuple[MaskedColumn, MaskedColumn]]
) -> tuple[list[Moments], list[Correlation]]:
    """Moments of columns, which are pairs of one column, and correlations."""
    if not pairs:
        return [], []
    means = {
        item.name: moments_of(workspace, table.table, item)[0]
        for item in dict.fromkeys(i for pair in pairs for i in pair)
    }
    rows = workspace.fetch(
        "perturbation/pairs",
        2 * len(pairs),
        table=table.table,
        pairs=[
            {
                "number": number,
                "mean_x": means[x.name],
                "mean_y": means[y.name],
                "sides": [
                    {"number": 0, "x": x.source, "y": y.source},
                    {"number": 1, "x": x.masked, "y": y.masked},
                ],
            }
            for number, (x, y) in enumerate(pairs)
        ],
    )
    sums = {(int(pair), int(side)): [float(item or 0) for item in found] for pair, side, *found in rows}
    moments: list[Moments] = []
    correlations: list[Correlation] = []
    for number, (x, y) in enumerate(pairs):
        sides = [sums[number, 0], sums[number, 1]]
        if x is y:
            (mean, variance), (masked_mean, masked_variance) = (_moments(side, means[x.name]) for side in sides)
            moments.append(
                {
                    "column": x.name,
                    "mean": mean,
                    "released_mean": masked_mean,
                    "variance": variance,
                    "released_variance": masked_variance,
                }
            )
        elif min(side[0] for side in sides) >= FEWEST:
            source, released = (_correlation(side) for side in sides)
            correlations.append({"columns": [x.name, y.name], "source": source, "released": released})
    return moments, correlations


def _moments(side: Sequence[float], around: float) -> tuple[float, float]:
    rows, total, _, square, *_ = side
    return around + total / rows, square / rows - (total / rows) ** 2


def _correlation(side: Sequence[float]) -> float | None:
    """Pearson's; None where a column is constant."""
    rows, sum_x, sum_y, square_x, square_y, product = side
    x, y = square_x - sum_x**2 / rows, square_y - sum_y**2 / rows
    if x <= 1e-12 * square_x or y <= 1e-12 * square_y or not square_x or not square_y:
        return None
    return max(-1.0, min(1.0, (product - sum_x * sum_y / rows) / sqrt(x * y)))
