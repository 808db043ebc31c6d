"""How far rows with one value of a column agree in another column, beyond chance.

Of all pairs of records with one label and one value of the first column, how many agree in the second; and how many
pairs with one label do, whatever the first column is. The latter is what chance gives the former on average, for groups
of any size, so that a column of many values is not taken for one that determines something.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from kanon_sql.engines import Column, Workspace
from kanon_sql.hierarchies import exact_value, shown_keys
from kanon_sql.sql import Relation, Sql

__all__ = ["LARGE", "Agreement", "GroupsOf", "Pair", "Records", "agreement_of"]

LARGE = 20
"""A group of fewer records may look uneven by chance, so that it is judged together with the others alone."""

SURE = 16.0
"""The square of this many standard deviations: what is further from chance is none."""

FEWEST = 8
"""This many records, by which pairs agree more often than by chance, are no coincidence."""


@dataclass(frozen=True)
class Records:
    """The records that are compared.

    Attributes:
        table: it has them.
        keys: the expressions over ``checked`` that distinguish the values of a column: the values themselves, and then
            what a reader sees besides of equal ones.
        unit: what identifies persons; None to count rows.
        is_weighted: a row of the table is a value of all columns together, with its ``row_count``.
        suppressed: the classes that are left out; None for none.
        class_keys: the expressions that identify a class there.
        count: for how many persons a row stands, over the alias ``checked``; None where each is one.
    """

    table: Relation
    keys: Callable[[str], Sequence[Sql]]
    unit: Sql | None = None
    is_weighted: bool = False
    suppressed: Relation | None = None
    class_keys: Sequence[Sql] = ()
    count: Sql | None = None

    @classmethod
    def of_table(
        cls, table: Relation, columns: Mapping[str, Column], unit: str | None = None, count: Sql | None = None
    ) -> Self:
        """The rows of a table; ``unit`` is the column that identifies persons, None to count rows, or ``count``."""
        person = None if unit is None else exact_value(columns[unit], "checked")
        return cls(table, lambda name: shown_keys([columns[name]], "checked"), person, count=count)


@dataclass(frozen=True)
class Pair:
    """A column, and another one that it may reveal.

    Attributes:
        kept: the column.
        value: the other one.
        labels: records are compared with those that have the same values in these columns; none for all records.
    """

    kept: str
    value: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Agreement:
    """How far records with one value of a column agree in another column.

    Attributes:
        records: all of them.
        open: those whose label stands for several values.
        excess: agreement beyond chance, summed over records with others of their group.
        room: the largest that it could be.
        variance: of the excess, by chance.
        narrowed: records in large groups that have a quarter of what their label stands for, or nearly one value.
    """

    records: float
    open: float
    excess: float
    room: float
    variance: float
    narrowed: float

    @property
    def is_chance(self) -> bool:
        """Whether chance would explain it."""
        return self.excess < FEWEST or self.excess * self.excess < SURE * self.variance

    @property
    def agreement(self) -> float:
        """0 for chance, 1 where records of a group always agree."""
        return 0.0 if self.is_chance or not self.room else min(1.0, self.excess / self.room)

    def explained_by(self, together: Agreement) -> bool:
        """Whether records that agree in all labels agree less than half as far, so that other labels reveal it too.

        Args:
            together: among these.
        """
        if not together.room or not self.room:
            return False
        most = together.excess + math.sqrt(SURE * together.variance)
        return most / together.room < self.excess / self.room / 2

    @property
    def share(self) -> float:
        """The share of all records for which the column reveals more than their label."""
        if not self.records:
            return 0.0
        return max(self.agreement * self.open, self.narrowed) / self.records


@dataclass(frozen=True)
class GroupsOf:
    """The groups of records by a column, and by it and the labels.

    Attributes:
        rows: all of them.
        smallest: records of the smallest group by all labels and the column.
        few_rows: rows in such groups of too few records.
        values: different values.
        linked: rows with a value that few persons have, one of them in several rows.
        shared: rows with a value that several have.
    """

    rows: int
    smallest: int
    few_rows: int
    values: int
    linked: int
    shared: int


def agreement_of(
    workspace: Workspace,
    records: Records,
    pairs: Sequence[Pair],
    *,
    alone: Sequence[str] = (),
    labels: Sequence[str] = (),
    least: int = 2,
) -> tuple[Mapping[Pair, Agreement], Mapping[str, GroupsOf]]:
    """Pairs of columns, and columns by themselves: a table and one statement over it, several where there are many.

    Args:
        workspace: where the records are.
        records: they.
        pairs: the pairs to look at; at least one, or a column by itself.
        alone: columns to look at by themselves.
        labels: the columns by which classes are made, for these.
        least: fewer persons than this are few.
    """
    used = list(dict.fromkeys([*labels, *alone, *(name for pair in pairs for name in _names(pair))]))
    keys = {name: records.keys(name) for name in used}
    values = {name: own[:1] for name, own in keys.items()}
    spellings = {name: own[1:] for name, own in keys.items()}
    expressions: list[Sql] = []
    places: dict[str, list[str]] = {name: [] for name in used}
    for part in (values, spellings):
        for name in used:
            for expression in part[name]:
                places[name].append(f"k{len(expressions)}")
                expressions.append(expression)

    def shown(*names: str) -> list[str]:
        return [key for name in names for key in places[name]]

    found = {pair: Agreement(0, 0, 0, 0, 0, 0) for pair in pairs}  # of no records at all
    groups: dict[str, GroupsOf] = {}
    size = workspace.capabilities.nodes_per_statement
    vectors = workspace.table("different_records")
    workspace.execute(
        "disclosure/risk/vectors",
        target=vectors,
        table=records.table,
        keys=expressions,
        unit=records.unit,
        weighted=records.is_weighted,
        row_persons=records.count,
        suppressed=records.suppressed,
        class_keys=records.class_keys,
    )
    for start in range(0, max(1, len(pairs)), size):
        chunk = pairs[start : start + size]
        chances = [(pair.labels, pair.value) if records.unit is None else pair for pair in chunk]
        answer = workspace.fetch(
            "disclosure/risk/agreement",
            len(chunk) + len(alone),  # these with the first pairs alone
            vectors=vectors,
            unit=records.unit,
            weighted=records.is_weighted,
            pairs=[
                {
                    "kept": shown(pair.kept),
                    "labels": shown(*pair.labels),
                    "value": places[pair.value][0],
                    "chances": chances.index(own),
                }
                for pair, own in zip(chunk, chances, strict=True)
            ],
            most_labels=max((len(shown(*pair.labels)) for pair in chunk), default=0),
            alone=[] if start else [shown(name) for name in alone],
            labels=shown(*labels),
            least=least,
            large=LARGE,
            sure=SURE,
        )
        for number, *figures in answer:
            total, opened, same, expected, room, variance, narrowed = (float(figure or 0) for figure in figures)
            if int(number) < len(chunk):
                found[chunk[int(number)]] = Agreement(total, opened, same - expected, room, variance, narrowed)
            else:
                counts = [int(figure or 0) for figure in (figures[0], *figures[2:])]
                groups[alone[int(number) - len(chunk)]] = GroupsOf(*counts)
    workspace.drop(vectors)
    return found, groups


def _names(pair: Pair) -> tuple[str, ...]:
    return (*pair.labels, pair.kept, pair.value)
