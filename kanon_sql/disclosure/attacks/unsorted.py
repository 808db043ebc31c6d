"""Unsorted matching: rows that are released in the order of the source give themselves away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import atanh, inf, sqrt
from typing import ClassVar

from kanon_sql.disclosure.attacks.base import Attack, Given, Scene, Target
from kanon_sql.disclosure.attacks.method import AttackMethod, Need, roles_in_source
from kanon_sql.disclosure.attacks.vectors import (
    cell_text,
    covers_of,
    kinds_of,
    labels_of,
    lookups_of,
    released_label,
    vectors_of,
)
from kanon_sql.engines import Engine
from kanon_sql.errors import DatabaseError, QueryTimeout
from kanon_sql.hierarchies import exact_value
from kanon_sql.sql import Sql

__all__ = ["UnsortedMatching", "correlated"]

LEAST_GROUPS = 8
"""Fewer independent positions show nothing: any order of them is likely enough by chance."""

DEVIATIONS = 5.0
"""A correlation so many standard errors from 0 is no accident: about one in two million random orders has it."""


def _cannot_read_order(given: Given) -> str | None:
    """Why the physical order of rows cannot be compared here; None when it can."""
    engine, spec, release, source = given.engine, given.spec, given.release, given.source
    if engine.capabilities.row_id is None:
        return f"{engine.dialect.name} has no physical row identifier: the order of a table's rows cannot be seen"
    if spec.source.table is None:
        return "the source is a query or a file, whose rows have no physical identifier"
    for name, parts in (("source", spec.source.table), ("release", release.parts)):
        if engine.exists(parts) != "table":
            return f"the {name} is not a table, so that its rows have no physical identifier"
        if not _has_row_id(engine, parts):
            return f"the rows of the {name} have no physical identifier"
    if engine.capabilities.row_id in {name.lower() for name in (*release.columns, *source.columns)}:
        return f"a column is called {engine.capabilities.row_id}, which hides the physical identifier of the rows"
    if not any(name in release.columns for name in (*spec.sensitive, *spec.keep)):
        return "the release has no column besides the quasi-identifiers, so that the order of rows tells nothing"
    return None


def _has_row_id(engine: Engine, parts: tuple[str, ...]) -> bool:
    """Whether a table has the engine's identifier: SQLite's tables WITHOUT ROWID have none."""
    table = engine.relation(table=parts, query=None, file=None)
    try:
        return bool(engine.columns(f"(SELECT {engine.capabilities.row_id} FROM {table})"))
    except QueryTimeout:
        raise
    except DatabaseError:
        return False


_A_READABLE_ORDER = Need(_cannot_read_order)


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


class UnsortedMatching(AttackMethod):
    """Compare the physical order of the release's rows with the source's (Sweeney 2002, section 4.1).

    SQL tables have no order, files have: an attacker who knows in which order the source lists its
    people finds them in the release by counting. That the classes come in some order tells
    nothing; the order of the rows within a class does. So each row of a class has a place in (0, 1),
    in the release and in the source; rows of a class that agree in all released columns are one
    group with the mean of their places; and the figure is Spearman's rank correlation of the groups'
    places, weighted by their rows. In a random order it is 0 on average, with a standard error of one
    over the root of groups minus classes; beyond five of them all rows examined are called exposed.
    """

    name: ClassVar[str] = "unsorted"
    needs: ClassVar[tuple[Need, ...]] = (_A_READABLE_ORDER,)

    def columns(self, given: Given) -> Iterable[tuple[Target, Sequence[str]]]:
        """The source has what rows are found by."""
        return roles_in_source(given)

    def run(self, scene: Scene) -> list[Attack]:
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
        examined, groups, classes, product, ours, theirs = scene.workspace.row(
            "disclosure/attacks/order",
            release=scene.release.relation,
            source=source.relation,
            row_id=Sql(scene.given.engine.capabilities.row_id or ""),
            covers=covers_of(scene, lookups, labels, "ordered", kinds),
            cells=[released_label(columns[name], "checked", kinds[ours]) for ours, name in named.items()],
            values=[exact_value(source.columns[name], "kanon_source") for name in names],
            released=[cell_text(columns[name], "checked", [source.columns[name]]) for name in kept],
            original=[cell_text(source.columns[name], "kanon_source", [columns[name]]) for name in kept],
        )
        spread = sqrt(float(ours or 0) * float(theirs or 0))
        correlation = None if spread == 0 else min(1.0, max(-1.0, float(product) / spread))
        independent = int(groups or 0) - int(classes or 0)
        rows = int(examined or 0)
        notes = []
        if independent < LEAST_GROUPS:
            notes.append("too few rows that differ within a class to tell an order from a random one")
        exposed = rows if correlation is not None and correlated(correlation, independent) else 0
        return [
            Attack(
                name=self.name,
                about=None,
                examined=rows,
                exposed=exposed,
                beyond=exposed,
                risk=None if correlation is None else abs(correlation),
                measure="rank correlation of the rows' order within classes with the source's",
                notes=notes,
            )
        ]
