"""What the user says about columns, where that goes before what ``init`` would suggest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kanon_sql.errors import Problem, SpecError
from kanon_sql.spec import did_you_mean
from kanon_sql.verbs.init.columns import ColumnProfile
from kanon_sql.verbs.init.suggest import Role, Suggestion, as_quasi_identifier_of

__all__ = ["Roles", "columns_named", "requirements_of", "resolved", "unit_of", "with_roles"]


@dataclass(frozen=True)
class Roles:
    """Columns in roles, by name.

    Attributes:
        quasi_identifiers: what others may know, all of it: nothing else is a quasi-identifier; None for suggestions.
        sensitive: what no reader should learn, all of it; None for suggestions.
        identifiers: never released, besides those suggested.
        keep: released as they are.
        unit: the column that identifies persons, or the columns that do together; None for a suggestion.
        key: several columns that identify persons together, once :func:`resolved`; identifiers, where no other role is
            given to them.
        rows: rows are protected, whatever column could identify persons.
        l: column -> l of distinct l-diversity; such a column is sensitive.
        t: column -> t of t-closeness; such a column is sensitive.
    """

    quasi_identifiers: Sequence[str] | None = None
    sensitive: Sequence[str] | None = None
    identifiers: Sequence[str] = ()
    keep: Sequence[str] = ()
    unit: str | Sequence[str] | None = None
    key: Sequence[str] = ()
    rows: bool = False
    l: Mapping[str, int] = field(default_factory=dict)  # noqa: E741 - the name that the literature gives it
    t: Mapping[str, float] = field(default_factory=dict)

    def by_key(self) -> dict[str, Sequence[str]]:
        """The columns of each role that a spec names."""
        return {
            "quasi_identifiers": self.quasi_identifiers or (),
            "sensitive": list(dict.fromkeys([*(self.sensitive or ()), *self.l, *self.t])),
            "identifiers": self.identifiers,
            "keep": self.keep,
            "unit": () if self.unit is None else (self.unit,) if isinstance(self.unit, str) else self.unit,
        }


_ROLES: dict[str, Role] = {
    "quasi_identifiers": "quasi_identifier",
    "sensitive": "sensitive",
    "identifiers": "identifier",
    "keep": "keep",
}


def requirements_of(
    column: str, asked_l: Mapping[str, int], asked_t: Mapping[str, float]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What must hold for a sensitive column, by the key of a spec's ``privacy``, if the user said it."""
    if column in asked_l:
        yield "l_diversity", {"attribute": column, "l": asked_l[column], "variant": "distinct"}
    if column in asked_t:
        yield "t_closeness", {"attribute": column, "t": asked_t[column]}


def columns_named(text: str, columns: Iterable[str]) -> list[str]:
    """The names in a list with commas; a column whose own name has a comma may stand alone."""
    if text in columns:
        return [text]
    return [name for part in text.split(",") if (name := part.strip())]


def resolved(roles: Roles, shown: str, columns: Sequence[str]) -> Roles:
    """The roles, with lists taken apart, if they name columns of the table, and each of them once.

    Args:
        roles: as the user gave them.
        shown: what messages call the table.
        columns: its columns that a spec can name.

    Raises:
        SpecError: a name is no column's, or a column has two roles; all problems at once.
    """

    def parts(names: Sequence[str] | None) -> list[str] | None:
        return None if names is None else [name for text in names for name in columns_named(text, columns)]

    unit = parts(() if roles.unit is None else [roles.unit] if isinstance(roles.unit, str) else roles.unit) or []
    taken = replace(
        roles,
        unit=unit[0] if len(unit) == 1 else None,
        quasi_identifiers=parts(roles.quasi_identifiers),
        sensitive=parts(roles.sensitive),
        identifiers=parts(roles.identifiers) or (),
        keep=parts(roles.keep) or (),
    )
    if len(unit) > 1:
        own = [name for name in unit if name not in (*(taken.quasi_identifiers or ()), *taken.identifiers)]
        taken = replace(taken, key=unit, rows=True, identifiers=[*taken.identifiers, *own])
    problems = list(_problems(taken, shown, columns))
    if problems:
        raise SpecError(problems)
    return taken


def _problems(roles: Roles, shown: str, columns: Sequence[str]) -> Iterator[Problem]:
    if roles.quasi_identifiers is not None and not roles.quasi_identifiers:
        yield Problem("quasi_identifiers: name at least one column; or leave the list out to get suggestions")
    seen: dict[str, str] = {}
    for key, names in roles.by_key().items():
        for name in names:
            if name not in columns:
                yield Problem(f"{key}: {shown} has no column {name!r} that a spec can use{did_you_mean(name, columns)}")
            elif name in seen and {key, seen[name]} != {"unit", "identifiers"}:
                yield Problem(f"{key}: column {name!r} is also under {seen[name]}; give each column one role")
            seen.setdefault(name, key)
    if roles.rows and roles.unit is not None:
        yield Problem("unit: give a column that identifies persons, or protect rows; not both")


def unit_of(roles: Roles, profiles: Sequence[ColumnProfile]) -> ColumnProfile | None:
    """The unit that the user named."""
    return next((profile for profile in profiles if profile.name == roles.unit), None)


def with_roles(found: Sequence[Suggestion], roles: Roles) -> list[Suggestion]:
    """The suggestions, with what the user said in their place.

    Where the user lists the quasi-identifiers, or the sensitive attributes, others that were suggested are left out.
    """
    roles_of = {name: _ROLES[key] for key, names in roles.by_key().items() if key in _ROLES for name in names}
    return [_with_role(item, roles_of.get(item.profile.name), roles) for item in found]


def _with_role(item: Suggestion, role: Role | None, roles: Roles) -> Suggestion:
    if item.profile.name == roles.unit:
        return item
    if role == "quasi_identifier":
        taken = as_quasi_identifier_of(item, "")
        return replace(taken, reason="you listed it as a quasi-identifier", by_name=True, asked=True)
    if role is not None:
        reasons = {"sensitive": "you listed it as sensitive", "keep": "you listed it under keep"}
        reason = reasons.get(role, "you listed it as an identifier")
        return replace(item, role=role, reason=reason, hierarchy="{}", hint="", asked=True)
    listed = {"quasi_identifier": roles.quasi_identifiers, "sensitive": roles.sensitive}.get(item.role)
    if listed is not None:
        others = "quasi-identifiers" if item.role == "quasi_identifier" else "sensitive attributes"
        reason = f"{item.reason}, but you named the {others}"
        return replace(item, role="left_out", reason=reason, hierarchy="{}", hint="", asked=True)
    return item
