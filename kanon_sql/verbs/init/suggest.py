"""Suggest a role for each column, from its name, its type and a few counts.

A suggestion is a place to start, and errs on the side of not releasing: only the person
who writes the spec knows what an attacker can know.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from kanon_sql.verbs.init.columns import (
    ENOUGH_ROWS,
    FEW_NUMBERS,
    NEARLY_UNIQUE,
    SMALL_CATEGORY,
    ColumnProfile,
)
from kanon_sql.verbs.init.hipaa import kind_of_form
from kanon_sql.verbs.init.levels import FEW_LABELS, as_quasi_identifier, is_age
from kanon_sql.verbs.init.names import (
    AGE,
    BIRTH,
    PLACE,
    SENSITIVE,
    SIZE,
    TRAIT,
    is_direct_unit,
    is_person_key,
    is_unit,
    names_a_key,
    names_a_thing,
    names_a_time,
    names_another,
    points_at_a_person,
)

__all__ = [
    "Panel",
    "Role",
    "Suggestion",
    "as_quasi_identifier_of",
    "spreads",
    "suggest",
    "suggests_no_role",
    "unit_by_name",
    "unless_varying",
    "with_a_release",
    "with_file",
    "with_spread",
]

Panel = tuple[ColumnProfile, ColumnProfile]
"""Which persons a table follows, and when."""

Role = Literal["unit", "identifier", "quasi_identifier", "sensitive", "keep", "left_out"]

MAX_QUASI_IDENTIFIERS = 10
"""More make most tables useless, so what only its counts suggest is left out beyond this."""
VARYING = 0.05
"""Share of persons with several values from which a column belongs to the row, not the person."""
FEW_COLUMNS = 4
"""A release of fewer columns tells little, so that the likeliest of those left out are taken as well."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A role for a column, and why.

    Attributes:
        profile: the column.
        role: the role.
        reason: for a comment; names no value.
        hierarchy: of a quasi-identifier, as YAML.
        hint: what to do about the hierarchy.
        by_name: the name alone suggests the role.
        asked: the user named the role, or named others for the suggested one.
        fixed: the role and hierarchy are those of a rule, which the reason names.
    """

    profile: ColumnProfile
    role: Role
    reason: str
    hierarchy: str = "{}"
    hint: str = ""
    by_name: bool = False
    asked: bool = False
    fixed: bool = False

    @property
    def is_list(self) -> bool:
        """Whether it is a quasi-identifier with a short list of categories that a user could group by hand."""
        return (
            self.role == "quasi_identifier"
            and self.hierarchy == "{}"
            and FEW_LABELS < self.profile.distinct <= SMALL_CATEGORY
        )


# --- Roles ---------------------------------------------------------------------------------


def suggests_no_role(profile: ColumnProfile) -> bool:
    """Whether a column's name, and the form of its values, suggest no role."""
    return _by_name(profile) is None


def unit_by_name(profiles: Sequence[ColumnProfile]) -> ColumnProfile | None:
    """The first column that is a person's key by its name and counts, or else a direct identifier that repeats."""
    keys = (profile for profile in profiles if is_unit(profile))
    return next(keys, None) or next((profile for profile in profiles if is_direct_unit(profile)), None)


def suggest(
    profiles: Sequence[ColumnProfile],
    panel: Panel | None = None,
    *,
    unit: ColumnProfile | None = None,
    rows: bool = False,
) -> list[Suggestion]:
    """A suggestion per column, in the columns' order; at most one is the unit.

    Args:
        profiles: the columns.
        panel: the persons that the table follows and when, where the data say it and no name does. Anyone who has the
            name of a thing is not taken for a person.
        unit: the unit, if the user named one.
        rows: there is none.
    """
    if panel is not None and (rows or names_a_thing(panel[0]) or unit not in (None, panel[0])):
        panel = None
    if unit is not None:
        reason = "you named the column that identifies persons"
    else:
        unit = None if rows else panel[0] if panel is not None else unit_by_name(profiles)
        reason = "its values repeat: a person has several rows"
    found = [_suggest(profile, unit, reason) for profile in profiles]
    if panel is not None:
        found = [_of_panel(item, panel[1]) for item in found]
    by_name = sum(item.role == "quasi_identifier" and item.by_name for item in found)
    room = max(0, MAX_QUASI_IDENTIFIERS - by_name)
    for index, item in enumerate(found):
        if item.role == "quasi_identifier" and not item.by_name:
            room -= 1
            if room < 0:
                reason = f"{item.reason}; left out, as there are {MAX_QUASI_IDENTIFIERS} quasi-identifiers already"
                found[index] = replace(item, role="left_out", reason=reason)
    return found


def _of_panel(item: Suggestion, when: ColumnProfile) -> Suggestion:
    if item.role == "unit":
        name = json.dumps(when.name, ensure_ascii=False)
        return replace(item, reason=f"a panel of one row for each of these and {name}, if these are persons")
    if item.profile is when and item.role in ("left_out", "quasi_identifier"):
        return _quasi_identifier(when, "the time, or number, of each row of a person in the panel", by_name=True)
    return item


def unless_varying(item: Suggestion, persons: int, varying: int) -> Suggestion:
    """The suggestion, or to leave the column out since it is about the row and not the person.

    A year or a wave stays: it is known of persons in a panel, and without it the rows say little.

    Args:
        item: a quasi-identifier that only its values suggest.
        persons: persons in the table.
        varying: those with more than one value of the column.
    """
    profile = item.profile
    if varying <= VARYING * persons:
        return item
    if names_a_time(profile) and not profile.is_date and profile.distinct <= SMALL_CATEGORY:
        return replace(item, reason="numbers the rows of a person", by_name=True)
    reason = (
        f"{item.reason}, but it varies within a person: as a quasi-identifier it would put a person's rows into "
        "different classes"
    )
    return replace(item, role="left_out", reason=reason)


def spreads(item: Suggestion) -> bool:
    """Whether how far its numbers spread decides on the widths of its intervals."""
    intervals = item.role == "quasi_identifier" and item.hierarchy.startswith("{intervals")
    return intervals and not item.fixed and not is_age(item.profile)


def with_spread(item: Suggestion, thirds: int) -> Suggestion:
    """The suggestion with intervals as wide as the spread of its numbers asks for; see :class:`ColumnProfile`."""
    profile = replace(item.profile, thirds=thirds)
    hierarchy, hint = as_quasi_identifier(profile)
    return replace(item, profile=profile, hierarchy=hierarchy, hint=f"{hint}; the finest gives about 15 intervals")


def with_file(item: Suggestion, path: Path) -> Suggestion:
    """The suggestion with a hierarchy file to fill in."""
    hint = "replace the second column of the file by groups; a row may have more columns, all have equally many"
    return replace(item, hierarchy=f"{{file: {json.dumps(str(path), ensure_ascii=False)}}}", hint=hint)


def with_a_release(found: Sequence[Suggestion], panel: Panel | None = None) -> list[Suggestion]:
    """The suggestions with enough quasi-identifiers that a release tells something: :data:`FEW_COLUMNS` columns.

    Of the columns left out those with few values come first, then dates, then numbers; free text is not taken. Where
    there is no quasi-identifier even so, the most plausible column is one: of those left out, then of identifiers that
    only their values suggest, the one with the fewest values.

    Args:
        found: the suggestions.
        panel: a key of two columns, whose first one may yet be the unit, and is not taken.
    """
    who = None if panel is None else panel[0]
    taken = list(found)
    missing = FEW_COLUMNS - sum(item.role in ("quasi_identifier", "sensitive") for item in found)
    free = [item for item in found if item.role == "left_out" and not item.asked and item.profile is not who]
    likely = [item for item in free if _is_useful(item.profile)]
    for item in sorted(likely, key=_unlikeliness)[: max(0, missing)]:
        taken[taken.index(item)] = as_quasi_identifier_of(item, "suggested because few other columns are likely")
    if any(item.role == "quasi_identifier" for item in taken):
        return taken
    candidates = [item for item in found if item.role == "left_out" or (item.role == "identifier" and not item.by_name)]
    if not candidates:
        return taken
    best = min(
        candidates,
        key=lambda item: (item.role == "identifier", not item.profile.filled, item.profile.distinct),
    )
    taken[taken.index(best)] = as_quasi_identifier_of(best, "suggested because no other column is more likely")
    return taken


def as_quasi_identifier_of(item: Suggestion, why: str) -> Suggestion:
    """The suggestion as a quasi-identifier, with a hierarchy that fits and one more reason."""
    hierarchy, hint = as_quasi_identifier(item.profile)
    return replace(
        item, role="quasi_identifier", reason=f"{item.reason}; {why}", hierarchy=hierarchy, hint=hint, by_name=False
    )


def _is_useful(profile: ColumnProfile) -> bool:
    """Whether a column has values that are worth a label."""
    short = profile.column.kind in ("text", "boolean") and profile.distinct <= SMALL_CATEGORY
    return profile.distinct > 1 and (short or profile.is_number or profile.is_date)


def _unlikeliness(item: Suggestion) -> tuple[bool, bool, int]:
    profile = item.profile
    return profile.distinct > SMALL_CATEGORY, not profile.is_date, profile.distinct


def _suggest(profile: ColumnProfile, unit: ColumnProfile | None, reason: str) -> Suggestion:
    if profile is unit:
        return Suggestion(profile, "unit", reason)
    if profile.rows and not profile.filled:
        return Suggestion(profile, "left_out", "every value is NULL")
    return _by_name(profile) or _by_values(profile, unit)


def _by_name(profile: ColumnProfile) -> Suggestion | None:
    words = profile.words
    place = bool(words & PLACE)
    if profile.form is not None:
        what = kind_of_form(profile.form).what
        return Suggestion(profile, "identifier", f"its values have the form of {what}", by_name=True)
    if points_at_a_person(words):
        return Suggestion(profile, "identifier", "its name suggests that it points at a person", by_name=True)
    if words & SENSITIVE:
        return Suggestion(profile, "sensitive", "its name suggests a sensitive attribute", by_name=True)
    if is_person_key(profile):
        whose = "the key of another person than the one a row is about" if names_another(profile) else "a person's key"
        return Suggestion(profile, "identifier", f"its name suggests that it is {whose}", by_name=True)
    if names_a_key(profile) and profile.distinct > SMALL_CATEGORY:
        return Suggestion(profile, "identifier", "its name suggests a key", by_name=True)
    if place or words & (AGE | BIRTH | TRAIT) or (words & SIZE and not profile.is_nearly_unique):
        return _quasi_identifier(profile, "its name suggests that an attacker may know it", by_name=True)
    return None


def _by_values(profile: ColumnProfile, unit: ColumnProfile | None) -> Suggestion:
    kind = profile.column.kind
    listed = kind in ("text", "integer", "other") and not profile.is_dates_as_text
    if listed and profile.filled >= ENOUGH_ROWS:
        if profile.is_nearly_unique:
            return Suggestion(profile, "identifier", "nearly every row has a different value")
        if unit is not None and _one_per_person(profile, unit):
            return Suggestion(profile, "identifier", "nearly as many values as there are persons")
    if profile.is_date or profile.is_dates_as_text:
        return _quasi_identifier(profile, "a date that an attacker may know")
    if profile.is_code and 3 <= (profile.longest or 0) <= 6:
        return _quasi_identifier(profile, "digits of one length, like a postal code")
    if kind in ("text", "boolean") and 1 < profile.distinct <= SMALL_CATEGORY:
        return _quasi_identifier(profile, "a category that an attacker may know")
    if kind == "integer" and 1 < profile.distinct <= FEW_NUMBERS:
        return _quasi_identifier(profile, "a numeric category that an attacker may know")
    if profile.rows and profile.distinct == 1 and profile.filled == profile.rows:
        return Suggestion(profile, "left_out", "the same value in every row")
    what = "a number" if profile.is_number else _WHAT.get(kind, "a type without a hierarchy")
    return Suggestion(profile, "left_out", f"{what}; no role is suggested")


def _one_per_person(profile: ColumnProfile, unit: ColumnProfile) -> bool:
    """Whether a column may be another key of persons; numbers with more values than that are measures of rows."""
    most = float("inf") if profile.column.kind != "integer" else 1.1 * unit.distinct
    return NEARLY_UNIQUE * unit.distinct <= profile.distinct <= most


_WHAT = {"text": "text", "boolean": "true or false", "moment": "a point in time"}


def _quasi_identifier(profile: ColumnProfile, reason: str, *, by_name: bool = False) -> Suggestion:
    hierarchy, hint = as_quasi_identifier(profile)
    return Suggestion(profile, "quasi_identifier", reason, hierarchy, hint, by_name)
