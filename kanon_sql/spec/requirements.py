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

from pydantic import Field, WithJsonSchema

from kanon_sql.spec.checks import (
    Fault,
    checked,
    choice,
    fail,
    integer,
    number,
    plain_number,
    share,
    text,
    the_number,
)
from kanon_sql.spec.hierarchy import QuasiIdentifier
from kanon_sql.spec.requirement import (
    ABOUT_ATTRIBUTE,
    ABOUT_COLUMNS,
    ABOUT_OTHERS,
    ABOUT_REFERENCE,
    Attribute,
    Columns,
    Others,
    Reference,
    Requirement,
    Values,
    one_grouping,
)

__all__ = ["KAnonymityRequirement", "LDiversityRequirement", "TClosenessRequirement"]


class KAnonymityRequirement(Requirement):
    """Every equivalence class holds at least ``k`` rows (persons, when the spec has a unit).

    Attributes:
        k: how many; None where a column says it.
        column: a column of whole numbers: the k of each row. A class is as large as the largest k in it.
        default: the k of a row without one (NULL); None without a column.
        quasi_identifiers: those that classes are made by; None for all of the spec.
    """

    name: ClassVar[str] = "k_anonymity"
    expected: ClassVar[str] = "{k: 5} or a whole number, or {column: wanted_k, default: 5}"

    k: Annotated[int | None, checked(integer("k", 1)), WithJsonSchema({"type": ["integer", "null"], "minimum": 1})] = (
        Field(default=None, description="The size of the smallest equivalence class.")
    )
    column: Annotated[
        str | None,
        checked(text("the name of a column with the k of each row")),
        WithJsonSchema({"type": ["string", "null"], "minLength": 1}),
    ] = Field(
        default=None, description="Instead of k: a sensitive column with the k of each row (personalized k-anonymity)."
    )
    default: Annotated[
        int | None, checked(integer("a default k", 1)), WithJsonSchema({"type": ["integer", "null"], "minimum": 1})
    ] = Field(default=None, description="For a column: the k of rows without one (NULL).")
    quasi_identifiers: Columns = Field(default=None, description=ABOUT_COLUMNS)

    @property
    def attribute(self) -> str | None:
        """The column with the k of each row; without one k-anonymity is about the quasi-identifiers only."""
        return self.column

    @property
    def attribute_key(self) -> str:
        """Where a spec names it."""
        return "column"

    def value_facts(self) -> Iterator[tuple[str, object]]:
        """The k of a row without one (NULL)."""
        if self.column is not None:
            yield "default", self.default

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """Either a k, or a column with a default."""
        if given.get("k") is None and given.get("column") is None:
            yield Fault(
                (), "missing 'k': the size of the smallest class, such as 5; or a 'column' with the k of each row", True
            )
        elif given.get("column") is not None and given.get("k") is not None:
            yield Fault(("k",), "'column' has the k of each row; leave 'k' out", True)
        elif given.get("column") is not None and given.get("default") is None:
            yield Fault((), "missing 'default': the k of rows without one (NULL), such as 5", True)
        elif given.get("default") is not None and given.get("column") is None:
            yield Fault(("default",), "'default' is for rows without a k in a 'column', which is missing", True)
        elif given.get("column") is not None and given.get("quasi_identifiers") is not None:
            yield Fault(
                ("quasi_identifiers",),
                "the k of each row ('column') is about all quasi-identifiers; leave them out",
                True,
            )

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


class LDiversityRequirement(Requirement):
    """Every equivalence class has ``l`` well-represented values of a sensitive attribute.

    Attributes:
        attribute: the sensitive attribute.
        l: how many values; a whole number, except that for entropy any number >= 1 will do.
        kind: ``distinct`` (l different values), ``entropy`` (entropy >= log l),
            ``recursive`` (r1 < c * (r_l + ... + r_m), counts in descending order) or
            ``npd_recursive`` (recursive, except for values that may be disclosed, and for values
            that must not be excluded).
        c: the factor of (npd-)recursive (c, l)-diversity, the paper's c1; None otherwise.
        estimator: of entropy: ``shannon``, that of the values in the class, or ``grassberger``, an estimate of that
            behind them; None for the other kinds, and for Shannon's by default.
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
    estimator: Annotated[
        Literal["shannon", "grassberger"] | None,
        checked(choice("estimator of entropy", ("shannon", "grassberger"))),
        WithJsonSchema({"anyOf": [{"enum": ["shannon", "grassberger"]}, {"type": "null"}]}),
    ] = Field(
        default=None,
        description="For entropy: of the class's own values (shannon, the default), or of what they are a sample of.",
    )
    c2: Annotated[
        float | None,
        checked(the_number("c2, above 0 and at most 1", lambda value: 0 < value <= 1)),
        WithJsonSchema({"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 1}),
    ] = Field(default=None, description="For npd_recursive: the least share of every value of forbid_negative.")
    allow_positive: Values = Field(
        default=None, description="For npd_recursive: values that may be known to belong to a person."
    )
    forbid_negative: Values = Field(
        default=None, description="For npd_recursive: values that must not be known to belong to no person."
    )
    quasi_identifiers: Columns = Field(default=None, description=ABOUT_COLUMNS)
    others_as_quasi_identifiers: Others = Field(default=False, description=ABOUT_OTHERS)

    @property
    def rows_only(self) -> str | None:
        """The npd-recursive kind: its shares are of rows."""
        return "l_diversity of kind npd_recursive" if self.kind == "npd_recursive" else None

    def value_facts(self) -> Iterator[tuple[str, object]]:
        """The values that the npd-recursive kind lists."""
        return super().value_facts() if self.kind == "npd_recursive" else iter(())

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """``c`` goes with (npd-)recursive, values with npd-recursive; entropy alone takes an l that is not whole."""
        which = given.get("kind", "distinct")
        if which in ("recursive", "npd_recursive") and "c" not in given:
            yield Fault((), "missing 'c': recursive l-diversity needs a factor above 0", True)
        if which in ("distinct", "entropy") and "c" in given:
            yield Fault(("c",), f"'c' belongs to kind: recursive, and this is {which}", True)
        if given.get("estimator") is not None and which in ("distinct", "recursive", "npd_recursive"):
            yield Fault(("estimator",), f"'estimator' belongs to kind: entropy, and this is {which}", True)
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


class TClosenessRequirement(Requirement):
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
    others_as_quasi_identifiers: Others = Field(default=False, description=ABOUT_OTHERS)

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """A hierarchy goes with the hierarchical distance, and says nothing of levels to release."""
        which = given.get("distance", "equal")
        if which == "hierarchical" and "hierarchy" not in given:
            yield Fault((), "missing 'hierarchy': the hierarchical distance needs one, such as {file: ...}", True)
        if which in ("equal", "ordered") and "hierarchy" in given:
            yield Fault(("hierarchy",), f"'hierarchy' belongs to distance: hierarchical, and this is {which}", True)
        if value is not None and value.hierarchy is not None:
            if value.hierarchy.point is not None:
                yield Fault(
                    ("hierarchy", "point"), "a point is two columns, and this attribute is one; use another kind", True
                )
            for field in sorted({"minimum_level", "maximum_level", "weight", "as_"} & value.hierarchy.model_fields_set):
                key = field.rstrip("_")
                why = f"'{key}' is for quasi-identifiers: this hierarchy only measures distances"
                yield Fault(("hierarchy", key), why, True)

    def value_facts(self) -> Iterator[tuple[str, object]]:
        """The hierarchy that groups the values, if there is one."""
        if self.hierarchy is not None:
            yield "hierarchy", self.hierarchy

    def to_dict(self) -> dict[str, Any]:
        """``{name: {parameters}}``, the hierarchy without what only quasi-identifiers have."""
        return self._with(None if self.hierarchy is None else self.hierarchy.to_dict())

    def redacted(self) -> dict[str, Any]:
        """:meth:`to_dict` for a manifest, the hierarchy redacted too."""
        return self._with(None if self.hierarchy is None else self.hierarchy.redacted())

    def _with(self, hierarchy: dict[str, Any] | None) -> dict[str, Any]:
        body = self.model_dump(mode="json", exclude_none=True, exclude={"hierarchy"})
        if hierarchy is not None:
            only = ("minimum_level", "maximum_level", "weight", "as")
            body["hierarchy"] = {key: item for key, item in hierarchy.items() if key not in only}
        return {self.name: body}
