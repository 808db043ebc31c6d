"""The kinds of identifiers that HIPAA's Safe Harbor lists, and what became of the columns that may hold them.

45 CFR 164.514(b)(2)(i), letters A to R. Columns are recognized by their names, so a column with another name is not
seen here, and it is for a person to say what a column holds. The rule's second condition, that no one knows of a way
to identify a person, is about people and not about tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from kanon_sql.spec import Document, Keywords, QuasiIdentifier, Spec, Text, in_json
from kanon_sql.verbs.evidence.columns import Entry
from kanon_sql.verbs.evidence.zip_codes import MOST_PEOPLE, ZipCodes
from kanon_sql.verbs.init.hipaa import KINDS, Kind, kind_of_words, words_of

__all__ = ["Answer", "Listed", "Seen", "is_zip_code", "safe_harbor"]

Answer = Literal["none seen", "removed", "within the rule", "to be looked at", "not within the rule"]
_ORDER: tuple[Answer, ...] = ("none seen", "removed", "within the rule", "to be looked at", "not within the rule")
"""From best to worst: a kind is answered by its worst column."""

_OLDEST = 90
"""All ages over 89 may be one group, of 90 or older."""
_ZIP_DIGITS = 3
_YEARS = ("year", "decade", "century")


@dataclass(frozen=True)
class Seen(Document):
    """A column whose name suggests a kind of identifier.

    Attributes:
        column: its name.
        answer: whether the release is as the rule says.
        why: in words.
    """

    column: Text
    answer: Answer
    why: Text


@dataclass(frozen=True)
class Listed(Document):
    """A kind of identifier of the rule.

    Attributes:
        letter: of the paragraph.
        what: the kind.
        rule: what may stay of it, if anything.
        columns: those whose names suggest it.
    """

    letter: Annotated[str, Keywords(pattern="^[A-R]$")]
    what: Text
    rule: str
    columns: Sequence[Seen]

    @property
    @in_json
    def answer(self) -> Answer:
        """The worst answer of its columns."""
        return max((item.answer for item in self.columns), key=_ORDER.index, default="none seen")


def safe_harbor(spec: Spec, entries: Sequence[Entry], zip_codes: Mapping[str, ZipCodes]) -> list[Listed]:
    """All kinds of the rule, in its order; dates and ages, which share a letter, apart.

    Args:
        spec: the hierarchies.
        entries: the data dictionary.
        zip_codes: column -> what was counted of it against a population.
    """
    seen: dict[Kind, list[Seen]] = {kind: [] for kind in KINDS}
    labels = {entry.column: entry for entry in entries if entry.became != "dropped"}
    by_name = {column.name: labels[column.of] for column in spec.computed if column.of in labels}
    for entry in entries:
        kind = kind_of_words(words_of(entry.column))
        if kind is not None:
            # What stands beside a label says what the label does, as a number or a date.
            seen[kind].append(Seen(entry.column, *_answered(spec, by_name.get(entry.column, entry), kind, zip_codes)))
    return [Listed(kind.letter, kind.what, kind.rule, columns) for kind, columns in seen.items()]


def is_zip_code(spec: Spec, name: str) -> bool:
    """Whether a column is a place by its name, and its labels are the first characters of its values."""
    kind = kind_of_words(words_of(name))
    item = spec.quasi_identifiers.get(name)
    return item is not None and "prefix" in _written(item) and kind is not None and kind.letter == "B"


def _written(item: QuasiIdentifier | None) -> Mapping[str, Any]:
    """What the spec says of a column's hierarchy; nothing of a column that has none."""
    return {} if item is None else item.hierarchy.to_dict()


def _listed(item: QuasiIdentifier | None, kind: str, key: str) -> Sequence[Any] | None:
    """What the levels of a column are made of, where its hierarchy is of this kind: a list, or a key of a mapping."""
    found = _written(item).get(kind)
    return found[key] if isinstance(found, Mapping) else found


def _answered(spec: Spec, entry: Entry, kind: Kind, zip_codes: Mapping[str, ZipCodes]) -> tuple[Answer, str]:
    if entry.became == "dropped":
        return "removed", "not in the release"
    if entry.became == "withheld":
        return "removed", "one label in every row"
    if kind.letter == "B":
        return _place(spec, entry, zip_codes)
    if kind.what == "an age":
        return _age(spec, entry)
    if kind.letter == "C":
        return _date(spec, entry)
    return "not within the rule", f"it is in the release, and must not be if it holds {kind.what}"


def _place(spec: Spec, entry: Entry, zip_codes: Mapping[str, ZipCodes]) -> tuple[Answer, str]:
    counted = zip_codes.get(entry.column)
    if counted is not None:
        return _counted(counted)
    item = spec.quasi_identifiers.get(entry.column)
    lengths = _listed(item, "prefix", "lengths")
    if lengths is None:
        return "to be looked at", "it may show a place smaller than a state"
    if entry.level == 0:
        return "not within the rule", "it is released unchanged"
    kept = lengths[entry.level - 1] if entry.level else None
    if kept is not None and kept > _ZIP_DIGITS:
        return "not within the rule", f"the first {kept} digits of a ZIP code are in the release, and 3 may be"
    digits = "some digits" if kept is None else f"the first {kept} digits" if kept > 1 else "the first digit"
    return "to be looked at", (
        f"{digits} of a ZIP code are in the release; that more than {MOST_PEOPLE:,} people live in each area was not "
        "measured (--set zip_population=TABLE)"
    )


def _counted(found: ZipCodes) -> tuple[Answer, str]:
    if found.within:
        return "within the rule", (
            f"more than {MOST_PEOPLE:,} people of {found.population} live in each of the {found.areas:,} areas that "
            "are named, by 3 digits or fewer"
        )
    problems = []
    if found.finer_rows:
        problems.append(f"{found.finer_rows:,} rows have more than 3 digits of a ZIP code")
    if found.small_rows:
        unknown = f" ({found.unknown_areas:,} of them are not in it)" if found.unknown_areas else ""
        problems.append(
            f"{found.small_areas:,} areas, of {found.small_rows:,} rows, have {MOST_PEOPLE:,} people of "
            f"{found.population} or fewer{unknown}"
        )
    return "not within the rule", "; ".join(problems)


def _age(spec: Spec, entry: Entry) -> tuple[Answer, str]:
    item = spec.quasi_identifiers.get(entry.column)
    top = _written(item).get("top")
    if item is not None and top is not None:
        one_group = entry.level if entry.level is not None else item.minimum_level
        if top <= _OLDEST and one_group >= 1:
            return "within the rule", f"all from {top} on are one group"
    step = None if spec.steps is None else spec.steps.columns.get(entry.column)
    if step is not None and step.top is not None and step.top <= _OLDEST:
        return "within the rule", f"all from {step.top} on are one group"
    return "to be looked at", "ages over 89 are not one group, so no person in it may be over 89"


def _date(spec: Spec, entry: Entry) -> tuple[Answer, str]:
    item = spec.quasi_identifiers.get(entry.column)
    units = _listed(item, "dates", "levels")
    if item is None or units is None:
        if entry.level == 0 or item is None:
            return "not within the rule", "it is released unchanged, but only the year of a date may be released"
        return "to be looked at", "only the year of a date may be in the release"
    level = item.minimum_level if entry.level is None else entry.level
    unit = units[level - 1] if level else "day"
    if unit not in _YEARS:
        sure: Answer = "not within the rule" if entry.level is not None else "to be looked at"
        return sure, f"the {unit} is in the release, but only the year of a date may be"
    if words_of(entry.column) & {"birth", "birthdate", "birthday", "dob", "born", "dateofbirth"}:
        return "to be looked at", f"the {unit} may stay, unless it shows that a person is over 89"
    return "within the rule", f"the {unit}, and nothing finer"
