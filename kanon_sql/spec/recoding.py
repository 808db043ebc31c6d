"""The recoding of a spec: whether every row of a column is released at one level, or each class at its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from kanon_sql.spec.checks import Fault, Part, checked, choice

if TYPE_CHECKING:
    from kanon_sql.spec.model import Spec

__all__ = ["RecodingOptions", "recoding_faults"]

_METHODS = ("full_domain", "local")
_EFFORTS = ("fast", "best")


class RecodingOptions(Part):
    """How values are generalized.

    Attributes:
        method: ``full_domain``, one level per column for all rows (Samarati 2001), or ``local``, where a value may be
            released at several levels, in different classes (local recoding: Xu et al. 2006).
        effort: for local, how long to look for classes: ``fast``, or ``best`` of several ways; None for full_domain.
    """

    expected: ClassVar[str] = "full_domain, {method: local, effort: fast} or {method: local, effort: best}"

    method: Annotated[Literal["full_domain", "local"], checked(choice("recoding", _METHODS))] = Field(
        default="full_domain", description="One level per column for all rows, or levels that differ by class."
    )
    effort: Annotated[Literal["fast", "best"] | None, checked(choice("effort", _EFFORTS))] = Field(
        default=None, description="For local: how long to look for classes."
    )

    @classmethod
    def written(cls, value: Any) -> Any:
        """A name alone is the method; local is fast unless it says otherwise."""
        found = {"method": value} if isinstance(value, str) else value
        if isinstance(found, Mapping) and found.get("method") == "local" and found.get("effort") is None:
            return {**found, "effort": "fast"}
        return found

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """What a method does not take."""
        if "effort" in given and given.get("method", "full_domain") == "full_domain":
            yield Fault(("effort",), "full_domain searches as 'search' says; only the method local takes it", True)

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"anyOf": [{"enum": list(_METHODS)}, handler.resolve_ref_schema(handler(core))]}

    @property
    def is_full_domain(self) -> bool:
        """Whether one node of the lattice describes the release; else labels differ by class."""
        return self.method == "full_domain"

    def to_dict(self) -> str | dict[str, str]:
        """As a spec has it."""
        return {"method": self.method, "effort": self.effort} if self.effort else self.method


def recoding_faults(spec: Spec) -> Iterator[Fault]:
    """What a spec with local recoding cannot have."""
    if spec.recoding.is_full_domain:
        return
    if spec.search.of_intervals:
        why = (
            f"{spec.search.algorithm} cuts the domains into intervals for all rows alike, which is full-domain "
            "recoding; with recoding: local, leave it out"
        )
        yield Fault(("search", "algorithm"), why, True)
    if spec.ledger is not None:
        why = (
            "a ledger makes earlier releases again from their levels, and a local recoding has no levels that would "
            "hold for all rows; with a ledger, use recoding: full_domain"
        )
        yield Fault(("ledger",), why, True)
