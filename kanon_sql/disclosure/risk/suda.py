"""SUDA: special uniques, records that are unique by few of their values.

A minimal sample unique (MSU) of a record is a set of columns by whose values it is alone in the table, while by no
smaller part of them it is. Elliot, Manning and Ford, A computational algorithm for handling the special uniques problem
(International Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10(5), 2002). An MSU of k of M columns
scores

    (M - k) (M - k - 1) ... 1 = (M - k)!

and a record the sum over its MSUs, as ``suda2(original_scores = TRUE)`` of sdcMicro computes it. DIS is the
probability that a unique match is right, of the whole table (Skinner and Elliot, A measure of disclosure risk for
microdata, Journal of the Royal Statistical Society B 64(4), 2002): with U uniques, P pairs of equal records and a
sampling fraction f,

    DIS = U f / (U f + 2 P (1 - f)).

DIS-SUDA gives every record with a score s its part of it, as sdcMicro does: with q = 1 + (8 - M) / 20, and A the sum of
s^-q over these records, 1 / (1 + (U / DIS - U) / (s^q A)).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import factorial, fsum
from typing import TypedDict

from kanon_sql.disclosure.risk.combinations import Columns, combination_count
from kanon_sql.disclosure.risk.histogram import Histogram
from kanon_sql.disclosure.risk.measure import RiskFrames
from kanon_sql.engines import Workspace
from kanon_sql.spec import Count, Document, Positive, Share

__all__ = ["MOST_SETS", "Suda", "suda"]

MOST_SETS = 250
"""Sets of columns in one statement, a column of flags each."""

MOST_GROUPS = 100_000
"""Different numbers of MSUs by size that a record may have; far fewer are found."""

BINS = 10


class SudaSize(TypedDict):
    """The MSUs of one size.

    Attributes:
        columns: how many columns they have.
        msus: how many there are, of all records.
        records: records whose smallest MSU has this size.
    """

    columns: Positive
    msus: Count
    records: Count


class Contribution(TypedDict):
    """What a column contributes to the scores.

    Attributes:
        column: the column.
        share: of the sum of all scores, that of MSUs with this column; None without an MSU.
    """

    column: str
    share: Share | None


DisBin = TypedDict("DisBin", {"from": Share, "to": Share, "records": Count})
DisBin.__doc__ = """Records by their DIS-SUDA.

    Attributes:
        from: the least, included in the first range alone.
        to: the largest, included.
        records: how many.
    """


@dataclass(frozen=True)
class Suda(Document):
    """Special uniques of a table, in numbers: no record is named.

    Attributes:
        largest: MSUs of more columns were not looked for.
        records: records with an MSU.
        sizes: by the size of MSUs.
        highest_score: the largest score of a record; None without an MSU.
        contributions: per column.
        dis: the probability that a unique match is right; None without a sampling fraction, or without uniques.
        dis_suda: records with an MSU by DIS-SUDA; empty where there is no DIS.
        highest_dis_suda: the largest; None where there is no DIS.
    """

    largest: Positive
    records: Count
    sizes: Sequence[SudaSize]
    highest_score: Count | None
    contributions: Sequence[Contribution]
    dis: Share | None
    dis_suda: Sequence[DisBin]
    highest_dis_suda: Share | None


def suda(
    workspace: Workspace,
    frames: RiskFrames,
    names: Sequence[str],
    largest: int,
    histogram: Histogram,
    sampling_fraction: float | None,
) -> Suda:
    """Count the MSUs of up to some columns, and score them.

    Args:
        workspace: where to ask.
        frames: the table; rows are counted.
        names: the columns' names.
        largest: the most columns of an MSU.
        histogram: the table's classes by size.
        sampling_fraction: records of the table per record of the population; None for no DIS.
    """
    width, largest = len(names), min(largest, len(names))
    sets = [own for size in range(1, largest + 1) for own in combinations(range(width), size)]
    assert len(sets) == combination_count(width, largest)
    groups, parts = _counted(workspace, frames, sets, width, largest)
    scores: Counter[int] = Counter()
    sizes: list[SudaSize] = []
    for size in range(1, largest + 1):
        msus = sum(counts[size - 1] * records for counts, records in groups.items())
        smallest = sum(
            records for counts, records in groups.items() if counts[size - 1] and not any(counts[: size - 1])
        )
        sizes.append({"columns": size, "msus": msus, "records": smallest})
    for counts, records in groups.items():
        scores[sum(count * factorial(width - size) for size, count in enumerate(counts, 1))] += records
    total = sum(score * records for score, records in scores.items())
    contributed = [
        sum(parts[column, size] * factorial(width - size) for size in range(1, largest + 1)) for column in range(width)
    ]
    found = _distributed(scores, width, histogram, sampling_fraction)
    return Suda(
        largest=largest,
        records=scores.total(),
        sizes=sizes,
        highest_score=max(scores, default=None),
        contributions=[
            {"column": name, "share": own / total if total else None}
            for name, own in zip(names, contributed, strict=True)
        ],
        dis=_dis(histogram, sampling_fraction),
        dis_suda=_bins(found),
        highest_dis_suda=max(found, default=None),
    )


def _counted(
    workspace: Workspace, frames: RiskFrames, sets: Sequence[Columns], width: int, largest: int
) -> tuple[Mapping[tuple[int, ...], int], Mapping[tuple[int, int], int]]:
    """Records by how many MSUs of each size they have, and MSUs by column and size."""
    numbers = {own: number for number, own in enumerate(sets)}
    rows = workspace.fetch(
        "disclosure/risk/suda",
        MOST_GROUPS,
        table=frames.table,
        keys=frames.keys,
        key_names=frames.key_names,
        sets=[
            {
                "names": frames.names_of(own),
                "below": [numbers[part] for part in combinations(own, len(own) - 1)] if len(own) > 1 else [],
            }
            for own in sets
        ],
        sizes=[[number for own, number in numbers.items() if len(own) == size] for size in range(1, largest + 1)],
        parts=[
            [number for own, number in numbers.items() if column in own and len(own) == size]
            for column in range(width)
            for size in range(1, largest + 1)
        ],
    )
    groups: Counter[tuple[int, ...]] = Counter()
    parts: Counter[tuple[int, int]] = Counter()
    for row in rows:
        counts = tuple(int(count) for count in row[:largest])
        groups[counts] += int(row[largest])
        for place, count in enumerate(row[largest + 1 :]):
            parts[place // largest, place % largest + 1] += int(count)
    return groups, parts


def _dis(histogram: Histogram, fraction: float | None) -> float | None:
    """The probability that a unique match is right."""
    if fraction is None or not histogram.uniques:
        return None
    right = histogram.uniques * fraction
    return right / (right + 2 * histogram.sizes.get(2, 0) * (1 - fraction))


def _distributed(
    scores: Mapping[int, int], width: int, histogram: Histogram, fraction: float | None
) -> Mapping[float, int]:
    """Records by their DIS-SUDA."""
    dis = _dis(histogram, fraction)
    if dis is None or not scores:
        return {}
    power, uniques = 1 + (8 - width) / 20, histogram.uniques
    scale = fsum(records * score**-power for score, records in scores.items())
    found: Counter[float] = Counter()
    for score, records in scores.items():
        found[1 / (1 + (uniques / dis - uniques) / (score**power * scale))] += records
    return found


def _bins(found: Mapping[float, int]) -> list[DisBin]:
    if not found:
        return []
    counts: Counter[int] = Counter()
    for value, records in found.items():
        counts[next(place for place in range(BINS) if value <= (place + 1) / BINS or place == BINS - 1)] += records
    return [{"from": place / BINS, "to": (place + 1) / BINS, "records": counts[place]} for place in range(BINS)]
