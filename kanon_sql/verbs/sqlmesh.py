"""``sqlmesh``: the requirements of a spec as SQLMesh audits, queries that return the classes which violate one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kanon_sql.engines import Column, Engine, Workspace, open_workspace
from kanon_sql.errors import Obstacle, SpecError, refuse
from kanon_sql.evaluate import Subject, flagged_classes, judged_columns, reference_in, refuse_other_kind, table_frames
from kanon_sql.frequency import open_table, source_of, unknown_columns, value_facts_of
from kanon_sql.models import PrivacyModel, model_obstacles, models_of
from kanon_sql.spec import Spec, parse_table_name
from kanon_sql.sql import Relation, Sql, source_relation
from kanon_sql.verbs.preflight import (
    Options,
    fatal_warning_obstacles,
    file_release_obstacles,
    obstacles,
    step_obstacles,
)
from kanon_sql.verbs.run import running

__all__ = ["DIALECTS", "audit_obstacles", "audits"]

DIALECTS = ("duckdb", "postgres", "redshift", "snowflake", "bigquery", "spark", "databricks")
"""What both write, where texts and types are compared exactly by SQL alone: no look at the rows comes first."""

_THIS_MODEL = Relation(("kanon_sql_this_model",))
"""Stands for the audited table until the query is compiled."""


def audits(
    engine: Engine,
    spec: Spec,
    table: str | None = None,
    *,
    count_rows: bool = False,
    timeout: float | None = None,
) -> str:
    """The requirements as a file for the directory ``audits`` of a SQLMesh project.

    An audit has a row for each class that violates its requirement: the class's size and its measure, no value. It
    means what :func:`kanon_sql.check` means. No row is read: only the types of columns are asked for.

    Args:
        engine: from :func:`kanon_sql.connect`, on the database that SQLMesh builds in; read-only is enough.
        spec: the quasi-identifiers and the requirements.
        table: a table with the columns that the audited model has; the spec's release by default.
        count_rows: count rows although the spec names a unit.
        timeout: seconds for the whole run; None for no limit.

    Raises:
        SpecError: the table lacks a column; a requirement needs more than one query; a name holds an ``@``.
        UnsupportedError: another engine.
        KanonError: see :mod:`kanon_sql.errors`.
    """
    refuse(obstacles(engine, spec, "sqlmesh", Options(table=table)))
    parts = parse_table_name(table) if table is not None else spec.release
    assert parts is not None
    models = models_of(spec)
    unit = None if count_rows else spec.unit
    with running(engine, timeout), open_workspace(engine, source_of(engine, spec), inline=True) as workspace:
        opened = open_table(engine, spec, parts)
        made_by = [name for model in models for name in model.quasi_identifiers or ()]
        looked_at = [model.attribute for model in models if model.attribute]
        needed = dict.fromkeys([*spec.quasi_identifiers, *made_by, *looked_at, *([] if unit is None else [unit])])
        if problems := unknown_columns(opened.shown, opened.columns, needed, "which the audits need"):
            raise SpecError(problems)
        references = _references(workspace, spec, models, opened.columns, unit)
        found: dict[str, str] = {}
        for model in models:
            subject = Subject(
                table=_THIS_MODEL,
                columns=opened.columns,
                quasi_identifiers=list(model.quasi_identifiers or spec.quasi_identifiers),
                references=references if model.needs_reference else {},
                # Of this requirement alone: what another one asks of the reference, this audit does not join.
                facts={model.attribute: value_facts_of([model], opened.columns[model.attribute])}
                if model.attribute
                else {},
                unit=unit,
            )
            found[_name(parts[-1], model, found)] = f"-- {model.label}\n{_query(workspace, subject, model)}"
        notes = "".join(f"-- {' '.join(note.split())}\n" for note in engine.read_notes)
    dialect = engine.dialect.sqlglot
    listed = (f"AUDIT (name {name}, dialect {dialect});\n{notes}{query};" for name, query in found.items())
    return "\n\n".join(listed) + "\n"


def audit_obstacles(engine: Engine, spec: Spec, table: str | None) -> Iterator[Obstacle]:
    """Why a spec's requirements are not written as audits, as far as no statement is needed to know it.

    Args:
        engine: the database that SQLMesh builds in.
        spec: with the requirements.
        table: with the columns that the audited model has; None for the spec's release.
    """
    yield from step_obstacles(spec, "audits for SQLMesh")
    yield from fatal_warning_obstacles(spec, "audits for SQLMesh")
    if spec.computed:
        named = ", ".join(column.name for column in spec.computed)
        yield Obstacle(
            f"audits for SQLMesh check classes by labels only, but {named} may reveal more; leave 'as' out, or check "
            "the table with kanon-sql check"
        )
    if engine.dialect.name not in DIALECTS:
        yield Obstacle(f"SQLMesh audits do not support {engine.dialect.name}; expected one of {', '.join(DIALECTS)}")
    if table is None and spec.release_file is not None:
        yield from file_release_obstacles(spec, "sqlmesh")
    elif table is None and spec.release is None:
        yield Obstacle("release: missing; name a table with the columns of the audited model with --table", SpecError)
    yield from model_obstacles(spec)
    if not any(model_obstacles(spec)):
        for model in models_of(spec):
            yield from _unfit(model)


def _unfit(model: PrivacyModel) -> Iterator[Obstacle]:
    """A requirement that is no audit: its check asks more than one question, of more than the table and its source."""
    others = (
        model.population,
        model.background,
        model.hierarchy,
        model.least_consistent,
        model.uniqueness_estimator,
    )
    if any(item is not None for item in others) or model.must_occur or model.uses_label_width:
        yield Obstacle(
            f"privacy: {model.label} needs more than one query; remove it from the spec of the audits, and check it "
            "with kanon-sql check",
            SpecError,
        )


def _references(
    workspace: Workspace, spec: Spec, models: Sequence[PrivacyModel], columns: Mapping[str, Column], unit: str | None
) -> dict[str, Sql]:
    """The reference distributions that the models compare with, read again by every audit."""
    references: dict[str, Sql] = {}
    for index, name in enumerate(dict.fromkeys(model.attribute for model in models if model.attribute is not None)):
        compared = [model for model in models if model.attribute == name and model.needs_reference]
        if not compared:
            continue
        of_source = any(model.reference == "original" for model in compared)
        within, held = (source_relation(), _of_source(workspace, spec)) if of_source else (_THIS_MODEL, columns)
        if problems := unknown_columns(
            "the source", held, [name, *([] if unit is None else [unit])], "to compare with"
        ):
            raise SpecError(problems)
        refuse_other_kind(workspace, columns[name], held[name])
        counted = None if unit is None else held[unit]
        known = replace(value_facts_of(compared, columns[name]), column=held[name])
        references[name] = reference_in(workspace, f"reference{index}", within, known, counted)
    return references


def _of_source(workspace: Workspace, spec: Spec) -> dict[str, Column]:
    return workspace.described(source_of(workspace.engine, spec))


def _query(workspace: Workspace, subject: Subject, model: PrivacyModel) -> str:
    """The classes that violate a requirement, of the table that SQLMesh calls ``@this_model``."""
    frames = table_frames(subject, [model])
    query = workspace.text(
        "verbs/sqlmesh/violating",
        flagged=flagged_classes(frames, [model]),
        columns=judged_columns([model]),
    )
    if "@" in query:
        raise SpecError("a name or a query holds an @, which SQLMesh would read as a macro; rename it in a view")
    # Nothing of this run: the same spec gives the same file.
    return query.replace(workspace.quoted(_THIS_MODEL), "@this_model").replace(f"kanon_{workspace.run_id}_", "kanon_")


def _name(table: str, model: PrivacyModel, taken: Mapping[str, str]) -> str:
    """Plain words that SQLMesh takes for a name, such as ``visits_release_t_closeness_diagnosis``."""
    name = re.sub(r"[^0-9a-z]+", "_", f"{table}_{model.key}".lower()).strip("_")
    name = f"_{name}" if name[0].isdigit() else name
    while name in taken:
        name += "_"
    return name
