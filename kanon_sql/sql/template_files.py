"""Find the SQL templates in their files, and keep what they were compiled to.

A template is named by its folder and itself, such as ``recode/trees/hooks``. Those of one subject share a file:
``recode/trees.sql.j2``, or any file of the folder ``recode/trees/``. A line of its own begins each::

    {# == recode/trees/hooks == #}

What stands above the first such line is common to all templates of the file: a comment, or macros. A file without
such a line is one template, and has its name.

Compiled templates are kept where Python keeps compiled modules: compiling them takes a short run a tenth of its time.
The same rules as for ``__pycache__``: nothing is written where Python may write no bytecode
(``PYTHONDONTWRITEBYTECODE``), ``PYTHONPYCACHEPREFIX`` moves it, and a directory that cannot be
written to only costs the time. What is kept holds for one text of the template, one Jinja, one
Python, and one version of the filters, some of which Jinja calls while it compiles.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path
from pickle import UnpicklingError
from tempfile import NamedTemporaryFile

import jinja2
from jinja2 import BaseLoader, Environment, TemplateNotFound
from jinja2.bccache import Bucket, BytecodeCache
from jinja2.loaders import split_template_path

from kanon_sql.errors import TemplateError

__all__ = ["SUFFIX", "TemplateBytecodeCache", "TemplateLoader", "names_in", "template_directory", "template_names"]

SUFFIX = ".sql.j2"
_BEGINNING = re.compile(r"^\{# == (\S+) == #\}$", re.MULTILINE)

_READABLE = 0o644
"""Anyone who may read the templates may read what was made of them; a temporary file is its owner's alone."""

_DAMAGED = (UnpicklingError, AttributeError, ImportError, IndexError)
"""What reading a damaged file may raise, as the documentation of pickle has it."""


def template_directory() -> Path:
    """Where the package's templates are: in the installed package, or in the checkout beside it.

    Raises:
        TemplateError: neither the package nor the checkout has them.
    """
    package = Path(__file__).resolve().parent.parent
    for candidate in (package / "sql_templates", package.parent / "sql_templates"):
        if candidate.is_dir():
            return candidate
    raise TemplateError("the SQL templates are missing from this installation of kanon_sql; reinstall the package")


def template_names() -> list[str]:
    """The names of the package's templates, such as ``frequency/raw``, sorted."""
    return names_in(template_directory())


def names_in(root: Path) -> list[str]:
    """The names of all templates below a directory, sorted.

    Raises:
        TemplateError: two have the same name, or one is in a file where it is not looked for.
    """
    found: dict[str, Path] = {}
    for path in sorted(root.rglob(f"*{SUFFIX}")):
        file = _TemplateFile(root, path)
        for name in file.names:
            if name in found:
                raise TemplateError(f"{path}: there is another template {name!r} in {found[name]}; rename one")
            if _folder(name) not in (file.name, _folder(file.name)):
                raise TemplateError(f"{path}: the template {name!r} is not looked for there; call it {file.name}/...")
            found[name] = path
    return sorted(found)


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


class _TemplateFile:
    """A file and the names of its templates, whose texts are made when they are asked for."""

    def __init__(self, root: Path, path: Path) -> None:
        self.path = str(path)
        self.name = path.relative_to(root).as_posix().removesuffix(SUFFIX)
        with open(self.path, encoding="utf-8") as file:
            self._common, *rest = _BEGINNING.split(file.read())
        self.names = rest[::2] or [self.name]
        self._texts = rest[1::2]

    def text(self, name: str) -> str:
        """The text of a template, on the lines that it has in the file: errors name them."""
        if not self._texts:
            return self._common
        number = self.names.index(name)
        common = self._common.rstrip()
        skipped = "".join([self._common[len(common) :], *self._texts[:number]]).count("\n")
        return common + "{#" + "\n" * skipped + "#}" + self._texts[number].rstrip()


class TemplateLoader(BaseLoader):
    """Load templates from directories, of which an earlier one goes first.

    A file is read when a template is asked for that it may hold, the likely ones first.
    """

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = roots
        self._read: set[Path] = set()
        self._holding: dict[str, _TemplateFile] = {}

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, None]:
        """The text of a template and its file; it is not watched for changes.

        Raises:
            TemplateNotFound: no directory has it.
        """
        file = self._holding.get(template) or self._search(template)
        return file.text(template), file.path, None

    def _search(self, template: str) -> _TemplateFile:
        folder = "/".join(split_template_path(template)[:-1])
        for root in self._roots:
            for path in _places(root, folder, template):
                if path in self._read or not path.is_file():
                    continue
                file = _TemplateFile(root, path)
                self._read.add(path)
                for name in file.names:
                    self._holding.setdefault(name, file)
                if template in self._holding:
                    return self._holding[template]
        raise TemplateNotFound(template)


def _places(root: Path, folder: str, template: str) -> Iterator[Path]:
    """Where a template may be: in a file of its own name, in that of its subject, or in another one of its folder."""
    yield root / f"{template}{SUFFIX}"
    yield root / f"{folder}{SUFFIX}"
    yield from sorted((root / folder).glob(f"*{SUFFIX}"))


@cache
def _filters() -> bytes:
    """What compiles the templates, and the modules whose functions it may call."""
    here = Path(__file__).parent
    digest = sha256(jinja2.__version__.encode())
    for name in ("templates.py", "text.py"):
        digest.update((here / name).read_bytes())
    return digest.digest()


class TemplateBytecodeCache(BytecodeCache):
    """One file for each template, in ``__pycache__`` beside its own."""

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """The file that the compiled template is kept in."""
        return cache_from_source(str(Path(str(filename)).with_name(f"{name.replace('/', '.')}.j2")))

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
