"""m-invariance of a sequence of releases: what a spec says of it, and what it cannot stand beside.

After Xiao and Tao ("m-Invariance", SIGMOD 2007): every class of a release has at least m rows, no two of them with one
sensitive value, and anyone who is released again is in a class with the same set of sensitive values. That is a
property of a table and of all that were released before it, so a spec names where these are remembered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import Field

from kanon_sql.spec.checks import Fault, Loc, did_you_mean, integer, quote
from kanon_sql.spec.fields import TableName
from kanon_sql.spec.names import format_table_name
from kanon_sql.spec.recoding import RecodingOptions
from kanon_sql.spec.requirement import (
    ABOUT_ATTRIBUTE,
    Attribute,
    Columns,
    Form,
    Requirement,
)
from kanon_sql.spec.sections import SearchOptions

if TYPE_CHECKING:
    from kanon_sql.spec.model import Spec

__all__ = [
    "CLASS_COLUMN",
    "COUNTERFEITS_COLUMN",
    "SIGNATURE_COLUMN",
    "MInvarianceRequirement",
    "m_invariance_faults",
    "m_invariance_in",
]

CLASS_COLUMN, COUNTERFEITS_COLUMN = "class_number", "counterfeits"
"""What an m-invariant release has besides the columns of the spec, as the paper publishes it: the number of a row's
class, and how many rows of the class are no person's."""

SIGNATURE_COLUMN = "signature"
"""What a history has besides the class, the person and the sensitive value: the number of the class's set of values."""


class MInvarianceRequirement(Requirement):
    """The release is m-invariant with all earlier ones of its history.

    Attributes:
        attribute: the sensitive attribute.
        m: how many rows, all with different sensitive values, a class has at least.
        history: the table, beside the release, that remembers who was released with which values; the first release
            of a sequence makes it.
        ranges: the quasi-identifiers that are released as ranges of their values; None for none.
    """

    name: ClassVar[str] = "m_invariance"
    forms: ClassVar[tuple[Form, ...]] = (
        Form(
            "m_invariance: {attribute: diagnosis, m: 3, history: visits_history}",
            "m rows with different values each, and for a person who was released before the same set of values: "
            "[a page of its own](../how-to/ledger.md#when-the-table-changes)",
            "Xiao, Tao 2007",
        ),
    )
    expected: ClassVar[str] = "{attribute: ..., m: 2, history: visits_history}"
    judged_by_table: ClassVar[bool] = False
    not_certified: ClassVar[str] = "it is a property of a sequence of releases"

    attribute: Attribute = Field(description=ABOUT_ATTRIBUTE)
    m: Annotated[int, integer("m", 2)] = Field(
        description="The smallest number of rows of a class; all have different sensitive values."
    )
    history: TableName = Field(
        description="The table that records which persons were released with which values, in the release's schema."
    )

    ranges: Columns = Field(
        default=None,
        description="The quasi-identifiers to release as ranges of their values instead of hierarchy labels.",
    )

    @property
    def in_ranges(self) -> tuple[str, ...]:
        """The quasi-identifiers that are released as ranges."""
        return self.ranges or ()

    @property
    def notation(self) -> str:
        """Such as ``2-invariance of disease``."""
        return f"{self.m}-invariance of {self.attribute}"

    def misfits(self, quasi_identifiers: Sequence[str], sensitive: Sequence[str], unit: object) -> Iterator[Fault]:
        """It is about persons, who are known again."""
        if unit is None:
            why = (
                f"{self.name} follows persons over several releases; set 'unit' to the column that identifies them (it "
                "is not released)"
            )
            yield Fault((), why, True)
        for position, name in enumerate(self.in_ranges):
            if name not in quasi_identifiers:
                hint = did_you_mean(name, quasi_identifiers)
                yield Fault(("ranges", position), f"{quote(name)} is no quasi-identifier{hint}")
        if len(set(sensitive)) > 1:
            why = (
                f"{self.name} protects one sensitive attribute, and values of another one could reveal persons; leave "
                "the others out"
            )
            yield Fault((), why, True)

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """A history is kept beside the release."""
        if value is not None and len(value.history) > 1:
            why = "expected the name of a table without a schema: the history is in the release's schema"
            yield Fault(("history",), why)

    def to_dict(self) -> dict[str, Any]:
        """``{name: {parameters}}``, which reads back as this requirement."""
        return {
            self.name: {**self.model_dump(mode="json", exclude_none=True), "history": format_table_name(self.history)}
        }


def m_invariance_in(privacy: Sequence[Requirement]) -> MInvarianceRequirement | None:
    """The requirement of that name among others; None where there is none."""
    return next((item for item in privacy if isinstance(item, MInvarianceRequirement)), None)


def m_invariance_faults(spec: Spec) -> Iterator[Fault]:
    """What an m-invariant release cannot have."""
    for position, requirement in enumerate(spec.privacy):
        if isinstance(requirement, MInvarianceRequirement):
            loc = ("privacy", position, requirement.name)
            if len(spec.privacy) > 1:
                why = (
                    "it cannot be combined with other requirements: some released rows are counterfeits, which belong "
                    "to no person; leave the others out"
                )
                yield Fault(loc, why, True)
            for what, named in (("source", spec.source.table), ("release", spec.release)):
                if named is not None and named[-1].casefold() == requirement.history[-1].casefold():
                    yield Fault((*loc, "history"), f"the history has the {what}'s name; choose another one")
            yield from _section_faults(spec)
            yield from _column_faults(spec)
            for place, column in enumerate(requirement.in_ranges):
                item = spec.quasi_identifiers.get(column)
                if item is not None and item.minimum_level:
                    why = "a range has no level; leave 'minimum_level' out, or remove the column from 'ranges'"
                    yield Fault((*loc, "ranges", place), why)
            return


def _section_faults(spec: Spec) -> Iterator[Fault]:
    """Sections that say how classes are made, or which rows go."""
    name = MInvarianceRequirement.name
    if spec.ledger is not None:
        why = (
            f"a ledger compares releases of an unchanged table by the levels of their columns, but {name} has its own "
            "history, and its labels differ by class. Leave the ledger out"
        )
        yield Fault(("ledger",), why, True)
    if spec.recoding != RecodingOptions():
        why = f"{name} makes its own classes, from the earlier released values of each person; leave 'recoding' out"
        yield Fault(("recoding",), why, True)
    if spec.search != SearchOptions():
        why = f"{name} makes classes and does not search levels; leave 'search' out"
        yield Fault(("search",), why, True)
    if spec.suppression.allows_some or spec.suppression.style == "mask":
        why = (
            f"with {name} every person is released, since a missing person would reveal a too frequent value; leave "
            "'suppression' out"
        )
        yield Fault(("suppression",), why, True)
    fatal = [code for code in spec.warnings.fatal if code != "readable_by_others"]
    if fatal:
        why = f"with {name} only the warning readable_by_others is computed; leave the other errors out"
        yield Fault(("warnings", fatal[0]), why)
    if spec.nulls == "suppress":
        why = f"with {name} every person is released; use nulls: value, or filter rows in a source query"
        yield Fault(("nulls",), why)


def _column_faults(spec: Spec) -> Iterator[Fault]:
    """Columns that would tell a counterfeit from a person, and limits that a class may not be able to keep."""
    name = MInvarianceRequirement.name
    if spec.keep:
        why = (
            f"with {name} some rows belong to no person and would have no value in this column, which would reveal "
            "them; leave it out"
        )
        yield Fault(("keep",), why, True)
    taken = {CLASS_COLUMN, COUNTERFEITS_COLUMN, SIGNATURE_COLUMN}
    columns: list[tuple[Loc, str]] = [(("quasi_identifiers", column), column) for column in spec.quasi_identifiers]
    columns += [(("sensitive",), column) for column in spec.sensitive]
    columns += [(("unit",), column) for column in (spec.unit,) if column is not None]
    for loc, column in columns:
        if column.casefold() in taken:
            why = f"{name} adds a column {column.casefold()!r}; rename yours in a source query"
            yield Fault(loc, why, True)
    for column, item in spec.quasi_identifiers.items():
        if item.parents == "several":
            why = "m_invariance does not choose among several parents; give each value one row"
            yield Fault(("quasi_identifiers", column, "parents"), why, True)
        if item.maximum_level is not None:
            why = f"with {name} a class gets the labels that its rows share, at any level; leave it out"
            yield Fault(("quasi_identifiers", column, "maximum_level"), why, True)
