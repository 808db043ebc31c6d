"""A release that is a guarded view: what a spec says of it, and what it cannot stand beside.

The view is computed again whenever a user reads it, so what follows from the rows at hand is refused here: cut
domains, classes of other shapes, releases that are compared or remembered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from kanon_sql.spec.checks import Check, Fault, Part, checked, flag
from kanon_sql.spec.fields import TableName

if TYPE_CHECKING:
    from kanon_sql.spec.model import Spec

__all__ = ["AS_VIEW_KEY", "GuardedView", "release_view_faults"]

AS_VIEW_KEY = "release_view"
"""The field of a spec that holds what ``release: {view: ...}`` says; as a key of its own it is not written."""


class GuardedView(Part):
    """A view that generalizes and suppresses whenever it is read.

    Attributes:
        view: its name.
        accept_sequence_risk: that who reads it before and after a change may compare.
    """

    expected: ClassVar[str] = "{view: NAME, accept_sequence_risk: true}"

    view: TableName = Field(description="The view to create: generalized and suppressed whenever it is read.")
    accept_sequence_risk: Annotated[bool, checked(Check(flag, {"const": True}))] = Field(
        default=False,
        description="Accept that readers can compare what the view shows before and after a change; must be true.",
    )

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler.resolve_ref_schema(handler(core))
        del schema["properties"]["accept_sequence_risk"]["default"]
        schema["required"] = list(schema["properties"])
        return schema

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """No user gets such a view who was not told what it gives away."""
        if value is not None and not value.accept_sequence_risk:
            at_key = "accept_sequence_risk" in given
            yield Fault(
                ("accept_sequence_risk",) if at_key else (),
                "a view shows each change of the source at once, and who reads it before and after can tell whose row "
                "came or went, although both answers satisfy the requirements; publish a table, or write "
                "accept_sequence_risk: true beside view",
            )


def release_view_faults(spec: Spec) -> Iterator[Fault]:
    """What a release cannot have that is a view."""
    if spec.release_view is None:
        return
    table = "; publish a table"
    if spec.source.given and spec.source.table is None:
        why = "a guarded view reads a table or view of its database by name; give the query or file a name there"
        yield Fault(("source",), why, True)
    named = next((item for item in (spec.m_invariance, spec.differential_privacy) if item is not None), None)
    if named is not None:
        yield Fault(("release",), f"{named.name} makes a release of the rows at hand, and a view has none{table}")
    unsupported = [
        ("ledger", spec.ledger is not None, "a ledger compares releases that stay as they are, and a view changes"),
        ("recoding", spec.recoding.save_as is not None, "a view is its own recoding, so there is none to keep"),
        ("recoding", not spec.recoding.is_full_domain, "a view has one level per column, whatever rows come"),
        ("state", spec.state is not None, "a view shows whatever comes by itself, and nothing is kept of it"),
        ("steps", spec.steps is not None, "a view has no steps: a sample, say, would be drawn again by each reader"),
        ("search", spec.search.of_intervals, "a view has levels, and these intervals are cut by the rows at hand"),
    ]
    for key, asked, why in unsupported:
        if asked:
            yield Fault((key,), f"{why}{table}, or leave it out", True)
    if spec.suppression.style == "mask":
        why = "masked rows are a class of their own, which may be too small at another time; use style: drop"
        yield Fault(("suppression", "style"), f"in a view, {why}")
    for name, column in spec.quasi_identifiers.items():
        key, never = column.hierarchy.name, column.hierarchy.never_in_view
        if never is None and column.as_ != "text":
            key = "as"
            never = f"a column is text; what stands beside a label is made while a release is written{table}"
        if never is not None:
            yield Fault(("quasi_identifiers", name, key), f"in a guarded view, {never}", True)
