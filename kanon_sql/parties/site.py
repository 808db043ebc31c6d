"""One party of a horizontally split table: its own rows in its own database, and what it sends of their classes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from kanon_sql.engines import Column, Row, Workspace, refuse_incomplete
from kanon_sql.errors import UnsupportedError
from kanon_sql.frequency import FrequencySets, Prepared
from kanon_sql.hierarchies import exact_value, value_text
from kanon_sql.parties.exchange import MEDIATOR, MOST_TOKENS, Transcript
from kanon_sql.search import Node
from kanon_sql.sql import Relation, Sql

__all__ = ["Site"]


@dataclass
class Site:
    """A party's table, prepared in its own database.

    Attributes:
        name: what to call it.
        given: its frequency sets.
        label_key: what labels are hashed with inside the databases; the same for all parties.
        transcript: where what it sends and gets is written down.
    """

    name: str
    given: Prepared
    label_key: bytes = field(repr=False)
    transcript: Transcript
    _hashes: dict[tuple[int | str, int], Relation] = field(default_factory=dict)
    _asked: Iterator[int] = field(default_factory=count)

    @property
    def workspace(self) -> Workspace:
        """Where its statements run."""
        return self.given.workspace

    @property
    def sets(self) -> FrequencySets:
        """Its frequency sets."""
        return self.given.sets

    def asked(self, node: Node, key: bytes, most: int | None) -> dict[str, int]:
        """What the mediator gets of a node that the search asks about: token -> rows, or ``most`` where there are more.

        Args:
            node: the levels.
            key: what tokens are made with; the same for all parties, and another one for every question.
            most: rows beyond this many are not told; None to tell all.

        Raises:
            UnsupportedError, InternalError: as :meth:`send`.
        """
        tables, fills, context = self._parts(node, key)
        return self._received({**self._quoted(tables), **fills}, most, self.sets.kept_rows, asked=True, **context)

    def values(self, node: Node, key: bytes, attribute: str, most: int | None) -> list[tuple[str, str]]:
        """What the mediator gets of the sensitive values in the classes of a node: a class's token, a value's token.

        Args:
            node: the levels.
            key: that of the classes; a value's token is made of the class as well, so that no two classes share one.
            attribute: the sensitive attribute.
            most: of more different values in a class this many are told; None to tell all.
        """
        dialect = self.workspace.dialect
        tables, fills, context = self._parts(node, key)
        tables |= {"base": self.sets.values[attribute], "value_hashes": self._value_hashes_of(attribute)}
        fills["value"] = dialect.keyed_hash(dialect.quote("labels_and_value"), key)
        context["of_values"] = True
        return self._received_values("parties/values", {**self._quoted(tables), **fills}, most=most, **context)

    def classes(self, node: Node, key: bytes) -> Relation:
        """A scratch table with the packed keys, the token and the rows of each of its classes; as :meth:`asked`."""
        tables, fills, context = self._parts(node, key)
        return self.workspace.make("parties/classes", self._name("classes"), tables, fills, **context)

    def _parts(self, node: Node, key: bytes) -> tuple[dict[str, Relation], dict[str, str], dict[str, Any]]:
        """What a query of the classes of a node is made of: tables, other slots, and the template's values."""
        codes, dialect = self.sets.codes, self.workspace.dialect
        words, labels = codes.keyed(node), self.sets.keyed(node)
        keys = codes.keys(node, dialect, "base")
        fills = {f"key_{word}": text for word, text in zip(words, keys, strict=True)}
        fills |= {f"code_{index}": codes.code(index, node[index], dialect, "vectors") for index in labels}
        fills["token"] = dialect.keyed_hash(dialect.quote("labels"), key)
        tables = {f"table_{index}": self._hashes_of(index, node[index]) for index in labels}
        tables["base"] = self.sets.base
        return tables, fills, {"words": tuple(words), "labels": tuple(labels), "of_values": False}

    def _quoted(self, tables: Mapping[str, Relation]) -> dict[str, str]:
        return {slot: self.workspace.quoted(table) for slot, table in tables.items()}

    def written(self, table: Relation, columns: Mapping[str, Column], names: Sequence[str], key: bytes) -> Relation:
        """A scratch table with a token and the rows of each class of a written table, read from the table itself.

        Args:
            table: the written table.
            columns: its columns by name.
            names: the quasi-identifiers.
            key: what tokens are made with.
        """
        fills, values = self._written_parts(columns, names, key)
        return self.workspace.make("parties/written", self._name("written"), {"written": table}, fills, values=values)

    def written_values(
        self, table: Relation, columns: Mapping[str, Column], names: Sequence[str], key: bytes, attribute: str
    ) -> list[tuple[str, str]]:
        """What the mediator gets of the sensitive values in the classes of a written table, as :meth:`values`."""
        dialect = self.workspace.dialect
        fills, values = self._written_parts(columns, names, key)
        fills |= self._quoted({"written": table})
        text = dialect.quote("held_value")
        fills["hash_of_value"] = dialect.keyed_hash(text, self.label_key)
        fills["value"] = dialect.keyed_hash(dialect.quote("labels_and_value"), key)
        sensitive = value_text(columns[attribute], exact_value(columns[attribute], "checked"))
        return self._received_values("parties/written_values", fills, values=values, sensitive=sensitive)

    def _written_parts(
        self, columns: Mapping[str, Column], names: Sequence[str], key: bytes
    ) -> tuple[dict[str, str], tuple[Sql, ...]]:
        """What fills the slots of a query of a written table, and the expressions of its quasi-identifiers."""
        dialect = self.workspace.dialect
        fills = {
            f"hash_{index}": dialect.keyed_hash(dialect.quote(f"q{index}"), self.label_key)
            for index, _ in enumerate(names)
        }
        fills["token"] = dialect.keyed_hash(dialect.quote("labels"), key)
        return fills, tuple(exact_value(columns[name], "checked") for name in names)

    def send(self, classes: Relation, expected: int) -> dict[str, int]:
        """What the mediator gets of the classes of the chosen node, or of the written table: token -> rows.

        Args:
            classes: from :meth:`classes` or :meth:`written`.
            expected: the rows that all classes have together.

        Raises:
            UnsupportedError: there are too many.
            InternalError: a row is in no class.
        """
        return self._received({"classes": self.workspace.quoted(classes)}, None, expected, asked=False)

    def _received(self, fills: Mapping[str, str], most: int | None, expected: int, **context: Any) -> dict[str, int]:
        """The rows of ``parties/tokens``, counted."""
        rows = self._fetched("parties/tokens", fills, most=most, **context)
        sent = {str(token): int(rows) for token, rows in rows if token is not None}
        (total,) = (int(rows) for token, rows in rows if token is None)
        refuse_incomplete("parties/classes", total, expected)
        what = "tokens of classes with their rows" + ("" if most is None else f", at most {most:,} each")
        self.transcript.add(self.name, MEDIATOR, what, sent.items())
        return sent

    def _received_values(self, template: str, fills: Mapping[str, str], **context: Any) -> list[tuple[str, str]]:
        """Tokens of classes with those of values in them, counted."""
        pairs = [(str(token), str(value)) for token, value in self._fetched(template, fills, **context)]
        most = context.get("most")
        what = "tokens of classes with those of sensitive values" + ("" if most is None else f", at most {most:,} each")
        self.transcript.add(self.name, MEDIATOR, what, pairs)
        return pairs

    def _fetched(self, template: str, fills: Mapping[str, str], **context: Any) -> list[Row]:
        """The rows of a query of tokens, unless there are too many."""
        workspace, limit = self.workspace, MOST_TOKENS + 2
        rows = workspace.query(workspace.compiler.filled(template, fills, limit=limit, **context), limit)
        if len(rows) == limit:
            raise UnsupportedError(
                f"{self.name}: a generalization has more than {MOST_TOKENS:,} classes here, and a party sends no more "
                "tokens at once; raise minimum_level of the columns with many values"
            )
        return rows

    def suppressed(self, classes: Relation, node: Node, refused: Collection[str]) -> Relation:
        """A scratch table with the packed keys of the classes whose tokens come back as too small.

        Args:
            classes: from :meth:`classes`.
            node: the levels.
            refused: the tokens; all are its own.
        """
        workspace = self.workspace
        self.transcript.add(
            MEDIATOR, self.name, "tokens of its own classes to suppress", ((token,) for token in refused)
        )
        loaded = workspace.table("refused")
        workspace.load(loaded, ["l0"], [(token,) for token in sorted(refused)])
        return workspace.make(
            "parties/suppressed",
            "suppressed",
            {"classes": classes, "refused": loaded},
            {},
            words=tuple(self.sets.codes.keyed(node)),
        )

    def _name(self, what: str) -> str:
        """A scratch table's name that no other question has."""
        return f"{what}{next(self._asked)}"

    def _hashes_of(self, index: int, level: int) -> Relation:
        """The keyed hashes of the labels of one level, made when first asked for."""
        if (index, level) not in self._hashes:
            workspace, dialect = self.workspace, self.workspace.dialect
            fills = {
                "code": self.sets.codes.from_lookup(index, level, dialect),
                "label": dialect.quote(f"l{level}"),
                "hash": dialect.keyed_hash(dialect.quote("label"), self.label_key),
            }
            lookup = self.sets.lookups[index].table
            self._hashes[index, level] = workspace.make(
                "parties/hashes", f"hashes{index}_{level}", {"lookup": lookup}, fills
            )
        return self._hashes[index, level]

    def _value_hashes_of(self, attribute: str) -> Relation:
        """The keyed hashes of a sensitive attribute's values by their codes, made when first asked for."""
        key = (attribute, 0)
        if key not in self._hashes:
            workspace, dialect, columns = self.workspace, self.workspace.dialect, self.given.columns
            self._hashes[key] = workspace.make(
                "parties/value_hashes",
                f"value_hashes{len(self._hashes)}",
                {"reference": self.sets.references[attribute]},
                {"hash": dialect.keyed_hash(dialect.quote("label"), self.label_key)},
                text=value_text(columns[attribute], Sql("reference.value")),
            )
        return self._hashes[key]
