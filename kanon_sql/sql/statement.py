"""From a template to a statement: render, parse, check the portable subset, transpile.

    template + values -> DuckDB text -> syntax tree -> portable? -> the engine's dialect

What must reach the engine untouched (the user's own query, a file's path) is a slot: a
plain word in the tree that is replaced after transpiling.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from kanon_sql.errors import TemplateError
from kanon_sql.spec import redact_sql
from kanon_sql.sql.dialects import Dialect
from kanon_sql.sql.parse import parsed
from kanon_sql.sql.portable import check_portable
from kanon_sql.sql.python_deadline import checkpoint
from kanon_sql.sql.templates import render
from kanon_sql.sql.text import ANY_RUN, Relation

__all__ = ["SOURCE", "Compiler", "Creation", "Statement", "redact", "separated", "source_relation"]

SOURCE = "source"
"""The slot that stands for the source relation."""

_SLOT = re.compile(r"\bslot_([a-z0-9_]+)\b")


@dataclass(frozen=True, slots=True)
class Creation:
    """What a statement creates from a query.

    Attributes:
        table: the table's quoted name.
        query: the query that it is created from.
        temporary: it is a scratch table of this session.
    """

    table: str
    query: str
    temporary: bool


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement in an engine's dialect.

    Attributes:
        name: the template it came from.
        sql: the text to execute.
        scans: how often it reads the source relation.
        users: the user's own SQL inside it, whose literals may hold values.
        quoted: the dialect's text literals and quoted names.
        creates: the table that it creates from a query, if it does.
        loads: how many rows of a hierarchy are written in it; logs leave them out.
        together: the statements that it stands for, where the engine does what several say at once.
    """

    name: str
    sql: str
    scans: int = 0
    users: str = ""
    quoted: re.Pattern[str] | None = None
    creates: Creation | None = None
    loads: int = 0
    together: tuple[Statement, ...] = ()

    @property
    def redacted(self) -> str:
        """The text with every value replaced by ``?``, for logs and reports."""
        if self.together:
            return ";\n".join(part.redacted for part in self.together)
        # Our own SQL has plain literals; in the user's, where one ends may depend on the dialect.
        if self.loads:
            return f"{self.sql.splitlines()[0]} /* {self.loads} rows */"
        sql = self.sql.replace(self.users, redact_sql(self.users)) if self.users else self.sql
        return redact(sql, self.quoted or _QUOTED)


@dataclass(frozen=True, slots=True)
class Shape:
    """A compiled template whose slots are open.

    Attributes:
        pieces: its text in pieces, with the name of a slot between every two.
        table: the quoted name of the table that it creates from a query, if it does.
        temporary: that is a scratch table of this session.
    """

    pieces: tuple[str, ...]
    table: str | None = None
    temporary: bool = False


class Compiler:
    """Compiles templates for one dialect and one source.

    Args:
        dialect: the engine's.
        source: the FROM form of the source in that dialect, already safe.
        temporary: scratch tables belong to the session; else they are plain tables.
        run: what the names of the run's scratch tables begin with. What was compiled for one run
            serves the next of this process, under its names.
        counted: reads of the source count as such; not where it is a table of the run's own.
    """

    def __init__(
        self, dialect: Dialect, source: str, *, temporary: bool = True, run: str = ANY_RUN, counted: bool = True
    ) -> None:
        self.dialect = dialect
        self._counted = counted
        self._temporary = temporary
        self._run = run
        self._fills = {SOURCE: source}
        self._shapes: dict[tuple[object, ...], Shape] = {}
        self._quoted: dict[str, str] = {}

    def fresh(self) -> Compiler:
        """A compiler of the same kind that remembers nothing: shapes are kept by less than all that is in them."""
        return Compiler(self.dialect, self._fills[SOURCE], temporary=self._temporary, counted=self._counted)

    def over(self, source: str) -> Compiler:
        """A compiler of the same kind, whose statements read another source: its FROM form."""
        return Compiler(self.dialect, source, temporary=self._temporary, run=self._run, counted=self._counted)

    def form(self, query: str) -> str:
        """The FROM form of a query of ours."""
        found = self._fill("query", _compiled("query", query, self.dialect, self._temporary), {})
        return f"(\n{found.sql}\n)"

    def statement(self, name: str, fills: Mapping[str, str] | None = None, /, **context: Any) -> Statement:
        """Compile a template, and fill its slots. Raises TemplateError when it is unsafe or not portable."""
        return self._fill(name, self._compile(name, context), fills or {})

    def shape(self, name: str, key: tuple[object, ...], context: Callable[[], Mapping[str, Any]]) -> Shape:
        """Compile a template with open slots once per ``key``; cheap to fill many times."""
        full = (name, *key)
        if full not in self._shapes:
            self._shapes[full] = self._compile(name, context())
        return self._shapes[full]

    def fill(self, name: str, shape: Shape, fills: Mapping[str, str], *, target: str | None = None) -> Statement:
        """Fill a shape's slots with texts that are already SQL of this dialect.

        Args:
            name: the template's.
            shape: compiled from it.
            fills: slot -> text.
            target: the quoted name of the table to create, where the shape was compiled for any.
        """
        return self._fill(name, shape if target is None else replace(shape, table=target), fills)

    def filled(
        self, name: str, fills: Mapping[str, str], /, *, target: str | None = None, **context: Hashable
    ) -> Statement:
        """Fill the slots of a template that is compiled once per context."""
        shape = self.shape(name, tuple(sorted(context.items())), lambda: context)
        return self.fill(name, shape, fills, target=target)

    def union(self, statements: Sequence[Statement]) -> Statement:
        """One statement that returns the rows of all of them."""
        first = statements[0]
        text = "\nUNION ALL\n".join(self.dialect.term(statement.sql) for statement in statements)
        scans = sum(statement.scans for statement in statements)
        users = next((statement.users for statement in statements if statement.users), "")
        return Statement(first.name, text, scans, users, self.dialect.quoted)

    def together(self, statements: Sequence[Statement]) -> Statement:
        """One statement for several, for an engine that makes, or drops, several scratch tables at once."""
        text = ";\n".join(statement.sql for statement in statements)
        return Statement(
            statements[0].name,
            text,
            sum(statement.scans for statement in statements),
            next((statement.users for statement in statements if statement.users), ""),
            self.dialect.quoted,
            together=tuple(statements),
        )

    def quote(self, name: str) -> str:
        """A quoted name in this dialect, for filling a slot."""
        if name not in self._quoted:
            self._quoted[name] = self.dialect.quote(name)
        return self._quoted[name]

    def _compile(self, name: str, context: Mapping[str, Any]) -> Shape:
        text = render(name, deletes=self.dialect.deletes, **context)
        if ANY_RUN in text:  # a value that looks like a name of ours must stay what it is
            return _compiled(name, text, self.dialect, self._temporary)
        shape = _compiled(name, text.replace(self._run, ANY_RUN), self.dialect, self._temporary)
        table = None if shape.table is None else shape.table.replace(ANY_RUN, self._run)
        return Shape(tuple(piece.replace(ANY_RUN, self._run) for piece in shape.pieces), table, shape.temporary)

    def _fill(self, name: str, shape: Shape, fills: Mapping[str, str]) -> Statement:
        checkpoint()
        values = {**self._fills, **fills}
        parts, slots = list(shape.pieces), shape.pieces[1::2]
        for place, slot in enumerate(slots):
            if slot not in values:
                raise TemplateError(f"{name}: nothing fills the slot {slot!r}")
            parts[2 * place + 1] = values[slot]
        text, scans = "".join(parts), slots.count(SOURCE)
        creates = None
        if shape.table is not None:
            creates = Creation(shape.table, text, shape.temporary)
            text = self.created(creates)
        source = self._fills[SOURCE]
        users = source if scans and source.startswith("(") else ""
        return Statement(name, text, scans * self._counted, users, self.dialect.quoted, creates)

    def created(self, creates: Creation) -> str:
        """The statement that creates a table from a query."""
        return self.dialect.create_as(creates.table, creates.query, creates.temporary and self._temporary)


_QUOTED = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`)""")


@lru_cache(maxsize=2_000)
def _compiled(name: str, text: str, dialect: Dialect, temporary: bool) -> Shape:
    """Parsing takes longer than most statements run; shapes come back with every run of a process."""
    try:
        trees = parsed(text, "duckdb")
    except SqlglotError as error:
        raise TemplateError(f"{name}: the rendered SQL does not parse") from error
    if len(trees) != 1 or trees[0] is None:
        raise TemplateError(f"{name}: a template must hold exactly one statement")
    tree = trees[0]
    checkpoint()
    check_portable(tree, name)
    _lift(tree)
    checkpoint()
    if not isinstance(tree, exp.Create):
        return Shape(_pieces(dialect.sql(tree), dialect))
    of_session = tree.find(exp.TemporaryProperty)
    if of_session is not None and not temporary:
        of_session.pop()
    if not isinstance(tree.expression, exp.Query):
        return Shape(_pieces(dialect.sql(tree), dialect))
    table = dialect.relation([part.name for part in tree.this.parts])
    return Shape(_pieces(dialect.sql(tree.expression.pop()), dialect), table, of_session is not None)


def _pieces(text: str, dialect: Dialect) -> tuple[str, ...]:
    """The text between slots, and their names. Literals and quoted names may hold anything, but no slot."""
    pieces: list[str] = []
    since_slot: list[str] = []
    for index, part in enumerate(dialect.quoted.split(text)):
        first, *more = [part] if index % 2 else _SLOT.split(part)
        since_slot.append(first)
        if more:
            pieces += ["".join(since_slot), *more[:-1]]
            since_slot = [more[-1]]
    return (*pieces, "".join(since_slot))


def _lift(tree: exp.Expr) -> None:
    """Move the common table expressions of all parts of a statement to its beginning, under names of ours.

    Some engines take a WITH clause nowhere else. And under a plain name, a table of the user's that is called the same
    would not be read any more. Templates call what they define by bare words, and the user's tables by quoted names.
    """
    clauses = list(tree.find_all(exp.With))
    if not clauses:
        return
    defined: dict[str, exp.Expr] = {}
    taken: Counter[str] = Counter()
    for clause in reversed(clauses):  # the innermost first: their names hide those of the outer ones
        for expression in clause.expressions:
            name = f"{ANY_RUN}with_{expression.alias}"
            taken[name] += 1
            own = name if taken[name] == 1 else f"{name}_{taken[name]}"
            assert clause.parent is not None
            _rename(clause.parent, expression.alias, own)
            expression.set("alias", exp.TableAlias(this=exp.to_identifier(own, quoted=True)))
            defined[own] = expression
    for clause in clauses:
        clause.pop()
    ordered: dict[str, exp.Expr] = {}

    def add(name: str) -> None:
        for table in defined[name].find_all(exp.Table):
            if table.name in defined and table.name not in ordered:
                add(table.name)
        ordered.setdefault(name, defined[name])

    for name in defined:
        add(name)
    query = tree.expression if isinstance(tree, exp.Create) else tree
    query.set("with_", exp.With(expressions=list(ordered.values())))


def _rename(query: exp.Expr, name: str, own: str) -> None:
    for table in query.find_all(exp.Table):
        if table.name == name and not table.this.args.get("quoted") and len(table.parts) == 1:
            if not table.alias:
                table.set("alias", exp.TableAlias(this=table.this.copy()))
            table.set("this", exp.to_identifier(own, quoted=True))


def separated(query: str, dialect: Dialect) -> tuple[dict[str, str], str]:
    """The common table expressions that a query of ours begins with, by their names, and the query without them."""
    found: dict[str, str] = {}
    if not query.startswith("WITH "):
        return found, query
    name, opened, depth = "", 0, 0
    for token in sqlglot.tokenize(query, read=dialect.sqlglot):
        if token.token_type == TokenType.L_PAREN:
            depth += 1
            opened = token.end + 1 if depth == 1 else opened
        elif token.token_type == TokenType.R_PAREN:
            depth -= 1
            if depth == 0:
                found[name] = query[opened : token.start]
        elif depth == 0 and token.token_type == TokenType.SELECT:
            return found, query[token.start :]
        elif depth == 0 and token.token_type not in (TokenType.WITH, TokenType.ALIAS, TokenType.COMMA):
            name = query[token.start : token.end + 1]
    raise TemplateError("a query that begins with WITH selects nothing")


def source_relation() -> Relation:
    """The source, as a relation for templates."""
    return Relation(slot=SOURCE)


@lru_cache(maxsize=500)
def redact(sql: str, quoted: re.Pattern[str] = _QUOTED) -> str:
    """The statement with every text and number literal replaced by ``?``, for logs and reports.

    Args:
        sql: the statement.
        quoted: one group: the dialect's text literals and quoted names.
    """
    parts = quoted.split(sql)
    for index, part in enumerate(parts):
        if index % 2 == 0:
            parts[index] = _NUMBER.sub("?", part)
        elif part.startswith("'"):
            parts[index] = "?"
    return "".join(parts)


_NUMBER = re.compile(r"(?<![\w.])\d[\w.+]*")
