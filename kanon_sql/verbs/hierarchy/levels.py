"""``hierarchy``: show, validate and export the lookup tables that a spec's hierarchies become.

Only counts and what the spec itself says are shown, unless the user asks for values: those of a small class are
personal data, and so are the values that a hierarchy lacks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path

from kanon_sql.engines import Engine, Reporter, Row, Workspace, open_workspace
from kanon_sql.errors import HierarchyError, SpecError
from kanon_sql.frequency import count_of, explained_if_missing, refuse_wrong_counts, source_columns, source_of
from kanon_sql.hierarchies import (
    FileStyle,
    Site,
    Survey,
    exact_texts,
    exact_value,
    file_names,
    kind_of,
    refuse_blank_ends,
    refuse_mixed_forms,
    survey,
    value_text,
    write_hierarchy,
)
from kanon_sql.models import models_of
from kanon_sql.spec import (
    QuasiIdentifier,
    Spec,
    format_table_name,
)
from kanon_sql.sql import Relation, Sql, source_relation
from kanon_sql.verbs.hierarchy.result import LISTED, AttributeHierarchy, HierarchyResult, Level, Role
from kanon_sql.verbs.hierarchy.values import GIVEN_COLUMN, GivenValues, load_values
from kanon_sql.verbs.run import running

__all__ = ["hierarchy"]

MOST_VALUES = 1_000_000
"""A hierarchy with more values is not exported."""


def hierarchy(
    engine: Engine,
    spec: Spec,
    attributes: Sequence[str] = (),
    *,
    values: Mapping[str, GivenValues] | None = None,
    reveal: int = 0,
    export: Path | None = None,
    style: FileStyle = "arx",
    timeout: float | None = None,
    report: Reporter | None = None,
) -> HierarchyResult:
    """Build the lookup tables of a spec, and say whether they nest and cover the data.

    This takes one pass over the source, which groups only the attributes looked at.

    Args:
        engine: from :func:`kanon_sql.connect`; a read-only connection is enough. With ``values`` no database
            is needed, so ``connect()`` is enough.
        spec: the spec that names the attributes and their hierarchies.
        attributes: the quasi-identifiers and sensitive attributes to look at. When empty, all that have a hierarchy.
        values: attribute -> the values to build its hierarchy of. The source is then not read, and only these
            attributes are looked at.
        reveal: how many values per attribute to return, the most frequent first, and how many of those that the
            hierarchy lacks.
        export: a directory to write a file per hierarchy into. These files hold every value. A hierarchy with
            problems is not written.
        style: the form of these files.
        timeout: seconds for the whole run; None for no limit.
        report: called with each stage in plain words.

    Returns:
        The levels of every hierarchy, and what is wrong with it.

    Raises:
        HierarchyError: a hierarchy file cannot be read as one, or a file to be written exists already.
        SpecError: an attribute has no hierarchy, or one that does not fit the column's type.
        KanonError: any other error of :mod:`kanon_sql.errors`.

    Examples:
        >>> result = kanon_sql.hierarchy(db, spec, ["age"])
        >>> [level.labels for level in result.hierarchies[0].levels]
        [60, 12, 6, 3, 1]
    """
    chosen = _chosen(spec, tuple(values) if values is not None else attributes)
    paths = _paths(chosen, export)
    with running(engine, timeout, report) as run:
        relation = "" if values is not None else source_of(engine, spec, counts=True)
        with open_workspace(engine, relation) as workspace:
            if values is None:
                surveyed = _of_source(workspace, spec, chosen, relation)
            else:
                surveyed = [_of_values(workspace, spec, index, item, values) for index, item in enumerate(chosen)]
            workspace.report("counting the labels of every level", None)
            found = []
            for item, one in zip(chosen, surveyed, strict=True):
                described = _described(workspace, spec, item, one, with_rows=values is None, reveal=reveal)
                if paths and not described.problems:
                    _export(workspace, one, paths[item.name], style)
                    described = replace(described, file=paths[item.name])
                found.append(described)
        source = _name_of_source(spec) if values is None else "the given values"
        return HierarchyResult(source, found, reveal > 0, run.cost, engine.read_notes)


# --- Which ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Chosen:
    """An attribute with a hierarchy."""

    name: str
    role: Role
    where: str
    hierarchy: QuasiIdentifier


def _chosen(spec: Spec, names: Sequence[str]) -> list[_Chosen]:
    known = [
        _Chosen(name, "quasi-identifier", f"quasi_identifiers.{name}", item)
        for name, item in spec.quasi_identifiers.items()
    ]
    without_models = spec.differential_privacy is not None or spec.m_invariance is not None
    for model in () if without_models else models_of(spec):
        if model.attribute is not None and model.hierarchy is not None:
            where = f"privacy: the hierarchy of {model.attribute}"
            known.append(_Chosen(model.attribute, "sensitive attribute", where, model.hierarchy))
    by_name = {item.name: item for item in known}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        raise SpecError(f"{unknown[0]!r} has no hierarchy in the spec; expected one of {', '.join(by_name)}")
    return [by_name[name] for name in dict.fromkeys(names or by_name)]


def _paths(chosen: Sequence[_Chosen], directory: Path | None) -> dict[str, Path]:
    """A file per attribute; refused before anything is run."""
    if directory is None:
        return {}
    if directory.exists() and not directory.is_dir():
        raise SpecError(f"--output {directory}: expected a directory")
    found = {name: directory / file for name, file in file_names(item.name for item in chosen).items()}
    there = [path for path in found.values() if path.exists()]
    if there:
        raise SpecError(f"{there[0]}: the file exists and is not replaced; name another directory")
    return found


def _name_of_source(spec: Spec) -> str:
    if spec.source.table is not None:
        return format_table_name(spec.source.table)
    return "the source query" if spec.source.file is None else spec.source.file


# --- Where values come from ----------------------------------------------------------------


@dataclass(frozen=True)
class _Surveyed:
    """A lookup table, the frequency table that it was built for, and what of them does not fit."""

    site: Site
    survey: Survey
    raw: Relation


def _of_source(workspace: Workspace, spec: Spec, chosen: Sequence[_Chosen], relation: str) -> list[_Surveyed]:
    with explained_if_missing(workspace.engine, spec.source.table):
        columns = source_columns(workspace, spec, relation)
    own = [columns[item.name] for item in chosen]
    workspace.report("reading the source: one GROUP BY over the attributes", None)
    refuse_blank_ends(workspace, source_relation(), exact_texts(own, "checked"), "the source")
    refuse_wrong_counts(workspace, spec, source_relation(), columns, "the source")
    raw = workspace.table("raw")
    names = [f"q{index}" for index in range(len(own))]
    expressions = [exact_value(column, "kanon_source") for column in own]
    person = spec.unit if any(item.hierarchy.by_counts for item in chosen) else None
    who = [] if person is None else [exact_value(columns[person], "kanon_source")]
    workspace.execute(
        "frequency/raw", target=raw, source=source_relation(), names=[*names, *(["unit"] if who else [])],
        values=[*expressions, *who], row_persons=count_of(spec, "kanon_source"),
    )  # fmt: skip
    refuse_mixed_forms(workspace, raw, dict(zip(names, own, strict=True)), labelled=names, weighted=True)
    workspace.report("building the hierarchies' lookup tables", None)
    sites = [
        Site(
            index,
            item.where,
            column,
            f"q{index}",
            f"{index}",
            item.hierarchy,
            counts="rows" if person is None else "persons",
        )
        for index, (item, column) in enumerate(zip(chosen, own, strict=True))
    ]
    surveys = survey(workspace, spec, sites, raw)
    return [_Surveyed(site, found, raw) for site, found in zip(sites, surveys, strict=True)]


def _of_values(
    workspace: Workspace, spec: Spec, index: int, item: _Chosen, values: Mapping[str, GivenValues]
) -> _Surveyed:
    column, raw = load_values(workspace, spec, index, item.name, item.where, item.hierarchy, values[item.name])
    site = Site(index, item.where, column, GIVEN_COLUMN, f"{index}", item.hierarchy)
    (found,) = survey(workspace, spec, [site], raw)
    return _Surveyed(site, found, raw)


# --- What is said of them ------------------------------------------------------------------


def _described(
    workspace: Workspace, spec: Spec, item: _Chosen, found: _Surveyed, *, with_rows: bool, reveal: int
) -> AttributeHierarchy:
    survey_, table = found.survey, found.survey.table
    coverage, kind = survey_.coverage, item.hierarchy.hierarchy.name
    nulls = spec.nulls if item.role == "quasi-identifier" else "value"
    problems = [*survey_.nesting_problems(), *survey_.coverage_problems(nulls)]
    counts = _label_counts(workspace, found)
    known = coverage.values - coverage.null_values - coverage.uncovered
    levels = [
        Level(level, table.level_names[level], counts[level][0], counts[level][1] if with_rows else None,
              kind_of(item.hierarchy).labels_in_spec(level)[:LISTED])
        for level in table.levels
    ]  # fmt: skip
    levels.append(Level(table.height, table.level_names[table.height], min(1, known), None, ()))
    return AttributeHierarchy(
        name=item.name,
        role=item.role,
        kind=kind,
        values=coverage.values - coverage.null_values,
        null_rows=coverage.null_rows,
        missing=coverage.uncovered,
        missing_rows=coverage.uncovered_rows,
        unused=survey_.unused,
        levels=levels,
        problems=[problem.message for problem in problems],
        examples=[(_labels(row, table.top), int(row[-1])) for row in _rows(workspace, found, most=reveal)],
        missing_values=[str(row[0]) for row in _rows(workspace, found, most=reveal, missing=True)],
    )


def _label_counts(workspace: Workspace, found: _Surveyed) -> dict[int, tuple[int, int | None]]:
    """Level -> how many labels the data uses, and the rows of the rarest."""
    table, quote = found.survey.table, workspace.compiler.quote
    branches = [
        workspace.compiler.filled(
            "verbs/hierarchy/labels",
            {
                "attribute": str(table.index),
                "level": str(level),
                "label": quote(f"l{level}"),
                "lookup": workspace.quoted(table.table),
                "column": quote(table.column),
                "raw": workspace.quoted(found.raw),
            },
        )
        for level in table.levels
    ]
    rows = workspace.query(workspace.compiler.union(branches), len(branches))
    return {int(level): (int(labels), None if rows is None else int(rows)) for _, level, labels, rows in rows}


def _rows(workspace: Workspace, found: _Surveyed, *, most: int | None, missing: bool = False) -> list[Row]:
    """Labels from the value up to below the top, and rows, of at most this many values."""
    if most == 0 or (missing and not found.survey.coverage.uncovered):
        return []
    table = found.survey.table
    return workspace.fetch(
        "verbs/hierarchy/paths",
        MOST_VALUES if most is None else most,
        text=value_text(found.site.column, Sql("labelled.value")),
        height=table.height,
        lookup=table.table,
        raw=found.raw,
        raw_column=table.column,
        missing=missing,
        most=most,
    )


def _labels(row: Row, top: str) -> tuple[str, ...]:
    return (*map(str, row[:-1]), top)


def _export(workspace: Workspace, found: _Surveyed, path: Path, style: FileStyle) -> None:
    coverage = found.survey.coverage
    if coverage.values > MOST_VALUES:
        raise HierarchyError(
            f"{found.site.where}: {coverage.values:,} values, more than the limit of {MOST_VALUES:,}; keep the rule in "
            "the spec, which needs no file"
        )
    rows = [_labels(row, found.survey.table.top) for row in _rows(workspace, found, most=None)]
    if not rows:
        raise HierarchyError(
            f"{found.site.where}: there are only NULLs to export; select other columns with --attribute"
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SpecError(f"--output {path.parent}: {reason}; name another directory") from None
    write_hierarchy(path, sorted(rows, key=_in_order), style)


def _in_order(row: tuple[str, ...]) -> tuple[bool, Decimal, str]:
    """Numbers by their size, before texts."""
    try:
        number = Decimal(row[0])
    except InvalidOperation:
        return True, Decimal(0), row[0]
    return (False, number, row[0]) if number.is_finite() else (True, Decimal(0), row[0])
