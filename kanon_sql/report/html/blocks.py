"""What a section is made of. The template has one macro for each kind of block."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar

from kanon_sql.report.pictures import Picture
from kanon_sql.report.words import metric, number

__all__ = [
    "Block",
    "Cells",
    "Facts",
    "Figure",
    "Prose",
    "Section",
    "Signature",
    "Verbatim",
    "generic",
    "in_words",
    "slug",
]


@dataclass(frozen=True)
class Prose:
    """A paragraph."""

    kind: ClassVar[str] = "prose"
    text: str


@dataclass(frozen=True)
class Facts:
    """Labelled facts, one a line."""

    kind: ClassVar[str] = "facts"
    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Cells:
    """A table.

    Attributes:
        heads: the columns' heads; one that ends in ``#`` stands above numbers.
        rows: the cells.
        caption: what it lists.
        marked: rows to stand out.
        folded: shown only when opened; it has a caption then.
    """

    kind: ClassVar[str] = "cells"
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    marked: frozenset[int] = frozenset()
    folded: bool = False


@dataclass(frozen=True)
class Figure:
    """A picture, and its numbers as a table that can be opened."""

    kind: ClassVar[str] = "figure"
    picture: Picture

    @property
    def cells(self) -> Cells:
        """The numbers."""
        return Cells(self.picture.heads, self.picture.rows, self.picture.title)


@dataclass(frozen=True)
class Verbatim:
    """Text as it is, such as a spec; shown when opened, or from the start."""

    kind: ClassVar[str] = "verbatim"
    text: str
    summary: str = ""
    is_open: bool = False


@dataclass(frozen=True)
class Signature:
    """Lines to fill in by hand."""

    kind: ClassVar[str] = "signature"
    lines: Sequence[str]


Block = Prose | Facts | Cells | Figure | Verbatim | Signature


@dataclass(frozen=True)
class Section:
    """A heading and its blocks."""

    title: str
    blocks: Sequence[Block]

    @property
    def anchor(self) -> str:
        """For links."""
        return slug(self.title)


def slug(text: str) -> str:
    """A text as a plain word."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "section"


def in_words(name: str) -> str:
    """``violating_classes`` -> ``violating classes``."""
    return name.replace("_", " ")


def generic(data: Any) -> list[Block]:
    """Any JSON data as facts and tables.

    A mapping of plain values becomes facts; a list of mappings, or a mapping of mappings, a table with a row each; what
    is deeper is written in one cell.
    """
    if isinstance(data, Mapping):
        if data and all(isinstance(value, Mapping) for value in data.values()):
            return [_table([{"": in_words(str(key)), **value} for key, value in data.items()])]
        plain = {key: value for key, value in data.items() if not _is_nested(value)}
        blocks: list[Block] = []
        if plain:
            blocks.append(Facts([(in_words(str(key)), _cell(value)) for key, value in plain.items()]))
        for key, value in data.items():
            if _is_nested(value):
                blocks += [Prose(in_words(str(key)) + ":"), *generic(value)]
        return blocks
    if isinstance(data, list) and data and all(isinstance(item, Mapping) for item in data):
        return [_table(data)]
    return [Prose(_cell(data))]


def _is_nested(value: Any) -> bool:
    return (isinstance(value, Mapping) and bool(value)) or (
        isinstance(value, list) and any(isinstance(item, Mapping) for item in value)
    )


def _table(rows: Sequence[Mapping[str, Any]]) -> Cells:
    heads = list(dict.fromkeys(key for row in rows for key in row))
    numeric = {
        head for head in heads if all(isinstance(row.get(head), int | float | None) and row.get(head) is not True
                                      for row in rows)
    }  # fmt: skip
    return Cells(
        [in_words(head) + ("#" if head in numeric else "") for head in heads],
        [[_cell(row.get(head)) for head in heads] for row in rows],
    )


def _cell(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return number(value)
    if isinstance(value, float):
        return metric(value) if isfinite(value) else "infinite"
    if isinstance(value, Mapping):
        return _listed(f"{in_words(str(key))} {_cell(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return _listed(map(_cell, value))
    return str(value)


def _listed(items: Iterable[str]) -> str:
    return ", ".join(items) or "none"
