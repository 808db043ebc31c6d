"""Macros under the names of DuckDB's own functions, and when there can be a new one.

Listing all functions takes 16 ms of processor time, which is as long as a check of a small table. So they are listed
only where a user may have made a macro since the last listing. Two sequences, which DuckDB keeps for all connections
to an instance, tell that no user can have:

- transactions are numbered: as long as all were this engine's own, no other user made anything;
- entries of catalogs (databases, schemas, tables, functions) are numbered: queries take no number, and a macro takes
  some while it is made. A new cursor brings a new temporary database, whose number is read.

Neither tells when a transaction is committed, and what it made before is seen only then. So both are believed only if
the instance had no other connection while the functions were listed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from kanon_sql.errors import UnsupportedError

if TYPE_CHECKING:
    import duckdb

__all__ = ["Macros"]

_FUNCTIONS = frozenset((
    "abs", "count", "count_star", "date_part", "datepart", "dense_rank", "encode", "floor", "greatest", "lag",
    "lead", "least", "left", "length", "list_contains", "list_position", "ln", "lower", "ltrim", "max", "min",
    "nullif", "random", "range", "repeat", "replace", "right", "round", "row_number", "rtrim", "sha256",
    "string_split", "substr", "substring", "sum", "timezone", "to_days", "to_hours", "translate", "trim",
    "txid_current", "unhex", "unnest", "+", "-", "*", "/", "//", "%", "||", "&",
))  # fmt: skip
"""Functions of DuckDB's that our SQL calls; a macro of the same name would be called in their place."""

_ENTRIES = (
    "SELECT (SELECT * FROM duckdb_connection_count()), database_oid FROM duckdb_databases() "
    "WHERE database_name = 'temp'"
)


@dataclass(slots=True)
class _InstanceState:
    """What was found out about a connection's instance.

    Attributes:
        transactions: how many transactions of engines on this connection there were since the functions were listed.
        listed_in: the number of the transaction before that; None where counting them tells nothing.
        seen: the number of the newest entry of a catalog, and by how much a look at it raises it; None where unknown.
    """

    transactions: int = 0
    listed_in: int | None = None
    seen: tuple[int, int] | None = None


_OF_CONNECTIONS: WeakKeyDictionary[duckdb.DuckDBPyConnection, _InstanceState] = WeakKeyDictionary()
"""A program that gives verbs its own connection makes an engine with each; they are all on one connection."""


class _Probe(NamedTuple):
    """How many connections the instance has, and the number of a database that was made just now."""

    connections: int
    number: int


class Macros:
    """Looks for macros that would be called in place of DuckDB's own functions.

    Args:
        connection: the engine's.
        execute: runs one statement on it, and has it counted if it is a transaction.
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, execute: Callable[[str], duckdb.DuckDBPyConnection]
    ) -> None:
        self._connection = connection
        self._execute = execute
        self._known = _OF_CONNECTIONS.setdefault(connection, _InstanceState())

    def count(self) -> None:
        """Count a transaction of the engine's own."""
        self._known.transactions += 1

    def forget(self) -> None:
        """Believe no longer that no user can have made one."""
        self._known.listed_in = self._known.seen = None

    def forget_if_any(self) -> None:
        """Believe it no longer if any user can have made one."""
        if not self._none_can_be_new():
            self.forget()

    def refuse(self) -> None:
        """Look for them, if there can be any.

        Raises:
            UnsupportedError: there are some.
        """
        if self._none_can_be_new():
            return
        before = self._transaction_number()
        self._known.transactions = 0
        first = self._probe()
        # Choosing among them here takes half as long as in SQL, which compares each of DuckDB's own with all names.
        made = self._execute("SELECT function_name FROM duckdb_functions() WHERE NOT internal").fetchall()
        macros = sorted({str(name) for (name,) in made if str(name).lower() in _FUNCTIONS})
        if macros:
            self.forget()
            raise UnsupportedError(
                "this DuckDB database has macros with the names of DuckDB's own functions "
                f"({', '.join(macros)}), which would be called in their place; rename them"
            )
        second = self._probe()
        if not (first.connections == second.connections == 1 and self._is_of_this_process()):
            self.forget()
            return
        if self._transaction_number() == before + self._known.transactions:  # not in a transaction of the owner's
            self._known.listed_in = before
        third = self._probe()
        step = third.number - second.number
        # A first listing also makes the entries of DuckDB's own macros.
        self._known.seen = (third.number, step) if second.number - first.number == step else None

    def _none_can_be_new(self) -> bool:
        """Whether all that was done since the last listing was this engine's own, or made nothing.

        DuckDB numbers all transactions of all connections to an instance in one sequence. A statement outside of a
        transaction takes one number; inside of a user's transaction it takes none, and nothing can be concluded.
        """
        known = self._known
        if known.listed_in is not None:
            expected = known.listed_in + known.transactions + 1
            if (self._transaction_number(), self._transaction_number()) == (expected, expected + 1):
                return True
            known.listed_in = (
                None  # what took no number was counted, or another user's did: equal again, they tell nothing
            )
        if known.seen is None:
            return False
        number, step = known.seen
        if self._probe().number != number + step:
            return False
        known.seen = (number + step, step)
        return True

    def _probe(self) -> _Probe:
        with self._connection.cursor() as cursor:
            ((connections, number),) = cursor.execute(_ENTRIES).fetchall()
        self.count()
        return _Probe(int(connections) - 1, int(number))

    def _transaction_number(self) -> int:
        # All rows: a result that is not read to its end would be in the way of the connection's owner.
        ((number,),) = self._execute("SELECT txid_current()").fetchall()
        return int(number)

    def _is_of_this_process(self) -> bool:
        """Whether all attached databases are files or memory that DuckDB lets no other process write to."""
        kinds = self._execute("SELECT DISTINCT type FROM duckdb_databases() WHERE NOT internal").fetchall()
        return kinds == [("duckdb",)]
