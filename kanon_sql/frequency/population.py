"""A population beside a table: its columns, who its persons are, and its frequency table for a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import Problem, SpecError, UnsupportedError
from kanon_sql.frequency.meanings import text_of
from kanon_sql.frequency.points import pair_of, refuse_outside
from kanon_sql.frequency.reading import read_table, reads_otherwise
from kanon_sql.frequency.sets import PopulationVectors
from kanon_sql.hierarchies import (
    cell_of,
    coordinates,
    exact_texts,
    exact_value,
    refuse_blank_ends,
    refuse_mixed_forms,
    refuse_several_texts,
)
from kanon_sql.models import PrivacyModel
from kanon_sql.spec import Point, Spec, format_table_name
from kanon_sql.sql import Relation, Sql, exact_text

__all__ = ["Population", "notes_on_models", "population_of", "populations_of", "refuse_moving"]


@dataclass(frozen=True)
class Population:
    """A population's columns, as expressions over ``kanon_source``.

    Attributes:
        table: it, as it is read.
        columns: its quasi-identifiers by name; a point has the cells that the source's point has.
        values: its quasi-identifiers as a raw frequency table has them, by their names there.
        person: who a row is, as text; None where each row is a person.
    """

    table: Relation
    columns: Mapping[str, Column]
    values: Mapping[str, Sql]
    person: Sql | None

    def vectors(self, workspace: Workspace, what: str) -> Relation:
        """Its different vectors with their rows."""
        return self._table(workspace, "frequency/raw", what)

    def rows(self, workspace: Workspace, what: str) -> Relation:
        """The same, not grouped."""
        return self._table(workspace, "frequency/population/rows", what)

    def persons(self, workspace: Workspace, what: str) -> Relation:
        """Its different vectors by person (the column ``person``), without rows that have no person."""
        return self._table(workspace, "frequency/population/by_person", what, person=self.person)

    def _table(self, workspace: Workspace, template: str, what: str, **context: Sql | None) -> Relation:
        target = workspace.table(what)
        named: dict[str, object] = {"names": list(self.values), "values": list(self.values.values())}
        workspace.execute(template, target=target, source=self.table, **named, **context)
        return target


def population_of(workspace: Workspace, spec: Spec, model: PrivacyModel, columns: Mapping[str, Column]) -> Population:
    """The population that a model compares with, once it is sure that its values can be compared.

    Args:
        workspace: where the population is.
        spec: names the quasi-identifiers, and the unit.
        model: names the population, and who its persons are.
        columns: the columns that the quasi-identifiers have in the source, by name; the population's must be alike.

    Raises:
        SpecError: the population lacks a column, or has one of another kind.
        UnsupportedError: rows of one person differ, and the model needs each person in one class.
    """
    assert model.population is not None
    name = model.population
    shown, table = format_table_name(name), Relation(name)
    own: Mapping[str, Column] = workspace.columns(table)
    keys = (model.population_person,)
    if reads_otherwise(spec, keys):
        table, own = read_table(workspace, spec, table, own, shown, *keys)
    problems: list[Problem] = []
    pairs = {item: pair_of(point, own, shown, problems) for item, point in spec.points.items()}
    for column in spec.quasi_identifiers:
        if column in pairs:
            continue
        if column not in own:
            problems.append(
                Problem(
                    f"{shown}: there is no column {column!r}, so no person of it can be matched; "
                    "expected all quasi-identifiers, under the source's names"
                )
            )
        elif column in columns and own[column].kind != columns[column].kind:
            problems.append(
                Problem(
                    f"{shown}: column {column!r} is {own[column].type}, and in the source {columns[column].type}: so "
                    "nothing would match; cast one of them in a view"
                )
            )
    if model.population_person is not None and model.population_person not in own:
        problems.append(
            Problem(
                f"{shown}: there is no column {model.population_person!r}, so its persons cannot be distinguished; "
                f"expected the name of the column that {model.name} counts by"
            )
        )
    if problems:
        raise SpecError(problems)
    used = {column: own[column] for column in spec.quasi_identifiers if column not in pairs}
    read = {**used, **{column.name: column for pair in pairs.values() for column in pair}}
    texts = list(used.values())
    unit = model.population_person or (spec.unit if spec.unit in own else None)
    if unit is not None:
        refuse_several_texts(own, [unit], "a population")
        person = exact_value(own[unit], "checked")
        rows, different = workspace.row("frequency/population/persons", table=table, person=person)
        if rows == different:
            unit = None  # each row is a person
        else:
            texts.append(own[unit])
    refuse_mixed_forms(workspace, table, read, labelled=list(read))
    refuse_blank_ends(workspace, table, exact_texts(texts, "checked"), shown)
    cells = {item: _cells(spec.points[item], pair) for item, pair in pairs.items()}
    values = {
        f"q{index}": cells[column] if column in cells else exact_value(used[column], "kanon_source")
        for index, column in enumerate(spec.quasi_identifiers)
    }
    known = {column: columns[column] if column in cells else used[column] for column in spec.quasi_identifiers}
    return Population(
        table, known, values, None if unit is None else text_of(own[unit], exact_value(own[unit], "kanon_source"))
    )


def _cells(point: Point, pair: tuple[Column, Column]) -> Sql:
    """The finest cell of a person's point, as the source has it."""
    return exact_text(Sql(f"CAST({cell_of(point, *coordinates(point, pair, 'kanon_source'))} AS VARCHAR)"))


def refuse_moving(workspace: Workspace, model: PrivacyModel, persons: Relation) -> None:
    """Refuse persons whose rows differ, where a model needs each person in one class.

    Raises:
        UnsupportedError: there are such persons.
    """
    (moving,) = workspace.row("frequency/population/moving", persons=persons)
    if model.measures_presence and moving:
        raise UnsupportedError(
            f"{model.label}: {int(moving):,} persons of {format_table_name(model.population or ())} have rows "
            "that differ in the quasi-identifiers, so several classes may stand for one person, and the "
            "probability of presence is not the ratio of one class; give a view with a row per person, or ask "
            "for k_map"
        )


def populations_of(
    workspace: Workspace, spec: Spec, models: Sequence[PrivacyModel], columns: Mapping[str, Column]
) -> dict[str, PopulationVectors]:
    """The raw frequency table of every population that a search compares with, by the models' frame.

    Raises:
        SpecError: a population does not fit the spec.
        UnsupportedError: a requirement that only ``check`` can judge.
    """
    found: dict[str, PopulationVectors] = {}
    for model in models:
        if model.population is None:
            continue
        if spec.suppression.style == "mask" and spec.suppression.allows_some:
            raise UnsupportedError(
                f"{model.label}: a masked row stands for every person in {model.frame}, so classes overlap; use "
                "suppression style: drop"
            )
        if model.penalizes_missing_persons and not spec.recoding.is_full_domain:
            raise UnsupportedError(
                f"{model.label}: with delta_min above 0, all classes together must stand for every person in "
                f"{model.frame}, and recoding: {spec.recoding.method} judges classes one by one; use recoding: "
                "full_domain, or ask for delta_max alone, and check the release for delta_min"
            )
        assert model.frame is not None, "a population is a frame"
        if model.frame not in found:
            workspace.report(f"reading {format_table_name(model.population)}", None)
            population, what = population_of(workspace, spec, model, columns), f"population{len(found)}"
            by_person = population.person is not None
            read = population.persons if by_person else population.vectors
            vectors = read(workspace, what)
            refuse_outside(workspace, spec, vectors, format_table_name(model.population))
            found[model.frame] = PopulationVectors(vectors, by_person)
        if found[model.frame].by_person:
            refuse_moving(workspace, model, found[model.frame].table)
    return found


def notes_on_models(models: Sequence[PrivacyModel]) -> list[str]:
    """What nothing here can check, per population and per estimate; and what protects no one."""
    named = dict.fromkeys(
        (model.population, model.population_person) for model in models if model.population is not None
    )
    believed = [
        f"{format_table_name(name)} is taken to be the population: it must list every person of the table"
        + (", and no person twice" if person is None else f", under one {person}")
        for name, person in named
    ]
    assumed = [model.assumption for model in models if model.assumption is not None]
    empty = [
        f"{model.label} protects no one: a class of one person, with one value, can satisfy it; choose a stricter "
        "requirement"
        for model in models
        if model.protects_no_one
    ]
    return believed + assumed + empty
