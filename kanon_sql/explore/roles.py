"""What each column is for: the roles of a spec, the spec that follows from another role, and what that does, in words.

A change is judged by the spec's own checks. What a requirement loses is never dropped unseen: a change that would drop
one is put to the user first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.errors import SpecError
from kanon_sql.models import models_of
from kanon_sql.spec import Spec, parts_of_key

__all__ = ["ROLES", "SHORT", "ColumnRole", "RoleChange", "change_role", "differing_roles", "listed_roles", "roles_in"]

ROLES = {
    "left_out": "not released",
    "quasi_identifier": "quasi-identifier: an attacker may know it",
    "sensitive": "sensitive",
    "identifier": "identifier, never released",
    "keep": "released as it is",
    "unit": "identifies the person",
}
"""The roles that a column can have -> what the page calls them."""

SHORT = {**ROLES, "quasi_identifier": "quasi-identifier", "identifier": "identifier"}
"""The same in a few words."""

_KEYS = {"identifier": "identifiers", "quasi_identifier": "quasi_identifiers", "sensitive": "sensitive", "keep": "keep"}
"""Role -> the key of a spec that lists it."""


@dataclass(frozen=True)
class ColumnRole:
    """A column, and what it is for.

    Attributes:
        place: its position in the source, by which the page knows it; columns that the source lacks come after.
        name: the column.
        type: the engine's name of its type; empty where that is not known.
        role: one of :data:`ROLES`.
        index: its position among the quasi-identifiers; None where it is none.
        roles: those that it can be given.
        note: why it cannot be given others; empty where it can.
        before: the role that the page began with, in words; empty where that is the same.
    """

    place: int
    name: str
    type: str
    role: str
    index: int | None
    roles: Sequence[str]
    note: str
    before: str


@dataclass(frozen=True)
class RoleChange:
    """What another role of a column makes of a spec.

    Attributes:
        spec: the other spec; None where requirements would be dropped, which the user has to accept first.
        effects: what it does, a sentence each.
        dropped: the requirements that are, or would be, dropped.
    """

    spec: Spec | None
    effects: Sequence[str]
    dropped: Sequence[str] = ()


def roles_in(spec: Spec) -> dict[str, str]:
    """The columns that a spec has a role for, and which: those that others may know first."""
    found = dict.fromkeys(spec.quasi_identifiers, "quasi_identifier")
    found |= dict.fromkeys(spec.sensitive, "sensitive") | dict.fromkeys(spec.keep, "keep")
    unit = parts_of_key(spec.unit)
    found |= {name: "unit" for name in unit if name not in found}
    return found | {name: "identifier" for name in spec.identifiers if name not in unit}


def listed_roles(spec: Spec, started: Spec, columns: Sequence[tuple[str, str]] | None) -> list[ColumnRole]:
    """Every column of the source, those with a role first.

    Args:
        spec: its roles are listed.
        started: the spec that the page began with.
        columns: names and types of the source's columns; None before these are known.
    """
    own, first = roles_in(spec), roles_in(started)
    coordinates = {column: name for name, point in spec.points.items() for column in point.columns}
    types = dict(columns or ())
    known = {name.casefold() for name in own}
    others = [name for name in types if name.casefold() not in known]
    places = {name: place for place, name in enumerate(dict.fromkeys([*types, *first, *own]))}
    index = {name: place for place, name in enumerate(spec.quasi_identifiers)}
    found = []
    for name in [*own, *others]:
        role = own.get(name, "left_out")
        roles, note = tuple(ROLES), ""
        if name in coordinates:
            roles, note = (role,), f"a coordinate of {coordinates[name]}; its value would narrow the cell"
        elif name in spec.points:
            roles, note = ("left_out", "quasi_identifier"), "made of two columns, so there is no value to release"
        elif columns is not None and name.casefold() not in {own.casefold() for own in types}:
            roles, note = (role, *(item for item in ("left_out",) if item != role)), "the source has no such column"
        before = first.get(name, "left_out")
        found.append(
            ColumnRole(
                places[name], name, types.get(name, ""), role, index.get(name), roles, note,
                "" if before == role else SHORT[before],
            )
        )  # fmt: skip
    return found


def differing_roles(spec: Spec, started: Spec) -> list[tuple[str, str, str]]:
    """Columns whose role is another one than the page began with: the column, its role then and now, in words."""
    own, first = roles_in(spec), roles_in(started)
    names = dict.fromkeys([*first, *own])
    roles = [(name, first.get(name, "left_out"), own.get(name, "left_out")) for name in names]
    return [(name, SHORT[before], SHORT[now]) for name, before, now in roles if before != now]


def change_role(
    spec: Spec, name: str, role: str, *, hierarchy: Mapping[str, Any] | None = None, drop: bool = False
) -> RoleChange:
    """The spec in which a column has another role.

    Args:
        spec: the spec that is changed.
        name: the column.
        role: one of :data:`ROLES`.
        hierarchy: of a quasi-identifier, as :meth:`QuasiIdentifier.to_dict` gives it; None for the value, then ``*``.
        drop: requirements about the column may be dropped.

    Raises:
        SpecError: it cannot have the role, as the spec's own checks say.
    """
    was = roles_in(spec).get(name, "left_out")
    if was == role:
        raise SpecError(f"{name}: its role is {SHORT[role]} already; choose another one")
    if was == "quasi_identifier" and len(spec.quasi_identifiers) == 1:
        raise SpecError(
            f"{name}: it is the only quasi-identifier; without one there are no classes, and no requirement would "
            "protect anything. Make another column a quasi-identifier first"
        )
    data = spec.to_dict()
    dropped = _about(spec, name) if role != "sensitive" else []
    labels = [label for _, label in dropped]
    if dropped and len(dropped) == len(data["privacy"]):
        raise SpecError(f"{name}: {labels[0]} is the only requirement, and is about it; add another requirement first")
    if dropped and not drop:
        return RoleChange(None, [f"{label} is about {name}, and would be dropped." for label in labels], labels)
    places = {place for place, _ in dropped}
    data["privacy"] = [item for place, item in enumerate(data["privacy"]) if place not in places]
    for key in _KEYS.values():
        items = data[key]
        data[key] = {own: item for own, item in items.items() if own != name} if isinstance(items, dict) else [
            own for own in items if own != name
        ]  # fmt: skip
    if was == "unit":
        data["unit"] = None
    if role == "unit":
        data["unit"] = name
    elif role == "quasi_identifier":
        data["quasi_identifiers"][name] = dict(hierarchy or {})
    elif role != "left_out":
        data[_KEYS[role]].append(name)
    made = spec.changed(data)
    return RoleChange(made, list(_effects(spec, made, name, was, role, labels)), labels)


def _about(spec: Spec, name: str) -> list[tuple[int, str]]:
    """The requirements about a sensitive column: position and label."""
    if name not in spec.sensitive:
        return []
    labels = [str(model.label) for model in models_of(spec)]
    return [(place, labels[place]) for place, item in enumerate(spec.privacy) if item.attribute == name]


def _effects(before: Spec, after: Spec, name: str, was: str, role: str, dropped: Sequence[str]) -> Iterator[str]:
    """What another role does: first what is lost, then what the new one means."""
    yield f"{name} was {SHORT[was]}, and is {SHORT[role]} now."
    if was == "quasi_identifier":
        yield (
            f"No requirement counts {name} any more: rows that differ in {name} alone are in one class, and k is "
            f"easier to reach. Classes are made by {_named(list(after.quasi_identifiers))}."
        )
        yield "Loss is a mean over other columns than before: do not compare it with earlier figures."
    for label in dropped:
        yield f"{label} was dropped: nothing limits any more what a class reveals of {name}."
    if was == "unit" and role != "unit" and after.unit is None:
        yield (
            "Classes count rows now, and no longer persons: the rows of one person can fill a class. The warning "
            "rows_not_persons says where."
        )
    yield from _meaning(before, after, name, was, role)


def _meaning(before: Spec, after: Spec, name: str, was: str, role: str) -> Iterator[str]:
    if role == "quasi_identifier":
        yield (
            f"Classes are made by {name} as well, so k is harder to reach. Loss is a mean over one more column: do not "
            "compare it with earlier figures."
        )
    elif role in ("keep", "sensitive"):
        yield (
            f"Every value of {name} is released unchanged. An attacker who knows a person's {name} can find rows "
            "within a class; k does not count that. The warnings say how far."
        )
        if role == "sensitive" and not _about(after, name):
            yield f"No requirement protects {name} yet: add l-diversity or t-closeness under Privacy."
    elif role == "unit":
        yield "It is not released. Classes count persons now, and no longer rows."
        if before.unit is not None:
            yield f"{before.unit} identified persons before, and has no such role now."
    elif was == "quasi_identifier":
        yield (
            f"It is not released. No warning looks any more for released columns that reveal {name}, as a town reveals "
            "a ZIP code."
        )
    else:
        yield "It is not released."


def _named(names: Sequence[str]) -> str:
    most = 4
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
