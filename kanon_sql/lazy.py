"""Names that a package imports when they are first asked for, so that a short run imports what it needs alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

__all__ = ["import_all", "import_one", "imported_from"]


def imported_from(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's ``__getattr__`` (PEP 562).

    Args:
        package: its name.
        homes: for each name that it hands out late, the module below the package that has it, as ``"privacy.risk"``.
    """

    def found(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return found


@cache
def import_all(package: str) -> None:
    """Import every module of a package, so that what they declare is known."""
    for module in iter_modules(import_module(package).__path__):
        import_module(f"{package}.{module.name}")


@cache
def import_one(package: str, name: str) -> None:
    """Import one module of a package, if it has one of this name."""
    if any(module.name == name for module in iter_modules(import_module(package).__path__)):
        import_module(f"{package}.{name}")
