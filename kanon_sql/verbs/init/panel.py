"""Find the persons of a panel, where no name says it: the column whose every value has a row for most periods.

Counts alone decide, as everywhere in ``init``; names only say what is looked at first. Two columns of which each row
has another pair of values are a key of the table; birth dates and postal codes may be one as well, where few rows share
either. A key says something where rows that share a value of one of the columns would have met in the other by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kanon_sql.disclosure.risk import RiskFrames, combination_measures
from kanon_sql.engines import Workspace
from kanon_sql.sql import source_relation
from kanon_sql.verbs.init.columns import MOST_ROWS, SMALL_CATEGORY, ColumnProfile
from kanon_sql.verbs.init.names import FEWEST, names_a_key, names_a_time
from kanon_sql.verbs.init.suggest import suggests_no_role

__all__ = ["followed", "has_enough_values"]

MEETINGS = 20
"""This many pairs of rows, expected to be alike in both columns if these had nothing to do with each other, and none
is: by chance that happens once in 10^8 tables."""

MOST_PAIRS = 16
"""This many pairs of columns are looked at: those whose second one says when by its name or type, then the densest."""

MOST_MOMENTS = 1_000
"""Rows per person, on average, up to which a person may be followed by dates, as in a diary."""


def followed(workspace: Workspace, profiles: Sequence[ColumnProfile]) -> tuple[ColumnProfile, ColumnProfile] | None:
    """The column that names the persons of a panel, and the one that names when.

    Args:
        workspace: its source is the table; it is read once where columns could be such a pair.
        profiles: all columns.

    Returns:
        The first pair that no two rows share, of those that :data:`MOST_PAIRS` describes; None without one.
    """
    pairs = sorted(_likely(profiles), key=lambda pair: (names_a_time(pair[1]), _density(pair)), reverse=True)
    pairs = pairs[:MOST_PAIRS]
    if not pairs:
        return None
    workspace.report("looking for a column that identifies persons", None)
    columns = list({id(profile): profile for pair in pairs for profile in pair}.values())
    places = {id(profile): place for place, profile in enumerate(columns)}
    frames = RiskFrames(source_relation(), [profile.column for profile in columns], None)
    asked = [(places[id(who)], places[id(when)]) for who, when in pairs]
    measured = combination_measures(workspace, frames, asked)
    return next((pair for pair, key in zip(pairs, asked, strict=True) if measured[key].identifies), None)


def has_enough_values(profile: ColumnProfile) -> bool:
    """Whether a column has more values than a category has, or the name of a key and some."""
    return profile.distinct > SMALL_CATEGORY or (profile.distinct >= FEWEST and names_a_key(profile))


def _likely(profiles: Sequence[ColumnProfile]) -> Iterator[tuple[ColumnProfile, ColumnProfile]]:
    full = [profile for profile in profiles if profile.distinct > 1 and profile.filled == profile.rows]
    for who in full:
        free = suggests_no_role(who) or names_a_key(who)
        if who.column.kind not in ("integer", "text") or not has_enough_values(who) or not free:
            continue
        for when in full:
            moments = names_a_time(when)
            if when is who or who.rows > (MOST_MOMENTS if moments else MOST_ROWS) * who.distinct:
                continue
            in_order = when.distinct <= who.distinct or (moments and not names_a_time(who))
            if in_order and _density((who, when)) <= 1 and _meetings(who, when) >= MEETINGS:
                yield who, when


def _density(pair: tuple[ColumnProfile, ColumnProfile]) -> float:
    who, when = pair
    return who.rows / (who.distinct * when.distinct)


def _meetings(who: ColumnProfile, when: ColumnProfile) -> float:
    """Pairs of rows that would be alike in both columns by chance, at least.

    Of n rows with d values at least n (n / d - 1) / 2 pairs are alike, as with equally frequent ones. Of those that are
    alike in one column a share of (n / d - 1) / (n - 1) or more would be in the other as well.
    """
    rows = who.rows
    return rows * (rows / who.distinct - 1) * (rows / when.distinct - 1) / (2 * (rows - 1)) if rows > 1 else 0.0
