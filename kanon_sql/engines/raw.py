"""Connections of a driver's own, made usable through SQLAlchemy, and given back as they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kanon_sql.engines.session import IN_TRANSACTION
from kanon_sql.errors import DatabaseError, UnsupportedError

if TYPE_CHECKING:
    import sqlalchemy

__all__ = ["use_psycopg", "use_sqlite3"]

_IDLE = 0
"""psycopg's and libpq's word for a connection without a transaction."""


def use_sqlite3(connection: Any) -> tuple[sqlalchemy.Engine, Callable[[], None]]:
    """A SQLAlchemy engine over a connection of the standard library's sqlite3.

    Args:
        connection: open, and outside of a transaction.

    Returns:
        The engine, and what to call when it is done with.

    Raises:
        UnsupportedError: the connection is inside a transaction.
        DatabaseError: it is closed, or belongs to another thread.
    """
    import sqlite3

    import sqlalchemy

    try:
        if connection.in_transaction:
            raise UnsupportedError(IN_TRANSACTION)
        cursor = sqlite3.Cursor(connection)  # not one of a class of the owner's
        cursor.row_factory = None
        files = cursor.execute("SELECT file FROM pragma_database_list WHERE name = 'main'").fetchall()
        cursor.close()
    except sqlite3.Error as error:
        raise DatabaseError(
            f"cannot use this sqlite3 connection: {type(error).__name__}; give an open one that was created in "
            "this thread"
        ) from None
    file = files[0][0]
    before = {name: getattr(connection, name) for name in ("isolation_level", "row_factory", "text_factory")}
    # SQLAlchemy asks while it connects, and reads answers as tuples of text.
    connection.row_factory, connection.text_factory = None, str
    url = sqlalchemy.URL.create("sqlite", database=(file.decode() if isinstance(file, bytes) else file) or None)
    return _over(connection, url), _setting(connection, before)


def use_psycopg(connection: Any) -> tuple[sqlalchemy.Engine, Callable[[], None]]:
    """A SQLAlchemy engine over a connection of psycopg 3.

    Args:
        connection: open, and outside of a transaction.

    Returns:
        The engine, and what to call when it is done with.

    Raises:
        UnsupportedError: the connection is inside a transaction.
        DatabaseError: it is closed.
    """
    import psycopg
    import sqlalchemy

    if connection.closed:
        raise DatabaseError("cannot use this psycopg connection: it is closed; give an open one")
    if int(connection.info.transaction_status) != _IDLE:
        raise UnsupportedError(IN_TRANSACTION)
    names = ("autocommit", "isolation_level", "read_only", "deferrable", "row_factory", "cursor_factory")
    before = {name: getattr(connection, name) for name in names}
    connection.row_factory, connection.cursor_factory = psycopg.rows.tuple_row, psycopg.Cursor
    info = connection.info
    host = None if str(info.host).startswith("/") else info.host
    url = sqlalchemy.URL.create("postgresql+psycopg", host=host, port=info.port, database=info.dbname)
    return _over(connection, url, use_native_hstore=False), _setting(connection, before)


def _over(connection: Any, url: sqlalchemy.URL, **options: Any) -> sqlalchemy.Engine:
    """An engine whose pool holds this connection alone, and does nothing to it when it comes back."""
    import sqlalchemy

    return sqlalchemy.create_engine(
        url, creator=lambda: connection, poolclass=sqlalchemy.StaticPool, pool_reset_on_return=None, **options
    )


def _setting(connection: Any, before: dict[str, Any]) -> Callable[[], None]:
    """What sets a connection's attributes back; one that changed nothing is left alone, since setting may commit."""

    def afterwards() -> None:
        for name, value in before.items():
            if getattr(connection, name) != value:
                setattr(connection, name, value)

    return afterwards
