"""What a requirement of a spec is: the keys under which it asks for a privacy model, and what is said of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import GetJsonSchemaHandler
from pydantic_core import CoreSchema

from kanon_sql.spec.checks import Fault, Part, chosen, did_you_mean, items, quote, shaped, text
from kanon_sql.spec.fields import Flag

__all__ = [
    "ABOUT_ATTRIBUTE",
    "ABOUT_COLUMNS",
    "ABOUT_OTHERS",
    "ABOUT_REFERENCE",
    "LISTED",
    "Attribute",
    "Columns",
    "Form",
    "Others",
    "Reference",
    "Requirement",
    "Values",
    "one_grouping",
]

Attribute = Annotated[str, text("the name of a sensitive attribute")]
ABOUT_ATTRIBUTE = "The sensitive attribute to protect."

Reference = Annotated[Literal["original", "release"], chosen("reference distribution")]
ABOUT_REFERENCE = "The distribution to compare with: that of the source, or of the release."


@shaped({"anyOf": [{"type": "string"}, {"type": "integer"}]})
def _value(value: object) -> str:
    """A value of a column, as text: how the database writes it."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and not value.strip():
        return value  # a blank text is a value too
    return text("a value of the attribute")(value)


Values = Annotated[tuple[str, ...] | None, items("values", _value, least=1)]
"""Values of a sensitive attribute, as the database writes them as text."""

Columns = Annotated[tuple[str, ...] | None, items("quasi-identifiers", text("a column name"), least=1)]
ABOUT_COLUMNS = "Group by these quasi-identifiers only; by all of them by default."
Others = Flag
ABOUT_OTHERS = "Whether to treat the other sensitive attributes as quasi-identifiers too."


LISTED = ("values", "allow_positive", "forbid_negative")
"""The parameters that list values of a sensitive attribute."""


class Form(NamedTuple):
    """One way to write a requirement, as the documentation lists it.

    Attributes:
        written: an item of ``privacy``, in YAML.
        asks: what every class has then, after the words "every class has".
        source: of the literature.
    """

    written: str
    asks: str
    source: str


class Requirement(Part):
    """A requirement, written as a mapping with its name as the only key. Each has a class of its own.

    Attributes:
        name: the key.
        forms: how it is written, with what it asks then, for the documentation.
        definition: what it promises, in a sentence for a reader who knows no formulas; None for none.
        not_certified: why no certificate claims it; None where a definition in plain SQL stands there, or where the
            requirement is not of this package.
        judged_by_table: a look at one table tells whether it holds.
        never_in_ledger: why it cannot be asked of releases together; None where it can.
        counts_persons: whether it is defined for persons with several rows each (``unit``).
    """

    name: ClassVar[str]
    forms: ClassVar[tuple[Form, ...]] = ()
    definition: ClassVar[str | None] = None
    not_certified: ClassVar[str | None] = None
    judged_by_table: ClassVar[bool] = True
    never_in_ledger: ClassVar[str | None] = None
    counts_persons: ClassVar[bool] = True

    if TYPE_CHECKING:

        @property
        def attribute(self) -> str | None:
            """The sensitive attribute; None where it is about quasi-identifiers alone."""

    @property
    def attribute_key(self) -> str:
        """The parameter that names the sensitive attribute."""
        return "attribute"

    @property
    def grouped_by(self) -> tuple[str, ...] | None:
        """The quasi-identifiers that its classes are made by; None for all of the spec."""
        return getattr(self, "quasi_identifiers", None)

    @property
    def groups_by_others(self) -> bool:
        """Whether its classes are made by the other sensitive attributes too."""
        return getattr(self, "others_as_quasi_identifiers", False)

    @property
    def rows_only(self) -> str | None:
        """What of it is defined for rows alone, in a spec's words; None where it is defined for persons too."""
        return None if self.counts_persons else self.name

    @property
    def never_grows(self) -> str | None:
        """Why a union of classes does not inherit it from the classes, so that no release grows; None where it does."""
        return (
            "a growing release needs requirements that a union of satisfying classes satisfies: k_anonymity, "
            f"l_diversity, alpha_k_anonymity or p_sensitive_k_anonymity. {self.name} compares with a table that grows, "
            "so published rows could violate it later; use one of these, or release without a state"
        )

    @property
    def identity(self) -> tuple[object, ...]:
        """Two requirements of a spec with the same one ask for the same thing, maybe with other thresholds."""
        own = ("variant", "distance", "population", "person", "background")
        return (self.name, self.attribute, *(getattr(self, key, None) for key in own), self.groups_by_others)

    def value_facts(self) -> Iterator[tuple[str, object]]:
        """What it says of an attribute's values, which is looked up once for all requirements of its name."""
        for key in LISTED:
            yield key, frozenset(getattr(self, key, None) or ())

    def misfits(self, quasi_identifiers: Sequence[str], sensitive: Sequence[str], unit: object) -> Iterator[Fault]:
        """What is wrong with it in a spec with these columns; places are relative to its parameters."""
        if unit is not None and self.rows_only is not None:
            yield Fault(
                (),
                f"{self.rows_only} is defined for rows: the sensitive values of a person with several rows have "
                "shares that do not add up to 1; leave 'unit' out to protect rows, or use l_diversity or t_closeness",
                True,
            )
        for position, name in enumerate(self.grouped_by or ()):
            if name not in quasi_identifiers:
                hint = did_you_mean(name, quasi_identifiers)
                yield Fault(("quasi_identifiers", position), f"{quote(name)} is no quasi-identifier{hint}")
        if self.groups_by_others and len(sensitive) < 2:
            why = "there is no other sensitive attribute; leave this out"
            yield Fault(("others_as_quasi_identifiers",), why, True)

    def to_dict(self) -> dict[str, Any]:
        """``{name: {parameters}}``, which reads back as this requirement."""
        return {self.name: self.model_dump(mode="json", exclude_none=True)}

    def redacted(self) -> dict[str, Any]:
        """:meth:`to_dict` for a manifest: of values that it lists only how many."""
        body = self.to_dict()[self.name]
        return {self.name: {**body, **{key: {"values": len(body[key])} for key in LISTED if key in body}}}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        if cls is Requirement:
            return {}  # the schema of a spec lists those that there are
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


def one_grouping(given: Mapping[str, Any]) -> Iterator[Fault]:
    """Classes are made by fewer attributes or by more of them, not by both."""
    if given.get("others_as_quasi_identifiers") is True and given.get("quasi_identifiers") is not None:
        why = "'others_as_quasi_identifiers' needs all quasi-identifiers; leave 'quasi_identifiers' out"
        yield Fault(("others_as_quasi_identifiers",), why, True)
