"""``check``: is a table, as it stands, k-anonymous, l-diverse, t-close? No DDL, read-only."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from kanon_sql.beliefs import Beliefs, beliefs_of
from kanon_sql.engines.base import Column, Deadline, Engine
from kanon_sql.errors import Problem, SpecError
from kanon_sql.examination import Examination
from kanon_sql.facts import Facts, facts_of, measured_models, with_hierarchy
from kanon_sql.forms import refuse_mixed_forms
from kanon_sql.frequency import exact_value
from kanon_sql.histograms import Table
from kanon_sql.pipeline.details import of_table, with_statements
from kanon_sql.pipeline.invariance import Invariance, Republication, measure_invariance
from kanon_sql.pipeline.plan import achieved_dict
from kanon_sql.pipeline.result import Cost, Result, redacted_log
from kanon_sql.pipeline.search import source_of
from kanon_sql.pipeline.tables import OpenTable, open_table, unknown_columns
from kanon_sql.population import Matched, match_populations, population_notes
from kanon_sql.privacy import (
    BayesOptimalModel,
    DeltaPresenceModel,
    PopulationModel,
    PrivacyModel,
    TCloseness,
    models_of,
)
from kanon_sql.spec import Spec, parse_table_name
from kanon_sql.sql.statement import source_relation
from kanon_sql.sql.text import Relation, Sql
from kanon_sql.verify import (
    Subject,
    examine,
    failing_classes,
    groupings,
    reference_in,
    refuse_other_kind,
    table_frames,
)
from kanon_sql.workspace import Reporter, Workspace, open_workspace

__all__ = ["check"]


def check(
    engine: Engine,
    spec: Spec,
    table: str | None = None,
    *,
    count_rows: bool = False,
    reveal: int = 0,
    republication: Republication | None = None,
    timeout: float | None = None,
    report: Reporter | None = None,
    details: bool = False,
) -> Result:
    """Measure a table's equivalence classes against the spec's requirements.

    Args:
        engine: from :func:`kanon_sql.connect`; SELECT rights are enough.
        spec: the quasi-identifiers and the requirements.
        table: the table to check; the spec's release by default.
        count_rows: count rows although the spec names a unit. A class has at most as many persons as rows, so a
            pass then says less.
        reveal: how many classes that violate a requirement to list with their values. These are values of few
            persons, so the result is no longer free of personal values.
        republication: also compare with an earlier version of the table (m-invariance). Both tables hold the person
            of every row, so both are internal.
        timeout: seconds for the whole run; None for no limit.
        report: called with each stage in plain words.
        details: also count what a report shows, in one more statement over the table.

    Returns:
        A result with verdict ``pass`` when every class satisfies every requirement and the table has no column that
        the spec calls an identifier. A table without rows passes, since nobody is in it.

    Raises:
        SpecError: the table lacks a column that is needed.
        KanonError: any other error of :mod:`kanon_sql.errors`.

    Examples:
        >>> result = kanon_sql.check(db, spec, "visits")
        >>> result.passed, result.message
        (False, 'visits: 120 of 120 classes (600 rows) violate 8-anonymity')
    """
    started = time.perf_counter()
    parts = parse_table_name(table) if table is not None else spec.release
    if parts is None:
        raise SpecError("release: missing; name the table to check with --table")
    shown = ".".join(parts)
    models = models_of(spec)
    unit = None if count_rows else spec.unit
    with engine.run(Deadline(timeout)) as meter:
        with open_workspace(engine, source_of(engine, spec), report, inline=True) as workspace:
            opened = open_table(engine, spec, parts)
            target, is_source = opened.relation, opened.is_source
            _need_columns(spec, models, unit, opened)
            columns = _columns(workspace, spec, models, opened)
            workspace.report(f"grouping {shown} by its quasi-identifiers", None)
            needed = [*_grouped(spec, models), *([] if unit is None else [unit])]
            refuse_mixed_forms(workspace, target, {name: columns[name] for name in needed})
            facts, references = _facts(workspace, spec, models, target, columns, unit)
            models = measured_models(models, facts)
            matched = _matched(workspace, spec, models, opened, unit)
            beliefs = _beliefs(workspace, spec, models, opened, columns)
            frames = {name: item.frame for name, item in (matched | beliefs).items()}
            subject = Subject(
                table=target,
                columns=columns,
                quasi_identifiers=list(spec.quasi_identifiers),
                references=references,
                facts=facts,
                unit=unit,
                populations=frames,
            )
            examination = _with_persons(_with_absent(examine(workspace, subject, models), matched), beliefs)
            revealed = failing_classes(workspace, subject, models, reveal) if reveal and not examination.passed else []
            invariances: list[Invariance] = []
            if republication is not None:
                workspace.report(f"comparing with {republication.earlier}", None)
                invariances = measure_invariance(workspace, spec, target, columns, republication)
            more = of_table(workspace, spec, models, _counted(subject, models)) if details else None
        notes = [*population_notes(models), *(note for item in beliefs.values() for note in item.notes)]
        if count_rows and spec.unit is not None:
            notes.append(f"rows were counted, not persons ({spec.unit}): every k is an upper bound")
        if revealed:
            notes.append(f"values of {len(revealed)} classes that violate a requirement are shown: do not pass this on")
        if republication is not None and any(item.nobody for item in invariances):
            why = f"values of {republication.person} that are written in another form are taken for other persons"
            notes.append(f"nobody of {republication.earlier} is in {shown}: nothing was compared; {why}")
        present = {name.lower() for name in columns}
        internal = None if republication is None else republication.person
        exposed = [name for name in spec.identifiers if name.lower() in present and name != internal]
        if exposed and is_source:
            notes.append(f"the table holds identifiers ({', '.join(exposed)}): it is no release")
        passed = examination.passed and all(item.passed for item in invariances) and (is_source or not exposed)
        return Result(
            verb="check",
            verdict="pass" if passed else "fail",
            message=_message(shown, models, examination, matched, invariances, [] if is_source else exposed),
            release=shown,
            node=None,
            rows={"source": examination.rows, "released": examination.rows, "suppressed": 0},
            classes=examination.classes_dict(),
            class_sizes=examination.sizes_list(),
            revealed=[item.to_dict() for item in revealed] if reveal else None,
            achieved={**achieved_dict(examination), **{item.key: item.to_dict() for item in invariances}},
            metrics={},
            search=None,
            cost=Cost.of(meter, time.perf_counter() - started),
            notes=notes,
            sql=redacted_log(meter),
            details=with_statements(more, meter.log),
        )


def _counted(subject: Subject, models: list[PrivacyModel]) -> Table:
    """The classes that a report counts: those of the spec's quasi-identifiers."""
    closeness = [model for model in groupings(models)[None] if isinstance(model, TCloseness)]
    return Table("table", table_frames(subject, closeness), closeness)


def _grouped(spec: Spec, models: list[PrivacyModel]) -> list[str]:
    """The columns that classes are made by, and the attributes that a requirement looks at."""
    made_by = [name for model in models for name in model.quasi_identifiers or ()]
    looked_at = [model.attribute for model in models if model.attribute]
    looked_at += [model.sensitive for model in models if isinstance(model, BayesOptimalModel)]
    return list(dict.fromkeys([*spec.quasi_identifiers, *made_by, *looked_at]))


def _need_columns(spec: Spec, models: list[PrivacyModel], unit: str | None, table: OpenTable) -> None:
    problems = unknown_columns(table.shown, table.columns, _grouped(spec, models), "which the spec needs")
    if unit is not None and unit not in table.columns:
        problems.append(
            Problem(
                f"{table.shown}: there is no column {unit!r}, so persons cannot be counted; check the source instead, "
                "or count rows with --rows (they only bound persons from above)"
            )
        )
    if problems:
        raise SpecError(problems)


def _columns(workspace: Workspace, spec: Spec, models: list[PrivacyModel], table: OpenTable) -> Mapping[str, Column]:
    """The table's columns; where values have to have an order and nothing declares one, as the source does.

    SQLite's CREATE TABLE AS forgets what dates and decimals are. Whether the values are that is then looked at.
    """
    spanned = [model.attribute for model in models if model.spans and model.attribute is not None]
    undeclared = [name for name in dict.fromkeys(spanned) if table.columns[name].kind == "other"]
    if workspace.compiler.dialect.typed or table.is_source or not undeclared:
        return table.columns
    return {**table.columns, **_of_source(workspace, spec, undeclared)}


def _facts(
    workspace: Workspace,
    spec: Spec,
    models: list[PrivacyModel],
    table: Relation,
    columns: Mapping[str, Column],
    unit: str | None,
) -> tuple[dict[str, Facts], dict[str, Sql]]:
    """What the models ask of the attributes' values, and the reference distributions that they compare with."""
    facts: dict[str, Facts] = {}
    references: dict[str, Sql] = {}
    source = source_relation()
    attributes = dict.fromkeys(model.attribute for model in models if model.attribute is not None)
    for index, name in enumerate(attributes):
        known = facts_of(models, columns[name])
        compared = [model for model in models if model.attribute == name and model.needs_reference]
        if any(model.reference == "original" for model in compared):
            within, found = source, _of_source(workspace, spec, [name, *([] if unit is None else [unit])])
        else:
            within, found = table, dict(columns)
        if compared:
            refuse_other_kind(workspace, columns[name], found[name])
            raw = workspace.table(f"raw{index}")
            value = exact_value(found[name], "original")
            workspace.execute("check/values", target=raw, table=within, value=value, name=f"v{index}")
            known = with_hierarchy(workspace, spec, models, replace(known, column=found[name]), index, raw)
            counted = None if unit is None else found[unit]
            references[name] = reference_in(workspace, f"reference{index}", within, known, counted)
            known = replace(known, column=columns[name])
        missing = known.absent(workspace, table, "checked", exact_value(columns[name], "checked"))
        if missing and table != source:  # all rows with a value may have been suppressed
            column = _of_source(workspace, spec, [name])[name]
            there = replace(known, column=column).absent(workspace, source, "original", exact_value(column, "original"))
            missing = min(missing, there)
        known.refuse_absent(missing)
        facts[name] = known
    return facts, references


def _of_source(workspace: Workspace, spec: Spec, needed: list[str]) -> dict[str, Column]:
    """The source's columns that the requirements compare with, each of one kind."""
    originals = {column.name: column for column in workspace.engine.columns(source_of(workspace.engine, spec))}
    for name in needed:
        if name not in originals:
            raise SpecError(
                f"sensitive: the source has no column {name!r} to take the original distribution from; name the source "
                "that the table was made from"
            )
    found = {name: originals[name] for name in needed}
    refuse_mixed_forms(workspace, source_relation(), found)
    return found


def _matched(
    workspace: Workspace, spec: Spec, models: list[PrivacyModel], opened: OpenTable, unit: str | None
) -> dict[str, Matched]:
    """Per population that a model compares with: whom of it the table's classes stand for."""
    compared = [model for model in models if isinstance(model, PopulationModel)]
    if not compared:
        return {}
    source = workspace.engine.columns(source_of(workspace.engine, spec))
    originals = {column.name: column for column in source}
    workspace.report("matching the population", None)
    present = [model for model in compared if isinstance(model, DeltaPresenceModel)]
    if present and unit is not None:
        person = exact_value(opened.columns[unit], "checked")
        (unknown_rows,) = workspace.row("population/unknown", table=opened.relation, unit=person)
        present[0].refuse_unknown(int(unknown_rows), unit)
    return match_populations(
        workspace, spec, opened.relation, opened.columns, originals, compared, raw=opened.is_source
    )


def _beliefs(
    workspace: Workspace, spec: Spec, models: list[PrivacyModel], opened: OpenTable, columns: Mapping[str, Column]
) -> dict[str, Beliefs]:
    """Per background distribution: what the table's classes tell the attacker who has it."""
    found: dict[str, Beliefs] = {}
    for model in models:
        if isinstance(model, BayesOptimalModel):
            workspace.report(f"judging the beliefs of who knows {model.shown}", None)
            source = workspace.engine.columns(source_of(workspace.engine, spec))
            originals = {column.name: column for column in source}
            apart = workspace.apart(f"beliefs{len(found)}_")
            found[model.frame] = beliefs_of(
                apart, spec, model, opened.relation, columns, originals, raw=opened.is_source
            )
    return found


def _with_persons(examination: Examination, beliefs: Mapping[str, Beliefs]) -> Examination:
    """With the persons whom beliefs expose, beside the classes that they are in."""
    achieved = [
        replace(item, values={**item.values, "exposed_persons": beliefs[item.model.frame].exposed_persons})
        if isinstance(item.model, BayesOptimalModel)
        else item
        for item in examination.achieved
    ]
    return replace(examination, achieved=achieved)


def _with_absent(examination: Examination, matched: Mapping[str, Matched]) -> Examination:
    """With delta_min, persons whom no row stands for violate: they are surely absent, and in no class."""
    achieved = [
        replace(item, violating_classes=item.violating_classes + _absent(item.model, matched))
        for item in examination.achieved
    ]
    return replace(examination, achieved=achieved)


def _absent(model: PrivacyModel, matched: Mapping[str, Matched]) -> int:
    """Persons, by their quasi-identifiers, whom no row stands for, where the requirement minds them."""
    if not isinstance(model, DeltaPresenceModel) or not model.delta_min:
        return 0
    missed = matched[model.frame].missed
    assert missed is not None, "they are counted where a model asks"
    return missed


def _message(
    shown: str,
    models: list[PrivacyModel],
    examination: Examination,
    matched: Mapping[str, Matched],
    invariances: list[Invariance],
    exposed: list[str],
) -> str:
    problems = []
    for item in examination.achieved:
        if item.violating_classes:
            absent = _absent(item.model, matched)
            counted = f"{item.violating_classes - absent:,} of {examination.classes:,} classes"
            others = f" and {absent:,} kinds of persons whom no row stands for" if absent else ""
            problems.append(f"{counted} ({item.violating_rows:,} rows){others} violate {item.model.label}")
    problems += [item.problem() for item in invariances if not item.passed]
    if exposed:
        problems.append(f"it holds identifiers ({', '.join(exposed)})")
    if problems:
        return f"{shown}: {'; '.join(problems)}"
    if not examination.rows:
        return f"{shown} has no rows: nobody is in it"
    satisfied = [*(model.label for model in models), *(item.label for item in invariances)]
    return f"{shown}: all {examination.classes:,} classes satisfy {', '.join(satisfied)}"
