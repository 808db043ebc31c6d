"""How a table is read: missing codes are NULL, and a key of several columns is one column.

Every stage reads the source so, and a population. In a released table a reader sees a code, and sees NULL elsewhere:
one class of both would look larger than each is, so a quasi-identifier stands there as it is. A code of a sensitive
attribute is no value there either, whatever the column's type: a file of texts would pass for more diverse than the
table that it was written from.

A composite key is the texts of its parts, each without the sign that stands between two of them, so that different
parts never make one text. Where a part is NULL it is NULL, as a key of one column is.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import Problem, SpecError, UnsupportedError, have
from kanon_sql.hierarchies import (
    exact_texts,
    exact_value,
    refuse_blank_ends,
    refuse_mixed_forms,
    refuse_several_texts,
    value_text,
)
from kanon_sql.spec import Code, CompositeKey, Spec, composite_keys, did_you_mean, missing_codes
from kanon_sql.sql import Relation, Sql, exact_text, identifier, render

if TYPE_CHECKING:
    from kanon_sql.spec import Origin

__all__ = ["as_read", "read_table", "reads_otherwise"]

_NUMBERS = ("integer", "decimal", "float")
_TIMES = ("date", "timestamp", "moment")


def reads_otherwise(spec: Origin, keys: Iterable[str | None] = ()) -> bool:
    """Whether a table of the spec's values is not read as it stands.

    Args:
        spec: with codes and keys.
        keys: further keys.
    """
    coded = isinstance(spec, Spec) and spec.missing is not None
    return coded or bool(list(composite_keys(spec))) or any(isinstance(key, CompositeKey) for key in keys)


def as_read(
    workspace: Workspace,
    spec: Origin,
    table: Relation,
    columns: Mapping[str, Column],
    *,
    shown: str | None = None,
    keys: Iterable[str | None] = (),
    released: bool = False,
) -> Relation:
    """A table as it is read, in one query without a scan of its own.

    Args:
        workspace: where it is.
        spec: with codes and keys.
        table: as it stands.
        columns: its columns by name.
        shown: what messages call it; None for the source, which must have every part of a key, and a column for every
            code. Another table may lack them: a release has no person.
        keys: further keys.
        released: a table that others read: codes of sensitive attributes alone are NULL, and of any type.

    Raises:
        SpecError: a part of a key is not there, or the name of a key is taken; or no column has values like a code.
        UnsupportedError: values of several forms; a type that would not stay; or a released table has codes of
            sensitive attributes that make classes, too.
    """
    composite = dict.fromkeys((*composite_keys(spec), *(key for key in keys if isinstance(key, CompositeKey))))
    made = {key: key.parts for key in composite if shown is None or _has_parts_only(key, columns)}
    _refuse_misfits(made, columns, shown)
    codes = missing_codes(spec) if isinstance(spec, Spec) else {}
    typed = workspace.dialect.typed
    coded = {
        name: found
        for name, own in codes.items()
        if name in columns and (found := _conditions(columns[name], own, typed, any_type=released))
    }
    conditions = coded
    if isinstance(spec, Spec) and released:
        conditions = {name: found for name, found in coded.items() if name in spec.sensitive}
        _refuse_in_classes(workspace, spec, table, conditions, str(shown))
    elif isinstance(spec, Spec) and shown is None:
        _refuse_unused(spec, codes, columns, typed)
    touched = dict.fromkeys((*conditions, *(part for parts in made.values() for part in parts)))
    read = {name: columns[name] for name in touched}
    refuse_mixed_forms(workspace, table, read, labelled=list(read))
    refuse_blank_ends(workspace, table, exact_texts(list(read.values()), "checked"), shown or "the source")
    for key, parts in made.items():
        refuse_several_texts(columns, parts, f"the key {key}")
    known = {
        name: render(
            "frequency/known",
            value=Sql(f"kanon_source.{identifier(name)}"),
            conditions=conditions.get(name, ()),
            typed=typed,
        )
        for name in columns
    }
    joined = {
        key: render(
            "frequency/key",
            parts=[
                render(
                    "frequency/known",
                    value=value_text(columns[part], Sql(f"kanon_source.{identifier(part)}")),
                    conditions=coded.get(part, ()),
                    typed=True,
                )
                for part in parts
            ],
        )
        for key, parts in made.items()
    }
    query = render("frequency/read", table=table, columns=[*known.items(), *joined.items()])
    whole = Relation(query=query)
    _refuse_other_types(workspace.columns(whole), columns, conditions)
    return whole


def read_table(
    workspace: Workspace,
    spec: Origin,
    table: Relation,
    columns: Mapping[str, Column],
    shown: str,
    *keys: str | None,
    released: bool = False,
) -> tuple[Relation, Mapping[str, Column]]:
    """Another table than the source as it is read, and its columns: see :func:`as_read`."""
    found = as_read(workspace, spec, table, columns, shown=shown, keys=keys, released=released)
    return found, workspace.columns(found)


def _has_parts_only(key: CompositeKey, columns: Mapping[str, Column]) -> bool:
    """Whether another table has the parts of a key, and not the key itself, as an internal release does."""
    return set(key.parts) <= columns.keys() and key.casefold() not in {name.casefold() for name in columns}


def _conditions(column: Column, codes: Iterable[Code], typed: bool, *, any_type: bool = False) -> list[Sql]:
    """Whether a value is a code, for each code that may be of its kind: a column without a type may hold any.

    Args:
        column: the column, of ``kanon_source``.
        codes: its codes.
        typed: the engine's columns have types.
        any_type: a text that writes a code is that code, and a number or a date that a code writes.
    """
    value, found = Sql(f"kanon_source.{identifier(column.name)}"), []
    untyped = column.kind == "other" and not typed
    numbers, texts = column.kind in _NUMBERS, column.kind == "text" or untyped or column.labels is not None
    for code in codes:
        number = code if isinstance(code, Decimal) else _number(code) if any_type else None
        if isinstance(code, str) and texts:
            text = exact_value(replace(column, kind="text"), "kanon_source")
            found.append(render("frequency/equals", value=text, code=code))
        elif number is not None and (numbers or untyped):
            found += _equals(column, value, number)
        if any_type and texts and isinstance(code, Decimal):
            text, written = Sql(f"CAST({value} AS VARCHAR)"), f"{code.normalize():f}"
            found.append(render("frequency/writes", value=text, number=written))
        elif any_type and column.kind in _TIMES and isinstance(code, str):
            found.append(render("frequency/equals", value=exact_text(value_text(column, value)), code=code))
    return found


def _equals(column: Column, value: Sql, code: Decimal) -> Iterator[Sql]:
    """Whether a number is a code."""
    whole = code == code.to_integral_value()
    if whole and column.kind != "float":
        yield render("frequency/equals", value=value, code=int(code))
    elif column.kind != "integer":
        # A column without a type holds doubles; a cast would read a number at the beginning of a text.
        number = value if column.kind == "other" else Sql(f"CAST({value} AS DOUBLE)")
        nearest = (float(code), *(_single(code) if column.kind == "float" else ()))
        for item in dict.fromkeys(nearest):
            yield render("frequency/equals", value=number, code=item)


def _single(code: Decimal) -> Iterator[float]:
    """The number of 32 bits that is nearest to a code: 9.9 is another one than with 64 bits."""
    with suppress(OverflowError):
        yield struct.unpack("f", struct.pack("f", code))[0]


def _number(code: str) -> Decimal | None:
    """The number that a text writes; None for other texts."""
    with suppress(InvalidOperation):
        number = Decimal(code)
        return number if number.is_finite() else None
    return None


def _refuse_in_classes(
    workspace: Workspace, spec: Spec, table: Relation, conditions: Mapping[str, Sequence[Sql]], shown: str
) -> None:
    """Refuse codes of attributes that also make the classes of others: there a reader sees them."""
    if not conditions or not any(requirement.groups_by_others for requirement in spec.privacy):
        return
    every = [condition for own in conditions.values() for condition in own]
    (rows,) = workspace.row("frequency/rows_with_codes", table=table, conditions=every)
    if rows:
        raise UnsupportedError(
            f"{shown}: {have(int(rows))} a missing code in a sensitive attribute; others_as_quasi_identifiers would "
            "take it for NULL in classes, where a reader sees it; replace the codes with NULL in the table"
        )


def _refuse_misfits(
    keys: Mapping[CompositeKey, tuple[str, ...]], columns: Mapping[str, Column], shown: str | None
) -> None:
    """Refuse keys whose parts are not there, and keys that would hide a column."""
    what = "the source" if shown is None else shown
    taken = {name.casefold() for name in columns}
    problems = [
        Problem(f"{what}: there is no column {part!r}, a part of the key {key}{did_you_mean(part, columns)}")
        for key, parts in keys.items()
        for part in parts
        if part not in columns
    ]
    problems += [
        Problem(f"{what}: it has a column {str(key)!r}, as the key of {' and '.join(key.parts)} is called; rename it")
        for key in keys
        if key.casefold() in taken
    ]
    if problems:
        raise SpecError(problems)


def _refuse_unused(
    spec: Spec,
    codes: Mapping[str, tuple[str | Decimal, ...]],
    columns: Mapping[str, Column],
    typed: bool,
) -> None:
    """Refuse codes that can equal no value, such as a number for a column of texts: they would be released."""
    if not isinstance(spec.missing, Mapping):
        problems = [
            Problem(
                f"missing: code {position} is a {'text' if isinstance(code, str) else 'number'}, and no "
                "quasi-identifier or sensitive attribute holds such values; write texts in quotes, and numbers without"
            )
            for position, code in enumerate(spec.missing or (), 1)
            if not any(_conditions(columns[name], [code], typed) for name in codes if name in columns)
        ]
    else:
        problems = [
            Problem(
                f"missing.{name}: the column is {columns[name].type}, and code {position} is a "
                f"{'text' if isinstance(code, str) else 'number'}, which no value of it equals; write texts in quotes, "
                "and numbers without"
            )
            for name, own in codes.items()
            for position, code in enumerate(own, 1)
            if name in columns and not _conditions(columns[name], [code], typed)
        ]
    if problems:
        raise SpecError(problems)


def _refuse_other_types(found: Mapping[str, Column], columns: Mapping[str, Column], coded: Iterable[str]) -> None:
    """Refuse columns that have another kind once codes are NULL, such as an enumeration without its order."""
    lost = [
        name
        for name in coded
        if (found[name].kind, found[name].scale, found[name].labels)
        != (columns[name].kind, columns[name].scale, columns[name].labels)
    ]
    if lost:
        raise UnsupportedError(
            "\n".join(
                f"missing: {name} is {columns[name].type}, which this database does not keep where codes are read as "
                "NULL; replace the codes in a source query, with a cast to the type"
                for name in lost
            )
        )
