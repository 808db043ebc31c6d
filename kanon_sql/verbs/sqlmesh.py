"""``sqlmesh``: the requirements of a spec as SQLMesh audits, queries that return the classes which violate one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kanon_sql.engines import Engine, Workspace, open_workspace
from kanon_sql.errors import Obstacle, SpecError, refuse
from kanon_sql.evaluate import Subject, flagged_classes, judged_columns, table_frames
from kanon_sql.frequency import open_table, source_of
from kanon_sql.models import PrivacyModel
from kanon_sql.spec import Spec, parse_table_name
from kanon_sql.sql import Relation
from kanon_sql.verbs.preflight import Options, obstacles
from kanon_sql.verbs.run import running
from kanon_sql.verbs.single_query import single_queries, single_query_obstacles

__all__ = ["DIALECTS", "audit_obstacles", "audits"]

DIALECTS = ("duckdb", "postgres", "redshift", "snowflake", "bigquery", "spark", "databricks")
"""What SQLMesh and we write, where texts and types are compared exactly by SQL alone, with no look at rows before."""

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
    unit = None if count_rows else spec.unit
    with running(engine, timeout), open_workspace(engine, source_of(engine, spec), inline=True) as workspace:
        opened = open_table(engine, spec, parts)
        found: dict[str, str] = {}
        for model, subject in single_queries(workspace, spec, _THIS_MODEL, opened, unit, "which the audits need"):
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
    named = "a table with the columns of the audited model"
    return single_query_obstacles(engine, spec, table, "sqlmesh", "audits for SQLMesh", named, DIALECTS)


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
