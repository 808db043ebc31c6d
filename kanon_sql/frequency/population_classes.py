"""Which persons of a population every row of a table stands for.

A class stands for the persons of the population each of whose values is below the class's labels: the hierarchies are
applied to the population, and labels are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import UnsupportedError
from kanon_sql.frequency.join_checks import Side, refuse_lost_rows
from kanon_sql.frequency.meanings import Meaning, classes_of
from kanon_sql.frequency.points import refuse_outside
from kanon_sql.frequency.population import population_of, refuse_moving
from kanon_sql.frequency.sets import known_vectors
from kanon_sql.hierarchies import (
    build_lookups,
)
from kanon_sql.models import PrivacyModel
from kanon_sql.spec import Spec, format_table_name
from kanon_sql.sql import Relation, Sql, render

__all__ = ["PopulationClasses", "match_populations"]


@dataclass(frozen=True)
class PopulationClasses:
    """The population by the classes of a table.

    Attributes:
        frame: FROM form: a class's columns ``q0``, ... and ``row_count``, persons that it stands for.
        missed: different persons, by their quasi-identifiers, that no class stands for; None where no model asks.
    """

    frame: Sql
    missed: int | None


@dataclass(frozen=True)
class People:
    """A population as it is counted by labels.

    Attributes:
        table: it, or its vectors; the alias is ``kanon_source``.
        values: the quasi-identifiers, expressions over it.
        count: of rows per row, over it.
        person: who a row is, over it; None where each row is a person.
    """

    table: Relation
    values: Sequence[Sql]
    count: Sql
    person: Sql | None = None


def match_populations(
    workspace: Workspace,
    spec: Spec,
    table: Relation,
    columns: Mapping[str, Column],
    originals: Mapping[str, Column],
    models: Sequence[PrivacyModel],
    *,
    raw: bool,
) -> dict[str, PopulationClasses]:
    """Which persons of the populations that models compare with each class of a table stands for.

    Args:
        workspace: where to look; inline, so that nothing is created.
        spec: the quasi-identifiers and their hierarchies.
        table: the table, raw or generalized.
        columns: its columns by name.
        originals: the source's columns by name.
        models: at least one, each of which compares with a population.
        raw: the table is the source; see :func:`classes_of`.

    Returns:
        By the models' frame.

    Raises:
        SpecError, HierarchyError: a population does not fit the spec.
        UnsupportedError: a label means different values at different levels, or a model needs each person in one class
            and several stand for one.
    """
    asked = {model.frame: model for model in models if model.frame and model.population}
    names = {frame: model.population for frame, model in asked.items() if model.population}
    keys = [f"q{index}" for index, _ in enumerate(spec.quasi_identifiers)]
    raws, vectors, people = {}, {}, {}
    own: Mapping[str, Column] = {}
    for index, (frame, model) in enumerate(asked.items()):
        found_there = population_of(workspace, spec, model, originals)
        own = own or found_there.columns
        raws[frame] = vectors[frame] = found_there.vectors(workspace, f"population{index}")
        refuse_outside(workspace, spec, vectors[frame], format_table_name(names[frame]))
        own_keys = [Sql(f"kanon_source.{key}") for key in keys]
        if workspace.dialect.reads_columns:
            raws[frame] = found_there.rows(workspace, f"rows{index}")
        if found_there.person is not None:
            persons = found_there.persons(workspace, f"persons{index}")
            for other in models:
                if other.frame == frame:
                    refuse_moving(workspace, other, persons)
            people[frame] = People(persons, own_keys, Sql("row_count"), Sql("kanon_source.person"))
        elif workspace.dialect.reads_columns:
            people[frame] = People(found_there.table, list(found_there.values.values()), Sql("1"))
        else:
            people[frame] = People(vectors[frame], own_keys, Sql("row_count"))
    known, *others = raws.values()
    if others:
        known = known_vectors(workspace, known, others, keys)
    lookups = build_lookups(workspace, spec, dict(own), known, numbered=False)
    classes, meanings = classes_of(workspace, spec, table, columns, lookups, raw=raw)
    values_of = {lookup.column: lookup for lookup in lookups}
    sides = [Side(Relation(names[frame]), raws[frame], keys, values_of) for frame in names]
    sides.append(Side(classes, classes, [f"l{index}" for index, _ in enumerate(keys)], weighted=False))
    refuse_lost_rows(workspace, sides)
    found = {}
    for index, frame in enumerate(names):
        matched = workspace.table(f"matched{index}")
        tables = {"people": people[frame], "classes": classes, "meanings": meanings}
        workspace.execute("frequency/population/matched", target=matched, people=people[frame], meanings=meanings)
        form = render("frequency/population/frame", unit=spec.unit is not None, keys=keys, matched=matched, **tables)
        present = [model for model in models if model.measures_presence and model.frame == frame]
        missed = None
        if present:
            missed = _missed(workspace, present, f"matches{index}", keys, vectors[frame], classes, meanings)
        found[frame] = PopulationClasses(form, missed)
    return found


def _missed(
    workspace: Workspace,
    models: Sequence[PrivacyModel],
    what: str,
    keys: Sequence[str],
    vectors: Relation,
    classes: Relation,
    meanings: Sequence[Meaning],
) -> int | None:
    """The different persons of a population that no class stands for, where a model asks for them.

    Args:
        workspace: where to look.
        models: those that measure who of this population is present.
        what: what to call the table of persons and classes.
        keys: the quasi-identifiers.
        vectors: the population's.
        classes: the table's.
        meanings: of their labels.

    Raises:
        UnsupportedError: several classes stand for one person.
    """
    tops, others, looks, several = workspace.row("frequency/population/overlap", classes=classes, meanings=meanings)
    overlapping = tops + others > 1 if tops else bool(several) or looks < others
    absent = not tops and any(model.penalizes_missing_persons for model in models)
    if not overlapping and not absent:
        return 0 if tops else None
    matches = workspace.table(what)
    workspace.execute(
        "frequency/population/matches", target=matches, population=vectors, classes=classes, meanings=meanings
    )
    row = workspace.row("frequency/population/coverage", population=vectors, matches=matches, keys=keys)
    persons, hit, shared = (int(count or 0) for count in row)
    several_stand_for = persons if tops > 1 else hit if tops else shared
    if overlapping and several_stand_for:
        shown = format_table_name(models[0].population or ())
        raise UnsupportedError(
            f"{models[0].label}: several classes stand for one person of {shown} (masked rows, or labels of "
            "different levels side by side), so the probability of presence is not the ratio of one class; drop "
            "suppressed rows instead of masking them, or ask for k_map"
        )
    return 0 if tops else persons - hit
