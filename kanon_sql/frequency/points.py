"""Points as SQL: the source that every stage reads has a column of cells in place of the two columns of a point.

No stage sees the coordinates, so none can release them: classes are made of the finest cells, the release is written
from them, and requirements compare with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanon_sql.engines import Column, Engine, Workspace, open_workspace
from kanon_sql.errors import Problem, SpecError
from kanon_sql.hierarchies import cell_of, coordinates, refuse_mixed_forms
from kanon_sql.spec import Point, Spec
from kanon_sql.sql import Relation, identifier, source_relation

__all__ = ["pair_of", "pointed", "refuse_outside"]

_NUMBERS = ("integer", "decimal", "float")


def pointed(engine: Engine, spec: Spec, relation: str) -> str:
    """The FROM form of a source with the cells of the spec's points; the source itself where there are none.

    Args:
        engine: where it is.
        spec: names the points.
        relation: the FROM form of the source.

    Raises:
        SpecError: a coordinate is not there or is no number, or the source has a column of the point's name.
    """
    if not spec.points:
        return relation
    columns = {column.name: column for column in engine.columns(relation)}
    taken = {name.casefold() for name in columns}
    problems = [
        Problem(
            f"quasi_identifiers.{name}: the source has a column of this name; choose another name for the "
            "column of cells"
        )
        for name in spec.points
        if name.casefold() in taken
    ]
    pairs = {
        name: pair_of(point, columns, f"quasi_identifiers.{name}.point", problems)
        for name, point in spec.points.items()
    }
    if problems:
        raise SpecError(problems)
    with open_workspace(engine, relation, inline=True) as workspace:
        read = {column.name: column for pair in pairs.values() for column in pair}
        refuse_mixed_forms(workspace, source_relation(), read, labelled=list(read))
        statement = workspace.compiler.statement(
            "frequency/pointed", source=source_relation(), columns=_columns(spec.points, columns, pairs)
        )
    return f"(\n{statement.sql}\n)"


def pair_of(point: Point, columns: Mapping[str, Column], where: str, problems: list[Problem]) -> tuple[Column, Column]:
    """The two columns of a point; what is wrong with them is added to the problems."""
    for name in point.columns:
        if name not in columns:
            problems.append(
                Problem(f"{where}: there is no column {name!r}; expected one of {', '.join(map(repr, columns))}")
            )
        elif columns[name].kind not in _NUMBERS:
            problems.append(
                Problem(
                    f"{where}: {name!r} is {columns[name].type}, and a coordinate is a number; cast it in a query or "
                    "view"
                )
            )
    first, second = (columns.get(name, Column(name, "", "other")) for name in point.columns)
    return first, second


def _columns(
    points: Mapping[str, Point], columns: Mapping[str, Column], pairs: Mapping[str, tuple[Column, Column]]
) -> list[dict[str, Any]]:
    """What stages read: the cells stand where the first coordinate of their point stood."""
    owner = {column: name for name, point in points.items() for column in point.columns}
    found: list[dict[str, Any]] = []
    for column in columns:
        name = owner.get(column)
        if name is None:
            found.append({"name": column, "cell": None})
        elif column == points[name].columns[0]:
            x, y = coordinates(points[name], pairs[name], "kanon_source")
            x_name, y_name = (identifier(f"{axis}{len(found)}") for axis in "xy")
            found.append({"name": name, "cell": cell_of(points[name], x_name, y_name), "x": x, "y": y})
    return found


def refuse_outside(workspace: Workspace, spec: Spec, raw: Relation, population: str | None = None) -> None:
    """Refuse a table with rows that have no point inside the bounds, where the spec does not leave them out.

    No row of a release stands for anyone who is outside, and every reader may know that: a population must not hold
    them, since the top of a column would be taken to stand for them too.

    Args:
        workspace: where.
        spec: the points, and what is to be done.
        raw: a frequency table; quasi-identifier i is its column ``q<i>``.
        population: what to call the population that it is of; None for the source.

    Raises:
        SpecError: there are such rows.
    """
    places = {name: f"q{index}" for index, name in enumerate(spec.quasi_identifiers)}
    names = [name for name, point in spec.points.items() if point.outside == "refuse" or population is not None]
    if not names:
        return
    counts = workspace.row("frequency/outside", raw=raw, columns=[places[name] for name in names])
    what = (
        (
            "or suppress the rows (outside: suppress, with nulls: suppress), which counts against the limit of "
            "suppression"
        )
        if population is None
        else "or give a view without them, since no row of a release stands for them"
    )
    shown = "" if population is None else f"{population}: "
    problems = [
        Problem(
            f"{shown}quasi_identifiers.{name}: {int(count):,} rows have no point inside the bounds; widen the bounds, "
            f"{what}"
        )
        for name, count in zip(names, counts, strict=True)
        if count
    ]
    if problems:
        raise SpecError(problems)
