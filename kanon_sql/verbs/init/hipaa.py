"""Which of the identifiers of HIPAA's Safe Harbor a column may hold, by its name and the form of its values.

The 18 kinds are those of 45 CFR 164.514(b)(2)(i), letters A to R. A hint is for a comment in a draft: whether a
column is of a kind, and whether the rule applies at all, is for the person who writes the spec to decide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["FORMS", "KINDS", "Kind", "kind_of_form", "kind_of_words", "words_of"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of identifier.

    Attributes:
        letter: of the paragraph.
        what: what it is.
        rule: what may stay of it, if anything.
    """

    letter: str
    what: str
    rule: str = ""

    @property
    def hint(self) -> str:
        """For a comment."""
        return f"HIPAA Safe Harbor ({self.letter}): {self.what}{', ' if self.rule else ''}{self.rule}"


_PLACE = Kind(
    "B",
    "a place smaller than a state",
    "of which only the first 3 digits of a ZIP code may stay, and 000 where at most 20,000 people live in them",
)
_DATE = Kind("C", "a date of a person", "of which only the year may stay")
_AGE = Kind("C", "an age", "of which all over 89 are one group (top: 90)")

_BY_WORD = [
    ("name names firstname lastname surname forename fullname nickname maidenname familyname givenname patientname",
     Kind("A", "a name")),
    ("street address addr city town county district municipality village borough zip zipcode zip5 postal postcode "
     "postalcode plz precinct geocode latitude longitude lat lon lng", _PLACE),
    ("age", _AGE),
    ("birth birthdate birthday dob born dateofbirth birthyear yob admission admitted discharge discharged death died "
     "deceased",
     _DATE),
    ("phone telephone tel mobile cell", Kind("D", "a telephone number")),
    ("fax", Kind("E", "a fax number")),
    ("email mail", Kind("F", "an e-mail address")),
    ("ssn socialsecurity", Kind("G", "a social security number")),
    ("mrn medicalrecord chart", Kind("H", "a medical record number")),
    ("beneficiary healthplan policyholder medicare medicaid insured member",
     Kind("I", "a health plan beneficiary number")),
    ("account acct iban bic card", Kind("J", "an account number")),
    ("licence license certificate passport npi dea", Kind("K", "a certificate or license number")),
    ("vin plate vehicle", Kind("L", "a vehicle identifier")),
    ("device serial imei udi implant mac", Kind("M", "a device identifier")),
    ("url website homepage web", Kind("N", "a web address")),
    ("ip ipaddress", Kind("O", "an IP address")),
    ("fingerprint voiceprint retina biometric iris", Kind("P", "a biometric identifier")),
    ("photo picture image portrait", Kind("Q", "a photograph")),
    ("uuid guid", Kind("R", "another unique number or code")),
]  # fmt: skip
_KINDS = {word: kind for words, kind in _BY_WORD for word in words.split()}

KINDS = tuple(sorted(dict.fromkeys(_KINDS.values()), key=lambda kind: kind.letter))
"""All kinds in the rule's order; C has two, dates and ages."""

FORMS = ("email", "url", "ip", "ssn", "phone")
"""The forms of a text that are counted: see ``verbs/init/columns``."""

_BY_FORM = {
    "email": _KINDS["email"],
    "url": _KINDS["url"],
    "ip": _KINDS["ip"],
    "ssn": _KINDS["ssn"],
    "phone": _KINDS["phone"],
}


def words_of(name: str) -> frozenset[str]:
    """The words of a column's name: ``dateOfBirth`` and ``date_of_birth`` read alike."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return frozenset(re.findall(r"[^\W_]+", parted.casefold()))


def kind_of_words(words: frozenset[str]) -> Kind | None:
    """The kind that the words of a column's name suggest; the first in the rule's order."""
    found = [kind for word, kind in _KINDS.items() if word in words]
    if words & {"ip", "email", "url", "web", "mac"}:  # "ip address" is no place
        found = [kind for kind in found if kind is not _PLACE]
    return min(found, key=lambda kind: kind.letter, default=None)


def kind_of_form(form: str) -> Kind:
    """The kind of values of a form in :data:`FORMS`."""
    return _BY_FORM[form]
