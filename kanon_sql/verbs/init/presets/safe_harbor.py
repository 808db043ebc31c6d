"""The preset for HIPAA's Safe Harbor: the eighteen kinds of identifiers, found by the names and forms of columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from kanon_sql.errors import Problem, SpecError
from kanon_sql.verbs.init.columns import FEW_NUMBERS, SMALL_CATEGORY, ColumnProfile
from kanon_sql.verbs.init.names import AGE, BIRTH, POSTAL
from kanon_sql.verbs.init.presets.base import Preset, PresetKnowledge
from kanon_sql.verbs.init.suggest import Suggestion

__all__ = ["SAFE_HARBOR", "SMALL_AREA"]

SMALL_AREA = 20_000
"""Of an area with no more people not even the first three digits of its postal codes may stay."""

OLDEST = 90
"""From this age on all are one group."""


def _adapted(found: Sequence[Suggestion], known: PresetKnowledge) -> list[Suggestion]:
    """The columns as the rule allows them.

    Raises:
        SpecError: the user asked to release a column in a way that the rule forbids.
    """
    listed = any(item.asked and item.role == "quasi_identifier" for item in found)
    adapted = [
        item if item.role == "unit" or (item.role == "left_out" and (listed or item.asked)) else _allowed(item, known)
        for item in found
    ]
    problems = [
        Problem(f"{_KEYS[old.role]}: {SAFE_HARBOR.name} does not allow {old.profile.name!r} as that: {new.reason}")
        for old, new in zip(found, adapted, strict=True)
        if old.asked and new.role != old.role
    ]
    if problems:
        raise SpecError(problems)
    return _apart(adapted)


def _apart(found: Sequence[Suggestion]) -> list[Suggestion]:
    """Not both an age and the year of a date: an age of 85 in 2010 shows an age over 89 in 2026.

    Where a birth date is released, its year says what the age does and knows the bound; else the date goes. Of columns
    that the user asked for, a comment says so.
    """
    released = [item for item in found if item.role == "quasi_identifier"]
    ages = [item for item in released if item.profile.is_number and item.profile.words & AGE]
    dates = [item for item in released if item.profile.is_date and not item.profile.words & BIRTH]
    born = [item.profile.name for item in released if item.profile.words & BIRTH]
    if not ages or not dates:
        return list(found)
    together = f"{_listed(ages)} and the year of {_listed(dates)} tell a year of birth, and so an age over 89 today"
    if born:
        gone, instead = ages, f"{' and '.join(born)} tells as much, within the rule"
    else:
        gone, instead = dates, "release one of them, or compute the age on the day of the release in a source query"
    why = f"(C): {together}, if the age is that of then; {instead}"
    return [
        item
        if item not in gone
        else replace(item, reason=f"{item.reason}; {why}")
        if item.asked
        else _removed(item, why)
        for item in found
    ]


def _listed(items: Sequence[Suggestion]) -> str:
    return " and ".join(item.profile.name for item in items)


_KEYS = {"quasi_identifier": "quasi_identifiers", "sensitive": "sensitive", "keep": "keep"}


def _allowed(item: Suggestion, known: PresetKnowledge) -> Suggestion:
    profile, kind = item.profile, item.profile.hipaa
    if item.asked and item.role == "identifier":
        return item
    if profile.is_date:
        return _dated(item)
    if profile.is_dates_as_text:
        return _removed(item, _NO_DATE)
    if item.role == "identifier" and not profile.words & (POSTAL | AGE):
        return item
    if kind is None:
        return (
            _removed(item, "(C): a point in time; cast it to a date, of which the year may stay")
            if (profile.column.kind == "moment")
            else item
        )
    if kind.letter not in "BC":
        return _removed(item, f"({kind.letter}): {kind.what}")
    if kind.letter == "B":
        return _place(item, known)
    if profile.words & AGE:
        return _age(item)
    return _date_by_name(item)


def _place(item: Suggestion, known: PresetKnowledge) -> Suggestion:
    """Three digits of a ZIP code, where enough people live in all that have these; no other place."""
    profile = item.profile
    if not profile.words & POSTAL:
        return _removed(item, "(B): a place smaller than a state")
    if profile.column.kind != "text":
        return _removed(
            item, "(B): a ZIP code as a number, which lost its leading zeros; cast it to text of five digits"
        )
    if known.areas is None:
        why = "(B): three digits may stay where more than 20,000 people live; name their table: --set population"
        return _removed(item, why)
    listed = ", ".join(f"'{area}'" for area in known.areas) or "'none'"
    # Five digits, or nine with or without a dash; in others, zeros at the front may be lost.
    whole = "length(x) IN (5, 9, 10) AND substring(x, 5, 1) <> '-'"
    three = f"CASE WHEN left(x, 3) IN ({listed}) AND {whole} THEN left(x, 3) ELSE '000' END"
    return _released(
        item,
        f'{{sql: ["{three}"], minimum_level: 1}}',
        f"(B): three digits of {len(known.areas)} areas with more than 20,000 people, 000 for all others",
    )


def _age(item: Suggestion) -> Suggestion:
    if not item.profile.is_number:
        return _removed(item, "(C): an age that is no number; cast it to one, of which all up to 89 may stay")
    hierarchy = f"{{intervals: [1, 5, 10], top: {OLDEST}, minimum_level: 1}}"
    return _released(item, hierarchy, "(C): ages over 89 are one group, and level 0 would release them")


def _dated(item: Suggestion) -> Suggestion:
    """The year of a date; of a birth date only where it does not tell an age over 89."""
    if not item.profile.words & BIRTH:
        return _released(item, "{dates: [year, decade], minimum_level: 1}", "(C): the year alone may stay")
    return _born(item, "CAST(extract(year FROM x) AS INTEGER)")


def _born(item: Suggestion, year: str) -> Suggestion:
    """Years of birth and their decades; those that may tell an age over 89 on the day of the release are one group."""
    last = f"release_year - {OLDEST}"
    groups = (f"CAST({year} AS VARCHAR)", f"CAST(CAST(floor({year} / 10) * 10 AS INTEGER) AS VARCHAR) || 's'")
    levels = [
        f"CASE WHEN {year} <= {last} THEN CAST({last} AS VARCHAR) || ' or before' ELSE {group} END" for group in groups
    ]
    return _released(
        item,
        f"{{sql: {json.dumps(levels)}, minimum_level: 1}}",
        f"(C): the year alone may stay, and none that tells an age over 89, as one until {last} may; release_year is "
        "the year in which the spec is loaded",
    )


_NO_DATE = "(C): a date that is no date by its type; cast it to one, of which the year may stay"


def _date_by_name(item: Suggestion) -> Suggestion:
    """A date that is no date by its type: a year in a number, a text."""
    profile = item.profile
    if profile.column.kind == "integer" and profile.words & BIRTH:
        return _born(item, "x")
    if _is_category(profile):
        return item
    return _removed(item, _NO_DATE)


def _is_category(profile: ColumnProfile) -> bool:
    """Whether a column such as ``admission_type`` has too few values for dates, and they have not one length."""
    if profile.column.kind == "boolean":
        return True
    if profile.column.kind == "text":
        return profile.distinct <= SMALL_CATEGORY and (
            profile.shortest != profile.longest or (profile.longest or 0) < 6
        )
    return profile.column.kind == "integer" and profile.distinct <= FEW_NUMBERS and (profile.longest or 0) < 4


def _removed(item: Suggestion, why: str) -> Suggestion:
    return replace(item, role="identifier", reason=f"Safe Harbor {why}", hierarchy="{}", hint="", fixed=True)


def _released(item: Suggestion, hierarchy: str, why: str) -> Suggestion:
    return replace(item, role="quasi_identifier", reason=f"Safe Harbor {why}", hierarchy=hierarchy, hint="", fixed=True)


SAFE_HARBOR = Preset(
    name="hipaa-safe-harbor",
    k=5,
    head=(
        "Preset hipaa-safe-harbor: the de-identification standard of the HIPAA Privacy Rule by removal of",
        "identifiers, 45 CFR 164.514(b)(2)(i), paragraphs (A) to (R): they are never released, but for three",
        "digits of a ZIP code of an area with more than 20,000 people, the year of a date, and ages, of which",
        "all over 89 are one group.",
        "",
        "What this is not: the eighteen kinds are found by the names and forms of columns, so read every",
        "line. Texts may hold any of them. Identifiers of relatives, employers and household members count as",
        "well. The rule asks besides, in (b)(2)(ii), that you do not know that what is left could identify",
        "an individual; no program can say that for you. It is a rule of the United States for covered entities,",
        "and no statement about the GDPR.",
        "",
    ),
    on_k=("Not part of Safe Harbor, which sets no k: no person is alone with what is left of these columns.",),
    takes_population=True,
    adapt=_adapted,
)
