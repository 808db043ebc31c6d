"""New keys in the place of the old ones: random numbers, or keyed hashes that every release with one secret shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SpecError
from kanon_sql.frequency import drawn_number
from kanon_sql.hierarchies import value_text
from kanon_sql.perturbation import SHIFT
from kanon_sql.relations.members import Member, States
from kanon_sql.spec import PERSON, RelationalSpec, derived_key
from kanon_sql.sql import Relation, Sql, identifier, sql_list

__all__ = ["DRAW_DIGITS", "NewKeys"]

_HASHED = ("text", "integer", "date", "other")
"""Kinds of values whose text is the same on every engine, and of equal values the same."""

DRAW_DIGITS = 32
"""These digits of a key, 128 bits, decide an order: with a row's number they are one block of SHA-256, not two."""


@dataclass
class NewKeys:
    """The new keys of all tables.

    Attributes:
        workspace: where.
        spec: says what is released.
        members: the tables, each after its parent.
        states: the rows that stay.
        drawn: a secret of this run, which decides the order of rows and of random keys; no seed of a session does.
        of_rows: table -> ``id`` and ``number``, its rows' new keys, with the levels of the rows.
        of_values: column in lower case -> ``id`` (the value) and ``number``, the new keys that several tables share.
    """

    workspace: Workspace
    spec: RelationalSpec
    members: Mapping[str, Member]
    states: States
    drawn: str
    of_rows: dict[str, Relation] = field(default_factory=dict)
    of_values: dict[str, Relation] = field(default_factory=dict)

    def make(self) -> None:
        """Make them.

        Raises:
            SpecError: columns that are to have the same keys have values of different kinds, or no secret is where the
                spec says.
        """
        for number, column in enumerate(sorted(self.spec.replaced)):
            self.of_values[column] = self._shared(column, number)
        for number, (name, member) in enumerate(self.members.items()):
            self.of_rows[name] = self._of_rows(member, number)

    def drawn_of_persons(self) -> Sql:
        """A number for each person that no released key is made of: of this run, or by the secret of their old keys."""
        person = self.members[PERSON]
        if self.spec.key_variable is None:
            return drawn_number(Sql("CAST(own.id AS VARCHAR)"), derived_key(self.drawn, SHIFT))
        key = person.placed.table.key or ()
        texts = [self._text(person, column, f"key{place}") for place, column in enumerate(key)]
        return drawn_number(sql_list(texts, " || '|' || "), self.spec.key_for(SHIFT))

    def _of_rows(self, member: Member, number: int) -> Relation:
        target = self.workspace.table(f"new_keys{number}")
        state, shared = self.states[member.name], self.spec.shared_key(member.name)
        levels = len(member.columns)
        if member.parent is not None and self.spec.is_key_of_parent(member.name):
            self.workspace.execute(
                "relations/keys_of_parent",
                target=target,
                state=state,
                coded=member.coded,
                parent_keys=self.of_rows[member.parent.name],
                levels=levels,
            )
        elif shared is not None:
            self.workspace.execute(
                "relations/keys_of_values",
                target=target,
                state=state,
                rows=member.rows,
                shared=self.of_values[shared],
                levels=levels,
            )
        else:
            placed = self.spec.person.released_as if member.name == PERSON else member.name
            key = member.placed.table.key or ()
            texts = [self._text(member, column, f"key{place}") for place, column in enumerate(key)]
            what = f"rows of {placed} by {', '.join(key)}"
            self._numbered(target, member.rows, state, what, texts, levels)
        return target

    def _shared(self, column: str, number: int) -> Relation:
        """The new keys of the values that columns of one name have in all tables."""
        items, kinds, texts = [], set[str](), list[Sql]()
        for name, member in self.members.items():
            place = {item.casefold(): place for place, item in enumerate(member.placed.table.replace)}.get(column)
            own = "key0" if self.spec.shared_key(name) == column else None
            own = f"replaced{place}" if place is not None else own
            if own is None:
                continue
            source = next(item for item in member.types.values() if item.name.casefold() == column)
            kinds.add(source.kind)
            items.append({"column": own, "rows": member.rows, "state": self.states[name]})
            texts = [self._text(member, source.name, "id")]
        if len(kinds) > 1:
            raise SpecError(
                f"replace: {column!r} is {' and '.join(sorted(kinds))} in different tables, so that equal values would "
                "not have the same key; cast it in a query"
            )
        values, target = self.workspace.table(f"values{number}"), self.workspace.table(f"shared_keys{number}")
        self.workspace.execute("relations/different_values", target=values, items=items)
        self._numbered(target, values, values, f"values of {column}", texts)
        return target

    def _numbered(
        self, target: Relation, rows: Relation, state: Relation, what: str, texts: Sequence[Sql], levels: int = 0
    ) -> None:
        """New keys of rows, with their levels, or of values; by the secret where there are old ones."""
        workspace = self.workspace
        if self.spec.key_variable is None or not texts:
            draw = drawn_number(Sql("CAST(id AS VARCHAR)"), derived_key(self.drawn, what)[:DRAW_DIGITS])
            workspace.execute("relations/new_keys", target=target, state=state, draw=draw, levels=levels)
            return
        keyed = workspace.table(f"texts{len(self.of_rows) + len(self.of_values)}")
        workspace.execute("relations/key_texts", target=keyed, rows=rows, state=state, texts=list(texts), levels=levels)
        dialect, key = workspace.dialect, bytes.fromhex(self.spec.key_for(what))
        names = [dialect.quote(f"text{place}") for place, _ in enumerate(texts)]
        fills = {f"hash{place}": dialect.keyed_hash(name, key) for place, name in enumerate(names)}
        fills["number"] = dialect.keyed_hash(dialect.quote("written"), key)
        context = {"target": target, "keyed": keyed, "texts": len(texts), "levels": levels}
        shape = workspace.compiler.shape("relations/hashed_keys", (target,), lambda: context)
        workspace.run(workspace.compiler.fill("relations/hashed_keys", shape, fills))

    def _text(self, member: Member, name: str, own: str) -> Sql:
        """A key as text, the same on every engine."""
        column: Column = member.types[name]
        if self.spec.key_variable is not None and column.kind not in _HASHED:
            raise SpecError(
                f"{member.placed.shown}: {name!r} is {column.type}, whose text depends on the database, so that no "
                "key of other releases would be the same; use whole numbers, text or dates, or cast it in a query"
            )
        return value_text(column, Sql(f"own.{identifier(own)}"))
