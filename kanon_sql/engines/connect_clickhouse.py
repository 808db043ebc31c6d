"""From a URL to a connection to ClickHouse, over HTTP or to chDB inside this process."""

from __future__ import annotations

import re
import secrets
from typing import Any
from urllib.parse import unquote, urlsplit

from kanon_sql.engines.base import Scratch
from kanon_sql.engines.clickhouse import ClickHouseEngine
from kanon_sql.engines.databases import place
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
        client = clickhouse_connect.get_client(**options)
    except ClickHouseError as error:
        raise DatabaseError(
            f"cannot connect to {label}: {type(error).__name__} "
            "(the driver's text may hold credentials and is not shown); check that the server runs there, and the user"
        ) from None
    try:
        return ClickHouseEngine(client, label=label, owned=True, read_only=read_only, scratch=scratch)
    except BaseException:
        client.close()
        raise


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
            f"the database URL does not parse; expected {form}. For other options open a clickhouse_connect client "
            "and give that"
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
