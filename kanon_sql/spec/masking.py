"""How a column's values are made untrue: noise, rank swapping, data swapping, PRAM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from kanon_sql.spec.checks import (
    Check,
    Fault,
    Faults,
    Part,
    chosen,
    fail,
    integer,
    kind,
    number,
    shaped,
    text,
    the_number,
)
from kanon_sql.spec.fields import ColumnNames, Flag
from kanon_sql.spec.load import label_text

__all__ = ["METHODS", "MOST_DAYS", "Masking", "Noise", "Pram", "RankSwap", "Shift", "Swap", "parse_maskings"]

Method = Literal["noise", "rank_swap", "swap", "pram", "shift"]
METHODS: tuple[Method, ...] = ("noise", "rank_swap", "swap", "pram", "shift")

MOST_DAYS = 36_500
"""By a century at most are dates moved."""

MOST_DECIMALS = 9
MOST_CATEGORIES = 200
"""Categories of a transition matrix; each pair of them has a probability."""


def _share(what: str, *, one: bool = False) -> Check[float]:
    end = "and up to 1" if one else "and below 1"
    return the_number(f"{what} above 0 {end}", above=0, most=1 if one else None, below=None if one else 1)


class Noise(Part):
    """Random numbers from a normal distribution, added or as a factor (Hundepool et al. 2012, section 3.4.1).

    Attributes:
        share: additive: the standard deviation of the noise, as a share of the column's own; multiplicative: that of
            the factor, whose mean is 1.
        variant: ``additive`` or ``multiplicative``.
        decimals: digits after the point of what is released; by default none for whole numbers, and two for others.
    """

    expected: ClassVar[str] = "{share: 0.1}"

    share: Annotated[float, _share("a share", one=True)] = Field(
        description="The standard deviation of the noise, as a share of the column's own, or that of the factor."
    )
    variant: Annotated[Literal["additive", "multiplicative"], chosen("variant of noise")] = Field(
        default="additive", description="Whether noise is added, or is a factor."
    )
    decimals: Annotated[int | None, integer("a number of digits after the point", 0, MOST_DECIMALS)] = Field(
        default=None, description="Digits after the point of what is released."
    )

    @classmethod
    def written(cls, value: Any) -> Any:
        """A number alone is the share."""
        return {"share": value} if isinstance(value, int | float | Decimal) else value


class RankSwap(Part):
    """Values are exchanged between rows whose ranks are near each other (Moore 1996).

    Attributes:
        share: how far apart at most, as a share of the rows that have a value (neighbours at least).
    """

    expected: ClassVar[str] = "{share: 0.05}"

    share: Annotated[float, _share("a share", one=True)] = Field(
        description="How far apart ranks may be, as a share of the rows."
    )

    @classmethod
    def written(cls, value: Any) -> Any:
        """A number alone is the share."""
        return {"share": value} if isinstance(value, int | float | Decimal) else value


class Swap(Part):
    """Values are exchanged between some rows, at random (data swapping: Dalenius, Reiss 1982).

    Attributes:
        share: the probability that a row takes part.
        within: columns of the source in which the two rows of an exchange agree.
    """

    expected: ClassVar[str] = "{share: 0.1, within: [region]}"

    share: Annotated[float, _share("a share", one=True)] = Field(description="The probability that a row takes part.")
    within: ColumnNames = Field(default=(), description="Columns in which the two rows of an exchange agree.")

    @classmethod
    def written(cls, value: Any) -> Any:
        """A number alone is the share."""
        return {"share": value} if isinstance(value, int | float | Decimal) else value


@shaped(
    {
        "type": "object",
        "minProperties": 2,
        "additionalProperties": {
            "type": "object",
            "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1},
        },
    }
)
def _matrix(value: object) -> dict[str, dict[str, Decimal]]:
    if not isinstance(value, Mapping):
        fail(f"expected a mapping of each category to the probabilities of all, got {kind(value)}")
    if not 2 <= len(value) <= MOST_CATEGORIES:
        fail(f"expected 2 to {MOST_CATEGORIES} categories, got {len(value)}")
    faults = Faults()
    found: dict[str, dict[str, Decimal]] = {}
    labels = {label_text(label) for label in value}
    check = number("a probability")
    for position, (label, row) in enumerate(value.items()):
        if not isinstance(row, Mapping):
            faults.add((label,), f"expected the probabilities of the categories, got {kind(row)}")
            continue
        if any(label_text(to) not in labels for to in row):
            faults.add((label,), f"the row of category {position + 1} has a category that has no row of its own")
            continue
        chances = {str(label_text(to)): faults.attempt((label, to), check, chance) for to, chance in row.items()}
        known = {to: chance for to, chance in chances.items() if chance is not None}
        if any(chance < 0 for chance in known.values()) or sum(known.values(), Decimal(0)) != 1:
            faults.add((label,), f"the probabilities of category {position + 1} do not add up to 1")
        found[str(label_text(label))] = known
    faults.finish()
    return found


class Pram(Part):
    """The post-randomization method: each value becomes another category with a known probability.

    Sources: Gouweleeuw, Kooiman, Willenborg, de Wolf 1998; Hundepool et al. 2012, section 3.4.3.

    Attributes:
        retain: the probability that a value is left alone; what else becomes of it, ``invariant`` says.
        matrix: instead: category -> category -> probability. What is left out is 0; each row adds up to 1.
        invariant: the expected frequencies stay those of the source. With ``retain``, a value that is not left alone is
            drawn from the column's own frequencies (its own among them); else another category is, all alike. With a
            ``matrix`` P, the transition is P and then the way back by Bayes' rule (Gouweleeuw et al., two-stage PRAM).
    """

    expected: ClassVar[str] = "{retain: 0.8}"

    retain: Annotated[float | None, _share("a probability")] = Field(
        default=None, description="The probability that a value is left alone."
    )
    matrix: Annotated[dict[str, dict[str, Decimal]] | None, _matrix] = Field(
        default=None, description="Instead: category -> category -> probability."
    )
    invariant: Flag = Field(default=True, description="Whether expected frequencies stay those of the source.")

    @classmethod
    def written(cls, value: Any) -> Any:
        """A number alone is the probability that a value is left alone."""
        return {"retain": value} if isinstance(value, int | float | Decimal) else value

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """One of the two."""
        if ("retain" in given) == ("matrix" in given):
            yield Fault((), f"expected one of retain and matrix, such as {cls.expected}")

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as this."""
        matrix = self.matrix or {}
        rows = {label: {to: float(chance) for to, chance in row.items()} for label, row in matrix.items()} or None
        found = {"retain": self.retain, "matrix": rows, "invariant": self.invariant}
        return {name: item for name, item in found.items() if item is not None}

    @property
    def transitions(self) -> dict[str, dict[str, Fraction]]:
        """The matrix, exactly."""
        assert self.matrix is not None
        return {label: {to: Fraction(chance) for to, chance in row.items()} for label, row in self.matrix.items()}


class Shift(Part):
    """All dates of a person are moved by one secret number of days, earlier or later, so that the days between stay.

    Source: Hripcsak, Mirhaji, Low, Malin 2016 (their shift, without truncation).

    Attributes:
        days: the most days by which dates are moved; none is moved by 0.
        step: they are moved by multiples of this: with 7, days of the week stay.
    """

    expected: ClassVar[str] = "{days: 30, step: 7}"

    days: Annotated[int, integer("a number of days", 1, MOST_DAYS)] = Field(
        description="The most days by which the dates of a person are moved, earlier or later."
    )
    step: Annotated[int, integer("a number of days", 1, MOST_DAYS)] = Field(
        default=1, description="Move by multiples of this many days; 7 keeps days of the week."
    )

    @classmethod
    def written(cls, value: Any) -> Any:
        """A number alone is that of the days."""
        return {"days": value} if isinstance(value, int | float | Decimal) else value

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """There is something to move by."""
        if value is not None and value.step > value.days:
            yield Fault(("step",), f"no multiple of {value.step} days is within {value.days} days; lower step")


class Masking(Part):
    """What makes a column's values untrue: exactly one of the methods.

    Attributes:
        noise: for numbers.
        rank_swap: for numbers and dates.
        swap: for any values.
        pram: for categories.
        shift: for dates and times of persons.
    """

    expected: ClassVar[str] = "one of {noise: 0.1}, {rank_swap: 0.05}, {swap: 0.1}, {pram: 0.8} and {shift: 30}"

    noise: Noise | None = Field(default=None, description="Normal noise, added or as a factor.")
    rank_swap: RankSwap | None = Field(default=None, description="Exchange values of near ranks.")
    swap: Swap | None = Field(default=None, description="Exchange values of some rows.")
    pram: Pram | None = Field(default=None, description="Change categories by known probabilities.")
    shift: Shift | None = Field(
        default=None, description="Move all dates of a person by one secret number of days; needs unit."
    )

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """Exactly one."""
        if not given:
            yield Fault((), f"expected {cls.expected}")
        for key in list(given)[1:]:
            yield Fault((key,), f"one method per column, and {next(iter(given))!r} is given already", True)

    @property
    def method(self) -> Method:
        """Which one."""
        return next(name for name in METHODS if getattr(self, name) is not None)

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as this."""
        part = getattr(self, self.method)
        return {
            self.method: part.to_dict() if isinstance(part, Pram) else part.model_dump(mode="json", exclude_none=True)
        }

    def redacted(self) -> dict[str, Any]:
        """:meth:`to_dict` without the categories of a matrix, which are values of the data."""
        found = self.to_dict()
        if self.pram is not None and self.pram.matrix is not None:
            found["pram"]["matrix"] = f"{len(self.pram.matrix)} categories"
        return found


@Check
def parse_maskings(value: object) -> dict[str, Masking]:
    """A check for the columns of ``perturb``."""
    if not isinstance(value, Mapping):
        fail(f"expected a mapping of columns to methods, got {kind(value)}")
    if not value:
        fail("expected at least one column, got an empty mapping")
    faults = Faults()
    found = {}
    for name, written in value.items():
        if faults.attempt((name,), text("a column name"), name) is not None:
            found[name] = faults.attempt((name,), Masking.model_validate, written)
    faults.finish()
    return {name: item for name, item in found.items() if item is not None}
