"""Drawing: a canvas of SVG marks, scales, and a picture with its title, description and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from math import ceil, floor, log10

from kanon_sql.report.pictures.colours import LIGHT, MARKS

__all__ = ["WIDTH", "Canvas", "Picture", "Scale", "clipped", "small_width", "ticks"]

WIDTH = 400
"""Units across: narrow, so that a picture on a telephone still has legible text."""

_CHARACTER = 7.2
"""Units that a character of ordinary text takes, about."""


@dataclass(frozen=True)
class Picture:
    """A drawing and what it says in words and numbers.

    Attributes:
        name: for file names and links, such as ``class-sizes``.
        title: what it shows, in a few words.
        description: what can be seen in it, in a sentence or two.
        size: its width and height.
        marks: the SVG inside.
        heads, rows: the same as a table; a head ends in ``#`` above numbers.
    """

    name: str
    title: str
    description: str
    size: tuple[int, int]
    marks: str = field(repr=False)
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()

    def inline(self, prefix: str) -> str:
        """For a page, which brings the colours; ``prefix`` makes its ids unique there."""
        return self._svg(f"{prefix}-{self.name}", "", "")

    def standalone(self) -> str:
        """A file of its own, in the light colours."""
        style = MARKS
        for name, colour in LIGHT.items():
            style = style.replace(f"var(--{name})", colour)
        width, height = self.size
        paper = f'<rect width="{width}" height="{height}" fill="{LIGHT["paper"]}"/>'
        return self._svg(self.name, ' xmlns="http://www.w3.org/2000/svg"', f"<style>{style}</style>{paper}") + "\n"

    def _svg(self, unique: str, more: str, first: str) -> str:
        width, height = self.size
        return (
            f'<svg{more} class="picture" role="img" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'aria-labelledby="{unique}-title {unique}-description">'
            f'<title id="{unique}-title">{escape(self.title)}</title>'
            f'<desc id="{unique}-description">{escape(self.description)}</desc>{first}{self.marks}</svg>'
        )


class Canvas:
    """Collects marks. Text is escaped here and nowhere else."""

    def __init__(self) -> None:
        self._marks: list[str] = []

    @property
    def marks(self) -> str:
        """All of them."""
        return "".join(self._marks)

    def rect(self, kind: str, x: float, y: float, width: float, height: float, tip: str = "") -> None:
        """A bar; ``tip`` is shown when the pointer rests on it."""
        if width > 0 and height > 0:
            place = f'x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"'
            self._mark("rect", kind, place, tip)

    def line(self, kind: str, x1: float, y1: float, x2: float, y2: float) -> None:
        """A straight line."""
        self._mark("line", kind, f'x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}"')

    def path(self, kind: str, points: Sequence[tuple[float, float]], tip: str = "", *, closed: bool = False) -> None:
        """A line through points."""
        steps = " L".join(f"{_n(x)} {_n(y)}" for x, y in points)
        self._mark("path", kind, f'd="M{steps}{" Z" if closed else ""}"', tip)

    def circle(self, kind: str, x: float, y: float, radius: float, tip: str = "") -> None:
        """A dot or a ring."""
        self._mark("circle", kind, f'cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}"', tip)

    def text(self, kind: str, x: float, y: float, text: str, anchor: str = "start") -> None:
        """A line of text; ``y`` is its base line."""
        place = f'x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}"'
        self._marks.append(f'<text class="{kind}" {place}>{escape(_printable(text))}</text>')

    def legend(self, y: float, entries: Sequence[tuple[str, str]], x: float = 0) -> None:
        """What the marks mean: kind and words, in a row."""
        for kind, words in entries:
            self.rect(kind, x, y - 9, 10, 10)
            self.text("small", x + 15, y, words)
            x += 29 + _CHARACTER * 0.95 * len(words)

    def _mark(self, shape: str, kind: str, place: str, tip: str = "") -> None:
        if tip:
            self._marks.append(f'<{shape} class="{kind}" {place}><title>{escape(_printable(tip))}</title></{shape}>')
        else:
            self._marks.append(f'<{shape} class="{kind}" {place}/>')


@dataclass(frozen=True)
class Scale:
    """Maps values between ``low`` and ``high`` to places between ``start`` and ``end``."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a value."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.0
        return self.start + share * (self.end - self.start)


def ticks(high: float, most: int = 5) -> list[float]:
    """Round numbers from 0 to at least ``high``, at most ``most`` steps: 1, 2 or 5 times a power of ten apart."""
    if high <= 0:
        return [0.0, 1.0]
    rough = high / most
    power = 10.0 ** floor(log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-12))
    return [round(step * number, 12) for number in range(ceil(high / step - 1e-9) + 1)]


def small_width(text: str) -> float:
    """Units that a small text takes, about."""
    return 7.2 * len(text)


def clipped(text: str, width: float) -> str:
    """As much of a text as fits into this many units."""
    most = max(2, int(width / _CHARACTER))
    return text if len(text) <= most else text[: most - 1] + "…"


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _printable(text: str) -> str:
    """Without control characters, which XML does not have."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
