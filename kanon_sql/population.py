"""A population beside a table: whom of it every row of the table stands for.

A cell of a generalized table stands for all values that the hierarchy has below it, at whatever level it is. So a
class stands for the persons of the population each of whose values is below the class's. Nothing is asked about
how the table was made: the hierarchies are applied to the population, and labels are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.blanks import refuse_blank_ends
from kanon_sql.engines.base import Column
from kanon_sql.errors import Problem, SpecError, UnsupportedError
from kanon_sql.forms import refuse_mixed_forms
from kanon_sql.frequency import exact_texts, exact_value, united
from kanon_sql.hierarchies import Lookup, build_lookups
from kanon_sql.hierarchy_rules import value_text
from kanon_sql.privacy import DeltaPresenceModel, PopulationModel, PrivacyModel
from kanon_sql.spec import Spec, format_table_name
from kanon_sql.sql.templates import render
from kanon_sql.sql.text import Relation, Sql, exact_text, identifier
from kanon_sql.workspace import Workspace

__all__ = ["Matched", "classes_of", "match_populations", "population_notes", "populations_of"]


@dataclass(frozen=True)
class Matched:
    """The population by the classes of a table.

    Attributes:
        frame: FROM form: a class's columns ``q0``, ... and ``row_count``, persons that it stands for.
        vectors: different persons of the population, by their quasi-identifiers.
        missed: those whom no class stands for.
        shared: those whom several classes stand for.
    """

    frame: Sql
    vectors: int
    missed: int
    shared: int


def _raw(
    workspace: Workspace,
    spec: Spec,
    name: tuple[str, ...],
    columns: Mapping[str, Column],
    what: str,
) -> Relation:
    """The population's vectors of quasi-identifiers with their rows: a raw frequency table.

    Args:
        workspace: where to build it.
        spec: names the quasi-identifiers, and the unit.
        name: the population's.
        columns: the columns that the quasi-identifiers have in the source, by name; the population's must be alike.
        what: what to call the table.

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
            "population/persons", table=table, unit=exact_value(own[spec.unit], "checked")
        )  # fmt: skip
        if rows != persons:
            raise SpecError(
                f"{shown}: {int(rows):,} rows of {int(persons):,} persons ({spec.unit}); a person who counts twice "
                "would protect where nobody does: give a view with a row per person"
            )
    refuse_mixed_forms(workspace, table, used, labelled=list(used))
    refuse_blank_ends(workspace, table, exact_texts(list(used.values()), "checked"), shown)
    values = {f"q{index}": exact_value(column, "kanon_source") for index, column in enumerate(used.values())}
    raw = workspace.table(what)
    workspace.execute("frequency/raw", target=raw, source=table, names=list(values), values=list(values.values()))
    return raw


def populations_of(
    workspace: Workspace, spec: Spec, models: Sequence[PrivacyModel], columns: Mapping[str, Column]
) -> dict[str, Relation]:
    """The raw frequency table of every population that a search compares with.

    Raises:
        UnsupportedError: a requirement that only ``check`` can judge.
    """
    found: dict[str, Relation] = {}
    for model in models:
        if not isinstance(model, PopulationModel):
            continue
        if spec.suppression.style == "mask" and spec.suppression.limit != 0:
            raise UnsupportedError(
                f"{model.label}: a masked row stands for everybody in {model.frame}, and then classes overlap; use "
                "suppression style: drop"
            )
        if isinstance(model, DeltaPresenceModel) and model.delta_min > 0:
            raise UnsupportedError(
                f"{model.label}: with delta_min above 0, persons of {model.frame} whom no row stands for violate it, "
                "and nothing that a release leaves out would change that; ask for delta_max alone, and check the "
                "release for delta_min"
            )
        if model.frame not in found:
            workspace.report(f"reading {format_table_name(model.population)}", None)
            name = f"population{len(found)}"
            found[model.frame] = _raw(workspace, spec, model.population, columns, name)
    return found


def population_notes(models: Sequence[PrivacyModel]) -> list[str]:
    """What nothing here can check, per population."""
    shown = dict.fromkeys(model.shown for model in models if isinstance(model, PopulationModel))
    return [f"{name} is believed: every person of the table must be in it, and nobody twice" for name in shown]


def match_populations(
    workspace: Workspace,
    spec: Spec,
    table: Relation,
    columns: Mapping[str, Column],
    originals: Mapping[str, Column],
    names: Mapping[str, tuple[str, ...]],
) -> dict[str, Matched]:
    """Whom of some populations each class of a table stands for.

    Args:
        workspace: where to look; inline, if nothing is to be created.
        spec: the quasi-identifiers and their hierarchies.
        table: the table, raw or generalized.
        columns: its columns by name.
        originals: the source's columns by name.
        names: frame -> the population's name.

    Raises:
        SpecError, HierarchyError: a population does not fit the spec.
        UnsupportedError: a label means different values at different levels.
    """
    raws = {
        frame: _raw(workspace, spec, name, originals, f"population{index}")
        for index, (frame, name) in enumerate(names.items())
    }
    keys = [f"q{index}" for index, _ in enumerate(spec.quasi_identifiers)]
    known, *others = raws.values()
    if others:
        known = united(workspace, "known", known, others, keys, of_source=True)
    own = workspace.columns(Relation(next(iter(names.values()))))
    lookups = build_lookups(workspace, spec, {column: own[column] for column in spec.quasi_identifiers}, known)
    classes, meanings = classes_of(workspace, spec, table, columns, lookups)
    found = {}
    for index, (frame, raw) in enumerate(raws.items()):
        matches = workspace.table(f"matches{index}")
        workspace.execute("population/matches", target=matches, population=raw, classes=classes, meanings=meanings)
        tables = {"population": raw, "classes": classes, "matches": matches, "keys": keys}
        row = workspace.row("population/coverage", **tables)
        vectors, hit, shared, tops, below = (int(count or 0) for count in row)
        form = render("population/frame", unit=spec.unit is not None, **tables)
        if tops:  # a class that stands for everybody
            found[frame] = Matched(form, vectors, 0, vectors if below else shared)
        else:
            found[frame] = Matched(form, vectors, vectors - hit, shared)
    return found


def classes_of(
    workspace: Workspace, spec: Spec, table: Relation, columns: Mapping[str, Column], lookups: Sequence[Lookup]
) -> tuple[Relation, list[Relation]]:
    """A table's classes by their labels, and per quasi-identifier the values that each label stands for.

    Args:
        workspace: where to look.
        spec: the quasi-identifiers.
        table: the table, raw or generalized.
        columns: its columns by name.
        lookups: of everybody whom classes may stand for.

    Raises:
        UnsupportedError: a label means different values at different levels.
    """
    classes = workspace.table("classes")
    workspace.execute(
        "population/classes",
        target=classes,
        table=table,
        values=[exact_value(columns[column], "checked") for column in spec.quasi_identifiers],
        labels=[_label(columns[column]) for column in spec.quasi_identifiers],
        tops=[lookup.top for lookup in lookups],
    )
    _refuse_ambiguous(workspace, lookups)
    return classes, [_meaning(workspace, lookup, classes) for lookup in lookups]


def _label(column: Column) -> Sql:
    """A cell as the label that it is; a raw value is its own label at level 0."""
    value = Sql(f"{identifier('checked')}.{identifier(column.name)}")
    return exact_text(Sql(f"CAST({value_text(column, value)} AS VARCHAR)"))


def _labels(lookup: Lookup) -> Sequence[Sql]:
    """The label at every level, the top too."""
    return [exact_text(Sql(f"CAST(meant.l{level} AS VARCHAR)")) for level in range(lookup.height + 1)]


def _refuse_ambiguous(workspace: Workspace, lookups: Sequence[Lookup]) -> None:
    """Refuse labels that mean different values at different levels: one statement for all hierarchies."""
    compiler = workspace.compiler
    statements = [
        compiler.statement("population/ambiguous", index=position, lookup=lookup.table, labels=_labels(lookup))
        for position, lookup in enumerate(lookups)
    ]
    counts = {
        int(position): int(count) for position, count in workspace.query(compiler.union(statements), len(lookups))
    }
    for position, lookup in enumerate(lookups):
        if counts[position]:
            raise UnsupportedError(
                f"quasi_identifiers.{lookup.name}: {counts[position]} labels of its hierarchy mean other values at one "
                "level than at another, so whom a cell stands for is not known; give each group a label of its own"
            )


def _meaning(workspace: Workspace, lookup: Lookup, classes: Relation) -> Relation:
    """The values that each label of the classes stands for."""
    meaning = workspace.table(f"meaning{lookup.index}")
    workspace.execute(
        "population/meaning",
        target=meaning,
        lookup=lookup.table,
        labels=_labels(lookup),
        classes=classes,
        index=lookup.index,
    )
    return meaning
