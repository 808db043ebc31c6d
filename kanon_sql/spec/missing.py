"""Missing codes: values that a source writes where it knows none, such as ``?`` and 999. They are read as NULL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

from kanon_sql.spec.checks import Check, Fault, Faults, did_you_mean, fail, items, kind, number, plain_number, text

if TYPE_CHECKING:
    from kanon_sql.spec.model import Spec

__all__ = ["Code", "MissingCodes", "missing_codes", "missing_faults", "written_codes"]

Code = str | Decimal
"""A text is compared with texts alone, and a number with numbers alone."""

Codes = tuple[Code, ...]


def _code(value: object) -> Code:
    if isinstance(value, str):
        return value if not value.strip() else text("a missing code")(value)
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return number("a missing code")(value)
    fail(f"expected a missing code, a text or a number, got {kind(value)}")


_codes = items("missing codes", _code, least=1)


def _parsed(value: object) -> Codes | dict[str, Codes]:
    if not isinstance(value, Mapping):
        if not isinstance(value, list | tuple):
            fail(f"expected a list of missing codes, or a mapping of columns to such lists, got {kind(value)}")
        return _codes(value)
    faults, found = Faults(), {}
    for name, written in value.items():
        if faults.attempt((name,), text("a column name"), name) is not None:
            found[name] = faults.attempt((name,), _codes, written)
    faults.finish()
    return {name: codes for name, codes in found.items() if codes is not None}


_LIST = {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}, "minItems": 1}

MissingCodes = Annotated[
    tuple[Code, ...] | dict[str, tuple[Code, ...]] | None,
    Check(_parsed, {"anyOf": [_LIST, {"type": "object", "additionalProperties": _LIST, "minProperties": 1}]}),
]
"""Codes of all quasi-identifiers and sensitive attributes, or codes by column."""


def missing_codes(spec: Spec) -> dict[str, Codes]:
    """Column -> its codes. Those of a list are codes of all columns that make classes, or that are protected."""
    if spec.missing is None or isinstance(spec.missing, Mapping):
        return dict(spec.missing or {})
    names = [name for name in spec.quasi_identifiers if name not in spec.points]
    names += [name for point in spec.points.values() for name in point.columns]
    return dict.fromkeys((*names, *spec.sensitive), spec.missing)


def missing_faults(spec: Spec) -> Iterator[Fault]:
    """Codes of columns that have no role."""
    if not isinstance(spec.missing, Mapping):
        return
    known = [*(name for name in spec.quasi_identifiers if name not in spec.points), *spec.sensitive, *spec.keep]
    known += [name for point in spec.points.values() for name in point.columns]
    for name in spec.missing:
        if name not in known:
            why = f"expected a column under quasi_identifiers, sensitive or keep{did_you_mean(name, known)}"
            yield Fault(("missing", name), why, True)


def written_codes(spec: Spec) -> Any:
    """The codes as JSON holds them."""
    given = spec.missing
    if given is None:
        return None
    if isinstance(given, Mapping):
        return {name: [_plain(code) for code in codes] for name, codes in given.items()}
    return [_plain(code) for code in given]


def _plain(code: Code) -> str | int | float:
    return code if isinstance(code, str) else plain_number(code)
