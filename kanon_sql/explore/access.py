"""Who may use the page: an address that is good once, and the key of the tab that opened it."""

from __future__ import annotations

import secrets
from collections.abc import Callable

__all__ = ["KEY", "Access"]

KEY = "x-kanon-key"
"""The header that the page's script adds to each request; no browser sends it by itself."""


class Access:
    """The address of the moment, and the keys of the tabs that were let in.

    An address is spent by the first use: who reads it later, in a list of processes, a history or a log, is refused.
    Each use is told in the terminal with the next address, so that no use goes unseen.

    Args:
        host: where the page is, with the port.
        announce: told the next address once one was used.
    """

    def __init__(self, host: str, announce: Callable[[str], None]) -> None:
        self._host = host
        self._announce = announce
        self._token = secrets.token_urlsafe(24)
        self._keys: list[str] = []

    @property
    def address(self) -> str:
        """What opens the page next. A browser sends no server what follows the ``#``."""
        return f"http://{self._host}/#token={self._token}"

    def enter(self, token: str) -> str | None:
        """A key for who has the token, which is spent by that; None for any other user."""
        if not secrets.compare_digest(token.encode(), self._token.encode()):
            return None
        self._token = secrets.token_urlsafe(24)
        self._keys.append(secrets.token_urlsafe(32))
        self._announce(f"The page was opened. To open another one: {self.address}")
        return self._keys[-1]

    def holds(self, key: str) -> bool:
        """Whether a key was given out."""
        return any(secrets.compare_digest(key.encode(), own.encode()) for own in self._keys)
