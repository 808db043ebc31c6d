"""A release that is a view: the rows are generalized and suppressed whenever a user reads them.

    query     one read of the source, labels as expressions, windows over the classes, and a condition on each
    verify    its rows are written into a table of the session and examined as any release
    publish   the view is created, and examined once more as its readers see it

What is counted and what is shown are the same rows of one read, so that the view satisfies its requirements at each
instant, whatever other sessions write meanwhile. It depends on the source alone. Its text holds the mark of the run
that created it, by which a later run knows what it may replace: a comment would survive a text that a user replaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from kanon_sql.engines import Column, Engine, Workspace
from kanon_sql.errors import Obstacle, SpecError, UnsupportedError
from kanon_sql.hierarchies import exact_value, inline_label
from kanon_sql.models import PrivacyModel
from kanon_sql.release.choice import Choice
from kanon_sql.release.write_source import UNIT, free_name, outputs_of
from kanon_sql.spec import Spec
from kanon_sql.sql import Creation, Relation, Sql, Statement, identifier, mark_text, render, slot, source_relation

__all__ = ["created_view", "guarded_table", "refuse_temporary_source", "view_notes", "view_obstacles"]

_TEMPORARY = ("temp", "pg_temp")

_TEXTS = ("text", "other")
"""Kinds of columns that are compared as text."""

_SAME_IN_SESSIONS = ("integer", "decimal", "text")
"""Kinds of columns whose values have the same text in every session."""


def view_obstacles(engine: Engine, spec: Spec, models: Sequence[PrivacyModel]) -> Iterator[Obstacle]:
    """A guarded view, on an engine or for requirements that it cannot be.

    Args:
        engine: where the view is to be.
        spec: what it is to show; nothing is found where its release is no view.
        models: its requirements.
    """
    if spec.release_view is None:
        return
    if engine.dialect.guard is None:
        yield Obstacle(
            f"release.view: {engine.dialect.name}: {engine.dialect.guard_obstacle}; publish a table, or use DuckDB, "
            "PostgreSQL, SQLite, MariaDB or Spark"
        )
    for model in models:
        if why := _not_by_windows(model, by_person=spec.unit is not None):
            instead = (
                "leave out unit, or this requirement"
                if _not_by_windows(model, by_person=False) is None
                else "ask for k_anonymity, or without a unit for l_diversity (distinct, entropy, recursive), "
                "p_sensitive or alpha_k_anonymity"
            )
            yield Obstacle(
                f"release.view: {model.label}: {why}, which a view cannot judge at each instant; publish a table, or "
                f"{instead}"
            )
    if spec.source.table is None:
        yield Obstacle(
            "release.view: a guarded view reads a table or view of its database; name one as the source", SpecError
        )


def refuse_temporary_source(engine: Engine, spec: Spec) -> None:
    """Refuse a guarded view of a table that it would outlive.

    Raises:
        SpecError: the source is a table of the session.
    """
    full = None if spec.source.table is None else engine.full_name(spec.source.table)
    if full is not None and any(part.lower().startswith(_TEMPORARY) for part in full[:-1]):
        raise SpecError("release.view: the source is a temporary table, which the view would outlive; name another one")


def _not_by_windows(model: PrivacyModel, *, by_person: bool) -> str | None:
    """Why windows over the rows of a class do not tell whether it satisfies; None where they do."""
    if model.quasi_identifiers is not None or model.on_coarser_classes or model.others:
        return "it is about classes by other columns, each of which joins several of the view's classes"
    if model.adds_up is not None:
        return "its weights are examined before they are added up"
    if not model.by_windows:
        return "it compares a class with rows outside of it"
    if by_person and model.attribute is not None:
        return "with a unit, values are counted by person"
    if model.lists:
        return "it distinguishes values by a list, which would stand in the view's text"
    return None


def _query(workspace: Workspace, choice: Choice, unit: str | None) -> Statement:
    """The view's query; with who each row is about under the name ``unit``.

    Raises:
        UnsupportedError: a session of a reader's would make other labels.
    """
    spec, columns, sets = choice.spec, choice.columns, choice.sets
    source = "kanon_source"
    labels = []
    for lookup, level in zip(sets.lookups, choice.levels, strict=True):
        made = inline_label(spec, columns[lookup.name], lookup, level, f"q{lookup.index}")
        why = workspace.dialect.differs_by_session(columns[lookup.name].kind, columns[lookup.name].type)
        if why is not None and not made.is_top:
            raise UnsupportedError(f"release.view: {lookup.name}: {why}; publish a table otherwise")
        labels.append(
            {
                "name": f"l{lookup.index}",
                "value": f"q{lookup.index}",
                "exact": exact_value(columns[lookup.name], source),
                "label": made.label,
                "is_top": made.is_top,
                "is_float": columns[lookup.name].kind == "float",
            }
        )
    outputs, others, ties, order = [], [], [], [str(item["name"]) for item in labels]
    for number, item in enumerate(outputs_of(choice)):
        name = str(item["name"])
        if item["lookup"] is not None:
            outputs.append({"name": name, "column": f"l{item['lookup']}"})
            continue
        outputs.append({"name": name, "column": f"o{number}"})
        others.append({"name": f"o{number}", "value": item["value"]})
        if columns[name].kind != "ambiguous":  # its text does not distinguish its values, so it cannot order them
            others.append({"name": f"e{number}", "value": exact_value(columns[name], source)})
            order.append(f"e{number}")
            if workspace.dialect.sorts_prefixes and columns[name].kind in _TEXTS:
                others.append({"name": f"s{number}", "value": _sort_key(columns[name], source)})
                ties.append(f"s{number}")
    if spec.unit is not None:
        others.append({"name": "kanon_person", "value": exact_value(columns[spec.unit], source)})
        others.append({"name": "person_key", "value": _sort_key(columns[spec.unit], source)})
    attributes = list(dict.fromkeys(model.attribute for model in choice.models if model.attribute is not None))
    keys = [str(item["name"]) for item in labels if not item["is_top"]]
    sorted_by = [f"k{key}" if workspace.dialect.sorts_prefixes else key for key in keys]
    sort_keys = [key for key in sorted_by if key not in keys]
    over = render("evaluate/window", names=sorted_by)
    measures, conditions = [], []
    for number, model in enumerate(choice.models):
        name = "class_size" if model.attribute is None else f"m{number}"
        if model.attribute is not None:
            index = attributes.index(model.attribute)
            measures.append({"name": name, "measure": model.windowed(index, over)})
        conditions.append(_condition(model, name))
    forms, fills = _forms(workspace, choice, attributes)
    fills["source"] = _lasting(workspace, spec)
    session = workspace.dialect.guard_session
    if session is not None and any(columns[name].kind not in _SAME_IN_SESSIONS for name in _judged(spec, attributes)):
        fills["session"] = session
    shape = workspace.compiler.shape(
        "release/guarded",
        (workspace.run_id, unit, choice.levels),
        lambda: {
            "labels": labels,
            "exact": [str(item["value"]) for item in labels],
            "inner": [*(str(item["name"]) for item in (*labels, *others)), *sort_keys],
            "sort_keys": bool(sort_keys),
            "others": others,
            "outputs": outputs,
            "attributes": list(range(len(attributes))),
            "values": [_sort_key(columns[name], source) for name in attributes],
            "keys": sorted_by,
            "measures": measures,
            "conditions": conditions,
            "order": [*order, *sort_keys, *ties],
            "by_person": spec.unit is not None,
            "skips_nulls": spec.nulls != "value",
            "unit": unit,
            "forms": forms,
            "session": "session" in fills,
            "mark": mark_text(workspace.run_id),
        },
    )
    return workspace.compiler.fill("release/guarded", shape, fills)


def _sort_key(column: Column, table: str) -> Sql:
    """A column as windows sort and compare it."""
    if column.kind not in _TEXTS:
        return exact_value(column, table)
    return Sql(f'CAST({identifier(table)}.{identifier(column.name)} AS VARCHAR) COLLATE "sorted"')


def _condition(model: PrivacyModel, name: str) -> Sql:
    """True of the rows of a class that satisfies. Apart from what verifies the view, so that a test can break it."""
    return model.condition(name)


def _judged(spec: Spec, attributes: Sequence[str]) -> list[str]:
    """The columns that decide what is shown."""
    return [*spec.quasi_identifiers, *attributes, *([] if spec.unit is None else [spec.unit])]


def _forms(workspace: Workspace, choice: Choice, attributes: list[str]) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Where columns hold values of any type: the form that each had when the view was made, so that others stay out."""
    dialect, spec = workspace.dialect, choice.spec
    if dialect.typed:
        return [], {}
    names = _judged(spec, attributes)
    found, fills = [], {}
    shape = workspace.compiler.shape(
        "hierarchies/forms", ("guarded", len(names)), lambda: {
            "table": Relation(slot="source"), "forms": [slot(f"form_{number}") for number in range(len(names))],
        },
    )  # fmt: skip
    for alias in ("checked", "kanon_source"):
        fills = {
            f"form_{number}": dialect.form(
                f"{alias}.{dialect.quote(name)}", choice.columns[name].kind, choice.columns[name].type
            )
            for number, name in enumerate(names)
        }
        if alias == "checked":
            (row,) = workspace.query(workspace.compiler.fill("hierarchies/forms", shape, fills), 1)
    for number, least in enumerate(row[::2]):
        found.append({"form": f"form_{number}", "expected": "" if least is None else str(least)})
    return found, fills


def _lasting(workspace: Workspace, spec: Spec) -> str:
    """The source by a name that means the same for every reader of the view."""
    engine = workspace.engine
    assert spec.source.table is not None
    assert spec.release is not None
    full = engine.full_name(spec.source.table) or spec.source.table
    elsewhere = max(len(spec.source.table), len(spec.release)) > 2  # by its catalog, which a file may not keep
    return workspace.dialect.relation(full if elsewhere else full[-2:])


def guarded_table(workspace: Workspace, choice: Choice) -> tuple[Relation, str | None]:
    """What the view would show now, as a table of the session.

    Returns:
        The table, and its column of persons where the spec names a unit.
    """
    unit = None if choice.spec.unit is None else free_name(UNIT, choice.columns)
    workspace.report("reading the view's query: one pass over the source", None)
    query = _query(workspace, choice, unit)
    target = workspace.table("guarded")
    creates = Creation(workspace.quoted(target), query.sql, temporary=True)
    text = workspace.compiler.created(creates)
    workspace.run(replace(query, sql=text, creates=creates))
    return target, unit


def created_view(workspace: Workspace, choice: Choice) -> Statement:
    """The statement that creates the view, or puts it in the place of an earlier one where DDL is not rolled back."""
    assert choice.spec.release is not None
    query = _query(workspace, choice, None)
    return replace(query, sql=workspace.dialect.guarded_view(choice.spec.release, query.sql))


def view_notes(workspace: Workspace, choice: Choice) -> tuple[str, ...]:
    """What the user should know of the view.

    Raises:
        UnsupportedError: its text would tell of values that few rows have that they occur.
    """
    dialect = workspace.dialect
    notes = [
        (
            "a view shows each change of its source at once: a reader who compares it before and after a change can "
            "see whose row was added or removed"
        )
    ]
    if dialect.has_rights:
        notes.append("readers need SELECT on the view alone; give them no right on its source")
    else:
        notes.append(f"{dialect.name} has no rights on views: who can read this one can read its source as well")
    for lookup, level in zip(choice.sets.lookups, choice.levels, strict=True):
        if lookup.listed is None or not 0 < level < lookup.height:
            continue
        if lookup.unused == 0 and lookup.listed > 1:
            _refuse_rare_values(workspace, choice, lookup.name)
        notes.append(
            f"the text of the view lists the {lookup.listed:,} values of the hierarchy of {lookup.name}, which readers "
            "may see: let it list the domain, not what occurs"
        )
    return tuple(notes)


def _refuse_rare_values(workspace: Workspace, choice: Choice, name: str) -> None:
    """Refuse to list exactly the values that occur, where some occur in fewer rows than a class must have."""
    least = max((model.least_size or 2 for model in choice.models), default=2)
    value = exact_value(choice.columns[name], "kanon_source")
    (rare,) = workspace.row("release/rare_values", source=source_relation(), value=value, least=least)
    if rare:
        raise UnsupportedError(
            f"release.view: the hierarchy of {name} lists exactly the values that occur, and the view's text, "
            f"which readers may see, would reveal {int(rare):,} of them that fewer than {least} rows have each; "
            "let the hierarchy list the whole domain, or use a rule"
        )
