"""What is behind a FROM form: the tables and views that are read, and whether these are what they seem.

Two things make a verdict about a table say nothing of its persons. Rows may be versions of one row, which the engine
has not merged yet or keeps as history: five versions of one person are no five persons. And a view or a query may give
other rows at each reading, while a run reads several times. Every relation is described before it is read, so that this
is looked at there, once for each in a run: by the texts of views, however deep, and by what the catalog says of tables.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.errors import SqlglotError

from kanon_sql.engines.base import Column, Meter
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.sql import Read, Statement, parsed, reads_of, ties_of, unstable_parts, view_queries

if TYPE_CHECKING:
    from kanon_sql.engines.session import SessionEngine

__all__ = ["ReadInspector", "Stored"]

_DELETED = frozenset(
    "deleted isdeleted wasdeleted softdeleted deletedflag deletedat deletedon deleteddate deletedtime deletiondate "
    "deletiontime datedeleted isremoved removedat removedon tombstone".split()
)
"""Names of columns that mark deleted rows, in small letters."""

MOST = 500
"""Tables and views that one relation may be made of."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What a catalog says of a table or view that is read.

    Attributes:
        full: its full name.
        query: the text by which it is computed at each reading; None for what is stored.
        hidden: it is computed, and its text is not shown.
        behind: tables whose rows it shows as its own, such as those of a Distributed table.
        versions: why its rows may be versions of other rows, unless it is read with FINAL: words that follow its name.
        unmerged: the same, although it is read with FINAL.
        inherits: it has tables that inherit from it, and whether some of these have columns of their own.
        changing: what makes it give other rows each time, by the engine's own account: ends of a sentence.
        notes: what else to know of its rows, in sentences.
    """

    full: tuple[str, ...]
    query: str | None = None
    hidden: bool = False
    behind: tuple[tuple[str, ...], ...] = ()
    versions: str | None = None
    unmerged: str | None = None
    inherits: tuple[int, bool] = (0, False)
    changing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass
class ReadInspector:
    """Looks at what a connection reads, and remembers it for as long as a run lasts.

    Args:
        engine: the connection.

    Attributes:
        notes: what a result should say of what was read.
    """

    engine: SessionEngine
    notes: list[str] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)
    _counted: set[tuple[str, ...]] = field(default_factory=set)
    """Tables whose versions of rows the spec wants counted."""

    def look(self, relation: str, *, counts_versions: bool = False) -> None:
        """Look at a FROM form.

        Args:
            relation: it.
            counts_versions: versions of a row are meant to be rows, here and in what else is made of the same tables.

        Raises:
            UnsupportedError: rows of a table may be versions of other rows.
            SpecError: a view gives other rows each time.
        """
        ours = f"kanon_{self.engine.run_id}_"
        if not self.engine.shows_views or ours in relation or (relation in self._seen and not counts_versions):
            return
        self._seen.add(relation)
        try:
            trees = parsed(f"SELECT * FROM {relation}", self.engine.dialect.sqlglot)
        except SqlglotError:  # the user's queries parse, since others are refused; what we put around one need not
            return
        with self._unmetered():
            self._walk(
                deque((read, "") for tree in trees if tree is not None for read in reads_of(tree)), counts_versions
            )

    def columns(self, relation: str, columns: Sequence[Column]) -> None:
        """Say of a column that its name marks deleted rows; who writes a query has chosen the rows."""
        if relation.startswith("(") or f"kanon_{self.engine.run_id}_" in relation:
            return
        for column in columns:
            if re.sub(r"[\W_]", "", column.name).lower() in _DELETED:
                self._note(
                    f"the column {column.name}, by its name, marks rows that an application has deleted, and they are "
                    "read as all others. Leave them out in a source query"
                )

    def dates(self, path: str, statement: Statement) -> None:
        """Say in which form the dates of a CSV file were read, where it is not that of ISO 8601.

        Args:
            path: of the file.
            statement: asks the engine for the forms of dates and of moments; an answer is one row.
        """
        with self._unmetered():
            (found,) = self.engine.fetch(statement, 1)
        for form in found:
            if form and not str(form).startswith("%Y"):
                self._note(
                    f"{path}: dates were read as {form} (%d day, %m month, %y year of two digits); where that is wrong "
                    "write source: {file: ..., csv: {dates: '...'}}"
                )

    def query(self, text: str) -> None:
        """Look at the user's own query, whose tables are looked at when it is described.

        Raises:
            SpecError: it gives other rows each time.
        """
        for tree in parsed(text, self.engine.dialect.sqlglot):
            if tree is not None:
                self._refuse_unstable(tree, "source query", "")

    @contextmanager
    def _unmetered(self) -> Iterator[None]:
        """Questions to the catalog are no part of what a run costs, and no row comes back by them."""
        before, self.engine.meter = self.engine.meter, Meter()
        try:
            yield
        finally:
            self.engine.meter = before

    def _walk(self, waiting: deque[tuple[Read, str]], counts_versions: bool) -> None:
        """Look at what is named, and at what that is made of. With each read goes the view that it stands in."""
        seen: set[Read] = set()
        while waiting:
            read, via = waiting.popleft()
            if read in seen:
                continue
            seen.add(read)
            if len(seen) > MOST:
                raise UnsupportedError(
                    f"{via or read.parts[-1]}: it reads more than {MOST} tables and views, the most that are "
                    "inspected; store its rows in a table, and read that"
                )
            if read.function:
                self._function(read, via, counts_versions)
                continue
            stored = self.engine._stored(read.parts)
            if stored is None:
                continue
            name = ".".join(read.parts)
            if stored.changing:
                raise SpecError(
                    f"{name}: this view {' and '.join(stored.changing)}, so it returns different rows each time, "
                    f"and a run reads it several times; {_STORE}"
                )
            self._versions(read, stored, name, via, counts_versions)
            self._add_notes(read, stored, name)
            waiting += [(Read(parts, final=read.final), name) for parts in stored.behind]
            if stored.query is not None:
                waiting += [(inner, name) for inner in self._inside(stored.query, name, read.parts)]

    def _function(self, read: Read, via: str, counts_versions: bool) -> None:
        """A table function may read tables that are not seen from here."""
        (name,) = read.parts
        if name not in self.engine.reads_elsewhere or read.final or counts_versions:
            return
        raise UnsupportedError(
            f"{self._shown(f'{name}(...)', via)}: it may read tables whose rows are merged later, and kanon_sql "
            f"cannot inspect those; {_REMEDY.format(of=name + '(...)')}"
        )

    def _versions(self, read: Read, stored: Stored, name: str, via: str, counts_versions: bool) -> None:
        """Refuse rows that may be versions of others, unless they are meant."""
        why = stored.unmerged if read.final else stored.versions
        if read.history:
            why = "is read with all its versions (FOR SYSTEM_TIME)"
        if why is None:
            return
        if counts_versions:
            self._counted.add(stored.full)
        if stored.full in self._counted:
            self._note(f"{name} {why}: each version counts as a row, as the spec says (count_versions)")
            return
        remedy = _AS_OF if read.history else _WITHOUT if read.final else _REMEDY.format(of=name)
        raise UnsupportedError(
            f"{self._shown(name, via)} {why}: several rows may be versions of one, and one person in five versions "
            f"would count as five; {remedy}"
        )

    def _add_notes(self, read: Read, stored: Stored, name: str) -> None:
        tables, more = stored.inherits
        if tables and not read.only:
            others = "; columns that only these have are not read" if more else ""
            self._note(
                f"{name}: {tables} {'table inherits' if tables == 1 else 'tables inherit'} from it, and rows of "
                f"{'that' if tables == 1 else 'those'} are read as well{others} (FROM ONLY in a source query leaves "
                "them out)"
            )
        if stored.hidden:
            self._note(
                f"{name}: the text of this view is not shown to this connection, so whether it gives the same rows "
                "each time is not known"
            )
        for note in stored.notes:
            self._note(f"{name}: {note}")

    def _inside(self, text: str, name: str, parts: tuple[str, ...]) -> list[Read]:
        """What a view is made of, which gives the same rows each time."""
        try:
            queries = list(view_queries(parsed(text, self.engine.dialect.sqlglot)))
        except SqlglotError:
            queries = []
        if not queries:
            unread = "kanon_sql cannot parse the SQL of this view"
            if self.engine.reads_elsewhere:  # an engine that merges rows later
                raise UnsupportedError(
                    f"{name}: {unread}, so it may read tables whose rows are merged later; read those tables in "
                    "a source query, or set count_versions: true under source if versions of a row should count "
                    "as rows"
                )
            self._note(f"{name}: {unread}, so whether it gives the same rows each time is not known")
            return []
        called = self.engine._changing_calls(parts, text)
        if called:
            raise SpecError(
                f"{name}: this view calls {', '.join(called)}, so it returns different rows each time; {_STORE}"
            )
        for tree in queries:
            self._refuse_unstable(tree, name, "this view has ")
        return [read for tree in queries for read in reads_of(tree)]

    def _refuse_unstable(self, tree: exp.Expr, name: str, has: str) -> None:
        found = unstable_parts(tree, self.engine.repeatable_samples)
        if found:
            raise SpecError(
                f"{name}: {has or 'it has '}{' and '.join(found)}, so it returns different rows each time, and a "
                f"run reads it several times; {_STORE}"
            )
        ties = ties_of(tree)
        if ties:
            self._note(
                f"{name}: where rows tie in its order, {' and '.join(ties)} may pick other ones at each reading; let "
                "the order end with a column in which no value repeats"
            )

    @staticmethod
    def _shown(name: str, via: str) -> str:
        return f"{name}, which {via} reads," if via and via != name else name

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


_STORE = "order by columns in which no value repeats, or store its rows in a table and read that"
_MEANT = "or set count_versions: true under source if versions of a row should count as rows"
_REMEDY = f"read {{of}} with FINAL, in a source query or in a view that says so behind the table's name, {_MEANT}"
_AS_OF = f"read one moment (FOR SYSTEM_TIME AS OF), {_MEANT}"
_WITHOUT = f"copy it into a table whose sorting key has no Nullable column, {_MEANT}"
