"""``check``: is a table, as it stands, k-anonymous, l-diverse, t-close? No DDL, read-only."""

from __future__ import annotations

import time
from collections.abc import Mapping
from difflib import get_close_matches

from kanon_sql.engines.base import Column, Deadline, Engine
from kanon_sql.errors import Problem, SpecError
from kanon_sql.forms import refuse_mixed_forms
from kanon_sql.pipeline.invariance import Invariance, Republication, measure_invariance
from kanon_sql.pipeline.plan import achieved_dict
from kanon_sql.pipeline.result import Cost, Result, redacted_log
from kanon_sql.pipeline.search import source_of
from kanon_sql.privacy import PrivacyModel, TCloseness, model_of
from kanon_sql.publish import is_same_table
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
    republication: Republication | None = None,
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
        republication: also compare with an earlier version of the table (m-invariance). Both tables are internal then:
            they hold the person of every row.
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
        with open_workspace(engine, source_of(engine, spec), report) as workspace:
            relation = engine.relation(table=parts, query=None, file=None)
            columns = {column.name: column for column in engine.columns(relation)}
            _need_columns(spec, models, unit, columns, shown)
            workspace.report(f"grouping {shown} by its quasi-identifiers", None)
            is_source = spec.source.table is not None and is_same_table(engine, spec.source.table, parts)
            needed = [*_grouped(spec, models), *([] if unit is None else [unit])]
            target = source_relation() if is_source else Relation(parts)  # so that a scan of the source is counted
            refuse_mixed_forms(workspace, target, {name: columns[name] for name in needed})
            examination = examine(
                workspace,
                target,
                columns,
                list(spec.quasi_identifiers),
                models,
                _references(workspace, spec, models, Relation(parts), columns, unit),
                unit,
            )
            invariances: list[Invariance] = []
            if republication is not None:
                workspace.report(f"comparing with {republication.earlier}", None)
                invariances = measure_invariance(workspace, spec, target, columns, republication)
        notes = []
        if count_rows and spec.unit is not None:
            notes.append(f"rows were counted, not persons ({spec.unit}): every k is an upper bound")
        present = {name.lower() for name in columns}
        internal = None if republication is None else republication.person
        exposed = [name for name in spec.identifiers if name.lower() in present and name != internal]
        if exposed and is_source:
            notes.append(f"the table holds identifiers ({', '.join(exposed)}): it is no release")
        passed = examination.passed and all(item.passed for item in invariances) and (is_source or not exposed)
        return Result(
            verb="check",
            verdict="pass" if passed else "fail",
            message=_message(shown, models, examination, invariances, [] if is_source else exposed),
            release=shown,
            node=None,
            rows={"source": examination.rows, "released": examination.rows, "suppressed": 0},
            classes=examination.classes_dict(),
            achieved={**achieved_dict(examination), **{item.key: item.to_dict() for item in invariances}},
            metrics={},
            search=None,
            cost=Cost.of(meter, time.perf_counter() - started),
            notes=notes,
            sql=redacted_log(meter),
        )


def _grouped(spec: Spec, models: list[PrivacyModel]) -> list[str]:
    """The quasi-identifiers, and the attributes that a requirement looks at."""
    return [*spec.quasi_identifiers, *dict.fromkeys(model.attribute for model in models if model.attribute)]


def _need_columns(
    spec: Spec, models: list[PrivacyModel], unit: str | None, columns: Mapping[str, Column], shown: str
) -> None:
    problems = []
    for name in _grouped(spec, models):
        if name not in columns:
            close = get_close_matches(name, columns, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            problems.append(Problem(f"{shown}: there is no column {name!r}, which the spec needs{hint}"))
    if unit is not None and unit not in columns:
        problems.append(
            Problem(
                f"{shown}: there is no column {unit!r}, so persons cannot be counted; check the source instead, or "
                "count rows with --rows (they only bound persons from above)"
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


def _message(
    shown: str,
    models: list[PrivacyModel],
    examination: Examination,
    invariances: list[Invariance],
    exposed: list[str],
) -> str:
    problems = [
        f"{item.violating_classes} of {examination.classes} classes ({item.violating_rows} rows) violate "
        f"{item.model.label}"
        for item in examination.achieved
        if item.violating_classes
    ]
    problems += [item.problem() for item in invariances if not item.passed]
    if exposed:
        problems.append(f"it holds identifiers ({', '.join(exposed)})")
    if problems:
        return f"{shown}: {'; '.join(problems)}"
    if not examination.rows:
        return f"{shown} has no rows: nobody is in it"
    satisfied = [*(model.label for model in models), *(item.label for item in invariances)]
    return f"{shown}: all {examination.classes} classes satisfy {', '.join(satisfied)}"
