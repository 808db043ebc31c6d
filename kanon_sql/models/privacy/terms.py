"""What privacy models speak of: when pruning is sound, what an attacker knows, how often a value may occur."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, NamedTuple

from kanon_sql.spec import Keywords
from kanon_sql.sql import Sql

__all__ = [
    "C_ABOVE",
    "L_REACHED",
    "SMALLEST_CLASS",
    "TOLERANCE",
    "WEIGHT_UNITS",
    "Background",
    "Monotonicity",
    "SetWindows",
    "ShareBound",
    "figure",
]

TOLERANCE = 1e-9
"""How far a measured entropy or distance may lie beyond its threshold and still satisfy it.

Two equally frequent values have entropy ln 2 up to the last bit only; without a stated
tolerance the answer would depend on the engine's summation order.
"""

WEIGHT_UNITS = 10**6
"""Sampling weights are added up as whole numbers of this many units for each person."""


def figure(about: str, kind: Any = float, **keywords: Any) -> Any:
    """What the JSON Schema of results says of a figure that a requirement reaches; it may be null.

    Args:
        about: what it is, in a sentence.
        kind: its type.
        keywords: of JSON Schema, such as ``minimum``.
    """
    return Annotated[kind | None, Keywords(**keywords, description=about)]


SMALLEST_CLASS = figure("Size of the smallest class; for k_map in the population.", int)
L_REACHED = figure("The l that every class reaches.")
C_ABOVE = figure(
    "Recursive (c, l)-diversity, (c, k)-safety or a skyline point holds for every c above this; null for no c."
)


class Monotonicity(Enum):
    """When a generalization of a satisfying table is sure to satisfy as well."""

    ALWAYS = "always"
    """Also while rows are suppressed: merging never makes a satisfied class violate."""
    WITHOUT_SUPPRESSION = "without suppression"
    """Only if no row is suppressed: a satisfied class merged with a violating one may violate."""
    NEVER = "never"
    """Not even then (person counts overlap between classes, so they do not add up)."""


@dataclass(frozen=True)
class Background:
    """What an attacker knows before the release: a distribution of quasi-identifiers and sensitive values.

    Attributes:
        attribute: the sensitive attribute.
        table: the table of the distribution; None for the source.
        weight: its column of weights; None to count rows.
        thresholds: where a belief exposes a person, as the templates name it; None where not asked for.
        shown: its name for messages.
        label: the requirement's.
    """

    attribute: str
    table: tuple[str, ...] | None
    weight: str | None
    thresholds: Mapping[str, float | None]
    shown: str
    label: str


@dataclass(frozen=True)
class ShareBound:
    """The most rows of a class that may have one value, where a requirement says that value by value.

    Attributes:
        label: the requirement in words.
        share: the most that a value's share may be, and so the credibility that it promises to keep.
        most: how many rows of a class of this many may have one value.
        least_size: a class of fewer rows violates, whatever their values are.
        values: the values that this is said of; None for all.
    """

    label: str
    share: float
    most: Callable[[int], int]
    least_size: int
    values: tuple[str, ...] | None


class SetWindows(NamedTuple):
    """The windows over the classes that some of the quasi-identifiers make.

    Attributes:
        of_class: over such a class.
        of_value: over the rows of such a class that have one sensitive value.
    """

    of_class: Sql
    of_value: Sql
