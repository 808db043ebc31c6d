"""Find who a panel follows, where no name says it: the column whose every value has a row for most periods.

Counts alone decide, as everywhere in ``init``. Two columns of which each row has another pair of values are a key of
the table; birth dates and postal codes may be one as well. A panel's key is dense besides: so large a share of
all pairs occurs that rows with values of their own could not have missed each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kanon_sql.disclosure.risk import RiskFrames, combination_measures
from kanon_sql.engines import Workspace
from kanon_sql.sql import source_relation
from kanon_sql.verbs.init.suggest import MOST_ROWS, SMALL_CATEGORY, ColumnProfile, says_nothing

__all__ = ["followed"]

DENSE = 0.25
"""The share of all pairs of two columns' values that occurs, from which a key of the two is that of a panel."""

MOST_PAIRS = 8
"""So many pairs of columns are looked at, the densest first."""


def followed(workspace: Workspace, profiles: Sequence[ColumnProfile]) -> tuple[ColumnProfile, ColumnProfile] | None:
    """The column that names whom a panel follows, and the one that names when.

    Args:
        workspace: its source is the table; it is read once where columns could be such a pair.
        profiles: all columns.

    Returns:
        The densest pair that no two rows share; None without one.
    """
    pairs = sorted(_likely(profiles), key=_density, reverse=True)[:MOST_PAIRS]
    if not pairs:
        return None
    workspace.report("looking for a column that tells persons apart", None)
    columns = list({id(profile): profile for pair in pairs for profile in pair}.values())
    places = {id(profile): place for place, profile in enumerate(columns)}
    frames = RiskFrames(source_relation(), [profile.column for profile in columns], None)
    asked = [(places[id(who)], places[id(when)]) for who, when in pairs]
    measured = combination_measures(workspace, frames, asked)
    return next((pair for pair, key in zip(pairs, asked, strict=True) if measured[key].identifies), None)


def _likely(profiles: Sequence[ColumnProfile]) -> Iterator[tuple[ColumnProfile, ColumnProfile]]:
    full = [profile for profile in profiles if profile.distinct > 1 and profile.filled == profile.rows]
    for who in full:
        several = who.distinct > SMALL_CATEGORY and 2 * who.distinct <= who.rows <= MOST_ROWS * who.distinct
        if several and who.column.kind in ("integer", "text") and says_nothing(who):
            for when in full:
                if when is not who and when.distinct <= who.distinct and DENSE <= _density((who, when)) <= 1:
                    yield who, when


def _density(pair: tuple[ColumnProfile, ColumnProfile]) -> float:
    who, when = pair
    return who.rows / (who.distinct * when.distinct)
