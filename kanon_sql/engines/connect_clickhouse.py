"""From a URL to a connection to ClickHouse, over HTTP or to chDB inside this process."""

from __future__ import annotations

import os
import re
import secrets
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from kanon_sql.engines.base import Scratch
from kanon_sql.engines.clickhouse import ClickHouseEngine
from kanon_sql.engines.databases import place
from kanon_sql.engines.private import PrivateDirectory, private_directory
from kanon_sql.errors import DatabaseError, SpecError

__all__ = ["connect_clickhouse"]

_PORTS = {"clickhouse": ("http", 8123), "clickhouses": ("https", 8443)}


def connect_clickhouse(url: str, *, read_only: bool = False, scratch: Scratch | None = None) -> ClickHouseEngine:
    """Open a connection of kanon_sql's own.

    Args:
        url: ``clickhouse://user:password@host:port/database`` (HTTP), ``clickhouses://...`` (HTTPS),
            ``chdb:///path`` for chDB's files, ``chdb://`` for chDB in memory.
        read_only: ask the server to refuse writes; temporary tables stay allowed.
        scratch: where scratch tables live.

    Raises:
        SpecError: the URL does not parse.
        DatabaseError: the server cannot be reached, or refused.
    """
    import clickhouse_connect
    from clickhouse_connect.driver.exceptions import ClickHouseError

    scheme, rest = url.split("://", 1)
    if scheme == "chdb":
        label, options = _chdb_options(url, rest)
    else:
        label, options = _http_options(url, *_PORTS[scheme])
    try:
        with _private_files(Path(rest) if rest else None) if scheme == "chdb" else nullcontext() as removed:
            client = clickhouse_connect.get_client(**options)
    except OSError as error:
        raise DatabaseError(
            f"cannot connect to {label}: {error.strerror or type(error).__name__}; check the directory, and that "
            "you may create it"
        ) from None
    except ClickHouseError as error:
        raise DatabaseError(
            f"cannot connect to {label}: {type(error).__name__} "
            "(the driver's text may hold credentials and is not shown); check host, port, user and password"
        ) from None
    try:
        engine = ClickHouseEngine(client, label=label, owned=True, read_only=read_only, scratch=scratch)
    except BaseException:
        client.close()
        raise
    engine.note_removed(removed or 0)
    return engine


_AT_ONCE = threading.Lock()
"""One connection at a time says where chDB's files go."""


@cache
def _of_memory() -> PrivateDirectory | None:
    """The directory of this process for what chDB keeps in memory, which it writes to files all the same."""
    return private_directory(Path(tempfile.gettempdir()), "kanon_sql_chdb_")


@contextmanager
def _private_files(path: Path | None) -> Iterator[int]:
    """What chDB makes inside is in a directory that its owner alone can open; its own modes let all users read it.

    Args:
        path: where the database is; a directory that is there already keeps its mode. None for one in memory, whose
            files chDB makes in the directory for temporary files.

    Yields:
        How many directories of processes that were killed were removed.
    """
    if path is not None:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir(0o700)
        yield 0
        return
    with _AT_ONCE:
        directory = _of_memory()
        if directory is None:
            yield 0
            return
        before = os.environ.get("TMPDIR")
        os.environ["TMPDIR"] = str(directory.path)
        try:
            yield directory.removed
        finally:
            if before is None:
                del os.environ["TMPDIR"]
            else:
                os.environ["TMPDIR"] = before


def _chdb_options(url: str, path: str) -> tuple[str, dict[str, Any]]:
    if path.startswith("//") or re.search("[?#@]", path) or (path and not path.startswith("/")):
        raise SpecError(
            "the chDB URL does not parse, and is not shown since it may hold a password; expected chdb:///directory, "
            "or chdb:// for memory"
        )
    return url, {"interface": "chdb", "path": path or None}


def _http_options(url: str, interface: str, port: int) -> tuple[str, dict[str, Any]]:
    form = "clickhouse://user:password@host:port/database"
    try:
        parts = urlsplit(url)
        port = parts.port or port
    except ValueError:
        raise SpecError(f"the database URL does not parse; expected {form}") from None
    if not parts.hostname or parts.query or parts.fragment or "@" in parts.path:
        raise SpecError(
            f"the database URL does not parse; expected {form}. For other options open a clickhouse_connect "
            "client and pass that"
        )
    database = unquote(parts.path.strip("/"))
    return f"{parts.scheme}://{place(parts.hostname, port, database)}", {
        "interface": interface,
        "host": parts.hostname,
        "port": port,
        "username": unquote(parts.username) if parts.username else None,
        "password": unquote(parts.password or ""),
        "database": database or None,
        "session_id": f"kanon_sql_{secrets.token_hex(8)}",
        "settings": {"session_timeout": 600},
        "send_receive_timeout": 24 * 3600,
        "query_retries": 0,
        "autogenerate_query_id": True,
    }
