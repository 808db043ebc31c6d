"""What an attacker with a background distribution believes of each person behind a table's classes, before and after.

The theorem is in :mod:`kanon_sql.models.privacy.bayes_optimal`. A class of the table is q*; the vectors of
quasi-identifiers that it stands for, found as for a population, are the q behind it. The background gives f(q, s), the
table n(q*, s), the source says who is there. Everything is counted in the database; a row of sums comes back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kanon_sql.engines import Column, Workspace, refuse_incomplete
from kanon_sql.errors import Problem, SpecError, UnsupportedError
from kanon_sql.frequency import classes_of
from kanon_sql.hierarchies import build_lookups, exact_texts, exact_value, refuse_blank_ends, refuse_mixed_forms
from kanon_sql.models import TOLERANCE, Background
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation, Sql, render, source_relation

__all__ = ["FEWEST", "Beliefs", "beliefs_of"]

FEWEST = 5
"""This many persons a cell of beliefs has at least that is shown, where no requirement says how many a class has."""

_CELLS = 100
"""Tenths of a belief before the release, times those after it."""
_NUMBERS = ("integer", "decimal", "float")


@dataclass(frozen=True)
class Beliefs:
    """What a table tells about the persons behind its classes.

    Attributes:
        frame: FROM form, a row per class: its columns ``q0``, ..., ``belief_change`` and ``exposed``.
        exposed_persons: rows of the source that it exposes; of a class with impossible values, all behind it.
        cells: what was compared: the tenth in which the belief in what a person has lay before the release and lies
            after it (``prior_from``, ``posterior_from``), and how many rows of the source that is (``persons``).
        not_shown: rows of the source in cells of too few.
        notes: what to know about the figures.
    """

    frame: Sql
    exposed_persons: int
    cells: tuple[dict[str, float | int], ...]
    not_shown: int
    notes: tuple[str, ...]

    @property
    def values(self) -> dict[str, Any]:
        """As they stand in results, beside what the requirement reaches."""
        return {
            "exposed_persons": self.exposed_persons,
            "beliefs": [dict(cell) for cell in self.cells],
            "beliefs_not_shown": self.not_shown,
        }


def beliefs_of(
    workspace: Workspace,
    spec: Spec,
    background: Background,
    table: Relation,
    columns: Mapping[str, Column],
    originals: Mapping[str, Column],
    *,
    fewest: int,
    raw: bool = False,
) -> Beliefs:
    """Judge each class of a table by what it tells an attacker.

    Args:
        workspace: where to look; inline, if nothing is to be created. Its scratch names must be free.
        spec: the quasi-identifiers and their hierarchies.
        background: what the attacker knows, and what may not come of it.
        table: the table, raw or generalized.
        columns: its columns by name.
        originals: the source's columns by name.
        fewest: how many persons a cell of beliefs has at least that is shown.
        raw: the table is the source; see :func:`kanon_sql.frequency.classes_of`.

    Raises:
        SpecError: the background lacks a column, has one of another kind, or its weights are none.
        HierarchyError: a value of the source or of the background has no row in its hierarchy.
        UnsupportedError: several classes stand for one vector, or a label means different values at different levels.
    """
    named = [*spec.quasi_identifiers, background.attribute]
    keys = [f"q{position}" for position, _ in enumerate(spec.quasi_identifiers)]
    names = [*keys, "s"]
    _need(originals, named, "the source", originals)
    if columns[background.attribute].kind != originals[background.attribute].kind:
        raise SpecError(
            f"{background.attribute!r} is {columns[background.attribute].type} in the table and "
            f"{originals[background.attribute].type} in the source: nothing would match; cast one of them in a view"
        )
    source = _counted(workspace, source_relation(), originals, named, names, "the source", "counted_source")
    known = None
    if background.table is not None:
        known = _known(workspace, background, originals, named, names)
    named_tables = ("joint", "vectors", "behind", "believed", "judged", "matches")
    joint, vectors, behind, believed, judged, matches = map(workspace.table, named_tables)
    workspace.execute("disclosure/beliefs/joint", target=joint, names=names, source=source, background=known)
    workspace.execute("disclosure/beliefs/vectors", target=vectors, keys=keys, joint=joint)
    lookups = build_lookups(workspace, spec, {name: originals[name] for name in spec.quasi_identifiers}, vectors)
    classes, meanings = classes_of(workspace, spec, table, columns, lookups, raw=raw)
    workspace.execute(
        "frequency/population/matches", target=matches, population=vectors, classes=classes, meanings=meanings
    )
    workspace.execute(
        "disclosure/beliefs/behind", target=behind, keys=keys, matches=matches, vectors=vectors, classes=classes
    )
    (shared,) = workspace.row("disclosure/beliefs/shared", keys=keys, behind=behind)
    if shared:
        raise UnsupportedError(
            f"{background.label}: several classes stand for one person (masked rows, or labels of different "
            "levels side by side), and the theorem assumes that the person's class is known; drop suppressed "
            "rows, do not mask them"
        )
    counts = _counted(workspace, table, columns, named, names, "the table", "counted_table")
    made_of = {"joint": joint, "behind": behind}
    workspace.execute("disclosure/beliefs/believed", target=believed, keys=keys, counts=counts, **made_of)
    workspace.execute("disclosure/beliefs/judged", target=judged, keys=keys, believed=believed, **background.thresholds)
    return _summed(workspace, background, keys, judged, _compared(workspace, keys, believed, fewest), made_of)


def _compared(
    workspace: Workspace, keys: list[str], believed: Relation, fewest: int
) -> tuple[list[dict[str, float | int]], int]:
    """Beliefs before and after by their tenths, and how many persons are in cells of too few.

    These are at least as many as a cell has, or no person: one cell more stays hidden, if it must.
    """
    rows = workspace.fetch(
        "disclosure/beliefs/compared", _CELLS + 1, keys=keys, believed=believed, fewest=fewest, tolerance=TOLERANCE
    )
    cells = sorted((int(before), int(after), int(persons)) for before, after, persons in rows if before is not None)
    hidden = sum(int(persons) for before, _, persons in rows if before is None)
    if cells and 0 < hidden < fewest:
        smallest = min(cells, key=lambda cell: cell[2])
        cells.remove(smallest)
        hidden += smallest[2]
    found = [
        {"prior_from": before / 10, "posterior_from": after / 10, "persons": persons}
        for before, after, persons in cells
    ]
    return found, hidden


def _summed(
    workspace: Workspace,
    background: Background,
    keys: list[str],
    judged: Relation,
    compared: tuple[list[dict[str, float | int]], int],
    made_of: Mapping[str, Relation],
) -> Beliefs:
    shown, name = background.shown, "disclosure/beliefs/summary"
    *row, persons = workspace.row(name, judged=judged, keys=keys, **made_of)
    refuse_incomplete(name, row[0], persons, "persons")
    people, exposed, impossible, unmatched, unknown = (int(value or 0) for value in row[:-1])
    notes = [
        (
            f"{shown} is taken to be what the attacker knows of {background.attribute}; an attacker with other "
            "knowledge is not covered"
        )
    ]
    if impossible:
        notes.append(f"{impossible:,} classes hold a value that {shown} calls impossible there: they violate")
    if unmatched:
        notes.append(
            f"{unmatched:,} classes stand for no person in the source, so no person's belief is known: they violate"
        )
    if unknown:
        notes.append(f"{unknown:,} rows of the source are of persons that no row of {shown} stands for: they violate")
    if people and not impossible and not unmatched and not unknown and float(row[-1] or 0) <= TOLERANCE:
        notes.append(
            f"no belief changes at all: who knows {shown} knows already what the table shows, so passing says "
            f"nothing about an attacker who knows less"
        )
    cells, hidden = compared
    frame = render("disclosure/beliefs/frame", keys=keys, judged=judged)
    return Beliefs(frame, exposed, tuple(cells), hidden, tuple(notes))


def _known(
    workspace: Workspace,
    background: Background,
    originals: Mapping[str, Column],
    named: list[str],
    names: list[str],
) -> Relation:
    """The background's vectors and values with their weights."""
    assert background.table is not None
    weighed = background.weight
    shown, table = background.shown, Relation(background.table)
    own = workspace.columns(table)
    _need(own, named, shown, originals)
    if weighed is None:
        weight, used = None, {name: own[name] for name in named}
    else:
        if weighed not in own:
            raise SpecError(f"{shown}: there is no column {weighed!r} of weights; name one of the background's columns")
        if own[weighed].kind not in _NUMBERS:
            raise SpecError(f"{shown}: the weight {weighed!r} is {own[weighed].type}; expected a number")
        weight = exact_value(own[weighed], "checked")
        used = {name: own[name] for name in [*named, weighed]}
    _refuse_inexact(workspace, table, used, named, shown)
    if weight is not None:
        unusable, positive = (
            int(value or 0) for value in workspace.row("disclosure/beliefs/weights", table=table, weight=weight)
        )
        if unusable:
            raise SpecError(
                f"{shown}: {unusable:,} weights ({weighed}) are missing, negative or not finite; leave these rows out"
            )
        if not positive:
            raise SpecError(
                f"{shown}: no weight ({weighed}) is above 0, so this is not a distribution; expected positive numbers"
            )
    target = workspace.table("background")
    values = [exact_value(own[name], "checked") for name in named]
    workspace.execute(
        "disclosure/beliefs/background", target=target, table=table, names=names, values=values, weight=weight
    )
    return target


def _counted(
    workspace: Workspace,
    table: Relation,
    columns: Mapping[str, Column],
    named: list[str],
    names: list[str],
    shown: str,
    what: str,
) -> Relation:
    """A table's vectors of some columns with their rows."""
    _refuse_inexact(workspace, table, {name: columns[name] for name in named}, named, shown)
    target = workspace.table(what)
    values = [exact_value(columns[name], "kanon_source") for name in named]
    workspace.execute("frequency/raw", target=target, source=table, names=names, values=values)
    return target


def _refuse_inexact(
    workspace: Workspace, table: Relation, columns: Mapping[str, Column], named: list[str], shown: str
) -> None:
    refuse_mixed_forms(workspace, table, columns, labelled=named)
    refuse_blank_ends(workspace, table, exact_texts([columns[name] for name in named], "checked"), shown)


def _need(own: Mapping[str, Column], named: list[str], shown: str, originals: Mapping[str, Column]) -> None:
    """Refuse a table that lacks a column, or has one of another kind than the source."""
    problems = []
    for name in named:
        if name not in own:
            problems.append(
                Problem(f"{shown}: there is no column {name!r}, which bayes_optimal needs; add it in the source's form")
            )
        elif own[name].kind != originals[name].kind:
            problems.append(
                Problem(
                    f"{shown}: column {name!r} is {own[name].type}, and in the source {originals[name].type}: so "
                    "nothing would match; cast one of them in a view"
                )
            )
    if problems:
        raise SpecError(problems)
