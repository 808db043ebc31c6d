"""What ``check`` asks beside the table: of its source, of populations, and of what attackers know beforehand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kanon_sql.disclosure.beliefs import FEWEST, Beliefs, beliefs_of
from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SpecError
from kanon_sql.evaluate import Consistent, consistent_with_source, reference_in, refuse_other_kind
from kanon_sql.frequency import (
    LabelSizes,
    OpenTable,
    PopulationClasses,
    ValueFacts,
    count_of,
    match_populations,
    refuse_wrong_counts,
    sizes_in_domain,
    source_of,
    value_facts_of,
    with_hierarchy,
)
from kanon_sql.hierarchies import exact_value, refuse_mixed_forms, refuse_several_texts
from kanon_sql.models import PrivacyModel
from kanon_sql.spec import Spec
from kanon_sql.sql import Sql, source_relation

__all__ = [
    "attribute_facts",
    "columns_of_source",
    "compared_records",
    "judged_beliefs",
    "label_sizes_in_domain",
    "matched_populations",
]


def attribute_facts(
    workspace: Workspace,
    spec: Spec,
    models: Sequence[PrivacyModel],
    opened: OpenTable,
    columns: Mapping[str, Column],
    unit: str | None,
) -> tuple[dict[str, ValueFacts], dict[str, Sql], set[str]]:
    """What the models ask of the attributes' values, the reference distributions, and which are the table's own."""
    facts: dict[str, ValueFacts] = {}
    references: dict[str, Sql] = {}
    own: set[str] = set()
    table, source = opened.relation, source_relation()
    attributes = dict.fromkeys(model.attribute for model in models if model.attribute is not None)
    for index, name in enumerate(attributes):
        known = value_facts_of(models, columns[name])
        compared = [model for model in models if model.attribute == name and model.needs_reference]
        if any(model.reference == "original" for model in compared):
            asked = [own for own in (name, unit, spec.count) if own is not None]
            within, found = source, columns_of_source(workspace, spec, asked)
            refuse_wrong_counts(workspace, spec, source, found, "the source")
        else:
            within, found = table, dict(columns)
        if compared:
            if within == table or opened.is_source:
                own.add(name)
            refuse_other_kind(workspace, columns[name], found[name])
            raw = workspace.table(f"raw{index}")
            value = exact_value(found[name], "original")
            workspace.execute("verbs/check/values", target=raw, table=within, value=value, name=f"v{index}")
            known = with_hierarchy(workspace, spec, models, replace(known, column=found[name]), index, raw)
            counted = None if unit is None else found[unit]
            references[name] = reference_in(
                workspace, f"reference{index}", within, known, counted, count_of(spec, "original")
            )
            known = replace(known, column=columns[name])
        missing = known.absent(workspace, table, "checked", exact_value(columns[name], "checked"))
        if missing and table != source:  # all rows with a value may have been suppressed
            column = columns_of_source(workspace, spec, [name])[name]
            there = replace(known, column=column).absent(workspace, source, "original", exact_value(column, "original"))
            missing = min(missing, there)
        known.refuse_absent(missing)
        facts[name] = known
    return facts, references, own


def columns_of_source(workspace: Workspace, spec: Spec, needed: list[str]) -> dict[str, Column]:
    """The source's columns that the requirements compare with, each of one kind."""
    originals = workspace.described(source_of(workspace.engine, spec, counts=True))
    for name in needed:
        if name not in originals:
            raise SpecError(
                f"sensitive: the source has no column {name!r} for the original distribution; name the source of the "
                "table"
            )
    found = {name: originals[name] for name in needed}
    refuse_several_texts(found, needed, "a requirement")
    refuse_mixed_forms(workspace, source_relation(), found)
    return found


def matched_populations(
    workspace: Workspace, spec: Spec, models: Sequence[PrivacyModel], opened: OpenTable, unit: str | None
) -> dict[str, PopulationClasses]:
    """Per population that a model compares with: which persons the table's classes stand for."""
    compared = [model for model in models if model.population is not None]
    if not compared:
        return {}
    originals = workspace.described(source_of(workspace.engine, spec, counts=True))
    workspace.report("matching the population", None)
    present = [model for model in compared if model.measures_presence]
    if present and unit is not None:
        person = exact_value(opened.columns[unit], "checked")
        (unknown_rows,) = workspace.row("verbs/check/unknown_persons", table=opened.relation, unit=person)
        present[0].refuse_unknown(int(unknown_rows), unit)
    return match_populations(
        workspace, spec, opened.relation, opened.columns, originals, compared, raw=opened.is_source
    )


def label_sizes_in_domain(
    workspace: Workspace, spec: Spec, models: Sequence[PrivacyModel], opened: OpenTable
) -> LabelSizes | None:
    """How many values of the source the labels of the table stand for, where a requirement asks for that."""
    if not any(model.uses_label_width for model in models):
        return None
    workspace.report("counting what labels stand for", None)
    originals = workspace.described(source_of(workspace.engine, spec, counts=True))
    return sizes_in_domain(workspace.apart("widths_"), spec, models, originals, raw=opened.is_source)


def judged_beliefs(
    workspace: Workspace, spec: Spec, models: Sequence[PrivacyModel], opened: OpenTable, columns: Mapping[str, Column]
) -> dict[str, Beliefs]:
    """Per background distribution: what the table's classes tell the attacker who has it."""
    found: dict[str, Beliefs] = {}
    for model in models:
        if model.background is not None and model.frame is not None:
            workspace.report(f"judging the beliefs of who knows {model.background.shown}", None)
            originals = workspace.described(source_of(workspace.engine, spec, counts=True))
            apart = workspace.apart(f"beliefs{len(found)}_")
            found[model.frame] = beliefs_of(
                apart,
                spec,
                model.background,
                opened.relation,
                columns,
                originals,
                fewest=max([other.least_size for other in models if other.least_size is not None], default=FEWEST),
                raw=opened.is_source,
            )
    return found


def compared_records(
    workspace: Workspace, spec: Spec, models: Sequence[PrivacyModel], opened: OpenTable, columns: Mapping[str, Column]
) -> dict[str, Consistent]:
    """Which records of the source the table's rows may stand for, where a requirement is about both."""
    if all(model.least_consistent is None for model in models):
        return {}
    originals = workspace.described(source_of(workspace.engine, spec, counts=True))
    apart = workspace.apart("consistency_")
    return dict(consistent_with_source(apart, spec, models, opened.relation, columns, originals, raw=opened.is_source))
