"""Presets: what ``init`` writes for a rule or guideline, with its sources, and what following it does not make sure."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kanon_sql.errors import Problem, SpecError
from kanon_sql.verbs.init.columns import FEW_NUMBERS, SMALL_CATEGORY, ColumnProfile
from kanon_sql.verbs.init.names import AGE, BIRTH, POSTAL
from kanon_sql.verbs.init.suggest import Suggestion

__all__ = ["PRESETS", "SMALL_AREA", "Preset", "PresetKnowledge"]


@dataclass(frozen=True)
class PresetKnowledge:
    """What a preset knows besides the columns.

    Attributes:
        areas: the first three digits of the postal codes of areas that are large enough; None where no table of
            populations was given.
    """

    areas: Sequence[str] | None


def _as_they_are(found: Sequence[Suggestion], known: PresetKnowledge) -> list[Suggestion]:
    return list(found)


@dataclass(frozen=True)
class Preset:
    """A preset.

    Attributes:
        name: as on the command line.
        k: of k-anonymity.
        k_is_a_rule: whether a smaller one would not follow it.
        head: lines on top of the spec: what is followed, where it stands, and what it is not.
        on_k: lines above k-anonymity.
        on_sensitive: lines above the requirements for sensitive attributes.
        after: lines below the requirements.
        takes_population: whether a table of populations of postal areas changes anything.
        adapt: what becomes of the columns.
    """

    name: str
    k: int
    head: Sequence[str]
    k_is_a_rule: bool = False
    on_k: Sequence[str] = ()
    on_sensitive: Sequence[str] = ()
    after: Sequence[str] = ()
    takes_population: bool = False
    adapt: Callable[[Sequence[Suggestion], PresetKnowledge], list[Suggestion]] = _as_they_are


EMA_THRESHOLD = 0.09
"""The largest risk of re-identification that the guidance names for reports that any reader may get."""

EMA_0070 = Preset(
    name="ema-0070",
    k=math.ceil(1 / EMA_THRESHOLD),
    k_is_a_rule=True,
    head=(
        "Preset ema-0070: European Medicines Agency, policy 0070 (EMA/240810/2013) on the publication of",
        "clinical data, and its external guidance, EMA/90915/2016, chapter 3: where the risk of",
        "re-identification of published reports is measured, the maximum is compared with 0.09; a report says",
        "both the maximum and the average risk.",
        "",
        "What this is not: the guidance is about clinical reports, which are texts; this is about a table of",
        "subjects, as their listings are. It asks for an anonymisation report too, with reasons for each",
        "method, what was lost, and how the three criteria of Opinion 05/2014 (WP216) are met. Whether 0.09",
        "is small enough for a rare disease or a small trial is for you to judge, and the population that one",
        "compares with may be larger than the trial.",
        "",
    ),
    on_k=(
        "The maximum risk is 1 / the smallest class: 0.083 with 12 subjects, and above 0.09 with 11.",
        "The average risk is classes / subjects. Both are shown by: kanon-sql risk SPEC --threshold 0.09",
    ),
    on_sensitive=("The threshold is about whose record it is. These are about what the records of a class share.",),
)


GDPR_WP216 = Preset(
    name="gdpr-wp216",
    k=5,
    head=(
        "Preset gdpr-wp216: Article 29 Data Protection Working Party, Opinion 05/2014 on Anonymisation",
        "Techniques, WP216, 0829/14/EN, adopted on 10 April 2014. It judges a technique by three questions:",
        "  singling out: can a person's records be isolated?            k_anonymity below",
        "  linkability:  can two records of one person be linked?       no requirement of a single release; see below",
        "  inference:    can a value be deduced from the others?        l_diversity, or t_closeness, below",
        "",
        "What this is not: the opinion names no k, l or t, and says that k-anonymity alone leaves linkability",
        "and inference a risk (section 3.2). Where one of the three questions is answered by yes, it asks for",
        "an evaluation of the risk of identification. It reads Directive 95/46/EC; recital 26 of the GDPR",
        "asks which means are reasonably likely to be used. Who may come by the release, with which other",
        "data, is not measured here.",
        "",
    ),
    on_k=("Singling out: no person's records are alone with what others may know (WP216, section 3.2.1).",),
    on_sensitive=(
        "Inference: a class does not have the same value throughout (WP216, section 3.2.2). What bounds how",
        "much more a class tells than the whole table:  t_closeness: {attribute: NAME, t: 0.3}",
    ),
    after=(
        "Linkability: the unit and the identifiers are not released, so no column links records. Two releases",
        "of the same persons can be linked by what they have in common; ledger: judges them together (with",
        "one level per column). Measure what is left: kanon-sql audit SPEC.",
    ),
)


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

PRESETS = {preset.name: preset for preset in (SAFE_HARBOR, EMA_0070, GDPR_WP216)}
"""All of them by name."""
