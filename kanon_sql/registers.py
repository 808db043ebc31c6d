"""What is declared in a file of its own, kind by kind: a file says all of one thing, and nothing lists the files.

Each kind has a register here. A file joins it when it is imported, and it is imported when its name is first asked for,
so that a short run imports what it needs alone. What joins is described in the base class of its room.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, TypeVar

__all__ = [
    "ATTACKS",
    "DATABASES",
    "DIALECTS",
    "HIERARCHIES",
    "POLICY_DIALECTS",
    "PRIVACY_REQUIREMENTS",
    "QUALITY_METRICS",
    "RECODINGS",
    "SEARCH_ALGORITHMS",
    "Register",
    "declared_names",
]

T = TypeVar("T")
V = TypeVar("V")


class Register(Mapping[str, V]):
    """What the files of a package declare, by name; what a program declares itself joins them.

    It is sorted by the ``place`` of each, if there is one, and then by name.

    Args:
        what: a word for one, for messages.
        package: the modules of which declare.
    """

    def __init__(self, what: str, package: str) -> None:
        self.what = what
        self.package = package
        self._declared: dict[str, V] = {}
        self._is_whole = False

    def add(self, name: str, declared: V, module: str) -> None:
        """Add one.

        Args:
            name: as specs write it.
            declared: what it is.
            module: the one that declares it.

        Raises:
            ValueError: another one has the name.
        """
        if not module.startswith(f"{self.package}."):
            self.get(name)  # a file of ours may have the name, and not be imported yet
        if self._declared.setdefault(name, declared) is not declared:
            raise ValueError(f"there is a {self.what} {name!r} already; give this one another name")

    def declare(self, declared: type[T]) -> type[T]:
        """Add a class by its ``name``; a decorator.

        Raises:
            ValueError: another one has the name.
        """
        named: Any = declared
        self.add(named.name, named, named.__module__)
        return declared

    def forget(self, name: str) -> None:
        """Take one back."""
        self._declared.pop(name, None)

    def load(self, name: str | None = None) -> None:
        """Import the file of a name, if there is one; all files without a name."""
        if self._is_whole:
            return
        for module in _modules(self.package):
            if name in (None, module):
                import_module(f"{self.package}.{module}")
        self._is_whole = name is None

    @property
    def loaded(self) -> Iterable[V]:
        """Those whose files are imported already."""
        return self._declared.values()

    def __getitem__(self, name: str) -> V:
        """The one of a name. All files are imported where none of that name declares it."""
        if not isinstance(name, str):
            raise KeyError(name)  # of a spec, in which anything may stand here
        if name not in self._declared:
            self.load(name)
            if name not in self._declared:
                self.load()
        return self._declared[name]

    def __iter__(self) -> Iterator[str]:
        self.load()
        return iter(sorted(self._declared, key=lambda name: (getattr(self._declared[name], "place", 0), name)))

    def __len__(self) -> int:
        self.load()
        return len(self._declared)


@cache
def _modules(package: str) -> tuple[str, ...]:
    return tuple(sorted(module.name for module in iter_modules(import_module(package).__path__)))


def declared_names(package: str) -> list[str]:
    """The names of what a package's files declare, read from their text.

    A shell that completes a word, and a help text, wait for nothing that the files import.
    """
    folder = Path(__file__).parent.joinpath(*package.split(".")[1:])
    return sorted(name for file in folder.glob("*.py") for name in _NAME.findall(file.read_text("utf-8")))


_NAME = re.compile(r'^    name(?:: ClassVar\[str\])? = "(\w+)"$', re.MULTILINE)


HIERARCHIES: Register[Any] = Register("kind of hierarchy", "kanon_sql.hierarchies.kinds")
"""How a quasi-identifier may be generalized, by the key that specs write: ``hierarchies.Kind``."""

PRIVACY_REQUIREMENTS: Register[Any] = Register("requirement", "kanon_sql.models.privacy")
"""What a spec may ask for under ``privacy``, each beside its privacy model: ``spec.Requirement``."""

QUALITY_METRICS: Register[Any] = Register("quality metric", "kanon_sql.models.quality")
"""What a search may optimize: ``models.Metric``."""

SEARCH_ALGORITHMS: Register[Any] = Register("search algorithm", "kanon_sql.search")
"""How a search may go: ``search.Algorithm``."""

RECODINGS: Register[Any] = Register("recoding", "kanon_sql.recode")
"""How values may be generalized: ``spec.Recoding``."""

ATTACKS: Register[Any] = Register("attack", "kanon_sql.disclosure.attacks")
"""How an audit may attack a release: ``disclosure.attacks.AttackMethod``."""

DIALECTS: Register[Any] = Register("dialect", "kanon_sql.sql.dialects")
"""How SQL is written for an engine: ``sql.Dialect``."""

DATABASES: Register[Any] = Register("database", "kanon_sql.engines.backends")
"""The databases behind SQLAlchemy, by the scheme of their URLs: ``engines.backends.Backend``."""

POLICY_DIALECTS = ("snowflake", "bigquery", "databricks", "postgres")
"""The databases that ``pipeline policies`` writes for, which its help names."""
