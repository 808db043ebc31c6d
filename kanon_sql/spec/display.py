"""How specs and results show themselves: as the text and the report that are made above, and as JSON.

A result is a dataclass: its fields are the keys of its JSON, in their order. Its JSON Schema is made from the types of
the same fields, and from what their docstrings say, by :mod:`kanon_sql.report.json_schema`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, Self, TypeVar, cast

from kanon_sql.errors import RequirementNotMet

__all__ = [
    "HIDDEN",
    "LISTED",
    "ON_REQUEST",
    "Count",
    "Displayed",
    "Document",
    "Keywords",
    "LevelNames",
    "LevelVector",
    "Levels",
    "Like",
    "Names",
    "Nonnegative",
    "Positive",
    "Printed",
    "Share",
    "Text",
    "VerdictResult",
    "as_yaml",
    "computed_keys",
    "in_json",
    "plain",
]


class Printed:
    """What is printed as the text of its command, and has a short form for a prompt."""

    def __str__(self) -> str:
        """The text that its command prints."""
        from kanon_sql import plain_text

        text: str = plain_text(self)
        return text

    def __repr__(self) -> str:
        """Its kind, and its verdict where it has one."""
        values = (getattr(self, name, None) for name in ("verdict", "message"))
        return f"<{': '.join([type(self).__name__, *map(str, filter(None, values))])}>"


class Displayed(Printed):
    """What is also a report in a notebook."""

    def _repr_html_(self) -> str:
        """The report, for notebooks."""
        from kanon_sql import html_fragment

        return html_fragment(cast("Any", self))


def as_yaml(spec: Mapping[str, Any]) -> str:
    """The plain data of a spec as YAML, without what it leaves empty."""
    from kanon_sql import spec_yaml

    text: str = spec_yaml(spec)
    return text


class Keywords:
    """What a JSON Schema says of a type besides its name, such as ``Keywords(minimum=0)``."""

    def __init__(self, **keywords: Any) -> None:
        self.keywords = keywords


class Like:
    """What a mapping looks like in JSON: the object of a dataclass or typed dictionary, such as ``Like(Bound)``."""

    def __init__(self, kind: type) -> None:
        self.kind = kind


Count = Annotated[int, Keywords(minimum=0)]
Positive = Annotated[int, Keywords(minimum=1)]
Nonnegative = Annotated[float, Keywords(minimum=0)]
Share = Annotated[float, Keywords(minimum=0, maximum=1)]
Text = Annotated[str, Keywords(minLength=1)]
Names = Annotated[Sequence[str], Keywords(minItems=1)]
Levels = Annotated[Mapping[str, Count], Keywords(minProperties=1)]
"""A node: quasi-identifier -> level."""
LevelVector = tuple[Count, ...]
"""A node: its levels, in the order of the quasi-identifiers."""
LevelNames = Annotated[Mapping[str, Annotated[Sequence[Text], Keywords(minItems=1)]], Keywords(minProperties=1)]
"""Quasi-identifier -> what each of its levels is called, level 0 first."""

HIDDEN = {"json": "hidden"}
"""Metadata of a field that no JSON has."""
ON_REQUEST = {"json": "on request"}
"""Metadata of a field whose key is left out where it is None: it was not asked for."""
LISTED = {"json": "listed"}
"""Metadata of a field whose key is there where a caller of ``to_dict`` asks for it."""


Getter = TypeVar("Getter", bound=Callable[..., Any])


def in_json(getter: Getter) -> Getter:
    """Make a property a key of the JSON, after the fields: it follows from them."""
    getter.in_json = True  # type: ignore[attr-defined]
    return getter


def computed_keys(kind: type) -> dict[str, Callable[..., Any]]:
    """The properties of a class that are keys of its JSON, with what computes them."""
    return {
        name: item.fget
        for base in reversed(kind.__mro__)
        for name, item in vars(base).items()
        if isinstance(item, property) and item.fget is not None and hasattr(item.fget, "in_json")
    }


class Document:
    """A dataclass that is written as JSON, field by field."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """One JSON-compatible object, with the keys of the fields in their order."""
        found = {}
        for field in fields(self):  # type: ignore[arg-type]
            value, shown = getattr(self, field.name), field.metadata.get("json")
            if shown is None or (shown == "on request" and value is not None):
                found[field.name] = plain(value)
        return {**found, **{name: plain(getattr(self, name)) for name in computed_keys(type(self))}}


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Document):
        return value.to_dict()
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


class VerdictResult(Displayed, Document):
    """A result with a verdict."""

    verdict: str
    message: str

    @property
    def passed(self) -> bool:
        """Whether the verdict is ``pass``."""
        return self.verdict == "pass"

    def raise_for_failure(self) -> Self:
        """Return this result, or raise :class:`RequirementNotMet` if the verdict is ``fail``."""
        if not self.passed:
            raise RequirementNotMet(self.message, self)
        return self
