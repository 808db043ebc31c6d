"""A population beside a table: whom of it every row of the table stands for.

A cell of a generalized table stands for all values that the hierarchy has below it, at whatever level it is. So a
class stands for the persons of the population each of whose values is below the class's. Nothing is asked about
how the table was made: the hierarchies are applied to the population, and labels are compared. Only the source is known
to hold values: there a cell stands for itself alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import Problem, SpecError, UnsupportedError
from kanon_sql.frequency.sets import with_populations
from kanon_sql.frequency.sides import Side, refuse_lost_rows
from kanon_sql.hierarchies import (
    Lookup,
    build_lookups,
    exact_texts,
    exact_value,
    refuse_blank_ends,
    refuse_mixed_forms,
    value_text,
)
from kanon_sql.models import PrivacyModel
from kanon_sql.spec import Spec, format_table_name
from kanon_sql.sql import Relation, Sql, exact_text, literal, render, sql_list

__all__ = ["Matched", "classes_of", "match_populations", "population_notes", "populations_of"]


_MASK = "*"
"""The cells of a masked row."""


@dataclass(frozen=True)
class Matched:
    """The population by the classes of a table.

    Attributes:
        frame: FROM form: a class's columns ``q0``, ... and ``row_count``, persons that it stands for.
        missed: different persons, by their quasi-identifiers, whom no class stands for; None where no model asks.
    """

    frame: Sql
    missed: int | None


@dataclass(frozen=True)
class People:
    """A population as it is counted by labels.

    Attributes:
        table: it, or its vectors; the alias is ``kanon_source``.
        values: the quasi-identifiers, expressions over it.
        count: of persons per row, over it.
    """

    table: Relation
    values: Sequence[Sql]
    count: Sql


@dataclass(frozen=True)
class Meaning:
    """The values that the labels of a table stand for in one quasi-identifier.

    Attributes:
        table: ``value`` and ``label``.
        has_nulls: whether NULL may be among the values, and then among the labels.
    """

    table: Relation
    has_nulls: bool


def _values(workspace: Workspace, spec: Spec, name: tuple[str, ...], columns: Mapping[str, Column]) -> dict[str, Sql]:
    """The population's quasi-identifiers as a raw frequency table has them: name -> expression over ``kanon_source``.

    Args:
        workspace: where the population is.
        spec: names the quasi-identifiers, and the unit.
        name: the population's.
        columns: the columns that the quasi-identifiers have in the source, by name; the population's must be alike.

    Raises:
        SpecError: the population lacks a column, has one of another kind, or has several rows per person.
    """
    shown, table = format_table_name(name), Relation(name)
    own = workspace.columns(table)
    problems = []
    for column in spec.quasi_identifiers:
        if column not in own:
            problems.append(
                Problem(
                    f"{shown}: there is no column {column!r}, so nobody of it can be matched; "
                    "expected all quasi-identifiers, under the source's names"
                )
            )
        elif column in columns and own[column].kind != columns[column].kind:
            problems.append(
                Problem(
                    f"{shown}: column {column!r} is {own[column].type}, and in the source {columns[column].type}: "
                    "nothing would match; cast one of them in a view"
                )
            )
    if problems:
        raise SpecError(problems)
    used = {column: own[column] for column in spec.quasi_identifiers}
    if spec.unit is not None and spec.unit in own:
        rows, persons = workspace.row(
            "frequency/population/persons", table=table, unit=exact_value(own[spec.unit], "checked")
        )  # fmt: skip
        if rows != persons:
            raise SpecError(
                f"{shown}: {int(rows):,} rows of {int(persons):,} persons ({spec.unit}); a person who counts twice "
                "would protect where nobody does: give a view with a row per person"
            )
    refuse_mixed_forms(workspace, table, used, labelled=list(used))
    refuse_blank_ends(workspace, table, exact_texts(list(used.values()), "checked"), shown)
    return {f"q{index}": exact_value(column, "kanon_source") for index, column in enumerate(used.values())}


def _table(
    workspace: Workspace, template: str, what: str, name: tuple[str, ...], values: Mapping[str, Sql]
) -> Relation:
    """A population as a frequency table: ``frequency/raw``, grouped, or ``frequency/population/rows``, not grouped."""
    target = workspace.table(what)
    workspace.execute(template, target=target, source=Relation(name), names=list(values), values=list(values.values()))
    return target


def populations_of(
    workspace: Workspace, spec: Spec, models: Sequence[PrivacyModel], columns: Mapping[str, Column]
) -> dict[str, Relation]:
    """The raw frequency table of every population that a search compares with.

    Raises:
        UnsupportedError: a requirement that only ``check`` can judge.
    """
    found: dict[str, Relation] = {}
    for model in models:
        if model.population is None:
            continue
        if spec.suppression.style == "mask" and spec.suppression.limit != 0:
            raise UnsupportedError(
                f"{model.label}: a masked row stands for everybody in {model.frame}, and then classes overlap; use "
                "suppression style: drop"
            )
        if model.minds_absent:
            raise UnsupportedError(
                f"{model.label}: with delta_min above 0, persons of {model.frame} whom no row stands for violate it, "
                "and nothing that a release leaves out would change that; ask for delta_max alone, and check the "
                "release for delta_min"
            )
        assert model.frame is not None, "a population is a frame"
        if model.frame not in found:
            workspace.report(f"reading {format_table_name(model.population)}", None)
            values = _values(workspace, spec, model.population, columns)
            what = f"population{len(found)}"
            found[model.frame] = _table(workspace, "frequency/raw", what, model.population, values)
    return found


def population_notes(models: Sequence[PrivacyModel]) -> list[str]:
    """What nothing here can check, per population."""
    named = dict.fromkeys(model.population for model in models if model.population is not None)
    shown = map(format_table_name, named)
    return [f"{name} is believed: every person of the table must be in it, and nobody twice" for name in shown]


def match_populations(
    workspace: Workspace,
    spec: Spec,
    table: Relation,
    columns: Mapping[str, Column],
    originals: Mapping[str, Column],
    models: Sequence[PrivacyModel],
    *,
    raw: bool,
) -> dict[str, Matched]:
    """Whom of the populations that models compare with each class of a table stands for.

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
    names = {model.frame: model.population for model in models if model.frame and model.population}
    keys = [f"q{index}" for index, _ in enumerate(spec.quasi_identifiers)]
    raws, vectors, people = {}, {}, {}
    for index, (frame, name) in enumerate(names.items()):
        values = _values(workspace, spec, name, originals)
        raws[frame] = vectors[frame] = _table(workspace, "frequency/raw", f"population{index}", name, values)
        people[frame] = People(vectors[frame], [Sql(f"kanon_source.{key}") for key in keys], Sql("row_count"))
        if workspace.dialect.reads_columns:
            raws[frame] = _table(workspace, "frequency/population/rows", f"rows{index}", name, values)
            people[frame] = People(Relation(name), list(values.values()), Sql("1"))
    known, *others = raws.values()
    if others:
        known = with_populations(workspace, "known", known, others, keys, of_source=True)
    own = workspace.columns(Relation(next(iter(names.values()))))
    lookups = build_lookups(workspace, spec, {column: own[column] for column in spec.quasi_identifiers}, known)
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
        found[frame] = Matched(form, missed)
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
    """The different persons of a population whom no class stands for, where a model asks for them.

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
    absent = not tops and any(model.minds_absent for model in models)
    if not overlapping and not absent:
        return 0 if tops else None
    matches = workspace.table(what)
    workspace.execute(
        "frequency/population/matches", target=matches, population=vectors, classes=classes, meanings=meanings
    )
    row = workspace.row("frequency/population/coverage", population=vectors, matches=matches, keys=keys)
    everybody, hit, shared = (int(count or 0) for count in row)
    several_stand_for = everybody if tops > 1 else hit if tops else shared
    if overlapping and several_stand_for:
        shown = format_table_name(models[0].population or ())
        raise UnsupportedError(
            f"{models[0].label}: several classes stand for one person of {shown} (masked rows, or labels of "
            "different levels side by side), and then the probability of presence is not one class's ratio; "
            "drop suppressed rows instead of masking them, or ask for k_map"
        )
    return 0 if tops else everybody - hit


def classes_of(
    workspace: Workspace,
    spec: Spec,
    table: Relation,
    columns: Mapping[str, Column],
    lookups: Sequence[Lookup],
    *,
    raw: bool = False,
) -> tuple[Relation, list[Meaning]]:
    """A table's classes by their labels, and per quasi-identifier the values that each label stands for.

    Args:
        workspace: where to look.
        spec: the quasi-identifiers.
        table: the table, raw or generalized.
        columns: its columns by name.
        lookups: of everybody whom classes may stand for.
        raw: the table holds values, and a cell stands for the value that it is, also where it looks like a label of
            others or like a mask.

    Raises:
        UnsupportedError: a label means different values at different levels.
    """
    labels = [_labels(workspace, lookup, 0 if raw else lookup.height) for lookup in lookups]
    classes = workspace.table("classes")
    workspace.execute(
        "frequency/population/classes",
        target=classes,
        table=table,
        values=[exact_value(columns[column], "checked") for column in spec.quasi_identifiers],
        labels=[_label(columns[column], index) for index, column in enumerate(spec.quasi_identifiers)],
        everybody=[] if raw else _everybody(workspace, lookups, labels),
    )
    return classes, [_meaning(workspace, *item, classes) for item in zip(lookups, labels, strict=True)]


def _label(column: Column, index: int) -> Sql:
    """A cell as the label that it is; a raw value is its own label at level 0."""
    return exact_text(Sql(f"CAST({value_text(column, Sql(f'written.q{index}'))} AS VARCHAR)"))


def _labels(workspace: Workspace, lookup: Lookup, highest: int) -> Relation:
    """The labels of every value at level 0 and above, up to the highest that counts."""
    target = workspace.table(f"labels{lookup.index}")
    labels = [exact_text(Sql(f"CAST(meant.l{level} AS VARCHAR)")) for level in range(highest + 1)]
    workspace.execute("frequency/population/labels", target=target, lookup=lookup.table, labels=labels)
    return target


def _everybody(workspace: Workspace, lookups: Sequence[Lookup], labels: Sequence[Relation]) -> list[Sql]:
    """Per quasi-identifier the labels that stand for everybody, as a list in SQL: its top, and the mask of a row.

    An asterisk below the top is a value or a group, and a mask could not be told from it. One statement for all
    hierarchies.

    Raises:
        UnsupportedError: a label means different values at different levels.
    """
    compiler = workspace.compiler
    statements = [
        compiler.statement("frequency/population/ambiguous", index=position, labels=table)
        for position, table in enumerate(labels)
    ]
    found: list[Sql] = []
    for position, ambiguous, asterisks in sorted(workspace.query(compiler.union(statements), len(lookups))):
        lookup = lookups[int(position)]
        if ambiguous:
            raise UnsupportedError(
                f"quasi_identifiers.{lookup.name}: {int(ambiguous)} labels of its hierarchy mean other values at one "
                "level than at another, so whom a cell stands for is not known; give each group a label of its own"
            )
        own = [lookup.top, *([] if asterisks else [_MASK])]
        found.append(sql_list([literal(label) for label in dict.fromkeys(own)]))
    return found


def _meaning(workspace: Workspace, lookup: Lookup, labels: Relation, classes: Relation) -> Meaning:
    """The values that each label of the classes stands for."""
    meaning = Meaning(workspace.table(f"meaning{lookup.index}"), lookup.has_nulls)
    workspace.execute(
        "frequency/population/meaning",
        target=meaning.table,
        labels=labels,
        classes=classes,
        index=lookup.index,
        has_nulls=meaning.has_nulls,
    )
    return meaning
