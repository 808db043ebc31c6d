"""Standard input and output in the place of a spec's files: kept in files of the run's own meanwhile.

The source is read more than once, and the release is verified before a byte of it is written, so neither can be a pipe.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from kanon_sql.errors import SpecError

if TYPE_CHECKING:
    from kanon_sql.spec import Spec

__all__ = ["STREAM", "messages_on_stderr", "with_streams", "write_release"]

STREAM = "-"


@contextmanager
def with_streams(spec: Spec) -> Iterator[Spec]:
    """The spec, with files in the place of its streams; standard input is read whole. They are removed at the end.

    Args:
        spec: as it was written.

    Raises:
        SpecError: standard input is a terminal.
    """
    reads = spec.source.file == STREAM
    writes = spec.release_file is not None and spec.release_file.file == STREAM
    if not reads and not writes:
        yield spec
        return
    if reads and sys.stdin.isatty():
        raise SpecError("source.file: - means standard input, which is a terminal here; pipe a CSV file into it")
    with tempfile.TemporaryDirectory(prefix="kanon_sql_") as directory:
        files = {}
        if reads:
            files["source"] = Path(directory) / "source.csv"
            with files["source"].open("wb") as copy:
                shutil.copyfileobj(sys.stdin.buffer, copy)
        if writes:
            files["release"] = Path(directory) / "release.csv"
        yield spec.with_streams(**files)


@contextmanager
def messages_on_stderr(spec: Spec) -> Iterator[bool]:
    """Inside, what is printed goes to standard error where standard output is the release's. Yields whether it is."""
    release = spec.release_file
    if release is None or release.file != STREAM:
        yield False
        return
    with redirect_stdout(sys.stderr):
        yield True


def write_release(spec: Spec) -> None:
    """Write what was published, and verified, to standard output."""
    path = spec.release_path
    assert path is not None
    with path.open("rb") as release:
        shutil.copyfileobj(release, sys.stdout.buffer)
    sys.stdout.buffer.flush()
