"""The ledger of a spec: where releases are recorded, and what happens when two together tell too much."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from kanon_sql.spec.checks import Fault, Part, chosen
from kanon_sql.spec.fields import TABLE_NAME, TableName
from kanon_sql.spec.names import folded
from kanon_sql.spec.requirement import LISTED

if TYPE_CHECKING:
    from kanon_sql.spec.model import Spec

__all__ = ["LedgerOptions", "ledger_faults", "name_faults"]


class LedgerOptions(Part):
    """Where what is published is recorded, so that later releases of the same table are compared with it.

    Attributes:
        table: the ledger's table; it is made by the first release.
        on_conflict: ``refuse`` a release that together with earlier ones breaks a requirement, or
            ``coarsen`` it: search again at the levels that earlier releases have, or above.
    """

    expected: ClassVar[str] = "{table: kanon_sql_ledger, on_conflict: refuse} or the table's name"

    table: TableName = Field(description="The table that records all releases.")
    on_conflict: Annotated[Literal["refuse", "coarsen"], chosen("reaction to a conflict")] = Field(
        default="refuse", description="What to do if the releases together violate a requirement."
    )

    @classmethod
    def written(cls, value: Any) -> Any:
        """A name alone is the table."""
        return {"table": value} if isinstance(value, str | list | tuple) else value

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"anyOf": [*TABLE_NAME["anyOf"], handler.resolve_ref_schema(handler(core))]}


def name_faults(
    ledger: LedgerOptions, source: tuple[str, ...] | None, release: tuple[str, ...] | None
) -> Iterator[Fault]:
    """A ledger that would replace the source, or be replaced by the release."""
    for what, name in (("source", source), ("release", release)):
        if name is not None and folded(name) == folded(ledger.table):
            yield Fault(("ledger",), f"the ledger has the {what}'s name; choose another one", True)


def ledger_faults(spec: Spec) -> Iterator[Fault]:
    """What a spec with a ledger cannot have."""
    assert spec.ledger is not None
    yield from name_faults(spec.ledger, spec.source.table, spec.release)
    if spec.search.of_intervals:
        why = (
            f"{spec.search.algorithm} derives its intervals from the data, which a ledger cannot recompute; with a "
            "ledger, use another algorithm"
        )
        yield Fault(("search", "algorithm"), why, True)
    for column, quasi_identifier in spec.quasi_identifiers.items():
        hierarchy = quasi_identifier.hierarchy
        if hierarchy.never_in_ledger is not None:
            yield Fault(("quasi_identifiers", column, hierarchy.name), hierarchy.never_in_ledger, True)
    for position, requirement in enumerate(spec.privacy):
        loc = ("privacy", position, requirement.name)
        if getattr(requirement, "reference", None) == "release":
            why = "with a ledger there are several releases; use reference: original"
            yield Fault((*loc, "reference"), why)
        if getattr(requirement, "population", None) is not None:
            why = (
                "a ledger judges releases by their joint classes, and cannot count a population in these; use another "
                "requirement"
            )
            yield Fault((*loc, "population"), why)
        if requirement.never_in_ledger is not None:
            yield Fault(loc, requirement.never_in_ledger, True)
        if getattr(requirement, "quasi_identifiers", None) is not None:
            why = "a ledger judges releases by the classes of all quasi-identifiers; leave this list out"
            yield Fault((*loc, "quasi_identifiers"), why, True)
        if requirement.groups_by_others:
            why = "a ledger judges releases by the classes of all quasi-identifiers alone; leave this out"
            yield Fault((*loc, "others_as_quasi_identifiers"), why, True)
        if getattr(requirement, "combinations", None) is not None:
            why = (
                "a ledger judges releases by the classes of all quasi-identifiers; leave 'combinations' out: then it "
                "implies what this asks for"
            )
            yield Fault((*loc, "combinations"), why, True)
        for key in (*LISTED, "hierarchy"):
            if getattr(requirement, key, None) is not None:
                why = "a ledger holds no values, so it cannot check this for later releases; use another requirement"
                yield Fault((*loc, key), why, True)
