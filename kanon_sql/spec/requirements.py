"""The privacy requirements of a spec: what every equivalence class must satisfy.

Definitions: k-anonymity (Samarati 2001), l-diversity (Machanavajjhala et al. 2007),
t-closeness (Li, Li and Venkatasubramanian 2007). Those that build on them are in
:mod:`kanon_sql.spec.disclosure`, those that compare with a second table in
:mod:`kanon_sql.spec.population`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, GetJsonSchemaHandler, WithJsonSchema
from pydantic_core import CoreSchema

from kanon_sql.spec.checks import (
    Fault,
    Part,
    checked,
    choice,
    fail,
    flag,
    integer,
    items,
    number,
    plain_number,
    share,
    text,
    the_number,
)
from kanon_sql.spec.hierarchy import QuasiIdentifier

__all__ = ["KAnonymity", "LDiversity", "TCloseness"]

Attribute = Annotated[
    str,
    checked(text("the name of a sensitive attribute")),
    WithJsonSchema({"type": "string", "minLength": 1}),
]
ABOUT_ATTRIBUTE = "The sensitive attribute that it protects."

Reference = Annotated[
    Literal["original", "release"], checked(choice("reference distribution", ("original", "release")))
]
ABOUT_REFERENCE = "The distribution to compare with."


def _value(value: object) -> str:
    """A value of a column, as text: how the database writes it."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and not value.strip():
        return value  # a blank text is a value too
    return text("a value of the attribute")(value)


_ITEM = {"anyOf": [{"type": "string"}, {"type": "integer"}]}

Values = Annotated[
    tuple[str, ...] | None,
    checked(items("values", _value, least=1)),
    WithJsonSchema({"anyOf": [{"type": "array", "items": _ITEM, "minItems": 1}, {"type": "null"}]}),
]
"""Values of a sensitive attribute, as the database writes them as text."""

_Columns = Annotated[
    tuple[str, ...] | None,
    checked(items("quasi-identifiers", text("a column name"), least=1)),
    WithJsonSchema({"type": ["array", "null"], "items": {"type": "string", "minLength": 1}, "minItems": 1}),
]
_ABOUT_COLUMNS = "Group by these quasi-identifiers alone; all of them by default."
_Others = Annotated[bool, checked(flag)]
_ABOUT_OTHERS = "The other sensitive attributes count as quasi-identifiers too."


class Named(Part):
    """A requirement, written as a mapping with its name as the only key."""

    name: ClassVar[str]
    counts_persons: ClassVar[bool] = True
    """Whether it is defined for persons with several rows each (``unit``)."""

    def to_dict(self) -> dict[str, Any]:
        """``{name: {parameters}}``, which reads back as this requirement."""
        return {self.name: self.model_dump(mode="json", exclude_none=True)}

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


class KAnonymity(Named):
    """Every equivalence class holds at least ``k`` rows (persons, when the spec has a unit).

    Attributes:
        k: how many.
        quasi_identifiers: those that classes are made by; None for all of the spec.
    """

    name: ClassVar[str] = "k_anonymity"
    expected: ClassVar[str] = "{k: 5} or a whole number"

    k: Annotated[int, checked(integer("k", 1)), WithJsonSchema({"type": "integer", "minimum": 1})] = Field(
        description="The size of the smallest equivalence class."
    )
    quasi_identifiers: _Columns = Field(default=None, description=_ABOUT_COLUMNS)

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


class LDiversity(Named):
    """Every equivalence class has ``l`` well-represented values of a sensitive attribute.

    Attributes:
        attribute: the sensitive attribute.
        l: how many values; a whole number, except that for entropy any number >= 1 will do.
        kind: ``distinct`` (l different values), ``entropy`` (entropy >= log l),
            ``recursive`` (r1 < c * (r_l + ... + r_m), counts in descending order) or
            ``npd_recursive`` (recursive, except for values that may be disclosed, and for values
            that must not be excluded).
        c: the factor of (npd-)recursive (c, l)-diversity, the paper's c1; None otherwise.
        c2: the least share of each value of ``forbid_negative`` in a class; None without such values.
        allow_positive: values whose positive disclosure is allowed (the paper's Y).
        forbid_negative: values whose negative disclosure is not allowed (the paper's W).
        quasi_identifiers: those that classes are made by; None for all of the spec.
        others_as_quasi_identifiers: classes are made by the other sensitive attributes too.
    """

    name: ClassVar[str] = "l_diversity"
    expected: ClassVar[str] = "{attribute: ..., l: 3, kind: distinct}"

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    l: Annotated[int | float, checked(_diversity), WithJsonSchema({"type": "number", "minimum": 1})] = Field(  # noqa: E741
        description="How many well-represented values each equivalence class has."
    )
    kind: Annotated[
        Literal["distinct", "entropy", "recursive", "npd_recursive"],
        checked(choice("kind of l-diversity", ("distinct", "entropy", "recursive", "npd_recursive"))),
    ] = Field(default="distinct", description="What well-represented means.")
    c: Annotated[
        float | None,
        checked(the_number("c, above 0", lambda value: value > 0)),
        WithJsonSchema({"type": ["number", "null"], "exclusiveMinimum": 0}),
    ] = Field(default=None, description="The factor of recursive (c, l)-diversity.")
    c2: Annotated[
        float | None,
        checked(the_number("c2, above 0 and at most 1", lambda value: 0 < value <= 1)),
        WithJsonSchema({"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 1}),
    ] = Field(default=None, description="For npd_recursive: the least share of every value of forbid_negative.")
    allow_positive: Values = Field(
        default=None, description="For npd_recursive: values that may be known to belong to somebody."
    )
    forbid_negative: Values = Field(
        default=None, description="For npd_recursive: values that must not be known to belong to nobody."
    )
    quasi_identifiers: _Columns = Field(default=None, description=_ABOUT_COLUMNS)
    others_as_quasi_identifiers: _Others = Field(default=False, description=_ABOUT_OTHERS)

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """``c`` goes with (npd-)recursive, values with npd-recursive; entropy alone takes an l that is not whole."""
        which = given.get("kind", "distinct")
        if which in ("recursive", "npd_recursive") and "c" not in given:
            yield Fault((), "missing 'c': recursive l-diversity needs a factor above 0", True)
        if which in ("distinct", "entropy") and "c" in given:
            yield Fault(("c",), f"'c' belongs to kind: recursive, and this is {which}", True)
        wanted = given.get("l")
        fractional = isinstance(wanted, float | Decimal) and Decimal(wanted).is_finite() and float(wanted) % 1 != 0
        if which in ("distinct", "recursive", "npd_recursive") and fractional:
            yield Fault(("l",), f"expected l, a whole number for kind: {which}, got one with a fraction")
        yield from _npd(given, which)
        yield from one_grouping(given)


def _npd(given: Mapping[str, Any], which: object) -> Iterator[Fault]:
    """What npd-recursive diversity asks for, and what the other kinds do not take."""
    own = ("c2", "allow_positive", "forbid_negative")
    if which != "npd_recursive":
        for key in own:
            if key in given and which in ("distinct", "entropy", "recursive"):
                yield Fault((key,), f"'{key}' belongs to kind: npd_recursive, and this is {which}", True)
        return
    if "allow_positive" not in given and "forbid_negative" not in given:
        why = "npd_recursive needs values: allow_positive, forbid_negative or both; without any use kind: recursive"
        yield Fault((), why, True)
    if "forbid_negative" in given and "c2" not in given:
        yield Fault((), "missing 'c2': the least share of every value of forbid_negative, such as 0.1", True)
    if "c2" in given and "forbid_negative" not in given:
        yield Fault(("c2",), "'c2' is about the values of 'forbid_negative', which is missing", True)
    if given.get("l") == 1:
        yield Fault(("l",), "expected l, at least 2 for kind: npd_recursive, got 1")


def one_grouping(given: Mapping[str, Any]) -> Iterator[Fault]:
    """Classes are made by fewer attributes or by more of them, not by both."""
    if given.get("others_as_quasi_identifiers") is True and given.get("quasi_identifiers") is not None:
        why = "'others_as_quasi_identifiers' adds to all quasi-identifiers; leave 'quasi_identifiers' out"
        yield Fault(("others_as_quasi_identifiers",), why, True)


class TCloseness(Named):
    """The distribution of an attribute in every equivalence class is at most ``t`` from that in the table.

    Attributes:
        attribute: the sensitive attribute.
        t: the largest distance allowed, between 0 and 1.
        distance: how far apart two values are: all alike (``equal``), by their ranks
            (``ordered``: numbers and dates), or by where they meet in a hierarchy (``hierarchical``).
        hierarchy: the attribute's own hierarchy, for the hierarchical distance.
        reference: compare with the ``original`` table, or with the ``release``.
        others_as_quasi_identifiers: classes are made by the other sensitive attributes too.
    """

    name: ClassVar[str] = "t_closeness"
    expected: ClassVar[str] = "{attribute: ..., t: 0.3}"

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    t: Annotated[float, checked(share("t")), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})] = Field(
        description="The largest distance between the distributions, from 0 to 1."
    )
    distance: Annotated[
        Literal["equal", "ordered", "hierarchical"],
        checked(choice("distance", ("equal", "ordered", "hierarchical"))),
    ] = Field(default="equal", description="How far apart two values are.")
    hierarchy: QuasiIdentifier | None = Field(
        default=None, description="For hierarchical: the attribute's hierarchy, as that of a quasi-identifier."
    )
    reference: Reference = Field(default="original", description=ABOUT_REFERENCE)
    others_as_quasi_identifiers: _Others = Field(default=False, description=_ABOUT_OTHERS)

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """A hierarchy goes with the hierarchical distance, and says nothing of levels to release."""
        which = given.get("distance", "equal")
        if which == "hierarchical" and "hierarchy" not in given:
            yield Fault((), "missing 'hierarchy': the hierarchical distance needs one, such as {file: ...}", True)
        if which in ("equal", "ordered") and "hierarchy" in given:
            yield Fault(("hierarchy",), f"'hierarchy' belongs to distance: hierarchical, and this is {which}", True)
        if value is not None and value.hierarchy is not None:
            for key in sorted({"minimum_level", "maximum_level", "weight"} & value.hierarchy.model_fields_set):
                why = f"'{key}' is for quasi-identifiers: this hierarchy only measures distances"
                yield Fault(("hierarchy", key), why, True)

    def to_dict(self) -> dict[str, Any]:
        """``{name: {parameters}}``, the hierarchy without what only quasi-identifiers have."""
        body = self.model_dump(mode="json", exclude_none=True, exclude={"hierarchy"})
        if self.hierarchy is not None:
            only = ("minimum_level", "maximum_level", "weight")
            body["hierarchy"] = {key: item for key, item in self.hierarchy.to_dict().items() if key not in only}
        return {self.name: body}
