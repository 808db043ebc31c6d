"""Unsorted matching: releases in one order are one table, and rows in the source's order give themselves away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import atanh, inf, sqrt
from typing import ClassVar, Literal

from kanon_sql.disclosure.attacks.base import Attack, AuditInput, Scene, Target, Unmeasured
from kanon_sql.disclosure.attacks.by_position import joined_by_position
from kanon_sql.disclosure.attacks.common_order import DEVIATIONS
from kanon_sql.disclosure.attacks.method import AttackMethod, Need, Option, Threat, roles_in_source
from kanon_sql.disclosure.attacks.registry import attack
from kanon_sql.disclosure.attacks.vectors import (
    cell_text,
    covers_of,
    kinds_of,
    labels_of,
    lookups_of,
    released_label,
    vectors_of,
)
from kanon_sql.engines import Engine, open_workspace
from kanon_sql.errors import DatabaseError, QueryTimeout
from kanon_sql.frequency import refuse_lost
from kanon_sql.hierarchies import exact_value
from kanon_sql.sql import Relation, Sql

__all__ = ["UnsortedMatching", "correlated"]

LEAST_GROUPS = 8
"""Fewer independent positions show nothing: any order of them is likely enough by chance."""


def _unordered(given: AuditInput, target: Target) -> str | None:
    """Why the physical order of a table's rows cannot be seen; None when it can."""
    engine = given.engine
    row_id = engine.capabilities.row_id
    if row_id is None:
        return f"{engine.dialect.name} has no physical row identifier, so the order of a table's rows cannot be read"
    if engine.exists(target.parts) != "table":
        return f"{target.shown} is not a table, so that its rows have no physical identifier"
    if not _has_row_id(engine, target.parts):
        return f"the rows of {target.shown} have no physical identifier"
    if row_id in {name.lower() for name in target.columns}:
        return f"{target.shown} has a column called {row_id}, which hides the physical identifier of its rows"
    return None


def _not_comparable(given: AuditInput) -> str | None:
    """Why the release's order cannot be compared with the source's; None when it can."""
    spec = given.spec
    if given.engine.capabilities.row_id is not None and spec.source.table is None:
        return "the source is a query or a file, whose rows have no physical identifier"
    if given.engine.capabilities.row_id is not None and (spec.steps is not None or spec.points):
        return "the source is read by a query, for its steps or points, whose rows have no physical identifier"
    if why := _unordered(given, given.source):
        return why
    if not any(name in given.release.columns for name in (*spec.sensitive, *spec.keep)):
        return (
            "the release has no column other than the quasi-identifiers: its order reveals nothing until "
            "another release in the same order is joined with it (--earlier)"
        )
    return None


def _without_order(given: AuditInput) -> str | None:
    """Why nothing can be made of the order of the release's rows; None when something can."""
    return _unordered(given, given.release) or (None if given.earlier else _not_comparable(given))


def _has_row_id(engine: Engine, parts: tuple[str, ...]) -> bool:
    """Whether a table has the engine's identifier: SQLite's tables WITHOUT ROWID have none."""
    row_id = Sql(engine.capabilities.row_id or "")
    try:
        with open_workspace(engine, "", inline=True) as workspace:
            found = workspace.text("disclosure/attacks/row_ids", table=Relation(parts), row_id=row_id)
        return bool(engine.columns(f"({found})"))
    except QueryTimeout:
        raise
    except DatabaseError:
        return False


_A_READABLE_ORDER = Need(_without_order)


def correlated(correlation: float, groups: int) -> bool:
    """Whether a rank correlation is too strong for a random order, by Fisher's transformation.

    Args:
        correlation: from -1 to 1.
        groups: independent positions that it was measured on.
    """
    if groups < LEAST_GROUPS:
        return False
    strength = inf if abs(correlation) >= 1 else atanh(abs(correlation))
    return strength * sqrt(groups - 3) > DEVIATIONS


@attack
class UnsortedMatching(AttackMethod):
    """Join releases by the positions of their rows, and compare their order with the source's (Sweeney 2002, 4.1).

    SQL tables have no order, files have. With earlier releases, the paper's attack: two releases of the same rows in
    the same order are one table, whose classes are smaller than those of either; see :func:`joined_by_position`.

    An attacker who knows in which order the source lists its people finds them in a release by counting. That the
    classes come in some order tells nothing then; the order of the rows within a class does. So each row of a class has
    a place in (0, 1), in the release and in the source; rows of a class that agree in all released columns are one
    group with the mean of their places; and the figure is Spearman's rank correlation of the groups'
    places, weighted by their rows. In a random order it is 0 on average, with a standard error of one
    over the root of groups minus classes; beyond five of them all rows examined are called exposed.
    """

    name: ClassVar[str] = "unsorted"
    place: ClassVar[int] = 9
    attacker: ClassVar[str] = "joins releases by the positions of their rows; or has the source's order of rows"
    exposes: ClassVar[str] = (
        "rows of joint classes of fewer than k, if the releases have one order; all persons, if the release's "
        "order follows the source's"
    )
    asks_for: ClassVar[str] = (
        "tables with row numbers (DuckDB, PostgreSQL, SQLite); `--earlier`, or a column other than the "
        "quasi-identifiers"
    )
    source: ClassVar[str] = "Sweeney 2002"
    threat: ClassVar[Threat] = "linkability"
    reads_labels: ClassVar[bool] = True
    needs: ClassVar[tuple[Need, ...]] = (_A_READABLE_ORDER,)
    uses: ClassVar[tuple[Option, ...]] = (Option.EARLIER,)
    about_tables: ClassVar[bool] = True
    default_noted: ClassVar[Literal["k", "l"] | None] = "k"

    def columns(self, given: AuditInput) -> Iterable[tuple[Target, Sequence[str]]]:
        """The source has what rows are found by."""
        return roles_in_source(given)

    def run(self, scene: Scene) -> list[Attack | Unmeasured]:
        """Compare with the source where that is possible, and with every earlier release."""
        given, name = scene.given, self.name
        obstacles = {table.shown: _unordered(given, table) for table in given.earlier}
        found: list[Attack | Unmeasured] = [
            Unmeasured(f"{name} with {shown}", why) for shown, why in obstacles.items() if why is not None
        ]
        joined = [table for table in given.earlier if obstacles[table.shown] is None]
        found += joined_by_position(scene, joined) if joined else []
        if why := _not_comparable(given):
            note = f"the order was not compared with the source's: {why}"
            return [replace(item, notes=[*item.notes, note]) if isinstance(item, Attack) else item for item in found]
        return [self._with_source(scene), *found]

    def _with_source(self, scene: Scene) -> Attack:
        """Correlate the places of the rows."""
        source, names = scene.source, list(scene.spec.quasi_identifiers)
        columns = scene.release.columns
        kept = [
            name for name in (*scene.spec.sensitive, *scene.spec.keep) if name in columns and name in source.columns
        ]
        values = vectors_of(scene, source, "ordered_values", names, [])
        lookups = lookups_of(scene, values, source.columns, scene.spec.quasi_identifiers)
        named = {f"q{index}": name for index, name in enumerate(names)}
        kinds = kinds_of(named, [source, scene.release])
        labels = labels_of(scene, scene.release, "ordered_labels", named, [], kinds=kinds)
        scene.look_at(scene.release, kept)
        scene.look_at(source, kept)
        examined, groups, classes, product, ours, theirs, *found = scene.workspace.row(
            "disclosure/attacks/order",
            release=scene.release.relation,
            source=source.relation,
            row_id=Sql(scene.given.engine.capabilities.row_id or ""),
            covers=covers_of(scene, lookups, labels, "ordered", kinds),
            cells=[released_label(columns[name], "checked", kinds[ours]) for ours, name in named.items()],
            values=[exact_value(source.columns[name], "kanon_source") for name in names],
            released=[cell_text(columns[name], "checked", [source.columns[name]]) for name in kept],
            original=[cell_text(source.columns[name], "kanon_source", [columns[name]]) for name in kept],
            sides=list(scene.sides.values()),
        )
        refuse_lost("disclosure/attacks/order", found)
        spread = sqrt(float(ours or 0) * float(theirs or 0))
        correlation = None if spread == 0 else min(1.0, max(-1.0, float(product) / spread))
        independent = int(groups or 0) - int(classes or 0)
        rows = int(examined or 0)
        notes = []
        if independent < LEAST_GROUPS:
            notes.append("too few rows that differ within a class to tell an order from a random one")
        exposed = rows if correlation is not None and correlated(correlation, independent) else 0
        return Attack(
            name=self.name,
            about=None,
            examined=rows,
            exposed=exposed,
            beyond=exposed,
            risk=None if correlation is None else abs(correlation),
            measure="rank correlation of the rows' order within classes with the source's",
            notes=notes,
        )
