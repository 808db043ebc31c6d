"""Directories and files that their owner alone can read, from their first moment.

Directories of this process are for what an engine puts on the disk besides tables: values as they are.

An engine makes files with the mode that the process gives all of its files, which other users may often read. In a
directory that its owner alone can open, from its first moment, no other user can read them, whatever their modes are.
A directory is locked for as long as the process lives that made it; one that can be locked is of a process that was
killed, and is removed by the next one that makes a directory there.

Files are what verbs write that is not for all users: values, or figures beyond those of a release.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import weakref
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO

__all__ = ["PrivateDirectory", "as_private_as", "private_directory", "private_file", "write_private"]

_TRIES = 5
"""How often a directory is made: another process may take one that is not locked yet for a dead one's."""


class PrivateDirectory:
    """A directory with the mode 0700, which goes when it is closed, or else at the end of the process.

    Args:
        path: where it is.
        lock: the descriptor that holds its lock.
        removed: how many directories of processes that were killed were removed before.
    """

    def __init__(self, path: Path, lock: int, removed: int) -> None:
        self.path = path
        self.removed = removed
        self._end = weakref.finalize(self, _end, path, lock, os.getpid())

    def close(self) -> None:
        """Remove it, unless something is in it: then another connection still uses it, and it goes at the end."""
        with suppress(OSError):
            self.path.rmdir()
            self._end()


def private_directory(parent: Path, prefix: str) -> PrivateDirectory | None:
    """Make a directory that its owner alone can open, and remove those of processes that were killed.

    Args:
        parent: where.
        prefix: what its name begins with.

    Returns:
        The directory; None where the operating system has no modes of files, or lets none be made there.
    """
    if find_spec("fcntl") is None:  # Windows
        return None
    try:
        removed = _remove_dead(parent, prefix)
        for _ in range(_TRIES):
            path = parent / f"{prefix}{secrets.token_hex(4)}"
            path.mkdir(0o700)
            lock = None
            try:
                lock = os.open(path, os.O_RDONLY)
                _lock(lock)
                if path.is_dir():
                    return PrivateDirectory(path, lock, removed)
            except (FileNotFoundError, BlockingIOError):  # taken for a dead one's
                pass
            if lock is not None:
                os.close(lock)
    except OSError:
        return None
    return None


def _lock(directory: int) -> None:
    """Lock a directory, where it can be locked; on a share without locks it is never taken for a dead process's.

    Raises:
        BlockingIOError: another process has locked it.
    """
    import fcntl

    try:
        fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return


def _remove_dead(parent: Path, prefix: str) -> int:
    """Remove the directories of processes that live no more; how many they were."""
    import fcntl

    name, removed = re.compile(re.escape(prefix) + "[0-9a-f]{8}"), 0
    for path in [path for path in parent.iterdir() if name.fullmatch(path.name)]:
        with suppress(OSError):  # it went just now, is in use, or is another user's
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path)
                removed += 1
            finally:
                os.close(lock)
    return removed


def _end(path: Path, lock: int, process: int) -> None:
    if os.getpid() == process:  # not in a copy of it, which another one made of itself
        shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        os.close(lock)


def private_file(path: Path) -> TextIO:
    """A new text file that its owner alone can read, from its first moment.

    Raises:
        OSError: it is there already, or cannot be made.
    """
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8", newline="")


def write_private(path: Path, content: str | bytes) -> None:
    """Put a file that its owner alone can read in the place of what has the name, whole or not at all.

    What was there goes with its mode: who could read that could read the new one. A link is followed. What is no plain
    file, such as a pipe or an open descriptor, is written to.

    Raises:
        OSError: it cannot be written; what was there stands.
    """
    data = content.encode() if isinstance(content, str) else content
    if path.absolute().is_relative_to("/dev") or path.absolute().is_relative_to("/proc") or _is_special(path):
        with path.open("wb") as given:
            given.write(data)
        return
    target = Path(os.path.realpath(path))
    hidden = target.with_name(f".{target.name}.kanon-{secrets.token_hex(4)}")
    try:
        with open(os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        hidden.replace(target)
    except BaseException:
        hidden.unlink(missing_ok=True)
        raise


def as_private_as(database: Path, log: Path) -> None:
    """Let the log of a database be read by those alone who may read the database, where that is not all users.

    An engine that makes its log with the mode that the process gives all of its files goes on in one that is there.

    Args:
        database: its file.
        log: where the engine writes what is not in that file yet.
    """
    with suppress(OSError):  # it is there, or the engine says why it cannot be
        mode = stat.S_IMODE(database.stat().st_mode)
        if not mode & stat.S_IROTH:
            os.close(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file()
