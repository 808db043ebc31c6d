"""What the private servers share."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.testing import Subject


class Server(Protocol):
    """A server of this process's own, which several subjects may use one after the other."""

    def restore(self) -> bool:
        """Undo what a subject did. Returns whether the server is as it was when it was started."""

    def stop(self) -> None:
        """Stop it, and remove its files."""


class Missing(Exception):
    """An engine that is not installed here."""


class UrlSubject(Subject):
    """A database that SQLAlchemy connects to by a URL.

    Attributes:
        gives_back: its server may serve another subject when it is closed.
    """

    gives_back = False

    def __init__(self, url: str) -> None:
        import sqlalchemy

        self.url = url
        self._engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool)
        connection = self._engine.connect()
        self.connection = connection.execution_options(isolation_level="AUTOCOMMIT", no_parameters=True)

    def connect(self, **options: Any) -> Engine:
        return kanon_sql.connect(self.url, **options)

    def execute(self, sql: str) -> None:
        self.connection.exec_driver_sql(sql).close()

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.connection.exec_driver_sql(sql).fetchall()]

    def close(self) -> None:
        self.connection.close()
        self._engine.dispose()


def started(start: Callable[[], Any]) -> Any:
    """A server gives itself some seconds to start, which a busy machine may exceed."""
    for attempt in range(3):
        try:
            return start()
        except Exception:
            if attempt == 2:
                raise
    raise AssertionError


_idle: dict[str, Server] = {}
"""Name of a subject -> a server that is as it was when it was started: starting one takes longer than many a test."""


def server_for(name: str, start: Callable[[], Any]) -> Any:
    """A server that a subject before has given back, or a new one."""
    return _idle.pop(name, None) or started(start)


def give_back(name: str, server: Server) -> None:
    """Let the next subject have a server, unless what the last one did to it cannot be undone."""
    if name not in _idle and server.restore():
        _idle[name] = server
    else:
        server.stop()


@atexit.register
def stop_idle() -> None:
    """Stop the servers that nobody uses."""
    while _idle:
        _idle.popitem()[1].stop()


@cache
def prepared(make: Callable[[Path], None]) -> Path:
    """A data directory that no server runs in, made once in a process: making one takes longer than starting a server.

    Args:
        make: fills an empty directory.
    """
    directory = Path(tempfile.mkdtemp(prefix="kanon_prepared_"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    make(directory)
    return directory


def copy_of(directory: Path, target: Path) -> None:
    """Copy a data directory with its owners and rights, which servers insist on."""
    subprocess.run(["cp", "-a", f"{directory}/.", str(target)], check=True)
