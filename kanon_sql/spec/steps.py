"""Release steps: what is done to rows and columns before classes are made, and leaves every released value true.

A sample leaves rows out. Top coding, bottom coding and rounding make a value coarser: ``>= 90`` is true of 93, and 93
is 95 to the nearest 5. What would make values untrue (noise, swapping, PRAM) is no release step: see
:mod:`kanon_sql.spec.perturbation`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import Field

from kanon_sql.spec.checks import (
    LARGEST,
    Check,
    Fault,
    Faults,
    Part,
    did_you_mean,
    fail,
    kind,
    number,
    plain_number,
    shaped,
    text,
    the_number,
)
from kanon_sql.spec.keys import ColumnKey, written_key
from kanon_sql.spec.positions import MOST_DIGITS
from kanon_sql.spec.secret import KeyVariable, derived_key, secret_in

if TYPE_CHECKING:
    from kanon_sql.spec.model import Spec

__all__ = [
    "ColumnStep",
    "ReleaseSteps",
    "SampleStep",
    "rounding_digits",
    "sample_faults",
    "sampling_key",
    "steps_faults",
]


@shaped({"type": "number", "exclusiveMinimum": 0})
def _base(value: object) -> Decimal:
    found = number("a base")(value)
    if found <= 0:
        fail(f"expected a base above 0, got {plain_number(found)}")
    digits = rounding_digits(found)
    if digits > MOST_DIGITS or found * 10**digits > LARGEST:
        fail("expected a base with fewer digits, so that half of it and its multiples are exact")
    return found


def rounding_digits(base: Decimal) -> int:
    """The digits after the point with which half of a base is a whole number of units."""
    return max(0, -int((base / 2).normalize().as_tuple().exponent))


class SampleStep(Part):
    """A random sample: every row, or every person, is drawn with one probability, independently of the others.

    Attributes:
        fraction: the probability, above 0 and below 1.
        by: the column that says what is drawn together, such as a row's number; the unit by default.
        key_variable: the environment variable with the secret that decides who is drawn: the same secret draws the
            same persons again, on every engine. By default a secret is drawn for the run and forgotten.
    """

    expected: ClassVar[str] = "{fraction: 0.1, by: visit_id}"

    fraction: Annotated[float, the_number("a fraction above 0 and below 1", above=0, below=1)] = Field(
        description="The probability that a row or a person is drawn."
    )
    by: ColumnKey | None = Field(
        default=None, description="The column whose values are drawn, or several together; the unit by default."
    )
    key_variable: KeyVariable = None


class ColumnStep(Part):
    """What is done to a released column of numbers: no quasi-identifier, but where differential_privacy is asked for.

    Attributes:
        round: the nearest multiple of this is released, the higher one of two.
        bottom: this and everything below is one label, such as ``<= 1000``; the column is then text.
        top: this and everything above is one label, such as ``>= 90``; the column is then text.
    """

    expected: ClassVar[str] = "{round: 5, bottom: 10, top: 90}"

    round: Annotated[Decimal | None, _base] = Field(default=None, description="Round to multiples of this.")
    bottom: Annotated[Decimal | None, number("the end of bottom coding")] = Field(
        default=None, description="This and everything below is one label."
    )
    top: Annotated[Decimal | None, number("the start of top coding")] = Field(
        default=None, description="This and everything above is one label."
    )

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """Something is done, and something is between the ends."""
        if not given:
            yield Fault((), f"expected one of round, bottom and top, such as {cls.expected}")
        if value is not None and value.bottom is not None and value.top is not None and value.bottom >= value.top:
            yield Fault(("top",), "expected top above bottom: nothing would be between them")

    @property
    def codes(self) -> bool:
        """Whether some values become labels, so that the column is text."""
        return self.bottom is not None or self.top is not None

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as this step."""
        found = {"round": self.round, "bottom": self.bottom, "top": self.top}
        return {name: plain_number(item) for name, item in found.items() if item is not None}


@Check
def _columns(value: object) -> dict[str, ColumnStep]:
    if not isinstance(value, Mapping):
        fail(f"expected a mapping of columns to what is done to them, got {kind(value)}")
    faults = Faults()
    found = {}
    for name, written in value.items():
        if faults.attempt((name,), text("a column name"), name) is not None:
            found[name] = faults.attempt((name,), ColumnStep.model_validate, written)
    faults.finish()
    return {name: item for name, item in found.items() if item is not None}


class ReleaseSteps(Part):
    """What is done to the source before classes are made. Every value that is released stays true.

    Attributes:
        sample: a random sample of the rows or persons; None for all.
        columns: column -> top coding, bottom coding, rounding; sensitive and kept columns alone, and with
            differential_privacy quasi-identifiers alone.
    """

    expected: ClassVar[str] = "{sample: {fraction: 0.1}, columns: {income: {top: 90000}}}"

    sample: SampleStep | None = Field(default=None, description="A random sample of the rows or persons.")
    columns: Annotated[dict[str, ColumnStep], _columns] = Field(
        default={}, description="Columns of numbers to round, or to code at the top and the bottom."
    )

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """At least one step."""
        if not given.get("sample") and not given.get("columns"):
            yield Fault((), f"expected a sample or columns, such as {cls.expected}")

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as these steps."""
        return {
            "sample": None if self.sample is None else {**self.sample.model_dump(), "by": written_key(self.sample.by)},
            "columns": {name: item.to_dict() for name, item in self.columns.items()},
        }


def steps_faults(spec: Spec) -> Iterator[Fault]:
    """What a spec with release steps cannot have."""
    assert spec.steps is not None
    if spec.differential_privacy is not None:
        yield from _private_faults(spec, spec.steps)
        return
    if spec.ledger is not None:
        why = (
            "a ledger makes earlier releases again from the source, which these steps change; leave one of the two out"
        )
        yield Fault(("steps",), why, True)
    yield from sample_faults(spec.steps.sample, spec.unit)
    for name, step in spec.steps.columns.items():
        loc = ("steps", "columns", name)
        if name in spec.quasi_identifiers:
            why = (
                "a quasi-identifier is coded and rounded by the levels of its hierarchy, such as {intervals: [5], top: "
                "90}, from its minimum_level on; leave it out here"
            )
            yield Fault(loc, why, True)
        elif name not in (*spec.sensitive, *spec.keep):
            hint = did_you_mean(name, [*spec.sensitive, *spec.keep])
            yield Fault(loc, f"the column is under neither sensitive nor keep, so it is not released{hint}", True)
        for position, requirement in enumerate(spec.privacy):
            if requirement.attribute == name and requirement.attribute_key == "column":
                why = (
                    f"{requirement.name} reads the k of each row from it, and a column that is changed is not "
                    "kept; leave it out here"
                )
                yield Fault(loc, why, True)
            elif step.codes and requirement.attribute == name and getattr(requirement, "distance", None) == "ordered":
                why = (
                    f"steps make labels such as '>= 90' of {name!r}, which have no order of numbers; use another "
                    "distance, or round the column only"
                )
                yield Fault(("privacy", position, requirement.name, "distance"), why)


def sample_faults(sample: SampleStep | None, unit: str | None) -> Iterator[Fault]:
    """What a sample of a spec with or without a unit needs, and what it does not take."""
    if sample is not None and sample.by is None and unit is None:
        why = "missing 'by': the column whose values are drawn, such as a row's number; or name a unit to draw persons"
        yield Fault(("steps", "sample"), why, True)
    if sample is not None and unit is not None and sample.by not in (None, unit):
        why = "with a unit, persons are drawn with all of their rows; leave 'by' out"
        yield Fault(("steps", "sample", "by"), why, True)


def sampling_key(steps: ReleaseSteps | None, drawn: str) -> str:
    """What decides who is in the sample.

    Args:
        steps: with a sample.
        drawn: the secret that was drawn with the spec, for a sample that names none.

    Raises:
        SpecError: the environment variable that the sample names holds no secret.
    """
    assert steps is not None
    assert steps.sample is not None
    name = steps.sample.key_variable
    return derived_key(drawn if name is None else secret_in(name, "steps.sample.key_variable"), "sample")


def _private_faults(spec: Spec, steps: ReleaseSteps) -> Iterator[Fault]:
    """What goes before a differentially private mechanism: maps of each row by itself, by the spec's own numbers.

    Tables that differ by a row then still do after the steps, so whatever is promised of the mapped rows is promised of
    the rows. Every released column is a quasi-identifier there, so these are what is mapped.
    """
    if steps.sample is not None:
        why = (
            "differential_privacy draws each row by coins that are never repeated, and its k counts that one sample; "
            "here rows of one value are drawn together, by a secret that may draw them again, which its proof does not "
            "cover. Leave it out, or lower 'sampling' of differential_privacy"
        )
        yield Fault(("steps", "sample"), why, True)
    for name in steps.columns:
        if name not in spec.quasi_identifiers:
            hint = did_you_mean(name, spec.quasi_identifiers)
            why = f"this is no quasi-identifier, and with differential_privacy nothing else is released{hint}"
            yield Fault(("steps", "columns", name), why, True)
