"""Names that a package imports when they are first asked for, so that a short run imports what it needs alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["imported_from"]


def imported_from(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's ``__getattr__`` (PEP 562).

    Args:
        package: its name.
        homes: for each name that it hands out late, the module below the package that has it, as ``"privacy.risk"``; a
            module has its own name there.
    """

    def found(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{homes[name]}")
        return module if homes[name] == name else getattr(module, name)

    return found
