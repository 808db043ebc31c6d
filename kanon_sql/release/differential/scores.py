"""Scores of nodes for the exponential mechanism, each with the most that one row changes it by.

The scores are those of SafePub (Bild, Kuhn, Prasser 2018), which are quality metrics made insensitive: the
precision, the loss, the discernibility, the average class size, the entropy, and the rows that a classifier tells. A
class is kept if it has L rows or more (``least``). Every score is a function of the node and of the multiset of rows
alone: levels, heights, weights, and for the loss the values that a hierarchy lists, come from the spec.

The sensitivities are derived in the docstrings, not taken from the paper, for tables that differ by one row. N is the
number of rows of the smaller table, S those of its rows that are in no kept class (rows that are left out for a NULL
among them). The row that is added does one of three things to a node's classes, since rows of equal labels are one
class:

- *small*: it is in no kept class; S grows by 1, and nothing else changes;
- *joining*: its class of n >= L rows gets n + 1;
- *completing*: its class had L - 1 rows and is kept now; S falls by L - 1.

With L = 1 a row is joining (with n = 0 where its class is new). Taking a row away is the same step backwards.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self

from kanon_sql.errors import UnsupportedError
from kanon_sql.frequency import FrequencySets
from kanon_sql.models import Counts, Measured, Metric
from kanon_sql.search import Node
from kanon_sql.spec import LevelSearch
from kanon_sql.sql import Sql, render

__all__ = ["MOST_SQUARED", "Score", "ScoredColumn", "score_for"]

MOST_SQUARED = 3_000_000_000
"""The most rows whose squared number every engine's whole numbers hold."""


@dataclass(frozen=True)
class ScoredColumn:
    """What a score knows of a quasi-identifier; nothing of it depends on the rows.

    Attributes:
        name: the column.
        height: the top level.
        weight: its share in the sum of the weights.
        listed: how many values its hierarchy lists; None for a rule.
    """

    name: str
    height: int
    weight: Fraction
    listed: int | None


@dataclass(frozen=True)
class Score(Metric):
    """A score of nodes: the higher, the better.

    Attributes:
        columns: the quasi-identifiers, in order.
        says: what makes a node likelier, for people.
        squares: it adds up squares of numbers of rows.
    """

    says: ClassVar[str]
    squares: ClassVar[bool] = False
    columns: tuple[ScoredColumn, ...]

    @property
    def shape(self) -> str:
        """Its statements are not those of the metric that has its name."""
        return f"score {self.name}"

    def at(self, node: Node) -> Self:
        """The score in the form that asks for what this node needs."""
        return self

    @abstractmethod
    def score(self, rows: int, measured: Measured) -> Fraction:
        """The score of a node, exactly.

        Args:
            rows: N, the rows of the source, at least one.
            measured: the aggregates of the node.
        """

    @abstractmethod
    def sensitivity(self, least: int) -> Fraction:
        """The most that one row more or less changes the score of any node by.

        Args:
            least: the rows that a class needs to be kept, at least one.
        """

    def value(self, counts: Counts, measured: Measured) -> float:
        """Minus the score, since a metric is a loss."""
        return -float(self.score(counts.rows, measured))


class _RowLosses(Score):
    """Minus a sum over the rows: a kept row loses from 0 to 1, by its own labels, and any other row loses 1.

    The sensitivity is max(1, L - 1). A small row loses 1, a joining one at most 1, and no other row's loss changes. A
    completing row changes the sum by the losses of L rows, each from 0 to 1, less the L - 1 that its class lost before:
    by 1 at most, and by -(L - 1) at least.
    """

    def sensitivity(self, least: int) -> Fraction:
        """Max(1, L - 1)."""
        return Fraction(max(1, least - 1))


class _Precision(_RowLosses):
    """Minus the sum over the rows of the share of their levels that is lost (SafePub's generalization intensity).

    A kept row loses the weighted mean of level / height (Sweeney 2002, section 3.5, has 1 minus this as precision).
    """

    name: ClassVar[str] = "precision"
    says: ClassVar[str] = "likelier, the higher the precision of the rows in classes that are large enough"

    def score(self, rows: int, measured: Measured) -> Fraction:
        """By the levels and the number of suppressed rows alone."""
        lost = sum(
            (
                column.weight * Fraction(level, column.height or 1)
                for column, level in zip(self.columns, measured.node, strict=True)
            ),
            Fraction(0),
        )
        return -(lost * (rows - measured.suppressed) + measured.suppressed)


class _Loss(_RowLosses):
    """Minus the sum over the rows of the share of their columns' domains that is lost (SafePub's data granularity).

    A kept row loses the weighted mean of (d - 1) / (D - 1), d being the values that its label stands for of the D that
    the hierarchy lists (Iyengar 2002, section 3.1): 0 for a value and for NULL below the top, 1 at the top. D is from a
    file or a tree; the domain of a rule is the values that occur, which the rows decide.
    """

    name: ClassVar[str] = "loss"
    says: ClassVar[str] = "likelier, the less detail is lost by the rows in classes that are large enough"
    carries = "sizes"

    def aggregates(self, kept: Sql, carried: Sequence[str]) -> dict[str, Sql]:
        """Per sized column: listed values under the kept rows' labels."""
        return {
            f"covered_{index}": render("models/quality/loss", kept=kept, size=size)
            for index, size in enumerate(carried)
        }

    def score(self, rows: int, measured: Measured) -> Fraction:
        """A column at level 0 loses nothing, one at its top all."""
        kept = rows - measured.suppressed
        covered = {index: int(measured.values[f"covered_{at}"] or 0) for at, index in enumerate(measured.sized)}
        lost = Fraction(0)
        for index, column in enumerate(self.columns):
            assert column.listed is not None
            if index in covered:
                lost += column.weight * Fraction(covered[index] - kept, max(1, column.listed - 1))
            elif measured.node[index] > 0:
                lost += column.weight * kept
        return -(lost + measured.suppressed)


class _Discernibility(Score):
    """Minus (A / N + S), A being the sum of the squared sizes of the kept classes (SafePub's discernibility).

    That is the metric of Bayardo and Agrawal 2005 divided by N. The sensitivity is L. Call A / N + S the cost; A is at
    most N^2. The cost changes

    - for a small row by 1 - A / (N (N + 1)): from 0 to 1;
    - for a joining row by (A + 2n + 1) / (N + 1) - A / N = (2n + 1) / (N + 1) - A / (N (N + 1)), where n^2 <= A <=
      n^2 + (N - n)^2. With the least A this is (N (2n + 1) - n^2) / (N (N + 1)), which grows with n up to n = N, where
      it is 1. With the largest it is (N - N^2 + 4Nn - 2n^2) / (N (N + 1)), which is at least (N - N^2) / (N (N + 1)) >
      -1, since n <= N. (N = 0: the cost grows from 0 to 1.)
    - for a completing row, L >= 2, by (A + L^2) / (N + 1) - A / N - (L - 1) = L^2 / (N + 1) - A / (N (N + 1)) -
      (L - 1). L - 1 <= N, so this is at most L^2 / L - (L - 1) = 1; and it is above 0 - 1 - (L - 1) = -L.
    """

    name: ClassVar[str] = "discernibility"
    says: ClassVar[str] = "likelier, the better the rows in classes that are large enough can be distinguished"
    squares: ClassVar[bool] = True

    def aggregates(self, kept: Sql, carried: Sequence[str]) -> dict[str, Sql]:
        """Squared sizes of the kept classes."""
        return {"kept_squares": render("models/quality/discernibility", kept=kept, kept_only=True)}

    def score(self, rows: int, measured: Measured) -> Fraction:
        """Squares as a share of the rows, and suppressed rows."""
        return -(Fraction(int(measured.values["kept_squares"] or 0), rows) + measured.suppressed)

    def sensitivity(self, least: int) -> Fraction:
        """L."""
        return Fraction(least)


class _AverageClassSize(Score):
    """The kept classes, and one more for all suppressed rows together (SafePub's group size).

    Its inverse times N is the average class size. The sensitivity is 1: a small row adds the class of suppressed rows
    or nothing, a joining one a class that is new or nothing, and a completing one adds a kept class and may empty the
    class of suppressed rows.
    """

    name: ClassVar[str] = "average_class_size"
    says: ClassVar[str] = "likelier, the more classes are large enough"

    def score(self, rows: int, measured: Measured) -> Fraction:
        """How many classes there are."""
        return Fraction(measured.kept_classes + (1 if measured.suppressed else 0))

    def sensitivity(self, least: int) -> Fraction:
        """One."""
        return Fraction(1)


class _Entropy(Score):
    """Minus the weighted mean of the columns' costs (SafePub's non-uniform entropy).

    The cost of a column at its top is N: each row has lost its value. Below the top it is A / N + S, A being the sum of
    the squared numbers of kept rows that each label has: the share of kept rows that a row's label is true of, summed
    over the kept rows, which stands for its logarithm; a suppressed row costs 1.

    The sensitivity is L. At the top a row changes the cost by 1. Below it a label's rows change as a class's do in
    :class:`_Discernibility` when a row is small or joining (a label has c <= N kept rows in place of n): by at most 1.
    When it is completing, L rows of one label come to its c <= N - (L - 1) others, and the cost changes by

        (A + 2cL + L^2) / (N + 1) - A / N - (L - 1) = (2cL + L^2) / (N + 1) - A / (N (N + 1)) - (L - 1).

    A is at most N^2, so that is above 0 - 1 - (L - 1) = -L. A is at least c^2, and (2cL + L^2) / (N + 1) - c^2 / (N
    (N + 1)) grows with c as long as c <= L N, so it is largest for c = N + 1 - L. There, with x = L / (N + 1) from 0 to
    1, the change is at most L + 1 - L x - (1 - x)^2 = L - (L - 2) x - x^2, which is at most L for L >= 2. A weighted
    mean changes by no more than its parts.
    """

    name: ClassVar[str] = "entropy"
    says: ClassVar[str] = "likelier, the fewer other rows have the labels of the rows in classes that are large enough"
    squares: ClassVar[bool] = True
    carries = "codes"

    def windows(self, carried: Sequence[str]) -> dict[str, Sql]:
        """Per column below its top: how many kept rows share the class's label."""
        return {
            f"sharing_{index}": render("release/differential/score", part="sharing", key=code)
            for index, code in enumerate(carried)
        }

    def aggregates(self, kept: Sql, carried: Sequence[str]) -> dict[str, Sql]:
        """Per column below its top: squared numbers of kept rows of a label, over the labels."""
        return {
            f"squares_{index}": render("release/differential/score", part="squares", kept=kept, key=f"sharing_{index}")
            for index, _ in enumerate(carried)
        }

    def score(self, rows: int, measured: Measured) -> Fraction:
        """The columns below their top by their labels, the others by all rows."""
        squares = {index: int(measured.values[f"squares_{at}"] or 0) for at, index in enumerate(measured.keyed)}
        cost = Fraction(0)
        for index, column in enumerate(self.columns):
            own = Fraction(squares[index], rows) + measured.suppressed if index in squares else Fraction(rows)
            cost += column.weight * own
        return -cost

    def sensitivity(self, least: int) -> Fraction:
        """L."""
        return Fraction(least)


@dataclass(frozen=True)
class _Classification(Score):
    """The kept rows that a classifier tells, times the share of the target's levels that is left (SafePub's score).

    The classifier knows the labels of all other columns and tells the label that most kept rows of these have. At its
    top the target has one label, so there is nothing to tell. The sensitivity is L: a small row changes nothing; a
    joining one adds a row to one label of one group, a completing one L rows, and the largest number of a group grows
    by as much at most. The factor is from 0 to 1 and does not depend on the rows.

    Attributes:
        target: the position of the target among the columns.
        position: its position among those that are below their top; None where it is at its top.
    """

    name: ClassVar[str] = "classification"
    says: ClassVar[str] = "likelier, the more rows in classes that are large enough a classifier gets right"
    carries = "codes"
    target: int
    position: int | None = None

    @property
    def shape(self) -> str:
        """Which column's windows are asked for is part of what distinguishes its statements."""
        return f"{super().shape}, {self.position}"

    def at(self, node: Node) -> Self:
        """With the target's position among this node's columns below their top."""
        keyed = [index for index, column in enumerate(self.columns) if node[index] < column.height]
        return replace(self, position=keyed.index(self.target) if self.target in keyed else None)

    def windows(self, carried: Sequence[str]) -> dict[str, Sql]:
        """Each class's turn among those that differ in the target alone, the largest first."""
        if self.position is None:
            return {}
        others = [code for index, code in enumerate(carried) if index != self.position]
        return {"turn": render("release/differential/score", part="turn", keys=others)}

    def aggregates(self, kept: Sql, carried: Sequence[str]) -> dict[str, Sql]:
        """The rows of the largest kept class of each group."""
        if self.position is None:
            return {}
        return {"target": render("release/differential/score", part="target", kept=kept, key="turn")}

    def score(self, rows: int, measured: Measured) -> Fraction:
        """Rows that are told, weighed by how far the target is below its top."""
        if self.position is None:
            return Fraction(0)
        height = self.columns[self.target].height
        return int(measured.values["target"] or 0) * (1 - Fraction(measured.node[self.target], height))

    def sensitivity(self, least: int) -> Fraction:
        """L."""
        return Fraction(least)


_SCORES: dict[str, type[Score]] = {
    score.name: score for score in (_Precision, _Loss, _Discernibility, _AverageClassSize, _Entropy)
}


def score_for(search: LevelSearch, sets: FrequencySets) -> Score:
    """The score that a spec's search of levels maximizes.

    Args:
        search: names it.
        sets: the frequency sets.

    Raises:
        UnsupportedError: the source has too many rows for squares.
    """
    weights = [Fraction(lookup.quasi_identifier.weight) for lookup in sets.lookups]
    columns = tuple(
        ScoredColumn(lookup.name, lookup.height, weight / sum(weights), lookup.listed)
        for lookup, weight in zip(sets.lookups, weights, strict=True)
    )
    if search.classify is not None:
        return _Classification(columns, [column.name for column in columns].index(search.classify))
    found = _SCORES[search.score](columns)
    if found.squares and sets.rows > MOST_SQUARED:
        raise UnsupportedError(
            f"differential_privacy: search: the score {found.name} adds up squares, which fit into whole numbers "
            f"for at most {MOST_SQUARED:,} rows; use another score"
        )
    return found
