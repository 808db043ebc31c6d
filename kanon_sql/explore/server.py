"""The server: a socket on this machine alone, printed addresses that are good once, and an orderly end."""

from __future__ import annotations

import os
import socket
import tempfile
import webbrowser
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kanon_sql.engines import Engine
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.explore.access import Access
from kanon_sql.explore.visits import Settings, Visits
from kanon_sql.explore.work import Work
from kanon_sql.spec import Spec
from kanon_sql.version import how_to_install

if TYPE_CHECKING:
    import uvicorn

__all__ = ["Serving", "prepare", "serve"]

PORT = 8642
"""Where the page is, unless that is taken or another port is asked for."""


@dataclass(frozen=True)
class Serving:
    """A server that is ready to run.

    Attributes:
        access: knows the address that opens the page.
        server: of uvicorn.
        listening: its socket.
        work: what owns the connection.
    """

    access: Access
    server: uvicorn.Server
    listening: socket.socket
    work: Work

    def run(self) -> None:
        """Answer until it is told to end, or by Ctrl-C or SIGTERM in the main thread."""
        try:
            self.server.run(sockets=[self.listening])
        except KeyboardInterrupt:
            pass  # how one ends it
        finally:
            self.work.close()
            self.listening.close()


def prepare(
    connect: Callable[[], Engine],
    spec: Spec | None,
    settings: Settings,
    port: int | None = None,
    *,
    candidates: Mapping[str, Spec] | None = None,
    announce: Callable[[str], None],
) -> Serving:
    """Listen, and have everything ready to answer.

    Args:
        connect: opens the database; called in a thread of its own, and again after the database went away.
        spec: what each page begins with; None for a page that asks for a table.
        settings: what is allowed.
        port: where to listen; None for the usual one, or any if that is taken.
        candidates: specs that each page keeps to be compared, by name.
        announce: told the next address of the page whenever one was used.

    Raises:
        SpecError: the port is taken.
        UnsupportedError: Starlette or uvicorn is not installed.
    """
    try:
        import uvicorn

        from kanon_sql.explore.guard import Guard
        from kanon_sql.explore.pages import application
    except ImportError:
        raise UnsupportedError(f"explore needs Starlette and uvicorn; {how_to_install('explore')}") from None
    listening = _listen(port)
    host = f"127.0.0.1:{listening.getsockname()[1]}"
    work, access = Work(connect), Access(host, announce)
    app = Guard(application(work, Visits(work, spec, candidates or {}), settings, access), host, access)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", ws="none", server_header=False, proxy_headers=False,
        timeout_graceful_shutdown=2, timeout_keep_alive=30, http="h11", loop="asyncio",
    )  # fmt: skip
    return Serving(access, uvicorn.Server(config), listening, work)


def serve(
    connect: Callable[[], Engine],
    spec: Spec | None,
    settings: Settings,
    *,
    port: int | None = None,
    candidates: Mapping[str, Spec] | None = None,
    browser: bool = True,
    announce: Callable[[str], None] = print,
) -> None:
    """Serve the page until Ctrl-C or SIGTERM.

    Args:
        connect: opens the database; called in a thread of its own, and again after the database went away.
        spec: what each page begins with; None for a page that asks for a table.
        settings: what is allowed.
        port: where to listen; None for the usual one, or any if that is taken.
        candidates: specs that each page keeps to be compared, by name.
        browser: open the page in the user's browser.
        announce: told the address of the page, and the next one whenever one was used.

    Raises:
        SpecError: the port is taken.
        UnsupportedError: Starlette or uvicorn is not installed.
    """
    ready = prepare(connect, spec, settings, port, candidates=candidates, announce=announce)
    announce(ready.access.address)
    redirect = _shown(ready.access.address) if browser else None
    try:
        ready.run()
    finally:
        if redirect is not None:
            redirect.unlink(missing_ok=True)


def _listen(port: int | None) -> socket.socket:
    """A socket that this machine alone can reach."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind(("127.0.0.1", PORT if port is None else port))
    except OSError:
        if port is not None:
            made.close()
            raise SpecError(
                f"--port {port}: the port is in use, or needs more rights; leave the option out to use a free one"
            ) from None
        made.bind(("127.0.0.1", 0))
    made.listen(64)
    return made


def _shown(address: str) -> Path | None:
    """Open the address in the browser; it stands in a file that no other user can read, not in a list of processes."""
    text = f'<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={address}">'
    with suppress(OSError, webbrowser.Error):
        descriptor, name = tempfile.mkstemp(".html", "kanon-sql-")  # with mode 0600
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        webbrowser.open(Path(name).as_uri())
        return Path(name)
    return None
