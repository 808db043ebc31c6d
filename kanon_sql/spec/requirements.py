"""The privacy requirements of a spec: what every equivalence class must satisfy.

Definitions: k-anonymity (Samarati 2001), l-diversity (Machanavajjhala et al. 2007),
t-closeness (Li, Li and Venkatasubramanian 2007), k-map (Sweeney 2001), delta-presence (Nergiz, Atzori and
Clifton 2007).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, GetJsonSchemaHandler, WithJsonSchema
from pydantic_core import CoreSchema

from kanon_sql.spec.checks import (
    Fault,
    Faults,
    Part,
    checked,
    choice,
    did_you_mean,
    fail,
    integer,
    kind,
    number,
    plain_number,
    share,
    text,
    the_number,
)
from kanon_sql.spec.hierarchy import TABLE_NAME, table_name
from kanon_sql.spec.names import format_table_name

__all__ = ["DeltaPresence", "KAnonymity", "KMap", "LDiversity", "Requirement", "TCloseness", "parse_requirement"]

_Attribute = Annotated[
    str,
    checked(text("the name of a sensitive attribute")),
    WithJsonSchema({"type": "string", "minLength": 1}),
]
_ABOUT_ATTRIBUTE = "The sensitive attribute that it protects."


class _Named(Part):
    """A requirement, written as a mapping with its name as the only key."""

    name: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """``{name: {parameters}}``, which reads back as this requirement."""
        return {self.name: self.model_dump(exclude_none=True)}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        inner = handler.resolve_ref_schema(handler(core))
        return {
            "type": "object",
            "properties": {cls.name: cls._body_schema(inner)},
            "required": [cls.name],
            "additionalProperties": False,
        }

    @classmethod
    def _body_schema(cls, inner: dict[str, Any]) -> dict[str, Any]:
        return inner


class KAnonymity(_Named):
    """Every equivalence class holds at least ``k`` rows (persons, when the spec has a unit)."""

    name: ClassVar[str] = "k_anonymity"
    expected: ClassVar[str] = "{k: 5} or a whole number"

    k: Annotated[int, checked(integer("k", 1)), WithJsonSchema({"type": "integer", "minimum": 1})] = Field(
        description="The size of the smallest equivalence class."
    )

    @property
    def attribute(self) -> None:
        """No sensitive attribute: k-anonymity is about the quasi-identifiers only."""
        return None

    @classmethod
    def written(cls, value: Any) -> Any:
        """``k_anonymity: 5`` is ``k_anonymity: {k: 5}``."""
        return {"k": value} if isinstance(value, int) and not isinstance(value, bool) else value

    @classmethod
    def _body_schema(cls, inner: dict[str, Any]) -> dict[str, Any]:
        return {"anyOf": [inner, {"type": "integer", "minimum": 1}]}


def _diversity(value: object) -> int | float:
    found = number("l, at least 1")(value)
    if found < 1:
        fail(f"expected l, a number of at least 1, got {found}")
    return plain_number(found) if not isinstance(value, int) else value


class LDiversity(_Named):
    """Every equivalence class has ``l`` well-represented values of a sensitive attribute.

    Attributes:
        attribute: the sensitive attribute.
        l: how many values; a whole number, except that for entropy any number >= 1 will do.
        kind: ``distinct`` (l different values), ``entropy`` (entropy >= log l) or
            ``recursive`` (r1 < c * (r_l + ... + r_m), counts in descending order).
        c: the factor of recursive (c, l)-diversity; None otherwise.
    """

    name: ClassVar[str] = "l_diversity"
    expected: ClassVar[str] = "{attribute: ..., l: 3, kind: distinct}"

    attribute: _Attribute = Field(description=_ABOUT_ATTRIBUTE)
    l: Annotated[int | float, checked(_diversity), WithJsonSchema({"type": "number", "minimum": 1})] = Field(  # noqa: E741
        description="How many well-represented values each equivalence class has."
    )
    kind: Annotated[
        Literal["distinct", "entropy", "recursive"],
        checked(choice("kind of l-diversity", ("distinct", "entropy", "recursive"))),
    ] = Field(default="distinct", description="What well-represented means.")
    c: Annotated[
        float | None,
        checked(the_number("c, above 0", lambda value: value > 0)),
        WithJsonSchema({"type": ["number", "null"], "exclusiveMinimum": 0}),
    ] = Field(default=None, description="The factor of recursive (c, l)-diversity.")

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """``c`` goes with recursive; entropy alone takes an l that is not whole."""
        which = given.get("kind", "distinct")
        if which == "recursive" and "c" not in given:
            yield Fault((), "missing 'c': recursive l-diversity needs a factor above 0", True)
        if which in ("distinct", "entropy") and "c" in given:
            yield Fault(("c",), f"'c' belongs to kind: recursive, and this is {which}", True)
        wanted = given.get("l")
        fractional = isinstance(wanted, float | Decimal) and Decimal(wanted).is_finite() and float(wanted) % 1 != 0
        if which in ("distinct", "recursive") and fractional:
            yield Fault(("l",), f"expected l, a whole number for kind: {which}, got one with a fraction")


class TCloseness(_Named):
    """In every equivalence class an attribute is distributed as in the table, up to ``t``.

    Attributes:
        attribute: the sensitive attribute.
        t: the largest distance allowed, between 0 and 1.
        reference: compare with the ``original`` table, or with the ``release``.
    """

    name: ClassVar[str] = "t_closeness"
    expected: ClassVar[str] = "{attribute: ..., t: 0.3}"

    attribute: _Attribute = Field(description=_ABOUT_ATTRIBUTE)
    t: Annotated[float, checked(share("t")), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})] = Field(
        description="The largest distance between the distributions, from 0 to 1."
    )
    reference: Annotated[
        Literal["original", "release"], checked(choice("reference distribution", ("original", "release")))
    ] = Field(default="original", description="The distribution to compare with.")


_Population = Annotated[tuple[str, ...], checked(table_name), WithJsonSchema(TABLE_NAME)]
_ABOUT_POPULATION = "A table of everybody among whom persons are sought: their quasi-identifiers, a row each."


class _OfPopulation(_Named):
    """A requirement that compares with a second table."""

    population: _Population = Field(description=_ABOUT_POPULATION)

    @property
    def attribute(self) -> None:
        """No sensitive attribute."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """``{name: {parameters}}``, the population by its name."""
        return {self.name: {**self.model_dump(), "population": format_table_name(self.population)}}


class KMap(_OfPopulation):
    """Every released row could be any of at least ``k`` persons of a population.

    Attributes:
        population: the population table.
        k: the fewest persons that a released row may stand for.
    """

    name: ClassVar[str] = "k_map"
    expected: ClassVar[str] = "{population: ..., k: 5}"

    k: Annotated[int, checked(integer("k", 1)), WithJsonSchema({"type": "integer", "minimum": 1})] = Field(
        description="The fewest persons of the population that a row may stand for."
    )


_SHARE = WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})


class DeltaPresence(_OfPopulation):
    """Nobody can tell with more (or less) than a probability whether a person of a population is in the table.

    Attributes:
        population: the population table.
        delta_min: the smallest probability allowed.
        delta_max: the largest probability allowed.
    """

    name: ClassVar[str] = "delta_presence"
    expected: ClassVar[str] = "{population: ..., delta_max: 0.5}"

    delta_max: Annotated[float, checked(share("delta_max")), _SHARE] = Field(
        description="The largest probability that a person of the population is in the table."
    )
    delta_min: Annotated[float, checked(share("delta_min")), _SHARE] = Field(
        default=0.0, description="The smallest one; above 0 for check alone."
    )

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """The smallest is not above the largest."""
        if value is not None and value.delta_min > value.delta_max:
            yield Fault(("delta_min",), "delta_min is above delta_max, so nothing could satisfy both")


Requirement = KAnonymity | LDiversity | TCloseness | KMap | DeltaPresence
"""Any privacy requirement."""

_BY_NAME: dict[str, Callable[[object], Requirement]] = {
    KAnonymity.name: KAnonymity.model_validate,
    LDiversity.name: LDiversity.model_validate,
    TCloseness.name: TCloseness.model_validate,
    KMap.name: KMap.model_validate,
    DeltaPresence.name: DeltaPresence.model_validate,
}


def parse_requirement(value: object) -> Requirement:
    """One item of ``privacy``: a mapping with the requirement's name as its only key.

    Raises:
        ValidationError: with every problem found.
    """
    if isinstance(value, Requirement):
        return value
    if not isinstance(value, Mapping):
        fail(f"expected a requirement such as {{k_anonymity: {{k: 5}}}}, got {kind(value)}")
    faults = Faults()
    found: list[Requirement | None] = []
    for name, body in value.items():
        check = _BY_NAME.get(name)
        if check is None:
            faults.add((name,), f"unknown requirement{did_you_mean(name, _BY_NAME)}", at_key=True)
        else:
            found.append(faults.attempt((name,), check, body))
    if not faults and len(found) != 1:
        faults.add((), f"expected one requirement per list item, got {len(found)}; begin each with '-'")
    faults.finish()
    [requirement] = found
    assert requirement is not None
    return requirement
