"""The data dictionary of a release as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kanon_sql.report.words import number, plain, plural

if TYPE_CHECKING:
    from kanon_sql.verbs.evidence import DataDictionary, DescribedColumn, Label

__all__ = ["dictionary_markdown"]


def dictionary_markdown(found: DataDictionary) -> str:
    """The columns, then the labels of each quasi-identifier."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: DataDictionary) -> Iterator[str]:
    yield f"# Data dictionary of {plain(found.release)}"
    yield ""
    yield f"{plural(found.rows, 'row')}, checked for {plain(', '.join(found.requirements))}."
    if found.run is not None:
        yield f"Published {plain(found.run.published_at)} by run {plain(found.run.run_id)}."
    yield ""
    yield "| column | type | role | what its values are |"
    yield "| --- | --- | --- | --- |"
    for column in found.columns:
        entry = column.entry
        cells = (entry.column, column.type, entry.role, f"{entry.became}: {entry.meaning}{_level(column)}")
        yield f"| {' | '.join(map(plain, cells))} |"
    for column in found.columns:
        if column.labels or column.rare:
            yield ""
            yield from _labels(column, found.least)


def _level(column: DescribedColumn) -> str:
    entry = column.entry
    return "" if entry.level is None or entry.height is None else f" (level {entry.level} of {entry.height})"


def _labels(column: DescribedColumn, least: int) -> Iterator[str]:
    yield f"## {plain(column.entry.column)}"
    yield ""
    if column.labels:
        yield "| label | level | values of the hierarchy | rows |"
        yield "| --- | ---: | ---: | ---: |"
        yield from map(_label, column.labels)
    if column.others:
        yield ""
        yield f"{plural(column.others, 'other label')}, each of at least {number(least)} rows."
    if column.rare:
        yield ""
        yield f"{plural(column.rare, 'label')} of fewer than {number(least)} rows each, not named here."


def _label(label: Label) -> str:
    text = "(NULL)" if label.text is None else plain(label.text)
    level = "" if label.level is None else number(label.level)
    values = "" if label.values is None else number(label.values)
    return f"| {text} | {level} | {values} | {number(label.rows)} |"
