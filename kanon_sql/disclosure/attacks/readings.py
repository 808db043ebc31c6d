"""Readings: labels that may be of several levels are taken as each, and what exposes most counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import product

from kanon_sql.disclosure.attacks.base import Attack, Cases, Reading, Scene, Unmeasured, measured
from kanon_sql.disclosure.attacks.method import AttackMethod

__all__ = ["worst_of", "worst_reading"]

MOST_READINGS = 32
"""So often an attack runs at most, where labels may be of several levels."""


def worst_reading(
    method: AttackMethod, scene: Callable[[Reading], AbstractContextManager[Scene]]
) -> list[Attack | Unmeasured]:
    """What an attack achieves at worst, of all readings of the labels.

    Args:
        method: how to attack.
        scene: opens what it is run with, for a reading.
    """

    def achieved(reading: Reading) -> list[Attack | Unmeasured]:
        with scene(reading) as opened:
            return [measured(opened, item) if isinstance(item, Cases) else item for item in method.run(opened)]

    first = Reading()
    found = [achieved(first)]
    readings = [
        Reading(dict(zip(first.levels, levels, strict=True)))
        for levels in product(*(reversed(levels) for levels in first.levels.values()))
    ]
    found += [achieved(reading) for reading in readings[1:MOST_READINGS]]
    if len(readings) == 1:
        return worst_of(found)
    columns = ", ".join(dict.fromkeys(column for _, column in first.levels))
    tried = f"{len(found)} of {len(readings):,} readings were tried" if len(found) < len(readings) else "each was tried"
    note = f"labels of {columns} may be of several levels: {tried}, and the one that exposes the most is reported"
    return [replace(item, notes=[*item.notes, note]) if isinstance(item, Attack) else item for item in worst_of(found)]


def worst_of(found: Sequence[Sequence[Attack | Unmeasured]]) -> list[Attack | Unmeasured]:
    """What an attack achieves at worst, per part of it, of the readings of a release.

    Args:
        found: per reading, what it achieves. A reading that leaves a part unmeasured, not being too large, does not
            fit the tables: it counts only where none does. A part that was too large in one of those that count is
            among the results, also where others measured it.
    """
    fitting = [
        items for items in found if not any(isinstance(item, Unmeasured) and not item.too_large for item in items)
    ]
    worst: dict[tuple[str, str | None, bool], Attack | Unmeasured] = {}
    for items in fitting or found:
        for item in items:
            part = (item.name, item.about if isinstance(item, Attack) else None, isinstance(item, Attack))
            if part not in worst or _badness(item) > _badness(worst[part]):
                worst[part] = item
    return list(worst.values())


def _badness(item: Attack | Unmeasured) -> tuple[float, ...]:
    return (item.beyond, item.exposed, item.risk or 0.0) if isinstance(item, Attack) else ()
