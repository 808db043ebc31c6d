"""Griffe calls this: it makes of our docstrings and types what a reader of the reference can use."""

from __future__ import annotations

import re
from typing import Any

import griffe

__all__ = ["Readable"]


class Readable(griffe.Extension):
    """Turns Sphinx's roles into links, and leaves out of a type what only checks values."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring, or the type, of an object that was found."""
        if obj.docstring is not None:
            obj.docstring.value = re.sub(r":\w+:`~?([^`]+)`", _linked, obj.docstring.value)
        if isinstance(obj, griffe.Attribute):
            obj.annotation = _plain(obj.annotation, obj)


def _linked(found: re.Match[str]) -> str:
    return f'<autoref optional identifier="{found[1]}">`{found[1]}`</autoref>'


def _plain(type_: Any, attribute: griffe.Attribute) -> Any:
    """``Annotated[T, ...]`` as T, also where a private name stands for it."""
    if isinstance(type_, griffe.ExprName) and type_.name.startswith("_"):
        named = attribute.module.members.get(type_.name)
        return _plain(named.value, attribute) if isinstance(named, griffe.Attribute) else type_
    if isinstance(type_, griffe.ExprSubscript) and str(type_.left) == "Annotated":
        inner: Any = type_.slice
        return inner.elements[0]
    return type_
