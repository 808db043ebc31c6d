"""Verbs that take a spec of several tables, too: what does the work there is imported when such a spec is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

from kanon_sql.errors import SpecError
from kanon_sql.objects import accepts_objects
from kanon_sql.spec import Displayed, Spec

__all__ = ["takes_several"]

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
S = TypeVar("S")
R_co = TypeVar("R_co", covariant=True)
S_co = TypeVar("S_co", covariant=True)


class TakesSeveral(Protocol[P, R_co, Q, S_co]):
    """A verb that is called with a spec of one table, or of several."""

    @overload
    def __call__(self, engine: Any, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    @overload
    def __call__(self, engine: Any, *args: Q.args, **kwargs: Q.kwargs) -> S_co: ...


def takes_several(
    several: Callable[[], Callable[Concatenate[Any, Q], S]],
) -> Callable[[Callable[Concatenate[Any, P], R]], TakesSeveral[P, R, Q, S]]:
    """Make a verb take specs of several tables in the place of those of one.

    Args:
        several: imports the function that is then called, with the same arguments; it takes an engine.

    Returns:
        A decorator. The second argument of the verb is a spec, or a mapping of specs by their names.
    """

    def decorated(verb: Callable[Concatenate[Any, P], R]) -> TakesSeveral[P, R, Q, S]:
        @wraps(verb)
        def called(*args: Any, **kwargs: Any) -> Any:
            given = args[1] if len(args) > 1 else kwargs.get("spec", kwargs.get("specs"))
            if not _is_of_several(verb.__name__, given):
                return verb(*args, **kwargs)
            function = several()
            try:
                signature(function).bind(*args, **kwargs)
            except TypeError as error:
                taken = ", ".join(list(signature(function).parameters)[2:])
                raise SpecError(
                    f"{verb.__name__}: {error}; for a spec of several tables it takes {taken}, and no other options"
                ) from None
            return accepts_objects(function)(*args, **kwargs)

        return cast(TakesSeveral[P, R, Q, S], called)

    return decorated


def _is_of_several(verb: str, given: object) -> bool:
    """Whether a spec is of several tables, or all specs are.

    Raises:
        SpecError: some specs are, and others are not.
    """
    if not isinstance(given, Mapping):
        return _is_relational(given)
    kinds = set(map(_is_relational, given.values()))
    if len(kinds) > 1:
        raise SpecError(f"{verb}: specs of one table and of several tables cannot be compared; give one kind")
    return kinds == {True}


def _is_relational(given: object) -> bool:
    if isinstance(given, Spec) or not isinstance(given, Displayed):
        return False
    from kanon_sql.spec import RelationalSpec  # which a verb of one table does without

    return isinstance(given, RelationalSpec)
