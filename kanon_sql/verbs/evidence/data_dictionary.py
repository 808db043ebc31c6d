"""The data dictionary of a release, for those who receive it: its columns, its labels, and what each stands for.

It is written of a table that ``check`` passed, so a label is of a class that is large enough. A label that fewer rows
have, such as that of masked rows, is counted and not named, and values that are released as they are, are not listed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kanon_sql.engines import Engine, Reporter, open_workspace, refuse_incomplete
from kanon_sql.errors import SpecError
from kanon_sql.evaluate import few
from kanon_sql.frequency import OpenTable, open_table, source_of
from kanon_sql.hierarchies import exact_value, kind_of, with_top
from kanon_sql.models import models_of
from kanon_sql.release import file_of, manifest_of_file
from kanon_sql.spec import QuasiIdentifier, Spec
from kanon_sql.sql import Relation, Statement
from kanon_sql.verbs.check import check
from kanon_sql.verbs.evidence.columns import Entry, column_entries
from kanon_sql.verbs.evidence.published import Published, published, published_as
from kanon_sql.verbs.run import running
from kanon_sql.verbs.target_table import as_published, judged

if TYPE_CHECKING:
    from kanon_sql.verbs.result import Check

__all__ = [
    "MOST_LABELS",
    "DataDictionary",
    "DescribedColumn",
    "Label",
    "comment_on_written",
    "data_dictionary",
    "write_comments",
]

MOST_LABELS = 200
"""This many labels of a column are listed, those that most rows have."""


@dataclass(frozen=True)
class Label:
    """A label of the release.

    Attributes:
        text: it; None for NULL.
        level: of the hierarchy; None where that is not known.
        values: how many values of the hierarchy it stands for; None where a rule makes the labels.
        rows: how many rows have it, the spec's k at least.
    """

    text: str | None
    level: int | None
    values: int | None
    rows: int


@dataclass(frozen=True)
class DescribedColumn:
    """A column of the release.

    Attributes:
        entry: its role, and what its values are.
        type: in the database.
        labels: those that are listed; none of a column that is released as it is.
        others: how many labels are not listed, since there are more than ``MOST_LABELS``.
        rare: how many labels fewer rows have than may be shown.
    """

    entry: Entry
    type: str
    labels: tuple[Label, ...] = ()
    others: int = 0
    rare: int = 0


@dataclass(frozen=True)
class DataDictionary:
    """The data dictionary of a release.

    Attributes:
        release: the table or file.
        rows: of it.
        run: what published it; None where that is not known.
        requirements: what holds, in words.
        least: fewer rows than this are not counted.
        columns: of the release, in its order.
    """

    release: str
    rows: int
    run: Published | None
    requirements: tuple[str, ...]
    least: int
    columns: tuple[DescribedColumn, ...]


def data_dictionary(
    engine: Engine,
    spec: Spec,
    table: str | None = None,
    *,
    timeout: float | None = None,
    report: Reporter | None = None,
) -> DataDictionary:
    """Describe a release: check it, then count the rows of each label of its quasi-identifiers.

    Args:
        engine: from :func:`kanon_sql.connect`, where a read-only connection is enough.
        spec: what the release was made by.
        table: the release, if not the spec's own.
        timeout: seconds for the whole run; None for no limit.
        report: called with each stage in plain words.

    Raises:
        RequirementNotMet: the table does not satisfy the spec, so its labels are not shown.
        SpecError: there is no release, or it is the source.
    """
    started = time.perf_counter()
    checked = check(
        engine, spec, table, count_rows=spec.unit is not None, timeout=timeout, report=report
    ).raise_for_failure()
    left = None if timeout is None else max(0.0, timeout - (time.perf_counter() - started))
    with running(engine, left, report), judged(engine, spec, table, "describe") as target:
        spec = as_published(engine, spec, target.parts)
        opened = open_table(engine, spec, target.parts)
        if opened.is_source:
            raise SpecError(f"{opened.shown} is the source; name a release with --table, since a dictionary is of one")
        counted = _counted(engine, spec, opened, checked.rows["source"], few(models_of(spec)))
    run = _run_of(engine, spec, table, target.parts, checked)
    return _described(spec, target.shown, opened, checked.rows["source"], run, counted)


def comment_on_written(engine: Engine, spec: Spec, table: Relation, rows: int, manifest: Mapping[str, Any]) -> None:
    """Write the comments of a release on its table before it has its name, which it keeps them under.

    Args:
        engine: with a run open.
        spec: whose release it is.
        table: written and verified.
        rows: of it.
        manifest: what is about to be recorded of it.

    Raises:
        DatabaseError: the table can have none; nothing is published.
    """
    opened = open_table(engine, spec, table.parts)
    run = published_as(manifest, spec, rows, manifest["classes"].get("count"))
    counted = _counted(engine, spec, opened, rows, few(models_of(spec)))
    _comment(engine, table.parts, _described(spec, opened.shown, opened, rows, run, counted))


def _run_of(engine: Engine, spec: Spec, table: str | None, parts: tuple[str, ...], checked: Check) -> Published | None:
    """What published the release; a file has its manifest beside it."""
    if table is not None or spec.release_file is None:
        return published(engine, spec, parts, checked)
    manifest = manifest_of_file(file_of(spec))
    return published_as(manifest, spec, checked.rows["source"], checked.classes.get("count"))


@dataclass(frozen=True)
class _Counted:
    """The labels of a column: those that are shown with their rows, and how many there are."""

    shown: Sequence[tuple[str | None, int]]
    labels: int
    rare: int


def _counted(engine: Engine, spec: Spec, opened: OpenTable, rows: int, least: int) -> dict[str, _Counted]:
    counted = {}
    with open_workspace(engine, source_of(engine, spec), inline=True) as workspace:
        for name in spec.quasi_identifiers:
            if name not in opened.columns:
                continue
            workspace.report(f"counting the labels of {name}", None)
            asked = {
                "table": opened.relation,
                "label": exact_value(opened.columns[name], "checked"),
                "least": least,
            }
            labels, rare, judged_rows = workspace.row("verbs/evidence/labels/figures", **asked)
            refuse_incomplete("verbs/evidence/labels/figures", judged_rows, rows)
            listed = workspace.fetch("verbs/evidence/labels/listed", MOST_LABELS, most=MOST_LABELS, **asked)
            shown = [(None if label is None else str(label), int(count)) for label, count in listed]
            counted[name] = _Counted(shown, int(labels), int(rare or 0))
    return counted


def _described(
    spec: Spec, shown: str, opened: OpenTable, rows: int, run: Published | None, counted: Mapping[str, _Counted]
) -> DataDictionary:
    sizes = {name: item.labels for name, item in counted.items()}
    entries = {entry.column: entry for entry in column_entries(spec, [], opened.columns, sizes, run)}
    columns = []
    for name, column in opened.columns.items():
        entry, found = entries[name], counted.get(name)
        if found is None:
            columns.append(DescribedColumn(entry, column.type))
            continue
        item = spec.quasi_identifiers[name]
        labels = tuple(
            Label(text, *_stands_for(spec, item, entry.level, entry.height, text), rows) for text, rows in found.shown
        )
        others = found.labels - found.rare - len(labels)
        columns.append(DescribedColumn(entry, column.type, labels, others, found.rare))
    return DataDictionary(
        release=shown,
        rows=rows,
        run=run,
        requirements=tuple(model.label for model in models_of(spec)),
        least=few(models_of(spec)),
        columns=tuple(columns),
    )


def _stands_for(
    spec: Spec, item: QuasiIdentifier, level: int | None, height: int | None, label: str | None
) -> tuple[int | None, int | None]:
    """The level of a label, and how many values of a hierarchy that lists its values it stands for."""
    rows = kind_of(item).listed_rows(spec, several=item.parents == "several")
    if rows is None or label is None:
        return level, None
    labels = with_top(list(rows))
    for at in range(len(labels[0])) if level is None else [level]:
        values = {row[0] for row in labels if row[at] == label}
        if values:
            return at, len(values)
    return level, None


def write_comments(engine: Engine, spec: Spec, described: DataDictionary, *, timeout: float | None = None) -> None:
    """Let the database say of each column what the dictionary says of it, without its labels.

    Args:
        engine: with the right to comment.
        spec: whose release it is.
        described: the dictionary.
        timeout: seconds for the whole run; None for no limit.

    Raises:
        SpecError: the release is a file.
        UnsupportedError: the engine has no comments of columns.
    """
    if spec.release is None:
        raise SpecError("--comment: a file has no comments; write the dictionary next to it (-o FILE.md)")
    with running(engine, timeout):
        _comment(engine, spec.release, described)


def _comment(engine: Engine, parts: Sequence[str], described: DataDictionary) -> None:
    for column in described.columns:
        text = comment_on(column, described.least)
        sql = engine.dialect.comment_on_column(parts, column.entry.column, text)
        engine.execute(Statement("verbs/evidence/comment", sql, quoted=engine.dialect.quoted))


def comment_on(column: DescribedColumn, least: int) -> str:
    """A column in a sentence."""
    return "; ".join(_parts(column, least))


def _parts(column: DescribedColumn, least: int) -> Iterator[str]:
    entry = column.entry
    yield f"{entry.role}, {entry.became}: {entry.meaning}"
    if entry.level is not None and entry.height is not None:
        yield f"level {entry.level} of {entry.height}"
    if column.labels and not column.rare:
        number = len(column.labels) + column.others
        yield f"{number:,} label{'' if number == 1 else 's'}, each of at least {least} rows"
