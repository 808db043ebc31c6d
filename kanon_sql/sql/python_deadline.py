"""Work of Python's own that looks at the run's time limit, as the database's statements do.

Writing a statement over 1,500 columns takes longer than running it. Its steps (a template, a syntax tree, a dialect's
text) therefore ask here whether there is time left; who sets the limit is the engine, which knows when a run began.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["checkpoint", "looking_at"]

_CHECK: ContextVar[Callable[[], object] | None] = ContextVar("kanon_sql_time_limit", default=None)


def checkpoint() -> None:
    """Raise what the time limit raises, if there is one and it has passed."""
    check = _CHECK.get()
    if check is not None:
        check()


@contextmanager
def looking_at(check: Callable[[], object]) -> Iterator[None]:
    """Inside, :func:`checkpoint` calls a function, which raises once the time is up.

    Args:
        check: it; a limit set further out holds no longer.
    """
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)
