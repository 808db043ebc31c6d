"""The databases behind SQLAlchemy, by the name that its URLs begin with: one file each, and no file lists them."""

from __future__ import annotations

from collections.abc import Mapping

from kanon_sql.engines.backends.base import Backend
from kanon_sql.errors import UnsupportedError
from kanon_sql.registers import DATABASES

__all__ = ["BACKENDS", "Backend", "backend_named"]

BACKENDS: Mapping[str, type[Backend]] = DATABASES


def backend_named(name: str) -> Backend:
    """The backend for a SQLAlchemy dialect name.

    Raises:
        UnsupportedError: there is none.
    """
    if name not in BACKENDS:
        raise UnsupportedError(f"{name} databases are not supported; expected one of {', '.join(BACKENDS)}")
    return BACKENDS[name]()
