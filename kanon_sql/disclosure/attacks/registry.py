"""The registry of attacks: their order, their names, and what an attack from outside joins."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, TypeVar

from kanon_sql.errors import UnsupportedError
from kanon_sql.registers import ATTACKS

if TYPE_CHECKING:
    from kanon_sql.disclosure.attacks.method import AttackMethod

__all__ = ["ATTACKS", "ON_REQUEST", "attack", "label_of", "methods", "register", "result_names", "unregister"]

M = TypeVar("M", bound="type[AttackMethod]")


class _OnRequest(Collection[str]):
    """The names of those that run only if they are named, of the attacks that are registered now."""

    def __contains__(self, name: object) -> bool:
        return any(name == known for known in self)

    def __iter__(self) -> Iterator[str]:
        return (name for name, method in ATTACKS.items() if method.on_request is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return repr(tuple(self))


ON_REQUEST = _OnRequest()
"""Attacks that run only if they are named."""


def attack(kind: M) -> M:
    """Declare an attack of this package; a decorator of its class."""
    ATTACKS.add(kind.name, kind(), kind.__module__)
    return kind


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
    ATTACKS.add(method.name, method, type(method).__module__)


def unregister(name: str) -> None:
    """Take an attack out again.

    Raises:
        UnsupportedError: there is none of this name.
    """
    if name not in ATTACKS:
        raise UnsupportedError(f"attack {name}: there is no such attack; expected one of {', '.join(ATTACKS)}")
    ATTACKS.forget(name)


def methods() -> list[AttackMethod]:
    """All attacks, in the order in which they run."""
    return list(ATTACKS.values())


def result_names() -> list[str]:
    """Every name that a result of some attack may have."""
    return [name for method in methods() for name in method.results]


def label_of(name: str, about: str | None) -> str:
    """A result in words, such as ``homogeneity of diagnosis``."""
    if about is None:
        return name
    with_tables = any(method.about_tables for method in methods() if name in method.results)
    return f"{name} {'with' if with_tables else 'of'} {about}"
