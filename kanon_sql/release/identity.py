"""Whether values of later rows are known again: columns are of the types that a release was begun with.

The number 7 and the text 7 are one value or two, depending on the engine and on what else stands beside them. Taken
for two, one person would be counted twice; taken for one, two persons would be held as one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SpecError
from kanon_sql.hierarchies import forms_of
from kanon_sql.release.state import State
from kanon_sql.sql import Relation

__all__ = ["refuse_other_types", "types_of", "value_forms"]

_WRAPPED = re.compile(r"(?:Nullable|LowCardinality)\((.*)\)$", re.IGNORECASE)
_LENGTH = re.compile(r"\(\s*\d+\s*\)$")
_TEXT = ("VARCHAR", "CHARACTER VARYING", "TEXT", "STRING")
"""Types of texts that are compared as they stand, however long they may be."""

_UNMIXED = ("UINT64", "UINT128", "UINT256")
_LONGEST_SHOWN = 60


def types_of(columns: Mapping[str, Column], names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Column -> its type and its kind, for a state to remember.

    Args:
        columns: the source's.
        names: those to remember.
    """
    return {name: (columns[name].type, columns[name].kind) for name in names}


def _identity(type_name: str, kind: str) -> str:
    """What two types have in common of which equal values are written alike.

    Whole numbers of any size are, and texts of any length. Other numbers and times are not: with other digits, equal
    ones have other texts. Texts that are padded are known among their own kind only, and so are the numbers that
    ClickHouse puts into no column together with signed ones.
    """
    found = type_name.strip()
    while (wrapped := _WRAPPED.fullmatch(found)) is not None:
        found = wrapped[1].strip()
    plain = _LENGTH.sub("", found).strip().upper()
    if kind == "integer" and plain not in _UNMIXED:
        return "a whole number"
    if kind == "text" and (plain in _TEXT or plain.startswith("ENUM")):
        return "text"
    return found.upper()


def refuse_other_types(state: State, columns: Mapping[str, Column], names: Sequence[str], what: str) -> None:
    """Refuse rows of whose values one could not tell whether they are those that were taken before.

    Args:
        state: with the types that the release was begun with.
        columns: those of the rows.
        names: those that are compared.
        what: where the rows come from, for the message.

    Raises:
        SpecError: a column is of another type.
    """
    for name in names:
        now, (first, kind) = columns[name], state.types[name]
        if _identity(now.type, now.kind) != _identity(first, kind):
            raise SpecError(
                f"{what}: {name!r} is of type {_shown(now.type)}, and was of type {_shown(first)} when the "
                "release was started; equal values of two types may compare as different, or different ones as "
                "equal, so a person could be counted twice. Cast it to that type in a query"
            )


def _shown(type_name: str) -> str:
    """A type for a message; what it lists in quotes is values."""
    name = re.sub(r"'.*'", "...", type_name) or "no type"
    return name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}..."


def value_forms(
    workspace: Workspace,
    columns: Mapping[str, Column],
    names: Sequence[str],
    taken: Relation,
    before: Mapping[str, str],
) -> dict[str, str]:
    """The forms of values in columns whose type promises none, as SQLite has them, so far.

    Args:
        workspace: where.
        columns: the source's.
        names: those that a state keeps.
        taken: the new rows.
        before: column -> the form of the values that were taken before.

    Raises:
        SpecError: values of a column are of another form than before.
        UnsupportedError: they are of several forms.
    """
    found = forms_of(workspace, taken, {name: columns[name] for name in names if columns[name].kind == "other"})
    for name, form in found.items():
        if form != before.get(name, form):
            raise SpecError(
                f"{name}: the new values are {form}, and the earlier ones are {before[name]}; the same person, "
                "or class, would count as two. Cast the column to one type in a source query"
            )
    return {**before, **found}
