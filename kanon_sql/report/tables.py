"""The result of ``tabulate`` as text for people."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import TYPE_CHECKING, TypeVar

from rich.console import Group, RenderableType
from rich.text import Text

from kanon_sql.report.layout import columns, cost_line, facts, named_warnings, plain_notes, section, verdict
from kanon_sql.report.words import number, plural, shown

if TYPE_CHECKING:
    from kanon_sql.verbs.tabulate import NoiseSummary, PublishedCell, Tabulation

__all__ = ["tabulation_csv", "tabulation_text"]

T = TypeVar("T")

WIDEST = 10
"""The last dimension of at most this many categories is laid out in columns; where none is, or a cell says more than
its value, cells are listed."""

LISTED = 200
"""Lines of a table that are shown, and a tenth more rather than to cut these off; the JSON has all."""

LEFT_OUT = "x"


def tabulation_text(result: Tabulation) -> RenderableType:
    """The verdict, and the table as every reader may see it."""
    parts: list[RenderableType] = [verdict(result.passed, result.message), Text(), facts(_summary(result))]
    if result.table:
        parts += section("Table", _table(result))
    if any(cell.suppressed for cell in result.table):
        parts += [Text(), Text(f"{LEFT_OUT}: suppressed; in brackets the interval that a reader can compute", "dim")]
    if result.noise is not None:
        parts += section("Differential privacy", facts(_noise(result.noise)))
    if result.warnings:
        parts += section("Warnings", named_warnings(result.warnings))
    if result.notes:
        parts += section("Notes", plain_notes(result.notes))
    parts += [Text(), Text(cost_line(result.cost), "dim")]
    return Group(*parts)


def tabulation_csv(result: Tabulation) -> str:
    """The cells as every reader may see them, in the columns of a published table and with the interval of each.

    An empty cell is NULL: a label that is missing, a value that is suppressed, an interval without an end.
    """
    text = StringIO()
    lines = csv.writer(text, lineterminator="\n")
    if result.noise is not None:
        lines.writerow([*result.dimensions, "value", "error"])
        lines.writerows([*cell.labels, cell.value, cell.error] for cell in result.table)
        return text.getvalue()
    places = [
        (f"{name}{of}", place, of)
        for place, name in enumerate(result.dimensions)
        for of in ("", *(["_hierarchy"] if any(result.hierarchies) and result.hierarchies[place] else []))
    ]
    lines.writerow([*(name for name, *_ in places), "value", "suppressed", *result.further, "least", "most"])
    for cell in result.table:
        least, most = cell.interval or (cell.value, cell.value)
        further = [getattr(cell, name) for name in result.further]
        labels = [(cell.hierarchies or ())[place] if of else cell.labels[place] for _, place, of in places]
        lines.writerow([*labels, cell.value, int(cell.suppressed), *further, least, most])
    return text.getvalue()


def _summary(result: Tabulation) -> Iterable[tuple[str, str]]:
    if result.rows is not None:
        yield "rows", number(result.rows)
    if result.sample is not None:
        yield "drawn from", f"{number(result.sample['rows'])} rows, one in {number(result.sample['expansion'])}"
    says = ", ".join([result.measured, *result.further])
    yield "cells say", says if result.sample is None else f"{says}, estimated"
    yield "protected by", result.method.replace("_", " ")
    if result.method == "collapsing" and result.passed:
        made = zip(result.dimensions, result.levels, result.level_names, strict=True)
        yield "collapsed to", ", ".join(f"{shown(name)} {_level(levels, names)}" for name, levels, names in made)
    yield "cells", number(result.cells["total"])
    if result.noise is None:
        yield "suppressed", number(result.cells["suppressed"])
    if result.release is not None:
        yield "published as", result.release


def _noise(found: NoiseSummary) -> Iterable[tuple[str, str]]:
    """What the noise guarantees, and the error to expect of it."""
    yield "epsilon", f"{found['epsilon']:g}"
    yield "delta", f"{found['delta']:g}"
    counts = f"{plural(found['contributions'], 'contribution')} at most"
    if found["bounds"] is not None:
        counts += f", each from {number(found['bounds'][0])} to {number(found['bounds'][1])}"
    yield "protects", f"rows ({counts})" if found["protects"] is None else f"{shown(found['protects'])} ({counts})"
    yield "noise", f"{found['distribution']}, standard deviation {found['standard_deviation']:.4g} in a finest cell"
    yield "error", f"{number(found['error'])} at most in 95 % of the finest cells"
    if found["threshold"] is not None:
        yield "published", f"cells of {number(found['threshold'])} noisy contributions or more"
    spent, total = found["spent"], found["total"]
    yield (
        "budget",
        f"epsilon {spent['epsilon']:g} of {total['epsilon']:g} and delta {spent['delta']:g} of {total['delta']:g} are "
        f"spent ({found['ledger']})",
    )


def _level(levels: Sequence[int], names: Sequence[str]) -> str:
    return f"level {levels[0]} ({shown(names[0])})" if levels else "to its total"


def _table(result: Tabulation) -> RenderableType:
    categories = [
        list(dict.fromkeys((cell.levels[index], cell.labels[index]) for cell in result.table))
        for index in range(len(result.dimensions))
    ]
    turned = next((index for index in reversed(range(len(categories))) if len(categories[index]) <= WIDEST), None)
    if len(categories) < 2 or turned is None or result.further or any(result.hierarchies):
        return _list(result)
    across = categories[turned]
    across.sort(key=lambda item: (item[0] is None, item[0] or 0, item[1] is None, item[1] or ""))
    names = [(shown(name), False) for name in _without(result.dimensions, turned)]
    table = columns([*names, *((_label(label), True) for _, label in across)])
    lines: dict[tuple[tuple[int | None, ...], tuple[str | None, ...]], dict[object, PublishedCell]] = {}
    for cell in result.table:
        place = _without(cell.levels, turned), _without(cell.labels, turned)
        lines.setdefault(place, {})[cell.levels[turned], cell.labels[turned]] = cell
    ordered = sorted(lines, key=lambda place: [(level is None, level or 0) for level in place[0]])
    for place in ordered[: _shown(len(ordered))]:
        found = [lines[place].get(item) for item in across]
        table.add_row(
            *(Text(_label(label)) for label in place[1]), *(Text("" if c is None else _value(c)) for c in found)
        )
    return _cut(table, len(ordered))


def _without(items: Sequence[T], left_out: int) -> tuple[T, ...]:
    return tuple(item for index, item in enumerate(items) if index != left_out)


def _list(result: Tabulation) -> RenderableType:
    names = [(shown(name), False) for name in result.dimensions]
    table = columns([*names, ("value", True), *((name, True) for name in result.further)])
    for cell in result.table[: _shown(len(result.table))]:
        further = [_amount(getattr(cell, name)) for name in result.further]
        of = cell.hierarchies or [None] * len(cell.labels)
        labels = [_label(label) + (f" ({name})" if name else "") for label, name in zip(cell.labels, of, strict=True)]
        table.add_row(*map(Text, labels), Text(_value(cell)), *map(Text, further))
    return _cut(table, len(result.table))


def _shown(lines: int) -> int:
    return lines if lines <= LISTED + LISTED // 10 else LISTED


def _cut(table: RenderableType, lines: int) -> RenderableType:
    if lines == _shown(lines):
        return table
    return Group(table, Text(f"and {lines - LISTED:,} more lines; -o cells.csv has all", "dim"))


def _label(label: str | None) -> str:
    return "NULL" if label is None else shown(label)


def _value(cell: PublishedCell) -> str:
    if cell.interval is None:
        return _amount(cell.value or 0)
    low, high = cell.interval
    return f"{LEFT_OUT} [{_amount(low)}, {'...' if high is None else _amount(high)}]"


def _amount(value: float | None) -> str:
    if value is None:
        return LEFT_OUT
    return number(value) if isinstance(value, int) else f"{value:,}"
