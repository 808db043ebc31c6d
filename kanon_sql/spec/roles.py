"""What the sections of a spec must not say against each other: a role per column, and requirements that fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from kanon_sql.spec.checks import Fault, Loc, did_you_mean, quote
from kanon_sql.spec.registry import parse_requirement

__all__ = ["requirement_faults", "role_faults"]


def _listed(given: Mapping[str, Any], role: str) -> Iterator[tuple[str, Fault]]:
    """The columns written in a role, each with a fault that stands there, still without words."""
    written = given.get(role)
    if isinstance(written, Mapping):
        for name in written:
            yield name, Fault((role, name), "", True)
    elif isinstance(written, list | tuple):
        for position, name in enumerate(written):
            if isinstance(name, str):
                yield name, Fault((role, position), "")


def role_faults(given: Mapping[str, Any]) -> Iterator[Fault]:
    """A column has one role. Names are compared without case, as most databases do."""
    seen: dict[str, tuple[str, str]] = {}
    places: dict[str, Loc] = {}
    for role in ("identifiers", "quasi_identifiers", "sensitive", "keep"):
        for name, fault in _listed(given, role):
            other, first = seen.setdefault(name.casefold(), (role, name))
            if fault.loc == places.setdefault(name.casefold(), fault.loc):
                continue
            shown = quote(name) if name == first else f"{quote(name)} ({quote(first)}, but for upper and lower case)"
            if other == role:
                yield fault._replace(message=f"column {shown} is listed twice")
            else:
                yield fault._replace(message=f"column {shown} is also under {other}; give each column one role")
    unit = given.get("unit")
    if isinstance(unit, list | tuple) and len(unit) == 1:
        unit = unit[0]
    if isinstance(unit, list | tuple):
        yield from _part_faults([name for name in unit if isinstance(name, str)], seen)
    elif isinstance(unit, str):
        role, name = seen.get(unit.casefold(), ("", ""))
        if role in ("quasi_identifiers", "sensitive", "keep"):
            yield Fault(
                ("unit",),
                f"column {quote(name)} is the unit and also under {role}, so it would be released; list a unit under "
                "identifiers only",
            )


def _part_faults(unit: Sequence[str], seen: Mapping[str, tuple[str, str]]) -> Iterator[Fault]:
    """A part of a key may be a quasi-identifier, such as a site; never all parts, and none is released as it is."""
    roles = {name: seen.get(name.casefold(), ("", ""))[0] for name in unit}
    for position, (name, role) in enumerate(roles.items()):
        if role in ("sensitive", "keep"):
            why = (
                f"column {quote(name)} is a part of the unit and also under {role}, so it would be released as it is; "
                "make it a quasi-identifier, or leave it out of one"
            )
            yield Fault(("unit", position), why)
    if roles and all(role == "quasi_identifiers" for role in roles.values()):
        why = "every part of the unit is a quasi-identifier; leave one that no one else knows under identifiers"
        yield Fault(("unit",), why)


def requirement_faults(given: Mapping[str, Any]) -> Iterator[Fault]:
    """Requirements protect columns listed as sensitive, and none is asked for twice."""
    written = given.get("privacy")
    if not isinstance(written, list | tuple):
        return
    sensitive = [name for name, _ in _listed(given, "sensitive")]
    quasi_identifiers = [name for name, _ in _listed(given, "quasi_identifiers")]
    references: dict[object, str] = {}
    facts: dict[tuple[object, ...], object] = {}
    seen: dict[tuple[object, ...], int] = {}
    for position, item in enumerate(written):
        try:
            requirement = parse_requirement(item)
        except ValidationError:
            continue  # reported where it is checked
        loc = ("privacy", position, requirement.name)
        attribute = requirement.attribute
        if attribute is not None and attribute not in sensitive:
            hint = did_you_mean(attribute, sensitive) if sensitive else "; 'sensitive' lists no column"
            yield Fault((*loc, requirement.attribute_key), f"{quote(attribute)} is not listed under sensitive{hint}")
        for fault in requirement.misfits(quasi_identifiers, sensitive, given.get("unit")):
            yield fault._replace(loc=(*loc, *fault.loc))
        reference = getattr(requirement, "reference", None)
        if reference is not None and references.setdefault(attribute, reference) != reference:
            why = (
                f"another requirement compares {quote(attribute or '')} with another reference; use the same "
                "reference for both"
            )
            yield Fault((*loc, "reference"), why)
        for parameter, fact in requirement.value_facts():
            if facts.setdefault((requirement.name, attribute, parameter), fact) != fact:
                why = f"another requirement of {quote(attribute or '')} has a different value; use the same for both"
                yield Fault((*loc, parameter), why, True)
        grouped = requirement.grouped_by
        if grouped is not None and set(grouped) == set(quasi_identifiers):
            grouped = None  # the classes of all, as if it were not there
        key = (*requirement.identity, None if grouped is None else frozenset(grouped))
        if key in seen:
            yield Fault(loc, f"the same requirement as item {seen[key] + 1}; keep the stricter one", True)
        seen.setdefault(key, position)
