"""Keys and codes of warnings of earlier versions of the format, and their new names, which an error suggests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

__all__ = ["new_key", "renamed_key"]


def _limit(value: object) -> str | None:
    """A whole number was one of rows, any other number a share."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return "max_rows" if isinstance(value, int) else "max_share"


_RENAMED: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("Suppression", "limit"): ("max_rows", "max_share"),
    ("RecodingOptions", "effort"): ("variant",),
    ("RecodingOptions", "direction"): ("variant",),
    ("RecodingOptions", "levels"): ("variant",),
    ("RecodingOptions", "keep"): ("save_as",),
    ("LDiversityRequirement", "kind"): ("variant",),
    ("BetaLikenessRequirement", "kind"): ("variant",),
    ("KKAnonymityRequirement", "kind"): ("variant",),
    ("Noise", "kind"): ("variant",),
    ("Rules", "population"): ("estimate",),
    ("SearchOptions", "matrix"): ("distance_vectors",),
    ("WarningOptions", "nothing_told"): ("fully_suppressed_columns",),
    ("WarningOptions", "withheld_column"): ("column_fully_generalized",),
    ("WarningOptions", "kept_tells_quasi_identifier"): ("kept_reveals_quasi_identifier",),
    ("WarningOptions", "values_alike"): ("inconsistent_spelling",),
}
"""The class of a part of a spec and an old key of it -> the new key, or those of which one takes its place."""

_BY_VALUE: Mapping[tuple[str, str], Callable[[object], str | None]] = {("Suppression", "limit"): _limit}
"""Which one, where it depends on the value; None where the value fits neither."""


def new_key(part: str, key: str, value: object) -> str | None:
    """What takes the place of an old key with this value; None for other keys, and where the value does not say."""
    names = _RENAMED.get((part, key), ())
    chosen = _BY_VALUE.get((part, key))
    return chosen(value) if chosen is not None else next(iter(names), None)


def renamed_key(part: str, key: str, value: Any) -> str | None:
    """The message about an old key, which names the new one; None for other keys.

    Args:
        part: the name of the class that the key belongs to.
        key: the key.
        value: what is written under it, of which only a number is repeated.
    """
    names = _RENAMED.get((part, key))
    if names is None:
        return None
    new = new_key(part, key, value)
    if new is None or len(names) == 1:
        return f"the key has a new name; write {' or '.join(names)}"
    number = str(value)
    return f"the key has a new name; write {new}: {number}" if len(number) <= 20 else f"the key is now {new}"
