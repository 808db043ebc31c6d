"""From a template to a statement: render, parse, check the portable subset, transpile.

    template + values -> DuckDB text -> syntax tree -> portable? -> the engine's dialect

What must reach the engine untouched (the user's own query, a file's path) is a slot: a
plain word in the tree that is replaced after transpiling.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from kanon_sql.errors import TemplateError
from kanon_sql.spec.redact import redact_sql
from kanon_sql.sql.portable import check_portable
from kanon_sql.sql.templates import render
from kanon_sql.sql.text import Relation

__all__ = ["SOURCE", "Compiler", "Statement", "redact", "source_relation"]

SOURCE = "source"
"""The slot that stands for the source relation."""

_SLOT = re.compile(r"\bslot_([a-z0-9_]+)\b")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement in an engine's dialect.

    Attributes:
        name: the template it came from.
        sql: the text to execute.
        scans: how often it reads the source relation.
        users: the user's own SQL inside it, whose literals may hold values.
    """

    name: str
    sql: str
    scans: int = 0
    users: str = ""

    @property
    def redacted(self) -> str:
        """The text with every value replaced by ``?``, for logs and reports."""
        # Our own SQL has plain literals; in the user's, where one ends may depend on the dialect.
        return redact(self.sql.replace(self.users, redact_sql(self.users)) if self.users else self.sql)


class Compiler:
    """Compiles templates for one dialect and one source.

    Args:
        dialect: a sqlglot dialect name.
        source: the FROM form of the source in that dialect, already safe.
        exact_collation: the dialect's collation that compares text character by character.
    """

    def __init__(self, dialect: str, source: str, exact_collation: str = "binary") -> None:
        self._exact_collation = exact_collation
        self.dialect = dialect
        self._fills = {SOURCE: source}
        self._shapes: dict[tuple[object, ...], str] = {}
        self._quoted: dict[str, str] = {}

    def statement(self, name: str, /, **context: Any) -> Statement:
        """Compile a template. Raises TemplateError when it is unsafe or not portable."""
        return self._fill(name, self._compile(name, context), {})

    def shape(self, name: str, key: tuple[object, ...], context: Callable[[], Mapping[str, Any]]) -> str:
        """Compile a template with open slots once per ``key``; cheap to fill many times."""
        full = (name, *key)
        if full not in self._shapes:
            self._shapes[full] = self._compile(name, context())
        return self._shapes[full]

    def fill(self, name: str, text: str, fills: Mapping[str, str]) -> Statement:
        """Fill a shape's slots with texts that are already SQL of this dialect."""
        return self._fill(name, text, fills)

    @staticmethod
    def union(statements: Sequence[Statement]) -> Statement:
        """One statement that returns the rows of all of them."""
        first = statements[0]
        text = "\nUNION ALL\n".join(statement.sql for statement in statements)
        return Statement(first.name, text, sum(statement.scans for statement in statements), first.users)

    def quote(self, name: str) -> str:
        """A quoted name in this dialect, for filling a slot."""
        if name not in self._quoted:
            self._quoted[name] = exp.to_identifier(name, quoted=True).sql(self.dialect)
        return self._quoted[name]

    def _compile(self, name: str, context: Mapping[str, Any]) -> str:
        text = render(name, **context)
        try:
            trees = sqlglot.parse(text, read="duckdb")
        except SqlglotError as error:
            raise TemplateError(f"{name}: the rendered SQL does not parse") from error
        if len(trees) != 1 or trees[0] is None:
            raise TemplateError(f"{name}: a template must hold exactly one statement")
        check_portable(trees[0], name)
        for collate in trees[0].find_all(exp.Collate):
            collate.expression.replace(exp.to_identifier(self._exact_collation, quoted=True))
        return trees[0].sql(self.dialect, pretty=False)

    def _fill(self, name: str, text: str, fills: Mapping[str, str]) -> Statement:
        values = {**self._fills, **fills}
        scans = 0

        def replace(match: re.Match[str]) -> str:
            nonlocal scans
            slot = match.group(1)
            scans += slot == SOURCE
            if slot not in values:
                raise TemplateError(f"{name}: nothing fills the slot {slot!r}")
            return values[slot]

        # Literals and quoted names may contain anything, so slots are sought outside them only.
        parts = _QUOTED.split(text)
        filled = [part if index % 2 else _SLOT.sub(replace, part) for index, part in enumerate(parts)]
        source = self._fills[SOURCE]
        return Statement(name, "".join(filled), scans, source if scans and source.startswith("(") else "")


_QUOTED = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`)""")


def source_relation() -> Relation:
    """The source, as a relation for templates."""
    return Relation(slot=SOURCE)


def redact(sql: str) -> str:
    """The statement with every text and number literal replaced by ``?``, for logs and reports."""
    parts = _QUOTED.split(sql)
    for index, part in enumerate(parts):
        if index % 2 == 0:
            parts[index] = _NUMBER.sub("?", part)
        elif part.startswith("'"):
            parts[index] = "?"
    return "".join(parts)


_NUMBER = re.compile(r"(?<![\w.])\d[\w.+]*")
