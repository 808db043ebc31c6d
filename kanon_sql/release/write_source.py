"""Write rows of the source as they are released: one pass, every quasi-identifier under its label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql.engines import Column, Workspace
from kanon_sql.frequency import refuse_counts
from kanon_sql.hierarchies import exact_value
from kanon_sql.release.choice import Choice
from kanon_sql.release.write_recoded import join_of
from kanon_sql.spec import Spec
from kanon_sql.sql import PORTABLE, Relation, Sql, identifier, render, source_relation

__all__ = [
    "MARK",
    "UNIT",
    "Labelled",
    "free_name",
    "labelled_by_person",
    "labelled_with_values",
    "outputs_of",
    "released_names",
    "write_from_source",
]

MARK, UNIT = "kanon_masked", "kanon_unit"
"""Names of the columns that say whether a row is masked, and who it is about."""


@dataclass(frozen=True)
class Labelled:
    """Released rows, beside the values that their labels stand for.

    Attributes:
        table: a scratch table.
        columns: its columns by name.
        labels: the quasi-identifiers, as they are released.
        values: quasi-identifier -> the column with its values.
        finer: quasi-identifier -> the column with its labels one level finer, where there is such a level.
        unit: the column that identifies persons; None to count rows.
    """

    table: Relation
    columns: Mapping[str, Column]
    labels: Sequence[str]
    values: Mapping[str, str]
    finer: Mapping[str, str]
    unit: str | None


def write_from_source(
    workspace: Workspace,
    choice: Choice,
    target: Relation,
    outputs: list[dict[str, Any]],
    extras: Mapping[str, str],
    *,
    temporary: bool,
) -> None:
    """Write the release in one pass over the source.

    Args:
        workspace: where.
        choice: what.
        target: the table to create.
        outputs: the released columns.
        extras: the names of the columns for the mark and the person, where they are needed.
        temporary: the table is copied afterwards, so that it needs no order and belongs to the session.
    """
    spec, columns, sets = choice.spec, choice.columns, choice.sets
    if choice.mapped is not None and choice.mapped.slices:
        refuse_counts(spec, f"recoding: {spec.recoding.method}, which divides rows that are alike,")
    workspace.execute(
        "release/write",
        target=target,
        temporary=temporary,
        source=source_relation(),
        outputs=outputs,
        extras=extras,
        masked="masked" in extras,
        unit=None if spec.unit is None else exact_value(columns[spec.unit], "kanon_source"),
        suppressed=choice.suppressed,
        recoded=None
        if choice.mapped is None
        else join_of(
            sets,
            choice.mapped,
            columns,
            [item["name"] for item in outputs if item["lookup"] is None and not item.get("computed")],
            lambda name: free_name(name, columns),
        ),
        keys=[]
        if choice.suppressed is None
        else [Sql(key) for key in sets.codes.from_lookups(choice.levels, PORTABLE, lambda index: f"lookup{index}")],
        lookups=[
            {
                "index": lookup.index,
                "table": lookup.table,
                "value": exact_value(columns[lookup.name], "kanon_source"),
                "has_nulls": lookup.has_nulls,
            }
            for lookup in sets.lookups
        ],
        null_values=[
            exact_value(columns[name], "kanon_source") for name in spec.quasi_identifiers if spec.nulls == "suppress"
        ],
        shuffle=not temporary,
    )


def outputs_of(choice: Choice) -> list[dict[str, Any]]:
    """The release's columns in the source's order: generalized, sensitive, kept; nothing else.

    What is computed from labels is not among them: :func:`released_names` puts it behind its label.
    """
    spec, node = choice.spec, choice.node
    position = {name: index for index, name in enumerate(spec.quasi_identifiers)}
    outputs: list[dict[str, Any]] = []
    for name in choice.columns:
        if name in position and spec.quasi_identifiers[name].as_ != "number":
            level = None if node is None else node[position[name]]
            outputs.append({"name": name, "lookup": position[name], "level": level, "value": None})
        elif name in position or name in spec.sensitive or name in spec.keep:
            # A number is that of the lookup table, which has each once: 0 and -0, or 1.0 and 1.00, are one value of a
            # class, and a reader would see two.
            value = (
                Sql(f"{identifier(f'lookup{position[name]}')}.value")
                if name in position
                else render("release/column", name=name)
            )
            outputs.append({"name": name, "lookup": None, "level": None, "value": value})
    return outputs


def released_names(spec: Spec, outputs: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the release's columns are called, in order, with those that are computed from labels."""
    code_columns: dict[str, list[str]] = {}
    for column in spec.computed:
        code_columns.setdefault(column.of, []).append(column.name)
    names = [str(item["name"]) for item in outputs]
    return [name for own in names for name in (own, *code_columns.get(own, ()))]


def labelled_by_person(workspace: Workspace, choice: Choice, person: str) -> tuple[Relation, Mapping[str, Column], str]:
    """The rows that are released, their quasi-identifiers generalized, each with who it is about: a scratch table.

    Args:
        workspace: where; the source is read once more.
        choice: what is released.
        person: a column of the source.

    Returns:
        The table, its columns, and which of them says who.
    """
    target, unit = workspace.table("labelled"), free_name(UNIT, choice.columns)
    grouped = replace(choice, spec=choice.spec.model_copy(update={"unit": person, "sensitive": (), "keep": ()}))
    write_from_source(workspace, grouped, target, outputs_of(grouped), {"unit": unit}, temporary=True)
    return target, workspace.columns(target), unit


def labelled_with_values(workspace: Workspace, choice: Choice) -> Labelled:
    """The rows that are released, with their labels, the values that these stand for, and what is released as it is.

    Args:
        workspace: where; the source is read once more, into a scratch table.
        choice: what is released.
    """
    spec, target = choice.spec, workspace.table("compared")
    outputs = outputs_of(choice)
    values: dict[int, str] = {}
    finer: dict[int, str] = {}
    taken = {*choice.columns}
    for lookup in choice.sets.lookups:
        own = identifier(f"lookup{lookup.index}")
        # The level right below the released one; where classes have levels of their own, the one below the top.
        below = (lookup.height if choice.node is None else choice.node[lookup.index]) - 1
        found = [(values, f"kanon_value{lookup.index}", "value")]
        found += (
            [(finer, f"kanon_finer{lookup.index}", f"l{below}")] if below > 0 and below not in lookup.unlabelled else []
        )
        for made, name, part in found:
            free = free_name(name, taken)
            taken.add(free.lower())
            made[lookup.index] = free
            outputs.append({"name": free, "lookup": None, "value": Sql(f"{own}.{part}"), "computed": True})
    sliced = choice.mapped is not None and choice.mapped.slices
    unit = None if spec.unit is None or sliced else free_name(UNIT, taken)
    extras = {} if unit is None else {"unit": unit}
    write_from_source(workspace, choice, target, outputs, extras, temporary=True)
    columns = workspace.columns(target)
    return Labelled(
        table=target,
        columns=columns,
        labels=[name for name in spec.quasi_identifiers if name in columns],
        values={lookup.name: values[lookup.index] for lookup in choice.sets.lookups},
        finer={lookup.name: finer[lookup.index] for lookup in choice.sets.lookups if lookup.index in finer},
        unit=unit,
    )


def free_name(name: str, columns: Iterable[str]) -> str:
    """The name, with as many underscores as make it one that no column has."""
    taken = {column.lower() for column in columns}
    while name in taken:
        name += "_"
    return name
