"""What cell suppression promises, in plain Python over the source's rows and the released ones, by a serial number.

Nothing here shares a line with the package. What is promised, beside classes that satisfy and rows that add up:

- the label of a cell is that of its value at its column's level, or it is suppressed, which is the top's label;
- the cells of a column that are suppressed are as many as was said, and no more than its cap allows;
- the mean loss of a cell is what it is said to be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from tests.oracles.model import Hierarchy, Row
from tests.oracles.recoding import domain_of
from tests.support.strategies import RandomProblem


def suppressed_cells(problem: RandomProblem, release: Sequence[Row], column: str, level: int) -> set[int]:
    """The rows whose cell of a column is suppressed; every other cell must have the label of its value."""
    domain = domain_of(problem, column)
    top = next(iter(domain.values()))[-1]
    if one_label(domain, level):
        assert {row[column] for row in release} <= {path[level] for path in domain.values()}, column
        return set()
    found = {row["serial"] for row in release if row[column] == top}
    for row in release:
        own = domain[problem.rows[row["serial"]][column]][level]
        assert row["serial"] in found or row[column] == own, (column, row[column])
    return found


def one_label(domain: Hierarchy, level: int) -> bool:
    """Whether a level has one label for all values."""
    return len({path[level] for path in domain.values()}) == 1


def left_whole(problem: RandomProblem, release: Sequence[Row], column: str, level: int) -> bool:
    """Whether every cell of a column has the label of its value."""
    domain = domain_of(problem, column)
    return all(row[column] == domain[problem.rows[row["serial"]][column]][level] for row in release)


def assert_caps_hold(
    problem: RandomProblem,
    release: Sequence[Row],
    node: Mapping[str, int],
    told: Mapping[str, Mapping[str, float | None]],
    caps: Mapping[str, float],
) -> dict[str, set[int]]:
    """As many cells as was said, and no more than the caps allow; returns the rows by column."""
    found: dict[str, set[int]] = {}
    for column, level in node.items():
        low, high = problem.levels.get(column, (0, None))
        assert low <= level
        assert high is None or level <= high
        if told[column]["cells"] == 0 and left_whole(problem, release, column, level):
            found[column] = set()  # a label may be called like the top where nothing of the column is suppressed
        else:
            found[column] = suppressed_cells(problem, release, column, level)
        assert len(found[column]) == told[column]["cells"], column
        most = Fraction(str(caps.get(column, 1))) * len(problem.rows)
        assert len(found[column]) <= most, column
    return found


def mean_losses_of_cells(
    problem: RandomProblem, release: Sequence[Row], node: Mapping[str, int], suppressed: Mapping[str, set[int]]
) -> dict[str, float]:
    """Per column, the mean of (values under a label - 1) / (values - 1); 1 where a cell or a row is suppressed."""
    found: dict[str, float] = {}
    for column, level in node.items():
        domain = domain_of(problem, column)
        lost = float(len(problem.rows) - len(release))
        for row in release:
            label = domain[problem.rows[row["serial"]][column]][level]
            under = sum(path[level] == label for path in domain.values())
            share = (under - 1) / (len(domain) - 1) if len(domain) > 1 else 0.0
            lost += 1.0 if row["serial"] in suppressed[column] else share
        found[column] = lost / len(problem.rows)
    return found
