"""A release that grows: where its state is kept, how new rows are known, and what such a release cannot have.

A reader who keeps every version can subtract one from the next. So what a refresh adds is released as if it stood
alone, and what may be asked for is what unions of classes inherit from the classes: sizes, and diversity of values. A
requirement that compares with the whole table would be judged by another table every day.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from kanon_sql.spec.checks import Fault, Faults, Part, chosen, did_you_mean, shaped
from kanon_sql.spec.fields import TABLE_NAME, ColumnName, table_name
from kanon_sql.spec.requirement import Requirement

if TYPE_CHECKING:
    from kanon_sql.spec.model import Spec

__all__ = ["IncrementOptions", "StateSchema", "state_faults"]


@shaped(
    {
        "anyOf": [
            *TABLE_NAME["anyOf"],
            {
                "type": "object",
                "properties": {"schema": TABLE_NAME},
                "required": ["schema"],
                "additionalProperties": False,
            },
        ]
    }
)
def _state_schema(value: object) -> tuple[str, ...]:
    """The schema that a spec names, by itself or as ``{schema: NAME}``."""
    if not isinstance(value, Mapping):
        return table_name(value)
    faults = Faults()
    for key in value:
        if key != "schema":
            faults.add((key,), f"unknown key{did_you_mean(str(key), ['schema'])}", at_key=True)
    if "schema" not in value:
        faults.add((), "missing 'schema', where the state is kept, such as kanon_state", at_key=True)
    found = faults.attempt(("schema",), table_name, value["schema"]) if "schema" in value else None
    faults.finish()
    assert found is not None
    return found


StateSchema = Annotated[tuple[str, ...] | None, _state_schema]
"""Where what later refreshes need is kept between runs, as sensitive as the source: a schema, by its name parts."""


class IncrementOptions(Part):
    """How a refresh knows new rows, and what it does when the levels no longer fit.

    Attributes:
        watermark: a column that is larger in every later row, such as a day of arrival; None where new rows come as
            tables.
        on_drift: what to do when more rows would wait than ``suppression`` allows: ``hold`` the levels and let
            them wait, ``coarsen`` to the best levels above for the rows that wait, or ``research`` the best levels
            above for all rows.
    """

    expected: ClassVar[str] = "{watermark: day, on_drift: hold}"

    watermark: ColumnName | None = Field(
        default=None, description="The column whose values increase with every new row."
    )
    on_drift: Annotated[Literal["hold", "coarsen", "research"], chosen("reaction to drift")] = Field(
        default="hold", description="What to do if more rows would wait than 'suppression' allows."
    )


def state_faults(spec: Spec) -> Iterator[Fault]:
    """What a spec with a state cannot have."""
    if spec.increments is not None and spec.state is None:
        why = "increments need a state; add state: {schema: kanon_state}, a schema that no other user may read"
        yield Fault(("increments",), why, True)
    if spec.state is None:
        return
    if spec.release is None:
        why = "a state needs a release that is a table; write release: NAME"
        yield Fault(("state",), why, True)
    for position, requirement in enumerate(spec.privacy):
        if (unfit := _unfit(requirement)) is not None:
            yield Fault(("privacy", position, requirement.name), unfit, True)
    yield from _section_faults(spec)
    yield from _column_faults(spec)


def _unfit(requirement: Requirement) -> str | None:
    """Why a requirement is not inherited by a union of classes from the classes; None where it is."""
    if getattr(requirement, "grouped_by", None) is not None or requirement.groups_by_others:
        what = "others_as_quasi_identifiers" if requirement.groups_by_others else "this list"
        return f"with a state, requirements apply to the classes of all quasi-identifiers; leave {what} out"
    return requirement.never_grows


def _section_faults(spec: Spec) -> Iterator[Fault]:
    """Sections that say how classes are made, or what else is kept of releases."""
    if not spec.recoding.is_full_domain or spec.recoding.save_as is not None:
        why = (
            "a refresh gives new rows the labels of the release, with one level per column, but recoding: "
            f"{spec.recoding.method} makes classes for the rows of one day, and those of two days may overlap; with a "
            "state, use recoding: full_domain"
        )
        if spec.recoding.is_full_domain:
            why = "the state already holds the levels; leave 'save_as' out"
        yield Fault(("recoding",), why, True)
    if spec.search.of_intervals:
        why = (
            f"{spec.search.algorithm} derives its intervals from the values of one day; with a state, use another "
            "algorithm"
        )
        yield Fault(("search", "algorithm"), why, True)
    if spec.ledger is not None:
        why = "a ledger recomputes earlier releases from an unchanged source; with a state, leave it out"
        yield Fault(("ledger",), why, True)
    if spec.steps is not None:
        why = "release steps apply to a whole table; with a state, apply them in a view, and use the view as source"
        yield Fault(("steps",), why, True)
    if spec.suppression.style == "mask":
        why = (
            "a suppressed row waits until it can be released; if it were masked before, a reader could follow it; "
            "with a state, use style: drop"
        )
        yield Fault(("suppression", "style"), why, True)


def _column_faults(spec: Spec) -> Iterator[Fault]:
    """Columns by which a day's rows would be known again, or whose labels may change unseen."""
    watermark = None if spec.increments is None else spec.increments.watermark
    shown = {"sensitive": spec.sensitive, "keep": spec.keep}
    for key, names in shown.items():
        if watermark in names:
            why = (
                f"{watermark!r} shows when a row was added, and is released unchanged: an attacker who knows when a "
                "person was added would find the row; leave it out, or make it a quasi-identifier"
            )
            yield Fault((key,), why, True)
    for name, column in spec.quasi_identifiers.items():
        if column.hierarchy.never_grows is not None:
            yield Fault(("quasi_identifiers", name, column.hierarchy.name), column.hierarchy.never_grows, True)
        if column.as_ != "text":
            why = "a refresh adds rows by their labels, which are text; with a state, convert them to numbers in a view"
            yield Fault(("quasi_identifiers", name, "as"), why, True)
        if column.parents == "several":
            why = "the parent of a value is chosen from the rows of one day; with a state, give each value one parent"
            yield Fault(("quasi_identifiers", name, "parents"), why, True)
