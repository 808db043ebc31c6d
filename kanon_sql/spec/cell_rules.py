"""What makes a cell of a table sensitive, and how sensitive cells are protected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from kanon_sql.spec.checks import Check, Fault, Part, chosen, fail, integer, number, plain_number, text
from kanon_sql.spec.fields import ColumnName
from kanon_sql.spec.noise import NoiseOptions

__all__ = ["METHODS", "Protection", "Rules"]

ROUNDINGS = ("conventional_rounding", "random_rounding", "controlled_rounding")
METHODS = ("suppression", *ROUNDINGS, "collapsing", "noise")


# --- Rules ---------------------------------------------------------------------------------


def _percent(what: str, *, most: int = 100) -> Check[Decimal]:
    def check(value: object) -> Decimal:
        found = number(what)(value)
        if not 0 < found <= most or found * 100 != (found * 100).to_integral_value():
            fail(f"expected {what} above 0 and up to {most}, with two digits after the point at most")
        return found

    return Check(check, {"type": "number", "exclusiveMinimum": 0, "maximum": 100})


_BY = "The column of holdings, whose contributions are added up before the rule is applied."


class Dominance(Part):
    """The (n,k) rule: a cell is sensitive if its n largest contributors make more than k percent of it.

    Attributes:
        n: contributors, from 1 to 5.
        k: percent of the cell's total.
        by: the column whose values (holdings) are the contributors; None for those of the unit.
    """

    expected: ClassVar[str] = "{n: 2, k: 75}"

    n: Annotated[int, integer("a number of contributors", 1, 5)] = Field(
        description="How many of the largest contributors to add up."
    )
    k: Annotated[Decimal, _percent("a percentage", most=100)] = Field(
        description="The largest percentage of the total that they may contribute."
    )
    by: ColumnName | None = Field(default=None, description=_BY)

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """A few contributors."""
        if value is not None and value.n > 5:
            yield Fault(("n",), "expected 1 to 5 contributors")


class PPercent(Part):
    """The p-percent rule: the second largest contributor must not know the largest within p percent.

    Attributes:
        p: percent within which the largest contribution must not be known.
        by: the column whose values (holdings) are the contributors; None for those of the unit.
    """

    expected: ClassVar[str] = "a percentage, or {p: 10, by: holding}"

    p: Annotated[Decimal, _percent("a percentage")] = Field(
        description="The percentage by which every estimate must miss the true value."
    )
    by: ColumnName | None = Field(default=None, description=_BY)

    @classmethod
    def written(cls, value: Any) -> Any:
        """A number alone is the percentage."""
        return value if isinstance(value, Mapping) else {"p": value}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = dict(handler.resolve_ref_schema(handler(core)))
        return {"anyOf": [schema["properties"]["p"], schema]}


class PriorPosterior(Part):
    """The pq rule: what any reader knows of a contribution within q percent must not become known within p percent.

    Attributes:
        p: percent within which a contribution must not be estimated from the table.
        q: percent within which every reader is taken to know every contribution beforehand.
        by: the column whose values (holdings) are the contributors; None for those of the unit.
    """

    expected: ClassVar[str] = "{p: 10, q: 50}"

    p: Annotated[Decimal, _percent("a percentage")] = Field(
        description="The percentage by which every estimate must miss the true value."
    )
    q: Annotated[Decimal, _percent("a percentage")] = Field(
        description="The percentage within which every reader can estimate a value beforehand."
    )
    by: ColumnName | None = Field(default=None, description=_BY)

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """A table must be able to tell more than what is known."""
        if value is not None and value.p >= value.q:
            yield Fault(("p",), "p must be below q, since a reader already knows values within q percent")


class Rules(Part):
    """What makes a cell sensitive; it is if any of the rules says so.

    Attributes:
        threshold: the least number of contributors (persons, or rows without a unit) of a cell that is not empty.
        dominance: the (n,k) rule, for tables of sums.
        p_percent: the second largest contributor must not be able to estimate the largest within this many percent, for
            tables of sums.
        pq: the prior-posterior rule, for tables of sums.
        margin_difference: how many contributors of each margin must be outside of each of its cells, at the least: with
            1, no cell has every contributor of its row or column, whose category would be known (group disclosure).
        estimate: the least estimate of a cell, for tables of estimates.
    """

    expected: ClassVar[str] = "{threshold: 5}"

    threshold: Annotated[int | None, integer("a threshold", 2)] = Field(
        default=None, description="The smallest number of contributors of a cell that is not sensitive.", ge=2
    )
    dominance: Dominance | None = Field(default=None, description="The (n,k) dominance rule.")
    p_percent: PPercent | None = Field(default=None, description="The p-percent rule.")
    pq: PriorPosterior | None = Field(default=None, description="The prior-posterior rule.")
    margin_difference: Annotated[int | None, integer("a number of contributors", 1)] = Field(
        default=None, description="The smallest number of contributors to a margin outside each of its cells.", ge=1
    )
    estimate: Annotated[int | None, integer("an estimate", 2)] = Field(
        default=None, description="The smallest estimated population of a cell, for tables of estimates.", ge=2
    )

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """At least one rule, and the same contributors for all that look at contributions."""
        if not given:
            yield Fault((), f"expected at least one rule, such as {cls.expected}, got none")
        if value is not None and len({getattr(value, name).by for name in value.of_sums}) > 1:
            why = (
                "the rules about contributions name different contributors; write the same 'by' in each of "
                f"{', '.join(value.of_sums)}, such as p_percent: {{p: 10, by: holding}}"
            )
            yield Fault((), why)

    @classmethod
    def none(cls) -> Self:
        """No rule, for a table that is protected without."""
        return cls.model_construct(**dict.fromkeys(cls.model_fields))

    @property
    def of_sums(self) -> list[str]:
        """The rules asked for that look at contributions."""
        return [name for name in ("dominance", "p_percent", "pq") if getattr(self, name) is not None]

    @property
    def by(self) -> str | None:
        """The column of holdings; None where the contributors are those of the unit."""
        found: list[str | None] = [getattr(self, name).by for name in self.of_sums]
        return found[0] if found else None

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as these rules."""
        return {
            "threshold": self.threshold,
            **{name: self._written(name) for name in ("dominance", "p_percent", "pq")},
            "margin_difference": self.margin_difference,
            "estimate": self.estimate,
        }

    def _written(self, name: str) -> Any:
        rule: Dominance | PPercent | PriorPosterior | None = getattr(self, name)
        if rule is None:
            return None
        found = {
            key: plain_number(item) if isinstance(item, Decimal) else item for key, item in rule.model_dump().items()
        }
        if found["by"] is None:
            del found["by"]
        return found["p"] if name == "p_percent" and len(found) == 1 else found


# --- Protection ----------------------------------------------------------------------------

_TAKEN_BY = {
    "width": ("suppression",),
    "percent": ("suppression",),
    "base": ROUNDINGS,
    "seed": ("random_rounding",),
    "key_variable": ("random_rounding",),
    "noise": ("noise",),
}


class Protection(Part):
    """How the values of sensitive cells are kept from every reader.

    Attributes:
        method: ``suppression`` leaves sensitive cells out and as many others as it takes; the roundings change cells
            to multiples of a base; ``collapsing`` combines categories by their hierarchies, or with their
            neighbours, until no cell is sensitive; ``noise`` adds random numbers to all cells, sensitive or not.
        width: for suppression of counts: how far apart the least and the largest possible value of a sensitive cell
            must be; one less than the threshold by default, so that no reader can tell that it is below.
        percent: for suppression of sums: how far from the value, in percent of it, both bounds must be where only the
            threshold makes the cell sensitive.
        base: for the roundings: what the published values are multiples of.
        seed: for random rounding: what decides the directions, for tests; who knows it can undo part of the rounding.
        key_variable: for random rounding: the environment variable that holds a secret key, which decides instead.
        noise: for noise: its privacy budget, and what bounds each person's part.
    """

    expected: ClassVar[str] = "suppression, or {method: controlled_rounding, base: 5}"

    method: Annotated[
        Literal[
            "suppression", "conventional_rounding", "random_rounding", "controlled_rounding", "collapsing", "noise"
        ],
        chosen("method of protection"),
    ] = Field(default="suppression", description="How sensitive cells are protected.")
    width: Annotated[int | None, integer("a width", 1)] = Field(
        default=None, description="How wide the feasible interval of a sensitive count must be."
    )
    percent: Annotated[Decimal, _percent("a percentage")] = Field(
        default=Decimal(20),
        description="How far the bounds of a sensitive sum must be from it.",
        json_schema_extra={"default": 20},
    )
    base: Annotated[int | None, integer("a base", 2)] = Field(
        default=None, description="The base: rounded values are its multiples."
    )
    seed: Annotated[int | None, integer("a seed", 0)] = Field(
        default=None, description="The seed of random rounding; a published seed."
    )
    key_variable: Annotated[str | None, text("the name of an environment variable")] = Field(
        default=None, description="The environment variable that holds the secret key of random rounding."
    )
    noise: NoiseOptions | None = Field(default=None, description="Add noise, by a privacy budget.")

    @classmethod
    def written(cls, value: Any) -> Any:
        """A word alone is the method, and what is said of noise says that it is one."""
        if isinstance(value, str):
            return {"method": value}
        if isinstance(value, Mapping) and value.get("noise") is not None and value.get("method") is None:
            return {**value, "method": "noise"}
        return value

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """What a method needs, and what it does not take."""
        method = given.get("method", "suppression")
        if method not in METHODS:
            return
        for option, methods in _TAKEN_BY.items():
            if option in given and method not in methods:
                why = f"{method} does not use this option; leave it out, or use {' or '.join(methods)}"
                if method == "noise" and option in NoiseOptions.elsewhere:
                    why = NoiseOptions.elsewhere[option]
                yield Fault((option,), why, True)
        if method == "noise" and "noise" not in given:
            yield Fault((), f"noise needs a privacy budget, such as {{noise: {NoiseOptions.expected}}}")
        if method in ROUNDINGS and "base" not in given:
            yield Fault((), f"{method} needs a base, such as {{method: {method}, base: 5}}")
        if method == "random_rounding" and ("seed" in given) == ("key_variable" in given):
            yield Fault(
                (),
                "random_rounding needs key_variable, the environment variable that holds a secret, or "
                "seed; give one of them",
            )

    @property
    def rounds(self) -> bool:
        """Whether values are rounded, and none is left out."""
        return self.method in ROUNDINGS

    @property
    def collapses(self) -> bool:
        """Whether categories are combined until no cell is sensitive."""
        return self.method == "collapsing"

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as this protection: what its method takes."""
        values = {**self.model_dump(), "percent": plain_number(self.percent)}
        values["noise"] = None if self.noise is None else self.noise.to_dict()
        return {name: item for name, item in values.items() if self.method in _TAKEN_BY.get(name, METHODS)}
