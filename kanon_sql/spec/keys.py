"""Keys of several columns, such as a site and the number of a person there.

Such a key is read as one column, which holds the values of all in one text: see :mod:`kanon_sql.frequency.reading`. It
has the name that this module gives it, and all that reads the rows knows of one column only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Self

from kanon_sql.spec.checks import Check, fail, items, text

__all__ = ["ColumnKey", "CompositeKey", "composite_keys", "key_of", "parts_of_key", "written_key"]


class CompositeKey(str):
    """The name of the column that several columns are read as.

    Attributes:
        parts: these columns.

    Examples:
        >>> CompositeKey.of(["site", "pid"]), CompositeKey.of(["site", "pid"]).parts
        ('site+pid', ('site', 'pid'))
    """

    parts: tuple[str, ...]

    @classmethod
    def of(cls, parts: Sequence[str]) -> Self:
        """The key of some columns."""
        found = cls("+".join(parts))
        found.parts = tuple(parts)
        return found


_names = items("column names", text("a column name"))


def _key(value: object) -> str:
    if not isinstance(value, list | tuple):
        return value if isinstance(value, CompositeKey) else text("a column name, or a list of them")(value)
    names = _names(value)
    if len(names) == 1:
        return names[0]
    if not names or len({name.casefold() for name in names}) < len(names):
        fail("expected a column name, or a list of different ones, such as [site, pid]")
    return CompositeKey.of(names)


ColumnKey = Annotated[
    str,
    Check(
        _key,
        {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
            ]
        },
    ),
]
"""A column whose values identify something, or several columns whose values do together."""


def key_of(names: str | Sequence[str]) -> str:
    """A key that a program gives: a name, or several."""
    return names if isinstance(names, str) else _key(list(names))


def parts_of_key(key: str | None) -> tuple[str, ...]:
    """The columns that a key is made of; none of no key."""
    return () if key is None else getattr(key, "parts", (key,))


def written_key(key: str | None) -> str | list[str] | None:
    """A key as a spec writes it."""
    return list(key.parts) if isinstance(key, CompositeKey) else key


def composite_keys(spec: object) -> Iterator[CompositeKey]:
    """The keys of several columns that a spec names in its source, each once."""
    sample = getattr(getattr(spec, "steps", None), "sample", None)
    named = (getattr(spec, "unit", None), getattr(spec, "key", None), getattr(sample, "by", None))
    yield from dict.fromkeys(key for key in named if isinstance(key, CompositeKey))
