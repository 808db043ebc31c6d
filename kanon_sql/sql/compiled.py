"""Keep compiled templates where Python keeps compiled modules: compiling them takes a short run a tenth of its time.

The same rules as for ``__pycache__``: nothing is written where Python may write no bytecode
(``PYTHONDONTWRITEBYTECODE``), ``PYTHONPYCACHEPREFIX`` moves it, and a directory that cannot be
written to only costs the time. What is kept holds for one text of the template, one Jinja, one
Python, and one version of the filters, some of which Jinja calls while it compiles.
"""

from __future__ import annotations

import sys
from functools import cache
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path
from pickle import UnpicklingError
from tempfile import NamedTemporaryFile

import jinja2
from jinja2.bccache import Bucket, BytecodeCache

__all__ = ["TemplateBytecodeCache"]

_READABLE = 0o644
"""Anyone who may read the templates may read what was made of them; a temporary file is its owner's alone."""

_DAMAGED = (UnpicklingError, AttributeError, ImportError, IndexError)
"""What reading a damaged file may raise, as the documentation of pickle has it."""


@cache
def _filters() -> bytes:
    """What compiles the templates, and the modules whose functions it may call."""
    here = Path(__file__).parent
    digest = sha256(jinja2.__version__.encode())
    for name in ("templates.py", "text.py"):
        digest.update((here / name).read_bytes())
    return digest.digest()


class TemplateBytecodeCache(BytecodeCache):
    """One file for each template, in ``__pycache__`` beside it."""

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """The file that the compiled template is kept in."""
        return cache_from_source(str(filename))

    def get_source_checksum(self, source: str) -> str:
        """What a compiled template must say to be used."""
        return sha256(_filters() + source.encode()).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket from its file; it stays empty where that is missing, damaged or of another text."""
        try:
            bucket.bytecode_from_string(Path(bucket.key).read_bytes())
        except (OSError, EOFError, ValueError, TypeError, *_DAMAGED):
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write the bucket to its file, whole or not at all."""
        if sys.dont_write_bytecode:
            return
        path = Path(bucket.key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = NamedTemporaryFile(dir=path.parent, delete=False)  # noqa: SIM115 - it is renamed once it is closed
        except OSError:
            return
        whole = Path(file.name)
        try:
            with file:
                file.write(bucket.bytecode_to_string())
            whole.chmod(_READABLE)
            whole.replace(path)
        except OSError:
            whole.unlink(missing_ok=True)
