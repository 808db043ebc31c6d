"""``check``: is a table, as it stands, k-anonymous, l-diverse, t-close? No DDL, read-only."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from kanon_sql.engines.base import Column, Deadline, Engine
from kanon_sql.errors import Problem, SpecError, UnsupportedError
from kanon_sql.forms import refuse_mixed_forms
from kanon_sql.pipeline.plan import achieved_dict
from kanon_sql.pipeline.result import Cost, Result, redacted_log
from kanon_sql.pipeline.search import source_of
from kanon_sql.pipeline.tables import Table, open_table, unknown_columns
from kanon_sql.population import Matched, match_populations
from kanon_sql.privacy import DeltaPresenceModel, PopulationModel, PrivacyModel, TCloseness, model_of
from kanon_sql.spec import Spec, parse_table_name
from kanon_sql.sql.statement import source_relation
from kanon_sql.sql.text import Relation, Sql
from kanon_sql.verify import Examination, examine, reference_in
from kanon_sql.workspace import Reporter, Workspace, open_workspace

__all__ = ["check"]


def check(
    engine: Engine,
    spec: Spec,
    table: str | None = None,
    *,
    count_rows: bool = False,
    timeout: float | None = None,
    report: Reporter | None = None,
) -> Result:
    """Measure a table's equivalence classes against the spec's requirements.

    Args:
        engine: from :func:`kanon_sql.connect`; SELECT rights are enough.
        spec: the quasi-identifiers and the requirements.
        table: the table to check; the spec's release by default.
        count_rows: count rows although the spec names a unit. Rows only bound persons
            from above, so a pass then says less.
        timeout: seconds for the whole run; None for no limit.
        report: called with each stage in plain words.

    Returns:
        Verdict ``pass`` when every class satisfies every requirement and no column that the
        spec calls an identifier is there. A table without rows passes: nobody is in it.

    Raises:
        SpecError: the table lacks a column that is needed.
        KanonError: see :mod:`kanon_sql.errors`.
    """
    started = time.perf_counter()
    parts = parse_table_name(table) if table is not None else spec.release
    if parts is None:
        raise SpecError("release: missing; name the table to check with --table")
    shown = ".".join(parts)
    models = [model_of(requirement) for requirement in spec.privacy]
    unit = None if count_rows else spec.unit
    with engine.run(Deadline(timeout)) as meter:
        with open_workspace(engine, source_of(engine, spec), report, inline=True) as workspace:
            table_read = open_table(engine, spec, parts)
            columns, target, is_source = table_read.columns, table_read.relation, table_read.is_source
            _need_columns(spec, models, unit, table_read)
            workspace.report(f"grouping {shown} by its quasi-identifiers", None)
            needed = [*_grouped(spec, models), *([] if unit is None else [unit])]
            refuse_mixed_forms(workspace, target, {name: columns[name] for name in needed})
            matched = _matched(workspace, spec, models, target, columns)
            examination = examine(
                workspace,
                target,
                columns,
                list(spec.quasi_identifiers),
                models,
                _references(workspace, spec, models, Relation(parts), columns, unit),
                unit,
                populations={name: item.frame for name, item in matched.items()},
            )
            examination = _with_absent(examination, matched)
        notes = []
        if count_rows and spec.unit is not None:
            notes.append(f"rows were counted, not persons ({spec.unit}): every k is an upper bound")
        present = {name.lower() for name in columns}
        exposed = [name for name in spec.identifiers if name.lower() in present]
        if exposed and is_source:
            notes.append(f"the table holds identifiers ({', '.join(exposed)}): it is no release")
        passed = examination.passed and (is_source or not exposed)
        return Result(
            verb="check",
            verdict="pass" if passed else "fail",
            message=_message(shown, models, examination, [] if is_source else exposed),
            release=shown,
            node=None,
            rows={"source": examination.rows, "released": examination.rows, "suppressed": 0},
            classes=examination.classes_dict(),
            achieved=achieved_dict(examination),
            metrics={},
            search=None,
            cost=Cost.of(meter, time.perf_counter() - started),
            notes=notes,
            sql=redacted_log(meter),
        )


def _grouped(spec: Spec, models: list[PrivacyModel]) -> list[str]:
    """The quasi-identifiers, and the attributes that a requirement looks at."""
    return [*spec.quasi_identifiers, *dict.fromkeys(model.attribute for model in models if model.attribute)]


def _need_columns(spec: Spec, models: list[PrivacyModel], unit: str | None, table: Table) -> None:
    problems = unknown_columns(table, _grouped(spec, models), "which the spec needs")
    if unit is not None and unit not in table.columns:
        problems.append(
            Problem(
                f"{table.shown}: there is no column {unit!r}, so persons cannot be counted; check the source instead, "
                "or count rows with --rows (they only bound persons from above)"
            )
        )
    if problems:
        raise SpecError(problems)


def _references(
    workspace: Workspace,
    spec: Spec,
    models: list[PrivacyModel],
    table: Relation,
    columns: Mapping[str, Column],
    unit: str | None,
) -> dict[str, Sql]:
    """The reference distribution of every attribute that t-closeness looks at."""
    references: dict[str, Sql] = {}
    originals: dict[str, Column] | None = None
    for model in models:
        if not isinstance(model, TCloseness):
            continue
        name = model.sensitive
        if model.reference == "release":
            references[name] = reference_in(table, columns[name], None if unit is None else columns[unit])
            continue
        if originals is None:
            source = workspace.engine.columns(source_of(workspace.engine, spec))
            originals = {column.name: column for column in source}
        units = [] if unit is None else [unit]
        for needed in (name, *units):
            if needed not in originals:
                raise SpecError(
                    f"t_closeness: the source has no column {needed!r} to take the original distribution from"
                )
        refuse_mixed_forms(workspace, source_relation(), {needed: originals[needed] for needed in (name, *units)})
        references[name] = reference_in(source_relation(), originals[name], None if unit is None else originals[unit])
    return references


def _matched(
    workspace: Workspace, spec: Spec, models: list[PrivacyModel], target: Relation, columns: Mapping[str, Column]
) -> dict[str, Matched]:
    """Per population that a model compares with: whom of it the table's classes stand for."""
    named = {model.frame: model.population for model in models if isinstance(model, PopulationModel)}
    if not named:
        return {}
    source = workspace.engine.columns(source_of(workspace.engine, spec))
    originals = {column.name: column for column in source}
    workspace.report("matching the population", None)
    found = match_populations(workspace, spec, target, columns, originals, named)
    for model in models:
        if isinstance(model, DeltaPresenceModel) and found[model.frame].shared:
            raise UnsupportedError(
                f"{model.label}: several classes stand for one person of {model.shown} (masked rows, or labels of "
                "different levels side by side), and then the probability of presence is not one class's ratio; "
                "drop suppressed rows instead of masking them, or ask for k_map"
            )
    return found


def _with_absent(examination: Examination, matched: Mapping[str, Matched]) -> Examination:
    """With delta_min, persons whom no row stands for violate: they are surely absent, and in no class."""
    achieved = [
        replace(item, violating_classes=item.violating_classes + matched[item.model.frame].missed)
        if isinstance(item.model, DeltaPresenceModel) and item.model.delta_min > 0
        else item
        for item in examination.achieved
    ]
    return replace(examination, achieved=achieved)


def _message(shown: str, models: list[PrivacyModel], examination: Examination, exposed: list[str]) -> str:
    problems = [
        f"{item.violating_classes} of {examination.classes} classes ({item.violating_rows} rows) violate "
        f"{item.model.label}"
        for item in examination.achieved
        if item.violating_classes
    ]
    if exposed:
        problems.append(f"it holds identifiers ({', '.join(exposed)})")
    if problems:
        return f"{shown}: {'; '.join(problems)}"
    if not examination.rows:
        return f"{shown} has no rows: nobody is in it"
    return f"{shown}: all {examination.classes} classes satisfy {', '.join(model.label for model in models)}"
