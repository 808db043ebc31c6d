"""Losses of several columns as one value of a metric: compared by the largest, then by the next, and so on."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Ranked"]

_NOISE = 1e-9
"""How far a bound is lowered, relative to a loss and never less than a fifth of that: sums in another order."""


class Ranked(float):
    """Losses in descending order, compared lexicographically (the rank aggregate of ARX).

    As a number it is the largest loss. Losses that agree at 8 significant digits are equal: engines may sum in another
    order, and ties must stay ties. Both a value and its negative keep their order, so that heaps can hold them.

    Args:
        losses: one per column, in any order.
    """

    __slots__ = ("_key", "losses")

    losses: tuple[float, ...]
    _key: tuple[float, ...]

    def __new__(cls, losses: Iterable[float]) -> Ranked:
        """Sort the losses."""
        return cls._of(tuple(sorted((float(loss) for loss in losses), reverse=True)))

    @classmethod
    def _of(cls, losses: tuple[float, ...]) -> Ranked:
        made = super().__new__(cls, losses[0] if losses else 0.0)
        made.losses = losses
        made._key = tuple(float(f"{loss:.8g}") for loss in losses)
        return made

    def below(self) -> Ranked:
        """A little below in every place, so that rounding cannot break a bound."""
        return Ranked._of(tuple(loss - _NOISE * max(0.2, abs(loss)) for loss in self.losses))

    def __reduce__(self) -> tuple[type[Ranked], tuple[tuple[float, ...]]]:
        """For copies: made of the losses."""
        return Ranked, (self.losses,)

    def __neg__(self) -> Ranked:
        """Every loss negated, place by place: it sorts the other way round."""
        return Ranked._of(tuple(-loss for loss in self.losses))

    def __eq__(self, other: object) -> bool:
        """Equal in every place; to another number, as the number it is."""
        return self._key == other._key if isinstance(other, Ranked) else float(self) == other

    def __ne__(self, other: object) -> bool:
        """The contrary."""
        return not self == other

    def __lt__(self, other: float) -> bool:
        """Less in the first place in which they differ."""
        return self._key < other._key if isinstance(other, Ranked) else float(self) < other

    def __le__(self, other: float) -> bool:
        """Less, or equal."""
        return self._key <= other._key if isinstance(other, Ranked) else float(self) <= other

    def __gt__(self, other: float) -> bool:
        """More in the first place in which they differ."""
        return self._key > other._key if isinstance(other, Ranked) else float(self) > other

    def __ge__(self, other: float) -> bool:
        """More, or equal."""
        return self._key >= other._key if isinstance(other, Ranked) else float(self) >= other

    def __hash__(self) -> int:
        """By what decides equality."""
        return hash(self._key)
