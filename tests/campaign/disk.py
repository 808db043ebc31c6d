"""A small file system of its own, which can be full."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

BALLAST = "ballast"


class Unmountable(Exception):
    """No file system can be mounted here, and why."""


class Disk:
    """A tmpfs, mounted until it is closed.

    Args:
        megabytes: its size.
        at: where; in a temporary directory if None.
    """

    def __init__(self, megabytes: int, at: Path | None = None) -> None:
        self._own = Path(tempfile.mkdtemp(prefix="kanon_disk_")) if at is None else None
        self.path = at or self._own or Path()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0777", "tmpfs", str(self.path)],
            capture_output=True, text=True, check=False,
        ) if os.geteuid() == 0 and shutil.which("mount") else None  # fmt: skip
        if done is None or done.returncode:
            if self._own is not None:
                self._own.rmdir()
            why = "only root may mount" if done is None else done.stderr.strip()
            raise Unmountable(f"a small file system cannot be mounted here: {why}")

    def leave(self, free: int) -> None:
        """Fill it, but for so many bytes."""
        status = os.statvfs(self.path)
        room = status.f_bavail * status.f_frsize - free
        with (self.path / BALLAST).open("ab") as file:
            if room > 0:
                file.write(b"\0" * room)

    def empty(self) -> None:
        """Give the room back."""
        (self.path / BALLAST).unlink(missing_ok=True)

    def close(self) -> None:
        """Unmount it."""
        for how in ((), ("-l",)):
            if subprocess.run(["umount", *how, str(self.path)], capture_output=True, check=False).returncode == 0:
                break
        if self._own is not None:
            self._own.rmdir()
