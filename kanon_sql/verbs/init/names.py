"""What a column's name says: the words that point at a person, at something sensitive, at a place or a time."""

from __future__ import annotations

from kanon_sql.verbs.init.columns import MOST_ROWS, SMALL_CATEGORY, ColumnProfile
from kanon_sql.verbs.init.hipaa import words_of

__all__ = [
    "AGE",
    "BIRTH",
    "DIRECT",
    "FEWEST",
    "PLACE",
    "POSTAL",
    "SENSITIVE",
    "SIZE",
    "TRAIT",
    "WEAK_DIRECT",
    "is_birth",
    "is_direct_unit",
    "is_person_key",
    "is_unit",
    "keys_a_person",
    "names_a_group",
    "names_a_key",
    "names_a_thing",
    "names_a_time",
    "names_another",
    "names_no_attribute",
    "points_at_a_person",
    "seems_an_identifier",
]


FEWEST = 10
"""Different values from which a column with the name of a key may identify persons; others need more."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PERSON = _words(
    "patient person customer client member user subject employee student participant citizen resident "
    "beneficiary donor insured policyholder respondent case emp worker"
)
_KEY = _words("id no nr num number key code uid pid uuid ref")
_CALLED = _words(
    "pid idcode seqn hhid subj subjid usubjid caseid respid respnr persid persnr pidp xwaveid personnummer idpers"
)
"""What surveys, panels and trials call the key of a person or a household, alone."""
_GROUP = _words("household households hh hhid family families fam dwelling couple siblings haushalt famille")
"""Words of groups of persons who live together."""
_OTHER = _words("manager supervisor boss doctor physician provider nurse teacher agent seller referrer")
"""A person other than the one that a row is about."""
_BARE = _words("id ident identifier key nr no number panel household hh") | _CALLED
_THING = _words(
    "store stores shop outlet branch product sku item article machine sensor factory warehouse depot stock ticker "
    "isin asset room bed station airport route flight site page campaign channel category vendor supplier brand"
)
_TIME = _words(
    "year yr month quarter week day date time ts wave round visit period term semester season session trial epoch "
    "seq sequence line lineno pernum pnum hour t"
)
DIRECT = _words(
    "ssn sin nhs nino mrn email mail phone telephone tel mobile cell fax passport iban bic username login "
    "firstname lastname surname forename fullname nickname maidenname familyname givenname patientname uuid "
    "guid imei mac ip url website licence license vin plate fingerprint signature photo latitude longitude lat "
    "lon lng geom cookie token password"
)
"""Words of direct identifiers, whatever else the name says."""
_WHO = _words("ssn sin nhs nino mrn email mail passport username login uuid guid imei cookie token")
"""Those of them that a person keeps from row to row, and no other person shares."""
WEAK_DIRECT = _words("name names address addr street account acct card contact comment comments note notes")
"""Words of direct identifiers, unless the name is that of a place: ``city_name``."""
SENSITIVE = _words(
    "diagnosis diagnoses disease diseases condition disorder illness icd icd9 icd10 symptom treatment therapy "
    "medication drug hiv income salary wage wages earnings debt religion conviction offence offense crime "
    "sexuality disability"
)
"""Words of what no reader should learn of a person."""
PLACE = _words(
    "zip zipcode zip5 postal postcode postalcode plz city town county country state province region district "
    "municipality village borough location canton nationality citizenship birthplace"
)
"""Words of places."""
POSTAL = _words("zip zipcode zip5 postal postcode postalcode plz")
"""Words of postal codes."""
AGE = _words("age")
"""The word of an age."""
BIRTH = _words("birth birthdate birthday dob born dateofbirth birthyear yob")
"""Words of a birth date or year."""
SIZE = _words("height weight")
"""Words of a body's measures; a survey's weight, which nearly every row has for its own, is none."""
TRAIT = _words(
    "sex gender race ethnicity ethnic marital civil marriage education degree schooling occupation profession "
    "job jobtitle workclass employer language relationship household children admission discharge death veteran"
)
"""Words of what others know of a person."""


def is_person_key(profile: ColumnProfile) -> bool:
    """Whether a column's name reads like the key of a person: ``patient_id``, ``customerno``, ``idcode``."""
    words = profile.words
    return keys_a_person(words) or (len(words) == 1 and bool(words & _PERSON) and profile.distinct > SMALL_CATEGORY)


def keys_a_person(words: frozenset[str]) -> bool:
    """Whether the words of a name are those of a person's key: ``patient_id``, ``idcode``."""
    if words & _CALLED or any(f"{person}{key}" in words for person in _PERSON for key in _KEY):
        return True
    return bool(words & _PERSON) and bool(words & _KEY)


def points_at_a_person(words: frozenset[str]) -> bool:
    """Whether the words of a name are those of a direct identifier: ``email``, or ``name`` where it is no place's."""
    return bool(words & DIRECT) or (bool(words & WEAK_DIRECT) and not words & (SENSITIVE | PLACE))


def seems_an_identifier(name: str) -> bool:
    """Whether the name of a column says that it points at a person, or is a person's key; ``product_name`` is none."""
    words = words_of(name)
    of_thing = bool(words & _THING) and not words & DIRECT
    return (points_at_a_person(words) and not of_thing) or keys_a_person(words)


def names_a_group(name: str) -> bool:
    """Whether the name of a column is that of a group of a few persons who live together: ``household_id``."""
    return bool(words_of(name) & _GROUP)


def is_birth(name: str) -> bool:
    """Whether the name of a column is that of a date or year of birth."""
    return bool(words_of(name) & BIRTH)


def is_unit(profile: ColumnProfile) -> bool:
    """Whether a column is, by its name, the key of a person who has several rows, some but not hundreds."""
    return _repeats(profile) and is_person_key(profile) and not names_another(profile)


def is_direct_unit(profile: ColumnProfile) -> bool:
    """Whether a column is a direct identifier that persons have several rows by: an e-mail address, a login."""
    named = bool(profile.words & _WHO) or profile.form in ("email", "ssn")
    return named and _repeats(profile) and profile.distinct >= FEWEST and 10 * profile.rows >= 11 * profile.distinct


def _repeats(profile: ColumnProfile) -> bool:
    return 1 < profile.distinct < profile.filled == profile.rows <= MOST_ROWS * profile.distinct


def names_a_key(profile: ColumnProfile) -> bool:
    """Whether a column's name is that of a key, of a person or of something else than a place: ``nr``, ``panel_id``."""
    words = profile.words
    if words & (PLACE | _OTHER):
        return False
    return is_person_key(profile) or words <= _BARE or bool(words & {"id", "nr"})


def names_another(profile: ColumnProfile) -> bool:
    """Whether a column's name is that of another person than the one that a row is about: ``manager_id``."""
    return bool(profile.words & _OTHER)


def names_a_thing(profile: ColumnProfile) -> bool:
    """Whether a column's name is that of a thing, not of a person: ``store``, ``product_code``."""
    return bool(profile.words & _THING) and not is_person_key(profile)


def names_no_attribute(profile: ColumnProfile) -> bool:
    """Whether a column's name is that of a key, of a thing, or of another person: not what others know of a person."""
    return names_a_key(profile) or names_a_thing(profile) or names_another(profile)


def names_a_time(profile: ColumnProfile) -> bool:
    """Whether a column says when, or which one of a household or person, by its type or its name."""
    return profile.is_date or bool(profile.words & _TIME)
