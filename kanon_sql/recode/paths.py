"""What a recoding needs to know of each quasi-identifier: the bits of its labels, and what a label costs.

A value's code is its path through its hierarchy, the highest label in the highest bits (see
:mod:`kanon_sql.hierarchies.codes`). So the lowest common ancestor of a set of values is found from their lowest and
their highest code, and a label is a masked code: no round of a recoding joins a lookup table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_sql.errors import UnsupportedError
from kanon_sql.frequency import FrequencySets
from kanon_sql.hierarchies import Lookup
from kanon_sql.search import Node
from kanon_sql.sql import PORTABLE, Relation, Sql

__all__ = ["PRICE", "Dimension", "Path", "Word", "dimension_of", "paths_of", "words_of"]

PRICE = 2**30
"""What a row loses of which nothing is left."""

SIMILAR = 500
"""How far vectors are apart for two values that differ at all; as much again where the top alone is common."""


@dataclass(frozen=True)
class Path:
    """One quasi-identifier.

    Attributes:
        index: its number among them.
        name: the column.
        word: the word of a vector that holds its code.
        masks: per level, the bits of the code of a generalized value; none at the top.
        levels: the levels that may be released, the lowest first: one after the other, or two.
        height: the top's level.
        top: the top's label.
        domain_rows: values of the domain.
        unit: what one more domain value under a label costs: the weight over the values to lose.
        share: the same in whole numbers: of :data:`PRICE`, which is what a row loses that loses everything.
        lookup: its lookup table.
        codes: per level below the top, the code over that table.
        distances: per level, how far vectors are apart that agree there first.
        raised: some of its labels are released at a higher level, since their text stands for other values too.
    """

    index: int
    name: str
    word: int
    masks: tuple[int, ...]
    levels: tuple[int, ...]
    height: int
    top: str
    domain_rows: int
    unit: float
    share: int
    lookup: Sql
    codes: tuple[Sql, ...]
    distances: tuple[int, ...]
    raised: bool = False

    @property
    def low(self) -> int:
        """The lowest level that may be released."""
        return self.levels[0]

    @property
    def high(self) -> int:
        """The highest level that may be released."""
        return self.levels[-1]


@dataclass(frozen=True)
class Dimension:
    """One quasi-identifier, by the places of its values in their order.

    Attributes:
        index: its number among them.
        word: the word of a vector that holds its code.
        mask: the bits of that code.
        values: values of the domain, NULL left out: the place of NULL.
        domain_rows: values of the domain.
        unit: what a step from one value to the next is worth: the weight over the steps.
        top: the top's label.
        ordered: it has values below the top.
    """

    index: int
    word: int
    mask: int
    values: int
    domain_rows: int
    unit: float
    top: str
    ordered: bool


@dataclass(frozen=True)
class Word:
    """One number of a vector: its column, and the bits of it that the lowest levels keep.

    Attributes:
        name: the column.
        key: these bits, over a frequency set named ``base``.
        of_held: these bits, over a frequency set named ``held``.
    """

    name: str
    key: Sql
    of_held: Sql


def paths_of(sets: FrequencySets, levels: Sequence[tuple[int, ...]], lookups: Sequence[Relation]) -> list[Path]:
    """The quasi-identifiers of some frequency sets.

    Args:
        sets: the frequency sets.
        levels: the levels of each that may be released.
        lookups: how templates call their lookup tables.

    Raises:
        UnsupportedError: a hierarchy's path does not fit into one number.
    """
    weights = sum(lookup.quasi_identifier.weight for lookup in sets.lookups)
    return [_path(sets, lookup, levels[lookup.index], lookups[lookup.index], weights) for lookup in sets.lookups]


def _path(sets: FrequencySets, lookup: Lookup, levels: tuple[int, ...], table: Relation, weights: float) -> Path:
    places = [sets.codes.bits(lookup.index, level) for level in lookup.levels]
    if len({word for word, _ in places}) > 1:
        raise UnsupportedError(
            f"recoding: the hierarchy of {lookup.name} has too many labels on too many levels for a path to fit "
            "into 62 bits; leave some levels out, or use recoding: full_domain"
        )
    height = lookup.height
    return Path(
        index=lookup.index,
        name=lookup.name,
        word=places[0][0] if places else 0,
        masks=(*(mask for _, mask in places), 0),
        levels=levels,
        height=height,
        top=lookup.top,
        domain_rows=lookup.domain_rows,
        unit=lookup.quasi_identifier.weight / max(1, lookup.domain_rows - 1),
        share=int(PRICE * lookup.quasi_identifier.weight / weights / max(1, lookup.domain_rows - 1)),
        lookup=Sql(f"slot_{table.slot}"),
        codes=tuple(Sql(sets.codes.from_lookup(lookup.index, level, PORTABLE)) for level in lookup.levels),
        distances=_distances(lookup.domain_rows, [labels.labels for labels in sets.codes.widest[lookup.index]]),
    )


def _distances(domain_rows: int, labels: Sequence[int]) -> tuple[int, ...]:
    """Per level, how far two values are apart that have their first label in common there.

    Half of it is that they differ at all; the other half grows with the values that a label of the level stands for.
    """
    most = max(1, domain_rows - 1)
    shares = [(domain_rows / max(1, count) - 1) / most for count in labels]
    return (*(SIMILAR + int(SIMILAR * share) for share in shares), 2 * SIMILAR)


def dimension_of(path: Path, null: bool) -> Dimension:
    """A quasi-identifier by the places of its values; ``null`` says whether NULL is one of them."""
    return Dimension(
        index=path.index,
        word=path.word,
        mask=path.masks[0],
        values=path.domain_rows - null,
        domain_rows=path.domain_rows,
        unit=path.unit,
        top=path.top,
        ordered=path.height > 0,
    )


def words_of(sets: FrequencySets, bottom: Node) -> list[Word]:
    """The numbers that a vector is at some levels."""
    return [
        Word(
            f"code{word}",
            Sql(PORTABLE.masked(f'base."code{word}"', str(mask))),
            Sql(PORTABLE.masked(f'held."code{word}"', str(mask))),
        )
        for word, mask in enumerate(sets.codes.held(bottom))
    ]
