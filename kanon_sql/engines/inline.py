"""Scratch tables that are created nowhere: statements carry their queries as WITH clauses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kanon_sql.sql import Compiler, Creation, Statement, separated

__all__ = ["InlineTables"]

_SCRATCH_NAME = re.compile(r"""["`\[]?kanon_[0-9a-z]+_\w+["`\]]?""")


@dataclass
class InlineTables:
    """The queries of a run's inline scratch tables, by their quoted names."""

    _queries: dict[str, Creation] = field(default_factory=dict)
    _statements: dict[str, Statement] = field(default_factory=dict)

    def __contains__(self, table: str) -> bool:
        return table in self._queries

    def add(self, creates: Creation, statement: Statement) -> None:
        """Keep a table's query, instead of creating the table."""
        self._queries[creates.table], self._statements[creates.table] = creates, statement

    def form(self, compiler: Compiler, table: str) -> str:
        """A FROM form of a table: its query, where it is inline, else its name."""
        if table not in self:
            return table
        statement = replace(self._statements[table], sql=self._queries[table].query, creates=None)
        return f"({self.complete(compiler, statement).sql})"

    def complete(self, compiler: Compiler, statement: Statement) -> Statement:
        """A statement with the inline tables that it reads in front of its query."""
        needed = self._needed(compiler, statement.sql, {}) if self._queries else {}
        if not needed:
            return statement
        clauses = ",\n".join(f"{table} AS ({query})" for table, query in needed.items())
        read = [self._statements[table] for table in needed if table in self]
        scans = statement.scans + sum(item.scans for item in read)
        users = statement.users or next((item.users for item in read if item.users), "")
        creates = statement.creates
        if creates is None:
            return replace(statement, sql=_with(clauses, statement.sql), scans=scans, users=users)
        creates = replace(creates, query=_with(clauses, creates.query))
        return replace(statement, sql=compiler.created(creates), scans=scans, users=users, creates=creates)

    def _needed(self, compiler: Compiler, sql: str, found: dict[str, str]) -> Mapping[str, str]:
        """The inline tables that a text reads, those that they read first."""
        for table in dict.fromkeys(_SCRATCH_NAME.findall(sql)):
            if table in self and table not in found:
                whole = self._queries[table].query
                self._needed(compiler, whole, found)
                clauses, query = separated(whole, compiler.dialect)
                # Flat, since a WITH clause may not stand in another one everywhere; numbered, since names repeat.
                own = {name: compiler.quote(f"{name[1:-1]}_of_{len(found)}") for name in clauses}
                for name, text in {**clauses, table: query}.items():
                    found[own.get(name, name)] = _renamed(text, own)
        return found


def _renamed(text: str, names: Mapping[str, str]) -> str:
    for old, new in names.items():
        text = text.replace(old, new)
    return text


def _with(clauses: str, query: str) -> str:
    """A query with more common table expressions before those that it has."""
    own = query.startswith("WITH ")
    return f"WITH {clauses}{',' if own else ''}\n{query.removeprefix('WITH ')}"
