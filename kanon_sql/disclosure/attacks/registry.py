"""The registry of attacks: their order, their names, and what an attack from outside joins."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from kanon_sql.errors import UnsupportedError

if TYPE_CHECKING:
    from kanon_sql.disclosure.attacks.method import AttackMethod

__all__ = ["ATTACKS", "ON_REQUEST", "label_of", "methods", "register", "result_names", "unregister"]

_METHODS: dict[str, AttackMethod] = {}


class _Names(Collection[str]):
    """The names of the attacks that are registered now, or of some of them."""

    def __init__(self, chosen: Callable[[AttackMethod], bool]) -> None:
        self._chosen = chosen

    def __contains__(self, name: object) -> bool:
        return any(name == known for known in self)

    def __iter__(self) -> Iterator[str]:
        return (name for name, method in _METHODS.items() if self._chosen(method))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return repr(tuple(self))


ATTACKS = _Names(lambda _: True)
"""The attacks by their names, in the order in which they run."""

ON_REQUEST = _Names(lambda method: method.on_request is not None)
"""Attacks that run only if they are named."""


def register(method: AttackMethod) -> None:
    """Add an attack: :func:`kanon_sql.audit` runs it after those that are there.

    Raises:
        UnsupportedError: its name, or the name of one of its results, is taken.
    """
    taken = {*ATTACKS, *result_names()} & {method.name, *method.results}
    if taken:
        raise UnsupportedError(
            f"attack {method.name}: there is already an attack or a result called {', '.join(sorted(taken))}; "
            "choose another name, or unregister the other attack first"
        )
    _METHODS[method.name] = method


def unregister(name: str) -> None:
    """Take an attack out again.

    Raises:
        UnsupportedError: there is none of this name.
    """
    if name not in _METHODS:
        raise UnsupportedError(f"attack {name}: there is none; expected one of {', '.join(ATTACKS)}")
    del _METHODS[name]


def methods() -> list[AttackMethod]:
    """All attacks, in the order in which they run."""
    return list(_METHODS.values())


def result_names() -> list[str]:
    """Every name that a result of some attack may have."""
    return [name for method in methods() for name in method.results]


def label_of(name: str, about: str | None) -> str:
    """A result in words, such as ``homogeneity of diagnosis``."""
    if about is None:
        return name
    with_tables = any(method.about_tables for method in methods() if name in method.results)
    return f"{name} {'with' if with_tables else 'of'} {about}"
