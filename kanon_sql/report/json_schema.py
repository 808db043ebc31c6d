"""The JSON Schema of a result, made from the types of its fields and from what their docstrings say of them."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, Literal, NotRequired, Union, cast, get_args, get_origin, get_type_hints, is_typeddict

from pydantic import BaseModel

from kanon_sql.spec import Like, computed_keys

__all__ = ["schema_of"]

_PLAIN = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
_FIELD = re.compile(r"^    (\w+(?:, \w+)*): ", re.MULTILINE)


def schema_of(kind: Any, title: str, further: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of the dictionaries of a class of results.

    Args:
        kind: a dataclass that is a document; or a union of such, of which a dictionary is one.
        title: of the schema.
        further: class of a part -> keys that it may have besides, and the types of their values.
    """
    made = _Schema(further or {})
    found = {"oneOf": made.of(kind)["anyOf"]} if get_args(kind) else made.object_of(kind)
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **found}
    named = {name: item for name, item in made.named.items() if item}
    return {**schema, "$defs": dict(sorted(named.items()))} if named else schema


class _Schema:
    """The schema of a class, with those of the classes of its parts by their names."""

    def __init__(self, further: Mapping[str, Mapping[str, Any]]) -> None:
        self.named: dict[str, Any] = {}
        self.further = further

    def object_of(self, kind: Any) -> dict[str, Any]:
        """The schema of an object with a key per field."""
        about, described = _documented(kind)
        required, properties = [], {}
        for name, (hint, always) in _keys(kind).items():
            found = self.of(hint)
            if name in described:
                found = {**found, "description": described[name]}
            properties[name] = found
            if always:
                required.append(name)
        for name, hint in self.further.get(kind.__name__, {}).items():
            properties[name] = self.of(hint)
        return {
            "description": about,
            "type": "object",
            "additionalProperties": False,
            "required": required,
            "properties": properties,
        }

    def of(self, hint: Any) -> dict[str, Any]:
        """The schema of a type."""
        origin, given = get_origin(hint), get_args(hint)
        if hint is Any:
            return {}
        if origin is Annotated:
            likes = [more.kind for more in hint.__metadata__ if isinstance(more, Like)]
            found = self.of(likes[0] if likes else given[0])
            for more in hint.__metadata__:
                found = found if isinstance(more, Like) else {**found, **more.keywords}
            return found
        if origin is Literal:
            return {"const": given[0]} if len(given) == 1 else {"enum": list(given)}
        if origin in (Union, types.UnionType):
            return _any_of([self.of(item) for item in given])
        if origin is tuple and given[-1] is not ...:
            return _pair([self.of(item) for item in given])
        if isinstance(origin, type) and issubclass(origin, Mapping):
            more = self.of(given[1])
            return {"type": "object", "additionalProperties": more} if more else {"type": "object"}
        if isinstance(origin, type) and issubclass(origin, Sequence):
            return {"type": "array", "items": self.of(given[0])}
        if hint in _PLAIN:
            return {"type": _PLAIN[hint]}
        if hint.__name__ not in self.named:
            self.named[hint.__name__] = {}  # so that a part of its own kind finds it
            self.named[hint.__name__] = self.object_of(hint)
        return {"$ref": f"#/$defs/{hint.__name__}"}


def _keys(kind: Any) -> dict[str, tuple[Any, bool]]:
    """Key -> the type of its value, and whether the key is always there."""
    if is_typeddict(kind):
        return {
            name: (get_args(hint)[0], False) if get_origin(hint) is NotRequired else (hint, kind.__total__)
            for name, hint in _hints(kind).items()
        }
    if issubclass(kind, BaseModel):
        return {name: (hint, True) for name, hint in _hints(kind).items() if name in kind.model_fields}
    assert is_dataclass(kind), kind
    hints, found = _hints(kind), {}
    for field in fields(kind):
        shown = field.metadata.get("json")
        if shown is None:
            found[field.name] = hints[field.name], True
        elif shown == "on request":
            found[field.name] = _without_none(hints[field.name]), False
        elif shown == "listed":
            found[field.name] = hints[field.name], False
    return {
        **found,
        **{name: (_hints(getter)["return"], True) for name, getter in computed_keys(cast("type", kind)).items()},
    }


def _hints(kind: Any) -> dict[str, Any]:
    """Field -> its type; a name that is imported for hidden fields alone stands for any type."""
    unknown: dict[str, Any] = {}
    while True:
        try:
            return get_type_hints(kind, localns=unknown, include_extras=True)
        except NameError as error:
            unknown[str(error.name)] = Any


def _without_none(hint: Any) -> Any:
    """The type of what was asked for."""
    (asked,) = [item for item in get_args(hint) if item is not type(None)]
    return asked


def _any_of(forms: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One of several schemas; ``null`` is a further type of another one where it can be."""
    others = [form for form in forms if form != {"type": "null"}]
    if len(others) == len(forms):
        return {"anyOf": others}
    form = others[0]
    if len(others) == 1 and "enum" in form:
        return {**form, "enum": [*form["enum"], None]}
    if len(others) == 1 and isinstance(form.get("type"), str) and "properties" not in form:
        return {**form, "type": [form["type"], "null"]}
    return {"anyOf": [*others, {"type": "null"}]}


def _pair(forms: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """An array of as many items."""
    size = {"minItems": len(forms), "maxItems": len(forms)}
    if all(form == forms[0] for form in forms):
        return {"type": "array", "items": forms[0], **size}
    return {"type": "array", "prefixItems": list(forms), **size}


def _documented(kind: type) -> tuple[str, dict[str, str]]:
    """What the docstring says of a class, and of each of its attributes."""
    described: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        listed = inspect.cleandoc(base.__doc__ or "").partition("\nAttributes:\n")[2].partition("\n\n")[0]
        found = list(_FIELD.finditer(listed))
        ends = [item.start() for item in found[1:]] + [len(listed)] * bool(found)
        for item, end in zip(found, ends, strict=True):
            described |= dict.fromkeys(item[1].split(", "), _sentence(listed[item.end() : end]))
    for name, getter in computed_keys(kind).items():
        described[name] = _sentence(inspect.cleandoc(getter.__doc__ or ""))
    return _sentence(inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0]), described


def _sentence(text: str) -> str:
    """A description in the words of JSON, on one line."""
    words = re.sub(r":\w+:`~?(?:kanon_sql\.)?([\w.]+)`", r"\1", " ".join(text.split())).replace("``", "'")
    words = re.sub(r"\bNone\b", "null", re.sub(r"\bTrue\b", "true", re.sub(r"\bFalse\b", "false", words)))
    return words[:1].upper() + words[1:]
