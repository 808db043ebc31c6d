"""Suggest a role and a hierarchy for each column, from its name, its type and a few counts.

A suggestion is a place to start, and errs on the side of not releasing: only the person
who writes the spec knows what an attacker can know.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Literal

from kanon_sql.engines import Column
from kanon_sql.verbs.init.hipaa import Kind, kind_of_form, kind_of_words, words_of

__all__ = [
    "MOST_ROWS",
    "SMALL_CATEGORY",
    "ColumnProfile",
    "Role",
    "Suggestion",
    "says_nothing",
    "spreads",
    "suggest",
    "unit_by_name",
    "unless_varying",
    "with_a_quasi_identifier",
    "with_file",
    "with_spread",
]

Role = Literal["unit", "identifier", "quasi_identifier", "sensitive", "left_out"]

MAX_QUASI_IDENTIFIERS = 10
"""More make most tables useless, so what only its counts suggest is left out beyond this."""
SMALL_CATEGORY = 50
"""Most distinct values of a column that looks like a category."""
FEW_NUMBERS = 12
"""Fewer distinct whole numbers are a category, not a measure."""
FEW_LABELS = 3
"""Categories with no more values need no groups between the value and ``*``."""
NEARLY_UNIQUE = 0.9
"""Share of distinct values from which a column points at single rows or persons."""
ENOUGH_ROWS = 10
"""With fewer values, being distinct says nothing."""
MOST_ROWS = 100
"""Rows per person, on average, above which a person's key is taken for something else."""
VARYING = 0.05
"""Share of persons with several values from which a column belongs to the row, not the person."""


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """What is known of a column: counts and forms, no value.

    Attributes:
        column: name, type and kind.
        rows: rows of the table.
        filled: rows that are not NULL.
        distinct: distinct values.
        shortest: length of the shortest value as text; None where it was not asked.
        longest: length of the longest.
        digits: values that hold digits alone.
        form: the form of an identifier that nearly all of its values have; None without one.
        thirds: log10 of the range of a number in thirds, rounded down; None when it has none.
    """

    column: Column
    rows: int
    filled: int
    distinct: int
    shortest: int | None = None
    longest: int | None = None
    digits: int = 0
    form: str | None = None
    thirds: int | None = None

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @property
    def is_number(self) -> bool:
        """Whether intervals can hold its values."""
        return self.column.kind in ("integer", "decimal", "float")

    @property
    def is_date(self) -> bool:
        """Whether it can be truncated to months and years."""
        return self.column.kind in ("date", "timestamp")

    @property
    def is_code(self) -> bool:
        """Whether every value is digits of one length, written as text."""
        return self.column.kind == "text" and 0 < self.filled == self.digits and self.shortest == self.longest

    @property
    def hipaa(self) -> Kind | None:
        """The kind of identifier that the name or the form of the values suggests."""
        return kind_of_form(self.form) if self.form is not None else kind_of_words(self.words)

    @property
    def words(self) -> frozenset[str]:
        """The words of its name."""
        return words_of(self.name)


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
    """

    profile: ColumnProfile
    role: Role
    reason: str
    hierarchy: str = "{}"
    hint: str = ""
    by_name: bool = False

    @property
    def is_list(self) -> bool:
        """Whether it is a quasi-identifier with a short list of categories that somebody could group by hand."""
        return (
            self.role == "quasi_identifier"
            and self.hierarchy == "{}"
            and FEW_LABELS < self.profile.distinct <= SMALL_CATEGORY
        )


# --- Names ---------------------------------------------------------------------------------


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PERSON = _words(
    "patient person customer client member user subject employee student participant citizen resident "
    "beneficiary donor insured policyholder respondent case"
)
_KEY = _words("id no nr num number key code uid pid uuid ref")
_DIRECT = _words(
    "ssn sin nhs nino mrn email mail phone telephone tel mobile cell fax passport iban bic username login "
    "firstname lastname surname forename fullname nickname maidenname familyname givenname patientname uuid "
    "guid imei mac ip url website licence license vin plate fingerprint signature photo latitude longitude lat "
    "lon lng geom cookie token password"
)
_WEAK_DIRECT = _words("name names address addr street account acct card contact comment comments note notes")
_SENSITIVE = _words(
    "diagnosis diagnoses disease diseases condition disorder illness icd icd9 icd10 symptom treatment therapy "
    "medication drug hiv income salary wage wages earnings debt religion conviction offence offense crime "
    "sexuality disability"
)
_PLACE = _words(
    "zip zipcode zip5 postal postcode postalcode plz city town county country state province region district "
    "municipality village borough location canton nationality citizenship birthplace"
)
_POSTAL = _words("zip zipcode zip5 postal postcode postalcode plz")
_AGE = _words("age")
_BIRTH = _words("birth birthdate birthday dob born dateofbirth birthyear yob")
_TRAIT = _words(
    "sex gender race ethnicity ethnic marital civil marriage education degree schooling occupation profession "
    "job jobtitle workclass employer language relationship household children height weight admission discharge "
    "death veteran"
)


def is_person_key(profile: ColumnProfile) -> bool:
    """Whether a column's name reads like the key of a person: ``patient_id``, ``customerno``."""
    words = profile.words
    if any(f"{person}{key}" in words for person in _PERSON for key in _KEY):
        return True
    return bool(words & _PERSON) and (bool(words & _KEY) or (len(words) == 1 and profile.distinct > SMALL_CATEGORY))


def unit_by_name(profiles: Sequence[ColumnProfile]) -> ColumnProfile | None:
    """The first column that is a person's key by its name and counts."""
    return next((profile for profile in profiles if is_unit(profile)), None)


def is_unit(profile: ColumnProfile) -> bool:
    """Whether a column is the key of a person who has several rows, some but not hundreds."""
    repeats = 1 < profile.distinct < profile.filled == profile.rows <= MOST_ROWS * profile.distinct
    return repeats and is_person_key(profile)


# --- Roles ---------------------------------------------------------------------------------


def says_nothing(profile: ColumnProfile) -> bool:
    """Whether a column's name, and the form of its values, suggest no role."""
    return _by_name(profile) is None


def suggest(
    profiles: Sequence[ColumnProfile], panel: tuple[ColumnProfile, ColumnProfile] | None = None
) -> list[Suggestion]:
    """A suggestion per column, in the columns' order; at most one is the unit.

    Args:
        profiles: the columns.
        panel: whom the table follows and when, where the data say it and no name does.
    """
    unit = panel[0] if panel is not None else unit_by_name(profiles)
    found = [_suggest(profile, unit) for profile in profiles]
    if panel is not None:
        who, when = panel
        name = json.dumps(when.name, ensure_ascii=False)
        reason = f"a panel of one row for each of these and {name}, if these are persons"
        found = [replace(item, reason=reason) if item.profile is who else item for item in found]
    by_name = sum(item.role == "quasi_identifier" and item.by_name for item in found)
    room = max(0, MAX_QUASI_IDENTIFIERS - by_name)
    for index, item in enumerate(found):
        if item.role == "quasi_identifier" and not item.by_name:
            room -= 1
            if room < 0:
                reason = f"{item.reason}; left out, as there are {MAX_QUASI_IDENTIFIERS} quasi-identifiers already"
                found[index] = replace(item, role="left_out", reason=reason)
    return found


def unless_varying(item: Suggestion, persons: int, varying: int) -> Suggestion:
    """The suggestion, or to leave the column out since it is about the row and not the person.

    Args:
        item: a quasi-identifier that only its values suggest.
        persons: persons in the table.
        varying: those with more than one value of the column.
    """
    if varying <= VARYING * persons:
        return item
    reason = f"{item.reason}, but persons have several: as a quasi-identifier it would set their rows apart"
    return replace(item, role="left_out", reason=reason)


def spreads(item: Suggestion) -> bool:
    """Whether how far its numbers spread decides on the widths of its intervals."""
    return item.role == "quasi_identifier" and item.hierarchy.startswith("{intervals") and not _is_age(item.profile)


def with_spread(item: Suggestion, thirds: int) -> Suggestion:
    """The suggestion with intervals as wide as the spread of its numbers asks for; see :class:`ColumnProfile`."""
    profile = replace(item.profile, thirds=thirds)
    hierarchy, hint = as_quasi_identifier(profile)
    return replace(item, profile=profile, hierarchy=hierarchy, hint=f"{hint}; the finest for about 15 intervals")


def with_file(item: Suggestion, path: Path) -> Suggestion:
    """The suggestion with a hierarchy file to fill in."""
    hint = "replace the second column of the file by groups; a row may have more columns, all have equally many"
    return replace(item, hierarchy=f"{{file: {json.dumps(str(path), ensure_ascii=False)}}}", hint=hint)


def with_a_quasi_identifier(found: Sequence[Suggestion]) -> list[Suggestion]:
    """The suggestions with the most plausible column as quasi-identifier, if there was none.

    Columns left out come first, those with the fewest values first among them; then
    identifiers that only their values suggest.
    """
    if any(item.role == "quasi_identifier" for item in found):
        return list(found)
    candidates = [item for item in found if item.role == "left_out" or (item.role == "identifier" and not item.by_name)]
    if not candidates:
        return list(found)
    best = min(
        candidates,
        key=lambda item: (item.role == "identifier", not item.profile.filled, item.profile.distinct),
    )
    hierarchy, hint = as_quasi_identifier(best.profile)
    reason = f"{best.reason}; taken because no other column is more likely"
    taken = replace(best, role="quasi_identifier", reason=reason, hierarchy=hierarchy, hint=hint)
    return [taken if item is best else item for item in found]


def _suggest(profile: ColumnProfile, unit: ColumnProfile | None) -> Suggestion:
    if profile is unit:
        return Suggestion(profile, "unit", "its values repeat: a person has several rows")
    if profile.rows and not profile.filled:
        return Suggestion(profile, "left_out", "every value is NULL")
    return _by_name(profile) or _by_values(profile, unit)


def _by_name(profile: ColumnProfile) -> Suggestion | None:
    words = profile.words
    place = bool(words & _PLACE)
    if profile.form is not None:
        what = kind_of_form(profile.form).what
        return Suggestion(profile, "identifier", f"its values have the form of {what}", by_name=True)
    if words & _DIRECT:
        return Suggestion(profile, "identifier", "its name says that it points at a person", by_name=True)
    if words & _SENSITIVE:
        return Suggestion(profile, "sensitive", "its name says that nobody should learn it of a person", by_name=True)
    if words & _WEAK_DIRECT and not place:
        return Suggestion(profile, "identifier", "its name says that it points at a person", by_name=True)
    if is_person_key(profile):
        return Suggestion(profile, "identifier", "its name says that it is a person's key", by_name=True)
    if place or words & (_AGE | _BIRTH | _TRAIT):
        return _quasi_identifier(profile, "its name says that others may know it", by_name=True)
    return None


def _by_values(profile: ColumnProfile, unit: ColumnProfile | None) -> Suggestion:
    kind = profile.column.kind
    keyed = kind in ("text", "integer", "other")
    if keyed and profile.filled >= ENOUGH_ROWS:
        if profile.distinct >= NEARLY_UNIQUE * profile.filled:
            return Suggestion(profile, "identifier", "nearly every row has a value of its own")
        if unit is not None and profile.distinct >= NEARLY_UNIQUE * unit.distinct:
            return Suggestion(profile, "identifier", "nearly as many values as there are persons")
    if profile.is_date:
        return _quasi_identifier(profile, "a date that others may know")
    if profile.is_code and 3 <= (profile.longest or 0) <= 6:
        return _quasi_identifier(profile, "digits of one length, like a postal code")
    if kind in ("text", "boolean") and 1 < profile.distinct <= SMALL_CATEGORY:
        return _quasi_identifier(profile, "a category that others may know")
    if profile.rows and profile.distinct == 1 and profile.filled == profile.rows:
        return Suggestion(profile, "left_out", "the same value in every row")
    what = "a number" if profile.is_number else _WHAT.get(kind, "a type without a hierarchy of its own")
    return Suggestion(profile, "left_out", f"{what}; nothing suggests a role")


_WHAT = {"text": "text", "boolean": "true or false", "moment": "a point in time"}


# --- Hierarchies ---------------------------------------------------------------------------


def _quasi_identifier(profile: ColumnProfile, reason: str, *, by_name: bool = False) -> Suggestion:
    hierarchy, hint = as_quasi_identifier(profile)
    return Suggestion(profile, "quasi_identifier", reason, hierarchy, hint, by_name)


def as_quasi_identifier(profile: ColumnProfile) -> tuple[str, str]:
    """A hierarchy that fits a column, as YAML, and a hint."""
    words = profile.words
    if profile.column.kind == "timestamp":
        return "{dates: [day, month, quarter, year, decade]}", "level 0 is the exact time"
    if profile.is_date:
        return "{dates: [month, quarter, year, decade]}", "level 0 is the exact date"
    if words & _POSTAL or profile.is_code:
        return _prefixes(profile)
    if words & (_BIRTH | {"date"}) and profile.column.kind == "text" and profile.shortest == profile.longest == 10:
        return "{prefix: [7, 4]}", "month and year, if it is written as 2000-12-31"
    if profile.is_number:
        return _intervals(profile)
    if profile.distinct <= FEW_LABELS:
        return "{}", "the value, then *"
    return "{}", "the value, then *; groups between them (a tree or a file) would lose less"


def _prefixes(profile: ColumnProfile) -> tuple[str, str]:
    longest = profile.longest or 5
    kept = list(range(min(longest - 1, 5), 0, -1))[:3]
    if not kept:
        return "{}", "the value, then *"
    hint = "characters kept, the rest masked from the right"
    if profile.column.kind != "text":
        hint += "; a code that may begin with 0 should be text"
    return f"{{prefix: [{', '.join(map(str, kept))}]}}", hint


def _intervals(profile: ColumnProfile) -> tuple[str, str]:
    whole = profile.column.kind == "integer"
    if _is_age(profile):
        widths = [Decimal(5), Decimal(10), Decimal(20)]
        return _widths_text(widths), "widths per level; bottom: and top: would group the extremes"
    if whole and profile.distinct <= FEW_NUMBERS and profile.rows:
        return "{}", "the value, then *; few enough values to be a category"
    return _widths_text(_widths(profile.thirds, whole)), "widths per level, each a multiple of the one before"


def _is_age(profile: ColumnProfile) -> bool:
    return bool(profile.words & _AGE) and profile.column.kind == "integer"


def _widths_text(widths: Sequence[Decimal]) -> str:
    return f"{{intervals: [{', '.join(f'{width.normalize():f}' for width in widths)}]}}"


_STEPS = {1: (1, 5, 10), 2: (2, 10, 20), 5: (5, 10, 20)}
"""Round widths that nest, by the first digit of the finest."""


def _widths(thirds: int | None, whole: bool) -> list[Decimal]:
    """Three widths, the finest about a fifteenth of the range."""
    if thirds is None:
        return [Decimal(step) for step in _STEPS[5]]
    # 3 * log10(15) is about 3.5, and half a third is the middle of what was rounded down: steps of
    # 1, 2, 5 are thirds of a decade, so the finest width is the third that is left.
    power, step = divmod(min(max(thirds - 3, -12), 36), 3)
    first = (1, 2, 5)[step]
    widths = [Decimal(width).scaleb(power) for width in _STEPS[first]]
    if whole and widths[0] <= 1:
        return [Decimal(width) for width in _STEPS[2]]
    return widths
