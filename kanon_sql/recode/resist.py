"""Local recoding that resists refinement: coins decide with the counts, so that no value under a label is impossible.

What a reader may conclude from the choices of :mod:`kanon_sql.recode.specialize` rests on what would have been done
otherwise. Here all might have been done otherwise, by the coins of a key that is drawn for a run and kept nowhere:

- *loose rows*: a share of the rows is loose, each for itself. Where a class is cut, the coins may hold a loose row
  back: it stays with what is left over, although its child has k rows. So what is left over may have any value. A row
  is held back only where what is left over has k rows with it, and k rows stay in its child.
- *stops*: a class of n rows may be left whole, whatever its children are, with a chance that falls with n squared.
- *choices*: the column to cut is any of those with an allowable cut, with a small chance; else the best. The key breaks
  ties.

**What is proven.** Let a release be given, one of its rows, a column and a value under the row's label there. Then some
source and some key give this release with that value in this row's cell. Take the true source and the true classes,
and give this row the value; if all rows of its class then have a label below the released one in common, give another
row of the class a value that keeps it. The lowest labels of all classes are as before, hence those of all unions of
classes. Take the coins by which, at every cut, exactly the rows of the true pool are loose and held, and no others; the
pieces are those of the true source, and the cut is allowed and may be chosen. Where the true source was not cut, let
the class stop. No new vector is released by itself, since its rows are loose, up to :data:`MOST_LOOSE` of them. So a
reader who knows everything but the key and the source rules no value out, whatever k is up to there.

What is not proven is how likely each value is: few rows are loose, and a value of which nearly all rows have a class of
their own stays unlikely in what is left over. And labels are still the lowest that the rows of a class have in common.
"""

from __future__ import annotations

from kanon_sql.frequency import DRAWN_FROM
from kanon_sql.recode.coins import LOOSE, coin
from kanon_sql.recode.partitions import Partitions
from kanon_sql.spec import derived_key, new_secret

__all__ = ["MOST_LOOSE", "sliced"]

MOST_LOOSE = 64
"""At most this many rows of a vector are loose, and at most k."""


def sliced(state: Partitions) -> None:
    """Divide the vectors into slices, by a key that is drawn now and that nothing keeps.

    Args:
        state: partitions that were begun, of which sizes decide everything.
    """
    state.key = state.workspace.dialect.literal(derived_key(new_secret(), "refinement"))
    most = min(MOST_LOOSE, state.judge.least_size)
    numbers = state.workspace.dialect.numbers("numbers", ["number"], [[number + 1] for number in range(most)])
    table = state.make(
        "sliced", "sliced", {"vectors": state.vectors}, {"numbers": numbers, "key": state.key},
        words=state.codes, coin=coin("loose", "vectors.vector", "numbers.number"), loose=int(LOOSE * DRAWN_FROM),
    )  # fmt: skip
    state.replace_vectors(table)
