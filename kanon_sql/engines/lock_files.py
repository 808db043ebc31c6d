"""Files that say by a lock that a process lives; a killed one's can be locked by others.

The locks are POSIX's, as SQLite's own are: where they do not hold, on some network shares, no database is safe either.
They are a process's: a file of this process is never looked at by it, since closing it would give up the lock.
"""

from __future__ import annotations

import os
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

__all__ = ["is_abandoned", "locked_file", "unlocked"]


def locked_file(path: Path) -> int | None:
    """Make a file and lock it until it is closed, or the process ends.

    Returns:
        The descriptor that holds the lock; None where the operating system has no such locks, or none can be had.
    """
    if find_spec("fcntl") is None:  # Windows
        return None
    import fcntl

    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except OSError:
        return None
    try:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        unlocked(path, lock)
        return None
    return lock


def unlocked(path: Path, lock: int) -> None:
    """Remove a file of this process, and close it."""
    with suppress(OSError):
        path.unlink()
    with suppress(OSError):
        os.close(lock)


def is_abandoned(path: Path) -> bool:
    """Whether a file of another process is there, and was locked by one that lives no more."""
    if find_spec("fcntl") is None:
        return False
    import fcntl

    try:
        lock = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:  # it is gone, or another user's: nothing is sure
        return False
    try:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True
