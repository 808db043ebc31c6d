"""Read the name of a nested type, such as ``STRUCT(a INTERVAL[], "b c" JSON)`` or ``Map(String, DateTime('UTC'))``.

A word in it may be a field's, a label's or a type's, so that no search for words tells what a type is made of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["TypeName", "listed_labels", "parsed_type"]

_WORDS = r"([\w.$]+)|(\S)"
_TOKENS = {
    False: re.compile(rf"""\s*(?:("(?:[^"]|"")*"|'(?:[^']|'')*')|{_WORDS})""", re.DOTALL),
    True: re.compile(rf"""\s*(?:(`(?:[^`\\]|\\.)*`|'(?:[^'\\]|\\.)*')|{_WORDS})""", re.DOTALL),
}
"""By whether a backslash escapes inside of quotes."""


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type's name in its parts.

    Attributes:
        words: those before the parentheses and after; a field's name is the first of several.
        arguments: what stands in the parentheses: types, fields, numbers, quoted texts.
        is_array: brackets follow; the first argument is the type of the items.
    """

    words: tuple[str, ...]
    arguments: tuple[TypeName, ...] = ()
    is_array: bool = False

    @property
    def name(self) -> str:
        """The words alone."""
        return " ".join(self.words)

    def of_field(self) -> TypeName:
        """The type of a field, before which its name may stand."""
        if self.is_array:
            return TypeName((), (self.arguments[0].of_field(),), True)
        return TypeName(self.words[1:], self.arguments) if len(self.words) > 1 else self


def parsed_type(text: str, *, backslash: bool) -> TypeName | None:
    """The parts of a type's name; None where it is written in a way that is not known.

    Args:
        text: the name.
        backslash: a backslash escapes inside of quotes.
    """
    tokens = [match.group().strip() for match in _TOKENS[backslash].finditer(text.strip())]
    found, end = _one(tokens, 0)
    return found if end == len(tokens) else None


_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "0": "\0"}
"""Letters behind a backslash that stand for another one; every other stands for itself."""


def listed_labels(of: TypeName, *, backslash: bool) -> tuple[str, ...]:
    """The labels of an enumeration in the order of the type: that of their numbers, where it writes some.

    Args:
        of: its name in parts, such as ``ENUM('low', 'high')`` or ``Enum8('low' = 1, 'high' = 2)``.
        backslash: a backslash escapes inside of quotes.
    """
    found = []
    for place, (quoted, *number) in enumerate(part.words for part in of.arguments):
        inside = quoted[1:-1]
        label = re.sub(r"\\(.)", _unescaped, inside, flags=re.DOTALL) if backslash else inside.replace("''", "'")
        found.append((int("".join(number[1:])) if number else place, label))
    return tuple(label for _, label in sorted(found))


def _unescaped(found: re.Match[str]) -> str:
    return _ESCAPED.get(found[1], found[1])


def _one(tokens: Sequence[str], at: int) -> tuple[TypeName | None, int]:
    """A type, a field or a value, and where it ends."""
    words: list[str] = []
    arguments: tuple[TypeName, ...] = ()
    found: TypeName | None = None
    while at < len(tokens) and tokens[at] not in (",", ")"):
        if tokens[at] == "(":
            listed, at = _listed(tokens, at + 1)
            if listed is None:
                return None, at
            arguments += listed
        elif tokens[at] == "[":
            at = at + 1 if tokens[at + 1 : at + 2] == ["]"] else at + 2
            if tokens[at : at + 1] != ["]"]:
                return None, at
            found = TypeName((), (found or TypeName(tuple(words), arguments),), True)
            at += 1
        elif found is not None or tokens[at] == "]":
            return None, at  # nothing comes after brackets
        else:
            words.append(tokens[at])
            at += 1
    return found or TypeName(tuple(words), arguments), at


def _listed(tokens: Sequence[str], at: int) -> tuple[tuple[TypeName, ...] | None, int]:
    """What stands in parentheses, and where they end."""
    found: list[TypeName] = []
    while at < len(tokens):
        item, at = _one(tokens, at)
        if item is None or at >= len(tokens):
            return None, at
        found.append(item)
        at += 1
        if tokens[at - 1] == ")":
            return tuple(found), at
    return None, at
