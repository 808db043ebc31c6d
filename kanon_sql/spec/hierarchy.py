"""The quasi-identifiers of a spec, and what a spec must know of a kind of generalization hierarchy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, GetJsonSchemaHandler
from pydantic.fields import FieldInfo
from pydantic.functional_validators import ModelWrapValidatorHandler
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import CoreSchema

from kanon_sql.registers import HIERARCHIES
from kanon_sql.spec.checks import Check, Fault, Faults, Part, chosen, fail, integer, kind, text, the_number
from kanon_sql.spec.positions import Point
from kanon_sql.spec.release_year import RELEASE_YEAR

__all__ = ["Hierarchy", "QuasiIdentifier", "hierarchies_by_column"]


class Hierarchy(Part):
    """A hierarchy of one kind, as a spec writes it. Each kind has a class of its own, see ``hierarchies.Kind``.

    Its fields are the keys of a spec: the one of its ``name``, which takes what the levels are made of, and options
    that belong to it alone.

    Attributes:
        name: the key.
        place: in lists, where those to try first come first.
        build_by: what its levels are built by, for a page where they are typed; None where they are not.
        drawn: a tree that a user draws can stand for it: it is of texts, and no widths or parts would be lost.
        bounds: what its labels are intervals of; None where they have no ends.
        lists_values: it says in a spec or a file which values there are.
        fixed_height: the height does not depend on what values there are.
        holds_labels: what a spec or a file writes holds labels of the data, or literals.
        in_spec: the spec itself holds labels, which no manifest shows.
        takes_parents: a value may have several rows.
        by_counts: its labels depend on how many rows have each value.
        never_number, never_dimension, never_grows, never_in_ledger, never_in_view, never_among_parties,
            never_in_script, needs_database: why it does not go with ``as: number``, a dimension of a table, a state, a
            ledger, a guarded view, parties, a script, or values without a table, and what to do; None where it does.
    """

    name: ClassVar[str]
    place: ClassVar[int] = 9
    build_by: ClassVar[str | None] = None
    drawn: ClassVar[bool] = False
    bounds: ClassVar[Literal["numbers", "dates"] | None] = None
    lists_values: ClassVar[bool] = False
    fixed_height: ClassVar[bool] = False
    holds_labels: ClassVar[bool] = False
    in_spec: ClassVar[bool] = False
    takes_parents: ClassVar[bool] = False
    by_counts: ClassVar[bool] = False
    never_number: ClassVar[str | None] = None
    never_dimension: ClassVar[str | None] = None
    never_grows: ClassVar[str | None] = None
    never_in_ledger: ClassVar[str | None] = None
    never_in_view: ClassVar[str | None] = None
    never_among_parties: ClassVar[str | None] = None
    never_in_script: ClassVar[str | None] = None
    needs_database: ClassVar[str | None] = None

    @classmethod
    def never_empty(cls) -> tuple[str, ...]:
        """A kind that is named says what its levels are made of."""
        return (cls.name,)

    @property
    def height(self) -> int | None:
        """The level of the top value (level 0 is the value); None when only the data tells."""
        return 1

    @property
    def zone(self) -> str | None:
        """The time zone whose dates its labels are made of; None where they are of none."""
        return None

    @property
    def assumed_type(self) -> tuple[str, str]:
        """The type and the kind of the column that it needs, for a script without a connection."""
        return "VARCHAR", "text"

    @property
    def sortable(self) -> bool:
        """Whether labels sort as their numbers do."""
        return False

    @property
    def names_release_year(self) -> bool:
        """Whether its labels depend on the year of the release."""
        return False

    @property
    def year(self) -> int | None:
        """The year that it is of; None where it depends on none."""
        return None

    def in_year(self, year: int) -> Self:
        """The same, for a release of this year."""
        return self

    def faults(self) -> Iterator[Fault]:
        """What its keys must not say together."""
        yield from ()

    def to_dict(self) -> dict[str, Any]:
        """Its keys as JSON, defaults filled in."""
        return {}

    def redacted(self) -> dict[str, Any]:
        """:meth:`to_dict` for a manifest: no literals of SQL, no labels, no passwords."""
        return self.to_dict()

    @classmethod
    def schema_in(cls, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The JSON Schemas of its keys."""
        cls.model_rebuild()
        found = handler.resolve_ref_schema(handler(cls.__pydantic_core_schema__))
        properties: dict[str, Any] = found.get("properties", {})
        return properties


def _kinds() -> dict[str, type[Hierarchy]]:
    """The kinds that a spec names, by their key."""
    return {name: kind for name, kind in HIERARCHIES.items() if name in kind.model_fields}


# --- Checks --------------------------------------------------------------------------------


# --- The model -----------------------------------------------------------------------------


class QuasiIdentifier(Part):
    """One quasi-identifier: at most one kind of hierarchy, and limits on its levels.

    Without a kind the hierarchy is the value itself, then ``*``. Level 0 is the value.
    """

    expected: ClassVar[str] = "a quasi-identifier, such as {intervals: [5, 10]}"

    hierarchy: SkipJsonSchema[Hierarchy] = Field(description="The hierarchy.")
    parents: Annotated[Literal["one", "several"], chosen("kind of parents")] = Field(
        default="one",
        description="For file and table: several, if a value may have several parents, one row each; one is "
        "chosen for all rows before the search.",
    )
    minimum_level: Annotated[int, integer("a level", 0)] = Field(
        default=0, description="The lowest level that may be released."
    )
    maximum_level: Annotated[int | None, integer("a level", 0)] = Field(
        default=None, description="The highest level that may be released; the top by default."
    )
    as_: Annotated[Literal["text", "bounds", "midpoint", "number"], chosen("form")] = Field(
        default="text",
        alias="as",
        description="The form of the released value: the label; the label with its bounds or midpoint; or, at level "
        "0, the number itself.",
    )
    weight: Annotated[float, the_number("a weight of at least 0", least=0)] = Field(
        default=1.0, description="The weight of this quasi-identifier in the quality metric."
    )

    if TYPE_CHECKING:

        def __init__(self, **given: Any) -> None: ...

    @classmethod
    def keys(cls) -> dict[str, FieldInfo]:
        """Those of the kinds, and what every hierarchy has."""
        own = super().keys()
        del own["hierarchy"]
        return {**{key: field for kind in _kinds().values() for key, field in kind.model_fields.items()}, **own}

    @classmethod
    def never_empty(cls) -> tuple[str, ...]:
        """A kind that is named is never empty."""
        return tuple(_kinds())

    @classmethod
    def made(cls, handler: ModelWrapValidatorHandler[Self], given: Mapping[str, Any]) -> Self:
        """The hierarchy of the kind that is named, and the rest."""
        faults, options = Faults(), super().keys()
        own = {key: value for key, value in given.items() if key in options}
        found = [
            faults.attempt((), kind.model_validate, {key: given[key] for key in kind.model_fields if key in given})
            for name, kind in _kinds().items()
            if name in given
        ]
        hierarchy = next((item for item in found if item is not None), HIERARCHIES["value"]())
        value = faults.attempt((), handler, {**own, "hierarchy": hierarchy})
        faults.finish()
        assert value is not None
        return value

    @classmethod
    def written(cls, value: Any) -> Any:
        """Nothing after the name means: no options."""
        return {} if value is None else value

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """One kind at most; options only for their kind; level limits that leave something."""
        known = _kinds()
        kinds = [key for key in given if key in known]
        for key in kinds[1:]:
            yield Fault(
                (key,), f"a column has one kind of hierarchy, and {kinds[0]!r} is already given; leave one out", True
            )
        for name, declared in known.items():
            for key in declared.model_fields:
                if key in given and name not in given:
                    yield Fault(
                        (key,), f"{key!r} needs {name!r}, which this hierarchy does not have; leave it out", True
                    )
        takers = [name for name, kind in known.items() if kind.takes_parents]
        if given.get("parents") == "several" and not any(name in given for name in takers):
            named = " or ".join(f"a {name!r}" for name in takers)
            why = f"several parents are possible only in {named}, with one row per parent; leave 'parents' out"
            yield Fault(("parents",), why, True)
        if value is not None:
            yield from _limits(value)
            yield from value.hierarchy.faults()

    @property
    def is_listed(self) -> bool:
        """Whether rows of values with their labels are given: in the spec, a file or a table."""
        return self.hierarchy.lists_values or self.table is not None

    @property
    def by_counts(self) -> bool:
        """Whether labels depend on how many rows of the source have each value."""
        return self.hierarchy.by_counts

    @property
    def table(self) -> tuple[str, ...] | None:
        """The table in the database that holds the hierarchy; None where none does."""
        return getattr(self.hierarchy, "table", None)

    @property
    def point(self) -> Point | None:
        """The two columns that the values are made of; None where they are one column's."""
        return getattr(self.hierarchy, "point", None)

    @property
    def names_release_year(self) -> bool:
        """Whether its labels depend on the year of the release."""
        return self.hierarchy.names_release_year

    def in_year(self, year: int) -> Self:
        """The same, for a release of this year."""
        return self.model_copy(update={"hierarchy": self.hierarchy.in_year(year)})

    @property
    def height_hint(self) -> int | None:
        """The level of the top value (level 0 is the value); None when only the data tells.

        A tree with a single outermost label has one level less if that label is its top.
        """
        return self.hierarchy.height

    def to_dict(self) -> dict[str, Any]:
        """JSON that reads back as this quasi-identifier, defaults filled in."""
        return {**self.hierarchy.to_dict(), **self._options()}

    def _options(self) -> dict[str, Any]:
        parents = {} if self.parents == "one" else {"parents": self.parents}
        limits = {"minimum_level": self.minimum_level, "maximum_level": self.maximum_level}
        form = {} if self.as_ == "text" else {"as": self.as_}
        return {**parents, **limits, **form, "weight": self.weight}

    def what_labels(self) -> dict[str, Any]:
        """:meth:`to_dict` with the year of the release, where labels depend on it: what digests are made of."""
        return {**self.to_dict(), **({RELEASE_YEAR: self.hierarchy.year} if self.names_release_year else {})}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler.resolve_ref_schema(handler(core))
        own = {key: item for key, item in schema["properties"].items() if key != "hierarchy"}
        schema.pop("required", None)
        kinds, of_kinds, needs = _kinds(), dict[str, Any](), dict[str, list[str]]()
        for name, declared in kinds.items():
            of_kinds |= declared.schema_in(handler)
            needs |= {key: [name] for key in declared.model_fields if key != name}
        schema["properties"] = {**of_kinds, **own}
        none_given: dict[str, Any] = {"not": {"anyOf": [{"required": [key]} for key in kinds]}}
        schema["oneOf"] = [none_given, *({"required": [key]} for key in kinds)]
        schema["dependentRequired"] = needs
        return {"anyOf": [dict(schema), {"type": "null"}]}

    def redacted(self) -> dict[str, Any]:
        """:meth:`to_dict` for a manifest: no literals of SQL, no labels of trees, no passwords."""
        return {**self.hierarchy.redacted(), **self._options()}


def _limits(value: QuasiIdentifier) -> Iterator[Fault]:
    low, high, top = value.minimum_level, value.maximum_level, value.height_hint
    if high is not None and low > high:
        yield Fault(("minimum_level",), f"minimum_level {low} is above maximum_level {high}")
    for key, level in (("minimum_level", low), ("maximum_level", high)):
        if top is not None and level is not None and level > top:
            yield Fault((key,), f"{key} {level} is above the top, which is level {top}")


@Check
def hierarchies_by_column(value: object) -> dict[str, QuasiIdentifier]:
    """Check columns and their hierarchies, and find all faults at once."""
    if not isinstance(value, Mapping):
        fail(f"expected a mapping of column names to hierarchies, got {kind(value)}")
    if not value:
        fail("expected at least one quasi-identifier, got an empty mapping")
    faults = Faults()
    found = {}
    for name, written in value.items():
        if faults.attempt((name,), text("a column name"), name) is not None:
            found[name] = faults.attempt((name,), QuasiIdentifier.model_validate, written)
    faults.finish()
    return {name: checked for name, checked in found.items() if checked is not None}
