"""Reading a spec's YAML into plain data, and remembering where every key and value stands.

YAML 1.2: ``no`` and ``2020-01-01`` are text. Keys are always text, as written. Numbers
with a fraction become decimals, so that nothing is lost on the way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any

from kanon_sql.errors import Problem, SpecError
from kanon_sql.spec.checks import Fault, Loc, kind, quote
from kanon_sql.spec.compose import MAX_DEPTH, compose

__all__ = ["Document", "label_text", "read_mapping", "read_yaml", "show_path"]

MAX_PROBLEMS = 100
"""How many problems of a spec are listed before the rest is only counted."""

MAX_VALUES = 200_000
"""More values are refused: a few bytes of YAML aliases can stand for billions. Larger hierarchies are files."""

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Document:
    """A spec as plain data, with the place of each part.

    Attributes:
        data: mappings with text keys, lists and scalars.
        name: the file's name for messages; None when there is no text.
        keys: line and column (from 1) of each mapping key.
        values: line and column (from 1) of each value.
        problems: what was wrong already while reading.
    """

    data: object
    name: str | None = None
    keys: dict[Loc, Place] = field(default_factory=dict)
    values: dict[Loc, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def problem(self, fault: Fault) -> Problem:
        """A fault with its place: its own, or that of the nearest part around it."""
        place: Place | None = None
        for end in range(len(fault.loc), -1, -1):
            around = fault.loc[:end]
            # What is missing inside a value is reported at the key that introduces it.
            place = (self.keys.get(around) if fault.at_key else None) or self.values.get(around)
            if place:
                break
        line, column = place or (None, None)
        return Problem(with_path(fault.loc, fault.message), self.name, line, column)

    def error(self, faults: list[Fault]) -> SpecError:
        """These faults and those of reading as one error, in the order of the text, each once."""
        problems = dict.fromkeys([*self.problems, *map(self.problem, faults)])
        listed = sorted(problems, key=lambda found: (found.line or 0, found.column or 0))
        left = len(listed) - MAX_PROBLEMS
        return SpecError(
            listed if left <= 0 else [*listed[:MAX_PROBLEMS], Problem(f"and {left:,} more problems", self.name)]
        )


def with_path(loc: Loc, message: str) -> str:
    """A message that begins with the path it is about."""
    path = show_path(loc)
    return f"{path}: {message}" if path else message


def show_path(loc: Loc) -> str:
    """``quasi_identifiers.age.intervals[1]``; a tree's labels are left out."""
    shown = ""
    for position, part in enumerate(loc):
        if isinstance(part, int):
            shown += f"[{part}]"
        else:
            plain = re.fullmatch(r"[\w -]+", part)
            shown += ("." if shown else "") + (part if plain else quote(part))
        if in_tree(loc[: position + 1]):
            break
    return shown


def in_tree(loc: Loc) -> bool:
    """Whether a place is a value generalization tree or a transition matrix, or inside one."""
    return (len(loc) >= 3 and loc[0] == "quasi_identifiers" and loc[2] == "tree") or (
        len(loc) >= 4 and (loc[0], *loc[2:4]) in (("dimensions", "hierarchy", "tree"), ("perturb", "pram", "matrix"))
    )


def label_text(value: object) -> str | None:
    """A scalar of a tree as the text of a domain value; None when it cannot be one."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value) if abs(value) < 10**40 else None
    if isinstance(value, float | Decimal):
        return str(value) if Decimal(value).is_finite() else None
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    return None


# --- From Python ---------------------------------------------------------------------------


def read_mapping(data: object) -> Document:
    """Plain data as a document without places: a copy with text keys and bounded size.

    Raises:
        SpecError: nested too deeply, too large, or containing itself.
    """
    problems: list[Problem] = []
    budget = iter(range(MAX_VALUES))

    def plain(value: object, loc: Loc) -> object:
        if len(loc) > MAX_DEPTH:
            raise SpecError(
                f"the spec is nested more than {MAX_DEPTH} levels deep; see kanon-sql pipeline schema for "
                "the form of a spec"
            )
        if next(budget, None) is None:
            raise SpecError(f"the spec holds more than {MAX_VALUES:,} values; put a long hierarchy into a file")
        if isinstance(value, Mapping):
            found: dict[str, object] = {}
            for key, below in value.items():
                name = label_text(key) if in_tree(loc) else key
                if not isinstance(name, str) or not encodable(name):
                    problems.append(Problem(with_path(loc, f"expected a text key, got {kind(key)}")))
                elif name in found:
                    problems.append(Problem(with_path(loc, "two keys are the same text; rename one")))
                else:
                    found[name] = plain(below, (*loc, name))
            return found
        if isinstance(value, list | tuple):
            return [plain(item, (*loc, position)) for position, item in enumerate(value)]
        return value

    return Document(plain(data, ()), problems=problems)


def encodable(name: str) -> bool:
    """Whether text holds only whole characters (no lone surrogates)."""
    return not any("\ud800" <= ch <= "\udfff" for ch in name)


# --- From YAML -----------------------------------------------------------------------------


def read_yaml(text: str, name: str) -> Document:
    """YAML text as a document.

    Args:
        text: one YAML document.
        name: what to call it in messages.

    Raises:
        SpecError: it is not valid YAML, is empty, or is nested too deeply.
    """
    node = compose(text, name)
    if node is None:
        raise SpecError([Problem("the spec is empty; start with 'version: 1'", name, 1, 1)])
    reader = Reader(name)
    try:
        data = reader.read(node, ())
    except RecursionError:
        raise SpecError(
            [Problem("the spec is nested too deeply; see kanon-sql pipeline schema for its form", name)]
        ) from None
    return Document(data, name, reader.keys, reader.values, reader.problems)


class Reader:
    """Turns a node graph into plain data, noting places and faults."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.keys: dict[Loc, Place] = {}
        self.values: dict[Loc, Place] = {}
        self.problems: list[Problem] = []
        self._open: set[int] = set()

    def read(self, node: Any, loc: Loc) -> object:
        """The data of a node, which stands at ``loc``."""
        self.values[loc] = place = place_of(node)
        if len(loc) > MAX_DEPTH:
            raise SpecError(
                [
                    Problem(
                        f"nested more than {MAX_DEPTH} levels deep; see kanon-sql pipeline schema for the form of a "
                        "spec",
                        self.name,
                        *place,
                    )
                ]
            )
        if len(self.values) > MAX_VALUES:
            raise SpecError(
                [Problem(f"more than {MAX_VALUES:,} values; put a long hierarchy into a file", self.name, *place)]
            )
        if id(node) in self._open:
            raise SpecError([Problem("an alias contains itself; write the values out", self.name, *place)])
        tag = str(node.tag)
        if not tag.startswith("tag:yaml.org,2002:"):
            self._note(node, loc, "YAML tags are not supported here; remove it")
        if node.id == "scalar":
            return self._scalar(node, tag.rpartition(":")[2], loc)
        self._open.add(id(node))
        try:
            if node.id == "sequence":
                return [self.read(item, (*loc, position)) for position, item in enumerate(node.value)]
            return dict(self._entries(node, loc))
        finally:
            self._open.discard(id(node))

    def _entries(self, node: Any, loc: Loc) -> Iterator[tuple[str, object]]:
        first: dict[str, Place] = {}
        for key, value in node.value:
            if key.id != "scalar":
                self._note(key, loc, "expected a text key, got a list or a mapping")
                continue
            name, inside = key.value, (*loc, key.value)
            if name in first:
                line, column = first[name]
                shown = "a label" if in_tree(loc) else quote(name)
                self._note(key, loc, f"duplicate key: {shown} is already at line {line}, column {column}")
                continue
            if name == "<<" and key.style is None:
                self._note(key, loc, "merge keys are not part of YAML 1.2; write the keys out")
                continue
            first[name] = self.keys[inside] = place_of(key)
            yield name, self.read(value, inside)
            if value.id == "scalar" and value.style is None and not value.value:
                self.values[inside] = first[name]  # nothing stands nowhere; the parser says: at the next token

    def _note(self, node: Any, loc: Loc, message: str) -> None:
        """A problem with the node itself, whose surroundings stand at ``loc``."""
        self.problems.append(Problem(with_path(loc, message), self.name, *place_of(node)))

    def _scalar(self, node: Any, tag: str, loc: Loc) -> object:
        written: str = node.value
        if node.style in ("'", '"', "|", ">") or tag == "str":
            return written
        if tag == "null":
            return None
        if tag == "bool" and written in ("true", "True", "TRUE", "false", "False", "FALSE"):
            return written.lower() == "true"
        if tag in ("int", "float"):
            found = number_of(written)
            if found is None and tag == "float" and written.lstrip("+-").lower() in (".inf", ".nan"):
                return Decimal("NaN")
            return written if found is None else found
        return written


def place_of(node: Any) -> Place:
    """Line and column of a node, from 1."""
    return node.start_mark.line + 1, node.start_mark.column + 1


_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


def number_of(written: str) -> int | Decimal | None:
    """The number a plain scalar is in YAML 1.2's core schema; None when it is text.

    Absurdly long or large numbers stay text; no key of a spec takes one.
    """
    if len(written) > 100:
        return None
    if re.fullmatch(r"[-+]?[0-9]+", written):
        return int(written)
    if re.fullmatch(r"0x[0-9a-fA-F]+|0o[0-7]+", written):
        return int(written, 0)
    if not _NUMBER.fullmatch(written):
        return None
    try:
        return Decimal(written)
    except InvalidOperation:
        return None
