"""The recoding of a spec: whether every row of a column is released at one level, or each class at its own."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, get_args, get_origin

from pydantic import Field, GetJsonSchemaHandler, ValidationError, WithJsonSchema
from pydantic_core import CoreSchema

from kanon_sql.errors import Problem, SpecError
from kanon_sql.spec.checks import Fault, Faults, Part, checked, choice, did_you_mean, fail, kind, quote, share

if TYPE_CHECKING:
    from kanon_sql.spec.model import Spec

__all__ = ["RecodingOptions", "level_faults", "parse_recoding", "recoding_faults"]

_METHODS = ("full_domain", "local", "mondrian", "cells", "microaggregation")
_EFFORTS = ("fast", "best")
_VARIANTS = ("strict", "relaxed")
_LEVELS = ("searched", "minimum")
_AGGREGATES = ("mean", "median", "mode")

_TAKEN_BY = {
    "effort": "local",
    "variant": "mondrian",
    "levels": "cells",
    "caps": "cells",
    "columns": "microaggregation",
}
"""Option -> the method that takes it."""

_USUAL = {"local": ("effort", "fast"), "mondrian": ("variant", "strict"), "cells": ("levels", "searched")}
"""Method -> the option that it always has, and what it is unless the spec says otherwise."""


def _caps(value: object) -> dict[str, float]:
    """The shares of cells that may be suppressed, by column."""
    if not isinstance(value, Mapping):
        fail(f"expected a mapping of columns to shares of their cells, got {kind(value)}")
    faults = Faults()
    check = share("a share of the column's cells")
    found = {name: faults.attempt((name,), check, most) for name, most in value.items()}
    faults.finish()
    return {str(name): most for name, most in found.items() if most is not None}


def _aggregates(value: object) -> dict[str, str]:
    """What the values of a class are replaced by, by column."""
    if not isinstance(value, Mapping):
        fail(f"expected a mapping of columns to {', '.join(_AGGREGATES)}, got {kind(value)}")
    if not value:
        fail("expected at least one column, such as {income: mean}")
    faults = Faults()
    check = choice("aggregate", _AGGREGATES)
    found = {str(name): faults.attempt((name,), check, item) for name, item in value.items()}
    faults.finish()
    return {name: str(item) for name, item in found.items()}


class RecodingOptions(Part):
    """How values are generalized.

    Attributes:
        method: ``full_domain``, one level per column for all rows (Samarati 2001); ``local``, where a value may be
            released at several levels, in different classes (local recoding: Xu et al. 2006); ``mondrian``, where
            classes are made by median cuts and released as ranges (multidimensional recoding: LeFevre et al. 2006); or
            ``cells``, one level per column, and then single cells suppressed (AG_CS of Ciriani et al. 2007); or
            ``microaggregation``, where numbers are replaced by one of their class (Domingo-Ferrer, Mateo-Sanz 2002).
        effort: for local, how long to look for classes: ``fast``, or ``best`` of several ways; None for others.
        variant: for mondrian: ``strict``, all rows of a value on one side, or ``relaxed``; None for others.
        levels: for cells, ``searched``, or the ``minimum`` level of every column (_CS); None for others.
        caps: for cells, the share of a column's cells that may be suppressed, by column; None for others.
        columns: for microaggregation, ``mean``, ``median`` or ``mode``, by column; None for others.
    """

    expected: ClassVar[str] = (
        "full_domain, local, mondrian, cells, or a mapping such as {method: local, effort: best} or "
        "{method: microaggregation, columns: {income: mean}}"
    )

    method: Annotated[
        Literal["full_domain", "local", "mondrian", "cells", "microaggregation"], checked(choice("recoding", _METHODS))
    ] = Field(default="full_domain", description="One level per column for all rows, or levels that differ by class.")
    effort: Annotated[Literal["fast", "best"] | None, checked(choice("effort", _EFFORTS))] = Field(
        default=None, description="For local: how long to look for classes."
    )
    variant: Annotated[Literal["strict", "relaxed"] | None, checked(choice("variant", _VARIANTS))] = Field(
        default=None, description="For mondrian: whether all rows of a value are on one side of a cut."
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
    columns: Annotated[
        dict[str, str] | None,
        checked(_aggregates),
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": "object", "minProperties": 1, "additionalProperties": {"enum": list(_AGGREGATES)}},
                    {"type": "null"},
                ]
            }
        ),
    ] = Field(default=None, description="For microaggregation: column -> what its values are replaced by in a class.")

    @classmethod
    def written(cls, value: Any) -> Any:
        """A name alone is the method; local is fast, mondrian strict, and cells searches levels, unless they say so."""
        found = {"method": value} if isinstance(value, str) else value
        for method, (option, usual) in _USUAL.items():
            if isinstance(found, Mapping) and found.get("method") == method and found.get(option) is None:
                return {**found, option: usual}
        return found

    @classmethod
    def cross(cls, given: Mapping[str, Any], value: Self | None) -> Iterator[Fault]:
        """What a method does not take."""
        method = given.get("method", "full_domain")
        for option, taker in _TAKEN_BY.items():
            if option in given and method in _METHODS and method != taker:
                reason = "full_domain searches as 'search' says; " if method == "full_domain" else ""
                yield Fault((option,), f"{reason}only the method {taker} takes it", True)
        if method == "microaggregation" and "columns" not in given:
            why = "microaggregation needs columns, such as {income: mean, age: median}; expected a mapping in 'columns'"
            yield Fault((), why, False)

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        words = [method for method in _METHODS if method != "microaggregation"]  # which needs columns
        return {"anyOf": [{"enum": words}, handler.resolve_ref_schema(handler(core))]}

    @property
    def is_full_domain(self) -> bool:
        """Whether one node of the lattice describes the release; else labels differ by class."""
        return self.method == "full_domain"

    @property
    def labels_are_lowest(self) -> bool:
        """Whether every label of a release is the lowest that all rows of its class have in common."""
        return self.method == "local"

    @property
    def label(self) -> str:
        """The method and its options, such as ``local:best``: :func:`parse_recoding` reads those that are words."""
        chosen, given = _chosen(), {name: value for name, value in self if value}
        words = [given[name] for name in chosen if name in given]
        others = [f"{name}={'+'.join(map(str, value))}" for name, value in given.items() if name not in chosen]
        return ":".join([*words, *others])

    def to_dict(self) -> str | dict[str, Any]:
        """As a spec has it."""
        options = self.model_dump(exclude_none=True)
        return options if len(options) > 1 else self.method


def parse_recoding(written: str | Mapping[str, Any]) -> RecodingOptions:
    """A recoding in one word, or as a spec writes it.

    Args:
        written: a method, and after colons the options that are chosen from a list, such as ``local:best``; or a
            mapping as in a spec.

    Raises:
        SpecError: there is no such method or option, or the method does not take it.
    """
    given: dict[str, Any] = dict(written) if isinstance(written, Mapping) else {}
    shown = "recoding"
    if isinstance(written, str):
        given["method"], *words = (word.strip() for word in written.split(":"))
        shown = f"recoding {quote(written)}"
        for word in words:
            names = [name for name, allowed in _chosen().items() if name != "method" and word in allowed]
            if not names:
                known = [word for name, allowed in _chosen().items() if name != "method" for word in allowed]
                expected = ", ".join(map(quote, known))
                raise SpecError(f"{shown}: unknown option{did_you_mean(word, known)}; expected one of {expected}")
            given[names[0]] = word
    try:
        return RecodingOptions.model_validate(given)
    except ValidationError as error:
        raise SpecError([Problem(f"{shown}: {item['msg']}") for item in error.errors(include_input=False)]) from None


def _chosen() -> dict[str, tuple[str, ...]]:
    """The options that are one of some words, the method first -> these words."""
    fields = RecodingOptions.model_fields.items()
    return {name: allowed for name, field in fields if (allowed := _literals(field.annotation))}


def _literals(annotation: Any) -> tuple[str, ...]:
    """The words of the ``Literal`` in an annotation."""
    parts = get_args(annotation)
    if get_origin(annotation) is Literal:
        return parts
    return tuple(word for part in parts for word in _literals(part))


def recoding_faults(spec: Spec) -> Iterator[Fault]:
    """What a spec cannot have whose labels differ by class."""
    if spec.recoding.is_full_domain:
        return
    if spec.search.of_intervals:
        why = (
            f"{spec.search.algorithm} cuts the domains into intervals for all rows alike, which is full-domain "
            f"recoding; with recoding: {spec.recoding.method}, leave it out"
        )
        yield Fault(("search", "algorithm"), why, True)
    if spec.ledger is not None:
        why = (
            "a ledger makes earlier releases again from their levels, and labels that differ by class have no levels "
            "that would hold for all rows; with a ledger, use recoding: full_domain"
        )
        yield Fault(("ledger",), why, True)
    if spec.recoding.method == "mondrian":
        yield from level_faults(spec, "mondrian releases ranges of the values, not levels")
        yield from _relaxed_faults(spec)
    if spec.recoding.method == "cells":
        yield from _cells_faults(spec)
    if spec.recoding.method == "microaggregation":
        yield from _aggregate_faults(spec)


def _relaxed_faults(spec: Spec) -> Iterator[Fault]:
    """What the relaxed variant cannot promise: it divides rows that are alike, and says of none which way it goes."""
    others = [item.name for item in spec.privacy if item.name != "k_anonymity"]
    why = None
    if others:
        why = f"privacy also asks for {others[0]}"
    elif spec.unit is not None:
        why = "a unit counts persons, whose rows it would part"
    if spec.recoding.variant == "relaxed" and why is not None:
        message = (
            f"relaxed divides rows that are alike, so it can promise k_anonymity of rows alone, and {why}; use strict"
        )
        yield Fault(("recoding", "variant"), message, True)


def level_faults(spec: Spec, message: str, among: Container[str] | None = None) -> Iterator[Fault]:
    """The limits of levels, where none is released: of all quasi-identifiers, or of those that are named."""
    for name, column in spec.quasi_identifiers.items():
        if among is not None and name not in among:
            continue
        for key in ("minimum_level", "maximum_level"):
            if getattr(column, key) != type(column).model_fields[key].default:
                yield Fault(("quasi_identifiers", name, key), f"{message}; leave {key} out", True)


def _cells_faults(spec: Spec) -> Iterator[Fault]:
    """Caps of other columns, and levels that are not the lowest."""
    for name in spec.recoding.caps or ():
        if name not in spec.quasi_identifiers:
            why = f"{quote(name)} is no quasi-identifier; only their cells are suppressed"
            yield Fault(("recoding", "caps", name), why, True)
    if spec.recoding.levels == "minimum":
        for name, column in spec.quasi_identifiers.items():
            if column.maximum_level is not None and column.maximum_level != column.minimum_level:
                why = "with levels: minimum every column stays at its minimum level; leave maximum_level out"
                yield Fault(("quasi_identifiers", name, "maximum_level"), why, True)


def _aggregate_faults(spec: Spec) -> Iterator[Fault]:
    """Aggregates of other columns, levels of those that are numbers, and masks where there are numbers."""
    named = spec.recoding.columns or {}
    for name in named:
        if name not in spec.quasi_identifiers:
            why = f"{quote(name)} is no quasi-identifier; only their values are replaced by those of their class"
            yield Fault(("recoding", "columns", name), why, True)
    yield from level_faults(spec, "microaggregation releases a number, not a level", named)
    if spec.suppression.style == "mask":
        why = "a masked row has the text * in every quasi-identifier, and microaggregation releases numbers; use drop"
        yield Fault(("suppression", "style"), why, True)
