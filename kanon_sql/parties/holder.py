"""One party of a vertically split table: some columns of every person, under a key that all parties have."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any

from kanon_sql.engines import Workspace, refuse_incomplete
from kanon_sql.errors import UnsupportedError
from kanon_sql.frequency import FrequencySets, Prepared
from kanon_sql.hierarchies import exact_value, value_text
from kanon_sql.parties.exchange import MEDIATOR, MOST_TOKENS, Transcript, fresh_key
from kanon_sql.search import Node
from kanon_sql.sql import PORTABLE, Relation, Sql, exact_text, identifier, source_relation

__all__ = ["Holder"]


@dataclass
class Holder:
    """A party's table, prepared in its own database.

    Attributes:
        name: what to call it.
        given: its frequency sets.
        key: the column of keys.
        others: the columns that are released as they are.
        person_key: what keys are hashed with inside the databases; the same for all parties.
        transcript: where what it sends and gets is written down.
    """

    name: str
    given: Prepared
    key: str
    others: Sequence[str]
    person_key: bytes = field(repr=False)
    transcript: Transcript
    _asked: Iterator[int] = field(default_factory=count)

    @property
    def workspace(self) -> Workspace:
        """Where its statements run."""
        return self.given.workspace

    @property
    def sets(self) -> FrequencySets:
        """Its frequency sets."""
        return self.given.sets

    @property
    def given_names(self) -> list[str]:
        """Its quasi-identifiers."""
        return [lookup.name for lookup in self.sets.lookups]

    @cached_property
    def _members(self) -> Relation:
        """Its rows with the hashes of their keys; refuses keys that two rows have."""
        workspace, target = self.workspace, self.workspace.table("members")
        codes = [Sql(word) for word in self.sets.codes.vectors(PORTABLE, lambda index: f"lookup{index}")]
        self._make("parties/members", target, self._person, codes=codes)
        rows, persons, there = workspace.row("parties/persons", members=target, source=source_relation(), key=self.key)
        refuse_incomplete("parties/members", rows, there)
        if rows != persons:
            raise UnsupportedError(
                f"{self.name}: {int(rows - persons):,} rows share their key in {self.key!r} with another row; "
                "the parties' rows are joined one to one, so aggregate them in a view first"
            )
        if rows > MOST_TOKENS:
            raise UnsupportedError(
                f"{self.name}: {int(rows):,} rows have a key, and a party sends at most {MOST_TOKENS:,} tokens at "
                "once; divide the table by a source query"
            )
        return target

    @cached_property
    def _vectors(self) -> Relation:
        """Its different vectors, each with a token."""
        dialect = self.workspace.dialect
        fills = {"token": dialect.keyed_hash(dialect.quote("labels"), fresh_key())}
        return self.workspace.make("parties/vectors", "vectors", {"members": self._members}, fills, words=self._words)

    def vectors(self) -> dict[str, str]:
        """What the mediator gets once: a person's token -> that of the person's vector."""
        tables = {"members": self._members, "vectors": self._vectors}
        return self._sent(
            "parties/held", "tokens of persons with those of their vectors", tables, {}, words=self._words
        )

    def values(self, attribute: str) -> dict[str, str]:
        """What the mediator gets once of a sensitive attribute: a person's token -> that of the value, if not NULL."""
        dialect, target = self.workspace.dialect, self.workspace.table(f"values{next(self._asked)}")
        fills = {**self._person, "token": dialect.keyed_hash(dialect.quote("held_value"), fresh_key())}
        self._make("parties/sensitive", target, fills, value=self._text(attribute))
        what = "tokens of persons with those of a sensitive value"
        return self._sent("parties/contents", what, {"cells": target}, {})

    def classes(self, node: Node) -> dict[str, str]:
        """What the mediator gets of a node of this party's own columns: a vector's token -> that of its class."""
        dialect, codes = self.workspace.dialect, self.sets.codes
        words = codes.keyed(node)
        keys = codes.keys(node, dialect, "vectors")
        fills = {f"key_{word}": text for word, text in zip(words, keys, strict=True)}
        fills["token"] = dialect.keyed_hash(dialect.quote("labels"), fresh_key())
        what = "tokens of vectors with those of their classes"
        return self._sent("parties/generalized", what, {"vectors": self._vectors}, fills, words=tuple(words))

    def contents(self, node: Node) -> tuple[Relation, dict[str, str]]:
        """What would be released of its rows at a node: a table of cells, and a person's token -> that of the cells."""
        dialect = self.workspace.dialect
        cells = [
            exact_text(Sql(f"CAST(lookup{lookup.index}.l{level} AS VARCHAR)"))
            for lookup, level in zip(self.sets.lookups, node, strict=True)
        ]
        cells += [self._text(name) for name in self.others]
        content_key = fresh_key()
        fills = {
            f"hash_{index}": dialect.keyed_hash(dialect.quote(f"l{index}"), content_key)
            for index, _ in enumerate(cells)
        }
        fills["token"] = dialect.keyed_hash(dialect.quote("labels"), fresh_key())
        target = self.workspace.table("cells")
        self._make("parties/cells", target, {**self._person, **fills}, cells=cells)
        what = "tokens of persons with those of their rows' content"
        return target, self._sent("parties/contents", what, {"cells": target}, {})

    def opened(self, cells: Relation, wanted: Collection[str]) -> dict[str, tuple[str, ...]]:
        """The cells of rows that are released: token -> them, each ``v`` and its text, or ``n`` for NULL.

        Args:
            cells: from :meth:`contents`.
            wanted: their tokens.
        """
        workspace = self.workspace
        self.transcript.add(MEDIATOR, self.name, "tokens of released content", ((token,) for token in wanted))
        loaded = workspace.table("wanted")
        workspace.load(loaded, ["l0"], [(token,) for token in sorted(wanted)])
        width = len(self.sets.lookups) + len(self.others)
        quoted = {"cells": workspace.quoted(cells), "wanted": workspace.quoted(loaded)}
        rows = workspace.query(workspace.compiler.filled("parties/opened", quoted, cells=width), len(wanted))
        self.transcript.add(self.name, MEDIATOR, "released cells", rows)
        refuse_incomplete("parties/opened", len(rows), len(wanted), "contents")
        return {str(row[-1]): tuple(map(str, row[:-1])) for row in rows}

    @property
    def _words(self) -> tuple[int, ...]:
        return tuple(range(self.sets.codes.words))

    @property
    def _person(self) -> dict[str, str]:
        """What fills the slot of a person: the keyed hash of the key."""
        dialect = self.workspace.dialect
        return {"person": dialect.keyed_hash(dialect.quote("key_text"), self.person_key)}

    def _text(self, name: str) -> Sql:
        """A column of the source as text, the same on every engine."""
        return value_text(self.given.columns[name], Sql(f"kanon_source.{identifier(name)}"))

    def _make(self, template: str, target: Relation, fills: Mapping[str, str], **context: Any) -> None:
        """Make a table of the source's rows joined to the lookup tables."""
        columns, compiler = self.given.columns, self.workspace.compiler
        lookups = [
            {
                "index": lookup.index,
                "table": lookup.table,
                "value": exact_value(columns[lookup.name], "kanon_source"),
                "has_nulls": lookup.has_nulls,
            }
            for lookup in self.sets.lookups
        ]
        shape = compiler.shape(
            template,
            (target,),
            lambda: {
                "target": target,
                "source": source_relation(),
                "lookups": lookups,
                "key": self._text(self.key),
                **context,
            },
        )
        self.workspace.run(compiler.fill(template, shape, fills))

    def _sent(
        self, template: str, what: str, tables: Mapping[str, Relation], fills: Mapping[str, str], **context: Any
    ) -> dict[str, str]:
        """Pairs of tokens that the mediator gets: the first of each -> the second."""
        workspace = self.workspace
        quoted = {slot: workspace.quoted(table) for slot, table in tables.items()}
        statement = workspace.compiler.filled(template, {**quoted, **fills}, **context)
        found = {str(first): str(second) for first, second in workspace.query(statement, MOST_TOKENS)}
        self.transcript.add(self.name, MEDIATOR, what, found.items())
        return found
