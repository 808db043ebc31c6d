"""Names that a package imports when they are first asked for, so that a short run imports what it needs alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["imported_from"]


def imported_from(
    package: str, homes: Mapping[str, str], renamed: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """A package's ``__getattr__`` (PEP 562).

    Args:
        package: its name.
        homes: for each name that it hands out late, the module below the package that has it, as ``"privacy.risk"``; a
            module has its own name there.
        renamed: names that there were -> what to use instead.
    """

    def found(name: str) -> Any:
        if name not in homes:
            why = f"; use {package}.{renamed[name]}" if renamed and name in renamed else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{why}")
        module = import_module(f"{package}.{homes[name]}")
        return module if homes[name] == name else getattr(module, name)

    return found
