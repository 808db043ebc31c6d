"""A verb of engines as one that takes tables and connections of a program too."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from kanon_sql.engines import CONNECTIONS, TABLES, Engine, connect, connection_kind, shown_kind, table_kind
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.objects.tables import program_tables
from kanon_sql.spec import NEVER_GROWS, Displayed, Spec

__all__ = ["accepts_objects", "refuse_unread"]

P = ParamSpec("P")
R = TypeVar("R")


def accepts_objects(verb: Callable[Concatenate[Engine, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Make a verb take what a program has, in the place of an engine.

    Args:
        verb: takes an engine first. Its parameters ``spec`` or ``specs``, ``table``, ``population``, ``external``,
            ``earlier`` and ``other_views`` mean what they mean everywhere.

    Returns:
        The same verb. Given a table first, it reads that as the source, or as the table to check, and others may be
        tables too; given a connection, it connects, and sets the session back at the end.
    """
    parameters = signature(verb)

    @wraps(verb)
    def called(*args: Any, **kwargs: Any) -> Any:
        given = args[0] if args else kwargs.get("engine")
        if "spec" in parameters.parameters:
            spec = args[1] if len(args) > 1 else kwargs.get("spec")
            refuse_unread(verb.__name__, spec, only=parameters.parameters["spec"].annotation)
        if is_engine(given):
            return verb(*args, **kwargs)
        bound = parameters.bind(*args, **kwargs)
        with ExitStack() as stack:
            if table_kind(given) is not None:
                tables = stack.enter_context(program_tables(verb.__name__, given, bound.arguments))
                bound.arguments.update(tables.arguments)
                return tables.finished(verb(*bound.args, **bound.kwargs))
            if connection_kind(given) is not None:
                bound.arguments["engine"] = stack.enter_context(connect(given))
                return verb(*bound.args, **bound.kwargs)
        raise UnsupportedError(
            f"{verb.__name__}: cannot use {shown_kind(given)}; give what kanon_sql.connect returns, {TABLES}, or "
            f"{CONNECTIONS.removeprefix('a URL, ')}"
        )

    return called


def refuse_unread(verb: str, spec: object, only: str = "Spec") -> None:
    """Refuse the path or the content of a spec in the place of one, and a spec of another kind than the only one.

    Args:
        verb: for the message.
        spec: what was given.
        only: the class of the specs that the verb takes.

    Raises:
        SpecError: it is none.
    """
    if isinstance(spec, Displayed) and only == "Spec" and not isinstance(spec, Spec):
        why = f"; {NEVER_GROWS}" if verb == "refresh" and getattr(spec, "of_several", False) else ""
        raise SpecError(f"{verb}: expected a Spec of one table, got a {type(spec).__name__}{why}")
    if isinstance(spec, str | Path | dict):
        reader = "from_dict" if isinstance(spec, dict) else "load"
        raise SpecError(
            f"{verb}: expected a Spec, got {shown_kind(spec)}; read it first, with kanon_sql.Spec.{reader}(...)"
        )


def is_engine(given: object) -> bool:
    """Whether it is an engine, of ours or from outside."""
    return all(hasattr(given, name) for name in ("capabilities", "dialect", "meter", "fetch"))
