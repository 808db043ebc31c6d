"""A release that is a guarded view: what a spec says of it, and what it cannot stand beside.

The view is computed again whenever a user reads it, so what follows from the rows at hand is refused here: cut
domains, classes of other shapes, releases that are compared or remembered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from kanon_sql.spec.checks import Check, Fault, Part, flag
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

    view: TableName = Field(description="The view to create, which generalizes and suppresses on every read.")
    accept_sequence_risk: Annotated[bool, Check(flag, {"const": True})] = Field(
        default=False,
        description="Must be true: accepts the risk that readers compare the view before and after a change.",
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
                "a view shows each change of the source at once, so a reader can compare two answers and learn whose "
                "row was added or removed, although both satisfy the requirements; publish a table, or add "
                "accept_sequence_risk: true next to view",
            )


def release_view_faults(spec: Spec) -> Iterator[Fault]:
    """What a release cannot have that is a view."""
    if spec.release_view is None:
        return
    table = "; publish a table"
    if spec.source.given and spec.source.table is None:
        why = "a guarded view needs a table or view of its database as source; create one from the query or file"
        yield Fault(("source",), why, True)
    named = next((item for item in (spec.m_invariance, spec.differential_privacy) if item is not None), None)
    if named is not None:
        yield Fault(
            ("release",), f"{named.name} needs the rows of one moment, and a view changes with its source{table}"
        )
    unsupported = [
        (
            "ledger",
            spec.ledger is not None,
            "a ledger compares unchanging releases, and a view changes with its source",
        ),
        ("recoding", spec.recoding.save_as is not None, "a view already applies the recoding to new rows"),
        ("recoding", not spec.recoding.is_full_domain, "a view has one level per column for all rows"),
        ("state", spec.state is not None, "a view shows new rows by itself and keeps nothing"),
        (
            "steps",
            spec.steps is not None,
            "a view has no release steps: each reader would draw another sample, for example",
        ),
        (
            "search",
            spec.search.of_intervals,
            "a view needs fixed levels, and these intervals depend on the rows of one moment",
        ),
    ]
    for key, asked, why in unsupported:
        if asked:
            yield Fault((key,), f"{why}{table}, or leave it out", True)
    if spec.suppression.style == "mask":
        why = "masked rows form a class that may become too small later; use style: drop"
        yield Fault(("suppression", "style"), f"in a view, {why}")
    for name, column in spec.quasi_identifiers.items():
        key, never = column.hierarchy.name, column.hierarchy.never_in_view
        if never is None and column.as_ != "text":
            key = "as"
            never = f"its columns are text, without columns computed from labels{table}"
        if never is not None:
            yield Fault(("quasi_identifiers", name, key), f"in a guarded view, {never}", True)
