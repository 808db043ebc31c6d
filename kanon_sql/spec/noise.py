"""Noise with a privacy budget for tables of counts and sums: what a spec says of it, and what it cannot go with.

Cells of which every person adds to few, and to each a bounded amount, are differentially private once noise of the
right scale is added to each. Every refusal here is a premise of the proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import Field

from kanon_sql.spec.checks import Check, Fault, Part, fail, integer, items, the_number
from kanon_sql.spec.differential_privacy import Total, epsilon_of, exactly
from kanon_sql.spec.fields import Flag

if TYPE_CHECKING:
    from kanon_sql.spec.tabulation import TableSpec

__all__ = ["NoiseOptions", "noise_faults"]

LARGEST_BOUND = 10**9
"""So that every engine adds the contributions up in whole numbers."""

MOST_CONTRIBUTIONS = 1_000

_SEED = "noise that can be drawn again can be subtracted; it comes from the operating system alone, so leave this out"


def _bounds(value: object) -> tuple[int, int]:
    found = items("bounds", integer("a bound", -LARGEST_BOUND, LARGEST_BOUND))(value)
    if len(found) != 2 or found[0] >= found[1]:
        fail("expected the least and the greatest amount of a person in a cell, such as [0, 1000]")
    return found[0], found[1]


_BOUNDS = {
    "type": "array",
    "items": {"type": "integer", "minimum": -LARGEST_BOUND, "maximum": LARGEST_BOUND},
    "minItems": 2,
    "maxItems": 2,
}


class NoiseOptions(Part):
    """Discrete noise on every finest cell, by an (epsilon, delta)-differentially private mechanism.

    Attributes:
        epsilon: of the whole table.
        delta: likewise; 0 for none, which only tables take whose categories are all declared.
        contributions: in how many cells a person counts at most, or with how many rows where rows are counted.
        bounds: of a table of sums, the least and the greatest amount of a person in a cell; what is beyond counts as
            the bound.
        nonnegative: noisy values below 0 are published as 0.
        total: what all releases of the ledger may spend together; None where this one is to be the only one.
    """

    expected: ClassVar[str] = "{epsilon: 1, delta: 1e-6}"
    elsewhere: ClassVar[Mapping[str, str]] = {"seed": _SEED, "key_variable": _SEED}

    epsilon: Annotated[float, epsilon_of("epsilon")] = Field(
        description="With and without any one person, the probabilities of a table differ by at most a factor of "
        "e^epsilon."
    )
    delta: Annotated[float, the_number("a delta of at least 0 and below 1", least=0, below=1)] = Field(
        default=0, description="The probability of exceptions; needed where categories are not declared."
    )
    contributions: Annotated[int, integer("a number of contributions", 1, MOST_CONTRIBUTIONS)] = Field(
        default=1, description="The largest number of cells (rows where rows are counted) in which a person counts."
    )
    bounds: Annotated[tuple[int, int] | None, Check(_bounds, _BOUNDS)] = Field(
        default=None, description="For sums: the least and the greatest amount of a person in a cell."
    )
    nonnegative: Flag = Field(default=False, description="Whether to publish 0 for negative noisy values.")
    total: Total | None = Field(
        default=None, description="The privacy budget of all releases of the ledger; by default that of this table."
    )

    @property
    def spends(self) -> tuple[Fraction, Fraction]:
        """Epsilon and delta at most, exactly."""
        return exactly(self.epsilon), exactly(self.delta)

    @property
    def may_spend(self) -> tuple[Fraction, Fraction]:
        """The epsilon and delta that all releases of the ledger may spend together."""
        if self.total is None:
            return self.spends
        return exactly(self.total.epsilon), exactly(self.total.delta)

    @property
    def bound(self) -> int:
        """The most that one contribution changes a cell by."""
        return 1 if self.bounds is None else max(map(abs, self.bounds))

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """A delta that can be computed with, and a total that holds this table at least."""
        if value is None:
            return
        if 0 < value.delta < 1e-30:
            yield Fault(("delta",), "expected 0, or a delta of at least 1e-30")
        if value.nonnegative and value.bounds is not None and value.bounds[0] < 0:
            yield Fault(("nonnegative",), "the bounds allow sums below 0; leave 'nonnegative' out")
        if value.total is not None:
            for key, own, most in zip(("epsilon", "delta"), value.spends, value.may_spend, strict=True):
                if most < own:
                    yield Fault(("total", key), f"the total {key} is below that of this table alone")

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as these options."""
        return self.model_dump(mode="json", exclude_none=True)


def noise_faults(value: TableSpec) -> Iterator[Fault]:
    """What a table with noise needs, and what would reveal more than its budget says."""
    noise = value.protection.noise
    if noise is None:
        for name, item in value.dimensions.items():
            if item.values is not None:
                why = "declared values are for protection: {noise: ...}; other tables list the cells that occur"
                yield Fault(("dimensions", name, "values"), why, True)
        return
    at = ("protection", "noise")
    if value.release is None:
        yield Fault(at, "noise needs a 'release': every table that is shown spends budget", True)
    if value.ledger is None:
        yield Fault(at, "noise needs a 'ledger', which adds up the privacy budget that all tables spend", True)
    elif value.ledger.on_conflict != "refuse":
        why = "tables with noise are not compared, so on_conflict has no effect; leave it out"
        yield Fault(("ledger", "on_conflict"), why, True)
    if value.rules.to_dict() != dict.fromkeys(value.rules.to_dict()):
        yield Fault(
            ("rules",), "rules look at the rows without a budget, and noise hides every cell; leave them out", True
        )
    if (value.measure is None) != (noise.bounds is None):
        why = (
            "a table of counts has no amounts to bound; leave 'bounds' out"
            if value.measure is None
            else "sums need 'bounds', the least and the greatest amount of a person in a cell, not taken from the rows"
        )
        yield Fault(at, why, True)
    if value.unit is None and noise.contributions > 1:
        why = "without a unit every row is a person, who contributes once; name the column that identifies persons"
        yield Fault((*at, "contributions"), why)
    for key, what in (
        ("weight", "weights are not bounded"),
        ("steps", "a sample is not counted in the budget"),
        ("decimals", "amounts are whole numbers: multiply them in a source query"),
        ("mean", "a mean would need two tables: publish sums and counts, each with a budget"),
        ("percent_of", "percentages are left to the reader"),
        ("tables", "each table spends budget of its own: give each a spec, with one ledger"),
    ):
        if getattr(value, key) not in (None, 0, False):  # no dimension is one way to say percent_of
            yield Fault((key,), f"with noise {what}; leave this out", True)
    if not noise.delta and not value.declared:
        names = ", ".join(name for name, item in value.dimensions.items() if not item.declared)
        why = (
            f"delta 0 needs the values of every dimension, or the cells that occur would show persons; declare those "
            f"of {names} ('values', or a hierarchy in a file or tree), or give a delta such as 1e-6"
        )
        yield Fault((*at, "delta"), why)
    for name, item in value.dimensions.items():
        if item.hierarchies:
            why = "with noise a dimension has one hierarchy; leave the others out, since readers can add cells up"
            yield Fault(("dimensions", name, "hierarchies"), why, True)
        if value.total_label.casefold() in {label.casefold() for label in item.values or ()}:
            why = f"{value.total_label!r} is the name of totals; leave it out, or choose another total_label"
            yield Fault(("dimensions", name, "values"), why)
        if item.hierarchy.table is not None:
            why = "a hierarchy table may depend on the rows; use a file or a tree"
            yield Fault(("dimensions", name, "hierarchy", "table"), why, True)
        if name == "error":
            yield Fault(("dimensions", name), "the table has a column 'error'; rename the dimension in a source query")
