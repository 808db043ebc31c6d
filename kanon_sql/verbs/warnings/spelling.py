"""Warnings about values that requirements count: several spellings of one, words for 'missing', lists of several.

Distinct l-diversity counts 'HIV', 'hiv' and 'Hiv ' as three values, and '' beside 'unknown' as two, where a reader sees
one or none. A person with two spellings of their key is counted twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kanon_sql.engines import Column, Workspace
from kanon_sql.hierarchies import exact_value
from kanon_sql.models import PrivacyModel
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation, render
from kanon_sql.verbs.result import Warned

__all__ = ["spelled_differently"]

MOST = 0.5
"""The share of rows from which values are said to be lists."""

_BLANKS = (" ", "\t", "\n", "\r", "\u00a0")
"""What is left out when spellings are compared."""

_SIGNS = (";", "|", "\n", ",")
"""What stands between the items of a list that is written as text."""

_NOTHING = (
    "", "-", "--", ".", "?", "??", "???", "n/a", "na", "n.a.", "#n/a", "nan", "nil", "none", "null", "<na>", "unknown",
    "unk", "unkn", "notknown", "notavailable", "notapplicable", "notspecified", "unspecified", "notstated", "missing",
    "noanswer", "noresponse", "nodata", "donotknow", "don'tknow", "dontknow", "prefernottosay", "refused", "undefined",
    "unbekannt", "k.a.", "inconnu", "desconocido",
)  # fmt: skip
"""Words for a value that is not known, in lower case and without blanks."""

_CODES = (9, 99, 999, 9999, -1, -9, -99, -999)
"""Numbers that stand for a missing value, where they are more than twice the others, or the only negative ones."""


def spelled_differently(
    workspace: Workspace,
    spec: Spec,
    models: Sequence[PrivacyModel],
    table: tuple[Relation, Mapping[str, Column]],
    persons: tuple[Relation, Mapping[str, Column]] | None,
) -> list[Warned]:
    """Values that count as different and are not, and values that are lists: in one statement, a read for each column.

    Args:
        workspace: where.
        spec: what becomes of the warnings.
        models: the requirements, whose attributes are looked at.
        table: the release, or a table to check, and its columns by name.
        persons: where the spec's unit is, with columns by name; None where persons are not counted.
    """
    spelling, lists = (spec.warnings.of(code) != "allow" for code in ("inconsistent_spelling", "values_are_lists"))
    if not (spelling or lists):
        return []
    relation, columns = table
    names = dict.fromkeys(model.attribute for model in models if model.attribute is not None and not model.adds_up)
    items = [item for name in names if name in columns for item in _looked_at(relation, columns[name])]
    unit = spec.unit if spelling and persons is not None else None
    if unit is not None and persons is not None and persons[1][unit].kind in ("text", "other"):
        native = render("release/column", name=unit)
        items += [{**item, "native": native} for item in _looked_at(persons[0], persons[1][unit])]
    if not items:
        return []
    workspace.report("looking for values that are spelled in several ways", None)
    answer = workspace.fetch(
        "verbs/warnings/spelling", len(items), items=items, blanks=_BLANKS, signs=_SIGNS, nothing=_NOTHING
    )
    warned = []
    for number, *figures in sorted(answer):
        filled, different, folded, nothing, listed, native_values = (int(figure or 0) for figure in figures)
        item = items[int(number)]
        if item["native"] is not None:
            warned += _persons_spelled_differently(item["name"], different, min(folded, native_values))
        else:
            if spelling:
                warned += _values_spelled_differently(item["name"], different, folded - nothing, nothing)
            if lists and filled and listed >= MOST * filled:
                warned.append(_lists(item["name"], listed / filled))
    return warned


def _looked_at(table: Relation, column: Column) -> Iterator[dict[str, Any]]:
    number = column.kind in ("integer", "decimal")
    if number or column.kind in ("text", "other"):
        value = exact_value(column, "kanon_source")
        yield {
            "name": column.name, "table": table, "value": value, "number": number, "codes": _CODES, "native": None
        }  # fmt: skip


def _values_spelled_differently(name: str, before: int, after: int, nothing: int) -> list[Warned]:
    if after >= before:
        return []
    folded = [] if before - after == nothing else ["case and blanks are ignored"]
    folded += [f"{nothing:,} of them count as missing (such as '', 'n/a', '?' or 999)"] if nothing else []
    message = (
        f"{name}: {before:,} different values are counted, but {after:,} if {' and '.join(folded)}: classes may be "
        "less diverse than verified. Clean the column in a source query (LOWER, TRIM; NULL for missing values)"
    )
    return [
        Warned("inconsistent_spelling", message, [name], {"values": before, "values_folded": after, "missing": nothing})
    ]


def _persons_spelled_differently(name: str, before: int, after: int) -> list[Warned]:
    if after >= before:
        return []
    message = (
        f"{name}: {before:,} persons are counted, but {after:,} if keys that differ only in case or blanks, or that "
        "the database considers equal, are one person: a person with two spellings counts twice, and classes may have "
        "fewer persons than verified. Clean the column in a source query (LOWER, TRIM)"
    )
    return [Warned("inconsistent_spelling", message, [name], {"values": before, "values_folded": after, "missing": 0})]


def _lists(name: str, share: float) -> Warned:
    message = (
        f"{name}: {100 * share:.1f} % of its values look like lists of several (items between ; | , or line breaks). "
        "Each list counts as one value, although all lists of a class may share an item. Use one row or column per "
        "item, or make a single item the sensitive attribute"
    )
    return Warned("values_are_lists", message, [name], {"share": share})
