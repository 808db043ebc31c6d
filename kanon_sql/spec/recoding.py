"""The recoding of a spec: whether every row of a column is released at one level, or each class at its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, GetJsonSchemaHandler, WithJsonSchema
from pydantic_core import CoreSchema

from kanon_sql.spec.checks import Fault, Faults, Part, checked, choice, fail, kind, quote, share

if TYPE_CHECKING:
    from kanon_sql.spec.model import Spec

__all__ = ["RecodingOptions", "recoding_faults"]

_METHODS = ("full_domain", "local", "cells")
_EFFORTS = ("fast", "best")
_LEVELS = ("searched", "minimum")

_TAKEN_BY = {"effort": "local", "levels": "cells", "caps": "cells"}
"""Option -> the method that takes it."""


def _caps(value: object) -> dict[str, float]:
    """The shares of cells that may be suppressed, by column."""
    if not isinstance(value, Mapping):
        fail(f"expected a mapping of columns to shares of their cells, got {kind(value)}")
    faults = Faults()
    check = share("a share of the column's cells")
    found = {name: faults.attempt((name,), check, most) for name, most in value.items()}
    faults.finish()
    return {str(name): most for name, most in found.items() if most is not None}


class RecodingOptions(Part):
    """How values are generalized.

    Attributes:
        method: ``full_domain``, one level per column for all rows (Samarati 2001); ``local``, where a value may be
            released at several levels, in different classes (local recoding: Xu et al. 2006); or ``cells``, one level
            per column, and then single cells suppressed (AG_CS of Ciriani et al. 2007).
        effort: for local, how long to look for classes: ``fast``, or ``best`` of several ways; None for others.
        levels: for cells, ``searched``, or the ``minimum`` level of every column (_CS); None for others.
        caps: for cells, the share of a column's cells that may be suppressed, by column; None for others.
    """

    expected: ClassVar[str] = "full_domain, local, cells, or a mapping such as {method: local, effort: best}"

    method: Annotated[Literal["full_domain", "local", "cells"], checked(choice("recoding", _METHODS))] = Field(
        default="full_domain", description="One level per column for all rows, or levels that differ by class."
    )
    effort: Annotated[Literal["fast", "best"] | None, checked(choice("effort", _EFFORTS))] = Field(
        default=None, description="For local: how long to look for classes."
    )
    levels: Annotated[Literal["searched", "minimum"] | None, checked(choice("levels", _LEVELS))] = Field(
        default=None, description="For cells: the level of each column, searched or its minimum level."
    )
    caps: Annotated[
        dict[str, float] | None,
        checked(_caps),
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": "object", "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1}},
                    {"type": "null"},
                ]
            }
        ),
    ] = Field(default=None, description="For cells: column -> the share of its cells that may be suppressed.")

    @classmethod
    def written(cls, value: Any) -> Any:
        """A name alone is the method; local is fast, and cells searches levels, unless it says otherwise."""
        found = {"method": value} if isinstance(value, str) else value
        for method, option, default in (("local", "effort", "fast"), ("cells", "levels", "searched")):
            if isinstance(found, Mapping) and found.get("method") == method and found.get(option) is None:
                return {**found, option: default}
        return found

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """What a method does not take."""
        method = given.get("method", "full_domain")
        for option, taker in _TAKEN_BY.items():
            if option in given and method in _METHODS and method != taker:
                reason = "full_domain searches as 'search' says; " if method == "full_domain" else ""
                yield Fault((option,), f"{reason}only the method {taker} takes it", True)

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"anyOf": [{"enum": list(_METHODS)}, handler.resolve_ref_schema(handler(core))]}

    @property
    def is_full_domain(self) -> bool:
        """Whether one node of the lattice describes the release; else labels differ by class."""
        return self.method == "full_domain"

    def to_dict(self) -> str | dict[str, Any]:
        """As a spec has it."""
        options = self.model_dump(exclude_none=True)
        return options if len(options) > 1 else self.method


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
    for name in spec.recoding.caps or ():
        if name not in spec.quasi_identifiers:
            why = f"{quote(name)} is no quasi-identifier; only their cells are suppressed"
            yield Fault(("recoding", "caps", name), why, True)
    if spec.recoding.levels == "minimum":
        for name, column in spec.quasi_identifiers.items():
            if column.maximum_level is not None and column.maximum_level != column.minimum_level:
                why = "with levels: minimum every column stays at its minimum level; leave maximum_level out"
                yield Fault(("quasi_identifiers", name, "maximum_level"), why, True)
