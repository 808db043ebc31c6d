"""Requirements that one query each can check: what SQLMesh audits and check functions are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kanon_sql.engines import Column, Engine, Workspace
from kanon_sql.errors import Obstacle, SpecError
from kanon_sql.evaluate import Subject, reference_in, refuse_other_kind
from kanon_sql.frequency import OpenTable, source_of, unknown_columns, value_facts_of
from kanon_sql.hierarchies import refuse_several_texts
from kanon_sql.models import PrivacyModel, model_obstacles, models_of
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation, Sql, source_relation
from kanon_sql.verbs.preflight import fatal_warning_obstacles, file_release_obstacles, step_obstacles

__all__ = ["single_queries", "single_query_obstacles"]


def single_query_obstacles(
    engine: Engine, spec: Spec, table: str | None, verb: str, what: str, named: str, dialects: Sequence[str]
) -> Iterator[Obstacle]:
    """Why a spec's requirements are not written as a query each, as far as no statement is needed to know it.

    Args:
        engine: the database that the queries are for.
        spec: with the requirements.
        table: to check; None for the spec's release.
        verb: the verb that writes them.
        what: what it writes, in words.
        named: which table the user may name.
        dialects: where texts and types are compared exactly by SQL alone.
    """
    yield from step_obstacles(spec, what)
    yield from fatal_warning_obstacles(spec, what)
    if spec.computed:
        computed = ", ".join(column.name for column in spec.computed)
        yield Obstacle(
            f"{what} check classes by labels only, but {computed} may reveal more; leave 'as' out, or check "
            "the table with kanon-sql check"
        )
    if engine.dialect.name not in dialects:
        yield Obstacle(f"{what} do not support {engine.dialect.name}; expected one of {', '.join(dialects)}")
    if table is None and spec.release_file is not None:
        yield from file_release_obstacles(spec, verb)
    elif table is None and spec.release is None:
        yield Obstacle(f"release: missing; name {named} with --table", SpecError)
    yield from model_obstacles(spec)
    if not any(model_obstacles(spec)):
        for model in models_of(spec):
            yield from _unfit(model, what)


def _unfit(model: PrivacyModel, what: str) -> Iterator[Obstacle]:
    """A requirement whose check asks more than one question, of more than the table and its source."""
    others = (
        model.population,
        model.background,
        model.hierarchy,
        model.least_consistent,
        model.uniqueness_estimator,
    )
    if (
        any(item is not None for item in others)
        or model.must_occur
        or model.uses_label_width
        or model.adds_up is not None
    ):
        yield Obstacle(
            f"privacy: {model.label} needs more than one query; remove it from the spec of the {what}, and check it "
            "with kanon-sql check",
            SpecError,
        )


def single_queries(
    workspace: Workspace, spec: Spec, table: Relation, opened: OpenTable, unit: str | None, why: str
) -> Iterator[tuple[PrivacyModel, Subject]]:
    """Each requirement with the table as it alone is examined for it.

    Args:
        workspace: inline, so that queries carry the scratch tables that they need.
        spec: with the requirements.
        table: the name that the queries are to have for the table.
        opened: the table with its columns.
        unit: count distinct values of this column instead of rows.
        why: why the columns are needed, for a message.

    Raises:
        SpecError: the table, or the source that it is compared with, lacks a column.
    """
    models = models_of(spec)
    made_by = [name for model in models for name in model.quasi_identifiers or ()]
    looked_at = [model.attribute for model in models if model.attribute]
    needed = dict.fromkeys([*spec.quasi_identifiers, *made_by, *looked_at, *([] if unit is None else [unit])])
    if problems := unknown_columns(opened.shown, opened.columns, needed, why):
        raise SpecError(problems)
    references = _references(workspace, spec, models, table, opened.columns, unit)
    for model in models:
        yield (
            model,
            Subject(
                table=table,
                columns=opened.columns,
                quasi_identifiers=list(model.quasi_identifiers or spec.quasi_identifiers),
                references=references if model.needs_reference else {},
                # Of this requirement alone: what another one asks of the reference, its query does not join.
                facts={model.attribute: value_facts_of([model], opened.columns[model.attribute])}
                if model.attribute
                else {},
                unit=unit,
            ),
        )


def _references(
    workspace: Workspace,
    spec: Spec,
    models: Sequence[PrivacyModel],
    table: Relation,
    columns: Mapping[str, Column],
    unit: str | None,
) -> dict[str, Sql]:
    """The reference distributions that the models compare with, read again by every query."""
    references: dict[str, Sql] = {}
    for index, name in enumerate(dict.fromkeys(model.attribute for model in models if model.attribute is not None)):
        compared = [model for model in models if model.attribute == name and model.needs_reference]
        if not compared:
            continue
        of_source = any(model.reference == "original" for model in compared)
        within, held = table, columns
        if of_source:
            within, held = source_relation(), workspace.described(source_of(workspace.engine, spec))
        compares = [name, *([] if unit is None else [unit])]
        if problems := unknown_columns("the source", held, compares, "to compare with"):
            raise SpecError(problems)
        if of_source:
            refuse_several_texts(held, compares, "a requirement")
        refuse_other_kind(workspace, columns[name], held[name])
        counted = None if unit is None else held[unit]
        known = replace(value_facts_of(compared, columns[name]), column=held[name])
        references[name] = reference_in(workspace, f"reference{index}", within, known, counted)
    return references
