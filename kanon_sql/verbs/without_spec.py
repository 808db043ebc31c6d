"""A verb without a spec: a table, the roles of its columns and what must hold, as arguments.

``check`` needs no hierarchies: it measures the table as it is. ``plan`` and ``anonymize`` use the spec that
``init`` drafts from the same arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypedDict, TypeVar, cast, overload

from kanon_sql.errors import SpecError
from kanon_sql.spec import Spec
from kanon_sql.verbs.result import Result

if TYPE_CHECKING:
    from kanon_sql.engines import Reporter
    from kanon_sql.spec import RelationalSpec
    from kanon_sql.verbs.relational import RelationalResult

__all__ = ["Roles", "note_of_draft", "spec_of_roles", "takes_roles"]

Call = Callable[..., Result]
"""A verb, as it is without roles."""

P = ParamSpec("P")
R = TypeVar("R", bound=Result)
R_co = TypeVar("R_co", covariant=True)


class Roles(TypedDict, total=False):
    """What stands for a spec, as keyword arguments.

    Attributes:
        quasi_identifiers: the columns that others may know of a person.
        sensitive: the columns that no reader should learn of a person, besides those of ``l`` and ``t``.
        identifiers: columns that are never released.
        keep: columns that are released as they are.
        unit: the column that identifies persons, where one may have several rows.
        k: of k-anonymity.
        l: column -> l of distinct l-diversity.
        t: column -> t of t-closeness.

    Examples:
        >>> kanon_sql.check(db, "visits", quasi_identifiers=["zip"], k=2).passed
        True
    """

    quasi_identifiers: Sequence[str]
    sensitive: Sequence[str]
    identifiers: Sequence[str]
    keep: Sequence[str]
    unit: str | Sequence[str]
    k: int
    l: Mapping[str, int]  # noqa: E741 - the name that the literature gives it
    t: Mapping[str, float]


_LISTS = {"quasi_identifiers", "sensitive", "identifiers", "keep"}
_BY_COLUMN = {"l", "t"}


class TakesRoles(Protocol[P, R_co]):
    """A verb that is called with a spec, of one table or of several, or with a table and roles."""

    @overload
    def __call__(self, engine: Any, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    @overload
    def __call__(
        self, engine: Any, spec: RelationalSpec, *, timeout: float | None = None, report: Reporter | None = None
    ) -> RelationalResult: ...

    @overload
    def __call__(self, engine: Any, table: str | None = None, /, **kwargs: Any) -> R_co: ...


def takes_roles(*, drafts: bool) -> Callable[[Callable[Concatenate[Any, P], R]], TakesRoles[P, R]]:
    """Make a verb take a table and the roles of its columns in the place of a spec.

    Args:
        drafts: the verb needs hierarchies, so ``init`` drafts the spec; otherwise it judges the table as it is.

    Returns:
        A decorator. The second argument of the verb is then a spec; or the name of a table, or nothing where the table
        itself came first, with keyword arguments that are named as in :class:`Roles`.
    """

    def decorated(verb: Callable[Concatenate[Any, P], R]) -> TakesRoles[P, R]:
        name, run = verb.__name__, cast(Call, verb)

        @wraps(verb)
        def called(engine: Any, spec: Any = None, *args: Any, **kwargs: Any) -> Any:
            arguments = {key: kwargs.pop(key) for key in Roles.__annotations__ if key in kwargs}
            roles = {key: value for key, value in arguments.items() if value is not None}
            if not roles:
                if spec is None:
                    raise SpecError(f"{name}: expected a Spec, or a table with quasi_identifiers=[...]")
                return run(engine, spec, *args, **kwargs)
            if isinstance(spec, Spec):
                raise SpecError(
                    f"{name}: the spec already has the roles of the columns; leave {', '.join(roles)} or the spec out"
                )
            if not isinstance(spec, str | None):
                kind = type(spec).__name__
                raise SpecError(f"{name}: expected the name of a table, got {kind}; give a name, or nothing")
            roles = _listed(name, roles)
            return (_drafted if drafts else _judged)(run, engine, spec, args, kwargs, roles)

        given = signature(verb)
        own = [item.replace(default=None) if item.name == "spec" else item for item in given.parameters.values()]
        own += [
            Parameter(key, Parameter.KEYWORD_ONLY, default=None, annotation=getattr(of, "__forward_arg__", of))
            for key, of in Roles.__annotations__.items()
        ]
        called.__signature__ = given.replace(parameters=own)  # type: ignore[attr-defined]
        return cast(TakesRoles[P, R], called)

    return decorated


def _judged(
    run: Call, engine: Any, named: str | None, args: Sequence[Any], kwargs: dict[str, Any], roles: Mapping[str, Any]
) -> Result:
    """What a verb says of a table as it is.

    Raises:
        SpecError: two tables are named, of which one would not be looked at.
    """
    others = [*args, *([kwargs["table"]] if kwargs.get("table") is not None else [])]
    if len(others) + (named is not None) > 1:
        raise SpecError("check: two tables are given; give only the one to check")
    table = named if named is not None else others[0] if others else None
    # A distribution is compared with that of the whole table, which is then its own source.
    checked = engine if table is None and roles.get("t") else table
    source = table if isinstance(table, str) else None
    return run(engine, spec_of_roles(table=source, csv=kwargs.get("csv"), **roles), **{**kwargs, "table": checked})


def _drafted(
    run: Call, engine: Any, named: str | None, args: Sequence[Any], kwargs: dict[str, Any], roles: Mapping[str, Any]
) -> Result:
    """What a verb does by the spec that ``init`` drafts."""
    from kanon_sql.verbs.init import init  # which a run with a spec does not load

    more = {key: kwargs[key] for key in ("timeout", "report") if key in kwargs}
    drafted = Spec.parse(init(engine, named, **roles, **more))
    result = run(engine, drafted, *args, **kwargs)
    return replace(result, notes=[*result.notes, note_of_draft(drafted, _HOW)])


def _listed(verb: str, roles: Mapping[str, Any]) -> dict[str, Any]:
    """The roles with lists of columns as lists.

    Raises:
        SpecError: one has another form; a text would be taken for a list of letters.
    """
    if "quasi_identifiers" not in roles:
        raise SpecError(f"{verb}: quasi_identifiers is missing; list the columns that an attacker may know of a person")
    found = dict(roles)
    for key in _LISTS & roles.keys():
        columns = None if isinstance(roles[key], str) or not isinstance(roles[key], Iterable) else list(roles[key])
        if columns is None or not all(isinstance(column, str) for column in columns):
            raise SpecError(f"{verb}: {key}: expected a list of column names, got {type(roles[key]).__name__}")
        found[key] = columns
    for key in _BY_COLUMN & roles.keys():
        if not isinstance(roles[key], Mapping):
            kind = type(roles[key]).__name__
            raise SpecError(f"{verb}: {key}: expected a number by column, such as {{'diagnosis': 3}}, got {kind}")
    return found


def spec_of_roles(
    *,
    table: str | None = None,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    keep: Sequence[str] = (),
    unit: str | Sequence[str] | None = None,
    k: int | None = None,
    l: Mapping[str, int] | None = None,  # noqa: E741
    t: Mapping[str, float] | None = None,
    csv: Mapping[str, str] | None = None,
) -> Spec:
    """The spec that a table is checked by: no column of it is generalized.

    Args:
        table: its name, if it has one.
        quasi_identifiers: as in :class:`Roles`, as are all others.
        sensitive: the same.
        identifiers: the same; the table must not have them.
        keep: the same.
        unit: the same.
        k: the same.
        l: the same.
        t: the same.
        csv: how the table is written, where it is a CSV file.

    Raises:
        SpecError: nothing was said that must hold, or a value is wrong; it lists all problems. Or identifiers were
            named where the table is its own source, which may have some.
    """
    if k is None and not l and not t:
        raise SpecError("check: no requirement was given; add k=5, l={'diagnosis': 3} or t={'diagnosis': 0.3}")
    from kanon_sql.verbs.init import requirements_of

    own_source = None if table is None or not t else _source_of(table, csv, list(t))
    if own_source is not None and identifiers:
        raise SpecError(
            "check: identifiers: with t the table is compared with itself as its own source, which may have "
            "identifiers; leave them out, or check them in a separate run with k"
        )
    protected = dict.fromkeys([*sensitive, *(l or {}), *(t or {})])
    asked = {
        "version": 1,
        "quasi_identifiers": {column: {} for column in quasi_identifiers},
        "sensitive": list(protected),
        "identifiers": list(identifiers),
        "keep": list(keep),
        "privacy": [
            *([] if k is None else [{"k_anonymity": {"k": k}}]),
            *(dict([item]) for column in protected for item in requirements_of(column, l or {}, t or {})),
        ],
    }
    more = {"unit": unit, "source": own_source}
    return Spec.from_dict(asked | {key: value for key, value in more.items() if value is not None})


def _source_of(table: str, csv: Mapping[str, str] | None, compared: Sequence[str]) -> str | dict[str, Any]:
    """A table as the ``source`` of a spec: a file by its path, and a CSV file with texts, as where it is checked."""
    if not table.lower().endswith((".parquet", ".csv")) or not Path(table).exists():
        return table
    written = {"csv": {**(csv or {}), "text": list(compared)}} if table.lower().endswith(".csv") else {}
    return {"file": str(Path(table).absolute()), **written}


_HOW = "kanon_sql.init with the same arguments writes it"


def note_of_draft(drafted: Spec, how: str) -> str:
    """What was drafted, as a note of the result.

    Args:
        drafted: the spec.
        how: to see it.
    """
    released = [*drafted.quasi_identifiers, *drafted.sensitive, *drafted.keep]
    return f"init drafted the spec: only {', '.join(released)} are released; {how}"
