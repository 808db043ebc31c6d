"""``check``: is a table, as it is, k-anonymous, l-diverse, t-close? Read-only, but for temporary tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import kanon_sql.verbs as verbs
from kanon_sql.disclosure.beliefs import Beliefs
from kanon_sql.disclosure.invariance import Invariance, Republication, measure_invariance
from kanon_sql.disclosure.risk import RiskFrames, with_estimates
from kanon_sql.engines import Column, Engine, Reporter, Workspace, open_workspace
from kanon_sql.errors import Problem, SpecError, counted, refuse
from kanon_sql.evaluate import (
    Achieved,
    Examination,
    Failing,
    Subject,
    Table,
    examine,
    failing_classes,
    groupings,
    rows_in_words,
    table_frames,
)
from kanon_sql.frequency import (
    OpenTable,
    PopulationClasses,
    count_of,
    measured_models,
    notes_on_models,
    open_table,
    refuse_counts,
    refuse_wrong_counts,
    refuse_wrong_weights,
    source_of,
    unknown_columns,
)
from kanon_sql.hierarchies import refuse_mixed_forms
from kanon_sql.models import PrivacyModel, closeness_among, models_of
from kanon_sql.objects import accepts_objects
from kanon_sql.spec import CsvFormat, Spec, did_you_mean, parse_table_name, parts_of_key
from kanon_sql.sql import Relation
from kanon_sql.verbs.check_sources import (
    attribute_facts,
    columns_of_source,
    compared_records,
    judged_beliefs,
    label_sizes_in_domain,
    matched_populations,
)
from kanon_sql.verbs.details import Details, of_table, with_statements
from kanon_sql.verbs.preflight import Options, obstacles
from kanon_sql.verbs.result import Check
from kanon_sql.verbs.run import refuse_perturbed, running
from kanon_sql.verbs.several_tables import takes_several
from kanon_sql.verbs.target_table import as_published, judged
from kanon_sql.verbs.warnings import failed_by, warnings_of_table
from kanon_sql.verbs.without_spec import takes_roles

__all__ = ["check", "identifiers_in", "never_released", "spellings"]


@takes_roles(drafts=False)
@takes_several(lambda: verbs.relational.check)
@accepts_objects
def check(
    engine: Engine,
    spec: Spec,
    table: str | Any | None = None,
    *,
    count_rows: bool = False,
    reveal: int = 0,
    republication: Republication | None = None,
    timeout: float | None = None,
    report: Reporter | None = None,
    details: bool = False,
    csv: Mapping[str, str] | None = None,
    fail_on_warning: bool = False,
) -> Check:
    """Measure a table's equivalence classes against the spec's requirements.

    Args:
        engine: from :func:`kanon_sql.connect`, where SELECT rights are enough; or an open connection, or a table of the
            program's own, which is then what is checked. A requirement that compares it with its source takes both:
            ``check(source, spec, table=release)``.
        spec: the quasi-identifiers and the requirements; or the name of a table (nothing where the table came first),
            with ``quasi_identifiers``, and ``k``, ``l`` or ``t``: see :class:`kanon_sql.Roles`; or a
            :class:`kanon_sql.RelationalSpec`: see :func:`anonymize`.
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
        csv: ``encoding`` and ``delimiter`` of a CSV file that is checked, as in ``source.csv``; its cells are compared
            as they are written.
        fail_on_warning: the verdict is ``fail`` where there is a warning, whichever it is.

    Returns:
        A result with verdict ``pass`` when every class satisfies every requirement, the table has no column that
        the spec calls an identifier, and no warning is an error. A table without rows fails: nothing in it was
        examined, and ``anonymize`` publishes none.

    Raises:
        SpecError: the table lacks a column that is needed.
        KanonError: any other error of :mod:`kanon_sql.errors`.

    Examples:
        >>> result = kanon_sql.check(db, spec, "visits")
        >>> result.passed, result.message
        (False, 'visits: 120 of 120 classes (600 rows) violate 8-anonymity')
    """
    refuse(obstacles(engine, spec, "check", Options(table=table)))
    if republication is not None:
        refuse_counts(spec, "m-invariance")
    of_csv = None if csv is None else CsvFormat.parse(csv)
    models = models_of(spec)
    unit = None if count_rows else spec.unit
    with running(engine, timeout, report) as run, judged(engine, spec, table, "check", of_csv) as asked:
        earlier = None if republication is None else parse_table_name(republication.earlier)
        refuse_perturbed(engine, asked.parts, earlier)
        spec = as_published(engine, spec, asked.parts)
        # A table may be checked whose source no one has; who needs it then asks for it in vain.
        relation = source_of(engine, spec, counts=True) if spec.source.given else ""
        # One pass judges a table. The labels of a population are read by several statements, and made once if they may.
        inline = engine.scratch.mode != "temp" or not spec.compares_with_population
        with open_workspace(engine, relation, inline=inline) as workspace:
            opened = replace(open_table(engine, spec, asked.parts, counts=True), shown=asked.shown)
            outcome = _examined(workspace, spec, models, opened, unit)
            revealed = outcome.failing(workspace, reveal) if reveal and not outcome.examination.passed else []
            invariances: list[Invariance] = []
            if republication is not None:
                workspace.report(f"comparing with {republication.earlier}", None)
                invariances = measure_invariance(
                    workspace, spec, opened.relation, outcome.subject.columns, republication
                )
            more = outcome.details(workspace, spec) if details else None
            person = None if republication is None else republication.key
            exposed = identifiers_in(spec, outcome.subject.columns, person)
            warned = warnings_of_table(
                workspace,
                spec,
                outcome.models,
                opened.relation,
                outcome.subject.columns,
                counts_rows=unit is None,
                is_source=opened.is_source,
                identifiers=exposed,
                person=person,
            )
        notes = [*engine.read_notes, *outcome.notes, *_notes(spec, count_rows, revealed)]
        if republication is not None and any(item.no_common_persons for item in invariances):
            why = f"values of {republication.key} in a different format count as different persons"
            notes.append(f"no person of {republication.earlier} is in {opened.shown}: nothing was compared; {why}")
        harmful = [] if opened.is_source else exposed
        fatal = failed_by(spec, warned, on_any=fail_on_warning)
        rows = outcome.examination.rows
        satisfied = outcome.examination.passed and all(item.passed for item in invariances)
        passed = bool(rows) and satisfied and not harmful and not fatal  # without rows, nothing was examined
        return Check(
            verdict="pass" if passed else "fail",
            message=_message(opened.shown, outcome, invariances, harmful, fatal),
            release=opened.shown,
            rows={"source": rows, "released": rows, "suppressed": 0},
            classes=outcome.examination.classes_dict(),
            class_sizes=outcome.examination.sizes,
            revealed=[item.to_dict() for item in revealed] if reveal else None,
            achieved={**outcome.examination.achieved_dict(), **{item.key: item.to_dict() for item in invariances}},
            cost=run.cost,
            notes=notes,
            sql=run.sql,
            details=with_statements(more, run.meter.log),
            warnings=warned,
        )


@dataclass(frozen=True)
class _Outcome:
    """What the examination of a table shows.

    Attributes:
        subject: the table as it was examined.
        models: the requirements, with what is known of their attributes' values.
        examination: of all classes.
        absent: per requirement that minds them, by its label: persons of a population that no row stands for.
        notes: what to know about the figures.
    """

    subject: Subject
    models: Sequence[PrivacyModel]
    examination: Examination
    absent: Mapping[str, int]
    notes: Sequence[str]

    def failing(self, workspace: Workspace, most: int) -> list[Failing]:
        """Classes that violate a requirement, with their values."""
        return failing_classes(workspace, self.subject, self.models, most)

    def details(self, workspace: Workspace, spec: Spec) -> Details:
        """What a report shows: the classes of the spec's quasi-identifiers, counted."""
        closeness = closeness_among(groupings(self.models)[None])
        table = Table(
            "table", table_frames(self.subject, closeness), self.subject.table, closeness, count=self.subject.count
        )
        return of_table(workspace, spec, self.models, table)


def _examined(
    workspace: Workspace, spec: Spec, models: Sequence[PrivacyModel], opened: OpenTable, unit: str | None
) -> _Outcome:
    """Examine a table, with what the requirements ask of its source, of populations and of backgrounds."""
    _need_columns(spec, models, unit, opened)
    refuse_wrong_counts(workspace, spec, opened.relation, opened.columns, opened.shown)
    columns = _columns(workspace, spec, models, opened)
    refuse_wrong_weights(workspace, models, opened.relation, columns, opened.shown)
    workspace.report(f"grouping {opened.shown} by its quasi-identifiers", None)
    needed = [*_grouped(spec, models), *([] if unit is None else [unit])]
    refuse_mixed_forms(workspace, opened.relation, {name: columns[name] for name in needed})
    facts, references, own_references = attribute_facts(workspace, spec, models, opened, columns, unit)
    models = measured_models(models, facts)
    models = _estimated(workspace, spec, models, opened.relation, columns, unit)
    matched = matched_populations(workspace, spec, models, opened, unit)
    beliefs = judged_beliefs(workspace, spec, models, opened, columns)
    consistent = compared_records(workspace, spec, models, opened, columns)
    subject = Subject(
        table=opened.relation,
        columns=columns,
        quasi_identifiers=list(spec.quasi_identifiers),
        references=references,
        facts=facts,
        unit=unit,
        own_references=own_references,
        label_sizes=label_sizes_in_domain(workspace, spec, models, opened),
        populations={name: item.frame for name, item in (matched | beliefs | consistent).items()},
        count=count_of(spec, "checked"),
    )
    absent = {model.label: _missed(model, matched) for model in models if model.penalizes_missing_persons}
    examination = examine(workspace, subject, models)
    achieved = [_with_persons(_with_absent(item, absent), beliefs) for item in examination.achieved]
    notes = [*notes_on_models(models), *(note for item in beliefs.values() for note in item.notes)]
    notes += [note for item in consistent.values() for note in item.notes]
    return _Outcome(subject, models, replace(examination, achieved=achieved), absent, notes)


def _estimated(
    workspace: Workspace,
    spec: Spec,
    models: Sequence[PrivacyModel],
    table: Relation,
    columns: Mapping[str, Column],
    unit: str | None,
) -> list[PrivacyModel]:
    """The models with what is estimated of the population, where one asks."""
    if all(model.uniqueness_estimator is None for model in models):
        return list(models)
    workspace.report("estimating the population", None)
    made_by = [columns[name] for name in spec.quasi_identifiers]
    return with_estimates(workspace, RiskFrames(table, made_by, None if unit is None else columns[unit]), models)


def _missed(model: PrivacyModel, matched: Mapping[str, PopulationClasses]) -> int:
    """Persons, by their quasi-identifiers, that no row stands for."""
    assert model.frame is not None
    missed = matched[model.frame].missed
    assert missed is not None, "they are counted only for models that need them"
    return missed


def _with_absent(item: Achieved, absent: Mapping[str, int]) -> Achieved:
    """With the persons that no row stands for among what violates: they are surely absent, and in no class."""
    return replace(item, violating_classes=item.violating_classes + absent.get(item.model.label, 0))


def _with_persons(item: Achieved, beliefs: Mapping[str, Beliefs]) -> Achieved:
    """With the beliefs that were compared, and the persons that they expose, beside the classes that they are in."""
    if item.model.background is None or item.model.frame is None:
        return item
    return replace(item, values={**item.values, **beliefs[item.model.frame].values})


def identifiers_in(spec: Spec, columns: Mapping[str, Column], person: str | None = None) -> list[str]:
    """The spec's identifiers and coordinates that a table has, but for the person that two versions are compared by."""
    present = {name.lower() for name in columns}
    kept = parts_of_key(person)
    return [name for name in never_released(spec) if name.lower() in present and name not in kept]


def never_released(spec: Spec) -> list[str]:
    """The spec's identifiers and coordinates."""
    return [*spec.identifiers, *(name for point in spec.points.values() for name in point.columns)]


def spellings(names: Iterable[str]) -> list[str]:
    """Names as they may be written, for databases that know the two cases of ASCII alone."""
    return list(dict.fromkeys(one for name in names for one in (name, name.lower(), name.upper(), name.title())))


def _notes(spec: Spec, count_rows: bool, revealed: Sequence[Failing]) -> Iterator[str]:
    """What to know about the verdict."""
    if spec.count is not None:
        yield f"rows are persons: a row stands for as many as {spec.count} says"
    if count_rows and spec.unit is not None:
        yield f"rows were counted, not persons ({spec.unit}): every k is an upper bound"
    if revealed:
        shown = f"values of {counted(len(revealed), 'class')} that violate a requirement are shown"
        yield f"{shown}: do not pass this result on"


def _grouped(spec: Spec, models: Sequence[PrivacyModel]) -> list[str]:
    """The columns that classes are made by, and the attributes that a requirement looks at."""
    made_by = [name for model in models for name in model.quasi_identifiers or ()]
    looked_at = [model.attribute for model in models if model.attribute]
    looked_at += [model.background.attribute for model in models if model.background is not None]
    return list(dict.fromkeys([*spec.quasi_identifiers, *made_by, *looked_at]))


def _need_columns(spec: Spec, models: Sequence[PrivacyModel], unit: str | None, table: OpenTable) -> None:
    named = _grouped(spec, models)
    if spec.publishes is None and (table.is_source or not spec.source.given):  # the table is all that is spoken of
        named = list(dict.fromkeys([*named, *spec.sensitive, *spec.keep]))
    problems = unknown_columns(table.shown, table.columns, named, "which the spec needs")
    if unit is not None and unit not in table.columns:
        close = did_you_mean(unit, table.columns)
        problems.append(
            Problem(
                f"{table.shown}: there is no column {unit!r}, so persons cannot be counted; check the source instead, "
                "or count rows with --rows (they only bound persons from above)"
                f"{close if 'did you mean' in close else ''}"
            )
        )
    if problems:
        raise SpecError(problems)


def _columns(
    workspace: Workspace, spec: Spec, models: Sequence[PrivacyModel], table: OpenTable
) -> Mapping[str, Column]:
    """The table's columns; where values need an order, or are weights, and nothing declares it, as the source does.

    SQLite's CREATE TABLE AS forgets what dates and decimals are. Whether the values are that is then looked at.
    """
    typed = [model.attribute for model in models if (model.spans or model.adds_up) and model.attribute is not None]
    undeclared = [name for name in dict.fromkeys(typed) if table.columns[name].kind == "other"]
    if workspace.dialect.typed or table.is_source or not undeclared:
        return table.columns
    return {**table.columns, **columns_of_source(workspace, spec, undeclared)}


def _message(
    shown: str, outcome: _Outcome, invariances: Sequence[Invariance], exposed: Sequence[str], warned: str | None
) -> str:
    problems, examination = [], outcome.examination
    for item in examination.achieved:
        if item.violating_classes:
            absent = outcome.absent.get(item.model.label, 0)
            violating = item.violating_classes - absent
            of_all = f"{violating:,} of {counted(examination.classes, 'class')}"
            others = f" and {counted(absent, 'class')} of the population without a row" if absent else ""
            verb = "violates" if violating == 1 and not absent else "violate"
            problems.append(f"{of_all} ({rows_in_words(item.violating_rows)}){others} {verb} {item.model.label}")
    problems += [item.problem() for item in invariances if not item.passed]
    if exposed:
        problems.append(f"it holds identifiers ({', '.join(exposed)})")
    if warned is not None:
        problems.append(warned)
    if problems:
        return f"{shown}: {'; '.join(problems)}"
    if not examination.rows:
        return f"{shown} has no rows, so that nothing was checked"
    satisfied = [*(model.label for model in outcome.models), *(item.label for item in invariances)]
    classes = "the only class satisfies" if examination.classes == 1 else f"all {examination.classes:,} classes satisfy"
    return f"{shown}: {classes} {', '.join(satisfied)}"
