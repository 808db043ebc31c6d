"""Tables that no other user may read before they are verified, where rights in a schema hold for each table in it.

Such a table is made as a temporary one, which other sessions cannot see. Once it is verified it is copied to its
place in the schema, under its scratch name, and dropped; then it is published as elsewhere.
"""

from __future__ import annotations

from dataclasses import replace

from kanon_sql.sql import Dialect, Statement

__all__ = ["Concealed"]


class Concealed:
    """The tables of one session that are temporary for now, and where each is to be."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[str, ...]] = {}

    def hide(self, dialect: Dialect, place: tuple[str, ...]) -> tuple[str, ...]:
        """Let a table be made as a temporary one.

        Args:
            dialect: the engine's.
            place: its name, once it is verified.

        Returns:
            The name to make and read it under until then.
        """
        own = dialect.of_the_session(place)
        self._places[dialect.relation(own)] = place
        return own

    def made(self, dialect: Dialect, statement: Statement) -> Statement:
        """The statement that makes a hidden table as a temporary one; any other statement as it is."""
        creates = statement.creates
        if creates is None or creates.table not in self._places:
            return statement
        return replace(statement, sql=dialect.create_as(creates.table, creates.query, True))

    def shown(self, dialect: Dialect, own: tuple[str, ...]) -> list[str]:
        """The statements that put a hidden table in its place; none for any other table."""
        place = self._places.pop(dialect.relation(own), None)
        return [] if place is None else dialect.copied(own, place)
